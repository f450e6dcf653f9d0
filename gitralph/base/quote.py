"""C-style quoting of path bytes as git prints them, and safe text for terminals; pure.

Source: git's quote.c (``quote_c_style``), with ``core.quotePath`` as ``high``.
"""

from collections.abc import Sequence

# The escapes of cq_lookup in git's quote.c; every other byte is octal.
_NAMES = {7: b"a", 8: b"b", 9: b"t", 10: b"n", 11: b"v", 12: b"f", 13: b"r", 34: b'"', 92: b"\\"}
_BYTES = {name[0]: code for code, name in _NAMES.items()}


def _needs_quote(path: bytes, high: bool) -> bool:
    return any(c < 32 or c in (34, 92, 127) or (high and c > 127) for c in path)


def _valid_utf8(path: bytes) -> bool:
    try:
        path.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def c_quote(path: bytes, high: bool = True) -> bytes:
    """``path`` as git lists it without -z; ``high`` also quotes bytes above 127."""
    # A list that is read as UTF-8 must not contain other bytes.
    high = high or not _valid_utf8(path)
    if not _needs_quote(path, high):
        return path
    out = bytearray(b'"')
    for c in path:
        if c in _NAMES:
            out += b"\\" + _NAMES[c]
        elif c < 32 or c == 127 or (high and c > 127):
            out += b"\\%03o" % c
        else:
            out.append(c)
    return bytes(out + b'"')


def _unescape(body: bytes, at: int) -> tuple[int, int]:
    """The byte that the escape at ``body[at]`` (after the backslash) means, and where it ends."""
    c = body[at]
    if c in _BYTES:
        return _BYTES[c], at + 1
    digits = body[at : at + 3]
    # 51 is the digit 3: \377 is the largest byte.
    if len(digits) != 3 or digits.strip(b"01234567") or digits[0] > 51:
        raise ValueError("bad escape in quoted path")
    return int(digits, 8), at + 3


def c_unquote(line: bytes) -> bytes:
    """Undo :func:`c_quote`; a line without quotes is returned as it is.

    Raises ValueError for a quoted form that git would not write.
    """
    if line[:1] != b'"':
        return line
    if len(line) < 2 or line[-1:] != b'"':
        raise ValueError("unterminated quoted path")
    body, out, at = line[1:-1], bytearray(), 0
    while at < len(body):
        c = body[at]
        at += 1
        if c == 34:
            raise ValueError("stray quote in quoted path")
        if c == 92:
            if at >= len(body):
                raise ValueError("bad escape in quoted path")
            c, at = _unescape(body, at)
        out.append(c)
    return bytes(out)


def line_form(path: bytes) -> bytes:
    """``path`` as a manifest line, quoted only where a line could not hold it otherwise."""
    return c_quote(path, high=False)


def text_form(path: bytes) -> str:
    """``path`` as text for other programs: unchanged where it is UTF-8, else quoted as git prints it."""
    try:
        return path.decode("utf-8")
    except UnicodeDecodeError:
        return c_quote(path).decode("ascii")


def is_control(char: str) -> bool:
    """True for a character that could command a terminal or turn its text around: C0, C1, bidi controls."""
    code = ord(char)
    return (
        code < 32
        or 127 <= code < 160
        or code in (0x61C, 0x200E, 0x200F, 0x2028, 0x2029)
        or 0x202A <= code <= 0x202E
        or 0x2066 <= code <= 0x2069
        or 0xD800 <= code <= 0xDFFF
    )


def is_hidden(char: str) -> bool:
    """True for a character without width, so that two names look alike (Default_Ignorable_Code_Point)."""
    code = ord(char)
    return code > 172 and (
        code in (0xAD, 0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0)
        or 0x180B <= code <= 0x180F
        or 0x200B <= code <= 0x200F
        or 0x2060 <= code <= 0x206F
        or 0xFE00 <= code <= 0xFE0F
        or 0xFFF0 <= code <= 0xFFFB
        or 0x1BCA0 <= code <= 0x1BCA3
        or 0x1D173 <= code <= 0x1D17A
        or 0xE0000 <= code <= 0xE0FFF
    )


def _safe(char: str) -> str:
    if is_control(char) or is_hidden(char):
        return char.encode("unicode_escape", "surrogatepass").decode("ascii")
    return char


def printable(text: str) -> str:
    """``text`` with every control, bidi, zero-width and unpaired character shown as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_safe, text))


def shown(path: bytes) -> str:
    """A path for a sentence to a person: C-quoted where needed, never a raw control."""
    return printable(c_quote(path, high=False).decode("utf-8", "replace"))


def few(paths: Sequence[bytes], most: int) -> str:
    """The first paths for a sentence, and how many more there are."""
    more = f" and {len(paths) - most} more" if len(paths) > most else ""
    return ", ".join(f"'{shown(path)}'" for path in paths[:most]) + more
