"""The sessions of a repository, as their records tell: which there are, when they spoke last, who lives."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

from gitralph.base import process
from gitralph.base.layout import Layout, session_of
from gitralph.hook import sessionfile

# A day: where nothing tells of a session's process, one that worked yesterday may go on today, and naming it
# live too long only makes a message more careful.
_QUIET = 24 * 3600


def records(layout: Layout, finished: bool = False) -> Iterator[dict[str, Any]]:
    """Every session record of the repository, in the order of their start.

    With ``finished`` also those of sessions that gc put away.
    """
    found = []
    stems = {name[: -len(".json")] for name in _names(layout.top) if name.endswith(".json")}
    if finished:
        stems |= {name[: -len(".json")] for name in _names(layout.finished) if name.endswith(".json")}
    for stem in stems:
        record = sessionfile.read(layout, session_of(stem))
        if record is not None:
            found.append(record)
    yield from sorted(found, key=lambda r: (str(r.get("started")), str(r.get("session"))))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


def any_finished(layout: Layout) -> bool:
    """True when gc has put sessions away."""
    return os.path.isdir(layout.finished)


def last_event(layout: Layout, session: str) -> float:
    """When anything was last recorded of a session, in seconds since the epoch; 0 for never."""
    times = []
    for name in (layout.manifest(session), layout.record(session)):
        try:
            times.append(os.stat(name).st_mtime)
        except OSError:
            continue
    return max(times, default=0.0)


def state_of(layout: Layout, session: str) -> str:
    """``live``, ``ended`` or ``stale``. Advice for people: nothing is done because of it."""
    record = sessionfile.read(layout, session)
    if record is not None and record.get("ended"):
        return "ended"
    alive = process.is_alive(record.get("process")) if record else None
    if alive is None:
        # Where the system tells nothing of processes. abs, as a clock that was set back must not keep a
        # session live for years.
        alive = abs(time.time() - last_event(layout, session)) < _QUIET
    return "live" if alive else "stale"


def said(state: str) -> str:
    """A state in a word for people, who know ``stale`` as the reason of a refusal."""
    return "not running" if state == "stale" else state
