"""Follows lines by their text, where no commit and no place tells whose they are; pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

Claim = TypeVar("Claim")

TELLING = 6
"""Two people hardly write so many equal letters and digits by chance."""


def follow(
    lines: Sequence[bytes],
    claims: Callable[[bytes], Collection[Claim]],
    session: Callable[[Claim], object],
    pick: Callable[[Collection[Claim]], Claim],
    telling: int = TELLING,
) -> list[Claim | None]:
    """The claim on each of some neighbouring lines of one commit; None where none is certain.

    A line with fewer letters and digits than ``telling``, such as a brace or a blank line, follows the line
    beside it. ``pick`` chooses among claims of one session.
    """
    found: list[Claim | None] = []
    for line in lines:
        known = claims(line) if _says(line) >= telling else ()
        found.append(pick(known) if len({session(one) for one in known}) == 1 else None)
    # Go from above, then from below: a brace at the top of a block follows the line under it.
    for order in (range(len(lines)), range(len(lines) - 1, -1, -1)):
        before: Claim | None = None
        for at in order:
            if found[at] is None and before is not None and _says(lines[at]) < telling:
                same = [one for one in claims(lines[at]) if session(one) == session(before)]
                found[at] = pick(same) if same else None
            before = found[at]
    return found


def _says(line: bytes) -> int:
    return sum(1 for char in line if chr(char).isalnum())
