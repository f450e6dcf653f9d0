"""The record of one session, ``<session>.json``: who it is, never what it changed.

Fast lane: the hook makes one at first sight. Written whole under a new name and renamed, changed only
under the lock of its manifest.
"""

import os
import time

from gitralph.base import files, gitdir, jsonline, process
from gitralph.base.gitdir import Place
from gitralph.base.layout import Layout

_LIMIT = 1 << 20


def now() -> str:
    """The time as RFC 3339 in UTC. For people: nothing depends on it going forward."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def seconds(stamp: object) -> float | None:
    """A time of a record in seconds since the epoch, None for what is none."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(str(stamp)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def read(layout: Layout, session: str) -> dict[str, object] | None:
    """The record, None when there is none or it is damaged beyond use."""
    try:
        text = files.read_bytes(layout.record(session), _LIMIT).decode("utf-8")
        value = jsonline.loads(text)
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) and value.get("session") == session else None


def new_record(layout: Layout, session: str, **known: object) -> dict[str, object]:
    """A record with every field in its place; ``known`` fills what is known."""
    fields: dict[str, object] = {
        "v": 1, "session": session, "agent": None, "plan": None, "task": None, "bead": None,
        "worktree": layout.token, "root": None, "branch": None, "head": None, "author": None,
        "parent": None, "children": [], "aliases": [], "transcript": None, "process": None,
        "started": now(), "ended": None,
    }  # fmt: skip
    fields.update(known)
    return fields


def _encode(fields: dict[str, object]) -> bytes:
    rows = [f" {jsonline.dumps(k)}: {jsonline.dumps(v)}" for k, v in fields.items()]
    return ("{\n" + ",\n".join(rows) + "\n}\n").encode("ascii")


def create(layout: Layout, fields: dict[str, object]) -> bool:
    """Write a new record unless one is there; makes it this worktree's active session."""
    session = str(fields["session"])
    made = files.write_whole(layout.record(session), _encode(fields), exclusive=True)
    if made:
        mark_active(layout, session)
    return made


def ensure(layout: Layout, session: str, place: Place, **known: object) -> None:
    """Make sure a session has a record; one ``stat`` when it has."""
    if not os.path.lexists(layout.record(session)):
        fields = new_record(layout, session, root=place.root, **known)
        fields["branch"], fields["head"] = gitdir.head_branch(place), gitdir.head_oid(place)
        fields["process"] = process.ancestor()
        create(layout, fields)


def update(layout: Layout, session: str, **changes: object) -> dict[str, object]:
    """Change fields under the session's lock; lists given are added to. Returns the record."""
    # The manifest's lock, not the record's: the record is replaced by rename, so a lock on it would be on a
    # file of the past.
    fd = files.open_locked(layout.manifest(session))
    try:
        fields = read(layout, session) or new_record(layout, session)
        before = dict(fields)
        for key, value in changes.items():
            old = fields.get(key)
            if isinstance(value, list) and isinstance(old, list):
                value = old + [item for item in value if item not in old]
            fields[key] = value
        if fields != before or not os.path.lexists(layout.record(session)):
            files.write_whole(layout.record(session), _encode(fields))
        return fields
    finally:
        os.close(fd)


def mark_active(layout: Layout, session: str) -> None:
    """Name the session started last, for people."""
    files.write_whole(layout.active, session.encode() + b"\n")


def clear_active(layout: Layout, session: str) -> None:
    """Take the mark away when it names ``session``."""
    try:
        if files.read_bytes(layout.active, 256).strip() == session.encode():
            os.unlink(layout.active)
    except OSError:
        pass
