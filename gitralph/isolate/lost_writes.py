"""Finds writes made from an old read that threw away other owners' lines.

`chain` marks the suspects by their texts alone; whether anything was lost shows in the weave.
Must stay silent where the lost lines are back, committed, or the owner's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitralph.isolate.api import GAP, LeftEdit, Step, is_among
from gitralph.isolate.explain import Places, keys_of, sessions_of, who
from gitralph.isolate.select import Ground
from gitralph.isolate.weave import EXISTS, NEWLINE, Weave


def lost_writes(
    ground: Ground, places: Places, steps: Sequence[Step], settled: set[str], void: set[int]
) -> list[LeftEdit]:
    """Return a `stale` entry for each of the owner's steps that lost somebody else's lines."""
    weave = ground.weave
    found: list[LeftEdit] = []
    for step in steps:
        # Only a step that `order` marked was written from an old read; for all others nothing can be lost.
        if not step.over:
            continue
        own = [unit for unit in ground.own - void if _recorded_step(weave, unit) == step.key]
        if not own:
            continue
        lost = set(_lost(weave, step)) - ground.own - ground.committed
        lost = {unit for unit in lost if not is_among(weave.units[unit].key, settled)}
        if lost:
            sessions = sessions_of(weave, lost)
            detail = f"it was written over an old copy of the file, which took out lines of {who(sessions)}"
            keys = keys_of(weave, own)
            found.append(LeftEdit("stale", places.of_units(own), sessions, detail, keys))
    return found


def _recorded_step(weave: Weave, unit: int) -> str:
    """The key of the step that was folded in when a unit was made; a gap's names the step after it."""
    step = weave.units[unit].step
    return weave.steps[step] if step >= 0 else ""


def _lost(weave: Weave, step: Step) -> Iterator[int]:
    """Yield the units of overwritten steps whose effect this write undid."""
    for gap in range(1, len(weave.units)):
        if _recorded_step(weave, gap) != GAP + step.key:
            continue
        for hunk in weave.units[gap].hunks:
            made = weave.hunks[hunk]
            for atom in made.dels + made.undels:
                if atom in (EXISTS, NEWLINE) or weave.visible(atom) != (atom in made.undels):
                    continue
                unit = weave.hunks[_maker(weave, atom, hunk)].unit
                if _recorded_step(weave, unit) in step.over:
                    yield unit


def _maker(weave: Weave, atom: int, hunk: int) -> int:
    """Return the hunk whose operation on an atom another one undid."""
    earlier = [op >> 1 for op in weave.ops[atom] or () if op >> 1 < hunk]
    return earlier[-1] if earlier else weave.birth[atom]
