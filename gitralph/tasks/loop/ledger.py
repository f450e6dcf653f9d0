"""What a loop was asked for, how far each of its tasks is, and the run's record, which keeps both."""

import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from gitralph.ask import event_reader as emitting
from gitralph.base.ids import is_valid
from gitralph.git.context import Context
from gitralph.records import run_record as runs

AGENT, VERIFY, COMMIT, MERGE, TICK, END = "agent", "verify", "commit", "merge", "tick", "end"
COMMITTED, NO_OP, FAILED, ENTANGLED = "committed", "no-op", "failed", "entangled"
BLOCKED, SKIPPED = "blocked", "skipped"
LANDED = frozenset([COMMITTED, NO_OP])


@dataclass(frozen=True)
class Options:
    """One ``git ralph run`` as the user asked for it. ``plan`` None with a ``prompt`` is one task.

    Times are in seconds. ``prove`` None: checks run on the commit's own tree where tasks share a directory.
    """

    plan: str | None = None
    prompt: str | None = None
    bead: str | None = None
    agent: str | None = None
    command: tuple[str, ...] = ()
    jobs: int = 1
    worktree: bool = False
    max_iterations: int | None = None
    max_tasks: int | None = None
    verify: tuple[str, ...] = ()
    promise: str | None = None
    include_entangled: bool = False
    prove: bool | None = None
    subject: str | None = None
    max_time: float | None = None
    task_timeout: float | None = None
    check_timeout: float | None = None
    require_change: bool = False
    keep_going: bool = False
    from_task: str | None = None

    @property
    def proves(self) -> bool:
        """True where each check runs on the commit's own tree."""
        return self.prove if self.prove is not None else self.jobs > 1 and not self.worktree

    def kept(self) -> dict[str, Any]:
        """What the run's record keeps, so that ``--resume`` needs no option again."""
        # The record has the plan in a field of its own; --from concerns this start alone.
        return {key: value for key, value in asdict(self).items() if key not in ("plan", "from_task")}


@dataclass
class Job:
    """One task of this run. ``step`` is the next thing to do, or what was being done at a crash."""

    text: str
    copy: int
    number: int
    total: int
    details: str = ""
    bead: str | None = None
    before: str | None = None
    after: str | None = None
    session: str = ""
    step: str = AGENT
    iteration: int = 0
    process: dict[str, Any] | None = None
    commit: str | None = None
    files: list[str] = field(default_factory=list)
    outcome: str | None = None
    detail: str = ""
    code: int = 0
    root: str | None = None
    tree: str | None = None
    started: str | None = None
    seconds: float = 0.0
    title: str | None = None
    notes: list[str] = field(default_factory=list)
    head: str | None = None
    """HEAD when the task began."""
    said: str = ""
    """The agent's last words."""
    denied: list[str] = field(default_factory=list)
    """Tools that the agent was refused in its last call."""
    unlanded: list[str] = field(default_factory=list)
    """Paths that it changed and that are in no commit."""
    spent: float = 0.0
    """How many seconds its agent has worked."""
    claimed: bool = False
    """The run itself claimed its bead in the fleet, so the run may give it back."""

    @property
    def key(self) -> tuple[str, int]:
        return self.text, self.copy

    @property
    def name(self) -> str:
        return f"Task {self.number}/{self.total}"


def job_of(kept: dict[str, Any]) -> Job | None:
    """A job from the run's record as it was read; None for one that no version of ours has written."""
    known = {key: kept[key] for key in Job.__dataclass_fields__ if key in kept}
    try:
        job = Job(**known)
    except TypeError:
        return None
    sound = is_valid(job.session) and type(job.iteration) is int
    # The loop removes worktrees that it made. A record that names another folder must not make it remove
    # that.
    if job.tree is not None and not _is_ours(job.root, job.tree):
        return None
    return job if sound else None


def _is_ours(root: object, tree: object) -> bool:
    """True for a worktree and branch with names that the loop itself would give."""
    if not isinstance(root, str) or not isinstance(tree, str) or not tree.startswith("ralph/"):
        return False
    name = tree.removeprefix("ralph/")
    return is_valid(name) and root.endswith(f"/.worktrees/ralph-{name}") and root[:1] == "/"


Say = Callable[[str], None]


# --- the record, which has every step on disk before it is taken ---


def _keys(kept: Any) -> set[tuple[str, int]]:
    """The keys of tasks in a field of the record; anything else is passed over."""
    pairs = (one for one in kept or () if isinstance(one, list) and len(one) == 2)
    return {(text, copy) for text, copy in pairs if isinstance(text, str) and type(copy) is int}


class Ledger:
    """One run's record and its jobs. Safe for threads."""

    def __init__(self, ctx: Context, record: runs.Record) -> None:
        self.ctx = ctx
        self.record = record
        self.jobs = [job for kept in record["tasks"] if (job := job_of(kept))]
        self.seen = {text for text in record.get("seen") or () if isinstance(text, str)}
        # Tasks that were ticked under another name than they had when they began.
        self.ticked = _keys(record.get("ticked"))
        self.open = _keys(record.get("open"))
        self.begun = _keys(record.get("begun"))
        self._lock = threading.Lock()

    @property
    def run(self) -> str:
        return str(self.record["run"])

    def add(self, job: Job) -> None:
        """Add a task to the run."""
        with self._lock:
            self.jobs = [*self.jobs, job]

    def save(self) -> None:
        """Write everything to disk."""
        with self._lock:
            self.record["seen"] = sorted(self.seen)
            self.record["ticked"] = sorted(self.ticked)
            self.record["begun"] = sorted(self.begun)
            self.record["open"] = sorted(self.open)
            self.record["tasks"] = [asdict(job) for job in self.jobs]
            runs.save(self.ctx.layout, self.record)

    def step(self, job: Job, step: str, **changes: Any) -> None:
        """Note the step that is about to be taken."""
        job.step = step
        for name, value in changes.items():
            setattr(job, name, value)
        self.save()

    def tell(self, topic: str, job: Job | None = None, **payload: object) -> None:
        """Write an event of the loop into the run's file."""
        if job is not None:
            payload = {"task": job.text, "n": job.number, "session": job.session, **payload}
        emitting.own_event(self.ctx, self.run, topic, **payload)
