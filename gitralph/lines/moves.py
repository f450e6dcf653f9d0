"""Recognises text that comes back: restored where it stood, moved, or pasted elsewhere.

A line that returns where it stood is the old line. So a stash and its pop give it back to whoever wrote it. A
line that turns up elsewhere is new, with a link to the line that it repeats. Only lines that cannot be a
coincidence may count.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from gitralph.lines.linediff import Range, rising
from gitralph.lines.text import has_words
from gitralph.lines.weave import Weave

Key = TypeVar("Key")


class Surroundings:
    """What one step takes away, counted before the step changes the weave."""

    def __init__(self, weave: Weave, ranges: Sequence[Range], fresh: Sequence[int]) -> None:
        self.elsewhere: dict[int, int] = {}
        """For each line id that this step removes: how often the line stays visible elsewhere."""
        count = weave.count
        for start, stop, _, _ in ranges:
            for atom in weave.shown[start:stop]:
                line = weave.line[atom]
                self.elsewhere[line] = self.elsewhere.get(line, count[line]) - 1
        # A new line may be a copy of one that stays visible elsewhere. Then it is no return.
        self._kept = {line: count[line] for line in fresh} | self.elsewhere

    def telling(self, weave: Weave, line: int) -> bool:
        """Tell whether a line of the new text can only have come from where it was before."""
        return self._kept[line] == 0 and has_words(weave.texts[line])


def may_return(weave: Weave, fresh: Sequence[int], surroundings: Surroundings) -> bool:
    """Tell whether `returning` can find anything. It needs equal lines, whichever lines are dead."""
    known = [line for line in fresh if weave.seen[line]]
    return bool(known) and (
        len(known) == len(fresh) or any(surroundings.telling(weave, line) for line in known)
    )


def returning(
    weave: Weave, dead: Sequence[int], fresh: Sequence[int], surroundings: Surroundings, written: bool
) -> dict[int, int]:
    """Map indices of new lines to the dead atoms that they bring back, in the same order.

    `written` says that a session recorded the new text.
    """
    if not dead or not fresh:
        return {}
    # The undo of a whole hunk is certain even where no line of it is telling: every line is there, in order.
    inverse = _inverse(weave, dead, fresh)
    if inverse:
        return dict(enumerate(inverse))
    pairs = rising(_twins(weave, dead, fresh, surroundings))
    found = _grown(weave, dead, fresh, {new: old for old, new in pairs})
    return found if len(found) == len(fresh) else _of_blocks(weave, dead, found, written)


def _of_blocks(weave: Weave, dead: Sequence[int], found: dict[int, int], written: bool) -> dict[int, int]:
    """Keep, of lines that came back amid new lines, those that form a returned block.

    A new function may have the body of one that went. So the first line of the old one that stood nowhere
    else must be back; a block without such a line is no evidence. Where nobody recorded the text, most of the
    block must be back. A block is what one hunk brought and one hunk took away: git brings back of a removal
    what was committed, and not what was not.
    """
    gone, back = (_grouped(atoms, lambda x: _block(weave, x)) for atoms in (dead, found.values()))
    kept = {block for block, atoms in back.items() if _is_block(weave, gone[block], atoms, written)}
    return {new: old for new, old in found.items() if _block(weave, old) in kept}


def _block(weave: Weave, atom: int) -> tuple[int, int]:
    return weave.birth[atom], weave.taker(atom)


def _grouped(atoms: Iterable[int], key: Callable[[int], Key]) -> dict[Key, list[int]]:
    found: dict[Key, list[int]] = {}
    for atom in atoms:
        found.setdefault(key(atom), []).append(atom)
    return found


def _is_block(weave: Weave, gone: list[int], back: list[int], written: bool) -> bool:
    told = [atom for atom in gone if len(weave.seen[weave.line[atom]]) == 1]
    if not told or told[0] not in back:
        return False
    return written or 2 * len(back) >= len(gone)


def _inverse(weave: Weave, dead: Sequence[int], fresh: Sequence[int]) -> list[int]:
    """Find an earlier hunk whose removal the new lines take back exactly."""
    killed = _grouped(dead, weave.taker)
    # The latest removal comes first: an undo works backwards.
    for hunk in sorted(killed, reverse=True):
        if [weave.line[atom] for atom in killed[hunk]] == list(fresh):
            return killed[hunk]
    return []


def _twins(
    weave: Weave, dead: Sequence[int], fresh: Sequence[int], surroundings: Surroundings
) -> list[tuple[int, int]]:
    """Pair each telling new line with the dead atom of the same content that died last."""
    latest: dict[int, int] = {}
    for at, atom in enumerate(dead):
        line = weave.line[atom]
        # Of several versions an undo brings back the one that was there last.
        if line not in latest or weave.taker(atom) >= weave.taker(dead[latest[line]]):
            latest[line] = at
    times = Counter(fresh)
    return [
        (latest[line], index)
        for index, line in enumerate(fresh)
        if line in latest and times[line] == 1 and surroundings.telling(weave, line)
    ]


def _grown(weave: Weave, dead: Sequence[int], fresh: Sequence[int], pairs: dict[int, int]) -> dict[int, int]:
    """Let pairs grow over equal neighbours, so that a brace returns with its block."""
    for step in (1, -1):
        for index in sorted(pairs, reverse=step < 0):
            new, old = index + step, pairs[index] + step
            while 0 <= new < len(fresh) and 0 <= old < len(dead) and new not in pairs:
                # Each dead line comes back once; a second copy of it is new.
                if fresh[new] != weave.line[dead[old]] or old in pairs.values():
                    break
                pairs[new] = old
                new, old = new + step, old + step
    return {new: dead[pairs[new]] for new in sorted(pairs)}


def origins(
    weave: Weave, births: Sequence[int], surroundings: Surroundings, removed: dict[int, int]
) -> Iterator[tuple[int, int]]:
    """Yield each new atom with the older one of the same content from which it was made.

    `removed` gives for each line id the last atom that this very step took away.
    """
    for atom in births:
        line = weave.line[atom]
        if surroundings.telling(weave, line):
            seen = weave.seen[line]
            older = bisect_left(seen, births[0])
            # A line that this very step took away has moved. Otherwise the new line was copied from the
            # latest place. A line without an older twin was written, not moved.
            if older:
                yield atom, removed.get(line, seen[older - 1])
