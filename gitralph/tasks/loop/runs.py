"""``git ralph run start|resume|list|end``: a run without the loop, and what all runs came to."""

import os
from dataclasses import dataclass, field
from typing import Any

from gitralph.ask import events as emitting
from gitralph.base import files, process
from gitralph.base.errors import Fatal, Refused
from gitralph.base.layout import Layout
from gitralph.decide import pending_paths
from gitralph.git.context import Context
from gitralph.hook import event_log, sessionfile
from gitralph.records import events
from gitralph.records import run as runs
from gitralph.records.events import Emitted
from gitralph.records.run import Record

ENDS = frozenset(["loop.terminate"])
# They go into a person's terminal or an agent's prompt; of more it is said how many.
_NEWS_LIMIT = 200
# Finished runs that gc leaves; a record is a few KB, its output may be 32 MiB a task.
_KEEP = 50


@dataclass
class Resumed:
    """A run that goes on: its record, and the events nobody was handed yet."""

    record: Record
    news: list[Emitted] = field(default_factory=list)
    more: int = 0

    @property
    def run(self) -> str:
        return str(self.record["run"])


def start(ctx: Context) -> str:
    """A fresh run with its own events file, current in this worktree; returns its id."""
    return str(runs.create(ctx.layout, ctx.repo.root)["run"])


def is_live(record: Record) -> bool:
    """True while the process of a loop is there."""
    return not record.get("ended") and process.is_alive(record.get("process")) is True


def state_of(record: Record) -> str:
    """``live``, ``interrupted``, ``ended``, or ``open`` for a run that no loop drives."""
    if record.get("ended"):
        return "ended"
    if record.get("process") is None:
        return "open"
    return "live" if is_live(record) else "interrupted"


def named(ctx: Context, run: str | None) -> Record:
    """The run that is meant: given, or current here. Raises Fatal when there is none to speak of."""
    if run is not None:
        return runs.read(ctx.layout, run)
    found, warnings = runs.current(ctx.layout)
    for text in warnings:
        ctx.warn(text)
    if found is None:
        raise Fatal("no run is current here", "git ralph run start", "git ralph run list")
    return runs.read(ctx.layout, found)


def refuse_live(record: Record, verb: str) -> None:
    """Raise Refused for a run whose loop is at work."""
    if is_live(record):
        pid = record["process"]["pid"]
        raise Refused(f"run '{record['run']}' is at work in process {pid} and cannot be {verb}")


def resume(ctx: Context, run: str | None) -> Resumed:
    """Go on with a run: same id, file and marker. Raises Fatal when there is nothing to resume."""
    record = named(ctx, run)
    refuse_live(record, "resumed")
    return reopen(ctx, record)


def reopen(ctx: Context, record: Record) -> Resumed:
    """Mark a run as current and going on, and hand on what came since it was left."""
    found = Resumed(record)
    upto = _collect(ctx.layout, found)
    run = found.run
    record.update(handed=upto, ended=None, outcome=None)
    record.setdefault("started", None)
    runs.save(ctx.layout, record)
    runs.mark(ctx.layout, run)
    emitting.own_event(ctx, run, "run.resumed", new=len(found.news) + found.more)
    return found


def _collect(layout: Layout, found: Resumed) -> int:
    """Fill in what came after the last end and after what was handed on; returns the present end."""
    fd = events.open_events(layout.events(event_log.name_of_run(found.run)))
    if fd is None:
        return 0
    try:
        handed, upto = _handed(found.record, fd), 0
        for row in events.scan(fd):
            upto = row.end
            if not isinstance(row, Emitted):
                continue
            # An agent starts with what came after the last end, also where the record of the run was lost.
            if row.topic in ENDS:
                found.news, found.more = [], 0
            elif row.start >= handed and not emitting.is_own(row):
                if len(found.news) < _NEWS_LIMIT:
                    found.news.append(row)
                else:
                    found.more += 1
        return upto
    finally:
        os.close(fd)


def _handed(record: Record, fd: int) -> int:
    handed = record.get("handed")
    # A file shorter than that is another one: all of it is new.
    return handed if type(handed) is int and handed <= os.fstat(fd).st_size else 0


def end(ctx: Context, run: str | None) -> str:
    """Mark a run as over; its events and links stay. Returns its id."""
    record = named(ctx, run)
    refuse_live(record, "ended")
    if not record.get("ended"):
        emitting.own_event(ctx, str(record["run"]), "loop.terminate", reason="ended by hand")
        record.update(ended=sessionfile.now(), outcome=record.get("outcome") or "ended")
        runs.save(ctx.layout, record)
    return str(record["run"])


def describe(ctx: Context, run: str, current: str | None) -> dict[str, Any]:
    """A run as ``run list --json`` shows it."""
    record = runs.read(ctx.layout, run)
    tasks = [task for task in record["tasks"] if isinstance(task, dict)]
    done = sum(1 for task in tasks if task.get("outcome") in ("committed", "no-op"))
    return {
        "id": run,
        "state": state_of(record),
        "current": run == current,
        "plan": record.get("plan"),
        "agent": record.get("agent"),
        "worktree": record.get("worktree"),
        "started": record.get("started"),
        "ended": record.get("ended"),
        "outcome": record.get("outcome"),
        "tasks": {"done": done, "total": len(tasks)},
        "sessions": [task["session"] for task in tasks if task.get("session")],
        "events": event_log.name_of_run(run),
    }


def listing(ctx: Context) -> list[dict[str, Any]]:
    """Every run of the repository, the oldest first."""
    current, _ = runs.current(ctx.layout)
    return [describe(ctx, run, current) for run in runs.all_ids(ctx.layout)]


def keep_count(ctx: Context) -> int:
    """How many finished runs ``gc`` leaves: ``ralph.gcRuns``."""
    value = ctx.config.get("ralph.gcruns") or str(_KEEP)
    if not value.isdigit():
        raise Fatal(f"bad value '{value}' for 'ralph.gcRuns'")
    return int(value)


def expired(ctx: Context) -> list[str]:
    """The files of finished runs beyond those to keep, the oldest first. For ``gc`` only.

    A run that is live or open stays, and so does one that left something pending.
    """
    over = [run for run in runs.all_ids(ctx.layout) if _is_over(ctx, run)]
    doomed = over[: max(0, len(over) - keep_count(ctx))]
    return [path for run in doomed for path in runs.files_of(ctx.layout, run) if os.path.lexists(path)]


def _is_over(ctx: Context, run: str) -> bool:
    record = runs.read(ctx.layout, run)
    if not record.get("ended") or is_live(record):
        return False
    sessions = [task["session"] for task in record["tasks"] if isinstance(task, dict) and task.get("session")]
    return not any(pending_paths.counted(pending_paths.of(ctx, session)) for session in sessions)


def write_summary(layout: Layout, run: str, text: str) -> None:
    """Keep the Markdown summary beside the run's record."""
    files.write_whole(layout.run_summary(run), text.encode("utf-8", "replace"))
