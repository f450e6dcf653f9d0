"""Which task comes next: what an interrupted run left, then the open boxes of the plan as it is now."""

from gitralph import checklist as plans
from gitralph import tracker
from gitralph.loop import reword
from gitralph.loop.ledger import Ledger
from gitralph.loop.model import AGENT, LANDED, VERIFY, Job, Options, Say
from gitralph.session import sessions

DROPPED = "dropped"
_TITLE = 200


class Queue:
    """Hands out each task once."""

    def __init__(self, options: Options, ledger: Ledger, say: Say) -> None:
        self.options = options
        self.ledger = ledger
        self.say = say
        self._left = [job for job in ledger.jobs if job.outcome not in (*LANDED, DROPPED)]
        self._handed = 0

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
            if self._is_wanted(job):
                if job.outcome is not None and job.step == AGENT:
                    job.iteration = 0  # it failed: a new attempt has all its iterations
                job.outcome, job.code, job.notes = None, 0, []
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
        task = next((one for one in tasks if not one.done and one.key not in taken), None)
        return self._job(tasks, task) if task is not None else None

    def _job(self, tasks: list[plans.Task], task: plans.Task) -> Job:
        before, after = reword.neighbours(tasks, task.key)
        return Job(
            task.text, task.copy, task.number, len(tasks), task.details,
            tracker.mentioned(task.text), before, after, sessions.new_id(),
        )  # fmt: skip

    def _only(self) -> Job | None:
        """The one task of a run without a plan."""
        if self.ledger.jobs:
            return None
        text = self.options.prompt or f"Work item {self.options.bead}"
        title, _, rest = text.strip().partition("\n")
        details = rest if len(title) <= _TITLE else text
        return Job(title[:_TITLE], 1, 1, 1, details.strip(), self.options.bead, session=sessions.new_id())

    def open_count(self) -> int:
        """How many boxes are open in the plan now."""
        if self.options.plan is None:
            return 0
        return sum(not task.done for task in plans.tasks_of(self.options.plan))
