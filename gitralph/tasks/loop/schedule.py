"""Decides what runs when: fills free slots, takes results, lets entangled tasks wait, stops in order."""

import contextlib
import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from gitralph.base import gitdir
from gitralph.base.errors import INTERRUPTED, NO, OK, REFUSED, Fatal, RalphError
from gitralph.git.context import Context
from gitralph.hook import sessionfile
from gitralph.hook.sessionfile import now
from gitralph.tasks.fleet import at_work
from gitralph.tasks.fleet.claiming import ForeignError, StuckError
from gitralph.tasks.loop import account, task_landing, work, workplace
from gitralph.tasks.loop.ledger import (
    AGENT,
    BLOCKED,
    COMMIT,
    ENTANGLED,
    FAILED,
    LANDED,
    MERGE,
    SKIPPED,
    TICK,
    VERIFY,
    Job,
    Ledger,
)
from gitralph.tasks.loop.plan_tasks import Queue
from gitralph.tasks.loop.runs import View
from gitralph.tasks.loop.task_landing import Entangled, UnlandedError
from gitralph.tasks.loop.work import CheckFailed, InterruptedLoop, Worker
from gitralph.tasks.tracker import Item, Tracker

# --- who works: threads that do one job each, and the one who waits for them ---
#
# The waiting is on a pipe, never on a lock: a signal handler that raised inside a lock left 11 of 80 loops
# hanging, and could release one that was not held. Here a handler writes a byte, and whoever waits looks up.


@dataclass(frozen=True)
class Returned:
    """A job that came back, with the error that it raised, if any."""

    job: Job
    error: BaseException | None


class Crew:
    """The threads of one loop. Signal handlers call :meth:`ask_to_stop`, repeatedly if need be."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        # A handler must never wait, least of all for a pipe that its own thread should empty.
        os.set_blocking(self._write, False)
        self._done: deque[Returned] = deque()
        self.asked = 0

    def ask_to_stop(self) -> None:
        """Make the loop stop at its next look; after a second call it waits for nobody."""
        self.asked += 1
        self._wake()

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # the pipe is full, so the loop looks anyway
            os.write(self._write, b".")

    def start(self, job: Job, work: Callable[[], None]) -> None:
        """Do a job in a thread of its own. The thread dies with the process, since it cannot be stopped."""

        def run() -> None:
            error: BaseException | None = None
            try:
                work()
            except BaseException as caught:
                error = caught
            # Appended before the byte is written, so whoever wakes up finds it. A deque's append is atomic
            # and needs no lock.
            self._done.append(Returned(job, error))
            self._wake()

        threading.Thread(target=run, daemon=True).start()

    def wait(self, seconds: float) -> list[Returned]:
        """Return the jobs that came back, at once where some did; none after ``seconds`` or a stop."""
        if not self._done and select.select([self._read], [], [], seconds)[0]:
            os.read(self._read, 4096)
        found = []
        while self._done:
            found.append(self._done.popleft())
        return found


# --- one task, from the step it is at to its end: what a worker's thread runs ---


class NotYetError(Exception):
    """An earlier task must be merged first."""


def advance(worker: Worker, job: Job, view: View, may_merge: bool) -> None:
    """Continue a job until it is ticked. Raises RalphError, or NotYetError, with its step on record."""
    begun = time.monotonic()
    view.begun[job.session] = begun
    try:
        _steps(worker, job, may_merge)
    finally:
        view.begun.pop(job.session, None)
        job.seconds += time.monotonic() - begun


def _steps(worker: Worker, job: Job, may_merge: bool) -> None:
    if job.bead and job.step == AGENT:
        # Recorded with the next step. A claim that a kill left unrecorded is the user's to give back.
        job.claimed = at_work.begin(worker.ctx, job.bead) or job.claimed
    tracker = Tracker.of(worker.ctx, worker.ctx.repo.root, worker.warn_once, named=True)
    if worker.options.worktree and job.root is None:
        root, branch = workplace.add_worktree(worker.ctx, job)
        worker.ledger.step(job, job.step, root=root, tree=branch)
    ctx = worker.context(job)
    try:
        if job.step in (AGENT, VERIFY, COMMIT):
            _make(worker, ctx, job, tracker)
        if job.step == MERGE:
            # Agent and checks need not wait for the earlier tasks, but merging must.
            if not may_merge:
                raise NotYetError
            task_landing.merge(worker, ctx, job)
        if job.step == TICK:
            task_landing.tick(worker, ctx, job)
            if job.bead and job.commit:
                tracker.close(job.bead, f"landed in {job.commit}")
    finally:
        ctx.repo.close()
    if job.tree is not None and (why := workplace.leave_worktree(worker.ctx, job)) is not None:
        job.notes.append(f"its worktree stays: {why}")


def _make(worker: Worker, ctx: Context, job: Job, tracker: Tracker) -> None:
    """Agent, checks and commit; after a failed check the agent runs again while it has iterations left."""
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
            # the agent must look at it again, with the check's output
            again = job.iteration < worker.limit
            iteration = job.iteration if again else 0
            worker.ledger.step(job, AGENT, iteration=iteration, detail=error.message)
            if not again:
                raise
            worker.say(f"{job.name}: {error.message.split(chr(10))[0]}; the agent has another look")


def _check_and_commit(worker: Worker, ctx: Context, job: Job, body: str | None) -> None:
    work.stay_on_branch(worker, ctx, job)
    landing = task_landing.look(worker, ctx, job, body)
    changed = [*landing.preview.changes, *landing.account.fresh]
    needed, options = work.are_needed(worker, ctx, job, changed), worker.options
    # An unexplained change lies in the directory and is in no commit, so a check there proves nothing.
    proves = options.proves or (options.prove is None and bool(landing.account.unexplained))
    by_checks = dict[bytes, str]()
    if needed and job.step == VERIFY and not options.proves:
        before = account.stamps(ctx)
        work.verify(worker, ctx, job)
        by_checks = account.changed_since(ctx, worker.ledger, job, before)
    # A run that was killed after landing must not land again.
    job.commit = task_landing.committed(ctx, job)
    worker.ledger.step(job, COMMIT)
    task_landing.check(worker, job, landing)
    judge = None
    if needed and proves:
        if landing.preview.changes:
            judge = work.judge(worker, ctx, job)
        else:
            work.judge_head(worker, ctx, job)
    task_landing.commit(worker, ctx, job, landing, judge, by_checks)


# --- the schedule ---


# In seconds, until a Ctrl-C or the end of the time is noticed. A task's end wakes the loop by itself.
_PAUSE = 0.5
# In seconds. Children are killed after five seconds, and whoever stopped the loop waits at most ten.
_GRACE = 8.0
# With --keep-going, so many failed tasks in a row mean that something else is wrong.
_IN_VAIN = 5


class Schedule:
    """One loop at work, in the thread of its caller."""

    def __init__(self, worker: Worker, queue: Queue, view: View, crew: Crew) -> None:
        self.worker = worker
        self.queue = queue
        self.view = view
        self.crew = crew
        self._running: list[Job] = []
        self._ready: list[Job] = []
        self._waiting: list[Job] = []
        self._in_vain = 0
        self._stopped = False
        self._last_try = False
        self._error: BaseException | None = None
        limit = worker.options.max_time
        self._deadline = None if limit is None else time.monotonic() + limit
        self.hints: list[str] = []

    @property
    def ledger(self) -> Ledger:
        return self.worker.ledger

    def run(self) -> tuple[str, int]:
        """Work until nothing more can be done; returns how it ended, and the exit code."""
        try:
            while not self.crew.asked and not self._late() and self._fill():
                self._collect()
        except BaseException:
            self._stop()
            raise
        if self.crew.asked:
            self._stop()
            return "interrupted", INTERRUPTED
        if self._running and self._late():
            self.worker.say(f"the time of the loop is over ({self.worker.options.max_time:g} s)")
            self._stop()
        if self._error is not None:
            self._stop()
            raise self._error
        return self._verdict()

    def _late(self) -> bool:
        return self._error is not None or (self._deadline is not None and time.monotonic() >= self._deadline)

    def _fill(self) -> bool:
        """Start as many jobs as there is room for; False when all is done."""
        while len(self._running) < self.worker.options.jobs:
            job = self._next()
            if job is None:
                break
            self._running.append(job)
            self.crew.start(job, partial(advance, self.worker, job, self.view, self._may_merge(job)))
            self._show()
        if not self._running and self._waiting and not self._last_try:
            # what looked entangled may have been somebody in the middle of an edit
            self.crew.wait(_PAUSE)
            # Only once for all that wait: with nobody at work nothing will change afterwards.
            self._last_try = True
            self._wake()
            return self._fill()
        return bool(self._running)

    def _next(self) -> Job | None:
        if self._ready:
            return self._ready.pop(0)
        if self._stopped:
            return None
        job = self.queue.next()
        if job is not None and job not in self.ledger.jobs:
            self.ledger.add(job)
            self.ledger.save()
        return job

    def _may_merge(self, job: Job) -> bool:
        """True when every task before this one has landed or failed."""
        busy = [*self._running, *self._waiting, *self._ready]
        return not any(other.number < job.number for other in busy if other is not job)

    def _wake(self) -> None:
        self._ready += sorted(self._waiting, key=lambda job: job.number)
        self._waiting = []

    def _collect(self) -> None:
        at_work.beat_if_due(self.worker.ctx)  # an agent without hooks may work for hours
        done = self.crew.wait(_PAUSE)
        # A terminal's signal also reaches the git for which a job waits; that is no failure of the job.
        take = self._take_late if self.crew.asked else self._take
        for one in done:
            self._running.remove(one.job)
            take(one)
        if done:
            self._show()

    def _take(self, done: Returned) -> None:
        """Handle the result of one job."""
        job, error = done.job, done.error
        if error is None:
            self._last_try, self._in_vain = False, 0
            self._wake()
            self.worker.say(_landed(job))
        elif isinstance(error, NotYetError):
            # what it waited for may have ended meanwhile, and nobody else would wake it
            (self._ready if self._may_merge(job) else self._waiting).append(job)
        elif isinstance(error, ForeignError | StuckError):
            self._pass_over(job, error)
        elif isinstance(error, Entangled):
            self._park(job, error)
        elif isinstance(error, InterruptedLoop):
            pass
        elif isinstance(error, UnlandedError) and error.blocked:
            self._fail(job, BLOCKED, error)
        elif isinstance(error, RalphError):
            self._fail(job, FAILED, error)
        elif isinstance(error, OSError):
            name = f"'{error.filename}': " if error.filename else ""
            self._fail(job, FAILED, Fatal(f"{name}{error.strerror or error}"))
        else:
            self._error = error

    def _park(self, job: Job, error: Entangled) -> None:
        """Let an entangled job wait while another job may still make room; else it stays open."""
        sessions = {other.session for other in (*self._running, *self._waiting, *self._ready)}
        if not self._last_try and (sessions or self._rivals_left(error)):
            called = [self.ledger.ctx.called(one) for one in error.rivals]
            self.worker.say(f"{job.name}: waits for {_names(called)} to commit")
            self._waiting.append(job)
        else:
            self._fail(job, ENTANGLED, error)

    def _pass_over(self, job: Job, error: RalphError) -> None:
        """Leave the box open: another clone has this bead, or a lock on the server is in the way."""
        self.ledger.step(job, job.step, outcome=SKIPPED, detail=error.message, code=error.exit_code)
        self.ledger.tell("task.skipped", job, reason=error.message)
        self.hints += [hint for hint in error.hints if hint not in self.hints]
        self.worker.say(f"{job.name}: left alone: {error.message}")
        self._wake()

    def _rivals_left(self, error: Entangled) -> bool:
        open_sessions = {job.session for job in self.ledger.jobs if job.outcome not in LANDED}
        return bool(set(error.rivals) & open_sessions)

    def _fail(self, job: Job, outcome: str, error: RalphError) -> None:
        self._in_vain += 1
        if not self.worker.options.keep_going:
            self._stopped = True
        elif self._in_vain >= _IN_VAIN:
            self._stopped = True
            self.worker.say(f"stopped: {self._in_vain} tasks in a row came to nothing")
        self.hints += [hint for hint in error.hints if hint not in self.hints]
        code = error.exit_code if outcome != ENTANGLED else REFUSED
        self.ledger.step(job, job.step, outcome=outcome, detail=error.message, code=code, process=None)
        self.ledger.tell("task.failed", job, outcome=outcome, reason=error.message.split("\n")[0])
        self.worker.say(f"{job.name}: {outcome}: {error.message}")
        self._wake()

    def _show(self) -> None:
        self.view.jobs = list(self.ledger.jobs)

    def _stop(self) -> None:
        """Ask the children to end, and wait for the threads: not for ever, and not when asked twice."""
        self.worker.children.stop_all()
        deadline = time.monotonic() + _GRACE
        while self._running and time.monotonic() < deadline and self.crew.asked < 2:
            for done in self.crew.wait(0.1):
                self._running.remove(done.job)
                self._take_late(done)
        if self._running:
            self.worker.children.kill_all()

    def _take_late(self, done: Returned) -> None:
        """Handle a job that came back while the loop stops: what it reached counts."""
        known = isinstance(done.error, RalphError | NotYetError | OSError)
        if done.error is not None and not known and self._error is None:
            self._error = done.error
        # A task that landed meanwhile is done, whatever asked the loop to stop.
        if done.job.outcome not in LANDED:
            self.ledger.step(done.job, done.job.step, process=None)

    def _verdict(self) -> tuple[str, int]:
        open_jobs = [job for job in self.ledger.jobs if job.outcome in (FAILED, BLOCKED, ENTANGLED)]
        failed = [job for job in open_jobs if job.outcome != ENTANGLED]
        if failed:
            return FAILED, failed[0].code
        if open_jobs:
            return ENTANGLED, REFUSED
        elsewhere = [job for job in self.ledger.jobs if job.outcome == SKIPPED and job.code]
        # With a plan the tasks of others are skipped and the rest counts. For a single task its owner is the
        # answer.
        if elsewhere and self.worker.options.plan is None:
            return SKIPPED, elsewhere[0].code
        left = self.queue.open_count()
        if self._late() and (left or any(job.outcome is None for job in self.ledger.jobs)):
            return "out of time", NO
        passed_over = sum(job.outcome == SKIPPED for job in self.ledger.jobs)
        return ("paused" if left > passed_over else "done"), OK


def _names(rivals: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in rivals) or "another task"


def _landed(job: Job) -> str:
    count = len(job.files)
    what = "nothing to commit"
    if job.commit:
        what = f"committed as {job.commit[:7]}, {count} file{'s' * (count != 1)}"
    return "\n".join([f"{job.name}: {what} ({job.seconds:.0f} s)", *(f"{job.name}: {n}" for n in job.notes)])


def mark_end(ledger: Ledger, outcome: str) -> None:
    """Record the end of the loop."""
    ledger.record.update(outcome=outcome, ended=sessionfile.now(), process=None)
    ledger.tell("loop.terminate", reason=outcome)
    ledger.save()
