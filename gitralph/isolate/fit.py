"""Reads the records of a path from the place that fits HEAD best.

A reading starts at one of the texts the records know and takes what came before for settled. Which
one is right only shows in the weave: the units that commits of ours took must rebuild HEAD. Must
prefer a reading that rebuilds it as it is over one that has to match lines.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from gitralph.isolate.api import ABSORBED, TAIL, Reading, Step, is_among, step_of
from gitralph.isolate.build import fold
from gitralph.isolate.head import Anchored, anchor, exactly
from gitralph.isolate.putback import drop_what_was_away, settle_what_head_passed
from gitralph.isolate.weave import Weave


@dataclass
class Fitted:
    """A weave and the units of it that HEAD holds; `known` are those our commits put there."""

    reading: Reading
    weave: Weave
    anchored: Anchored
    known: set[int]


def fit(
    readings: Sequence[Reading], head: bytes | None, worktree: bytes | None, *, keep_away: bool = False
) -> Fitted | None:
    """Return the first reading that rebuilds HEAD, else the one that can be matched to it best.

    With `keep_away` it still has what git took away (see `putback`), for whoever wants it back.
    """
    first: tuple[Weave, set[int]] | None = None
    for reading in readings:
        weave = _folded(reading, worktree)
        # Cheapest first: `git reset` to one of our commits needs no matching, and byte equality cannot err.
        for number, names in enumerate(reading.commits):
            units = indices(weave, names)
            if exactly(weave, units, head):
                known = indices(weave, reading.commits[0])
                anchored = Anchored(units, rewound=known - units, moved=number > 0)
                if not keep_away:
                    drop_what_was_away(weave, units)
                return Fitted(reading, weave, anchored, known)
        if first is None:
            first = weave, indices(weave, reading.commits[0])
    best: Fitted | None = None
    for number, reading in enumerate(readings):
        if number or first is None:
            weave = _folded(reading, worktree)
            first = weave, indices(weave, reading.commits[0])
        weave, known = first
        found = anchor(weave, known, head)
        if found is None:
            continue
        # A place behind what HEAD lost calls the owner's own lines nobody's: the fewer of these the better.
        if best is None or len(found.drift) < len(best.anchored.drift):
            best = Fitted(reading, weave, found, known)
        # It cannot get better than nothing that is nobody's.
        if not found.drift:
            break
    if best is not None and not keep_away:
        drop_what_was_away(best.weave, best.anchored.units)
    return best


def _folded(reading: Reading, worktree: bytes | None) -> Weave:
    weave = fold(reading.steps, worktree, reading.commits)
    if reading.passed:
        settle_what_head_passed(weave, weave.ends[reading.passed - 1])
    return weave


def plain(steps: Sequence[Step], committed: Collection[str]) -> list[Reading]:
    """Return the only reading there is where nothing is known but the steps and what was taken."""
    return [Reading(tuple(steps), (frozenset(committed),))]


def indices(weave: Weave, committed: Collection[str]) -> set[int]:
    """Return the units of some names; those of the gap at the end have no lasting name.

    A step's own key names all its units: it was committed whole.
    """
    names = {name.removesuffix(ABSORBED) for name in committed}
    return {
        at for at, unit in enumerate(weave.units) if is_among(unit.key, names) and step_of(unit.key) != TAIL
    }
