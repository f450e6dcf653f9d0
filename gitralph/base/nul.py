"""Lists that end each entry with NUL, as git prints and reads them with ``-z``; pure.

Fast lane. No name needs quoting. An entry without its NUL was cut off with the process that printed it, and
does not count.
"""

from collections.abc import Iterable


def rows(said: bytes) -> list[bytes]:
    """The entries of a list."""
    return said.split(b"\0")[:-1]


def texts(said: bytes) -> list[str]:
    """The entries as text; bytes that are not UTF-8 are surrogate-escaped."""
    return [row.decode("utf-8", "surrogateescape") for row in rows(said)]


def groups(said: bytes, size: int) -> "list[tuple[bytes, ...]]":
    """The entries by ``size``, where git tells each thing in so many entries."""
    found = rows(said)
    return [tuple(found[at : at + size]) for at in range(0, len(found) - size + 1, size)]


def joined(entries: Iterable[bytes]) -> bytes:
    """A list that git reads."""
    return b"".join([entry + b"\0" for entry in entries])
