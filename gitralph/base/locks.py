"""Named locks below ``locks/``: each is a ``filelock.FileLock``, so any program can take part.

Whoever runs ``with FileLock(".git/ralph-sessions/locks/commit.lock"):`` keeps commits waiting. A lock's file
is never deleted, and never taken over because of its age: the kernel frees the lock when its holder dies. A
holder of ours writes its pid into the file, for messages only.

Whoever holds several locks takes them in this order, so that no two wait for each other. Each may be left
out::

    PLAN           tasks.loop.start.run, while the loop lasts; never waited for
    BEAD           tasks.worktree.bead_merge.merge_bead
    GC             tasks.gc.put_away_by_portions; never waited for
    COMMIT         commit.commit.commit
    HEAD.lock      git.refs.swap; then the lock of the branch
    index.lock     commit.land.land; never waited for under these
    a journal      commit.land.write_log; several by their names, as takeback.assign.assign
    its companions hook.record.record_change: manifest and texts; takeback.land_files.land: the same

A journal is the last lock that anybody waits for. A hook takes no other, so it waits for an append and never
for a commit. The locks ``FLEET``, ``TICK``, ``RUNS`` and ``CURSOR`` stand apart: under them only a file's own
lock is taken. Slots of our own worktrees are taken where one is free, and never waited for.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator

from gitralph.base import files, process
from gitralph.base.errors import Busy, Fatal
from gitralph.base.layout import Layout

# In seconds. Of sixteen committers at once each lands within 0.3 s at the 95th percentile, so a holder of ten
# seconds hangs.
WAIT = 10.0
# A waiter that sees so many holders, one after the other, gives up: two minutes.
_HANDS = 12
# In seconds: how often the first in line tries the lock, and how often the others look whether it changes
# hands.
_POLL, _GLANCE = 0.002, 0.05
GC = "gc"  # held by a gc in the background, so that only one runs; its time says when one ran last
COMMIT = "commit"  # whatever moves a branch: one lock for the repository
RUNS = "runs"  # the record of a run of the loop is read and written whole
FLEET = "fleet"  # one process at a time talks to the remote: a push rests on what was fetched before
# There is one such lock for each thing; its name stands behind the prefix.
BEAD, TICK, PLAN, CURSOR = "bead-", "tick-", "plan-", "cursor-"


def slot(kind: str, name: str) -> str:
    """The lock of one worktree of ours, by what it is for: ``scratch-1``, ``prove-0``."""
    return f"{kind}-{name}"


@contextlib.contextmanager
def hold(layout: Layout, name: str, wait: float | None = None, busy: str | None = None) -> Iterator[int]:
    """Hold a lock for a ``with`` block, which gets the lock's descriptor.

    A git that inherits the descriptor keeps the lock if we are killed, so it is not taken for a dead one.
    Raises Busy, naming the holder, when one holder kept the lock for ``wait`` seconds (by default WAIT);
    ``busy`` says what else is held. Raises Fatal where the file cannot be locked.
    """
    # Imported here: it takes 20 ms beside click and dulwich, and readers take no lock.
    from filelock import FileLock

    path, fds = layout.lock(name), list[int]()

    def sign(fd: int) -> None:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        os.pwrite(fd, f"{os.getpid():<12}\n".encode(), 0)
        fds.append(fd)

    lock = FileLock(
        path,
        mode=0o600,
        thread_local=False,  # another thread than the taker may give a worktree of ours back
        fallback_to_soft=False,  # a soft lock stays when its holder is killed
        preserve_lock_file=True,
        on_acquired=sign,
    )
    wait = WAIT if wait is None else wait
    try:
        files.make_folder(os.path.dirname(path))
        if wait > 0:
            is_over = _patience(path, wait)
            with _turn(layout.turn(name), is_over):
                # Without a timeout FileLock calls a second hold in one thread a deadlock. Here that is Busy.
                lock.acquire(timeout=_HANDS * wait, poll_interval=_POLL, cancel_check=is_over)
        else:
            lock.acquire(blocking=False)
    except TimeoutError:  # filelock's Timeout is a TimeoutError
        raise _busy(path, name, busy) from None
    except OSError as error:
        raise Fatal(f"the '{name}' lock cannot be taken: {_reason(error, path)}") from error
    try:
        yield fds[0]
    finally:
        lock.release()


def _patience(path: str, wait: float) -> Callable[[], bool]:
    """Make a check that turns true when one holder keeps a lock for ``wait`` seconds, or too many had it.

    With twenty committers at once on a slow disk the last one waits for nineteen, none of which hangs.
    """
    last = time.monotonic() + _HANDS * wait
    seen, until = _taken_at(path), time.monotonic() + wait

    def is_over() -> bool:
        nonlocal seen, until
        now = time.monotonic()
        if (taken := _taken_at(path)) != seen:
            seen, until = taken, now + wait
        return now >= min(until, last)

    return is_over


def _taken_at(path: str) -> int:
    """When a holder of ours last signed a lock's file; this tells nothing of other programs."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


@contextlib.contextmanager
def _turn(path: str, is_over: Callable[[], bool]) -> Iterator[None]:
    """Stand in line for a lock until the block ends. Raises TimeoutError.

    FileLock tries again and again, and whoever tries at the right moment goes first. So the line is a
    blocking ``flock`` on a second file; the kernel serves its waiters in the order in which they came.
    """
    with contextlib.ExitStack() as stack:
        fd = files.open_regular(path, os.O_RDWR | os.O_CREAT)
        stack.callback(os.close, fd)
        if not files.try_lock(fd):
            ours, done = threading.Event(), threading.Event()

            def stand() -> None:
                # the line is only for the order; the lock itself shows any trouble
                with contextlib.suppress(OSError):
                    fcntl.flock(fd, fcntl.LOCK_EX)
                ours.set()
                done.wait()
                os.close(fd)

            # A thread waits, since flock has no time limit. The descriptor is its own, since the lock may
            # come too late.
            stack.pop_all()
            stack.callback(done.set)
            threading.Thread(target=stand, daemon=True).start()
            while not ours.wait(_GLANCE):
                if is_over():
                    raise TimeoutError
        yield


def _reason(error: OSError, path: str) -> str:
    """Why a lock's file cannot be locked."""
    named = os.fsdecode(error.filename or path)
    if error.errno in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
        return f"the file system of '{named}' has no kernel locks ({error.strerror})"
    if error.errno == errno.ELOOP:
        return f"'{named}' is a link"
    return f"'{named}': {error.strerror}"


def _busy(path: str, name: str, busy: str | None) -> Busy:
    """The error for a waiter that waited in vain."""
    pid, ours = _holder(path)
    who = "another git ralph" if ours else "another program"
    said = busy if busy is not None and ours else f"the '{name}' lock is held by {who}"
    return Busy(said + _shown(pid), "try again shortly")


def holder(layout: Layout, name: str) -> str:
    """The holder of a lock, as `` (process 123)``; empty where nobody can tell. For messages only."""
    return _shown(_holder(layout.lock(name))[0])


def _shown(pid: int | None) -> str:
    if pid is None:
        return ""
    return f" (process {pid}, which is stopped)" if process.is_stopped(pid) else f" (process {pid})"


def _holder(path: str) -> tuple[int | None, bool]:
    """The process that holds a lock, and whether it signed the file as we do."""
    try:
        said = files.read_bytes(path, 32).decode("ascii", "replace").strip()
    except OSError:
        said = ""
    signed = int(said) if said.isdecimal() else None
    pid = holder_by_kernel(path)
    if pid is None:  # no Linux, or a process of another container
        pid = signed if signed is not None and process.exists(signed) else None
    return pid, pid is not None and pid == signed


def holder_by_kernel(path: str) -> int | None:
    """Who holds ``flock`` on a file, as Linux tells in /proc/locks (proc_locks(5))."""
    try:
        found = os.stat(path)
        with open("/proc/locks", encoding="ascii") as file:
            rows = [row.split() for row in file]
    except OSError:
        return None
    wanted = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    # A waiter's row has an arrow in place of the kind.
    return next((int(row[4]) for row in rows if row[1] == "FLOCK" and row[5] == wanted), None)
