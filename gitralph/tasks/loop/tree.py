"""A task's own worktree and the way home from it: what ``git ralph worktree`` does, for the loop."""

import time

from gitralph.base.errors import Busy, RalphError, Refused
from gitralph.git.context import Context
from gitralph.records import checklist as plans
from gitralph.tasks.loop import committed_plan
from gitralph.tasks.loop.ledger import Ledger
from gitralph.tasks.loop.model import LANDED, Job
from gitralph.tasks.worktree import add as adding
from gitralph.tasks.worktree import merge as merging
from gitralph.tasks.worktree import remove as removing
from gitralph.tasks.worktree.merge import ConflictError
from gitralph.tasks.worktree.where import short

# Waits of 0.1 to 0.7 s between, for jobs of the same run that merge into the same branch.
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


def merge(ctx: Context, ledger: Ledger, job: Job, plan: str | None) -> None:
    """Merge a job's branch into the one it started from. Raises Refused with everything as it was.

    What a killed loop left is settled first; another git at work makes it wait. Where only our own ticks in
    the plan stand in the way, they step aside: the record knows them.
    """
    try:
        _merge(ctx, job)
    except ConflictError:
        raise
    except Refused:
        if plan is None or not _only_ticked(ctx, plan):
            raise
        try:
            _merge(ctx, job)
        finally:
            for one in ledger.jobs:
                if one.outcome in LANDED:
                    plans.tick(ctx.layout, plan, one.key)
            for key in ledger.ticked:
                plans.tick(ctx.layout, plan, key)


def _merge(ctx: Context, job: Job) -> None:
    for attempt in range(_TRIES):
        try:
            merging.merge_bead(ctx, name_of(job), None, forward=True)
            return
        except Busy:
            if attempt == _TRIES - 1:
                raise
            time.sleep(0.1 * (attempt + 1))


def _only_ticked(ctx: Context, plan: str) -> bool:
    """Take the ticks out of a plan that differs from HEAD by them alone; False, untouched, for any other."""
    then = committed_plan.text(ctx, plan)
    if then is None:
        return False
    now, were = plans.tasks_of(plan), {task.key: task.done for task in plans.parse(then)}
    ticked = [task for task in now if task.done and were.get(task.key) is False]
    bare = bytearray(plans.read(plan))
    for task in ticked:
        bare[task.box : task.box + 1] = b" "
    # Any other byte is somebody's edit of the plan: it stays where it is, and the merge refused.
    if bytes(bare) != then:
        return False
    return all(plans.tick(ctx.layout, plan, task.key, done=False) for task in ticked)


def leave(ctx: Context, job: Job) -> str | None:
    """Remove a landed job's worktree by the rules of ``git ralph worktree remove``; why not, where it stays.

    A bead's own stays: it is the place of that work item, which may go on.
    """
    if job.bead is not None:
        return None
    try:
        removing.remove(ctx, name_of(job), False, None, ctx.repo.root)
    except RalphError as error:
        return error.message
    return None
