"""Takes one task from the step it is at to its end; the function that a worker's thread runs."""

import time

from gitralph.context import Context
from gitralph.hook.sessionfile import now
from gitralph.loop import land, tree, work
from gitralph.loop.model import AGENT, COMMIT, MERGE, TICK, VERIFY, Job, View
from gitralph.loop.work import Worker
from gitralph.tracker import Item, Tracker


class NotYetError(Exception):
    """An earlier task has to come home first."""


def advance(worker: Worker, job: Job, view: View, alone: bool, may_merge: bool) -> None:
    """Go on with a job until it is ticked. Raises RalphError, or NotYetError, with its step on record."""
    begun = time.monotonic()
    view.begun[job.session] = begun
    try:
        _steps(worker, job, alone, may_merge)
    finally:
        view.begun.pop(job.session, None)
        job.seconds += time.monotonic() - begun


def _steps(worker: Worker, job: Job, alone: bool, may_merge: bool) -> None:
    tracker = Tracker.of(
        worker.ctx, worker.ctx.repo.root, lambda text: worker.say(f"warning: {text}"), named=True
    )
    if worker.options.worktree and job.root is None:
        root, branch = tree.add(worker.ctx, job)
        worker.ledger.step(job, job.step, root=root, tree=branch)
    ctx = worker.context(job)
    try:
        if job.step in (AGENT, VERIFY, COMMIT):
            _make(worker, ctx, job, tracker, alone)
        if job.step == MERGE:
            if not may_merge:
                raise NotYetError
            land.merge(worker, ctx, job)
        if job.step == TICK:
            land.tick(worker, ctx, job)
            if job.bead and job.commit:
                tracker.close(job.bead, f"landed in {job.commit}")
    finally:
        ctx.repo.close()


def _make(worker: Worker, ctx: Context, job: Job, tracker: Tracker, alone: bool) -> None:
    """Agent, checks and commit."""
    item = tracker.look(job.bead) if job.bead else Item()
    if job.step == AGENT:
        if job.started is None:
            job.started, job.dirt = now(), land.dirt(ctx)
            worker.ledger.step(job, AGENT)
            worker.ledger.tell("task.started", job)
        work.open_session(worker, ctx, job)
        if job.bead:
            tracker.claim(job.bead)
        words = (item.title, item.description, item.listing)
        work.run_agent(worker, ctx, job, "\n\n".join(part for part in words if part) or None)
    if job.step == VERIFY:
        work.verify(worker, ctx, job)
    land.commit(worker, ctx, job, item.body, alone or job.root is not None)
