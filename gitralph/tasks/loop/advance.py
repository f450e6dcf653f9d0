"""Takes one task from the step it is at to its end; the function that a worker's thread runs."""

import time

from gitralph.base import gitdir
from gitralph.git.context import Context
from gitralph.hook.sessionfile import now
from gitralph.tasks.fleet import at_work
from gitralph.tasks.loop import account, land, tree, work
from gitralph.tasks.loop.model import AGENT, COMMIT, MERGE, TICK, VERIFY, Job, View
from gitralph.tasks.loop.work import CheckFailed, Worker
from gitralph.tasks.tracker import Item, Tracker


class NotYetError(Exception):
    """An earlier task has to come home first."""


def advance(worker: Worker, job: Job, view: View, may_merge: bool) -> None:
    """Go on with a job until it is ticked. Raises RalphError, or NotYetError, with its step on record."""
    begun = time.monotonic()
    view.begun[job.session] = begun
    try:
        _steps(worker, job, may_merge)
    finally:
        view.begun.pop(job.session, None)
        job.seconds += time.monotonic() - begun


def _steps(worker: Worker, job: Job, may_merge: bool) -> None:
    if job.bead and job.step == AGENT:
        # On record with the next step: a claim that a kill left unnoted is the user's to give back.
        job.claimed = at_work.begin(worker.ctx, job.bead) or job.claimed
    tracker = Tracker.of(worker.ctx, worker.ctx.repo.root, worker.warn_once, named=True)
    if worker.options.worktree and job.root is None:
        root, branch = tree.add(worker.ctx, job)
        worker.ledger.step(job, job.step, root=root, tree=branch)
    ctx = worker.context(job)
    try:
        if job.step in (AGENT, VERIFY, COMMIT):
            _make(worker, ctx, job, tracker)
        if job.step == MERGE:
            # Agent and checks need not wait for the earlier tasks, coming home does.
            if not may_merge:
                raise NotYetError
            land.merge(worker, ctx, job)
        if job.step == TICK:
            land.tick(worker, ctx, job)
            if job.bead and job.commit:
                tracker.close(job.bead, f"landed in {job.commit}")
    finally:
        ctx.repo.close()
    if job.tree is not None and (why := tree.leave(worker.ctx, job)) is not None:
        job.notes.append(f"its worktree stays: {why}")


def _make(worker: Worker, ctx: Context, job: Job, tracker: Tracker) -> None:
    """Agent, checks and commit; a check that fails sends the agent back while it has iterations left."""
    item = tracker.look(job.bead) if job.bead else Item()
    work.stay_on_branch(worker, ctx, job)
    if job.step == AGENT:
        if job.started is None:
            job.started, job.head = now(), gitdir.head_oid(ctx.repo.place)
            account.begin(ctx, worker.ledger.run, job.session)
            worker.ledger.step(job, AGENT)
            worker.ledger.tell("task.started", job)
        work.open_session(worker, ctx, job)
        if job.bead:
            tracker.claim(job.bead)
        job.iteration = max(job.iteration - 1, 0)  # the call that was cut short does not count
    words = (item.title, item.description, item.listing)
    criteria = "\n\n".join(part for part in words if part) or None
    while True:
        if job.step == AGENT:
            work.run_agent(worker, ctx, job, criteria)
        try:
            _check_and_commit(worker, ctx, job, item.body)
            return
        except CheckFailed as error:
            # the agent has to look at it again, with what the check said
            again = job.iteration < worker.limit
            iteration = job.iteration if again else 0
            worker.ledger.step(job, AGENT, iteration=iteration, detail=error.message)
            if not again:
                raise
            worker.say(f"{job.name}: {error.message.split(chr(10))[0]}; the agent has another look")


def _check_and_commit(worker: Worker, ctx: Context, job: Job, body: str | None) -> None:
    work.stay_on_branch(worker, ctx, job)
    landing = land.look(worker, ctx, job, body)
    changed = [*landing.preview.changes, *landing.account.fresh]
    needed, options = work.are_needed(worker, ctx, job, changed), worker.options
    # What nobody explains lies about in the directory and is in no commit: there a check proves nothing.
    proves = options.proves or (options.prove is None and bool(landing.account.doubtful))
    if needed and job.step == VERIFY and not options.proves:
        work.verify(worker, ctx, job)
    # A run that was killed after landing must not land again.
    job.commit = job.commit or land.committed(ctx, job)
    worker.ledger.step(job, COMMIT)
    land.check(worker, job, landing)
    judge = None
    if needed and proves:
        if landing.preview.changes:
            judge = work.judge(worker, ctx, job)
        else:
            work.judge_head(worker, ctx, job)
    land.commit(worker, ctx, job, landing, judge)
