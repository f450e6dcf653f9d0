"""The words the separation speaks: what goes in and what comes out.

Plain values, so that a caller can build and print them without knowing how lines are told
apart, and how the names of units read: ``<step>.<n>``, with a mark at the end. Must not hold any rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from gitralph.base.ids import UNRECORDED as UNRECORDED
from gitralph.base.kinds import Kind, Why

Reason = Literal["entangled", "contested", "stale"]


GAP = "g:"
"""Begins the key of a change nobody recorded; the rest is the key of the step that revealed it."""

FORMATTED = "f:"
"""Begins the key of what a shell command did to others' lines without changing a word."""

TAIL = GAP + "end"
"""The gap between the last step and the working tree; its units have no lasting name."""


def step_of(unit: str) -> str:
    """Return the key of the step that a unit is of; a step's own key, which names it whole, as it is."""
    return unit.rpartition(".")[0] or unit


@dataclass(frozen=True)
class Take:
    """What a person gave to a session in one place: `count` lines from index `at`, with what they removed.

    `end` says that the change of the newline at the end of the file belongs to it.
    """

    at: int
    count: int = 0
    removed: tuple[bytes, ...] = ()
    end: bool = False


class Step(NamedTuple):
    """One recorded edit of a path, or a gap, which is a change nobody recorded.

    `over` holds the keys of earlier steps whose result this step's `before` does not know:
    it was written from an old read (see `chain`). `head` is the commit that was HEAD when it was
    recorded. `seen` says that `before` stood on disk right before the edit, `onto` that a file was moved
    here and took the place of what stood there. A step with `takes` changes no text: it gives its owner
    what nobody recorded (see `handover`). One with `undoes` took the units of these names back, one with
    `restores` brought them back after nobody's change. A change of nobody's that is `offered` may be a
    session's, and follows nobody. One `by_shell` was made by a command, which may be a formatter.
    """

    key: str
    owner: str | None
    before: bytes | None
    after: bytes | None
    over: tuple[str, ...] = ()
    head: str | None = None
    seen: bool = False
    onto: bool = False
    takes: tuple[Take, ...] = ()
    undoes: tuple[str, ...] = ()
    restores: tuple[str, ...] = ()
    offered: bool = False
    by_shell: bool = False


class LeftEdit(NamedTuple):
    """One of the owner's edits that cannot be committed now, and why: whose edits are in the way."""

    reason: Reason
    lines: tuple[int, int] | None
    why: Why
    units: tuple[str, ...]
    other_lines: tuple[int, int] | None = None

    @property
    def sessions(self) -> tuple[str, ...]:
        return self.why.sessions


LEFT_OUT = frozenset([Kind.LEFT_TO_OTHERS, Kind.LEFT_TO_NOBODY, Kind.REMOVED_BEFORE])
"""Kinds of a note that tells what somebody changed or took away and what is left to him."""

STAYS_OUT = LEFT_OUT | {Kind.CHANGED_SINCE, Kind.AMONG}
"""... and of one that tells of a correction which nobody recorded and which does not go along."""


class LineNote(NamedTuple):
    """Something the user should be told about a commit that goes through."""

    why: Why
    lines: tuple[int, int] | None
    units: tuple[str, ...] = ()


class Separation(NamedTuple):
    """What to commit for one path, or why not.

    `taken` are the names of the pieces that go.
    """

    text: bytes | None
    taken: tuple[str, ...] = ()
    left: tuple[LeftEdit, ...] = ()
    refused: bool = False
    includes: tuple[str, ...] = ()
    notes: tuple[LineNote, ...] = ()


class Reversal(NamedTuple):
    """A file after some units were taken out of it or brought back, or why that cannot be.

    `lines` are those of the new text in order: an index of a line of the working tree that stays, or the
    content of one that comes back, without its newline; None for no file. `complete`: the last line ends
    with a newline. `units` are the names to record. Nothing to do: `text` is the working tree's.
    """

    text: bytes | None
    lines: tuple[int | bytes, ...] | None = None
    complete: bool = True
    units: tuple[str, ...] = ()
    left: tuple[LeftEdit, ...] = ()
    refused: bool = False

    def steps(self) -> tuple[str, ...]:
        """Return the keys of the steps that the units are of, each once."""
        return tuple(dict.fromkeys(map(step_of, self.units)))
