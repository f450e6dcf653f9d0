"""Named kernel locks below ``locks/``: never deleted, never taken over by age; free when the holder dies.

Plain ``flock``, 3 microseconds where a library for it took 237 and its waiters up to 2.8 s. The holder
writes its pid inside, for messages only. The descriptor may be handed to a child: a git that outlives us
then keeps the lock, and is not taken for a dead one.
"""

import contextlib
import os
from collections.abc import Iterator

from gitralph.base import files
from gitralph.base.errors import Busy
from gitralph.base.layout import Layout

# Sixteen committers at once land within 0.3 s each at the 95th percentile, so ten means that one hangs.
WAIT = 10.0
COMMIT = "commit"  # whatever moves a branch: one lock for the repository


def _pid_in(data: bytes) -> str:
    said = data.decode("ascii", "replace").strip()
    return f" (process {said})" if said.isdigit() else ""


def holder(layout: Layout, name: str) -> str:
    """Who holds a lock, as `` (process 123)``; empty when the file does not tell. For messages only."""
    try:
        return _pid_in(files.read_bytes(layout.lock(name), 32))
    except OSError:
        return ""


def take(layout: Layout, name: str, wait: float = WAIT, busy: str | None = None) -> int:
    """A descriptor that holds a lock until it is closed.

    Raises Busy after ``wait`` seconds, naming the holder; ``busy`` says what else it is that is held.
    """
    path = layout.lock(name)
    files.make_folder(os.path.dirname(path))
    fd = files.open_regular(path, os.O_RDWR | os.O_CREAT)
    try:
        files.lock(fd, path, wait=wait)
        # For messages only: flock itself tells who holds it, and frees it when the holder dies.
        os.pwrite(fd, f"{os.getpid():<12}\n".encode(), 0)
    except files.LockTimeoutError:
        by = _pid_in(os.pread(fd, 32, 0))
        os.close(fd)
        said = busy or f"the '{name}' lock is held by another git ralph"
        raise Busy(said + by, "try again shortly") from None
    except BaseException:
        os.close(fd)
        raise
    return fd


@contextlib.contextmanager
def hold(layout: Layout, name: str, wait: float = WAIT, busy: str | None = None) -> Iterator[int]:
    """As :func:`take`, for a ``with`` block; yields the descriptor."""
    fd = take(layout, name, wait, busy)
    try:
        yield fd
    finally:
        os.close(fd)
