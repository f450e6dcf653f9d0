"""The run's record as the loop keeps it: every job's step is on disk before it is taken."""

import threading
from typing import Any

from gitralph.ask import events as emitting
from gitralph.git.context import Context
from gitralph.records import run as runs
from gitralph.tasks.loop.model import Job, job_of


def _is_key(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and type(value[1]) is int


class Ledger:
    """One run's record and its jobs. Safe for threads."""

    def __init__(self, ctx: Context, record: runs.Record) -> None:
        self.ctx = ctx
        self.record = record
        self.jobs = [job for kept in record["tasks"] if isinstance(kept, dict) and (job := job_of(kept))]
        self.seen = {text for text in record.get("seen") or () if isinstance(text, str)}
        # what was ticked under another name than the task had when it began
        self.ticked: set[tuple[str, int]] = {
            (one[0], one[1]) for one in record.get("ticked") or () if _is_key(one)
        }
        self.open = {(one[0], one[1]) for one in record.get("open") or () if _is_key(one)}
        self.begun = {(one[0], one[1]) for one in record.get("begun") or () if _is_key(one)}
        self._lock = threading.Lock()

    @property
    def run(self) -> str:
        return str(self.record["run"])

    def add(self, job: Job) -> None:
        """A task joins the run."""
        with self._lock:
            self.jobs = [*self.jobs, job]

    def save(self) -> None:
        """Put everything on disk."""
        with self._lock:
            self.record["seen"] = sorted(self.seen)
            self.record["ticked"] = sorted(self.ticked)
            self.record["begun"] = sorted(self.begun)
            self.record["open"] = sorted(self.open)
            self.record["tasks"] = [job.document() for job in self.jobs]
            runs.save(self.ctx.layout, self.record)

    def step(self, job: Job, step: str, **changes: Any) -> None:
        """Note the step that is about to be taken."""
        job.step = step
        for name, value in changes.items():
            setattr(job, name, value)
        self.save()

    def tell(self, topic: str, job: Job | None = None, **payload: object) -> None:
        """An event of the loop's own in the run's file."""
        if job is not None:
            payload = {"task": job.text, "n": job.number, "session": job.session, **payload}
        emitting.own_event(self.ctx, self.run, topic, **payload)
