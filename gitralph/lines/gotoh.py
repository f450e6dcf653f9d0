"""Pairs equal lines of two texts in whole runs.

This is an alignment with affine gaps (O. Gotoh, "An improved algorithm for matching biological sequences",
1982). Here a run of pairs costs, not a gap: a single brace is no evidence. It takes O(n*m), so it serves
short texts only. It must not know what a line says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class OldLine(NamedTuple):
    """A line of the old text: its number, the extra worth of a pair with it, the cost of a run from it.

    `goes_on` is the extra worth of a pair right behind a pair of the line before; None where a run ends
    there.
    """

    line: int
    more: int
    cost: int
    goes_on: int | None


def best_pairs(
    old: Sequence[OldLine], new: Sequence[int], worth: Sequence[int], rim: int = 0
) -> tuple[int, list[tuple[int, int]]]:
    """Return the pairs (place in old, place in new) that are worth most together, and their worth.

    `worth` has the worth of a pair for each new line. A run at the start or at the end of both texts gets
    `rim` back.
    """
    wide = len(new) + 1
    best, run = [0] * wide, [-1] * wide
    choices, follows = list[bytearray](), list[bytearray]()
    for number, each in enumerate(old):
        row, runs, choice, following = [0] * wide, [-1] * wide, bytearray(wide), bytearray(wide)
        line, is_last = each.line, number == len(old) - 1
        for at in range(1, wide):
            row[at], choice[at] = (best[at], 0) if best[at] >= row[at - 1] else (row[at - 1], 1)
            if new[at - 1] != line:
                continue
            value = best[at - 1] - each.cost + (rim if not number and at == 1 else 0)
            if each.goes_on is not None and run[at - 1] >= 0 and run[at - 1] + each.goes_on > value:
                value, following[at] = run[at - 1] + each.goes_on, 1
            value += worth[at - 1] + each.more
            runs[at] = value
            if is_last and at == wide - 1:
                value += rim
            if value > row[at]:
                row[at], choice[at] = value, 2
        best, run = row, runs
        choices.append(choice)
        follows.append(following)
    return best[-1], _walked_back(choices, follows)


def _walked_back(choices: list[bytearray], follows: list[bytearray]) -> list[tuple[int, int]]:
    """Return the pairs that led to the end. A choice of 0 skips an old line, 1 a new one, 2 pairs them."""
    found, goes_on = list[tuple[int, int]](), False
    number = len(choices) - 1
    at = len(choices[0]) - 1 if choices else 0
    while number >= 0 and at > 0:
        step = 2 if goes_on else choices[number][at]
        if step == 2:
            found.append((number, at - 1))
            goes_on = bool(follows[number][at])
        number, at = number - (step != 1), at - (step != 0)
    return found[::-1]
