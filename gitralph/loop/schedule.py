"""What runs when: fills the slots, takes what comes back, lets the entangled wait, stops in order."""

import contextlib
import signal
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from gitralph.base.errors import INTERRUPTED, OK, REFUSED, RalphError
from gitralph.hook import sessionfile
from gitralph.loop.advance import NotYetError, advance
from gitralph.loop.child import Children
from gitralph.loop.land import Entangled
from gitralph.loop.ledger import Ledger
from gitralph.loop.model import ENTANGLED, FAILED, LANDED, Job, View
from gitralph.loop.queue import Queue
from gitralph.loop.work import InterruptedLoop, Worker

_PAUSE = 0.5
_GRACE = 10.0


class Schedule:
    """One loop at work, in the thread of its caller."""

    def __init__(self, worker: Worker, queue: Queue, view: View) -> None:
        self.worker = worker
        self.queue = queue
        self.view = view
        self._running: dict[Future[None], Job] = {}
        self._ready: list[Job] = []
        self._waiting: list[Job] = []
        self._failed = False
        self._last_try = False
        self.hints: list[str] = []

    @property
    def ledger(self) -> Ledger:
        return self.worker.ledger

    @property
    def children(self) -> Children:
        return self.worker.children

    def run(self) -> tuple[str, int]:
        """Work until nothing more can be done; how it ended, and the exit code."""
        with ThreadPoolExecutor(self.worker.options.jobs) as pool:
            try:
                while self._fill(pool):
                    self._collect()
            except KeyboardInterrupt:
                self._stop()
                return "interrupted", INTERRUPTED
            except BaseException:
                self.children.stop_all()
                raise
        return self._verdict()

    def _fill(self, pool: ThreadPoolExecutor) -> bool:
        """Start what there is room for; False when all is done."""
        while len(self._running) < self.worker.options.jobs:
            job = self._next()
            if job is None:
                break
            alone = self.worker.options.jobs == 1
            future = pool.submit(advance, self.worker, job, self.view, alone, self._may_merge(job))
            self._running[future] = job
            self._show()
        if not self._running and self._waiting and not self._last_try:
            # what looked entangled may have been somebody in the middle of an edit
            time.sleep(_PAUSE)
            self._last_try = True
            self._wake()
            return self._fill(pool)
        return bool(self._running)

    def _next(self) -> Job | None:
        if self._ready:
            return self._ready.pop(0)
        if self._failed:
            return None
        job = self.queue.next()
        if job is not None and job not in self.ledger.jobs:
            self.ledger.add(job)
            self.ledger.save()
        return job

    def _may_merge(self, job: Job) -> bool:
        """True when every task before this one has landed or failed."""
        busy = [*self._running.values(), *self._waiting, *self._ready]
        return not any(other.number < job.number for other in busy)

    def _wake(self) -> None:
        self._ready += sorted(self._waiting, key=lambda job: job.number)
        self._waiting = []

    def _collect(self) -> None:
        done, _ = wait(self._running, timeout=_PAUSE, return_when=FIRST_COMPLETED)
        for future in done:
            self._take(future, self._running.pop(future))
        if done:
            self._show()

    def _take(self, future: "Future[None]", job: Job) -> None:
        """What came of one job."""
        try:
            future.result()
        except NotYetError:
            # what it waited for may have ended meanwhile, and nobody else would wake it
            (self._ready if self._may_merge(job) else self._waiting).append(job)
        except Entangled as error:
            self._park(job, error)
        except InterruptedLoop:
            pass
        except RalphError as error:
            self._fail(job, FAILED, error)
        else:
            self._last_try = False
            self._wake()
            self.worker.say(_landed(job))

    def _park(self, job: Job, error: Entangled) -> None:
        """An entangled job waits while another may yet make room; else it stays open."""
        sessions = {other.session for other in (*self._running.values(), *self._waiting, *self._ready)}
        if not self._last_try and (sessions or self._rivals_left(error)):
            self.worker.say(f"{job.name}: waits for {_names(error.rivals)} to commit")
            self._waiting.append(job)
        else:
            self._fail(job, ENTANGLED, error)

    def _rivals_left(self, error: Entangled) -> bool:
        open_sessions = {job.session for job in self.ledger.jobs if job.outcome not in LANDED}
        return bool(set(error.rivals) & open_sessions)

    def _fail(self, job: Job, outcome: str, error: RalphError) -> None:
        self._failed = True
        self.hints += [hint for hint in error.hints if hint not in self.hints]
        code = error.exit_code if outcome != ENTANGLED else REFUSED
        self.ledger.step(job, job.step, outcome=outcome, detail=error.message, code=code, process=None)
        self.ledger.tell("task.failed", job, outcome=outcome, reason=error.message.split("\n")[0])
        self.worker.say(f"{job.name}: {outcome}: {error.message}")
        self._wake()

    def _show(self) -> None:
        self.view.jobs = list(self.ledger.jobs)

    def _stop(self) -> None:
        """Ask the children to end, make them after a while, and wait for the threads."""
        self.children.stop_all()
        deadline = time.monotonic() + _GRACE
        while self._running:
            with contextlib.suppress(KeyboardInterrupt):
                done, _ = wait(self._running, timeout=_PAUSE)
                for future in done:
                    self._settle(future, self._running.pop(future))
                if time.monotonic() < deadline:
                    continue
            self.children.stop_all(signal.SIGKILL)  # time is up, or the user asked twice

    def _settle(self, future: "Future[None]", job: Job) -> None:
        """A job that came back while we stop: what it reached counts."""
        error = future.exception()
        if error is not None and not isinstance(error, RalphError | NotYetError):
            raise error
        if job.outcome not in LANDED:
            self.ledger.step(job, job.step, process=None)

    def _verdict(self) -> tuple[str, int]:
        open_jobs = [job for job in self.ledger.jobs if job.outcome in (FAILED, ENTANGLED)]
        failed = [job for job in open_jobs if job.outcome == FAILED]
        if failed:
            return FAILED, failed[0].code
        if open_jobs:
            return ENTANGLED, REFUSED
        return ("paused" if self.queue.open_count() else "done"), OK


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
