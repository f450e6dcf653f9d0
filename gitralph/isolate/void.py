"""Finds an owner's edits that were taken back and so have nothing left to commit.

An edit is void when each of its lines is gone again and each removal restored, by whomever,
without anything written in its place. A removal that HEAD already has counts as restored. Must not call an edit void that somebody only rewrote:
that version is still the owner's to commit.
"""

from __future__ import annotations

from gitralph.isolate.view import Flags, visible
from gitralph.isolate.weave import BASE, Weave


def void_units(weave: Weave, pending: set[int], in_head: Flags) -> set[int]:
    """Return the units among the owner's pending ones that have no effect any more."""
    void = set(pending)
    cancelled = _cancelled(weave, pending)
    while True:
        standing = {u for u in void if not _undone(weave, u, void, cancelled, in_head)}
        if not standing:
            return void
        void -= standing


def _unit(weave: Weave, hunk: int) -> int:
    return weave.hunks[hunk].unit


def _undone(
    weave: Weave, unit: int, void: set[int], cancelled: dict[int, set[int]], in_head: Flags
) -> bool:
    brought = any(weave.hunks[hunk].births for hunk in weave.units[unit].hunks)
    for hunk in weave.units[unit].hunks:
        made = weave.hunks[hunk]
        for atom in made.births:
            if weave.visible(atom) or not _killed_without_trace(weave, atom, void):
                return False
        for atom in made.dels:
            born_void = weave.birth[atom] != BASE and _unit(weave, weave.birth[atom]) in void
            if born_void or weave.visible(atom) or cancelled.get(atom, {-1}) <= void:
                continue
            if not brought or not in_head[weave.birth[atom]] or visible(weave, atom, in_head):
                return False
        for atom in made.undels:
            if weave.visible(atom) and not cancelled.get(atom, {-1}) <= void:
                return False
    return True


def _killed_without_trace(weave: Weave, atom: int, void: set[int]) -> bool:
    """Tell whether a line's last removal put nothing new in its place."""
    ops = weave.ops[atom]
    if not ops:
        return False
    killer = _unit(weave, ops[-1] >> 1)
    born = any(weave.hunks[hunk].births for hunk in weave.units[killer].hunks)
    return not born or killer in void


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
