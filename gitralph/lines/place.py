"""Where a new line goes among dead lines that nobody saw when it was written.

The place shows only in commits that lack some of the removals. So it follows what was there: a replaced line
stays with its replacement, and a line that moved away keeps its side. Only units may be looked at, never what
is committed.
"""

from __future__ import annotations

from collections.abc import Sequence

from gitralph.lines.text import has_words
from gitralph.lines.weave import BASE, END, START, Weave


def birthplace(weave: Weave, left: int, right: int, dead: Sequence[int], index: int) -> int:
    """Return the atom behind which to insert lines between two visible neighbours."""
    if not dead:
        return left
    low = _belongs(weave, left, dead)
    high = len(dead) - _belongs(weave, right, dead[::-1])
    at = high if low >= high else _beside_twins(weave, dead, low, high, index)
    return dead[at - 1] if at else left


def _belongs(weave: Weave, rim: int, dead: Sequence[int]) -> int:
    """Count the dead atoms next to a neighbour that are versions of it or of its block."""
    kin = _makers(weave, rim)
    for at, atom in enumerate(dead):
        makers = _makers(weave, atom)
        if not kin & makers:
            return at
        kin |= makers
    return len(dead)


def _makers(weave: Weave, atom: int) -> set[int]:
    """Return the hunks that brought, removed or returned an atom."""
    if atom in (START, END):
        return set()
    makers = {op >> 1 for op in weave.ops[atom] or ()}
    makers.add(weave.birth[atom])
    makers.discard(BASE)
    return makers


def _beside_twins(weave: Weave, dead: Sequence[int], low: int, high: int, index: int) -> int:
    """Prefer the place on the same side of moved lines as their living copies have."""
    sides = [_twin_is_above(weave, atom, index) for atom in dead]
    if all(side is None for side in sides):
        return high

    def agreement(at: int) -> int:
        return sum((position < at) is side for position, side in enumerate(sides) if side is not None)

    # What came and went together stays together. Of equal places the last wins: new lines then stand behind
    # what was removed, as diff prints them.
    inner = (at for at in range(low + 1, high) if _makers(weave, dead[at - 1]) != _makers(weave, dead[at]))
    return max((low, *inner, high), key=lambda at: (agreement(at), at))


def _twin_is_above(weave: Weave, atom: int, index: int) -> bool | None:
    others = weave.seen[weave.line[atom]]
    # A brace has equal lines everywhere, which say nothing about a move.
    if len(others) == 1 or not has_words(weave.content(atom)):
        return None
    living = [one for one in others if weave.origin.get(one) == atom and weave.visible(one)]
    return weave.shown.index(living[-1]) < index if living else None


def rest_of_slide(weave: Weave, owner: str | None, index: int, fresh: Sequence[int], floor: int) -> int:
    """Tell how far to slide an insertion up so that it is not inside another owner's block.

    Where the last new line equals the line above, the same text can be read as inserted one line higher. The
    reading that splits nobody's block is likelier. Lines above ``floor`` are changed by the same step
    elsewhere.
    """
    up = 0
    while _splits(weave, owner, index - up):
        # When the run slides up a line, its last line takes the place of its first: the run is read around.
        line = fresh[-1 - up % len(fresh)]
        if index - up <= floor or weave.line[weave.shown[index - up - 1]] != line:
            return 0
        up += 1
        if up >= len(fresh):
            return 0
    return up


def slide_to_own(weave: Weave, start: int, stop: int, floor: int, ceiling: int) -> int:
    """Tell how far to slide a removal so that it takes only one owner's lines.

    Where the line beyond one end equals the line at the other, the same text can be read as removed one line
    further on. The removal may slide within the lines from `floor` to `ceiling`; a positive result is down.
    """
    if _is_of_one_owner(weave, start, stop):
        return 0
    for way, room in ((-1, start - floor), (1, ceiling - stop)):
        for by in range(1, min(room, stop - start) + 1):
            near, far = (start - by, stop - by) if way < 0 else (start + by - 1, stop + by - 1)
            if weave.line[weave.shown[near]] != weave.line[weave.shown[far]]:
                break
            if _is_of_one_owner(weave, start + way * by, stop + way * by):
                return way * by
    return 0


def _is_of_one_owner(weave: Weave, start: int, stop: int) -> bool:
    births = {weave.birth[atom] for atom in weave.shown[start:stop]}
    return BASE not in births and len({weave.owner_of(birth) for birth in births}) == 1


def _splits(weave: Weave, owner: str | None, index: int) -> bool:
    if not 0 < index < len(weave.shown):
        return False
    above, below = (weave.birth[weave.shown[at]] for at in (index - 1, index))
    return above == below != BASE and weave.owner_of(above) != owner
