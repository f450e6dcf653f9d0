"""Commits that git made anew: a rebase and a cherry-pick give a commit another parent and leave the rest."""

from collections.abc import Iterable

from gitralph.base import nul
from gitralph.git.run import Git

_FORM = "--format=%H%x00%an%x00%ae%x00%at%x00%B%x00"


def same(git: Git, commit: str, among: Iterable[str]) -> list[str]:
    """Those of some commits that have a commit's author, author date, message and change.

    Commits that are gone are passed over.
    """
    asked = "".join(f"{one}\n" for one in (commit, *among)).encode()
    words = ("log", "--no-walk=unsorted", "--ignore-missing", "--stdin", "--no-show-signature", _FORM)
    told = {row[0].strip().decode(): row[1:] for row in nul.groups(git.run(*words, stdin=asked), 5)}
    wanted = told.pop(commit, None)
    found = [oid for oid, rest in told.items() if rest == wanted]
    change = _change(git, commit) if found else []
    return [oid for oid in found if _change(git, oid) == change]


def _change(git: Git, commit: str) -> list[bytes]:
    """What a commit changes, but for where in a file; `git patch-id` would pass over blanks."""
    form = ("-r", "-p", "-U0", "--root", "-m", "--binary", "--no-renames", "--no-commit-id", "--no-color")
    said = git.run("diff-tree", *form, "--no-ext-diff", "--no-textconv", commit)
    # each line of a text begins with a sign
    return [row for row in said.split(b"\n") if not row.startswith((b"index ", b"@@ "))]
