"""Needs that show only in the whole order: blocks around a line, and moves past it.

Complements `needs`, which looks at one hunk at a time. Must err towards asking.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from gitralph.isolate.needs import Need
from gitralph.isolate.view import Flags, visible
from gitralph.isolate.weave import Weave

_CERTAIN = 40
"""A block that moved past more lines than this did move; with fewer, they may have instead."""


def inside(weave: Weave, position: dict[int, int], flags: Flags, wanted: set[int]) -> Iterator[Need]:
    """Rule 2: a line written strictly inside a block that the commit does not hold.

    What counts is the block as it stood when the line was written.
    """
    blocks = _blocks(weave, position, flags)
    for hunk in sorted(wanted) if blocks else ():
        born = [position[atom] for atom in weave.hunks[hunk].births if visible(weave, atom, flags)]
        for other, start, stop in blocks:
            if _is_free_of(weave, hunk, other):
                continue
            if other < hunk and any(start < at < stop for at in born):
                places = [
                    position[atom] for atom in weave.hunks[other].births if _living_before(weave, atom, hunk)
                ]
                if places and any(min(places) < at < max(places) for at in born):
                    yield Need(hunk, other, "is inside")


def _is_free_of(weave: Weave, hunk: int, other: int) -> bool:
    """Tell whether a person has said that a hunk stands without the lines of nobody's around it."""
    return weave.hunks[hunk].assigned and weave.owner_of(other) is None


def _blocks(weave: Weave, position: dict[int, int], flags: Flags) -> list[tuple[int, int, int]]:
    """Return the blocks outside the commit that could hold another line: hunk, first, last."""
    found: list[tuple[int, int, int]] = []
    for hunk, made in enumerate(weave.hunks):
        if not flags[hunk] and len(made.births) > 1:
            places = [position[atom] for atom in made.births]
            if max(places) - min(places) >= len(places):
                found.append((hunk, min(places), max(places)))
    return found


def _living_before(weave: Weave, atom: int, hunk: int) -> bool:
    earlier = [op for op in weave.ops[atom] or () if op >> 1 < hunk]
    return not earlier or bool(earlier[-1] & 1)


def misplaced(weave: Weave, position: dict[int, int], flags: Flags, wanted: set[int]) -> Iterator[Need]:
    """A line written after a move that the commit lacks must not change sides with what moved."""
    if not weave.origin:
        return
    own = sorted(
        (position[atom], hunk) for hunk in wanted for atom in weave.hunks[hunk].births if weave.visible(atom)
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
                if own[at][1] > mover and not _is_free_of(weave, own[at][1], mover):
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
        not op & 1 and op >> 1 > hunk and flags[op >> 1] for atom in removed for op in weave.ops[atom] or ()
    )
