"""Lines and words of a text, as bytes.

A text is a list of lines, and whether the last one ends with a newline. So appending to a file without a last
newline does not change its last line. Without a newline it counts as ended like the line before it, by CRLF
or LF. Nothing here may decode: a file may hold any bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

# Words are compared when a piece is superseded. Bytes above 127 count as letters, so a word stays
# one word in any language and encoding.
_LETTERS = frozenset(at for at in range(256) if at > 127 or chr(at).isalnum() or chr(at) == "_")
# Every other byte becomes a blank: words are then found in half the time of a regular expression. The regular
# expression module alone takes half as long to load as Python takes to start.
_WORDS_ALONE = bytes(at if at in _LETTERS else 32 for at in range(256))
# Texts are compared in blocks before bytes: comparing slices runs in C, a loop over bytes does not.
_BLOCK = 4096
_NO_NUMBER = bytes(sorted(frozenset(range(256)).difference(b"0123456789_")))


def split_lines(text: bytes | None) -> list[bytes]:
    """Split a text into its lines, without their newlines; an empty or absent text has none."""
    if not text:
        return []
    lines = text.split(b"\n")
    # A text that ends with a newline has no empty last line (POSIX: a line ends with its newline).
    if not lines[-1]:
        lines.pop()
    elif len(lines) > 1 and lines[-2].endswith(b"\r"):
        lines[-1] += b"\r"
    return lines


def ends_with_newline(text: bytes | None) -> bool:
    """Tell whether the last line ends with a newline; an empty text counts as if it did."""
    return not text or text.endswith(b"\n")


def words(line: bytes) -> list[bytes]:
    """Return the words of a line: runs of letters, digits, underscores and non-ASCII bytes."""
    return line.translate(_WORDS_ALONE).split()


def all_words(lines: Iterable[bytes]) -> list[bytes]:
    """Return the words of some lines, in order."""
    return [word for line in lines for word in words(line)]


def counted_words(lines: Counter[bytes]) -> Counter[bytes]:
    """Count the words of some lines."""
    return Counter(all_words(lines.elements()))


def has_words(line: bytes) -> bool:
    """Tell whether a line says anything beyond punctuation."""
    return bool(line.translate(_WORDS_ALONE).strip())


def is_telling(line: bytes) -> bool:
    """Tell whether a line is telling: it has several words, or one that is no keyword.

    Hardly anybody else writes such a line by chance. A lone "return" or "else" is in most texts; keywords
    have neither digit nor underscore.
    """
    found = words(line)
    return len(found) > 1 or bool(found and found[0].translate(None, _NO_NUMBER))


def complete(text: bytes | None) -> bytes:
    """Return the text with a newline after its last line, CRLF where the line before it ends so."""
    if not text:
        return b""
    if text.endswith(b"\n"):
        return text
    return text + (b"\r\n" if text[: text.rfind(b"\n") + 1].endswith(b"\r\n") else b"\n")


def with_open_end(text: bytes) -> bytes:
    """Return a complete text without the newline of its last line; :func:`complete` gives it again.

    An empty last line exists only if a newline ends it.
    """
    at = text.rfind(b"\n", 0, -1) + 1
    end = b"\r\n" if text.endswith(b"\r\n") and text[:at].endswith(b"\r\n") else b"\n"
    return text[: -len(end)] if len(text) - at > len(end) else text


def common_lines(old: bytes, new: bytes) -> tuple[int, int]:
    """Return how many bytes of whole lines two complete texts share at the start and at the end."""
    shorter, (one, other) = min(len(old), len(new)), (len(old), len(new))
    head = _agreeing(shorter, lambda low, high: old[low:high] == new[low:high])
    head = old.rfind(b"\n", 0, head) + 1
    tail = _agreeing(
        shorter - head, lambda low, high: old[one - high : one - low] == new[other - high : other - low]
    )
    return head, _whole_lines(old, new, head, tail)


def difference(old: bytes | None, new: bytes | None) -> tuple[Counter[bytes], Counter[bytes]]:
    """Count the lines of each text that the other has less often: what went, and what came."""
    before, after = complete(old), complete(new)
    head, tail = common_lines(before, after)
    gone, came = split_lines(before[head : len(before) - tail]), split_lines(after[head : len(after) - tail])
    if len(gone) == len(came):
        # Equal lines in equal places cancel out; to count a million of them takes ten times as long.
        unequal = [pair for pair in zip(gone, came, strict=True) if pair[0] != pair[1]]
        gone, came = [old for old, _ in unequal], [new for _, new in unequal]
    old_lines, new_lines = Counter(gone), Counter(came)
    return old_lines - new_lines, new_lines - old_lines


def _agreeing(limit: int, agree: Callable[[int, int], bool]) -> int:
    """Return how many of at most `limit` bytes two texts share; `agree` compares those between two counts."""
    low = 0
    while low + _BLOCK <= limit and agree(low, low + _BLOCK):
        low += _BLOCK
    high = min(limit, low + _BLOCK)
    while low < high:
        middle = (low + high + 1) // 2
        if agree(low, middle):
            low = middle
        else:
            high = middle - 1
    return low


def _whole_lines(old: bytes, new: bytes, head: int, tail: int) -> int:
    """Shorten a common end so that it starts at the start of a line in both texts."""
    starts = (len(old) - tail, len(new) - tail)
    # The common bytes may begin in the middle of a line: "ab" and "xb" share a "b" that is no line.
    if all(at == head or text[at - 1 : at] == b"\n" for at, text in zip(starts, (old, new), strict=True)):
        return tail
    newline = old.find(b"\n", starts[0])
    return len(old) - newline - 1 if newline >= 0 else 0
