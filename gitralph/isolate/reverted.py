"""Finds an owner's edits that were taken back and so have nothing left to commit.

An edit is reverted (void, in the names below) when each of its lines is gone again and each removal
restored, by whomever, without anything written in its place. A replaced line that HEAD lost by another
commit counts as restored. Must not call an edit reverted that somebody only rewrote: that version is
still the owner's to commit.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gitralph.isolate.materialize import Flags, switch, visible
from gitralph.isolate.weave import BASE, EXISTS, NEWLINE, Hunk, Weave


def void_units(weave: Weave, pending: set[int], in_head: Flags) -> set[int]:
    """Return the units among the owner's pending ones that have no effect any more."""
    trial = _Trial(weave, set(pending), _cancelled(weave, pending), bytearray(in_head))
    for others in set(trial.cancelled.values()):
        for unit in others:
            trial.cancelling.setdefault(unit, []).append(others)
    asked = trial.void
    while True:
        # A greatest fixed point: all units are taken for reverted, and what stands refutes some, which may
        # refute more.
        standing = {unit for unit in asked if not _undone(trial, unit)}
        if not standing:
            return trial.void
        trial.void -= standing
        for unit in standing:
            switch(weave, trial.rest, unit)
        # Of 4,000 rewrites of one line each refutes the one before it: with all units asked in every round
        # it took 68 s.
        asked = {other for unit in standing for other in trial.now_doubtful(unit)} & trial.void


@dataclass
class _Trial:
    """What is taken for reverted so far."""

    weave: Weave
    void: set[int]
    cancelled: dict[int, frozenset[int]]
    """Per line the units whose operations on it cancel; lines of one block share the set."""
    rest: Flags
    """HEAD with the owner's standing units."""
    due_to: dict[int | frozenset[int], set[int]] = field(default_factory=dict)
    """Per unit, or units that cancel, the units that count as reverted because these do."""
    cancelling: dict[int, list[frozenset[int]]] = field(default_factory=dict)
    """Per unit the sets of `cancelled` it is in."""
    broken: set[frozenset[int]] = field(default_factory=set)
    """Those of which a unit stands."""
    standing: set[int] = field(default_factory=set)
    """Lines in whose place something stands; they stay so, since `void` only shrinks."""
    last_removal: dict[int, dict[int, int]] = field(default_factory=dict)
    """Per line where in its operations each unit removed it last."""
    repeats: dict[int, tuple[list[int], list[int]]] = field(default_factory=dict)
    """Per unit what it brought back, and what it brought, that repeats older text."""

    def repeating(self, unit: int) -> tuple[list[int], list[int]]:
        """Return what of a unit may repeat other lines: what it brought back, and what it brought."""
        if unit not in self.repeats:
            origin = self.weave.origin
            hunks = [self.weave.hunks[hunk] for hunk in self.weave.units[unit].hunks]
            back = [atom for made in hunks for atom in made.undels if atom in origin]
            self.repeats[unit] = back, [atom for made in hunks for atom in made.births if atom in origin]
        return self.repeats[unit]

    def is_due(self, unit: int, other: int) -> bool:
        """Tell whether `other` is taken for reverted, and note that `unit` relies on it."""
        if other not in self.void:
            return False
        self.due_to.setdefault(other, set()).add(unit)
        return True

    def cancels(self, unit: int, atom: int) -> bool:
        """Tell whether the operations on a line cancel, all of units taken for reverted."""
        others = self.cancelled.get(atom)
        if others is None or others in self.broken:
            return False
        self.due_to.setdefault(others, set()).add(unit)
        return True

    def now_doubtful(self, unit: int) -> set[int]:
        """Return the units that counted as reverted because one did that stands."""
        found = self.due_to.pop(unit, set())
        for others in self.cancelling.get(unit, ()):
            self.broken.add(others)
            found |= self.due_to.pop(others, set())
        return found


def _unit(weave: Weave, hunk: int) -> int:
    return weave.hunks[hunk].unit


def _undone(trial: _Trial, unit: int) -> bool:
    """Tell whether nothing of a unit stands."""
    weave = trial.weave
    hunks = [weave.hunks[hunk] for hunk in weave.units[unit].hunks]
    if _left_behind(weave, unit) and not any(weave.visible(atom) for made in hunks for atom in made.births):
        return True
    if _taken_back(weave, hunks):
        return True
    brought = any(made.births for made in hunks)
    walked = _Walked()
    return all(
        all(_killed_without_trace(trial, unit, atom, walked) for atom in made.births)
        and all(_restored(trial, unit, atom, brought) or trial.cancels(unit, atom) for atom in made.dels)
        and all(not weave.visible(atom) or trial.cancels(unit, atom) for atom in made.undels)
        for made in hunks
    )


def _left_behind(weave: Weave, unit: int) -> bool:
    """Tell whether the file went back behind a unit that put lines in, and stayed there.

    Line by line this does not show where the unit replaced lines of others that are gone as well.
    """
    last = max(weave.units[unit].hunks, default=BASE)
    if not any(weave.hunks[hunk].births for hunk in weave.units[unit].hunks):
        return False
    if {EXISTS, NEWLINE}.intersection(weave.atoms_of(weave.units[unit])):
        return False
    # The last return decides: they are in their order, so where it is not later than the unit none is.
    return bool(weave.returns) and weave.returns[-1][0] > last >= weave.returns[-1][1]


def _taken_back(weave: Weave, hunks: list[Hunk]) -> bool:
    """Tell whether all that a replacement removed is back, and all that it brought gone, by nobody's hand.

    Whatever else came in at the same place came with that change: a person's line beside the old ones.
    """
    gone = [atom for made in hunks for atom in made.dels]
    new = [atom for made in hunks for atom in made.births]
    if not gone or not new or not all(weave.visible(atom) for atom in gone):
        return False
    if any(weave.visible(atom) for made in hunks for atom in made.undels):
        return False
    killers = [(weave.ops[atom] or [BASE << 1 | 1])[-1] for atom in new]
    return all(not op & 1 and weave.owner_of(op >> 1) is None for op in killers)


def _restored(trial: _Trial, unit: int, atom: int, brought: bool) -> bool:
    weave, rest = trial.weave, trial.rest
    birth = weave.birth[atom]
    if weave.visible(atom) or (birth != BASE and trial.is_due(unit, _unit(weave, birth))):
        return True
    if _countered(trial, unit, atom):
        return True
    if not brought or not rest[birth] or visible(weave, atom, rest):
        return False
    for op in weave.ops[atom] or ():
        trial.is_due(unit, _unit(weave, op >> 1))  # it may show the line, once it stands
    return True


def _countered(trial: _Trial, unit: int, atom: int) -> bool:
    """Tell whether a removal was taken back, and the line is gone now by another's doing.

    A gap that removes it again without an owner, and brings lines of the unit's owner back with it, is
    the same edit come back (`git stash pop`).
    """
    weave = trial.weave
    ops = weave.ops[atom] or []
    if atom not in trial.last_removal:
        trial.last_removal[atom] = {_unit(weave, op >> 1): at for at, op in enumerate(ops) if not op & 1}
    own = trial.last_removal[atom].get(unit)
    if own is None or len(ops) - own < 3 or not ops[own + 1] & 1:
        return False
    last = ops[-1] >> 1
    if weave.owner_of(last) is not None:
        return _unit(weave, last) != unit
    births = {a for hunk in weave.units[unit].hunks for a in weave.hunks[hunk].births}
    made = weave.hunks[last]
    if births:
        return births.isdisjoint(made.undels)
    owner = weave.units[unit].owner
    return bool(made.births) and not any(weave.owner_of(weave.birth[a]) == owner for a in made.undels)


@dataclass
class _Walked:
    """What the walks from the lines of one unit have passed, and found nothing standing.

    Each line of a block leads to all that replaced the block: 1,000 lines rewritten five times took 2 s.
    """

    lines: set[int] = field(default_factory=set)
    hunks: set[int] = field(default_factory=set)
    """Those whose lines are among them."""


def _killed_without_trace(trial: _Trial, unit: int, atom: int, walked: _Walked) -> bool:
    """Tell whether nothing stands in the place of a line that is gone, nor of what replaced it."""
    found = atom not in trial.standing and _is_without_trace(trial, unit, atom, walked)
    if not found:
        trial.standing.add(atom)
    return found


def _is_without_trace(trial: _Trial, unit: int, atom: int, walked: _Walked) -> bool:
    weave, todo = trial.weave, [atom]
    while todo:
        line = todo.pop()
        ops = weave.ops[line]
        if not ops or ops[-1] & 1 or line in trial.standing:
            return False
        # A line may have replaced the line that replaced it (an edit and its undo): without this the walk
        # circles.
        if line in walked.lines:
            continue
        walked.lines.add(line)
        hunk = ops[-1] >> 1
        killer = _unit(weave, hunk)
        if trial.is_due(unit, killer):
            continue
        back, born = trial.repeating(killer)
        if any(weave.repeats(other, line) for other in back):
            return False
        todo += [other for other in born if weave.repeats(other, line)]
        if hunk not in walked.hunks:
            walked.hunks.add(hunk)
            todo += weave.hunks[hunk].births
    return True


def _cancelled(weave: Weave, pending: set[int]) -> dict[int, frozenset[int]]:
    """Map atoms to the units whose operations on them cancel, nobody else's coming between."""
    found: dict[int, frozenset[int]] = {}
    shared: dict[frozenset[int], frozenset[int]] = {}
    for atom in {atom for unit in pending for atom in weave.atoms_of(weave.units[unit])}:
        if _cancels(weave, weave.ops[atom] or [], pending):
            units = frozenset(_unit(weave, op >> 1) for op in weave.ops[atom] or ()) & pending
            found[atom] = shared.setdefault(units, units)
    return found


def _cancels(weave: Weave, ops: list[int], pending: set[int]) -> bool:
    own = [at for at, op in enumerate(ops) if _unit(weave, op >> 1) in pending]
    if not own or own[-1] - own[0] + 1 != len(own):
        return False
    before = own[0] == 0 or bool(ops[own[0] - 1] & 1)
    return before == bool(ops[own[-1]] & 1)
