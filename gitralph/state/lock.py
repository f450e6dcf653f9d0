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


def holder(layout: Layout, name: str) -> str:
    """Who holds a lock, as `` (process 123)``; empty when the file does not tell. For messages only."""
    return _holder(layout.lock(name))


@contextlib.contextmanager
def hold(layout: Layout, name: str, wait: float = WAIT) -> Iterator[None]:
    """Hold a lock for a ``with`` block. Raises Busy after ``wait`` seconds, naming the holder."""
    from filelock import Timeout, UnixFileLock

    path = layout.lock(name)
    files.make_folder(os.path.dirname(path))
    os.close(files.open_regular(path, os.O_RDWR | os.O_CREAT))
    lock = UnixFileLock(path, timeout=wait, mode=0o600, poll_interval=_POLL, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise Busy(
            f"the '{name}' lock is held by another git ralph{_holder(path)}", "try again shortly"
        ) from None
    try:
        _sign(path)
        yield
    finally:
        lock.release()


def _sign(path: str) -> None:
    fd = files.open_regular(path, os.O_WRONLY)
    try:
        os.pwrite(fd, f"{os.getpid():<12}\n".encode(), 0)
    finally:
        os.close(fd)
