"""Carries a text the user staged over to a new HEAD where git's own merge finds a conflict; pure.

What is staged often holds the commit already (``git add -A`` staged everybody's lines): then there is
nothing to merge. git calls that a conflict wherever two changes touch.
"""

from collections import Counter
from collections.abc import Callable, Collection
from typing import NamedTuple

from gitralph.git.texts import is_binary
from gitralph.hook.journal import full_lines
from gitralph.lines.linediff import Range, hunks
from gitralph.lines.text import has_words, is_telling, words

Lines = list[bytes]


class _Side(NamedTuple):
    """One text beside the old one."""

    lines: Lines
    hunks: list[Range]

    def region(self, low: int, high: int) -> Lines:
        """The lines that stand here for old lines ``low`` to ``high``; no hunk crosses these bounds."""
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
    # The diff compares numbers, as those of a weave do: the same code decides what a hunk is.
    names: dict[bytes, int] = {}
    before, after = ([names.setdefault(line, len(names)) for line in side] for side in (old, lines))
    counts = Counter(before), Counter(after)
    return _Side(lines, hunks(before, after, lambda line: all(count[line] == 1 for count in counts)))


def _regions(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges of the old text that overlap or touch, as one."""
    out: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if out and low <= out[-1][1]:
            out[-1] = (out[-1][0], max(high, out[-1][1]))
        else:
            out.append((low, high))
    return out


def _is_within(some: Lines, all_of: Lines) -> bool:
    """True when ``some`` stand in ``all_of``, in this order."""
    rest = iter(all_of)
    return all(line in rest for line in some)


def _holds(staged: _Side, new: _Side, low: int, high: int) -> bool:
    """True when the staged text has all that the commit changes here: lines gone, and lines added."""

    def gone(side: _Side) -> set[int]:
        return {at for a, b, _, _ in side.within(low, high) for at in range(a, b)}

    def added(side: _Side) -> Lines:
        return [line for _, _, a, b in side.within(low, high) for line in side.lines[a:b]]

    return gone(new) <= gone(staged) and _is_within(added(new), added(staged))


def _has_all(old: Lines, new: Lines, staged: Lines) -> bool:
    """The same by the lines alone: ``git add`` of a file in which others moved or rewrote lines around them.

    Lines without words do not count, lone words must only be there, each other line stands once.
    """
    was, comes, stands = Counter(old), Counter(new), Counter(staged)
    telling = [line for line in was.keys() | comes.keys() if was[line] != comes[line] and is_telling(line)]
    words_more = (line for line in comes - was if has_words(line) and not is_telling(line))
    return (
        bool(telling)
        and all(stands[line] == comes[line] and max(was[line], comes[line]) == 1 for line in telling)
        and all(stands[line] >= comes[line] for line in words_more)
    )


def is_only_own(old: Lines, new: Lines, staged: Lines, wrote: Collection[bytes]) -> bool:
    """True when all that is staged against ``old`` is the commit's own change, or an older form of it.

    Each line that goes goes with the commit too; each that comes says something, and is the commit's or one
    that only the session ever wrote; and what stays has the order that it had.
    """
    was, comes, stands = Counter(old), Counter(new), Counter(staged)
    if (was - stands) - (was - comes):
        return False
    if not all(map(is_telling, stands - was)) or not set((stands - was) - (comes - was)) <= set(wrote):
        return False
    return _is_within([line for line in staged if line in was], old)


def _is_older(old: Lines, new: Lines, staged: Lines, wrote: Callable[[], Collection[bytes]]) -> bool:
    """True when what is staged here is the session's own text, and the commit has it or what became of it.

    Somebody staged the file, and corrected the line afterwards.
    """
    known = {word for line in (*old, *new) for word in words(line)}
    fresh = [set(words(line)) for line in new if line not in old and line not in staged]

    def is_there(line: bytes) -> bool:
        said = set(words(line))
        return said <= known or any(2 * len(said & one) >= len(said) for one in fresh)

    return all(map(is_there, staged)) and is_only_own(old, new, staged, wrote())


def _as_in_file(old: Lines, new: Lines, staged: Lines, now: Lines) -> Lines | None:
    """Both changes in the order in which the file has them; None where it does not tell.

    The file must have each line that either brings once, none that either took, and each other as often.
    """
    was = Counter(old)
    gone = [was - Counter(side) for side in (new, staged)]
    if gone[0] & gone[1]:
        return None  # two versions of one line, and no file tells which of them was meant
    came = (Counter(new) - was) | (Counter(staged) - was)
    wanted, counts = was - gone[0] - gone[1] + came, Counter(now)
    if any(counts[line] != 1 for line in came) or any(counts[line] != wanted[line] for line in was | came):
        return None
    if old and not all(map(has_words, came)):
        return None  # whose blank line it is that the file has, nobody can say
    sides = [line for line in new if line not in gone[1]], [line for line in staged if line not in gone[0]]
    if not all(_is_within(side, now) for side in sides):
        return None
    return [line for line in now if line in wanted]


def carried(
    old: bytes, new: bytes, staged: bytes, now: bytes | None, wrote: Callable[[], Collection[bytes]]
) -> bytes | None:
    """``staged``, made from ``old``, with the change from ``old`` to ``new`` in it; None for a conflict.

    ``now`` is the file as it stands: where both sides added lines it tells their order. ``wrote`` tells
    the lines that only the committing session ever wrote.
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
    """True when a merged text has both changes, as far as lines tell that stand once.

    git's merge lets equal lines stand for each other: between two braces it took a line back that was staged
    as removed (git 2.39).
    """
    was, comes, stands, there = (Counter(full_lines(text)) for text in (old, new, staged, merged))
    for line in was.keys() | comes.keys() | stands.keys():
        once = max(was[line], comes[line], stands[line]) == 1
        wanted = stands[line] if stands[line] != was[line] else comes[line]
        if once and there[line] != wanted and is_telling(line):
            return False
    return True


def brings_back(merged: bytes, old: bytes, new: bytes, staged: bytes) -> bool:
    """True when a merged text has a line that is staged as removed: the commit moves it elsewhere."""
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
    """A merged text, but where it has a line twice that neither side nor the file has so often.

    A merge finds no conflict where both sides add a block at two places that only a brace parts, or one of
    them part of it. Then what is staged stays if it holds the commit, and follows if it is no more than that;
    None: who can tell.
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
    # The same on both sides, or only staged here, or staged with all that the commit does: what is staged
    # stays.
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
