"""The record of one session, ``<session>.json``: who it is and its name, never what it changed.

Fast lane: the hook makes a record at a session's first event, and gives the session its name. A record is
written whole under a new name and renamed. It is changed only under the lock of the session's manifest.
"""

import os
import time

from gitralph.base import files, gitdir, jsonline, process
from gitralph.base.gitdir import Place
from gitralph.base.layout import Layout

_LIMIT = 1 << 20
# In seconds, a day. Where nothing tells of a session's process, a session of yesterday may go on today. To
# call it live too long only makes a message more careful.
_QUIET = 24 * 3600


def now() -> str:
    """The time as RFC 3339 in UTC. For people: nothing depends on it going forward."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def seconds(stamp: object) -> float | None:
    """A record's time in seconds since the epoch, None for what is no time."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(str(stamp)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def read(layout: Layout, session: str) -> dict[str, object] | None:
    """The record; None when there is none (gc may have put it away) or it is damaged beyond use."""
    try:
        text = files.read_bytes(layout.record(session), _LIMIT).decode("utf-8")
        value = jsonline.loads(text)
    except FileNotFoundError:
        return read_finished(layout, session)
    except (OSError, ValueError):
        return None
    return _own(value, session)


def read_finished(layout: Layout, session: str) -> dict[str, object] | None:
    """The record of an ended session that gc put away, None for all other sessions."""
    try:
        value = jsonline.loads(files.read_bytes(layout.finished_record(session), _LIMIT).decode("utf-8"))
    except (OSError, ValueError):
        return None
    return _own(value, session)


def _own(value: object, session: str) -> dict[str, object] | None:
    return value if isinstance(value, dict) and value.get("session") == session else None


def new_record(layout: Layout, session: str, **known: object) -> dict[str, object]:
    """A record with every field in its place; ``known`` fills what is known."""
    fields: dict[str, object] = {
        "v": 1,
        "session": session,
        "name": None,
        "agent": None,
        "plan": None,
        "task": None,
        "bead": None,
        "worktree": layout.token,
        "root": None,
        "branch": None,
        "head": None,
        "author": None,
        "parent": None,
        "children": [],
        "aliases": [],
        "models": [],
        "transcript": None,
        "process": None,
        "started": now(),
        "ended": None,
    }
    fields.update(known)
    return fields


def _encode(fields: dict[str, object]) -> bytes:
    rows = [f" {jsonline.dumps(k)}: {jsonline.dumps(v)}" for k, v in fields.items()]
    return ("{\n" + ",\n".join(rows) + "\n}\n").encode("ascii")


def create(layout: Layout, fields: dict[str, object]) -> bool:
    """Write a new record, with a name, unless one is there; makes it this worktree's active session."""
    # imported here: an event of a session that has its record need not spend 0.3 ms of CPU
    from gitralph.hook import names

    session = str(fields["session"])
    if name_in(layout, fields) is None:
        fields["name"] = names.give(layout, session, fields["agent"])
    made = files.write_whole(layout.record(session), _encode(fields), exclusive=True)
    if made:
        mark_active(layout, session)
    else:  # another process has recorded and named the session meanwhile
        names.drop(layout, fields["name"], session)
    return made


def name_in(layout: Layout, record: dict[str, object] | None) -> str | None:
    """The name in a record, None where that name belongs to another session."""
    from gitralph.hook import names

    name = record.get("name") if record else None
    return str(name) if record and name and names.holder(layout, name) == record["session"] else None


def called(layout: Layout, session: str) -> str:
    """What people see for a session's id: its name, or the id where it has none."""
    return name_in(layout, read(layout, session)) or session


def ensure(layout: Layout, session: str, place: Place, **known: object) -> None:
    """Make sure a session has a record; one ``stat`` when it has."""
    if not os.path.lexists(layout.record(session)):
        fields = new_record(layout, session, root=place.root, **known)
        before = read_finished(layout, session)
        if before is not None:  # the session goes on after days: who it is stays, what it did then is past
            fields = {**fields, **before, "ended": None}
        fields["branch"], fields["head"] = gitdir.head_branch(place), gitdir.head_oid(place)
        fields["process"] = process.ancestor()
        create(layout, fields)


def update(layout: Layout, session: str, **changes: object) -> dict[str, object]:
    """Change fields under the session's lock; lists are added to. Returns the record."""
    # Lock the manifest, not the record. The record is replaced by rename, so a lock on it would be on an old
    # file.
    with files.Locked(layout.manifest(session)):
        fields = read(layout, session) or new_record(layout, session)
        before = dict(fields)
        for key, value in changes.items():
            old = fields.get(key)
            if isinstance(value, list) and isinstance(old, list):
                value = old + [item for item in value if item not in old]
            fields[key] = value
        if not fields.get("name"):  # a version that gave no names recorded it
            from gitralph.hook import names

            fields["name"] = names.give(layout, session, fields.get("agent"))
        if fields != before or not os.path.lexists(layout.record(session)):
            files.write_whole(layout.record(session), _encode(fields))
        return fields


def claim(layout: Layout, session: str, line: bytes, wait: float = files.WAIT) -> None:
    """Append a path to a session's manifest, then mark that something is pending.

    The order matters: whoever removes the mark looks at the manifest afterwards. A script that appends by
    itself sets no mark.
    """
    files.append_record(layout.manifest(session), line + b"\n", wait)
    mark_pending(layout, session)


def mark_pending(layout: Layout, session: str) -> None:
    """Mark that a session may have something pending here."""
    if not os.path.lexists(layout.pending(session)):
        os.close(files.open_regular(layout.pending(session), os.O_WRONLY | os.O_CREAT))


def mark_active(layout: Layout, session: str) -> None:
    """Name the session started last, for people."""
    files.write_whole(layout.active, session.encode() + b"\n")


def clear_active(layout: Layout, session: str) -> None:
    """Remove the mark of the active session when it names ``session``."""
    try:
        if files.read_bytes(layout.active, 256).strip() == session.encode():
            os.unlink(layout.active)
    except OSError:
        pass


def last_event(layout: Layout, session: str) -> float:
    """When anything of a session was recorded last, in seconds since the epoch; 0 for never."""
    times = []
    for name in (layout.manifest(session), layout.record(session)):
        try:
            times.append(os.stat(name).st_mtime)
        except OSError:
            continue
    return max(times, default=0.0)


def state_of(layout: Layout, session: str) -> str:
    """``live``, ``ended`` or ``stale``. This is advice for people: nothing is decided by it."""
    record = read(layout, session)
    if record is not None and record.get("ended"):
        return "ended"
    alive = process.is_alive(record.get("process")) if record else None
    if alive is None:
        # Used where the system tells nothing of processes. With abs() a clock that was set back cannot keep a
        # session live for years.
        alive = abs(time.time() - last_event(layout, session)) < _QUIET
    return "live" if alive else "stale"
