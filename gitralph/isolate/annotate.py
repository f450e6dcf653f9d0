"""Who wrote the lines of a working tree, and what is pending: for `status` and `why`.

Reads the same weave as `separate`, so that what they say agrees with what a commit does. Must
not refuse: where HEAD does not fit the records, it answers from the records.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gitralph.isolate.api import LineOwner, Pending, Reading, Step
from gitralph.isolate.build import fold
from gitralph.isolate.explain import Places
from gitralph.isolate.fit import fit, indices, plain
from gitralph.isolate.materialize import flags_of, states
from gitralph.isolate.weave import BASE, Weave


def owners_by_line(
    head: bytes | None,
    steps: Sequence[Step],
    worktree: bytes | None,
    *,
    committed: Collection[str],
    readings: Sequence[Reading] = (),
) -> list[LineOwner]:
    """Return for each line of the working tree who wrote it, and whether HEAD holds it."""
    weave, units = _read(head, steps, worktree, committed, readings)
    shown = states(weave, flags_of(weave, units))
    return [_owner(weave, atom, units, bool(shown[atom])) for atom in weave.shown]


def pending_units(
    head: bytes | None,
    steps: Sequence[Step],
    worktree: bytes | None,
    *,
    committed: Collection[str],
    readings: Sequence[Reading] = (),
) -> list[Pending]:
    """Return the units that still make the working tree differ from HEAD, gaps included."""
    weave, units = _read(head, steps, worktree, committed, readings)
    shown = states(weave, flags_of(weave, units))
    places = Places(weave)
    return [
        Pending(unit.key, unit.owner, places.of_unit(at))
        for at, unit in enumerate(weave.units)
        if at not in units and _matters(weave, at, shown)
    ]


def _read(
    head: bytes | None,
    steps: Sequence[Step],
    worktree: bytes | None,
    committed: Collection[str],
    readings: Sequence[Reading],
) -> tuple[Weave, set[int]]:
    fitted = fit(readings or plain(steps, committed), head, worktree)
    if fitted is not None:
        return fitted.weave, fitted.anchored.units | {BASE}
    # HEAD fits nowhere: the records alone still tell who wrote what stands in the file.
    weave = fold(steps, worktree)
    return weave, indices(weave, committed) | {BASE}


def _matters(weave: Weave, unit: int, shown: bytearray) -> bool:
    """Tell whether a unit has a hand in a difference between HEAD and the working tree."""
    return any(weave.visible(atom) != bool(shown[atom]) for atom in weave.atoms_of(weave.units[unit]))


def _owner(weave: Weave, atom: int, units: set[int], in_head: bool) -> LineOwner:
    maker = weave.birth[atom]
    if weave.hunks[maker].unit in units and not in_head:
        maker = (weave.ops[atom] or [BASE])[-1] >> 1  # restored by a pending step
    unit = weave.units[weave.hunks[maker].unit]
    if maker == BASE:
        return LineOwner(None, None, None, in_head)
    step = weave.steps[unit.step] if unit.step >= 0 else None
    return LineOwner(unit.owner, step, unit.key, in_head)
