"""Appends one event to the run's file: the launcher's, this worktree's current one, or ``events.jsonl``."""

import os
from collections.abc import Mapping

from gitralph import files, jsonline, sessionfile
from gitralph.layout import Layout

_MARKER = "current-events"


def _inside(layout: Layout, path: str) -> bool:
    return os.path.dirname(os.path.realpath(path)) == os.path.realpath(layout.top)


def _current(layout: Layout) -> str | None:
    for folder in (layout.own, layout.top):
        try:
            name = files.read_bytes(f"{folder}/{_MARKER}", 256).decode("ascii", "replace").strip()
        except OSError:
            continue
        if name.startswith("events") and "/" not in name:
            return f"{layout.top}/{name}"
    return None


def announce(layout: Layout, environ: Mapping[str, str], topic: str, payload: Mapping[str, object]) -> None:
    """One line ``{"topic", "payload", "ts"}``."""
    named = environ.get("RALPH_EVENTS_FILE", "")
    path = named if named and _inside(layout, named) else _current(layout) or f"{layout.top}/events.jsonl"
    event = {"topic": topic, "payload": dict(payload), "ts": sessionfile.now()}
    files.append_record(path, jsonline.dumps(event).encode("ascii") + b"\n")
