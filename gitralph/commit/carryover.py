"""Carries a text that the user staged over to a new HEAD where git's own merge finds a conflict; pure.

What is staged often holds the commit already (``git add -A`` staged everybody's lines). Then nothing needs to
be merged, but git reports a conflict wherever two changes touch.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from gitralph.git.texts import is_binary
from gitralph.hook.journal import full_lines
from gitralph.lines.linediff import Range, ranges
from gitralph.lines.text import has_words, is_telling, words

Lines = list[bytes]


class _Side(NamedTuple):
    """One text compared with the old text."""

    lines: Lines
    hunks: list[Range]

    def region(self, low: int, high: int) -> Lines:
        """The lines that replace the old lines ``low`` to ``high``; no hunk crosses these bounds."""
        start, end = low, high
        for old_low, old_high, new_low, new_high in self.hunks:
            grown = (new_high - new_low) - (old_high - old_low)
            if old_high <= low and (old_low < low or old_high < low):
                start += grown
            if old_high <= high:
                end += grown
        return self.lines[start:end]

    def within(self, low: int, high: int) -> list[Range]:
        return [one for one in self.hunks if low <= one[0] and one[1] <= high]


def _side(old: Lines, text: bytes) -> _Side:
    lines = full_lines(text)
    return _Side(lines, ranges(old, lines))


def _regions(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join ranges of the old text that overlap or touch."""
    out: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if out and low <= out[-1][1]:
            out[-1] = (out[-1][0], max(high, out[-1][1]))
        else:
            out.append((low, high))
    return out


def is_within(some: Sequence[bytes], all_of: Sequence[bytes]) -> bool:
    """True when ``some`` stand in ``all_of``, in this order."""
    rest = iter(all_of)
    return all(line in rest for line in some)


def _holds(staged: _Side, new: _Side, low: int, high: int) -> bool:
    """True when the staged text holds all that the commit changes here: lines gone, and lines added."""

    def gone(side: _Side) -> set[int]:
        return {at for a, b, _, _ in side.within(low, high) for at in range(a, b)}

    def added(side: _Side) -> Lines:
        return [line for _, _, a, b in side.within(low, high) for line in side.lines[a:b]]

    return gone(new) <= gone(staged) and is_within(added(new), added(staged))


def _has_all(old: Lines, new: Lines, staged: Lines) -> bool:
    """True when the staged text holds the commit's change, judged by the lines alone.

    Example: ``git add`` of a file in which others moved or rewrote lines around the commit's. Lines without
    words do not count. Lone words must only be there. Each other line must stand once.
    """
    was, comes, stands = Counter(old), Counter(new), Counter(staged)
    telling = [line for line in was.keys() | comes.keys() if was[line] != comes[line] and is_telling(line)]
    words_more = (line for line in comes - was if has_words(line) and not is_telling(line))
    return (
        bool(telling)
        and all(stands[line] == comes[line] and max(was[line], comes[line]) == 1 for line in telling)
        and all(stands[line] >= comes[line] for line in words_more)
    )


def stands_alone(old: Lines, new: Lines, staged: Lines, last: Lines) -> bool:
    """True when a change that the session's ``last`` text has is staged, and the commit lacks it."""
    was, comes, stands, ends = map(Counter, (old, new, staged, last))
    gone = ((was - stands) - (was - comes)) & (was - ends)
    return bool(gone or ((stands - was) - (comes - was)) & (ends - was))


def is_only_own(old: Lines, new: Lines, staged: Lines, wrote: Collection[bytes]) -> bool:
    """True when everything staged against ``old`` is the commit's own change, or an older form of it.

    Each staged removal is in the commit too. Each staged line is telling, and it is the commit's or one that
    only the session ever wrote. The lines that stay have the order that they had.
    """
    was, comes, stands = Counter(old), Counter(new), Counter(staged)
    if (was - stands) - (was - comes):
        return False
    if not all(map(is_telling, stands - was)) or not set((stands - was) - (comes - was)) <= set(wrote):
        return False
    return is_within([line for line in staged if line in was], old)


def _is_older(old: Lines, new: Lines, staged: Lines, wrote: Callable[[], Collection[bytes]]) -> bool:
    """True when what is staged here is the session's own text, and the commit has it or a later form of it.

    Example: somebody staged the file, and the session corrected the line afterwards.
    """
    known = {word for line in (*old, *new) for word in words(line)}
    fresh = [set(words(line)) for line in new if line not in old and line not in staged]

    def is_there(line: bytes) -> bool:
        said = set(words(line))
        return said <= known or any(2 * len(said & one) >= len(said) for one in fresh)

    return all(map(is_there, staged)) and is_only_own(old, new, staged, wrote())


def _as_in_file(old: Lines, new: Lines, staged: Lines, now: Lines) -> Lines | None:
    """Both changes in the order in which the file has them; None where the file does not tell.

    The file must have once each line that either side adds, never one that either removes, and every other
    line as often as expected.
    """
    was = Counter(old)
    gone = [was - Counter(side) for side in (new, staged)]
    if gone[0] & gone[1]:
        return None  # these are two versions of one line, and no file tells which one was meant
    came = (Counter(new) - was) | (Counter(staged) - was)
    wanted, counts = was - gone[0] - gone[1] + came, Counter(now)
    if any(counts[line] != 1 for line in came) or any(counts[line] != wanted[line] for line in was | came):
        return None
    if old and not all(map(has_words, came)):
        return None  # nobody can say whose blank line the file has
    sides = [line for line in new if line not in gone[1]], [line for line in staged if line not in gone[0]]
    if not all(is_within(side, now) for side in sides):
        return None
    return [line for line in now if line in wanted]


def carried(
    old: bytes, new: bytes, staged: bytes, now: bytes | None, wrote: Callable[[], Collection[bytes]]
) -> bytes | None:
    """The change from ``old`` to ``new`` made in ``staged``, another text from ``old``; None for a conflict.

    ``now`` is the file on disk: it tells the order where both sides added lines. ``wrote`` gives the lines
    that only the committing session ever wrote.
    """
    if any(map(is_binary, (old, new, staged))):
        return None
    before = full_lines(old)
    mine, theirs = _side(before, new), _side(before, staged)
    there = _side(before, now) if now is not None else None
    both = [(one[0], one[1]) for side in (mine, theirs) for one in side.hunks]
    out: Lines = []
    at = 0
    for low, high in _regions(both):
        found = _side_that_stays(mine, theirs, there, before, low, high)
        if found is None:
            ours, older = mine.region(low, high), theirs.region(low, high)
            found = ours if _is_older(before[low:high], ours, older, wrote) else None
        if found is None:
            return None
        out += before[at:low] + found
        at = high
    return b"".join(out + before[at:])


def is_complete(merged: bytes, old: bytes, new: bytes, staged: bytes) -> bool:
    """True when a merged text has both changes, as far as lines tell that stand only once.

    git's merge takes equal lines for each other: between two braces it brought back a line that was staged as
    removed (git 2.39).
    """
    was, comes, stands, there = (Counter(full_lines(text)) for text in (old, new, staged, merged))
    for line in was.keys() | comes.keys() | stands.keys():
        once = max(was[line], comes[line], stands[line]) == 1
        wanted = stands[line] if stands[line] != was[line] else comes[line]
        if once and there[line] != wanted and is_telling(line):
            return False
    return True


def brings_back(merged: bytes, old: bytes, new: bytes, staged: bytes) -> bool:
    """True when a merged text has a line that is staged as removed, since the commit moves it elsewhere."""
    was, comes, stands, there = (Counter(full_lines(text)) for text in (old, new, staged, merged))
    gone = (line for line in was if was[line] == comes[line] == 1 and not stands[line] and is_telling(line))
    return any(there[line] for line in gone)


def without_doubles(
    merged: bytes,
    old: bytes,
    new: bytes,
    staged: bytes,
    now: bytes | None,
    wrote: Callable[[], Collection[bytes]],
) -> bytes | None:
    """A merged text without blocks that the merge doubled; None where nobody can tell what is right.

    A merge finds no conflict where both sides add the same block, or a part of it, at two places with only a
    brace between them. Then the staged text stays if it holds the commit, and becomes the commit's text if it
    holds nothing else.
    """
    before, ours, theirs = (full_lines(text) for text in (old, new, staged))
    most = Counter(ours) | Counter(theirs) | Counter(full_lines(now or b""))
    if not any(map(is_telling, Counter(full_lines(merged)) - most)):
        return merged
    if _has_all(before, ours, theirs):
        return staged
    return new if is_only_own(before, ours, theirs, wrote()) else None


def _side_that_stays(
    mine: _Side, theirs: _Side, there: _Side | None, old: Lines, low: int, high: int
) -> Lines | None:
    new, staged = mine.region(low, high), theirs.region(low, high)
    # The staged text stays where both sides are the same, where only the index has a change, or where it has
    # all that the commit changes.
    if new == staged or not mine.within(low, high) or _holds(theirs, mine, low, high):
        return staged
    if _has_all(old[low:high], new, staged):
        return staged
    if not theirs.within(low, high):
        return new
    if there is None:
        return None
    # The file must have the place between the same two lines of HEAD.
    crossing = [one for one in there.hunks if one[0] < low < one[1] or one[0] < high < one[1]]
    return None if crossing else _as_in_file(old[low:high], new, staged, there.region(low, high))
