"""Needs that show only in the whole order: blocks around a line, and moves past it.

Complements `needs`, which looks at one hunk at a time. Must err towards asking.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from gitralph.isolate.needs import Need
from gitralph.isolate.view import Flags, visible
from gitralph.isolate.weave import Weave

_CERTAIN = 40
"""A block that moved past more lines than this did move; with fewer, they may have instead."""


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
    living = [position[atom] for atom in weave.shown]
    for copy in weave.origin:
        mover = weave.birth[copy]
        if flags[mover] or not own or not weave.visible(copy):
            continue
        for source in _sources(weave, copy, flags):
            low, high = sorted((position[copy], position[source]))
            if bisect_right(living, high) - bisect_left(living, low) > _CERTAIN:
                continue
            for at in range(bisect_left(places, low), bisect_right(places, high)):
                if own[at][1] > mover:
                    yield Need(own[at][1], mover, "is beside lines moved by")


def _sources(weave: Weave, copy: int, flags: Flags) -> Iterator[int]:
    """Yield the older places of a moved line where the commit shows it or what it replaced."""
    atom = weave.origin.get(copy)
    while atom is not None:
        if visible(weave, atom, flags):
            yield atom
            return
        if not flags[weave.birth[atom]] and weave.hunks[weave.birth[atom]].dels:
            yield atom
        atom = weave.origin.get(atom)


def overruled(weave: Weave, shown: bytearray, flags: Flags, wanted: set[int]) -> Iterator[Need]:
    """A line of the owner's that stands or falls by what others did and did not commit.

    Either only somebody's restoring keeps it in the working tree, or somebody removed it there
    while another commit already removed what it had replaced.
    """
    for hunk in sorted(wanted):
        made = weave.hunks[hunk]
        for atom in made.births:
            living = weave.visible(atom)
            if living == shown[atom] or not (living or _overtaken(weave, made.dels, flags, hunk)):
                continue
            for op in reversed(weave.ops[atom] or ()):
                if op & 1 == living and not flags[op >> 1]:
                    yield Need(hunk, op >> 1, "was restored by" if living else "was removed by")
                    break


def _overtaken(weave: Weave, removed: list[int], flags: Flags, hunk: int) -> bool:
    return any(
        not op & 1 and op >> 1 > hunk and flags[op >> 1]
        for atom in removed
        for op in weave.ops[atom] or ()
    )
