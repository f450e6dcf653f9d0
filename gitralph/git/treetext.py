"""The bytes of a tree object, read and made; as ``git ls-tree`` and ``git mktree`` have them, proven by both.

dulwich has the same, but importing its objects costs a commit 8 to 17 ms (``dataclasses``, ``inspect``,
``typing``, ``hashlib``), more than all of its trees together.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping

from gitralph.base.ids import digest

_OID_BYTES = 20


class Entry(tuple[int, bytes]):
    """A blob, link, submodule or tree in a tree: mode as an int, oid as 40 hex digits."""

    # a NamedTuple in all but its making, for which typing and collections would be imported
    __slots__ = ()
    __match_args__ = ("mode", "oid")

    def __new__(cls, mode: int, oid: bytes) -> Entry:
        return super().__new__(cls, (mode, oid))

    def __getnewargs__(self) -> tuple[int, bytes]:
        return self[0], self[1]

    @property
    def mode(self) -> int:
        return self[0]

    @property
    def oid(self) -> bytes:
        return self[1]


def parse(raw: bytes) -> dict[bytes, Entry]:
    """The entries by name, in the tree's own order. Raises ValueError for bytes that are no tree."""
    found: dict[bytes, Entry] = {}
    at, end = 0, len(raw)
    while at < end:
        space = raw.index(b" ", at)
        zero = raw.index(b"\0", space)
        after = zero + 1 + _OID_BYTES
        if after > end:
            raise ValueError("a tree that is cut short")
        found[raw[space + 1 : zero]] = Entry(int(raw[at:space], 8), raw[zero + 1 : after].hex().encode())
        at = after
    return found


def make(entries: Mapping[bytes, Entry]) -> bytes:
    """The tree object with these entries, in the order that git demands."""
    rows = sorted(entries.items(), key=_place)
    return b"".join(b"%o %s\0" % (mode, name) + bytes.fromhex(oid.decode()) for name, (mode, oid) in rows)


def _place(row: tuple[bytes, Entry]) -> bytes:
    # base_name_compare() in git's tree.c: a folder sorts as if its name ended with a slash
    name, entry = row
    return name + b"/" if stat.S_ISDIR(entry.mode) else name


def oid_of(raw: bytes) -> bytes:
    """The name of a tree object."""
    return digest(b"tree %d\0" % len(raw) + raw).encode()
