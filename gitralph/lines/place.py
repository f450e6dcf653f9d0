"""Where a new line goes among dead lines that nobody saw when it was written.

The place shows only in commits that lack some of the removals. So it follows what was there: a replaced line
stays with its replacement. Only units may be looked at, never what is committed.
"""

from __future__ import annotations

from collections.abc import Sequence

from gitralph.lines.weave import BASE, END, START, Weave


def birthplace(weave: Weave, left: int, right: int, dead: Sequence[int]) -> int:
    """Return the atom behind which to insert lines between two visible neighbours."""
    at = len(dead) - _belongs(weave, right, dead[::-1])
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
