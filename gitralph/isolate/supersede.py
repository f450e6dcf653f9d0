"""Superseding: taking another owner's unit of which nothing is left; called absorbing below.

When A replaced every line B had not committed yet, A's commit is HEAD with B's replaced lines
gone and A's in their place. B's unit is then part of it without a word of B's. Must refuse as
soon as anything of B's could survive in A's text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gitralph.isolate.linediff import line_hunks
from gitralph.isolate.lines import marks, words
from gitralph.isolate.materialize import Flags, switch, visible
from gitralph.isolate.rules import needs_of
from gitralph.isolate.weave import EXISTS, NEWLINE, Hunk, Unit, Weave

_SPECIAL = (EXISTS, NEWLINE)


class Writing:
    """The hunks that an owner's commit is made of, by the step they belong to."""

    def __init__(self, weave: Weave, units: Iterable[int]) -> None:
        self.hunks = {hunk for unit in units for hunk in weave.units[unit].hunks}
        self.of_step: dict[int, list[int]] = {}
        for hunk in self.hunks:
            self.of_step.setdefault(weave.unit_of(hunk).step, []).append(hunk)


def absorbed(weave: Weave, unit: int, flags: Flags, own: Writing, barred: set[int]) -> set[int]:
    """Return the units to absorb so that `unit` can be, or none; `own` is what the owner writes."""
    trial = bytearray(flags)
    switch(weave, trial, unit)
    taken = [unit]
    # It grows while it is walked: what a unit needs may need more.
    for index in taken:
        if index in barred:
            return set()
        for hunk in weave.units[index].hunks:
            for need in needs_of(weave, hunk, trial):
                # One need that cannot be met ends the attempt: a unit goes with all it needs or not at all.
                if not need.absorbable:
                    return set()
                more = weave.hunks[need.other].unit
                if more not in taken:
                    taken.append(more)
                    switch(weave, trial, more)
    units = [weave.units[index] for index in taken]
    gone = all(_gone(weave, each, trial) for each in units)
    return set(taken) if gone and _nothing_survives(weave, units, own) else set()


def _gone(weave: Weave, unit: Unit, flags: Flags) -> bool:
    """Tell whether none of a unit's lines is left, and each removal is part of a replacement."""
    moved = {weave.origin.get(atom) for index in unit.hunks for atom in weave.hunks[index].births}
    for index in unit.hunks:
        made = weave.hunks[index]
        # Who created or deleted the file is asked apart: its lines say nothing about that.
        if EXISTS in made.dels or EXISTS in made.undels:
            return False
        # What a popped stash brought back to the file is not gone, whatever was recorded of it.
        if any(visible(weave, atom, flags) or weave.visible(atom) for atom in _brought(made)):
            return False
        if not _brought(made) and not moved.issuperset(_lines(made.dels)):
            return False
        if _brought(made) and _only_took(weave, made):
            return False  # it also took lines away for which nothing of its own ever stood
    return True


def _only_took(weave: Weave, made: Hunk) -> bool:
    """Tell whether a hunk took away more lines than it brought, as a whole or beside a line that it kept."""
    if len(_lines(made.dels)) > len(_brought(made)):
        return True
    old, new = ([weave.content(atom) for atom in atoms] for atoms in (_lines(made.dels), made.births))
    parts = line_hunks(old, new) if not made.undels else []
    return any(high - low > stop - start for low, high, start, stop in parts)


def _nothing_survives(weave: Weave, units: list[Unit], own: Writing) -> bool:
    """The word test: nothing the absorbed units brought may occur in the text that replaced it."""
    brought = {atom for unit in units for hunk in unit.hunks for atom in _all(weave, hunk)}
    # By the removals of each line and not through all hunks: of 4,000 rewrites in turn 2,000 are absorbed.
    removers = {op >> 1 for atom in brought for op in weave.ops[atom] or () if not op & 1}
    steps = {weave.unit_of(hunk).step for hunk in removers & own.hunks}
    written = [atom for step in steps for hunk in own.of_step[step] for atom in _brought(weave.hunks[hunk])]
    return all(_foreign_to(weave, unit, written) for unit in units)


def _foreign_to(weave: Weave, unit: Unit, written: list[int]) -> bool:
    """Tell whether what one unit brought is recognisable and absent from the written lines."""
    hunks = [weave.hunks[index] for index in unit.hunks]
    if not any(words(weave.content(atom)) for made in hunks for atom in _brought(made)):
        return False  # a brace or a blank line: anybody could have written it
    # Marks decide only where no word is new: a changed operator is all that tells such a version apart.
    for pieces in (words, marks):
        old = _pieces(weave, (atom for made in hunks for atom in _lines(made.dels)), pieces)
        # What the unit itself added: words that were in the replaced line already are nobody's news.
        new = _pieces(weave, (atom for made in hunks for atom in _brought(made)), pieces) - old
        if new:
            return new.isdisjoint(_pieces(weave, written, pieces))
    return False  # only spaces differ: nothing tells the two versions apart


def _pieces(weave: Weave, atoms: Iterable[int], pieces: Callable[[bytes], list[bytes]]) -> set[bytes]:
    return {piece for atom in atoms for piece in pieces(weave.content(atom))}


def _brought(made: Hunk) -> list[int]:
    return made.births + _lines(made.undels)


def _all(weave: Weave, hunk: int) -> list[int]:
    return _brought(weave.hunks[hunk])


def _lines(atoms: list[int]) -> list[int]:
    return [atom for atom in atoms if atom not in _SPECIAL]
