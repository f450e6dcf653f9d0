"""Who works for a loop: threads that do one job each, and the one who waits for them.

The waiting is on a pipe, never on a lock: a signal handler that raised inside a lock left 11 of 80 loops
hanging, and could release one that was not held. Here a handler writes a byte, and whoever waits looks up.
"""

import contextlib
import os
import select
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from gitralph.tasks.loop.model import Job


@dataclass(frozen=True)
class Returned:
    """A job that came back, with what it raised."""

    job: Job
    error: BaseException | None


class Crew:
    """The threads of one loop. :meth:`ask_to_stop` is for signal handlers, which may call it repeatedly."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        # A handler must never wait, least of all for a pipe that its own thread is to empty.
        os.set_blocking(self._write, False)
        self._done: deque[Returned] = deque()
        self.asked = 0

    def ask_to_stop(self) -> None:
        """Make the loop stop as soon as it looks; the second time it does not wait for anybody."""
        self.asked += 1
        self._wake()

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # full: whoever waits will look anyway
            os.write(self._write, b".")

    def start(self, job: Job, work: Callable[[], None]) -> None:
        """Do a job in a thread of its own; it dies with the process, since a thread cannot be stopped."""

        def run() -> None:
            error: BaseException | None = None
            try:
                work()
            except BaseException as caught:
                error = caught
            # Before the byte: whoever is woken finds it. A deque's append is atomic, so no lock is taken.
            self._done.append(Returned(job, error))
            self._wake()

        threading.Thread(target=run, daemon=True).start()

    def wait(self, seconds: float) -> list[Returned]:
        """The jobs that came back, at once where some did; none after so long, or when asked to stop."""
        if not self._done and select.select([self._read], [], [], seconds)[0]:
            os.read(self._read, 4096)
        found = []
        while self._done:
            found.append(self._done.popleft())
        return found
