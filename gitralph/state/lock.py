"""Named kernel locks below ``locks/``: never deleted, never taken over by age; free when the holder dies.

The holder writes its pid inside, for messages only.
"""

import contextlib
import os
from collections.abc import Iterator

from gitralph import files
from gitralph.errors import Busy
from gitralph.layout import Layout

WAIT = 10.0
_POLL = 0.01


def _holder(path: str) -> str:
    try:
        said = files.read_bytes(path, 32).decode("ascii", "replace").strip()
    except OSError:
        return ""
    return f" (process {said})" if said.isdigit() else ""


def _ready(layout: Layout, name: str) -> tuple[str, int]:
    path = layout.lock(name)
    files.make_folder(os.path.dirname(path))
    return path, files.open_regular(path, os.O_RDWR | os.O_CREAT)


def _sign(fd: int) -> None:
    os.pwrite(fd, f"{os.getpid():<12}\n".encode(), 0)


def _busy(name: str, path: str) -> Busy:
    return Busy(f"the '{name}' lock is held by another git ralph{_holder(path)}", "try again shortly")


def holder(layout: Layout, name: str) -> str:
    """Who holds a lock, as `` (process 123)``; empty when the file does not tell. For messages only."""
    return _holder(layout.lock(name))


@contextlib.contextmanager
def hold(layout: Layout, name: str, wait: float = WAIT) -> Iterator[None]:
    """Hold a lock for a ``with`` block. Raises Busy after ``wait`` seconds, naming the holder."""
    from filelock import Timeout, UnixFileLock

    path, fd = _ready(layout, name)
    lock = UnixFileLock(path, timeout=wait, mode=0o600, poll_interval=_POLL, fallback_to_soft=False)
    try:
        lock.acquire()
        _sign(fd)
        yield
    except Timeout:
        raise _busy(name, path) from None
    finally:
        lock.release()
        os.close(fd)


@contextlib.contextmanager
def hold_briefly(layout: Layout, name: str, wait: float = WAIT) -> Iterator[None]:
    """As :func:`hold`, the same kernel lock taken directly: for what every commit does.

    Importing the library costs such a process more than all else it does under the lock.
    """
    path, fd = _ready(layout, name)
    try:
        files.lock(fd, path, wait=wait)
        _sign(fd)
        yield
    except files.LockTimeoutError as error:
        if error.filename != path:
            raise
        raise _busy(name, path) from None
    finally:
        os.close(fd)
