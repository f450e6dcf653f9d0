"""What a set of hunks leaves visible: the text of HEAD, of a commit, of the working tree.

This only evaluates a weave. It must not decide which hunks belong together.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress, islice

from gitralph.lines.text import with_open_end
from gitralph.lines.weave import BASE, EXISTS, NEWLINE, Weave

Flags = bytearray
"""One byte for each hunk: 1 where its operations count, else 0."""

_PIECE = 1 << 14


def flags_of(weave: Weave, units: Iterable[int]) -> Flags:
    """Return the flags of some units, given by index, and of the base."""
    flags = bytearray(len(weave.hunks))
    # The first text belongs to every commit.
    flags[BASE] = 1
    for unit in units:
        switch(weave, flags, unit)
    return flags


def switch(weave: Weave, flags: Flags, unit: int, value: int = 1) -> None:
    """Set or clear all hunks of a unit."""
    for hunk in weave.units[unit].hunks:
        flags[hunk] = value


def visible(weave: Weave, atom: int, flags: Flags) -> bool:
    """Tell whether an atom is visible when only the flagged hunks count."""
    if not flags[weave.birth[atom]]:
        return False
    for op in reversed(weave.ops[atom] or ()):
        if flags[op >> 1]:
            return bool(op & 1)
    return True


def states(weave: Weave, flags: Flags) -> bytearray:
    """Return for each atom whether it is visible."""
    # Nearly all lines of a large file have no operation; the flags of these are looked up in C.
    found = bytearray(map(flags.__getitem__, weave.birth))
    for atom in compress(range(len(found)), weave.ops):
        found[atom] = visible(weave, atom, flags)
    return found


def text_of(weave: Weave, order: list[int], shown: bytearray) -> bytes | None:
    """Return the text that a set of visible atoms makes."""
    if not shown[EXISTS]:
        return None
    numbers = map(weave.line.__getitem__, compress(order, map(shown.__getitem__, order)))
    lines = map(weave.texts.__getitem__, numbers)
    pieces = list[bytes]()
    # Join piece by piece: `bytes.join` keeps 80 bytes for each part until it is done, 80 MB for a million
    # lines.
    while piece := list(islice(lines, _PIECE)):
        pieces.append(b"\n".join(piece))
    if not pieces:
        return b""
    # with an empty last part `join` ends the last line as well
    text = b"\n".join([*pieces, b""])
    return text if shown[NEWLINE] else with_open_end(text)
