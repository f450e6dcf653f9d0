"""The runs: started and ended by hand, listed, and what a person reads and sees of one.

``git ralph run start|resume|list|end|logs``, and the live screen.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from gitralph.ask import event_reader as emitting
from gitralph.base import files, gitdir, process
from gitralph.base.errors import Fatal, Refused
from gitralph.base.layout import Layout, StateError, for_place
from gitralph.base.quote import shown
from gitralph.decide import pending_paths
from gitralph.git.context import Context
from gitralph.hook import event_log, sessionfile
from gitralph.records import events, manifests
from gitralph.records import run_record as runs
from gitralph.records.events import Emitted
from gitralph.records.run_record import Record
from gitralph.tasks.loop.ledger import AGENT, Job

ENDS = frozenset(["loop.terminate"])
# News go into a terminal or a prompt; of more than this only the number is told.
_NEWS_LIMIT = 200
# gc leaves so many finished runs; a record is a few KB, its output may be 32 MiB for each task.
_KEEP = 50


@dataclass
class Resumed:
    """A run that goes on: its record, and the events that nobody was given yet."""

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
    """True while the process of a loop exists."""
    return not record.get("ended") and process.is_alive(record.get("process")) is True


def state_of(record: Record) -> str:
    """``live``, ``interrupted``, ``ended``, or ``open`` for a run that no loop drives."""
    if record.get("ended"):
        return "ended"
    if record.get("process") is None:
        return "open"
    return "live" if is_live(record) else "interrupted"


def named(ctx: Context, run: str | None) -> Record:
    """The given run, or the one current here. Raises Fatal when there is none."""
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
    """Continue a run with the same id, file and marker. Raises Fatal when there is nothing to resume."""
    record = named(ctx, run)
    refuse_live(record, "resumed")
    return reopen(ctx, record)


def reopen(ctx: Context, record: Record) -> Resumed:
    """Mark a run as current and open, and return the events since it was left."""
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
    """Fill in the events after the last end and after those already given; returns the present end."""
    fd = events.open_events(layout.events(event_log.name_of_run(found.run)))
    if fd is None:
        return 0
    try:
        handed, upto = _handed(found.record, fd), 0
        for row in events.scan(fd):
            upto = row.end
            if not isinstance(row, Emitted):
                continue
            # An agent starts with the events after the last end, also where the record of the run was lost.
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
    # A shorter file is another file, and everything in it is new.
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
    tasks = record["tasks"]
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
    sessions = [task["session"] for task in record["tasks"] if task.get("session")]
    return not any(pending_paths.counted(pending_paths.of(ctx, session)) for session in sessions)


# --- what agents and checks print, below ``runs/<run>/``: one file a task, told apart by headings ---
#
# Bounded: beyond OUTPUT_LIMIT a file is put aside and a new one begun, and only the last two are kept.


# In bytes. A build that prints for hours must not fill the disk, and people read the end.
OUTPUT_LIMIT = 16 << 20
# In seconds, between two looks of --follow: soon enough for reading along, and cheap.
_PAUSE = 0.3
_ASIDE = ".1"


def output_path(layout: Layout, run: str, session: str) -> str:
    """Where the output of a task is kept."""
    return f"{layout.run_folder(run)}/{layout.stem(session)}.log"


class Output:
    """The output of one task, appended to as it comes."""

    def __init__(self, layout: Layout, run: str, session: str) -> None:
        self.path = output_path(layout, run, session)
        self._lock = threading.Lock()

    def heading(self, text: str) -> None:
        """Write a heading for what comes next."""
        self(f"=== {sessionfile.now()} {text}\n".encode("utf-8", "replace"))

    def __call__(self, chunk: bytes) -> None:
        """Append some output. A full disk costs the output, never the task."""
        with self._lock:
            try:
                files.make_folder(os.path.dirname(self.path))
                fd = files.open_regular(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
                try:
                    os.write(fd, chunk)
                    full = os.fstat(fd).st_size > OUTPUT_LIMIT
                finally:
                    os.close(fd)
                if full:
                    os.replace(self.path, self.path + _ASIDE)
            except OSError:
                pass


def sessions_of(record: Record, task: str | None) -> list[tuple[str, str]]:
    """Title and session of each task of a run, or of one by number or text. Raises Fatal for another."""
    rows = [one for one in record["tasks"] if "session" in one]
    if task is not None:
        rows = [one for one in rows if task in (str(one.get("number")), one.get("text"), one["session"])]
        if not rows:
            raise Fatal(f"run '{record['run']}' has no task '{task}'", "git ralph run logs")
    return [
        (f"Task {one.get('number')}/{one.get('total')}: {one.get('text')}", one["session"]) for one in rows
    ]


def read_output(layout: Layout, run: str, session: str) -> Iterator[bytes]:
    """All that is kept of a task."""
    path = output_path(layout, run, session)
    for name in (path + _ASIDE, path):
        try:
            yield files.read_bytes(name, 4 * OUTPUT_LIMIT)
        except FileNotFoundError:
            continue


def follow_output(
    layout: Layout, run: str, tasks: Callable[[], list[tuple[str, str]]], over: Callable[[], bool]
) -> Iterator[tuple[str, bytes]]:
    """Output as it comes, with its task's title, until the run is over and everything is read."""
    places: dict[str, tuple[int, int]] = {}
    while True:
        ends = over()
        for title, session in tasks():
            path = output_path(layout, run, session)
            yield from ((title, chunk) for chunk in _new_output(path, places))
        if ends:
            return
        time.sleep(_PAUSE)


def _new_output(path: str, places: dict[str, tuple[int, int]]) -> Iterator[bytes]:
    """What was appended since the last look; a file that was put aside is read to its end first."""
    inode, at = places.get(path, (0, 0))
    for name in (path + _ASIDE, path):
        try:
            fd = files.open_regular(name, os.O_RDONLY)
        except OSError:
            continue
        try:
            now = os.fstat(fd)
            if name != path and now.st_ino != inode:
                continue
            # Another inode under the same name: the old file was put aside, and this one begins at 0.
            if now.st_ino != inode:
                at = 0
            chunk = os.pread(fd, OUTPUT_LIMIT * 2, at)
            inode, at = now.st_ino, at + len(chunk)
        finally:
            os.close(fd)
        if chunk:
            yield chunk
    places[path] = (inode, at)


# --- what is to be seen of a loop at work; reads only ---


# In events: a look must stay cheap with a long file, so a session that was silent for longer shows none.
_TAIL = 200


@dataclass
class View:
    """What people see while the loop works. Another thread reads it, so it is only replaced whole."""

    run: str | None = None
    jobs: list[Job] = field(default_factory=list)
    begun: dict[str, float] = field(default_factory=dict)

    def elapsed(self, job: Job) -> float:
        """Seconds that the job has taken so far."""
        since = self.begun.get(job.session)
        return job.seconds + (time.monotonic() - since if since is not None else 0.0)


@dataclass(frozen=True)
class Glance:
    """One running task at this moment."""

    name: str
    text: str
    step: str
    seconds: float
    files: int
    last_file: str
    last_event: str


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


def look(layout: Layout, view: View) -> list[Glance]:
    """The running tasks of the moment."""
    return [_glance(layout, view, job) for job in view.jobs if job.session in view.begun]


def _glance(layout: Layout, view: View, job: Job) -> Glance:
    count, last = _touched(layout, job)
    return Glance(
        name=job.name,
        text=job.text,
        step=f"{job.step} {job.iteration}" if job.step == AGENT else job.step,
        seconds=view.elapsed(job),
        files=count,
        last_file=last,
        last_event=_last_event(layout, view.run, job.session),
    )
