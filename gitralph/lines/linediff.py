"""The line diff of one step: hunks between two lists of line ids.

Only lines that are unique in the file serve as anchors. Everything between two anchors is one hunk, even
where a brace or a blank line in it matches: such a match does not tell who wrote the line. This module must
not know owners.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from itertools import accumulate, pairwise

from gitralph.lines.gotoh import OldLine, best_pairs
from gitralph.lines.text import all_words, words

Range = tuple[int, int, int, int]
"""A hunk: old lines [0] to [1] become new lines [2] to [3], counted from 0, ends excluded."""


def rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return a longest subsequence of (old, new) pairs, sorted by new, in which old rises too."""
    # Nearly every step moves nothing; this pass saves it the bookkeeping of the search.
    if all(one[0] < other[0] for one, other in pairwise(pairs)):
        return list(pairs)
    tails: list[int] = []
    ends: list[int] = []
    back: list[int] = []
    for index, (old, _) in enumerate(pairs):
        # Patience sorting (Schensted 1961): `tails[n]` is the smallest end of a rising run of n + 1 pairs.
        at = bisect_left(tails, old)
        back.append(ends[at - 1] if at else -1)
        if at == len(tails):
            tails.append(old)
            ends.append(index)
        else:
            tails[at] = old
            ends[at] = index
    chosen: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        chosen.append(pairs[index])
        index = back[index]
    chosen.reverse()
    return chosen


def paired(old: Sequence[bytes], new: Sequence[bytes]) -> list[Range]:
    """Return a hunk in parts, in each of which the same words stand; whole where nobody can tell the parts.

    Lines of equal number pair one to one, whatever they say. A formatter that wraps lines keeps their words
    in order, so two lines part where both texts have as many words before them. A line without a word goes
    with the one above it.
    """
    if len(old) == len(new):
        return [(at, at + 1, at, at + 1) for at in range(len(old))]
    if all_words(old) != all_words(new):
        return [(0, len(old), 0, len(new))]
    starts, ends = _starts(old), _starts(new)
    cuts = [(0, 0), *((starts[n], ends[n]) for n in starts if n and n in ends), (len(old), len(new))]
    return [(a, b, c, d) for (a, c), (b, d) in pairwise(cuts)]


def parted(old: Sequence[bytes], new: Sequence[bytes], cut: int, is_above: bool) -> list[Range]:
    """Return a hunk in two parts: the old lines above `cut`, or those below it, and the others.

    Whole where not each of these lines keeps half of its words in the line that stands in its place.
    """
    ends = len(old), len(new)
    at = cut if is_above else len(new) - len(old) + cut
    pairs = zip(old[:cut], new, strict=False) if is_above else zip(old[cut:], new[max(at, 0) :], strict=False)
    if not 0 <= at <= len(new) or not all(_is_version(*pair) for pair in pairs):
        return [(0, ends[0], 0, ends[1])]
    return [(0, cut, 0, at), (cut, ends[0], at, ends[1])]


def _is_version(old: bytes, new: bytes) -> bool:
    said, says = set(words(old)), set(words(new))
    return bool(said) and 2 * len(said & says) >= max(len(said), len(says))


def _starts(lines: Sequence[bytes]) -> dict[int, int]:
    """Map how many words stand before a line with a word to the line's index."""
    counts = [len(words(line)) for line in lines]
    return {n - counts[at]: at for at, n in enumerate(accumulate(counts)) if counts[at]}


def ranges(old: Sequence[bytes], new: Sequence[bytes]) -> list[Range]:
    """Return the hunks that turn the lines of one text into those of another."""
    # Numbers are compared, as in the diff of a weave, so the same code decides what a hunk is.
    ids: dict[bytes, int] = {}
    before, after = ([ids.setdefault(line, len(ids)) for line in lines] for lines in (old, new))
    counts = Counter(before)
    return hunks(before, after, lambda line: counts[line] == 1)


def hunks(old: Sequence[int], new: Sequence[int], unique: Callable[[int], bool]) -> list[Range]:
    """Return the hunks that turn `old` into `new`; `unique` tells which lines are single in the file."""
    if not old or not new:
        return [(0, len(old), 0, len(new))] if old or new else []
    anchors = _anchors(old, new, unique)
    found: list[Range] = []
    at = (0, 0)
    for anchor in [*anchors, (len(old), len(new))]:
        # Two anchors side by side in both texts leave nothing between them. Nearly all anchors are such.
        if anchor[0] - at[0] != 1 or anchor[1] - at[1] != 1 or not at[0]:
            _between(old, new, at, anchor, found)
        at = anchor
    return found


def _between(
    old: Sequence[int],
    new: Sequence[int],
    start: tuple[int, int],
    anchor: tuple[int, int],
    found: list[Range],
) -> None:
    """Add the hunk between two anchors, less the equal lines next to either anchor."""
    low_old, low_new = start
    high_old, high_new = anchor
    whole = low_old, high_old, low_new, high_new
    # Equal lines are taken from the top first. git's own diff slides an ambiguous hunk down too, so the hunk
    # is where people see it.
    while low_old < high_old and low_new < high_new and old[low_old] == new[low_new]:
        low_old += 1
        low_new += 1
    while low_old < high_old and low_new < high_new and old[high_old - 1] == new[high_new - 1]:
        high_old -= 1
        high_new -= 1
    if low_old < high_old and low_new < high_new:
        better = _by_runs(old, new, whole, (low_old, high_old, low_new, high_new))
        if better is not None:
            found += better
            return
    if low_old < high_old or low_new < high_new:
        found += _at_long_runs(old, new, (low_old, high_old, low_new, high_new))


_LONG, _LARGEST = 5, 1_000_000
"""So many equal lines in a row are trusted although none of them is single, in a place of so many pairs."""


def _at_long_runs(old: Sequence[int], new: Sequence[int], place: Range) -> list[Range]:
    """Split a place at long runs of equal lines: in a file that repeats itself no line is single."""
    low_old, high_old, low_new, high_new = place
    one, other = old[low_old:high_old], new[low_new:high_new]
    if len(one) * len(other) > _LARGEST or not any(len(set(run)) > 2 for run in _runs(one) & _runs(other)):
        return [place]
    found, done = list[Range](), (low_old, low_new)
    for i, j, count in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks():
        # Five blank lines or braces are no evidence, so a run has more than two different lines.
        if not count or (count >= _LONG and len(set(one[i : i + count])) > 2):
            here = low_old + i, low_new + j
            found += [(done[0], here[0], done[1], here[1])] if here != done else []
            done = here[0] + count, here[1] + count
    return found


AROUND, _SHORT, _CELLS = 12, 3, 4_000
"""Limits for reading a place again by runs of equal lines.

``AROUND`` equal lines at either end are read again. A run of ``_SHORT`` lines within a place is worth no more
than none. A place has at most ``_CELLS`` pairs of lines; 4,000 pairs take 2 ms.
"""


def _by_runs(old: Sequence[int], new: Sequence[int], whole: Range, left: Range) -> list[Range] | None:
    """Read a place by the longest runs of equal lines; None where the equal ends are as good.

    Example: a value changes, and a new function follows the function that holds it. Both functions end with
    the same lines. Taken for the old ones, these lines would make one hunk of everything.
    """
    low_old, high_old = max(whole[0], left[0] - AROUND), min(whole[1], left[1] + AROUND)
    low_new = left[2] - (left[0] - low_old)
    high_new = left[3] + (high_old - left[1])
    cells = (high_old - low_old) * (high_new - low_new)
    if cells > _CELLS or set(old[left[0] : left[1]]).isdisjoint(new[left[2] : left[3]]):
        return None
    rows = [OldLine(line, 0, _SHORT, 0) for line in old[low_old:high_old]]
    score, pairs = best_pairs(rows, new[low_new:high_new], [1] * (high_new - low_new), _SHORT)
    if score <= left[0] - low_old + high_old - left[1]:
        return None
    found, done = list[Range](), (low_old, low_new)
    ends = [(low_old + one, low_new + other) for one, other in pairs]
    for one, other in [*ends, (high_old, high_new)]:
        if (one, other) != done:
            found.append((done[0], one, done[1], other))
        done = one + 1, other + 1
    return found


def _runs(lines: Sequence[int]) -> set[tuple[int, ...]]:
    return set(zip(*(lines[at:] for at in range(_LONG)), strict=False))


def _anchors(old: Sequence[int], new: Sequence[int], unique: Callable[[int], bool]) -> list[tuple[int, int]]:
    places = {line: at for at, line in enumerate(old) if unique(line)}
    seen = Counter(line for line in new if line in places)
    # A line must be single on both sides, as patience diff demands. A line that the edit doubled cannot say
    # which copy is the old one.
    pairs = [(places[line], at) for at, line in enumerate(new) if seen[line] == 1]
    return rising(pairs)
