"""Reads a removal so that it cuts through as few blocks as possible.

Every block has lines such as a brace. Such a line may belong to the end of the removed block or of the block
that stayed. A diff always takes the last one. Whole blocks come and go, so of all readings of the same text
this takes the one that leaves the least of a block without the rest. It must not change which new lines are
new.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gitralph.lines.linediff import Range
from gitralph.lines.weave import BASE, Weave

AROUND = 12
"""So many lines beyond a removal may belong to it instead: the ends of a few nested blocks."""

_LONGEST = 400
"""A longer removal is read in one way only: n readings of n lines each would be too many."""


def in_whole_blocks(weave: Weave, ranges: list[Range], fresh: list[int]) -> list[Range]:
    """Return the hunks, each removal read in the place, or the two places, where it cuts the least."""
    found: list[Range] = []
    for at, each in enumerate(ranges):
        floor = found[-1][1] if found else 0
        ceiling = ranges[at + 1][0] if at + 1 < len(ranges) else len(weave.shown)
        found += _best(weave, each, fresh, floor, ceiling)
    return found


def _best(weave: Weave, each: Range, fresh: list[int], floor: int, ceiling: int) -> list[Range]:
    start, stop = each[:2]
    if not 0 < stop - start <= _LONGEST:
        return [each]
    best, least = [each], -1
    for other in _readings(weave, each, fresh, floor, ceiling):
        # Few removals can be read in two ways; to count for each of them took 3 s for 2,000 of one block.
        least = _parted(weave, best) if least < 0 else least
        if not least:
            break
        cost = _parted(weave, other)
        if cost < least:
            best, least = other, cost
    return best


def _readings(weave: Weave, each: Range, fresh: list[int], floor: int, ceiling: int) -> Iterator[list[Range]]:
    """Yield the other readings: lines beyond one end went, and equal lines within the removal stay."""
    start, stop, low, high = each
    lines = [
        weave.line[atom] for atom in weave.shown[max(start - AROUND, floor) : min(stop + AROUND, ceiling)]
    ]
    shift = max(start - AROUND, floor)
    below = min(ceiling - stop, len(fresh) - high, AROUND)
    above = min(start - floor, low, AROUND)
    for at in range(start, stop):
        same = 0
        # the lines from `at` on take the place of those behind the removal
        while same < below and lines[at + same - shift] == lines[stop + same - shift]:
            same += 1
            yield [
                *([(start, at, low, high)] if at > start or high > low else []),
                (at + same, stop + same, high + same, high + same),
            ]
        same = 0
        while same < above and lines[at - same - shift] == lines[start - 1 - same - shift]:
            same += 1
            kept = at + 1 - same
            if kept < start:
                break
            yield [
                (start - same, kept, low - same, low - same),
                *([(at + 1, stop, low, high)] if stop > at + 1 or high > low else []),
            ]


def _parted(weave: Weave, ranges: list[Range]) -> int:
    """Count the lines that a reading separates from the larger part of the hunk that brought them."""
    gone = Counter(weave.birth[atom] for start, stop, _, _ in ranges for atom in weave.shown[start:stop])
    # Nobody knows of which blocks the first text is made.
    return sum(
        min(n, sum(map(weave.visible, weave.hunks[birth].births)) - n)
        for birth, n in gone.items()
        if birth != BASE
    )
