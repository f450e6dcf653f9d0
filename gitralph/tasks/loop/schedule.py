"""What runs when: fills the slots, takes what comes back, lets the entangled wait, stops in order."""

import time

from gitralph.base.errors import INTERRUPTED, NO, OK, REFUSED, Fatal, RalphError
from gitralph.hook import sessionfile
from gitralph.tasks.children import Children
from gitralph.tasks.fleet import at_work
from gitralph.tasks.fleet.claiming import ForeignError, StuckError
from gitralph.tasks.loop.advance import NotYetError, advance
from gitralph.tasks.loop.crew import Crew, Returned
from gitralph.tasks.loop.land import Entangled, UnlandedError
from gitralph.tasks.loop.ledger import Ledger
from gitralph.tasks.loop.model import BLOCKED, ENTANGLED, FAILED, LANDED, SKIPPED, Job, View
from gitralph.tasks.loop.queue import Queue
from gitralph.tasks.loop.work import InterruptedLoop, Worker

# So soon a Ctrl-C or the end of the time is noticed; a task's end wakes the loop by itself.
_PAUSE = 0.5
# Children are made to end after five seconds; whoever asked the loop to stop waits no longer than ten.
_GRACE = 8.0
# With --keep-going: so many tasks in a row that come to nothing mean that something else is wrong.
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

    @property
    def children(self) -> Children:
        return self.worker.children

    def run(self) -> tuple[str, int]:
        """Work until nothing more can be done; how it ended, and the exit code."""
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
        """Start what there is room for; False when all is done."""
        while len(self._running) < self.worker.options.jobs:
            job = self._next()
            if job is None:
                break
            self._running.append(job)
            self.crew.start(job, self._work_on(job, self._may_merge(job)))
            self._show()
        if not self._running and self._waiting and not self._last_try:
            # what looked entangled may have been somebody in the middle of an edit
            self.crew.wait(_PAUSE)
            # Once for all that wait: with nobody at work nothing will change by itself after it.
            self._last_try = True
            self._wake()
            return self._fill()
        return bool(self._running)

    def _work_on(self, job: Job, may_merge: bool):  # type: ignore[no-untyped-def]
        return lambda: advance(self.worker, job, self.view, may_merge)

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
        # A terminal's signal goes to the git that a job waits for as well: it is no failure of that job.
        take = self._settle if self.crew.asked else self._take
        for one in done:
            self._running.remove(one.job)
            take(one)
        if done:
            self._show()

    def _take(self, done: Returned) -> None:
        """What came of one job."""
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
        """An entangled job waits while another may yet make room; else it stays open."""
        sessions = {other.session for other in (*self._running, *self._waiting, *self._ready)}
        if not self._last_try and (sessions or self._rivals_left(error)):
            called = [self.ledger.ctx.called(one) for one in error.rivals]
            self.worker.say(f"{job.name}: waits for {_names(called)} to commit")
            self._waiting.append(job)
        else:
            self._fail(job, ENTANGLED, error)

    def _pass_over(self, job: Job, error: RalphError) -> None:
        """Another clone has this bead, or a lock on the server is in its way: the box stays open."""
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
        """Ask the children to end, and wait for the threads; not for ever, and not when asked twice."""
        self.children.stop_all()
        deadline = time.monotonic() + _GRACE
        while self._running and time.monotonic() < deadline and self.crew.asked < 2:
            for done in self.crew.wait(0.1):
                self._running.remove(done.job)
                self._settle(done)
        if self._running:
            self.children.kill_all()

    def _settle(self, done: Returned) -> None:
        """A job that came back while we stop: what it reached counts."""
        known = isinstance(done.error, RalphError | NotYetError | OSError)
        if done.error is not None and not known and self._error is None:
            self._error = done.error
        # A task that landed while we stopped is done, whatever asked us to stop.
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
        # With a plan others' tasks are passed over and the rest counts; a single task that somebody else has
        # is the answer.
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
    """Put the end of the loop on record."""
    ledger.record.update(outcome=outcome, ended=sessionfile.now(), process=None)
    ledger.tell("loop.terminate", reason=outcome)
    ledger.save()
