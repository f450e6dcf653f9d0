"""Named kernel locks below ``locks/``: never deleted, never taken over by age; free when the holder dies.

Plain ``flock``, 3 microseconds where a library for it took 237 and its waiters up to 2.8 s. The holder
writes its pid inside, for messages only. The descriptor may be handed to a child: a git that outlives us
then keeps the lock, and is not taken for a dead one.

Who holds several takes them in this order, so that no two wait for each other; each may be left out::

    PLAN           loop.start.run, while the loop lasts; never waited for
    BEAD           worktree.merge.merge_bead
    GC             gc.put_away_by_portions; never waited for
    COMMIT         commit.commit.commit
    index.lock     commit.land.land
    HEAD.lock      git.refs.swap; then the lock of the branch
    a journal      commit.land.write_consumption; several by their names, as session.assign.assign
    its companions hook.record.record_change: manifest and texts; commit.land_files.land: the same

A journal is the last that is waited for, so a hook, which takes no other, waits for an append and never for a
commit. Apart from these, with nothing but a file's own lock below: ``FLEET``, ``TICK``, ``RUNS``, ``CURSOR``.
The slots of worktrees of ours are taken by whoever finds one free, and never waited for.
"""

import os

from gitralph.base import files
from gitralph.base.errors import Busy
from gitralph.base.layout import Layout

# Sixteen committers at once land within 0.3 s each at the 95th percentile, so ten means that one hangs.
WAIT = 10.0
# So often a waiter sees another holder before it gives up after all: two minutes.
_HANDS = 12
GC = "gc"  # held by a gc in the background, so that there is one; its time says when there was one
COMMIT = "commit"  # whatever moves a branch: one lock for the repository
RUNS = "runs"  # the record of a run of the loop is read and written whole
FLEET = "fleet"  # one at a time talks to the remote: what is pushed rests on what was looked at
# Of these there is one a thing; what is named stands behind the word.
BEAD, TICK, PLAN, CURSOR = "bead-", "tick-", "plan-", "cursor-"


def slot(kind: str, name: str) -> str:
    """The lock of one worktree of ours, by what it is for: ``scratch-1``, ``prove-0``."""
    return f"{kind}-{name}"


def _pid_in(data: bytes) -> str:
    said = data.decode("ascii", "replace").strip()
    return f" (process {said})" if said.isdigit() else ""


def holder(layout: Layout, name: str) -> str:
    """Who holds a lock, as `` (process 123)``; empty when the file does not tell. For messages only."""
    try:
        return _pid_in(files.read_bytes(layout.lock(name), 32))
    except OSError:
        return ""


def _wait_for(fd: int, path: str, wait: float) -> None:
    """Lock it; gives up when one holder keeps it for ``wait`` seconds, not while it goes from hand to hand.

    Twenty committers at once on a slow disk: the last of them waits for nineteen, and none of those hangs.
    """
    for _ in range(_HANDS):
        before = os.pread(fd, 32, 0)
        try:
            files.lock(fd, path, wait=wait)
            return
        except files.LockTimeoutError:
            if wait <= 0 or os.pread(fd, 32, 0) == before:
                raise
    files.lock(fd, path, wait=0)


def take(layout: Layout, name: str, wait: float = WAIT, busy: str | None = None) -> int:
    """A descriptor that holds a lock until it is closed.

    Raises Busy when one holder kept it for ``wait`` seconds, naming it; ``busy`` says what else is held.
    """
    path = layout.lock(name)
    files.make_folder(os.path.dirname(path))
    # Opened for writing, never truncated: until the lock is ours the pid inside is somebody else's.
    fd = files.open_regular(path, os.O_RDWR | os.O_CREAT)
    try:
        _wait_for(fd, path, wait)
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


class hold:  # noqa: N801  reads as a verb: with locks.hold(...)
    """As :func:`take`, for a ``with`` block, which gets the descriptor."""

    def __init__(self, layout: Layout, name: str, wait: float = WAIT, busy: str | None = None) -> None:
        self._wanted = layout, name, wait, busy

    def __enter__(self) -> int:
        self._fd = take(*self._wanted)
        return self._fd

    def __exit__(self, *_error: object) -> None:
        os.close(self._fd)
