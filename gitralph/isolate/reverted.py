"""Finds an owner's edits that were taken back and so have nothing left to commit.

An edit is reverted (void, in the names below) when each of its lines is gone again and each removal
restored, by whomever, without anything written in its place. A replaced line that HEAD lost by another
commit counts as restored. Must not call an edit reverted that somebody only rewrote: that version is
still the owner's to commit.
"""

from __future__ import annotations

from gitralph.isolate.materialize import Flags, switch, visible
from gitralph.isolate.weave import BASE, EXISTS, NEWLINE, Weave


def void_units(weave: Weave, pending: set[int], in_head: Flags) -> set[int]:
    """Return the units among the owner's pending ones that have no effect any more."""
    void = set(pending)
    cancelled = _cancelled(weave, pending)
    rest = bytearray(in_head)
    while True:
        standing = {unit for unit in void if not _undone(weave, unit, void, cancelled, rest)}
        # A greatest fixed point: all units are taken for reverted, and what stands refutes some, which may
        # refute more.
        if not standing:
            return void
        void -= standing
        for unit in standing:
            switch(weave, rest, unit)


def _unit(weave: Weave, hunk: int) -> int:
    return weave.hunks[hunk].unit


def _undone(weave: Weave, unit: int, void: set[int], cancelled: dict[int, set[int]], rest: Flags) -> bool:
    """Tell whether nothing of a unit stands; `rest` is HEAD with the owner's standing units."""
    hunks = [weave.hunks[hunk] for hunk in weave.units[unit].hunks]
    if _left_behind(weave, unit) and not any(weave.visible(atom) for made in hunks for atom in made.births):
        return True
    brought = any(made.births for made in hunks)
    return all(
        all(_killed_without_trace(weave, atom, void) for atom in made.births)
        and all(
            _restored(weave, unit, atom, void, rest if brought else None) or cancelled.get(atom, {-1}) <= void
            for atom in made.dels
        )
        and all(not weave.visible(atom) or cancelled.get(atom, {-1}) <= void for atom in made.undels)
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
    later = [limit for first, limit in weave.returns if first > last]
    return bool(later) and later[-1] <= last


def _restored(weave: Weave, unit: int, atom: int, void: set[int], rest: Flags | None) -> bool:
    birth = weave.birth[atom]
    if weave.visible(atom) or (birth != BASE and _unit(weave, birth) in void):
        return True
    if _countered(weave, unit, atom, void):
        return True
    return rest is not None and bool(rest[birth]) and not visible(weave, atom, rest)


def _countered(weave: Weave, unit: int, atom: int, void: set[int]) -> bool:
    """Tell whether a removal was taken back, and the line is gone now by another's doing.

    A gap that removes it again without an owner, and brings the unit's own lines back with it, is
    the same edit come back (`git stash pop`).
    """
    ops = weave.ops[atom] or []
    own = [at for at, op in enumerate(ops) if not op & 1 and _unit(weave, op >> 1) == unit]
    later = ops[own[-1] + 1 :] if own else []
    if len(later) < 2 or not later[0] & 1:
        return False
    last = later[-1] >> 1
    if weave.owner_of(last) is not None:
        return _unit(weave, last) != unit
    births = {a for hunk in weave.units[unit].hunks for a in weave.hunks[hunk].births}
    made = weave.hunks[last]
    return not (births.intersection(made.undels) if births else not made.births)


def _killed_without_trace(weave: Weave, atom: int, void: set[int]) -> bool:
    """Tell whether nothing stands in the place of a line that is gone, nor of what replaced it."""
    todo, done = [atom], set[int]()
    while todo:
        line = todo.pop()
        ops = weave.ops[line]
        if not ops or ops[-1] & 1:
            return False
        # A line may have replaced the line that replaced it (an edit and its undo): without this the walk
        # circles.
        if line in done:
            continue
        done.add(line)
        killer = _unit(weave, ops[-1] >> 1)
        if killer in void:
            continue
        hunks = [weave.hunks[hunk] for hunk in weave.units[killer].hunks]
        if any(line in weave.origins(back) for made in hunks for back in made.undels):
            return False
        todo += weave.hunks[ops[-1] >> 1].births
        todo += [born for made in hunks for born in made.births if line in weave.origins(born)]
    return True


def _cancelled(weave: Weave, pending: set[int]) -> dict[int, set[int]]:
    """Map atoms to the units whose operations on them cancel, nobody else's coming between."""
    found: dict[int, set[int]] = {}
    for unit in pending:
        for atom in weave.atoms_of(weave.units[unit]):
            if atom not in found and _cancels(weave, weave.ops[atom] or [], pending):
                found[atom] = {_unit(weave, op >> 1) for op in weave.ops[atom] or ()} & pending
    return found


def _cancels(weave: Weave, ops: list[int], pending: set[int]) -> bool:
    own = [at for at, op in enumerate(ops) if _unit(weave, op >> 1) in pending]
    if not own or own[-1] - own[0] + 1 != len(own):
        return False
    before = own[0] == 0 or bool(ops[own[0] - 1] & 1)
    return before == bool(ops[own[-1]] & 1)
