"""Runs: the events file that identifies a run, the marker of the current run, and the run's record.

The record ``runs/<id>.json`` tells what the run did and how far each task got. It is written whole, always
before the step that it names is taken.
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from gitralph.base import files, locks
from gitralph.base.errors import Fatal
from gitralph.base.layout import Layout
from gitralph.hook import event_log, sessionfile

# In bytes. A record has a few KB for each task; a larger file is no record of ours.
_LIMIT = 64 << 20
Record = dict[str, Any]


def _claim(layout: Layout) -> str:
    """Create an events file under a new name; its name makes the run's id."""
    stamp, count = time.strftime("%Y%m%d-%H%M%S", time.gmtime()), 1
    while True:
        run = stamp if count == 1 else f"{stamp}-{count}"
        path = layout.events(event_log.name_of_run(run))
        try:
            # O_EXCL decides among runs that start in one second: a hundred of them get a hundred ids,
            # whatever the clock does.
            os.close(files.open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            count += 1
            continue
        return run


def create(layout: Layout, root: str, **known: object) -> Record:
    """A new run with its own events file, current in this worktree."""
    run = _claim(layout)
    record: Record = {
        "v": 1,
        "run": run,
        "worktree": layout.token,
        "root": root,
        "plan": None,
        "agent": None,
        "process": None,
        "started": sessionfile.now(),
        "ended": None,
        "outcome": None,
        "handed": 0,
        "tasks": [],
        **known,
    }
    save(layout, record)
    mark(layout, run)
    return record


def mark(layout: Layout, run: str) -> None:
    """Make a run the current one of this worktree."""
    files.write_whole(layout.current_events, event_log.name_of_run(run).encode() + b"\n")


def save(layout: Layout, record: Record) -> None:
    """Put a record on disk in one step."""
    path = layout.run(record["run"])
    files.make_folder(os.path.dirname(path))
    with locks.hold(layout, locks.RUNS):
        files.write_whole(path, json.dumps(record, indent=1).encode("ascii") + b"\n")


def read(layout: Layout, run: str) -> Record:
    """The record of a run that has an events file; an empty one where the record is missing or damaged.

    Raises Fatal for a run that does not exist.
    """
    name = event_log.name_of_run(run)
    if not os.path.lexists(layout.events(name)):
        raise Fatal(f"the events file '{name}' of run '{run}' is not there", "git ralph run list")
    try:
        value = json.loads(files.read_bytes(layout.run(run), _LIMIT))
    except (OSError, ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and value.get("run") == run:
        return {"handed": 0, **value, **_checked(value)}
    return {"v": 1, "run": run, "tasks": [], "handed": 0}


# The text fields of a task beside its text, its session and its numbers.
_TEXTS = ("bead", "before", "after", "commit", "outcome", "root", "tree", "started", "title", "head")
_WORDS = ("details", "step", "detail", "said")
_LISTS = ("files", "notes", "denied", "unlanded")
_COUNTS = ("iteration", "code", "seconds", "spent")
# What a run knows of the boxes of its plan.
_BOXES = ("begun", "open", "seen", "ticked")


def _checked(value: Record) -> Record:
    """The fields that readers use, as far as they are what a run writes: the file may hold anything."""
    found: Record = {}
    tasks = value.get("tasks")
    found["tasks"] = [known for one in tasks if (known := _task(one))] if isinstance(tasks, list) else []
    for key in ("plan", "outcome", "agent", "worktree", "root", "branch"):
        if key in value:
            found[key] = value[key] if _is_text(value[key]) else None
    found |= {key: [] for key in _BOXES if key in value and not isinstance(value[key], list)}
    return found


def _task(one: object) -> Record | None:
    """A task without fields that no run writes; None for one that cannot be told from others."""
    if not isinstance(one, dict) or not _is_text(one.get("text")) or not _is_text(one.get("session", "")):
        return None
    if any(type(one.get(key, 0)) is not int for key in ("copy", "number", "total")):
        return None
    out = dict(one)
    out |= {key: None for key in _TEXTS if key in one and not _is_text(one[key])}
    for keys, fits in ((_WORDS, _is_text), (_LISTS, _is_list), (_COUNTS, _is_count)):
        for key in keys:
            if key in one and not fits(one[key]):
                del out[key]
    if not isinstance(one.get("process"), dict):
        out.pop("process", None)
    return out


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_count(value: object) -> bool:
    return type(value) in (int, float)


def _is_text(value: object) -> bool:
    try:
        return isinstance(value, str) and os.fsencode(value) is not None
    except UnicodeEncodeError:  # a lone surrogate: no file has such a name
        return False


def current(layout: Layout) -> tuple[str | None, list[str]]:
    """The run that this worktree's marker names, and warnings about a marker that names none."""
    warnings: list[str] = []
    name = event_log.read_marker(layout, warnings)
    return (event_log.run_of_name(name) if name else None), warnings


def all_ids(layout: Layout) -> list[str]:
    """Every run of the repository in the order of their start."""
    runs = map(event_log.run_of_name, files.names(layout.top))
    return sorted((run for run in runs if run is not None), key=_order)


def readable(layout: Layout) -> Iterator[Record]:
    """The record of every run, in the order of their start; a run that goes meanwhile is passed over."""
    for run in all_ids(layout):
        with suppress(Fatal):
            yield read(layout, run)


def _order(run: str) -> tuple[str, int, str]:
    """The order by second, then by number: ``-10`` comes after ``-9``."""
    head, _, tail = run[:15], run[15:16], run[16:]
    return head, int(tail) if tail.isdigit() else 0, run


def files_of(layout: Layout, run: str) -> tuple[str, ...]:
    """Every file of a run, its events last: they are what makes it a run."""
    folder = layout.run_folder(run)
    kept = [f"{where}/{name}" for where, _, names in os.walk(folder) for name in sorted(names)]
    return (*kept, layout.run_summary(run), layout.run(run), layout.events(event_log.name_of_run(run)))
