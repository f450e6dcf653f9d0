"""Which task comes next: what an interrupted run left, then the open boxes of the plan as it is now."""

from gitralph.records import checklist as plans
from gitralph.sessions import lifecycle
from gitralph.tasks import tracker
from gitralph.tasks.loop import earlier, reword, skips
from gitralph.tasks.loop.ledger import Ledger
from gitralph.tasks.loop.model import AGENT, LANDED, SKIPPED, VERIFY, Job, Options, Say

DROPPED = "dropped"
# A task may be a paragraph; what the summary and the tracker show of it is one line.
_TITLE = 200
# An agent that adds a task for each one it does would never be done.
_ADDED = 20


class Queue:
    """Hands out each task once."""

    def __init__(self, options: Options, ledger: Ledger, say: Say) -> None:
        self.options = options
        self.ledger = ledger
        self.say = say
        self._left = [job for job in ledger.jobs if job.outcome not in (*LANDED, DROPPED)]
        self._handed = 0
        self._first = True
        self._full = False

    def next(self) -> Job | None:
        """The next task to start, None when there is none, or ``--max-tasks`` is reached."""
        if self.options.max_tasks is not None and self._handed >= self.options.max_tasks:
            return None
        job = self._resumed() or self._fresh()
        self._handed += job is not None
        return job

    def _resumed(self) -> Job | None:
        while self._left:
            job = self._left.pop(0)
            if skips.is_skipped(self.ledger, job.key):
                self._skip(job)
                continue
            if self._is_wanted(job):
                if job.outcome is not None and job.step == AGENT:
                    job.iteration = 0  # it failed: a new attempt has all its iterations
                job.outcome, job.code, job.notes, job.spent = None, 0, [], 0.0
                return job
            job.outcome = DROPPED
            self.say(f"{job.name} is no longer in the plan and is left alone: {job.text}")
        return None

    def _is_wanted(self, job: Job) -> bool:
        """False for a task that was taken out of the plan before its work was done."""
        if self.options.plan is None or job.step not in (AGENT, VERIFY):
            return True
        tasks = plans.tasks_of(self.options.plan)
        known = any(task.key == job.key for task in tasks)
        return known or reword.successor(tasks, job, self.ledger.seen) is not None

    def _fresh(self) -> Job | None:
        if self.options.plan is None:
            return self._only()
        tasks = plans.tasks_of(self.options.plan)
        keys = {task.key for task in tasks}
        taken = {job.key for job in self.ledger.jobs}
        for job in self.ledger.jobs:
            heir = reword.successor(tasks, job, self.ledger.seen) if job.key not in keys else None
            if heir is not None:
                taken.add(heir)
        self.ledger.seen |= {task.text for task in tasks if task.key not in taken}
        self._begin(tasks, taken)
        for task in tasks:
            if task.done or task.key in taken or task.number < self._start:
                continue
            job = self._job(tasks, task)
            if skips.is_skipped(self.ledger, task.key):
                self._skip(job)
            elif not self._is_too_much(task):
                return job
        return None

    def _begin(self, tasks: list[plans.Task], taken: set[tuple[str, int]]) -> None:
        """Look at the plan as it is when the loop begins: where to start, and what is in it."""
        if not self._first:
            return
        self._first = False
        self._start = 1
        if self.options.from_task is not None:
            task = skips.named(tasks, self.options.from_task)
            self._start = task.number
            skips.lift(self.ledger, task.key)
        self.ledger.begun |= {task.key for task in tasks}

    def _is_too_much(self, task: plans.Task) -> bool:
        """True for a task that agents added beyond what one run takes on."""
        if task.key in self.ledger.begun:
            return False
        said = self.ledger.ctx.config.get("ralph.maxadded") or ""
        limit = int(said) if said.isdigit() else _ADDED
        added = sum(job.key not in self.ledger.begun for job in self.ledger.jobs)
        if added >= limit and not self._full:
            self._full = True
            self.say(f"the plan grew by more than {limit} tasks: the rest waits for another run")
        return added >= limit

    def _skip(self, job: Job) -> None:
        job.outcome, job.detail = SKIPPED, "skipped by hand"
        if job not in self.ledger.jobs:
            self.ledger.add(job)
        self.ledger.save()
        self.ledger.tell("task.skipped", job)
        self.say(f"{job.name}: skipped: {job.text}")

    def _job(self, tasks: list[plans.Task], task: plans.Task) -> Job:
        before, after = reword.neighbours(tasks, task.key)
        return Job(
            task.text,
            task.copy,
            task.number,
            len(tasks),
            task.details,
            tracker.mentioned(task.text),
            before,
            after,
            self._session(task.key),
        )

    def _session(self, key: tuple[str, int]) -> str:
        """A new session, or that of an earlier attempt whose edits wait: nobody else lands them."""
        old = None if self.options.worktree else earlier.unfinished(self.ledger.ctx, self.ledger, key)
        if old is not None:
            called = self.ledger.ctx.called(old)
            self.say(f"note: session '{called}' of an earlier run goes on with what it has pending")
        return old or lifecycle.new_id()

    def _only(self) -> Job | None:
        """The one task of a run without a plan."""
        if self.ledger.jobs:
            return None
        text = self.options.prompt or f"Work item {self.options.bead}"
        title, _, rest = text.strip().partition("\n")
        details = rest if len(title) <= _TITLE else text
        return Job(title[:_TITLE], 1, 1, 1, details.strip(), self.options.bead, session=lifecycle.new_id())

    def open_count(self) -> int:
        """How many boxes are open in the plan now."""
        if self.options.plan is None:
            return 0
        return sum(not task.done for task in plans.tasks_of(self.options.plan))
