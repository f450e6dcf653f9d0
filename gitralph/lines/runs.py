"""Long runs of equal lines in places where no line is single in the file.

Old and new lines between two anchors are split at the first run of the new text that occurs once on both
sides. The parts before and after it are split in the same way, since more runs may have become single there.

Counting everything again for each part took 4.2 times as long for twice the lines (16,000 against 8,000, each
of them twice, each tenth changed: 4.1 s). Here the larger part keeps the counts, less what left it. Only the
smaller part is counted anew, so a line is counted O(log n) times (0.2 s). The hunks must be the same as with
counting all again; `tests/lines/test_bending.py` checks it.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

LONG_RUN = 5
"""So many equal lines in a row are trusted although none of them is unique in the file.

This is for files that repeat themselves. With 1,000 lines, each twice and every hundredth changed, the answer
is ten hunks of a line for a run of 3, 5 or 8. Where no run is trusted it is one hunk of 901 lines. In the
simulator, whose lines are mostly unique, the figures are the same with 3, with 5 and with none.
"""

Span = tuple[int, int, int, int]
"""Old lines [0] to [1] and new lines [2] to [3], ends excluded."""


def split_at_runs(old: Sequence[int], new: Sequence[int], span: Span, found: list[Span]) -> None:
    """Take long runs of equal lines out of a span and add the rest to `found`, in order."""
    if _is_short(span):
        _add(span, found)
        return
    grams = _telling_grams(old[span[0] : span[1]], new[span[2] : span[3]])
    if not grams:
        _add(span, found)
        return
    ids = [_number(lines[low:high], grams) for lines, low, high in ((old, *span[:2]), (new, *span[2:]))]
    shift = span[0], span[2]
    # A stack replaces recursion: parts one behind another would be as many nested calls.
    todo: list[tuple[Span, _Counted | None]] = [((0, span[1] - span[0], 0, span[3] - span[2]), None)]
    while todo:
        part, counted = todo.pop()
        if counted is None and not _is_short(part):
            counted = _Counted(ids[0], ids[1], part)
        at = None if counted is None or _is_short(part) else counted.first()
        if at is None:
            _add((part[0] + shift[0], part[1] + shift[0], part[2] + shift[1], part[3] + shift[1]), found)
            continue
        length = _length(old, new, (at[0] + shift[0], at[1] + shift[1]), part, shift)
        before = part[0], at[0], part[2], at[1]
        after = at[0] + length, part[1], at[1] + length, part[3]
        # The larger part keeps the counts. Each line is counted anew only when it is in the smaller part,
        # which halves each time.
        keeps = before if _size(before) > _size(after) else after
        assert counted is not None
        counted.narrow(keeps)
        todo += [(each, counted if each is keeps else None) for each in (after, before)]


def _add(span: Span, found: list[Span]) -> None:
    if span[0] < span[1] or span[2] < span[3]:
        found.append(span)


def _size(span: Span) -> int:
    return span[1] - span[0] + span[3] - span[2]


def _is_short(span: Span) -> bool:
    return min(span[1] - span[0], span[3] - span[2]) < LONG_RUN


def _grams(lines: Sequence[int]) -> zip[tuple[int, ...]]:
    return zip(*(lines[at:] for at in range(LONG_RUN)), strict=False)


def _telling_grams(old: Sequence[int], new: Sequence[int]) -> dict[tuple[int, ...], int]:
    """Number the runs of the shortest length that both sides have, but for those that tell nothing."""
    both = set(_grams(old)).intersection(_grams(new))
    # A run must have more than two different lines: five blank lines or braces are no evidence.
    return {gram: at for at, gram in enumerate(gram for gram in both if len(set(gram)) > 2)}


def _number(lines: Sequence[int], grams: dict[tuple[int, ...], int]) -> list[int]:
    return [grams.get(gram, -1) for gram in _grams(lines)]


def _length(
    old: Sequence[int], new: Sequence[int], at: tuple[int, int], part: Span, shift: tuple[int, int]
) -> int:
    length, limit = LONG_RUN, min(part[1] + shift[0] - at[0], part[3] + shift[1] - at[1])
    while length < limit and old[at[0] + length] == new[at[1] + length]:
        length += 1
    return length


class _Counted:
    """How often each run starts on both sides of a part, and which runs are single on both."""

    def __init__(self, old: Sequence[int], new: Sequence[int], part: Span) -> None:
        self.sides = old, new
        self.part = part
        # The sum of the places of a single run is its place.
        self.times: tuple[dict[int, int], dict[int, int]] = {}, {}
        self.sums: tuple[dict[int, int], dict[int, int]] = {}, {}
        for side, (low, high) in enumerate((part[:2], part[2:])):
            times, sums, grams = self.times[side], self.sums[side], self.sides[side]
            for at in range(low, high - LONG_RUN + 1):
                gram = grams[at]
                if gram >= 0:
                    times[gram] = times.get(gram, 0) + 1
                    sums[gram] = sums.get(gram, 0) + at
        # A sorted list is a heap.
        self.single = sorted(self.sums[1][gram] for gram in self.times[1] if self._is_single(gram))

    def _is_single(self, gram: int) -> bool:
        return self.times[0].get(gram) == 1 and self.times[1].get(gram) == 1

    def first(self) -> tuple[int, int] | None:
        """Return where the first single run of the new side starts, on both sides."""
        low, high = self.part[2:]
        while self.single:
            at = self.single[0]
            gram = self.sides[1][at]
            if low <= at <= high - LONG_RUN and self._is_single(gram):
                return self.sums[0][gram], at
            heappop(self.single)  # this run, or its equal, left the part
        return None

    def narrow(self, part: Span) -> None:
        """Forget what starts outside a smaller part. More runs may be single now than before."""
        for side in (0, 1):
            (low, high), (start, stop) = (each[2 * side : 2 * side + 2] for each in (self.part, part))
            last = high - LONG_RUN + 1
            gone = [*range(low, min(start, last)), *range(max(start, stop - LONG_RUN + 1), last)]
            for at in gone:
                gram = self.sides[side][at]
                if gram >= 0:
                    self.times[side][gram] -= 1
                    self.sums[side][gram] -= at
                    if self._is_single(gram):
                        heappush(self.single, self.sums[1][gram])
        self.part = part
