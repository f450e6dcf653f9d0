"""One commit: what was asked for, its draft and its result, as plain values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from gitralph.base.kinds import Kind, Why
from gitralph.decide.decision import UNRECORDED, Left, Note, Outcome
from gitralph.decide.inputs import Entries, Wishes
from gitralph.git.refs import Head
from gitralph.git.trees import Entry, TreeReader
from gitralph.records.path_records import PathState

Judge = Callable[["Candidate"], dict[str, object]]
"""Looks at a candidate and returns what it found, for the ``--json`` document.

Raises Failed to stop the commit.
"""

# The default of mappings that nobody may change.
_NONE: Mapping[Any, Any] = MappingProxyType({})


class Candidate(NamedTuple):
    """A commit about to be made, for a judge: its tree, its parent ``head``, its session.

    ``objects`` is a folder with those objects of the commit that the repository does not have yet.
    """

    tree: str
    head: str | None
    session: str
    objects: str | None = None


class Pick(NamedTuple):
    """What a person chose of a path that would go: all of it, or a part of its text.

    ``text`` is what the blob is to hold, None where the path goes as it was shown.
    """

    before: Entry | None
    shown: Entry | None
    text: bytes | None = None


Picks = Mapping[bytes, Pick]


class Request(NamedTuple):
    """One commit as the user asked for it. ``match`` None means everything pending; ``named`` is as typed.

    ``session`` is UNRECORDED for a person who commits what no session owns. ``judge`` has the last word on
    the tree, after the repository's hooks. ``amend`` replaces HEAD's commit. ``fixup`` is a revision as
    typed: this commit is to be squashed into it. ``again`` are the words of the command line but for wishes
    and paths: a hint repeats them, so that no message is lost. ``picks`` is what was chosen hunk by hunk,
    None where nobody was asked.
    """

    session: str
    messages: tuple[bytes, ...] = ()
    trailers: tuple[bytes, ...] = ()
    author: str | None = None
    edit: bool = False
    verify: bool = True
    dry_run: bool = False
    wishes: Wishes = Wishes()
    match: Callable[[Iterable[bytes]], list[bytes]] | None = None
    named: tuple[str, ...] = ()
    judge: Judge | None = None
    amend: bool = False
    fixup: str | None = None
    again: tuple[str, ...] = ()
    picks: Picks | None = None

    @property
    def by_person(self) -> bool:
        """True when a person commits, not a session."""
        return self.session == UNRECORDED

    @property
    def may_be_empty(self) -> bool:
        """True for an amend that changes no file and gives HEAD's commit another message."""
        return self.amend and bool(self.messages or self.edit)


class Result(NamedTuple):
    """The result of a commit, as the ``--json`` document tells it."""

    status: str
    session: str | None
    ref: str | None = None
    commit: str | None = None
    subject: str = ""
    changes: Mapping[bytes, str] = _NONE
    how: Mapping[bytes, str] = _NONE
    left: tuple[Left, ...] = ()
    notes: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    proof: dict[str, object] | None = None
    silent: bool = False
    """The session had no record at all to look at; ``sessions.transcript_claims`` can tell why."""

    def noting(self, *notes: str) -> Result:
        """This result with more notes."""
        return self._replace(notes=(*self.notes, *notes))


def _letter(old: Entry | None, new: Entry | None) -> str:
    if new is None:
        return "D"
    if old is None or old.mode == 0o40000:
        return "A"
    return "M" if old.mode >> 12 == new.mode >> 12 else "T"


class Draft(NamedTuple):
    """A commit not yet made: entries to change against HEAD, their tree, and what stays out.

    ``start`` is the tree against which edits are judged: HEAD's, on an orphan branch that of ``orphan``.
    ``now`` are the files as they stand. ``trees`` are the new folders of ``tree``. ``together`` are pairs of
    paths of which a commit has both or neither. ``rewound`` is the session's last commit, where HEAD no
    longer has it.
    """

    head: Head
    session: str
    base: TreeReader
    start: TreeReader
    tree: bytes
    outcomes: tuple[Outcome, ...] = ()
    left: tuple[Left, ...] = ()
    entries: Entries = _NONE
    now: Entries = _NONE
    how: Mapping[bytes, str] = _NONE
    states: Mapping[bytes, PathState] = _NONE
    trees: tuple[bytes, ...] = ()
    together: tuple[tuple[bytes, bytes], ...] = ()
    family: tuple[str, ...] = ()
    rewound: str | None = None

    @property
    def by_person(self) -> bool:
        """True when a person commits, not a session."""
        return self.session == UNRECORDED

    def without(self, lefts: Collection[Left]) -> Draft:
        """The draft without these paths, each left with its reason; their records stay pending."""
        out = {one.path for one in lefts}
        return self._replace(
            outcomes=tuple(
                found._replace(content=None, uses=(), includes=frozenset()) if found.path in out else found
                for found in self.outcomes
            ),
            left=tuple(dict.fromkeys((*self.left, *lefts))),
            entries={path: entry for path, entry in self.entries.items() if path not in out},
            how={path: how for path, how in self.how.items() if path not in out},
        )

    def leaving(self, lefts: Iterable[Left]) -> Draft:
        """The draft without these paths and without every path that cannot go without them."""
        out: list[Left] = []
        gone: set[bytes] = set()
        for first in lefts:
            todo, done = [first], set()
            while todo:
                one = todo.pop()
                done.add(one.path)
                tied = self.tied(one.path, gone) - done
                if one is first or (one.path in self.entries and one.path not in gone):
                    out.append(one)
                    gone.add(one.path)
                why = Why(Kind.GOES_WITH, path=one.path)
                todo += [one._replace(path=path, why=why, lines=None) for path in tied]
        return self.without(out)

    def tied(self, path: bytes, gone: Container[bytes] = ()) -> set[bytes]:
        """The paths that cannot go without ``path``, but for those in ``gone``.

        They are the other ends of its renames, and paths that take its place or give way to it.
        """
        ends = {p for pair in self.together if path in pair for p in pair}
        # A tree cannot hold a file and a folder of one name. So two paths that take each other's place go
        # together.
        places = {
            p
            for p in self.entries
            if p not in gone and (p.startswith(path + b"/") or path.startswith(p + b"/"))
        }
        return (ends | places) - {path}

    @property
    def changes(self) -> dict[bytes, str]:
        """Each committed path with git's letter for its change."""
        return {p: _letter(self.base.lookup_safe(p), e) for p, e in self.entries.items()}

    @property
    def refusals(self) -> list[Left]:
        return [left for left in self.left if left.refuses]

    @property
    def notes(self) -> list[Note]:
        return [note for found in self.outcomes for note in found.notes]

    @property
    def includes(self) -> list[str]:
        return sorted({name for found in self.outcomes for name in found.includes})
