"""What agents and checks print, kept below ``runs/<run>/``: one file a task, told apart by headings.

Bounded: beyond :data:`LIMIT` a file is put aside and a new one begun, and only the last two are kept.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator

from gitralph.base import files
from gitralph.base.errors import Fatal
from gitralph.base.layout import Layout
from gitralph.hook import sessionfile
from gitralph.records.run import Record

# A build that prints for hours must not fill the disk; what a person reads is at the end.
LIMIT = 16 << 20
# Between looks of --follow: soon enough for reading along, cheap enough to leave running.
_PAUSE = 0.3
_ASIDE = ".1"


def path_of(layout: Layout, run: str, session: str) -> str:
    """Where the output of a task is kept."""
    return f"{layout.run_folder(run)}/{layout.stem(session)}.log"


class Output:
    """The output of one task, appended to as it comes."""

    def __init__(self, layout: Layout, run: str, session: str) -> None:
        self.path = path_of(layout, run, session)
        self._lock = threading.Lock()

    def heading(self, text: str) -> None:
        """Say what comes next."""
        self(f"=== {sessionfile.now()} {text}\n".encode("utf-8", "replace"))

    def __call__(self, chunk: bytes) -> None:
        """Take some output. A full disk costs the output, never the task."""
        with self._lock:
            try:
                files.make_folder(os.path.dirname(self.path))
                fd = files.open_regular(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
                try:
                    os.write(fd, chunk)
                    full = os.fstat(fd).st_size > LIMIT
                finally:
                    os.close(fd)
                if full:
                    os.replace(self.path, self.path + _ASIDE)
            except OSError:
                pass


def sessions_of(record: Record, task: str | None) -> list[tuple[str, str]]:
    """Title and session of each task of a run, or of one by its number or text. Raises Fatal for another."""
    rows = [one for one in record["tasks"] if isinstance(one, dict) and isinstance(one.get("session"), str)]
    if task is not None:
        rows = [one for one in rows if task in (str(one.get("number")), one.get("text"), one["session"])]
        if not rows:
            raise Fatal(f"run '{record['run']}' has no task '{task}'", "git ralph run logs")
    return [
        (f"Task {one.get('number')}/{one.get('total')}: {one.get('text')}", one["session"]) for one in rows
    ]


def read(layout: Layout, run: str, session: str) -> Iterator[bytes]:
    """All that is kept of a task."""
    path = path_of(layout, run, session)
    for name in (path + _ASIDE, path):
        try:
            yield files.read_bytes(name, 4 * LIMIT)
        except FileNotFoundError:
            continue


def follow(
    layout: Layout, run: str, tasks: Callable[[], list[tuple[str, str]]], over: Callable[[], bool]
) -> Iterator[tuple[str, bytes]]:
    """Output as it comes, with the title of its task, until the run is over and all is read."""
    places: dict[str, tuple[int, int]] = {}
    while True:
        ends = over()
        for title, session in tasks():
            path = path_of(layout, run, session)
            yield from ((title, chunk) for chunk in _new(path, places))
        if ends:
            return
        time.sleep(_PAUSE)


def _new(path: str, places: dict[str, tuple[int, int]]) -> Iterator[bytes]:
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
            # Another inode under the same name: it was put aside meanwhile, and this one begins at 0.
            if now.st_ino != inode:
                at = 0
            chunk = os.pread(fd, LIMIT * 2, at)
            inode, at = now.st_ino, at + len(chunk)
        finally:
            os.close(fd)
        if chunk:
            yield chunk
    places[path] = (inode, at)
