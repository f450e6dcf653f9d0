"""What is to be seen of a loop at work: per running task its step, time, files and last event. Reads only."""

import os
from collections.abc import Callable
from dataclasses import dataclass

from gitralph.base import files, gitdir
from gitralph.base.layout import Layout, StateError, for_place
from gitralph.base.quote import shown
from gitralph.hook import event_log
from gitralph.records import events, manifests
from gitralph.records.events import Emitted
from gitralph.tasks.loop.model import AGENT, Job, View

# A glance must stay cheap with a long events file: a session silent for so many events shows none.
_TAIL = 200


@dataclass(frozen=True)
class Glance:
    """One running task, now."""

    name: str
    text: str
    step: str
    seconds: float
    files: int
    last_file: str
    last_event: str


Look = Callable[[View], list[Glance]]


def _touched(layout: Layout, job: Job) -> tuple[int, str]:
    """How many paths the session has recorded, and the last of them."""
    try:
        if job.root is not None and (place := gitdir.discover(job.root)) is not None:
            layout = for_place(place, create=False)
        found = manifests.parse(files.read_bytes(layout.manifest(job.session), 1 << 24)).lines
    except (OSError, StateError):
        return 0, ""
    last = max(found, key=lambda path: found[path][-1], default=b"")
    return len(found), shown(last)


def _last_event(layout: Layout, run: str | None, session: str) -> str:
    """The topic of the session's last event among the latest."""
    fd = events.open_events(layout.events(event_log.name_of_run(run))) if run else None
    if fd is None:
        return ""
    try:
        for count, row in enumerate(events.scan_back(fd)):
            if isinstance(row, Emitted) and row.value.get("session") == session:
                return row.topic
            if count > _TAIL:
                break
    finally:
        os.close(fd)
    return ""


def looker(layout: Layout) -> Look:
    """A function that takes the glances of now."""

    def look(view: View) -> list[Glance]:
        return [_glance(layout, view, job) for job in view.jobs if job.session in view.begun]

    return look


def _glance(layout: Layout, view: View, job: Job) -> Glance:
    step = f"{job.step} {job.iteration}" if job.step == AGENT else job.step
    count, last = _touched(layout, job)
    event = _last_event(layout, view.run, job.session)
    return Glance(job.name, job.text, step, view.elapsed(job), count, last, event)
