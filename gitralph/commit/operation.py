"""A merge, rebase, cherry-pick or revert under way: what it touches, and which session has a part in it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gitralph.base import files, nul
from gitralph.git import refs, squashed
from gitralph.git.context import Context
from gitralph.git.repository import CHERRY_PICK, MERGE, REBASE, REVERT
from gitralph.git.trees import FILES, Entry
from gitralph.hook import windows
from gitralph.hook.journal import is_oid
from gitralph.records import path_records

SQUASH = "a squash"
# The commits whose changes the commit repeats or takes back; a merge brings those since the common commit.
TOLD_BY = {
    MERGE: "MERGE_HEAD",
    REBASE: "REBASE_HEAD",
    CHERRY_PICK: "CHERRY_PICK_HEAD",
    REVERT: "REVERT_HEAD",
}
_MARKS = (b"<<<<<<< ", b">>>>>>> ")


def touched(ctx: Context, what: str) -> set[bytes] | None:
    """The paths that an operation changes; None where nobody can tell.

    git names the commits in a file (git-merge(1): several in an octopus).
    """
    if what == SQUASH:
        return set(squashed.entries(ctx.repo))
    try:
        told = files.read_bytes(f"{ctx.repo.git_dir}/{TOLD_BY[what]}", 4096).decode("ascii", "replace")
    except OSError:
        return None
    found = set[bytes]()
    for oid in (one for one in told.split() if is_oid(one)):
        since = f"HEAD...{oid}" if what == MERGE else f"{oid}^!"
        done = ctx.git.try_run("diff", "--name-only", "-z", "--no-renames", since)
        if done.returncode:  # without a common commit, the branch may have changed anything
            return None
        found |= set(nul.rows(done.stdout))
    return found


def has_marks(ctx: Context, path: bytes, entry: Entry) -> bool:
    """True where a staged text has the marks that git leaves at a conflict, and HEAD's has not."""
    if entry.mode not in FILES:
        return False
    text = b"\n" + ctx.repo.objects.raw(entry.oid)[1]
    if not all(b"\n" + mark in text for mark in _MARKS):
        return False
    old = ctx.git.try_run("cat-file", "blob", f"HEAD:{os.fsdecode(path)}")
    return not all(b"\n" + mark in b"\n" + old.stdout for mark in _MARKS)


def has_part_in(ctx: Context, family: Sequence[str], what: str) -> bool:
    """True for sessions that began the operation, or edited a file of it; also where nobody can tell."""
    began = windows.began_operation(ctx.layout)
    if began is None or not began.isdisjoint(family):
        return True
    changed, head = touched(ctx, what), refs.read_head(ctx.repo).oid
    if changed is None:
        return True
    states = path_records.states_of(ctx.layout, sorted(changed)).values()
    return any(
        one.session in family and one.head == head for state in states for one in state.journal.records
    )
