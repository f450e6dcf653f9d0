"""Watches and stops the programs of a loop: the only place where that happens.

A child waits at a gate until its process is on record, so that a loop killed in between leaves none
that nobody knows. It leads a process group of its own, which is what gets stopped.
"""

import contextlib
import os
import select
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitralph.base import files, process
from gitralph.base import run as runner

if TYPE_CHECKING:
    from subprocess import Popen

KEPT = 256 << 10
_POLL = 0.2
_GRACE = 10.0
_GATE = 'read -r go || exit 125; exec "$@" <"$0"'


@dataclass(frozen=True)
class Ended:
    """How a child ended: its exit code (negative: a signal) and the last of what it printed."""

    code: int
    output: bytes

    def last_lines(self, count: int = 20) -> str:
        """The end of the output, for a message."""
        return "\n".join(self.output.decode("utf-8", "replace").rstrip().split("\n")[-count:])


class Children:
    """All children of one loop that are running now; any thread may stop them all."""

    def __init__(self, tmp: str) -> None:
        self._tmp = tmp
        self._running: dict[int, Popen[bytes]] = {}
        self._lock = threading.Lock()
        self.stopping = threading.Event()

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        stdin: bytes,
        started: Callable[[dict[str, object] | None], None],
    ) -> Ended:
        """Run one program to its end; ``started`` gets its process identity before it may do anything."""
        with _file_of(self._tmp, stdin) as name:
            child = self._spawn(["/bin/sh", "-c", _GATE, name, *argv], cwd, env)
            assert child.stdin is not None
            with contextlib.suppress(BrokenPipeError), child.stdin:
                started(process.identity(child.pid))
                if self.stopping.is_set():
                    runner.send(child.pid, signal.SIGTERM)
                else:
                    child.stdin.write(b"go\n")
            output = _collect(child)
        with self._lock:
            del self._running[child.pid]
        return Ended(child.returncode, output)

    def _spawn(self, words: list[str], cwd: str, env: Mapping[str, str]) -> "Popen[bytes]":
        with self._lock:
            child = runner.start(words, cwd=cwd, env=env, stdin=runner.PIPE, stderr=runner.STDOUT, group=True)
            self._running[child.pid] = child
        return child

    def stop_all(self, with_what: signal.Signals = signal.SIGTERM) -> None:
        """Ask every child to end; call it again with SIGKILL for those that do not."""
        self.stopping.set()
        with self._lock:
            running = [child.pid for child in self._running.values() if child.poll() is None]
        for pid in running:
            runner.send(pid, with_what)


@contextlib.contextmanager
def _file_of(folder: str, data: bytes) -> Iterator[str]:
    """The bytes in a private file, named so that what a killed loop leaves is cleared away."""
    files.make_folder(folder)
    fd, name = tempfile.mkstemp(prefix=f"{os.getpid()}-input-", dir=folder)
    try:
        with open(fd, "wb") as file:
            file.write(data)
        yield name
    finally:
        os.unlink(name)


def _collect(child: "Popen[bytes]") -> bytes:
    """Read until the child is gone; what it left in the background may keep the pipe open."""
    assert child.stdout is not None
    fd, kept = child.stdout.fileno(), bytearray()
    with child.stdout:
        while True:
            ready = bool(select.select([fd], [], [], _POLL)[0])
            chunk = os.read(fd, 1 << 16) if ready else b""
            kept += chunk
            if len(kept) > 2 * KEPT:
                del kept[:-KEPT]
            if ready and not chunk:
                child.wait()
                return bytes(kept[-KEPT:])
            if not ready and child.poll() is not None:
                return bytes(kept[-KEPT:])


def stop_left_over(kept: dict[str, object] | None) -> bool:
    """Stop the group of a child that a killed loop left behind; True when there was one.

    Only when pid, start time and boot all agree: a number alone may be somebody else's by now.
    """
    if not kept or process.is_alive(kept) is not True:
        return False
    pid = kept["pid"]
    assert isinstance(pid, int)
    for what in (signal.SIGTERM, signal.SIGKILL):
        runner.send(pid, what)
        deadline = time.monotonic() + _GRACE
        while time.monotonic() < deadline and process.is_alive(kept) is True:
            time.sleep(0.05)
        if process.is_alive(kept) is not True:
            break
    return True
