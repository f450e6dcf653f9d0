"""The sessions of a repository by their records: which there are, when each recorded last, which live."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from gitralph.base import files
from gitralph.base.layout import Layout, session_of
from gitralph.hook import sessionfile
from gitralph.hook.sessionfile import last_event as last_event
from gitralph.hook.sessionfile import state_of as state_of


def records(layout: Layout, finished: bool = False) -> Iterator[dict[str, Any]]:
    """Every session record of the repository, in the order of their start.

    With ``finished`` also those of sessions that gc put away.
    """
    found = []
    stems = {name[: -len(".json")] for name in files.names(layout.top, ".json")}
    if finished:
        stems |= {name[: -len(".json")] for name in files.names(layout.finished, ".json")}
    for stem in stems:
        record = sessionfile.read(layout, session_of(stem))
        if record is not None:
            found.append(record)
    yield from sorted(found, key=lambda r: (str(r.get("started")), str(r.get("session"))))


def any_finished(layout: Layout) -> bool:
    """True when gc has put sessions away."""
    return os.path.isdir(layout.finished)


def said(state: str) -> str:
    """A state in a word for people, who know ``stale`` only as the reason of a refusal."""
    return "not running" if state == "stale" else state
