"""Hashes by which committed lines are found again after a rebase or a squash; pure.

A hash is of what stands in the line, so it says nothing of a secret that is not guessed first; only lines
of commits that others have are hashed.
"""

from hashlib import sha256

LINE = 8
"""Hex digits for one line. Two lines of 10,000 of a path meet by chance once in 86 records; whoever follows
a hash asks for the session and the path as well."""


def of_range(lines: list[bytes]) -> str:
    """Lines joined by LF without a final one: ``sha256:`` and 16 hex digits."""
    return "sha256:" + sha256(b"\n".join(line.removesuffix(b"\n") for line in lines)).hexdigest()[:16]


def of_line(line: bytes) -> str:
    """One line without its newline."""
    return sha256(line.removesuffix(b"\n")).hexdigest()[:LINE]
