"""Recognises text that comes back: restored beside its dead twin, moved, or pasted elsewhere.

A line that returns where it stood is the old line, so that stash and pop give it back to whoever
wrote it. A line that turns up elsewhere is new, with a link to where it came from. Must only
trust lines that cannot be a coincidence.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from gitralph.lines.linediff import Range, rising
from gitralph.lines.text import has_words
from gitralph.lines.weave import Weave


class Surroundings:
    """What one step takes away, counted before the step changes the weave."""

    def __init__(self, weave: Weave, ranges: Sequence[Range], fresh: Sequence[int]) -> None:
        self.elsewhere: dict[int, int] = {}
        """Line id to how often it stays visible, for the lines this step removes."""
        count = weave.count
        for start, stop, _, _ in ranges:
            for atom in weave.shown[start:stop]:
                line = weave.line[atom]
                self.elsewhere[line] = self.elsewhere.get(line, count[line]) - 1
        # What stays visible elsewhere may be what the new line was copied from: then it is no return.
        self._kept = {line: count[line] for line in fresh} | self.elsewhere

    def telling(self, weave: Weave, line: int) -> bool:
        """Tell whether a line of the new text can only have come from where it was before."""
        return self._kept[line] == 0 and has_words(weave.texts[line])


def may_return(weave: Weave, fresh: Sequence[int], surroundings: Surroundings) -> bool:
    """Tell whether `returning` can find anything, whichever lines are dead: it needs equal ones."""
    known = [line for line in fresh if weave.seen[line]]
    return bool(known) and (
        len(known) == len(fresh) or any(surroundings.telling(weave, line) for line in known)
    )


def returning(
    weave: Weave, dead: Sequence[int], fresh: Sequence[int], surroundings: Surroundings, written: bool
) -> dict[int, int]:
    """Map indices of new lines to the dead atoms they bring back, in the same order.

    `written` says that a session recorded it.
    """
    if not dead or not fresh:
        return {}
    # An undo of one whole hunk is certain even where none of its lines is telling: every one is there, in
    # order.
    inverse = _inverse(weave, dead, fresh)
    if inverse:
        return dict(enumerate(inverse))
    pairs = rising(_twins(weave, dead, fresh, surroundings))
    found = _grown(weave, dead, fresh, {new: old for old, new in pairs})
    return found if len(found) == len(fresh) else _of_blocks(weave, dead, found, written)


def _of_blocks(weave: Weave, dead: Sequence[int], found: dict[int, int], written: bool) -> dict[int, int]:
    """Keep of what came back amid new lines what is a block that came back.

    A new function may have the body of one that went. So a line that stands nowhere else must be among
    them, and most of the block where nobody recorded it.
    """
    gone, back = (_by_killer(weave, atoms) for atoms in (dead, found.values()))
    kept = {killer for killer, atoms in back.items() if _is_block(weave, gone[killer], atoms, written)}
    return {new: old for new, old in found.items() if _killer(weave, old) in kept}


def _by_killer(weave: Weave, atoms: Iterable[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for atom in atoms:
        found.setdefault(_killer(weave, atom), []).append(atom)
    return found


def _is_block(weave: Weave, gone: list[int], back: list[int], written: bool) -> bool:
    told = [atom for atom in gone if len(weave.seen[weave.line[atom]]) == 1]
    if told and set(told).isdisjoint(back):
        return False
    return written or 2 * len(back) >= len(gone)


def _inverse(weave: Weave, dead: Sequence[int], fresh: Sequence[int]) -> list[int]:
    """Find an earlier hunk whose removal the new lines take back exactly."""
    killed: dict[int, list[int]] = {}
    for atom in dead:
        killed.setdefault(_killer(weave, atom), []).append(atom)
    # The latest removal first: undo works backwards.
    for hunk in sorted(killed, reverse=True):
        if [weave.line[atom] for atom in killed[hunk]] == list(fresh):
            return killed[hunk]
    return []


def _killer(weave: Weave, atom: int) -> int:
    ops = weave.ops[atom]
    return ops[-1] >> 1 if ops else 0


def _twins(
    weave: Weave, dead: Sequence[int], fresh: Sequence[int], surroundings: Surroundings
) -> list[tuple[int, int]]:
    """Pair telling new lines with the dead atom of the same content that died last."""
    latest: dict[int, int] = {}
    for at, atom in enumerate(dead):
        line = weave.line[atom]
        # Of several versions the one that was there last is the one that an undo brings back.
        if line not in latest or _killer(weave, atom) >= _killer(weave, dead[latest[line]]):
            latest[line] = at
    times: dict[int, int] = {}
    for line in fresh:
        times[line] = times.get(line, 0) + 1
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
                # Each dead line comes back once: the second copy of it is new.
                if fresh[new] != weave.line[dead[old]] or old in pairs.values():
                    break
                pairs[new] = old
                new, old = new + step, old + step
    return {new: dead[pairs[new]] for new in sorted(pairs)}


def origins(
    weave: Weave, births: Sequence[int], surroundings: Surroundings, removed: dict[int, int]
) -> Iterator[tuple[int, int]]:
    """Yield each new atom with the older one of the same content that it was made from.

    `removed` is per line id the last atom that this very step took away.
    """
    for atom in births:
        line = weave.line[atom]
        if surroundings.telling(weave, line):
            seen = weave.seen[line]
            older = bisect_left(seen, births[0])
            # What this very step took away moved; without such a line it was copied from the latest place.
            # A line that has no older twin was written, not moved.
            if older:
                yield atom, removed.get(line, seen[older - 1])
