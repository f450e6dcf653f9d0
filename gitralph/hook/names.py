"""The short names of sessions, ``claude-1``: a file ``names/<name>`` each, which holds the session's id.

Fast lane. ``link(2)`` decides who gets a name, so two processes never get the same one. The number given last
is kept as a hint, so that a name costs the same after a hundred thousand sessions. Where the hint is lost or
wrong, the files are tried one after the other.
"""

import os

from gitralph.base import files
from gitralph.base.ids import UNRECORDED
from gitralph.base.layout import Layout

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
_REST = _LETTERS | frozenset("0123456789-")
LIMIT = 32
RULE = f"a name is a small letter, then up to {LIMIT - 1} of small letters, digits and single '-'"
# These words stand for no session where a session is named.
_RESERVED = frozenset(["nobody", UNRECORDED, "all", "session"])
_SHORT = {"claude-code": "claude"}
# In characters. This leaves room for a number behind it within the limit of a name.
_AGENT_LIMIT = 20
# No repository reaches this number, so a hint beyond it is damaged.
_MOST = 10**8
_ID_LIMIT = 256


def is_valid(name: object) -> bool:
    """True for a name that a session may have. It is also a file's name, on any file system."""
    return (
        isinstance(name, str)
        and 0 < len(name) <= LIMIT
        and name[0] in _LETTERS
        and _REST.issuperset(name)
        and "--" not in name
        and name[-1] != "-"
        and name not in _RESERVED
    )


def stem(agent: object) -> str:
    """The beginning of the names of an agent's sessions."""
    known = _SHORT.get(agent, agent) if isinstance(agent, str) else ""
    told = "".join(c if c in _REST else "-" for c in known.lower()[:_AGENT_LIMIT])
    found = "-".join(part for part in told.split("-") if part)
    return found if found and found[0] in _LETTERS else "session"


def _last(path: str) -> int:
    try:
        said = files.read_bytes(path, 16).strip()
    except OSError:
        return 0
    return int(said) if said.isdigit() and int(said) < _MOST else 0


def give(layout: Layout, session: str, agent: object) -> str | None:
    """Name a session that is recorded for the first time; None where the names cannot be written."""
    begin = stem(agent)
    hint, number = layout.last_number(begin), 0
    try:
        files.make_folder(layout.names)
        number = _last(hint) + 1
        while not _take(layout, f"{begin}-{number}", session):
            number += 1
        files.write_whole(hint, b"%d\n" % number)
    except OSError:
        return None
    return f"{begin}-{number}"


def _take(layout: Layout, name: str, session: str) -> bool:
    path = layout.name(name)
    # The name must not be another session's id either: what is typed could mean either session.
    if os.path.lexists(path) or (name != session and os.path.lexists(layout.record(name))):
        return False
    return files.write_whole(path, session.encode() + b"\n", exclusive=True)


def take(layout: Layout, name: str, session: str) -> bool:
    """Reserve a chosen name; False where another session has it. Raises OSError."""
    files.make_folder(layout.names)
    return _take(layout, name, session) or holder(layout, name) == session


def holder(layout: Layout, name: object) -> str | None:
    """The id of the session that has a name, None when nobody has."""
    if not isinstance(name, str) or not is_valid(name):
        return None
    try:
        said = files.read_bytes(layout.name(name), _ID_LIMIT).decode("ascii")
    except (OSError, ValueError):
        return None
    return said.strip() or None


def drop(layout: Layout, name: object, session: str) -> None:
    """Let a name of this session go."""
    if holder(layout, name) == session:
        try:
            os.unlink(layout.name(str(name)))
        except OSError:
            pass


def everyone(layout: Layout) -> list[str]:
    """Every name that is taken, sorted."""
    return list(filter(is_valid, files.names(layout.names)))
