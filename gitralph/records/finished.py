"""Which sessions that gc put away made which commit: ``finished/commits``, a line each.

A line is ``<commit> <session>``, with ``included`` behind it where another session's commit took the edits
along. The file is an index over the ``.commits`` files beside it. Without it a report on a repository with
10,000 ended sessions read 20,000 files. gc appends to it before it puts a session away, and makes it anew
where it is missing. So deleting it loses nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from gitralph.base import files
from gitralph.base.layout import Layout, session_of
from gitralph.hook.journal import is_oid
from gitralph.records import commit_log

_LIMIT = 1 << 30
_INCLUDED = "included"


def made(layout: Layout) -> dict[str, dict[str, bool]]:
    """Maps each commit to its sessions, each with whether another session's commit took its edits along."""
    try:
        text = files.read_bytes(layout.finished_index, _LIMIT).decode("ascii", "replace")
    except FileNotFoundError:
        text = _gathered(layout)
    except OSError:
        return {}
    found: dict[str, dict[str, bool]] = {}
    # Text behind the last newline is a line that is not complete yet.
    for line in text.split("\n")[:-1]:
        words = line.split(" ")
        if len(words) > 1:
            found.setdefault(words[0], {}).setdefault(words[1], words[-1] == _INCLUDED and len(words) == 3)
    return found


def note(layout: Layout, session: str) -> None:
    """Add the commits of a session that is about to be put away. Adding them twice does no harm."""
    path = layout.finished_index
    if not os.path.lexists(path):
        files.write_whole(path, _gathered(layout).encode("ascii"))
    rows = _rows(layout, session)
    if rows:
        files.append_record(path, rows.encode("ascii"))


def drop_gone(layout: Layout) -> None:
    """Remove the sessions of which gc removed everything."""
    there = set(_sessions(layout))
    try:
        lines = files.read_bytes(layout.finished_index, _LIMIT).decode("ascii", "replace").split("\n")[:-1]
    except OSError:
        return
    kept = [line for line in lines if line.split(" ")[1:2] and line.split(" ")[1] in there]
    if not kept:
        os.unlink(layout.finished_index)
    elif len(kept) < len(lines):
        files.write_whole(layout.finished_index, "".join(f"{line}\n" for line in kept).encode())


def _gathered(layout: Layout) -> str:
    return "".join(_rows(layout, session) for session in _sessions(layout))


def _sessions(layout: Layout) -> Iterable[str]:
    names = files.names(layout.finished, ".commits")
    return sorted(session_of(name.removesuffix(".commits")) for name in names)


def _rows(layout: Layout, session: str) -> str:
    rows = []
    for fields in commit_log.read(layout, session).commits:
        if is_oid(fields.get("commit")):
            included = f" {_INCLUDED}" if fields.get("included") is True else ""
            rows.append(f"{fields['commit']} {session}{included}\n")
    return "".join(dict.fromkeys(rows))
