"""Which bead ids are allowed: stricter than git's rules for a branch, an id is also a file name; pure.

Lane 0. An id is taken whole or not at all: ``bd-a3f8.1`` never means ``bd-a3f8``.
"""

_FIRST = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_REST = _FIRST | frozenset("._-")
LIMIT = 120
RULE = (
    "an id is a letter or digit, then up to 119 of letters, digits, '.', '_', '-'; "
    "no '..', and no '.' or '.lock' at the end"
)


def is_valid(text: object) -> bool:
    """True for an id that can name a branch, a folder and a file alike."""
    if not isinstance(text, str) or not 0 < len(text) <= LIMIT:
        return False
    if text[0] not in _FIRST or not _REST.issuperset(text):
        return False
    return ".." not in text and not text.lower().endswith((".", ".lock"))
