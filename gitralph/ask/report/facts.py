"""The facts that a report shows, before they get a form; data only. Times are seconds since the epoch."""

from dataclasses import dataclass, field

from gitralph.ask.foreign import Published
from gitralph.sessions.spending import UNKNOWN, Spent

# A person's commit has this and the name where a session's commit has the session's id. No id has a blank.
PERSON = "a person: "


@dataclass(frozen=True)
class Edit:
    """One recorded edit."""

    time: float
    session: str
    path: str
    op: str


@dataclass(frozen=True)
class SessionCommit:
    """One commit of a session; ``fate`` says what became of one that HEAD does not hold."""

    time: float
    session: str
    oid: str
    subject: str
    fate: str = ""


@dataclass(frozen=True)
class Refusal:
    """A task of a run that failed: nothing was committed, and why."""

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
    """One session, or one person. ``label`` says which agent it is and what it works on."""

    session: str
    label: str
    state: str
    begin: float | None
    end: float | None
    name: str = ""

    @property
    def called(self) -> str:
        """The session's name, or its id where it has no name."""
        return self.name or self.session


@dataclass
class Facts:
    """Everything on the page. ``cut`` counts the edits beyond the limit, which are left out."""

    title: str
    made: str
    lanes: list[Lane] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    commits: list[SessionCommit] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    contested: list[tuple[str, str]] = field(default_factory=list)
    tasks: list[TaskRow] = field(default_factory=list)
    elsewhere: list[Published] = field(default_factory=list)
    branches: list[str] = field(default_factory=list)
    cut: int = 0
    spent: dict[str, Spent] | None = None
    """The tokens that each session took; None where nobody asked for them."""
    spent_on: dict[tuple[str, str], Spent] = field(default_factory=dict)
    """The same by session and commit."""

    def of_task(self, task: TaskRow) -> Spent | None:
        """The tokens of a task: its session's, if that had no other task, else its commit's."""
        if self.spent is None or not task.session:
            return None
        alone = sum(one.session == task.session for one in self.tasks) == 1
        found = self.spent.get(task.session) if alone else self.spent_on.get((task.session, task.commit))
        return found or UNKNOWN

    def files(self) -> dict[str, dict[str, int]]:
        """Path to the number of edits of each session, the busiest path first."""
        found: dict[str, dict[str, int]] = {}
        for edit in self.edits:
            row = found.setdefault(edit.path, {})
            row[edit.session] = row.get(edit.session, 0) + 1
        return dict(sorted(found.items(), key=lambda item: (-sum(item[1].values()), item[0])))

    def called(self, session: str) -> str:
        """What people call a session."""
        return next((lane.called for lane in self.lanes if lane.session == session), session)
