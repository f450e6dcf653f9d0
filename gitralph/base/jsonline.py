"""JSON as this program reads and writes it: RFC 8259 and nothing else, one line of a file at a time.

It allows no NaN, no number longer than anybody needs, and no depth that ends the interpreter. What cannot be
read is a ValueError, whoever wrote it.
"""

import json
import re
from collections.abc import Callable, Iterator

# Python takes quadratic time for long numbers and refuses 4,300 digits (CVE-2020-10735).
_LONGEST_NUMBER = 400
_LONGEST_LINE = 8 << 20  # In bytes, of another program's file: a transcript's lines hold whole files
_CHUNK = 1 << 20
# A cut-off object is read to this depth.
_DEEPEST = 8


def _number(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        raise ValueError("number too long")
    return int(text)


def _constant(text: str) -> None:
    raise ValueError("not JSON: " + text)


_READER = json.JSONDecoder(parse_int=_number, parse_constant=_constant)
_WRITER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


def loads(text: str) -> object:
    """The one JSON value in ``text``. Raises ValueError for anything else, however deep or long."""
    try:
        return _READER.decode(text.removeprefix("\ufeff"))
    except json.JSONDecodeError:  # its message counts characters of a text that nobody sees
        raise ValueError("not JSON") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _skip(text: str, at: int) -> int:
    blank = re.compile(r"[ \t\n\r]*").match(text, at)
    assert blank is not None
    return blank.end()


def _members(text: str, at: int, depth: int) -> dict[str, object]:
    out: dict[str, object] = {}
    while depth:
        at = _skip(text, at)
        if text[at : at + 1] != '"':
            break
        try:
            key, at = _READER.raw_decode(text, at)
            at = _skip(text, at)
            if text[at : at + 1] != ":":
                break
            at = _skip(text, at + 1)
            out[key], at = _READER.raw_decode(text, at)
        except (ValueError, RecursionError):  # the object was cut here, in a key or in the key's value
            if text[at : at + 1] == "{":
                out[key] = _members(text, at + 1, depth - 1)
            break
        at = _skip(text, at)
        if text[at : at + 1] != ",":
            break
        at += 1
    return out


def loads_prefix(text: str) -> dict[str, object]:
    """The whole members of a JSON object that was cut off, nested ones too.

    Raises ValueError when ``text`` does not start an object.
    """
    start = _skip(text, 1 if text[:1] == "\ufeff" else 0)
    if text[start : start + 1] != "{":
        raise ValueError("not a JSON object")
    return _members(text, start + 1, _DEEPEST)


def dumps(value: object) -> str:
    """``value`` as ASCII JSON on one line. Raises TypeError or ValueError for what JSON cannot express.

    Lone surrogates, which stand for bytes that are not UTF-8, survive a round trip.
    """
    return _WRITER.encode(value)


def line(fields: object) -> bytes:
    """One object as a line of a file: ASCII, in one piece, with its newline."""
    return dumps(fields).encode("ascii") + b"\n"


def lines(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Start, end and bytes of every whole line that is not empty.

    A last line without its newline does not count yet. A file system may leave NULs where a crash cut a write
    short.
    """
    at = 0
    while (end := data.find(b"\n", at)) >= 0:
        raw = data[at:end]
        if raw.strip(b"\0 \t\r"):
            yield at, end + 1, raw
        at = end + 1


def object_in(raw: bytes) -> dict[str, object]:
    """The object on a line. Raises ValueError that says what the line is instead."""
    try:
        value = loads(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    except ValueError:
        raise ValueError("not JSON") from None
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def objects(data: bytes) -> Iterator[dict[str, object]]:
    """The objects on the lines of another program's file; other lines are passed over."""
    for raw in data.split(b"\n"):
        if not raw.lstrip().startswith(b"{") or len(raw) > _LONGEST_LINE:
            continue
        try:
            value = loads(raw.decode("utf-8", "replace"))
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def stream(read: Callable[[int], bytes]) -> Iterator[bytes]:
    """The whole lines of another program's file of any size, without their ends; ``read`` gives pieces.

    Of a line that is too long only the beginning is given, which is no JSON.
    """
    held: list[bytes] = []
    size = 0
    while chunk := read(_CHUNK):
        *ended, last = chunk.split(b"\n")
        for piece in ended:
            whole = size + len(piece) <= _LONGEST_LINE
            yield b"".join([*held, piece]) if whole else b"".join(held)[:_CHUNK]
            held, size = [], 0
        if size + len(last) <= _LONGEST_LINE:
            held.append(last)
        size += len(last)
