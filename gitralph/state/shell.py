"""Reads ``shells.jsonl``: the shell commands of all sessions of a worktree, and what changed meanwhile.

Their order is the order of lines. A command that has not ended, or of which no picture could be taken,
counts as one that may have changed anything.
"""

import os
import time
from dataclasses import dataclass, field

from gitralph import files, jsonline, shellwatch
from gitralph.layout import Layout
from gitralph.state.sweep import CALL_AGE, Sweep, Swept

_LIMIT = 256 << 20

Form = tuple[str | None, str | None] | None
"""Blob id and mode of a file; (None, None) when absent, None when it is as in HEAD."""


@dataclass(frozen=True)
class Row:
    """One path that changed while a command ran; ``base`` is HEAD's blob."""

    before: Form
    after: Form
    base: str | None

    @property
    def is_known(self) -> bool:
        forms = [form for form in (self.before, self.after) if form is not None]
        return all(form[0] != shellwatch.UNKNOWN for form in forms)


@dataclass
class Window:
    """One command: places in the file where it begins and ends; ``rows`` None when not known.

    ``picture`` is what was dirty, and ``head`` what HEAD was, when a command began that has not ended.
    """

    session: str
    opened: int
    agent_id: str | None = None
    tool: str | None = None
    call: str | None = None
    time: str = ""
    closed: int | None = None
    late: bool = False
    rows: dict[bytes, Row] | None = None
    picture: dict[bytes, tuple[Form, str | None]] | None = None
    head: str | None = None

    def overlaps(self, other: "Window") -> bool:
        """True when the two ran at the same time, as far as anybody can tell."""
        return (other.closed is None or self.opened < other.closed) and (
            self.closed is None or other.opened < self.closed
        )

    def row(self, path: bytes, now: Form) -> Row | None:
        """What this command may have done to a path; for a running one, until ``now``."""
        if self.rows is not None:
            return self.rows.get(path)
        if self.closed is not None or self.picture is None:
            return None
        before, base = self.picture.get(path, (None, None))
        return None if before == now else Row(before, now, base)

    def may_have_made(self, path: bytes, change: Row) -> bool:
        """True when this command, too, could explain a change of a path."""
        if self.rows is not None:
            return path in self.rows
        if self.closed is not None or self.picture is None:
            return True
        return self.picture.get(path, (None, None))[0] != change.after


@dataclass
class Windows:
    """All commands in the order in which they began."""

    windows: list[Window] = field(default_factory=list)
    by_id: dict[str, Window] = field(default_factory=dict)


def _form(value: object) -> Form:
    if value == shellwatch.CLEAN:
        return None
    if isinstance(value, list) and len(value) == 2:
        oid, mode = value
        return (oid if isinstance(oid, str) else None, mode if isinstance(mode, str) else None)
    return (shellwatch.UNKNOWN, None)


def _path(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _rows(value: object) -> dict[bytes, Row] | None:
    if not isinstance(value, list):
        return None
    out = {}
    for row in value:
        if isinstance(row, list) and len(row) == 4 and isinstance(row[0], str):
            base = row[3] if isinstance(row[3], str) else None
            out[_path(row[0])] = Row(_form(row[1]), _form(row[2]), base)
    return out


def _text(fields: dict[str, object], key: str) -> str | None:
    value = fields.get(key)
    return value if isinstance(value, str) else None


def _take_line(found: Windows, fields: dict[str, object], at: int) -> None:
    opened, closed = _text(fields, "open"), _text(fields, "close")
    session = _text(fields, "session")
    if opened is not None and session is not None:
        window = Window(
            session, at, _text(fields, "agent_id"), _text(fields, "tool"), _text(fields, "call"),
            _text(fields, "ts") or "",
        )  # fmt: skip
        found.windows.append(window)
        found.by_id[opened] = window
    elif closed is not None and closed in found.by_id and found.by_id[closed].closed is None:
        window = found.by_id[closed]
        window.closed, window.rows = at, _rows(fields.get("rows"))
        window.late = fields.get("late") is True


def read(layout: Layout) -> list[Window]:
    """Every command of this worktree, oldest first; empty when none was watched."""
    try:
        data = files.read_bytes(layout.shells, _LIMIT)
    except OSError:
        return []
    found = Windows()
    for at, line in enumerate(data.split(b"\n")[:-1]):
        try:
            fields = jsonline.loads(line.decode("utf-8"))
        except ValueError:
            continue  # damage costs only its own line
        if isinstance(fields, dict):
            _take_line(found, fields, at)
    for window in found.windows:
        if window.closed is None:
            _look_at_running(layout, window)
    return found.windows


def _look_at_running(layout: Layout, window: Window) -> None:
    kept = shellwatch.load(layout.shell_call(window.session, window.call or window.tool or ""))
    picture = shellwatch.picture_of(kept) if kept is not None else None
    if picture is not None:
        window.head = picture.head
        window.picture = {_path(n): (_form(row[1:]), row[0]) for n, row in picture.rows.items()}


def _stamp(when: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))


def _unneeded(layout: Layout, rows: list[dict[str, object]], sweep: Sweep) -> set[str]:
    """Commands from before the cut-off, and those whose end nobody can tell any more."""
    opened = {name: row for row in rows if (name := _text(row, "open")) is not None}
    closed = {_text(row, "close") for row in rows}
    out = set()
    for name, row in opened.items():
        began, call = _text(row, "ts") or "", _text(row, "call") or _text(row, "tool") or ""
        lost = name not in closed and began < _stamp(sweep.now - CALL_AGE)
        if lost and os.path.lexists(layout.shell_call(_text(row, "session") or "", call)):
            lost = False
        if lost or began < _stamp(sweep.cutoff):
            out.add(name)
    return out


def trim(sweep: Sweep, layout: Layout) -> None:
    """Forget old commands, under the file's lock; those that append meanwhile start on the new file."""
    if not os.path.isfile(layout.shells):
        return
    fd = files.open_locked(layout.shells)
    try:
        lines = files.read_bytes(layout.shells, _LIMIT).splitlines(keepends=True)
        rows = [_fields(line) for line in lines]
        gone = _unneeded(layout, rows, sweep)
        kept = [
            x for x, row in zip(lines, rows, strict=True) if not {row.get("open"), row.get("close")} & gone
        ]
        if len(kept) == len(lines):
            return
        size = sum(map(len, lines)) - sum(map(len, kept))
        if not sweep.dry:
            files.write_whole(layout.shells, b"".join(kept))
        sweep.swept.append(Swept("shell", os.path.relpath(layout.shells, sweep.top), size))
    finally:
        os.close(fd)


def _fields(line: bytes) -> dict[str, object]:
    try:
        value = jsonline.loads(line.decode("utf-8"))
    except ValueError:
        return {}
    return (
        {k: v for k, v in value.items() if not isinstance(v, (dict, list))} if isinstance(value, dict) else {}
    )
