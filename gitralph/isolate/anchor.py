"""Fits the weave to HEAD, also where HEAD moved without us.

The units our own commits consumed must rebuild HEAD's text. Where they do not, somebody
committed with plain git, pulled, rewound, or had changed the file before the first record. What
HEAD holds is then matched to whole units, to parts of gaps, and what is left becomes a gap
between HEAD and the working tree that nobody may build on. Must never guess: the result either
rebuilds HEAD and the working tree byte for byte, or there is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from gitralph.isolate.match import Match, match_head
from gitralph.isolate.view import flags_of, states, text_of
from gitralph.isolate.weave import BASE, EXISTS, NEWLINE, Hunk, Unit, Weave

DRIFT = "head"
"""Key of the units that stand for differences between HEAD and the first known text."""


@dataclass(slots=True)
class Anchored:
    """Which units HEAD holds; `drift` are the units nobody may build on."""

    units: set[int]
    drift: set[int] = field(default_factory=set)
    added: set[int] = field(default_factory=set)
    rewound: set[int] = field(default_factory=set)
    moved: bool = False


def anchor(weave: Weave, committed: Iterable[int], head: bytes | None) -> Anchored | None:
    """Find the units that HEAD holds, or None where that cannot be said with certainty."""
    units = set(committed)
    if _text(weave, units) == head:
        return Anchored(units)
    worktree = weave.text
    match = match_head(weave, units, head)
    found = _whole_units(weave, set(units), match)
    anchored = Anchored(found, added=found - units, rewound=units - found, moved=True)
    if _text(weave, found) != head:
        _split_gaps(weave, anchored, match)
        _drift(weave, anchored, match)
    everything = set(range(len(weave.units)))
    if _text(weave, found) != head or _text(weave, everything) != worktree:
        return None
    return anchored


def _text(weave: Weave, units: set[int]) -> bytes | None:
    return text_of(weave, weave.order(), states(weave, flags_of(weave, units)))


def _whole_units(weave: Weave, units: set[int], match: Match) -> set[int]:
    """Add and take out whole units as long as each brings the text closer to HEAD."""
    concerned = set(match.concerned)
    changed = True
    while changed:
        changed = False
        for index in range(1, len(weave.units)):
            trial = units ^ {index}
            atoms = weave.atoms_of(weave.units[index])
            if concerned.isdisjoint(atoms):
                continue
            before, after = (_wrong(weave, some, atoms, match) for some in (units, trial))
            if after < before and (after == 0 or _wrong_own(weave, trial, index, match) == 0):
                units, changed = trial, True
    return units


def _wrong(weave: Weave, units: set[int], atoms: list[int], match: Match) -> int:
    shown = states(weave, flags_of(weave, units))
    return sum(shown[atom] != match.present[atom] for atom in atoms)


def _wrong_own(weave: Weave, units: set[int], index: int, match: Match) -> int:
    """Count the atoms on which this unit had the last word and that still do not fit."""
    last = [
        atom
        for hunk in weave.units[index].hunks
        for atom in weave.hunks[hunk].touched()
        if not weave.ops[atom] or (weave.ops[atom] or [0])[-1] >> 1 == hunk
    ]
    return _wrong(weave, units, last, match)


def _differing(weave: Weave, anchored: Anchored, match: Match) -> list[int]:
    shown = states(weave, flags_of(weave, anchored.units))
    return [atom for atom in match.concerned if shown[atom] != match.present[atom]]


def _split_gaps(weave: Weave, anchored: Anchored, match: Match) -> None:
    """Move single lines of a gap into HEAD: nobody's change may be committed in pieces."""
    for atom in _differing(weave, anchored, match):
        if atom in (EXISTS, NEWLINE):
            continue
        makers = {op >> 1 for op in weave.ops[atom] or ()} | {weave.birth[atom]}
        pending = {hunk for hunk in makers if weave.hunks[hunk].unit not in anchored.units}
        pending.discard(BASE)
        if any(weave.owner_of(hunk) is not None for hunk in pending):
            continue
        if bool(match.present[atom]) == weave.visible(atom):
            _settle(weave, atom)


def _settle(weave: Weave, atom: int) -> None:
    """Make an atom's present state part of the base."""
    living = weave.visible(atom)
    _forget(weave, atom)
    weave.birth[atom] = BASE
    weave.ops[atom] = None if living else [BASE << 1]


def _forget(weave: Weave, atom: int) -> None:
    """Take an atom out of every hunk that had an operation on it."""
    for hunk in {weave.birth[atom], *(op >> 1 for op in weave.ops[atom] or ())}:
        made = weave.hunks[hunk]
        for atoms in (made.births, made.dels, made.undels):
            if atom in atoms:
                atoms.remove(atom)


def _drift(weave: Weave, anchored: Anchored, match: Match) -> None:
    """Make a gap of nobody's from HEAD to the text the journal starts from."""
    for atom in _differing(weave, anchored, match):
        if atom == NEWLINE:
            _drift_newline(weave, anchored, bool(match.present[NEWLINE]))
        elif match.present[atom]:
            return  # part of a session's unit is in HEAD: `anchor` finds the text does not fit
        else:
            _drift_line(weave, anchored, atom)
    for place, contents in match.foreign:
        hunk = _drift_hunk(weave, anchored)
        for content in contents:
            place = weave.insert(place, weave.line_id(content), BASE)
            weave.operate(place, hunk, False)
            weave.hunks[hunk].dels.append(place)


def _drift_hunk(weave: Weave, anchored: Anchored) -> int:
    unit = Unit(f"{DRIFT}.{len(anchored.drift)}", None, -1)
    made = Hunk()
    made.unit = len(weave.units)
    unit.hunks.append(len(weave.hunks))
    weave.units.append(unit)
    weave.hunks.append(made)
    anchored.drift.add(made.unit)
    return unit.hunks[0]


def _drift_line(weave: Weave, anchored: Anchored, atom: int) -> None:
    """HEAD lacks a line: from now on it counts as inserted by nobody, before anything else."""
    kept = [op for op in weave.ops[atom] or () if weave.hunks[op >> 1].unit not in anchored.units]
    kept = [op for op in kept if op >> 1 != BASE]
    if weave.birth[atom] != BASE:
        weave.hunks[weave.birth[atom]].births.remove(atom)
    hunk = _drift_hunk(weave, anchored)
    weave.birth[atom] = hunk
    weave.hunks[hunk].births.append(atom)
    weave.ops[atom] = kept or None


def _drift_newline(weave: Weave, anchored: Anchored, is_complete: bool) -> None:
    kept = [op for op in weave.ops[NEWLINE] or () if weave.hunks[op >> 1].unit not in anchored.units]
    kept = [op for op in kept if op >> 1 != BASE]
    hunk = _drift_hunk(weave, anchored)
    weave.ops[NEWLINE] = [BASE << 1 | is_complete, hunk << 1 | (not is_complete), *kept]
