"""One commit as it was asked for, and what came of it; plain values."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from gitralph.base.quote import shown
from gitralph.commit.decision import Left, Outcome
from gitralph.commit.inputs import Wishes
from gitralph.git.refs import Head
from gitralph.git.trees import Entry, TreeReader
from gitralph.journal.pending import PathState


@dataclass(frozen=True)
class Request:
    """One commit as the user asked for it. ``match`` None means everything pending; ``named`` is as typed."""

    session: str
    messages: tuple[bytes, ...] = ()
    trailers: tuple[bytes, ...] = ()
    author: str | None = None
    edit: bool = False
    verify: bool = True
    dry_run: bool = False
    wishes: Wishes = field(default_factory=Wishes)
    match: Callable[[Iterable[bytes]], list[bytes]] | None = None
    named: tuple[str, ...] = ()


@dataclass
class Result:
    """What came of it, as the ``--json`` document tells it."""

    status: str
    session: str | None
    ref: str | None = None
    commit: str | None = None
    subject: str = ""
    changes: dict[bytes, str] = field(default_factory=dict)
    how: dict[bytes, str] = field(default_factory=dict)
    left: list[Left] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)


def _letter(old: Entry | None, new: Entry | None) -> str:
    if new is None:
        return "D"
    if old is None or old.mode == 0o40000:
        return "A"
    return "M" if old.mode >> 12 == new.mode >> 12 else "T"


@dataclass
class Draft:
    """A commit not yet made: entries to change against HEAD, their tree, and what stays out.

    ``start`` is what edits are judged against: HEAD, on an orphan branch with what it was left with.
    """

    head: Head
    session: str
    base: TreeReader
    start: TreeReader
    tree: bytes
    outcomes: list[Outcome] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    entries: dict[bytes, Entry | None] = field(default_factory=dict)
    now: dict[bytes, Entry | None] = field(default_factory=dict)
    how: dict[bytes, str] = field(default_factory=dict)
    states: dict[bytes, PathState] = field(default_factory=dict)
    trees: list[bytes] = field(default_factory=list)
    together: list[tuple[bytes, bytes]] = field(default_factory=list)
    """Paths of which a commit has both or neither."""
    undone: list[str] = field(default_factory=list)
    """The session's last commits that are not in HEAD any more."""

    def take_out(self, left: Left) -> None:
        """Take a path out again, with a reason; its records stay pending."""
        self.entries.pop(left.path, None)
        self.how.pop(left.path, None)
        if left not in self.left:
            self.left.append(left)
        for found in self.outcomes:
            if found.path == left.path:
                found.content, found.uses = None, []

    def leave(self, left: Left) -> None:
        """The same for a commit that goes on without it: all that cannot go alone is left too."""
        todo, done = [left], set()
        while todo:
            one = todo.pop()
            done.add(one.path)
            tied = self._tied(one.path) - done
            if one is left or one.path in self.entries:
                self.take_out(one)
            detail = f"it goes with '{shown(one.path)}', which is left"
            todo += [replace(one, path=path, detail=detail, lines=None) for path in tied]

    def _tied(self, path: bytes) -> set[bytes]:
        """The other ends of its renames, and what takes its place or must give it."""
        ends = {p for pair in self.together if path in pair for p in pair}
        places = {p for p in self.entries if p.startswith(path + b"/") or path.startswith(p + b"/")}
        return (ends | places) - {path}

    @property
    def changes(self) -> dict[bytes, str]:
        """Each committed path with git's letter for its change."""
        return {p: _letter(self.base.lookup_safe(p), e) for p, e in self.entries.items()}

    @property
    def refusals(self) -> list[Left]:
        return [left for left in self.left if left.refuses]

    @property
    def notes(self) -> list[str]:
        return [note for found in self.outcomes for note in found.notes]

    @property
    def includes(self) -> list[str]:
        return sorted({name for found in self.outcomes for name in found.includes})
