"""What ``gc`` forgets of shell commands: the old ones, and those whose end nobody can tell any more."""

import os
import time

from gitralph import files, jsonline
from gitralph.layout import Layout
from gitralph.state.sweep import CALL_AGE, Sweep, Swept

_LIMIT = 256 << 20


def _text(fields: dict[str, object], key: str) -> str:
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def _stamp(when: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))


def _unneeded(layout: Layout, rows: list[dict[str, object]], sweep: Sweep) -> set[str]:
    """Commands from before the cut-off, and those whose end nobody can tell any more."""
    opened = {name: row for row in rows if (name := _text(row, "open"))}
    closed = {_text(row, "close") for row in rows}
    out = set()
    for name, row in opened.items():
        began, call = _text(row, "ts"), _text(row, "call") or _text(row, "tool")
        lost = name not in closed and began < _stamp(sweep.now - CALL_AGE)
        if lost and os.path.lexists(layout.shell_call(_text(row, "session"), call)):
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
        fields = jsonline.object_in(line)
    except ValueError:
        return {}
    return {key: item for key, item in fields.items() if not isinstance(item, (dict, list))}
