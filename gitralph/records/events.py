"""Reads events files, forward or from the end, in constant memory; knows nothing of runs.

A line that is no event is handed out as :class:`Bad` with its place, and never costs a neighbour. A last line
without its newline does not count yet.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gitralph.base import files, jsonline

# Reading backwards from the end in blocks keeps `--last` flat at a million events.
FORWARD = 1 << 20
# Most looks from the end want a handful of events, each of a few hundred bytes.
BACK = 1 << 16
# An event carries its payload in one line; a longer one is passed over in constant memory.
LINE_LIMIT = 4 << 20
_SHOWN = 100


@dataclass(frozen=True)
class Emitted:
    """One event: its place, its line as stored, and the object that the line holds."""

    start: int
    end: int
    raw: bytes
    value: dict[str, Any]

    @property
    def topic(self) -> str:
        return str(self.value["topic"])


@dataclass(frozen=True)
class Bad:
    """One line that is no event: its place, its beginning, and what is wrong with it."""

    start: int
    end: int
    raw: bytes
    reason: str


@dataclass(frozen=True)
class Passed:
    """Lines up to byte ``end`` that were passed over unread: they cannot hold what is looked for."""

    end: int


EventLine = Emitted | Bad
_Line = tuple[int, int, bytes, bool]  # start, end, bytes without newline, whether that is all of it


def _parsed(raw: bytes) -> dict[str, Any]:
    # Some file systems leave NULs for a tail that was not yet written at a power cut.
    if not raw.strip(b"\0 \t"):
        raise ValueError("blank line")
    value = jsonline.object_in(raw)
    if not isinstance(value.get("topic"), str):
        raise ValueError("no topic")
    return value


def _row(line: _Line) -> EventLine:
    start, end, data, whole = line
    raw = data.removesuffix(b"\r")
    if not whole:
        return Bad(start, end, raw[:_SHOWN], f"longer than {LINE_LIMIT >> 20} MiB")
    try:
        return Emitted(start, end, raw.strip(), _parsed(raw))
    except ValueError as error:
        return Bad(start, end, raw[:_SHOWN], str(error))


def _is_free_of(data: bytes, needle: bytes) -> bool:
    """True when no line of ``data`` contains ``needle``, and each looks whole: from ``{`` to ``}``.

    A backslash with a ``u`` may spell any letter, so it counts as the needle.
    """
    return (
        needle not in data
        and b"\\u" not in data
        and data[:1] == b"{"
        and data[-2:] == b"}\n"
        and data.count(b"\n") == data.count(b"}\n{") + 1
    )


def _sieved(fd: int, at: int, needle: bytes) -> Iterator[_Line | Passed]:
    """As :func:`_forward`, without the lines that cannot hold ``needle``.

    Whole blocks are tested. Parsing one of a million events took 17 microseconds; passing over it takes a
    tenth of one.
    """
    start, carry = at, b""
    while chunk := os.pread(fd, FORWARD, at):
        at += len(chunk)
        whole, newline, carry = (carry + chunk).rpartition(b"\n")
        block = whole + newline
        if _is_free_of(block, needle):
            start += len(block)
            yield Passed(start)
        else:
            for piece in whole.split(b"\n") if newline else ():
                end = start + len(piece) + 1
                if _is_free_of(piece + b"\n", needle):
                    yield Passed(end)
                else:
                    yield start, end, piece, len(piece) <= LINE_LIMIT
                start = end
        if len(carry) > LINE_LIMIT:
            yield from _skip_long(fd, start, carry[:_SHOWN], at)
            return


def _forward(fd: int, at: int) -> Iterator[_Line]:
    """Whole lines from byte ``at`` to the present end."""
    start, carry = at, b""
    while chunk := os.pread(fd, FORWARD, at):
        at += len(chunk)
        pieces = (carry + chunk).split(b"\n")
        carry = pieces.pop()
        for piece in pieces:
            yield start, start + len(piece) + 1, piece, len(piece) <= LINE_LIMIT
            start += len(piece) + 1
        if len(carry) > LINE_LIMIT:
            yield from _skip_long(fd, start, carry[:_SHOWN], at)
            return


def _skip_long(fd: int, start: int, head: bytes, at: int) -> Iterator[_Line]:
    """A line too long to hold: find its end without keeping it, then go on."""
    while chunk := os.pread(fd, FORWARD, at):
        found = chunk.find(b"\n")
        if found >= 0:
            yield start, at + found + 1, head, False
            yield from _forward(fd, at + found + 1)
            return
        at += len(chunk)


def _backward(fd: int) -> Iterator[_Line]:
    """Whole lines from the end to the beginning; a torn last line is passed over.

    ``carry`` is the part of a line known so far, ``dropped`` what was cut from its end to bound it.
    """
    at = end = os.fstat(fd).st_size
    carry, dropped, torn = b"", 0, True
    while at > 0:
        size = min(BACK, at)
        at -= size
        # Read backwards in blocks: the last lines of a million cost what the last lines of ten do.
        pieces = (os.pread(fd, size, at) + carry).split(b"\n")
        for piece in reversed(pieces[1:]):
            start = end - len(piece) - dropped - (0 if torn else 1)
            if not torn:
                yield start, end, piece, not dropped and len(piece) <= LINE_LIMIT
            end, dropped, torn = start, 0, False
        carry = pieces[0]
        if len(carry) > LINE_LIMIT:
            dropped += len(carry) - LINE_LIMIT
            carry = carry[:LINE_LIMIT]
    if not torn and end > 0:
        yield 0, end, carry, not dropped and len(carry) <= LINE_LIMIT


def open_events(path: str) -> int | None:
    """A descriptor for reading; None when there is no such file yet."""
    try:
        return files.open_regular(path, os.O_RDONLY)
    except FileNotFoundError:
        return None


def scan(fd: int, at: int = 0) -> Iterator[EventLine]:
    """Every line from a byte position to the present end."""
    for line in _forward(fd, at):
        yield _row(line)


def sieve(fd: int, at: int, needle: bytes | None) -> Iterator[EventLine | Passed]:
    """As :func:`scan`, but lines without ``needle`` are passed over unread.

    ``needle`` is text that JSON can write in one way only, or with ``\\u``. So a line that only looks like an
    event is not reported.
    """
    for line in _forward(fd, at) if needle is None else _sieved(fd, at, needle):
        yield line if isinstance(line, Passed) else _row(line)


def scan_back(fd: int) -> Iterator[EventLine]:
    """Every line, the last first."""
    for line in _backward(fd):
        yield _row(line)


def sieve_back(fd: int, needle: bytes | None) -> Iterator[EventLine | Passed]:
    """As :func:`scan_back`; ``needle`` as in :func:`sieve`."""
    for line in _backward(fd):
        if needle is not None and _is_free_of(line[2] + b"\n", needle):
            yield Passed(line[1])
        else:
            yield _row(line)


def line_number(fd: int, position: int) -> int:
    """The number of the line that starts at ``position``, by counting newlines before it."""
    number, at = 1, 0
    while at < position:
        chunk = os.pread(fd, min(FORWARD, position - at), at)
        if not chunk:
            break
        number += chunk.count(b"\n")
        at += len(chunk)
    return number
