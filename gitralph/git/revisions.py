"""What a user types for some commits: a range as git reads it, or one commit."""

from gitralph.git.run import Git


def words(git: Git, typed: str) -> list[str]:
    """The words for ``git log`` and ``git rev-list``: one commit alone where ``typed`` names one.

    Else it is a range, and git says when it runs whether that names any.
    """
    one = git.try_run("rev-parse", "--verify", "-q", "--end-of-options", typed + "^{commit}")
    if one.returncode == 0:
        return ["--no-walk", one.stdout.decode().strip(), "--"]
    return ["--end-of-options", typed, "--"]
