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
    """Count the dead atoms from a neighbour on, up to the last that is a version of it or of its block."""
    kin, count = _makers(weave, rim), 0
    for at, atom in enumerate(dead, 1):
        makers = _makers(weave, atom)
        if not kin.isdisjoint(makers):
            kin |= makers
            count = at
    return count


def _makers(weave: Weave, atom: int) -> set[int]:
    """Return the hunks that brought, removed or returned an atom."""
    if atom in (START, END):
        return set()
    makers = {op >> 1 for op in weave.ops[atom] or ()}
    makers.add(weave.birth[atom])
    makers.discard(BASE)
    return makers
