"""Whether this repository is in a fleet, and the name by which others may read of a session.

A session's id may reveal who works where. So a fleet gets only its hash: ``s_`` and 14 hex digits of its
SHA-256. The records here keep the id, and whoever reads a trailer maps the hash back.
"""

import os

from gitralph.base.ids import hashed, is_valid
from gitralph.base.layout import Layout, session_of

# ``s_`` and 14 digits, as base.ids.hashed makes it. That is 56 bits: among a million sessions two share a
# name with a chance of 1 in 100,000.
_HASH_LENGTH = 16


def is_member(layout: Layout) -> bool:
    """True where ``git ralph fleet join`` was done: one ``stat``."""
    return os.path.lexists(layout.fleet_record)


def is_hash(said: str) -> bool:
    """True for text that could be the hash of a session's id; an id may have that form too."""
    return len(said) == _HASH_LENGTH and said[:2] == "s_" and not said[2:].strip("0123456789abcdef")


def hash_of(said: str) -> str:
    """The hash of a session that a message names by its id or by its hash."""
    return said if is_hash(said) else hashed(said)


def published(layout: Layout, session: str) -> str:
    """The name of a session in a commit's trailer: its hash in a fleet, else its id."""
    return hashed(session) if is_member(layout) else session


def local(layout: Layout, said: str) -> str:
    """The session that a trailer means: the one here with this hash, else the name as it is.

    The hash comes first. So a session that calls itself by another's hash gets none of its commits.
    """
    if not is_hash(said):
        return said
    try:
        names = os.listdir(layout.top)
    except OSError:
        return said
    # A record's name has a suffix where two names differ only in case (layout.stem).
    known = (session_of(name.removesuffix(".json")) for name in names if name.endswith(".json"))
    return next((one for one in known if is_valid(one) and hashed(one) == said), said)
