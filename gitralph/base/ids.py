"""Which ids of sessions and beads are allowed, and a safe form for any other; fixed ids; pure.

An id counts only as a whole: ``bd-a3f8.1`` never means ``bd-a3f8``. A bead's id obeys stricter rules than a
branch's name in git, since it names a branch, a folder and a file.
"""

import hashlib

_FIRST = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_REST = _FIRST | frozenset("._-")
# The id of the tree without entries, which every git knows without having it (git's object-file.c).
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
# Stands in place of a session's id for what nobody recorded. No session can have this id or name.
UNRECORDED = "unrecorded"
# In characters. A name on disk may have 255 bytes (ext4, APFS, NTFS), and suffixes and a digest are added.
_LIMIT = 120


def _fits(text: str) -> bool:
    return 0 < len(text) <= _LIMIT and text[0] in _FIRST and _REST.issuperset(text) and ".." not in text


def is_valid(text: str) -> bool:
    """True for ``[A-Za-z0-9][A-Za-z0-9._-]{0,119}`` without ``..``, except for UNRECORDED."""
    return _fits(text) and text != UNRECORDED


def digest(data: bytes | bytearray | memoryview) -> str:
    """SHA-1 of ``data`` in hex."""
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def hashed(session: str) -> str:
    """The name of a session where others read it: ``s_`` and 14 hex digits of the SHA-256 of its id."""
    return "s_" + hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:14]


def safe_form(text: str) -> str:
    """``text`` itself when allowed, else an allowed id that only this text gets.

    The digest makes it unique. The readable part is for people who list the folder.
    """
    if is_valid(text):
        return text
    raw = text.encode("utf-8", "surrogatepass")
    readable = "".join(c if c in _REST and c != "." else "-" for c in text[:40]).strip("-")
    return "-".join(part for part in ("x", readable, digest(raw)[:16]) if part)


BEAD_RULE = (
    "an id is a letter or digit, then up to 119 of letters, digits, '.', '_', '-'; "
    "no '..', and no '.' or '.lock' at the end"
)


def is_bead(text: object) -> bool:
    """True for an id that can name a branch, a folder and a file alike."""
    return isinstance(text, str) and _fits(text) and not text.lower().endswith((".", ".lock"))
