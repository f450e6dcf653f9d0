"""Needs that show only in the whole order: blocks around a line, and moves past it.

Complements `needs`, which looks at one hunk at a time. Must err towards asking.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from gitralph.isolate.needs import Need
from gitralph.isolate.view import Flags, visible
from gitralph.isolate.weave import Weave


def inside(weave: Weave, order: Sequence[int], flags: Flags, wanted: set[int]) -> Iterator[Need]:
    """Rule 2: a line strictly inside a block that the commit does not hold."""
    remaining = _open_blocks(weave, flags)
    if not remaining:
        return
    opened: dict[int, int] = {}
    asked: set[tuple[int, int]] = set()
    for atom in order:
        hunk = weave.birth[atom]
        if hunk in remaining and weave.visible(atom):
            _step(opened, hunk, remaining[hunk])
        elif opened and hunk in wanted and visible(weave, atom, flags):
            for other in opened:
                if (hunk, other) not in asked:
                    asked.add((hunk, other))
                    yield Need(hunk, other, "is inside")


def _open_blocks(weave: Weave, flags: Flags) -> dict[int, int]:
    """Count the living lines of each block outside the commit that could hold another line."""
    found: dict[int, int] = {}
    for hunk, made in enumerate(weave.hunks):
        if not flags[hunk] and len(made.births) > 1:
            living = sum(map(weave.visible, made.births))
            if living > 1:
                found[hunk] = living
    return found


def _step(opened: dict[int, int], hunk: int, total: int) -> None:
    opened[hunk] = opened.get(hunk, total) - 1
    if not opened[hunk]:
        del opened[hunk]


def misplaced(
    weave: Weave, position: dict[int, int], flags: Flags, wanted: set[int]
) -> Iterator[Need]:
    """A line written after a move that the commit lacks must not change sides with what moved."""
    if not weave.origin:
        return
    own = sorted(
        (position[atom], hunk)
        for hunk in wanted
        for atom in weave.hunks[hunk].births
        if weave.visible(atom)
    )
    places = [at for at, _ in own]
    for copy in weave.origin:
        mover = weave.birth[copy]
        source = _standing_in(weave, copy, flags)
        if flags[mover] or source is None or not weave.visible(copy):
            continue
        low, high = sorted((position[copy], position[source]))
        for at in range(bisect_left(places, low), bisect_right(places, high)):
            if own[at][1] > mover:
                yield Need(own[at][1], mover, "is beside lines moved by")


def _standing_in(weave: Weave, copy: int, flags: Flags) -> int | None:
    """Return the older place of a moved line where the commit still shows it."""
    atom: int | None = weave.origin[copy]
    while atom is not None and not visible(weave, atom, flags):
        atom = weave.origin.get(atom)
    return atom


def overruled(weave: Weave, shown: bytearray, flags: Flags, wanted: set[int]) -> Iterator[Need]:
    """A line of the owner's that only somebody else's restoring keeps in the working tree."""
    for hunk in sorted(wanted):
        for atom in weave.hunks[hunk].births:
            if weave.visible(atom) and not shown[atom]:
                for op in reversed(weave.ops[atom] or ()):
                    if op & 1 and not flags[op >> 1]:
                        yield Need(hunk, op >> 1, "was restored by")
                        break
