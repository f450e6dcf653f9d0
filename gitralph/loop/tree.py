"""A task's own worktree and the way home from it: what ``git ralph worktree`` does, for the loop."""

import time

from gitralph.base.errors import Busy
from gitralph.context import Context
from gitralph.loop.model import Job
from gitralph.worktree import add as adding
from gitralph.worktree import merge as merging
from gitralph.worktree.where import short

_TRIES = 8


def name_of(job: Job) -> str:
    """The name that stands for a job's worktree: its bead, or its session."""
    return job.bead or job.session


def add(ctx: Context, job: Job) -> tuple[str, str]:
    """The worktree of a job, made at the caller's HEAD or found again; returns its root and branch.

    Nobody's in the beads' records: the loop holds the plan's lock, and its own record names the session.
    """
    found = adding.add(ctx, name_of(job))
    if found.ran is not None:
        raise adding.failure(found.ran)
    return found.record.path, short(found.record.branch)


def merge(ctx: Context, job: Job) -> None:
    """Merge a job's branch into the one it started from. Raises Refused with everything as it was.

    What a killed loop left is settled first; another git at work makes it wait.
    """
    for attempt in range(_TRIES):
        try:
            merging.merge_bead(ctx, name_of(job), None, forward=True)
            return
        except Busy:
            if attempt == _TRIES - 1:
                raise
            time.sleep(0.1 * (attempt + 1))
