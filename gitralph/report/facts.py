"""What a report tells, collected in no particular form; data only. Times are seconds since the epoch."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Edit:
    """One recorded edit."""

    time: float
    session: str
    path: str
    op: str
    tool: str
    exact: str


@dataclass(frozen=True)
class Landed:
    """One commit of a session."""

    time: float
    session: str
    oid: str
    subject: str


@dataclass(frozen=True)
class Refusal:
    """Something that was not committed, and why."""

    time: float | None
    session: str
    reason: str


@dataclass(frozen=True)
class TaskRow:
    """One task of a run."""

    run: str
    name: str
    outcome: str
    session: str
    commit: str
    files: int
    seconds: float
    detail: str


@dataclass(frozen=True)
class Lane:
    """One session: who, what for, and from when to when."""

    session: str
    label: str
    state: str
    begin: float | None
    end: float | None


@dataclass
class Facts:
    """Everything on the page. ``cut`` counts edits beyond the limit."""

    title: str
    made: str
    lanes: list[Lane] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    commits: list[Landed] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    contested: list[tuple[str, str]] = field(default_factory=list)
    tasks: list[TaskRow] = field(default_factory=list)
    cut: int = 0

    def files(self) -> dict[str, dict[str, int]]:
        """Path to the number of edits of each session, the busiest path first."""
        found: dict[str, dict[str, int]] = {}
        for edit in self.edits:
            row = found.setdefault(edit.path, {})
            row[edit.session] = row.get(edit.session, 0) + 1
        return dict(sorted(found.items(), key=lambda item: (-sum(item[1].values()), item[0])))
