"""The words the separation speaks: what goes in and what comes out.

Plain values, so that a caller can build and print them without knowing how lines are told
apart, and how the names of units read: ``<step>.<n>``, with a mark at the end. Must not hold any rule.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, NamedTuple

from gitralph.base.ids import UNRECORDED as UNRECORDED

Reason = Literal["entangled", "contested", "stale"]


GAP = "g:"
"""Begins the key of a change nobody recorded; the rest is the key of the step that revealed it."""

TAIL = GAP + "end"
"""The gap between the last step and the working tree; its units have no lasting name."""

ABSORBED = "~"
"""Ends the name of a unit that was superseded: none of its lines ever was in a commit."""


def step_of(unit: str) -> str:
    """Return the key of the step that a unit is of; a step's own key, which names it whole, as it is."""
    name = unit.removesuffix(ABSORBED)
    return name.rpartition(".")[0] or name


def is_among(unit: str, names: Collection[str]) -> bool:
    """Tell whether some names hold a unit's own, or its whole step's."""
    return unit in names or step_of(unit) in names


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
    recorded. `seen` says that `before` stood on disk right before the edit, `clean` that HEAD held it
    then. `put` says that git had put `after` there, or HEAD held it: nothing else was on disk. A step
    with `takes` changes no text: it gives its owner what nobody recorded (see `handover`). One with
    `undoes` took the units of these names back, one with `restores` brought them back after nobody's
    change. `moved` is HEAD's text where the file was moved from: those lines came with the
    move and are not its owner's.
    """

    key: str
    owner: str | None
    before: bytes | None
    after: bytes | None
    over: tuple[str, ...] = ()
    head: str | None = None
    seen: bool = False
    clean: bool = False
    put: bool = False
    takes: tuple[Take, ...] = ()
    undoes: tuple[str, ...] = ()
    restores: tuple[str, ...] = ()
    moved: bytes | None = None


class Reading(NamedTuple):
    """The steps of a path from one place on; what came before it is settled.

    `commits` are the names of the units that commits of ours took: after the last one, after the
    one before it, and so on. HEAD may have been rewound to any of them. After the first `passed`
    steps the text was HEAD's, though something from before is in the file again.
    """

    steps: tuple[Step, ...]
    commits: tuple[frozenset[str], ...]
    passed: int = 0


class LeftEdit(NamedTuple):
    """One of the owner's edits that cannot be committed now, and whose edits are in the way."""

    reason: Reason
    lines: tuple[int, int] | None
    sessions: tuple[str, ...]
    detail: str
    units: tuple[str, ...]
    other_lines: tuple[int, int] | None = None


class Note(NamedTuple):
    """Something the user should be told about a commit that goes through.

    Kinds: `absorbed` (another owner's version was superseded: replaced whole, and gone), `void` (the
    edit was reverted), `followed` (a correction nobody recorded goes along), `differs` (one that does
    not), `waiting` (the edit removes lines that are not committed yet), `reanchored` (HEAD moved outside,
    and it is certain how), `rewound` (HEAD no longer holds units that were committed before), `left out`
    (what somebody rewrote past recognition is left to them).
    """

    kind: str
    lines: tuple[int, int] | None
    sessions: tuple[str, ...]
    detail: str
    units: tuple[str, ...] = ()


class Separation(NamedTuple):
    """What to commit for one path, or why not.

    `taken` are the names the caller keeps and passes back as `committed`, as they are: a name that
    ends with `~` is a unit that was superseded. `void` are the owner's reverted units. `reading` is how the
    records were read.
    """

    text: bytes | None
    taken: tuple[str, ...] = ()
    left: tuple[LeftEdit, ...] = ()
    refused: bool = False
    includes: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    void: tuple[str, ...] = ()
    reading: Reading | None = None


class LineOwner(NamedTuple):
    """Who wrote one line of the working tree; `key` is None for a line older than the journal."""

    owner: str | None
    key: str | None
    unit: str | None
    committed: bool


class Pending(NamedTuple):
    """One unit that still makes the working tree differ from HEAD."""

    unit: str
    owner: str | None
    lines: tuple[int, int] | None


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
