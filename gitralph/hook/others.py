"""Who else is at work in a file that is about to be edited; a cheap check at every edit.

Fast lane. Nearly always nobody is, and the names in the path's journal show it. Lines are looked at only
where a live session is among these names.
"""

import os

from gitralph.base import files, jsonline
from gitralph.base.ids import digest, is_valid
from gitralph.base.layout import MAIN, Layout
from gitralph.hook import sessionfile

# In bytes. Of a longer journal the last records count: what is uncommitted stands there.
_LIMIT = 4 << 20
# In bytes. A line has 100 bytes, and a path with other sessions gets a few: a larger file is none of ours.
_TOLD_LIMIT = 1 << 20
_NAME = b'"session":"'


def _tail_of(name: str) -> bytes:
    try:
        return files.read_tail(name, _LIMIT)[0]
    except OSError:
        return b""


def _names(data: bytes) -> set[str]:
    # The key cannot come from an edited text: inside a JSON string a quote has a backslash before it.
    found = {part[: part.find(b'"')] for part in data.split(_NAME)[1:]}
    return {name.decode("ascii") for name in found if name.isascii() and is_valid(name.decode("ascii"))}


def worktrees(lay: Layout) -> list[Layout]:
    """The state folder of every worktree that has one, the main one first, lost worktrees included."""
    try:
        linked = sorted(os.listdir(f"{lay.top}/worktrees"))
    except OSError:
        linked = []
    return [Layout(lay.top, token) for token in (MAIN, *linked)]


class Company:
    """The live sessions with records of a path in one worktree; ``state`` changes with their records."""

    __slots__ = ("layout", "sessions", "state")

    def __init__(self, layout: Layout, sessions: list[str], state: str) -> None:
        self.layout = layout
        self.sessions = sessions
        self.state = state


def at_work(lay: Layout, session: str, path: bytes) -> list[Company]:
    """Other live sessions that have records of a path, by worktree; this one's first."""
    out = []
    for layout in sorted(worktrees(lay), key=lambda one: one.token != lay.token):
        data = _tail_of(layout.journal(path))
        if not data:
            continue
        names = sorted(_names(data) - {session})
        live = [name for name in names if sessionfile.state_of(layout, name) == "live"]
        if live:
            out.append(Company(layout, live, _state(data, live)))
    return out


def _state(data: bytes, names: list[str]) -> str:
    """A value that changes with each record of these sessions, and with no other's."""
    marks = [_NAME + name.encode("ascii") + b'"' for name in names]
    lines = [line for line in data.split(b"\n") if any(mark in line for mark in marks)]
    return digest(b"\n".join(lines))[:16]


def told(lay: Layout, session: str, path: bytes) -> dict[str, str]:
    """What was noted last for a path:

    ``seen`` is the state of the records, ``lines`` that of the told lines.
    """
    key, found = digest(path)[:24], dict[str, str]()
    try:
        data = files.read_bytes(lay.told(session), _TOLD_LIMIT)
    except OSError:
        return found
    for line in data.splitlines():
        try:
            fields = jsonline.object_in(line)
        except ValueError:
            continue
        if fields.get("path") == key:
            found = {name: value for name, value in fields.items() if isinstance(value, str)}
    return found


def note(lay: Layout, session: str, path: bytes, seen: str, lines: str) -> None:
    """Remember what was told, so that it is told only once."""
    fields: dict[str, object] = {"path": digest(path)[:24], "seen": seen, "lines": lines}
    files.make_folder(os.path.dirname(lay.told(session)))
    files.append_record(lay.told(session), jsonline.line(fields))
