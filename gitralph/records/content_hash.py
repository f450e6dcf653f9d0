"""Hashes by which committed lines are found again after a rebase or a squash; pure.

A hash is made of a line's text, so it reveals a secret only to somebody who guesses the secret first. Only
lines of commits that others have are hashed.
"""

from hashlib import sha256

LINE = 8
"""Hex digits for one line.

Two of 10,000 lines of a path meet by chance in one of 86 records. Whoever follows a hash also compares the
session and the path.
"""


def of_range(lines: list[bytes]) -> str:
    """The hash of lines joined by LF without a final one: ``sha256:`` and 16 hex digits."""
    return "sha256:" + sha256(b"\n".join(line.removesuffix(b"\n") for line in lines)).hexdigest()[:16]


def of_line(line: bytes) -> str:
    """The hash of one line without its newline."""
    return sha256(line.removesuffix(b"\n")).hexdigest()[:LINE]
