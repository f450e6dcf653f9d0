"""JSON for the fast lane: CPython's C scanner without the ``json`` package, which costs 9 ms to import.

Accepts what RFC 8259 allows, and nothing else: no NaN, no digits beyond what an int may have.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    from _json import encode_basestring_ascii as _quote
    from _json import make_scanner as _make_scanner
    from _json import scanstring as _scanstring
except ImportError:  # an interpreter without the accelerator
    from json import decoder
    from json.encoder import encode_basestring_ascii as _quote
    from json.scanner import make_scanner as _make_scanner

    _scanstring = decoder.scanstring  # type: ignore[attr-defined]

# The C scanner looks for JSONDecodeError in ``json.decoder`` and, as that is not loaded here, comes back
# with SystemError instead ("returned NULL without setting an exception").
_BAD = (StopIteration, ValueError, SystemError)
_BLANK = " \t\n\r"
# Python takes quadratic time for long numbers and refuses 4,300 digits (CVE-2020-10735).
_LONGEST_NUMBER = 400
_LONGEST_LINE = 8 << 20  # of another program's file: a transcript's lines hold whole files


def _number(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        raise ValueError("number too long")
    return int(text)


def _constant(text: str) -> None:
    raise ValueError("not JSON: " + text)


class _Context:
    """What the C scanner reads its options from."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    array_hook = None
    parse_float = float
    parse_int = staticmethod(_number)
    parse_constant = staticmethod(_constant)
    parse_string = staticmethod(_scanstring)
    memo: dict[str, str] = {}  # noqa: RUF012  the pure Python scanner wants it


_scan = _make_scanner(_Context())  # type: ignore[arg-type]


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        piece = text[at : at + 4096]  # megabytes of blanks must not cost seconds
        at += len(piece) - len(piece.lstrip(_BLANK))
    return at


def loads(text: str) -> object:
    """The one JSON value in ``text``. Raises ValueError for anything else, however deep or long."""
    start = _skip(text, 1 if text[:1] == "\ufeff" else 0)
    try:
        value, end = _scan(text, start)
    except (StopIteration, SystemError):
        raise ValueError("not JSON") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if _skip(text, end) != len(text):
        raise ValueError("more than one JSON value")
    return value


def _members(text: str, at: int, depth: int) -> dict[str, object]:
    out: dict[str, object] = {}
    while depth:
        at = _skip(text, at)
        key, at = _scanstring(text, at + 1) if text[at : at + 1] == '"' else ("", len(text))
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            break
        at = _skip(text, at + 1)
        try:
            out[key], at = _scan(text, at)
        except (*_BAD, RecursionError):
            if text[at : at + 1] == "{":
                out[key] = _members(text, at + 1, depth - 1)
            break
        at = _skip(text, at)
        if text[at : at + 1] != ",":
            break
        at += 1
    return out


def loads_prefix(text: str) -> dict[str, object]:
    """What is whole in a JSON object that was cut off: members up to the cut, nested ones too.

    Raises ValueError when ``text`` does not start an object.
    """
    start = _skip(text, 1 if text[:1] == "\ufeff" else 0)
    if text[start : start + 1] != "{":
        raise ValueError("not a JSON object")
    try:
        return _members(text, start + 1, 8)
    except _BAD:
        return {}


def dumps(value: object) -> str:
    """``value`` (str, int, bool, None, list, tuple, dict) as ASCII JSON on one line.

    Lone surrogates, which stand for bytes that are not UTF-8, survive the round trip.
    """
    if isinstance(value, str):
        return _quote(value)
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, (list, tuple)):
        return "[" + ",".join([dumps(item) for item in value]) + "]"
    if isinstance(value, dict):
        return "{" + ",".join([_quote(str(k)) + ":" + dumps(v) for k, v in value.items()]) + "}"
    raise TypeError("cannot be written as JSON: " + type(value).__name__)


def indented(value: object, depth: int = 0) -> str:
    """``value`` as :func:`dumps` takes it, a member a line, for people: ``json.dumps(value, indent=1)``."""
    if isinstance(value, (list, tuple)):
        rows = [indented(item, depth + 1) for item in value]
        first, last = "[]"
    elif isinstance(value, dict):
        rows = [f"{_quote(str(key))}: {indented(item, depth + 1)}" for key, item in value.items()]
        first, last = "{}"
    elif isinstance(value, float):
        import json  # how it writes a number with a fraction; seldom needed

        return json.dumps(value)
    else:
        return dumps(value)
    if not rows:
        return first + last
    return first + "\n" + ",\n".join(" " * (depth + 1) + row for row in rows) + "\n" + " " * depth + last


def line(fields: object) -> bytes:
    """One object as a line of a file: ASCII, in one piece, with its newline."""
    return dumps(fields).encode("ascii") + b"\n"


def lines(data: bytes) -> "Iterator[tuple[int, int, bytes]]":
    """Start, end and bytes of every whole line that holds something.

    A last line without its newline is not there yet; a file system may leave NULs where a crash cut a
    write short.
    """
    at = 0
    while (end := data.find(b"\n", at)) >= 0:
        raw = data[at:end]
        if raw.strip(b"\0 \t\r"):
            yield at, end + 1, raw
        at = end + 1


def object_in(raw: bytes) -> dict[str, object]:
    """The object that a line holds. Raises ValueError saying what the line is instead."""
    try:
        value = loads(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    except ValueError:
        raise ValueError("not JSON") from None
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def objects(data: bytes) -> "Iterator[dict[str, object]]":
    """The objects on the lines of another program's file; whatever else it holds is passed over."""
    for raw in data.split(b"\n"):
        if not raw.lstrip().startswith(b"{") or len(raw) > _LONGEST_LINE:
            continue
        try:
            value = loads(raw.decode("utf-8", "replace"))
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value
