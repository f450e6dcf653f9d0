"""What a loop was asked for, how far each of its tasks is, and what it says while it works; data only."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from gitralph.base.ids import is_valid

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
        # The plan stands in the record by itself; --from is about this start alone.
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
    """What HEAD was when the task began."""
    said: str = ""
    """The agent's last words."""
    denied: list[str] = field(default_factory=list)
    """Tools that the agent was refused in its last call."""
    unlanded: list[str] = field(default_factory=list)
    """Paths that it changed and that are in no commit."""
    spent: float = 0.0
    """Seconds that its agent has worked."""
    claimed: bool = False
    """The run itself claimed its bead in the fleet, and so may give it back."""

    @property
    def key(self) -> tuple[str, int]:
        return self.text, self.copy

    @property
    def name(self) -> str:
        return f"Task {self.number}/{self.total}"

    def document(self) -> dict[str, Any]:
        return asdict(self)


def job_of(kept: dict[str, Any]) -> Job | None:
    """A job from the run's record, None for what no version of ours has written."""
    known = {key: kept[key] for key in Job.__dataclass_fields__ if key in kept}
    try:
        job = Job(**known)
    except TypeError:
        return None
    numbers = (job.copy, job.number, job.total, job.iteration)
    sound = isinstance(job.text, str) and is_valid(job.session) and all(type(n) is int for n in numbers)
    # The loop removes worktrees that it made; a record that names another folder must not make it do so.
    if job.tree is not None and not _is_ours(job.root, job.tree):
        return None
    return job if sound else None


def _is_ours(root: object, tree: object) -> bool:
    """True for a worktree and branch as the loop itself would name them."""
    if not isinstance(root, str) or not isinstance(tree, str) or not tree.startswith("ralph/"):
        return False
    name = tree.removeprefix("ralph/")
    return is_valid(name) and root.endswith(f"/.worktrees/ralph-{name}") and root[:1] == "/"


@dataclass
class View:
    """What people may look at while the loop works; read by another thread, so only replaced whole."""

    run: str | None = None
    jobs: list[Job] = field(default_factory=list)
    begun: dict[str, float] = field(default_factory=dict)

    def elapsed(self, job: Job) -> float:
        """Seconds that the job has taken so far."""
        since = self.begun.get(job.session)
        return job.seconds + (time.monotonic() - since if since is not None else 0.0)


Say = Callable[[str], None]


@dataclass
class Summary:
    """How a loop ended: each job, and what to type next."""

    run: str
    plan: str | None
    jobs: list[Job]
    outcome: str
    code: int
    seconds: float
    left: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
