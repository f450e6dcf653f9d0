"""One finished task lands: its commit, the way back from its own worktree, then the tick. In that order."""

import os
import threading
import time
from collections.abc import Iterable
from typing import Any

from gitralph import checklist as plans
from gitralph.base import nul
from gitralph.base.errors import Busy, Failed, RalphError, Refused
from gitralph.base.quote import shown
from gitralph.commit import commit as committing
from gitralph.commit import uncommitted
from gitralph.commit.commit import Request, Result
from gitralph.commit.decision import Left
from gitralph.commit.inputs import Wishes
from gitralph.context import Context
from gitralph.journal import consumption
from gitralph.journal import run as runs
from gitralph.loop import reword, tree
from gitralph.loop.model import COMMITTED, END, MERGE, NO_OP, TICK, Job
from gitralph.loop.work import Worker
from gitralph.query import status
from gitralph.session import sessions

_TRIES = 6
_DIRT = 2000
TRACKER = b".beads/"
_turn = threading.Lock()


class Entangled(Refused):
    """The commit needs what somebody else has not committed yet; ``rivals`` says who."""

    def __init__(self, error: Refused, rivals: list[str]) -> None:
        super().__init__(error.message, *error.hints, left=error.left)
        self.rivals = rivals


def dirt(ctx: Context) -> list[str] | None:
    """The uncommitted paths of now, stamped; None when there are too many to tell new ones from old."""
    found = uncommitted.dirty_paths(ctx)
    return [_stamped(ctx, path) for path in found] if len(found) <= _DIRT else None


def _not_the_trackers(paths: Iterable[bytes]) -> list[bytes]:
    return [path for path in paths if not path.startswith(TRACKER)]


def _request(worker: Worker, job: Job, body: str | None) -> Request:
    messages = (job.subject, body) if body else (job.subject,)
    return Request(
        job.session, tuple(text.encode("utf-8", "replace").replace(b"\0", b" ") for text in messages),
        wishes=Wishes(include_entangled=worker.options.include_entangled), match=_not_the_trackers,
    )  # fmt: skip


def _commit(worker: Worker, ctx: Context, request: Request) -> Result:
    """One commit at a time in this process; another process may hold the lock, so busy is tried again."""
    for attempt in range(_TRIES):
        try:
            with _turn:
                return committing.commit(ctx, request)
        except Busy:
            if attempt == _TRIES - 1 or worker.children.stopping.is_set():
                raise
            time.sleep(0.5 * (attempt + 1))
    raise AssertionError("unreachable")


def _rivals(left: Iterable[Any]) -> list[str]:
    found = [name for one in left if isinstance(one, Left) and one.refuses for name in one.sessions]
    return sorted(set(found))


def commit(worker: Worker, ctx: Context, job: Job, body: str | None, alone: bool) -> None:
    """Commit what the session edited. Raises Entangled, Refused, Failed, Busy or Fatal with nothing moved."""
    try:
        result = _commit(worker, ctx, _request(worker, job, body))
    except Refused as error:
        if any(isinstance(one, Left) and one.refuses for one in error.left):
            raise Entangled(error, _rivals(error.left)) from error
        raise
    job.notes += result.notes
    job.notes += [f"left out: '{shown(left.path)}' ({left.reason})" for left in result.left]
    # the commit of a run killed right after landing, or one that the agent made itself
    job.commit = result.commit or _last_commit(ctx, job.session)
    if job.commit:
        job.files = _files_of(ctx, job.commit)
    if job.dirt is not None:
        account_for(worker, ctx, job, set(job.dirt), alone)
    worker.ledger.step(job, MERGE if job.tree else TICK)


def _last_commit(ctx: Context, session: str) -> str | None:
    oids = [fields.get("commit") for fields in consumption.read(ctx.layout, session).commits]
    found = [oid for oid in oids if isinstance(oid, str)]
    return found[-1] if found else None


def _files_of(ctx: Context, oid: str) -> list[str]:
    said = ctx.git.run(
        "diff-tree", "-r", "-z", "--root", "--no-commit-id", "--no-renames", "--name-only", oid
    )
    return [shown(path) for path in nul.rows(said)]


def _stamped(ctx: Context, path: bytes) -> str:
    """A path with the time it was last written: a file that was dirty before may have changed since."""
    name = os.fsdecode(path)
    try:
        return f"{os.lstat(os.path.join(ctx.repo.root, name)).st_mtime_ns} {name}"
    except OSError:
        return f"- {name}"


def _plans(ctx: Context) -> set[bytes]:
    """The plans that loops tick, this one and others: their changes are our own."""
    found = set()
    for run in runs.all_ids(ctx.layout):
        try:
            plan = runs.read(ctx.layout, run).get("plan")
        except RalphError:
            continue
        if isinstance(plan, str):
            found.add(os.fsencode(plans.relative(ctx, os.path.join(ctx.repo.root, plan))))
    return found


def account_for(worker: Worker, ctx: Context, job: Job, before: set[str], alone: bool) -> None:
    """Mention what changed meanwhile and is in no commit.

    Raises Failed for a task that recorded nothing while files changed that nobody recorded: then most
    likely the agent has no hooks, and a tick would be a lie.
    """
    ticked = _plans(ctx)
    mine = {one.session for one in worker.ledger.jobs}
    fresh = [
        row for row in status.owners(ctx, job.session)
        if _stamped(ctx, row.path) not in before and row.path not in ticked and not set(row.sessions) & mine
        and not row.path.startswith((TRACKER, b".worktrees/"))
    ]  # fmt: skip
    nobody = [shown(row.path) for row in fresh if row.owner == status.NOBODY]
    if job.commit is None and nobody and alone:
        raise Failed(
            f"no edit was recorded, but {_list(nobody)} changed and nobody recorded that",
            "git ralph doctor says whether the agent's hooks are in place",
            f"git ralph track --session {job.session} <path> claims a path for the task",
        )
    if fresh:
        names = _list([shown(row.path) for row in fresh])
        job.notes.append(f"changed meanwhile by others and left uncommitted: {names}")


def _list(names: list[str]) -> str:
    head = ", ".join(f"'{name}'" for name in names[:5])
    return head + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def merge(worker: Worker, ctx: Context, job: Job) -> None:
    """Bring the commit of a task's own worktree home. Raises Refused when it cannot be merged."""
    with _turn:
        tree.merge(worker.ctx, job)
    worker.ledger.step(job, TICK)


def tick(worker: Worker, ctx: Context, job: Job) -> None:
    """Tick the task in the plan: only ever called for one that has landed or needed nothing."""
    if worker.options.plan is not None:
        _tick_in(worker, worker.options.plan, job)
    job.outcome = COMMITTED if job.commit else NO_OP
    worker.ledger.step(job, END, process=None)
    worker.ledger.tell(f"task.{job.outcome}", job, commit=job.commit, files=job.files)
    sessions.end(ctx, job.session)


def _tick_in(worker: Worker, path: str, job: Job) -> None:
    if plans.tick(worker.ctx.layout, path, job.key):
        return
    key = reword.successor(plans.tasks_of(path), job, worker.ledger.seen)
    if key is not None and plans.tick(worker.ctx.layout, path, key):
        job.notes.append(f"the task was reworded meanwhile and ticked as '{key[0]}'")
    else:
        job.notes.append("the task is no longer in the plan; nothing was ticked")
