"""Starts, watches and stops programs: agents, checks, proofs. The only place where that happens.

A child waits at a gate until its process is on record, so that a killed command leaves none that nobody
knows. It leads a process group of its own, which is what gets stopped, and what is left of which goes when
it ends. Nothing here waits on a lock or on a pipe that somebody else may keep open.
"""

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from subprocess import Popen
from typing import NamedTuple

from gitralph.base import files, process, runner

# The end of what a child printed, for messages and for finding the promise in it; all of it goes to the
# sink.
KEPT = 256 << 10
# How long a stop may go unnoticed; ten looks a second cost nothing beside any agent.
_POLL = 0.1
# An agent asked to stop may save its transcript; whoever asked waits ten seconds in all.
GRACE = 5.0
# What still lies in the pipe when the child is gone; a background process may write into it for ever.
_DRAIN = 1 << 20
# The child execs only after a line came: until its identity is on disk it has done nothing, and where we
# die first the pipe ends and it goes (125 as with env(1): not started). Its input is a file, since a pipe
# that nobody empties blocks whoever writes it.
_GATE = 'read -r go || exit 125; exec "$@" <"$0"'
# So many lines fit on a screen. The last ones count, since a failing command says why at the end.
_SHOWN = 20
Sink = Callable[[bytes], None]


class Ended(NamedTuple):
    """How a child ended: its exit code (negative: a signal), the last of what it printed, and whether it
    was stopped because its time was over."""

    code: int
    output: bytes
    late: bool = False


def last_lines(said: bytes) -> str:
    """The end of what a program printed, for a message."""
    return "\n".join(said.decode("utf-8", "replace").rstrip().split("\n")[-_SHOWN:])


class Children:
    """All children of one command that are running now; any thread may stop them all.

    ``tmp`` is the folder for what they read.
    """

    def __init__(self, tmp: str) -> None:
        self._tmp = tmp
        self.stopping = threading.Event()
        self._running: set[int] = set()

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        stdin: bytes = b"",
        started: Callable[[dict[str, object] | None], None] = lambda _: None,
        sink: Sink | None = None,
        seconds: float | None = None,
    ) -> Ended:
        """Run one program to its end; ``started`` gets its process identity before it may do anything.

        ``sink`` gets all that it prints; it is stopped after ``seconds``, and when all are.
        """
        with _file_of(self._tmp, stdin) as name:
            words = ["/bin/sh", "-c", _GATE, name, *argv]
            child = runner.start(
                words, cwd=cwd, env=env, stdin=subprocess.PIPE, stderr=subprocess.STDOUT, group=True
            )
            self._running.add(child.pid)
            try:
                assert child.stdin is not None
                with contextlib.suppress(BrokenPipeError), child.stdin:
                    started(process.identity(child.pid))
                    if not self.stopping.is_set():
                        child.stdin.write(b"go\n")
                watch = _Watch(child, sink, seconds, self.stopping)
                watch.follow()
            except BaseException:
                runner.send(child.pid, signal.SIGKILL)
                child.wait()
                raise
            finally:
                self._running.discard(child.pid)
                assert child.stdout is not None
                child.stdout.close()
        return Ended(child.returncode, bytes(watch.kept[-KEPT:]), watch.late)

    def stop_all(self) -> None:
        """Ask every child to end; those that do not are made to after :data:`GRACE` seconds."""
        self.stopping.set()

    def kill_all(self) -> None:
        """End every child at once: nobody will wait for it any more."""
        self.stopping.set()
        for pid in list(self._running):
            runner.send(pid, signal.SIGKILL)


class _Watch:
    """Follows one child to its end."""

    def __init__(
        self, child: "Popen[bytes]", sink: Sink | None, seconds: float | None, stopping: threading.Event
    ) -> None:
        assert child.stdout is not None
        self.child = child
        self.fd = child.stdout.fileno()
        self.sink = sink
        self.stopping = stopping
        self.kept = bytearray()
        self.late = False
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._asked: float | None = None
        self._open = True

    def follow(self) -> None:
        """Read until the child is gone; what it left in the background may keep the pipe open."""
        while not self._gone():
            self._stop_if_due()
            self._read(_POLL)
        # Not yet waited for, so the number still means this group: what is left of it goes with the child.
        runner.send(self.child.pid, signal.SIGTERM)
        left = _DRAIN
        while left > 0 and (count := self._read(0)):
            left -= count
        runner.send(self.child.pid, signal.SIGKILL)
        self.child.wait()

    def _gone(self) -> bool:
        """True when the child has ended; it stays a zombie until the group is dealt with."""
        if not hasattr(os, "waitid"):  # Python on macOS before 3.13
            return self.child.poll() is not None
        # WNOWAIT leaves the zombie: its number cannot be given to another program while the group is
        # signalled.
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.child.pid, how) is not None

    def _stop_if_due(self) -> None:
        now = time.monotonic()
        if self._asked is None:
            late = self._deadline is not None and now >= self._deadline
            if late or self.stopping.is_set():
                self.late, self._asked = late, now
                runner.send(self.child.pid, signal.SIGTERM)
        elif now >= self._asked + GRACE:
            runner.send(self.child.pid, signal.SIGKILL)

    def _read(self, wait: float) -> int:
        """Take what there is, waiting so long for it; how much it was."""
        if not self._open:
            time.sleep(wait)
            return 0
        if not select.select([self.fd], [], [], wait)[0]:
            return 0
        chunk = os.read(self.fd, 1 << 16)
        self._open = bool(chunk)
        self.kept += chunk
        # Cut only when twice as long, or every chunk would move the whole buffer.
        if len(self.kept) > 2 * KEPT:
            del self.kept[:-KEPT]
        if chunk and self.sink is not None:
            self.sink(chunk)
        return len(chunk)


@contextlib.contextmanager
def _file_of(folder: str, data: bytes) -> Iterator[str]:
    """The bytes in a private file, named so that what a killed command leaves is cleared away."""
    files.make_folder(folder)
    fd, name = tempfile.mkstemp(prefix=f"{os.getpid()}-input-", dir=folder)
    try:
        with open(fd, "wb") as file:
            file.write(data)
        yield name
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


def stop_left_over(kept: object) -> bool:
    """Stop the group of a child that a killed command left behind; True when there was one.

    Only when pid, start time and boot all agree: a number alone may be somebody else's by now.
    """
    if not isinstance(kept, dict) or process.is_alive(kept) is not True:
        return False
    pid = kept["pid"]
    assert isinstance(pid, int)
    # Both are sent to the group, which a child of ours leads: its own children are in it.
    for what in (signal.SIGTERM, signal.SIGKILL):
        runner.send(pid, what)
        deadline = time.monotonic() + GRACE
        while time.monotonic() < deadline and process.is_alive(kept) is True:
            time.sleep(0.05)
        if process.is_alive(kept) is not True:
            break
    return True
