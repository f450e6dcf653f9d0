"""The values that go into the separation of lines and come out of it.

They are plain, so a caller can build and print them without knowing how lines are told apart. A unit's name
is ``<step>.<n>``. No rule may stand here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from gitralph.base.ids import UNRECORDED as UNRECORDED
from gitralph.base.kinds import Kind, Why

Reason = Literal["entangled", "contested", "stale"]


GAP = "g:"
"""Prefix of a gap's key; the rest is the key of the step that revealed the gap."""

FORMATTED = "f:"
"""Prefix of the key of what a shell command did to others' lines without changing a word."""

ARRIVED = "m"
"""Ends the key of a step that brings a moved file as HEAD had it; the rest of the key is the move."""

OFFERED = "?"
"""Stands for the owner of what is only offered, where that counts as another's; no session has such an id."""

TAIL = GAP + "end"
"""The gap between the last step and the file on disk; its units have no lasting name."""


def step_of(unit: str) -> str:
    """Return the key of the step to which a unit belongs; a step's own key is returned unchanged."""
    return unit.rpartition(".")[0] or unit


@dataclass(frozen=True)
class Take:
    """What a person gave to a session in one place: `count` lines from index `at`, and what they removed.

    `end`: the change of the newline at the end of the file is given too.
    """

    at: int
    count: int = 0
    removed: tuple[bytes, ...] = ()
    end: bool = False


class Step(NamedTuple):
    """One recorded edit of a path, or a gap, which is a change that nobody recorded.

    `owner` None marks a gap. `over` are the keys of earlier steps whose result `before` lacks: the step was
    written from an old read (see `order.chain`). `head` is the commit that was HEAD at the time. `seen`:
    `before` stood on disk right before the edit. `alone`: that was so after all earlier steps. `onto`: a file
    was moved here, and nobody saw what stood here before. `came`: the lines that HEAD had under the name from
    which the file was moved here, or all lines of a moved file that HEAD did not have. `moved`: the file came
    here from another name, or still had that.

    `takes` are unrecorded lines that this step gives to its owner; such a step changes no text (see
    `handover`). `undoes` are the names of units that this step took back, `restores` those that it brought
    back after a gap. `offered`: the gap may be a session's, so it follows nobody. `by_shell`: a shell
    command, perhaps a formatter, made the step.
    """

    key: str
    owner: str | None
    before: bytes | None
    after: bytes | None
    over: tuple[str, ...] = ()
    head: str | None = None
    seen: bool = False
    alone: bool = False
    onto: bool = False
    takes: tuple[Take, ...] = ()
    undoes: tuple[str, ...] = ()
    restores: tuple[str, ...] = ()
    offered: bool = False
    by_shell: bool = False
    came: frozenset[bytes] = frozenset()
    moved: bool = False


class LeftEdit(NamedTuple):
    """One of the owner's edits that cannot be committed now: why, and whose edits are in the way."""

    reason: Reason
    lines: tuple[int, int] | None
    why: Why
    units: tuple[str, ...]
    other_lines: tuple[int, int] | None = None

    @property
    def sessions(self) -> tuple[str, ...]:
        return self.why.sessions


LEFT_OUT = frozenset([Kind.LEFT_TO_OTHERS, Kind.LEFT_TO_NOBODY, Kind.REMOVED_BEFORE])
"""Kinds of a note about own lines that somebody changed or removed, and that are left to that session."""

STAYS_OUT = LEFT_OUT | {Kind.CHANGED_SINCE, Kind.AMONG, Kind.BROUGHT_BACK}
"""These kinds, and those of a note about an unrecorded correction that does not go along."""


class LineNote(NamedTuple):
    """Something the user should be told about a commit that goes through."""

    why: Why
    lines: tuple[int, int] | None
    units: tuple[str, ...] = ()


class Separation(NamedTuple):
    """What to commit for one path, or why not. `taken` are the names of the pieces that go."""

    text: bytes | None
    taken: tuple[str, ...] = ()
    left: tuple[LeftEdit, ...] = ()
    refused: bool = False
    includes: tuple[str, ...] = ()
    notes: tuple[LineNote, ...] = ()


class Reversal(NamedTuple):
    """A file after some units were taken out of it or brought back, or why that cannot be.

    `lines` are those of the new text in order, None for no file: a number is the index of a line on disk that
    stays, bytes are a line that comes back, without its newline. `complete`: the last line ends with a
    newline. `units` are the names to record. Where nothing is to do, `text` is the text on disk.
    """

    text: bytes | None
    lines: tuple[int | bytes, ...] | None = None
    complete: bool = True
    units: tuple[str, ...] = ()
    left: tuple[LeftEdit, ...] = ()
    refused: bool = False
