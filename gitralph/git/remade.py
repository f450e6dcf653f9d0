"""Commits that git made anew: a rebase and a cherry-pick give a commit another parent and leave the rest."""

from collections.abc import Iterable

from gitralph.base import nul
from gitralph.git.run import Git

_FORM = "--format=%H%x00%P%x00%T%x00%an%x00%ae%x00%at%x00%B%x00"
_WORDS = ("--no-walk=unsorted", "--ignore-missing", "--stdin", "--no-show-signature", "--encoding=UTF-8")


def same(git: Git, commit: str, among: Iterable[str]) -> list[str]:
    """Those of some commits that have a commit's author, author date, message and change.

    On the same parent the whole tree must be the same. Commits that cannot be read are passed over.
    """
    asked = "".join(f"{one}\n" for one in (commit, *among)).encode()
    rows = nul.groups(git.try_run("log", *_WORDS, _FORM, stdin=asked).stdout, 7)
    told = {row[0].strip().decode("ascii", "replace"): row[1:] for row in rows}
    wanted = told.pop(commit, None)
    if wanted is None:
        return []
    found = [oid for oid, row in told.items() if row[2:] == wanted[2:]]
    found = [oid for oid in found if told[oid][0] != wanted[0] or told[oid][1] == wanted[1]]
    change = _change(git, commit) if found else None
    return [oid for oid in found if change is not None and _change(git, oid) == change]


def _change(git: Git, commit: str) -> list[bytes] | None:
    """What a commit changes, but for where in a file; `git patch-id` would pass over blanks."""
    form = ("-r", "-p", "-U0", "--root", "-m", "--binary", "--no-renames", "--no-commit-id", "--no-color")
    done = git.try_run("diff-tree", *form, "--no-ext-diff", "--no-textconv", commit)
    if done.returncode:
        return None
    # each line of a text begins with a sign
    return [row for row in done.stdout.split(b"\n") if not row.startswith((b"index ", b"@@ "))]
