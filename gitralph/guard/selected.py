"""What of a session's lines git was asked to commit: those that are staged, as they are staged; pure.

An index that is behind the file, or of which a part was picked by hand, holds some of the lines that the
session has pending and not others.
"""

from collections.abc import Sequence

from gitralph.decide.rewrites import Range, ranges
from gitralph.hook.journal import full_lines


def text(head: bytes, wanted: bytes, staged: bytes) -> bytes:
    """HEAD's text with those changes of ``wanted`` that ``staged`` has too."""
    old, new, there = full_lines(head), full_lines(wanted), full_lines(staged)
    theirs = ranges(old, there)
    lines = list(old)
    for found in reversed(ranges(old, new)):
        i, j, k, m = found
        kept = _kept(found, new[k:m], theirs, there)
        if kept is not None:
            lines[i:j] = kept
    return b"".join(lines)


def _kept(
    found: Range, lines: Sequence[bytes], theirs: Sequence[Range], there: Sequence[bytes]
) -> list[bytes] | None:
    """What of one change is staged: all of it, a part where nothing else is, or None."""
    i, j, _, _ = found
    for a, b, c, d in theirs:
        if a <= i and j <= b and _is_within(lines, there[c:d]):
            return list(lines)
        if (a, b) == (i, j) and _is_within(there[c:d], lines):
            return list(there[c:d])
    return None


def _is_within(some: Sequence[bytes], lines: Sequence[bytes]) -> bool:
    """True when all of ``some`` stand in ``lines``, in their order."""
    rest = iter(lines)
    return all(line in rest for line in some)
