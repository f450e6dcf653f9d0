"""Lines and words of a text, as bytes.

A text is a list of lines plus the question whether the last one ends with a newline, so that
appending to a file without one does not change its last line. Must not decode anything: a file
may hold any bytes.
"""

from __future__ import annotations

import re

# Words and marks are what supersede compares: bytes above 127 count as letters, so that a word in any
# language and encoding stays one word.
_WORD = re.compile(rb"[0-9A-Za-z_\x80-\xff]+")
_MARK = re.compile(rb"[^0-9A-Za-z_\x80-\xff\s]")
# Texts are compared in blocks before bytes: comparing slices runs in C, a loop over bytes does not.
_BLOCK = 4096


def split_lines(text: bytes | None) -> list[bytes]:
    """Split a text into its lines, without their newlines; an empty or absent text has none."""
    if not text:
        return []
    lines = text.split(b"\n")
    # A text that ends with a newline has no empty last line (POSIX: a line ends with its newline).
    if not lines[-1]:
        lines.pop()
    return lines


def ends_with_newline(text: bytes | None) -> bool:
    """Tell whether the last line is complete; an empty text counts as complete."""
    return not text or text.endswith(b"\n")


def words(line: bytes) -> list[bytes]:
    """Return the words of a line: runs of letters, digits, underscores and non-ASCII bytes."""
    return _WORD.findall(line)


def marks(line: bytes) -> list[bytes]:
    """Return the punctuation of a line, one byte each."""
    return _MARK.findall(line)


def has_words(line: bytes) -> bool:
    """Tell whether a line says anything beyond punctuation."""
    return _WORD.search(line) is not None


def complete(text: bytes | None) -> bytes:
    """Return the text with a newline after its last line."""
    if not text:
        return b""
    return text if text.endswith(b"\n") else text + b"\n"


def common_lines(old: bytes, new: bytes) -> tuple[int, int]:
    """Return how many bytes of whole lines two complete texts share at the start and at the end."""
    head = _common_start(old, new)
    head = old.rfind(b"\n", 0, head) + 1
    tail = _common_end(old, new, min(len(old), len(new)) - head)
    return head, _whole_lines(old, new, head, tail)


def _common_start(old: bytes, new: bytes) -> int:
    limit = min(len(old), len(new))
    at = 0
    while at < limit and old[at : at + _BLOCK] == new[at : at + _BLOCK]:
        at += _BLOCK
    return at + _agreeing(old[at : at + _BLOCK], new[at : at + _BLOCK]) if at < limit else limit


def _agreeing(old: bytes, new: bytes) -> int:
    """Length of the common prefix of two short texts, by halving."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(old: bytes, new: bytes, limit: int) -> int:
    at, ends = 0, (len(old), len(new))
    while at + _BLOCK <= limit:
        if old[ends[0] - at - _BLOCK : ends[0] - at] != new[ends[1] - at - _BLOCK : ends[1] - at]:
            break
        at += _BLOCK
    low, high = at, min(limit, at + _BLOCK)
    while low < high:
        middle = (low + high + 1) // 2
        if old[ends[0] - middle : ends[0] - low] == new[ends[1] - middle : ends[1] - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _whole_lines(old: bytes, new: bytes, head: int, tail: int) -> int:
    """Shorten a common end so that it starts at the start of a line in both texts."""
    starts = (len(old) - tail, len(new) - tail)
    # The bytes in common may begin in the middle of a line: "ab" and "xb" share a "b" that is no line.
    if all(at == head or text[at - 1 : at] == b"\n" for at, text in zip(starts, (old, new), strict=True)):
        return tail
    newline = old.find(b"\n", starts[0])
    return len(old) - newline - 1 if newline >= 0 else 0
