"""Finds what somebody without a session did only to an owner's own pending lines.

A formatter or a person corrects a line that a session wrote and has not committed. Leaving the
correction out would commit a text that is nowhere on disk and that nobody tested, so it goes along.
Must never reach a line of HEAD or of another owner: a gap that does stays nobody's as a whole hunk.
"""

from __future__ import annotations

from gitralph.isolate.head import Anchored
from gitralph.isolate.rules import provider
from gitralph.isolate.weave import BASE, END, EXISTS, NEWLINE, START, Weave


def following(weave: Weave, anchored: Anchored, ours: set[int]) -> set[int]:
    """Return the units of nobody's that replace or remove lines of `ours`, or stand inside a block of it.

    A later correction may build on an earlier one. White space at the rim of a block of ours goes
    along too: formatters put blank lines there.
    """
    found: set[int] = set()
    for index, unit in enumerate(weave.units):
        if index == BASE or unit.owner is not None or index in anchored.units | anchored.drift:
            continue
        mine = ours | found
        if (
            all(_only_touches(weave, hunk, mine) for hunk in unit.hunks)
            and _touches_lines(weave, index)
            and _stands(weave, index, mine)
        ):
            found.add(index)
    return found


def _stands(weave: Weave, unit: int, mine: set[int]) -> bool:
    """Tell whether lines that were put in are on disk still, but for what `mine` made of them since.

    A replacement counts without this: the line it replaced is wrong, whoever removed both since.
    """
    for hunk in weave.units[unit].hunks:
        made = weave.hunks[hunk]
        if made.dels:
            continue
        brought = made.births + made.undels
        for atom, wanted in [*((a, True) for a in brought), *((a, False) for a in made.dels)]:
            last = (weave.ops[atom] or [weave.birth[atom] << 1 | 1])[-1] >> 1
            if weave.visible(atom) != wanted and _unit(weave, last) not in mine:
                return False
    return True


def _touches_lines(weave: Weave, unit: int) -> bool:
    return any(atom not in (EXISTS, NEWLINE) for atom in weave.atoms_of(weave.units[unit]))


def _only_touches(weave: Weave, hunk: int, mine: set[int]) -> bool:
    made = weave.hunks[hunk]
    for atom in made.dels:
        # One line of HEAD or of another owner, and the whole hunk stays nobody's: half a correction is no
        # text that anybody saw.
        if atom == EXISTS or (atom != NEWLINE and _unit(weave, provider(weave, atom, hunk)) not in mine):
            return False
    for atom in made.undels:
        if atom == EXISTS or (atom != NEWLINE and _unit(weave, weave.birth[atom]) not in mine):
            return False
    if any(atom in weave.origin for atom in made.births):
        return False  # text that came from elsewhere is somebody's
    lines = [atom for atom in made.dels + made.undels if atom != NEWLINE]
    return bool(lines) or not made.births or _inside(weave, hunk, mine)


def _inside(weave: Weave, hunk: int, mine: set[int]) -> bool:
    """Tell whether new lines stand between two lines of one block, or are white space at its rim."""
    made = weave.hunks[hunk]
    rims = [
        None if rim in (START, END) else _unit(weave, provider(weave, rim, hunk))
        for rim in (made.left, made.right)
    ]
    if rims[0] == rims[1]:
        return rims[0] in mine
    blank = not any(weave.content(atom).strip() for atom in made.births)
    return blank and any(rim in mine for rim in rims)


def _unit(weave: Weave, hunk: int) -> int:
    return weave.hunks[hunk].unit
