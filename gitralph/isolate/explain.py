"""Words for an answer: line numbers of the working tree, sessions, notes.

Must not decide anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gitralph.isolate.api import UNRECORDED, LeftEdit, Note, Reason
from gitralph.isolate.rules import Need
from gitralph.isolate.weave import END, EXISTS, NEWLINE, START, Weave

Lines = tuple[int, int] | None


class Places:
    """Line numbers of units in the working tree."""

    def __init__(self, weave: Weave) -> None:
        self.weave = weave
        self.count = len(weave.shown)
        self.beside: dict[int, int] = {}
        self.units: dict[int, Lines] = {}
        self._numbers: dict[int, int] | None = None

    @property
    def numbers(self) -> Mapping[int, int]:
        """Each visible line with its number, worked out for the first unit that is told of."""
        if self._numbers is None:
            self._numbers = {atom: at for at, atom in enumerate(self.weave.shown, 1)}
        return self._numbers

    def of_unit(self, unit: int) -> Lines:
        """Return the first and last line of a unit, or the line that stands where its lines were."""
        if not self.count:
            return None
        if unit not in self.units:
            atoms = self.weave.atoms_of(self.weave.units[unit])
            own = [self.numbers[atom] for atom in atoms if atom in self.numbers]
            if not own:
                own = [self._near(atom) for atom in atoms if atom not in (EXISTS, NEWLINE)]
            self.units[unit] = (min(own), max(own)) if own else (self.count, self.count)
        return self.units[unit]

    def of_units(self, units: Iterable[int]) -> Lines:
        """Return the range that spans several units."""
        return _spanned(map(self.of_unit, units))

    def of_need(self, need: Need, gone: Mapping[int, frozenset[int]]) -> Lines:
        """Return where the lines of the other are that a hunk builds on; those it removed, if it did."""
        other = self.weave.hunks[need.other]
        taken = [atom for atom in other.births if atom in gone[need.hunk]] if self.count else []
        if not taken:
            return self.of_unit(other.unit)
        places = [self._near(atom) for atom in taken]
        return (min(places), max(places))

    def _near(self, atom: int) -> int:
        """Return the line in the place of one that is gone: what replaced it, or the line after it."""
        passed: list[int] = []
        while atom not in (START, END) and atom not in self.numbers and atom not in self.beside:
            passed.append(atom)
            atom = self.weave.next[atom]
        found = self.beside.get(atom) or self.numbers.get(atom, 1 if atom == START else self.count)
        # Thousands of dead lines may stand side by side, each asked for by a unit of its own.
        self.beside.update(dict.fromkeys(passed, found))
        return found


def _spanned(ranges: Iterable[Lines]) -> Lines:
    known = [lines for lines in ranges if lines]
    return (min(first for first, _ in known), max(last for _, last in known)) if known else None


def sessions_of(weave: Weave, units: Iterable[int]) -> tuple[str, ...]:
    """Return the owners of units, each once."""
    owners = (weave.units[unit].owner for unit in sorted(units))
    return tuple(dict.fromkeys(owner if owner is not None else UNRECORDED for owner in owners))


def keys_of(weave: Weave, units: Iterable[int]) -> tuple[str, ...]:
    """Return the names of units, in the order they were made."""
    return tuple(weave.units[unit].key for unit in sorted(units))


def who(sessions: Iterable[str]) -> str:
    """Name sessions in a sentence."""
    named = ["somebody without a session" if name == UNRECORDED else f"session '{name}'" for name in sessions]
    return " and ".join(named)


def drifted(head: bytes | None) -> str:
    """Say what HEAD has in the place of the text that was edited."""
    if head is None:
        return "HEAD has no such file any more"
    return "HEAD holds other text here than the text that was edited"


def left_of(
    weave: Weave, places: Places, needs: Iterable[Need], drift: set[int], head: bytes | None
) -> list[LeftEdit]:
    """Turn unmet needs into one entry per unit of the owner; those that meet `drift` are stale."""
    by_unit: dict[int, list[Need]] = {}
    for need in needs:
        by_unit.setdefault(weave.hunks[need.hunk].unit, []).append(need)
    return [_left(weave, places, unit, by_unit[unit], drift, head) for unit in sorted(by_unit)]


def _left(
    weave: Weave, places: Places, unit: int, needs: list[Need], drift: set[int], head: bytes | None
) -> LeftEdit:
    # A need between two parts of one unit says nothing of others.
    needs = [need for need in needs if weave.hunks[need.other].unit != unit] or needs
    others = {weave.hunks[need.other].unit for need in needs} - {unit}
    sessions = sessions_of(weave, others)
    reason: Reason = "stale" if others & drift else "entangled"
    gone = {need.hunk: frozenset(weave.hunks[need.hunk].dels) for need in needs}
    other_lines = _spanned(places.of_need(need, gone) for need in needs) if others else None
    detail = f"{needs[0].why} uncommitted {_lines(other_lines)}of {who(sessions)}"
    if reason == "stale":
        detail = drifted(head)
    keys = keys_of(weave, [unit])
    return LeftEdit(reason, places.of_unit(unit), sessions, detail, keys, other_lines)


def _lines(lines: Lines) -> str:
    if lines is None:
        return "lines "
    return f"line {lines[0]} " if lines[0] == lines[1] else f"lines {lines[0]}-{lines[1]} "


def note(weave: Weave, places: Places, kind: str, units: set[int], detail: str) -> Note:
    """Make a note about some units."""
    return Note(
        kind,
        places.of_units(sorted(units)),
        sessions_of(weave, units),
        detail,
        keys_of(weave, units),
    )
