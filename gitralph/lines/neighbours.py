"""Checks that lines which every block has, such as a brace, stand where HEAD or the file has them.

A brace says nothing by itself, but much by the line that it follows. Behind the last line that is single in
the answer, there must be as many braces as HEAD and the file allow. So half a function is noticed, or a
function with the end of another, although each of its lines stands in many places.

Each line with a word must also be as deep in brackets as in HEAD or in the file, where their brackets pair;
then those of the answer must pair too. This check must not know how the answer was found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gitralph.lines.terms import Step
from gitralph.lines.text import common_lines, complete, has_words, is_telling, split_lines

Lines = list[bytes]
Counts = dict[bytes, Counter[bytes]]
"""For each single line: the lines that follow it up to the next single line, each with its count."""

_AROUND = 50
"""So many lines around everything that differs are checked too: a block begins there."""

_LARGEST = 100_000
"""Three texts of more lines are not checked: 0.1 s, and nobody reads such a file by blocks."""


def out_of_place(
    head: bytes | None,
    text: bytes | None,
    worktree: bytes | None,
    made: Sequence[Step],
    is_unsure: bool,
) -> bytes | None:
    """Return a common line that the answer has more or less often in one place than HEAD and the file allow.

    The edits in `made`, which the answer may hold, count too. git may have taken some of these away since
    (`is_unsure`): of those only what they put behind their own lines counts.
    """
    if text is None or head is None or worktree is None:
        return None
    old, new, disk = _where_they_differ(head, text, worktree)
    if len(old) + len(new) + len(disk) > _LARGEST:
        return None
    counts = [Counter(lines) for lines in (old, new, disk)]
    places = {line for line in _single(new) if counts[0][line] < 2 and counts[2][line] < 2}
    sides = _Sides(
        _following(old, places),
        _following(disk, places),
        _following(old, _single(old)),
        _following(disk, _single(disk)),
    )
    # Where the brackets of HEAD or file do not pair, nobody can say to which block a bracket belongs.
    in_pairs = all(map(_is_paired, (head, worktree)))
    here, above, order = _following(new, places), b"", [b"", *(line for line in new if line in places)]
    for place, beyond in zip(order, [*order[1:], b""], strict=True):
        if place in sides.head:
            above = place
        elif place not in sides.file:
            continue  # the place is the owner's, and another session's pending edit stands there
        has, least = here[place], sides.least(place, beyond)
        for line in dict.fromkeys([*has, *least]):
            # Blank lines at the end of a block may be those of the next one. A line that stands alone belongs
            # to nobody else; the rest of the check asks for such lines.
            is_few = has[line] < least[line] and line.strip()
            if not is_few and has[line] <= sides.most(place, above, line):
                continue
            if not in_pairs and _BRACKETS.intersection(line):
                continue
            if has_words(line) and max(count[line] for count in counts) == 1:
                continue
            told = _told(made, place, line, places, sides.head.get(place), is_unsure)
            if not told or not min(told) <= has[line] <= max(told):
                return line
    # An edit that leaves a bracket open moves everything behind it, in the answer as in the file.
    if not in_pairs or not _keep_pairs(made):
        return None
    if not _is_paired(text):
        return next((line for line in reversed(new) if _BRACKETS.intersection(line)), b"")
    if not _at_another_depth(new, (old, disk)):
        return None
    strange = _at_another_depth(split_lines(text), map(split_lines, (head, worktree)))
    for step in made:
        there = _depths(split_lines(step.after)) if strange else {}
        strange = {line: deep for line, deep in strange.items() if not deep <= there.get(line, set())}
    return next(iter(strange), None)


def _at_another_depth(new: Lines, known: Iterable[Lines]) -> dict[bytes, set[int]]:
    """Return the lines of which no other text has one as deep in brackets, nor one deeper and one less."""
    there, found = list(map(_depths, known)), dict[bytes, set[int]]()
    for line, deep in _depths(new).items():
        depths = [depth for each in there for depth in each.get(line, ())]
        if depths and not (min(depths) <= min(deep) and max(deep) <= max(depths)):
            found[line] = deep
    return found


def _depths(lines: Lines) -> dict[bytes, set[int]]:
    """Return for each line with a word how many brackets are open before it, wherever it stands."""
    found, depth = dict[bytes, set[int]](), 0
    for line in lines:
        if has_words(line):
            found.setdefault(line, set()).add(depth)
        depth += sum(line.count(one) for one in _OPENING) - sum(line.count(one) for one in _CLOSING)
    return found


_OPENING, _CLOSING = b"([{", b")]}"
_BRACKETS = frozenset(_OPENING + _CLOSING)


def _is_paired(text: bytes) -> bool:
    """Tell whether each bracket of a text has its other half, whatever strings and comments hold."""
    return not any(_left_open(text))


def _left_open(text: bytes | None) -> list[int]:
    """Return how many of each bracket a text opens and does not close."""
    pairs = zip(_OPENING, _CLOSING, strict=True)
    return [text.count(one) - text.count(other) if text else 0 for one, other in pairs]


def _keep_pairs(made: Sequence[Step]) -> bool:
    """Tell whether edits together open as many brackets as they close."""
    before, after = (
        [sum(each) for each in zip(*map(_left_open, texts), strict=True)]
        for texts in ((step.before for step in made), (step.after for step in made))
    )
    return before == after


class _Sides(NamedTuple):
    """What follows each place in HEAD and in the file: up to the next place, and to the next single line."""

    head: Counts
    file: Counts
    near_in_head: Counts
    near_in_file: Counts

    def least(self, place: bytes, beyond: bytes) -> Counter[bytes]:
        """Return what must follow a place in the answer; `beyond` is the next place there."""
        if place not in self.head:
            return self.near_in_file[place]
        if place in self.file:
            return self.near_in_head[place] & self.near_in_file[place]
        # what the owner put there replaces something
        return self.near_in_head[place] if beyond in self.head else Counter()

    def most(self, place: bytes, above: bytes, line: bytes) -> int:
        """Tell how many of a line may follow a place; `above` is the last place before it that HEAD has."""
        if place not in self.head:
            return self.file[place][line] + self.head[above][line]
        if place not in self.file:
            return self.head[place][line]
        # A line behind one that only HEAD or only the file has mostly went or came with that one.
        both = min(self.head[place][line], self.file[place][line])
        return max(self.near_in_head[place][line], self.near_in_file[place][line], both)


def _told(
    made: Sequence[Step],
    place: bytes,
    line: bytes,
    places: set[bytes],
    there: Counter[bytes] | None,
    is_unsure: bool,
) -> list[int]:
    """Return how many of a line the edits themselves put behind a place, or leave of HEAD's there."""
    if there is None:
        texts = [lines for lines in (split_lines(step.after) for step in made) if lines.count(place) == 1]
        return [_following(lines, _single(lines))[place][line] for lines in texts]
    if is_unsure:
        return []
    found = there[line]
    for step in made:
        old, new = (_following(split_lines(each), places).get(place) for each in (step.before, step.after))
        found += 0 if old is None or new is None else new[line] - old[line]
    return [found]


def _single(lines: Lines) -> set[bytes]:
    """Return the single lines that say something."""
    return {line for line, n in Counter(lines).items() if n == 1 and is_telling(line)}


def _where_they_differ(head: bytes, text: bytes, worktree: bytes) -> list[Lines]:
    """Return the part of the three texts from before the first difference to behind the last."""
    texts = [complete(each) for each in (head, text, worktree)]
    ends = [common_lines(texts[0], each) for each in texts[1:]]
    start, tail = min(one for one, _ in ends), min(other for _, other in ends)
    above = texts[0][:start].count(b"\n")
    below = texts[0][len(texts[0]) - tail :].count(b"\n")
    found = []
    for each in texts:
        lines = split_lines(each)
        found.append(lines[max(above - _AROUND, 0) : len(lines) - max(below - _AROUND, 0)])
    return found


def _following(lines: Lines, places: Iterable[bytes]) -> Counts:
    """Count the lines behind each place; lines before the first place are counted under an empty name."""
    known, at = frozenset(places), b""
    found: Counts = {b"": Counter()}
    for line in lines:
        if line in known:
            at = line
            found[at] = Counter()
        else:
            found[at][line] += 1
    return found
