"""Which session ids are allowed, and the safe form of one that is not; pure."""

import sys

_FIRST = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_REST = _FIRST | frozenset("._-")
_LIMIT = 120


def is_valid(text: str) -> bool:
    """True for ``[A-Za-z0-9][A-Za-z0-9._-]{0,119}`` without ``..``."""
    return 0 < len(text) <= _LIMIT and text[0] in _FIRST and _REST.issuperset(text) and ".." not in text


def digest(data: bytes) -> str:
    """SHA-1 of ``data`` in hex, without the start-up cost of hashlib; by it where it is loaded."""
    hashlib = sys.modules.get("hashlib")
    if hashlib is not None:  # several times as fast
        fast: str = hashlib.sha1(data, usedforsecurity=False).hexdigest()
        return fast
    try:
        from _sha1 import sha1  # type: ignore[import-not-found]
    except ImportError:  # built without it: hashlib has the same function
        from hashlib import sha1
    found: str = sha1(data).hexdigest()
    return found


def safe_form(text: str) -> str:
    """``text`` itself when allowed, else an allowed id that is its alone.

    The digest makes it unique; the readable part is for people who list the folder.
    """
    if is_valid(text):
        return text
    raw = text.encode("utf-8", "surrogatepass")
    readable = "".join(c if c in _REST and c != "." else "-" for c in text[:40]).strip("-")
    return "-".join(part for part in ("x", readable, digest(raw)[:16]) if part)
