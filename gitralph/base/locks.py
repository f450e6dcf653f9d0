"""Named locks below ``locks/``: a ``filelock.FileLock`` each, so that any program can take part.

Whoever runs ``with FileLock(".git/ralph-sessions/locks/commit.lock"):`` keeps commits waiting. A lock's file
is never deleted and never taken over by age: the kernel frees the lock when its holder dies. A holder of
ours writes its pid inside, for messages only.

Who holds several takes them in this order, so that no two wait for each other; each may be left out::

    PLAN           tasks.loop.start.run, while the loop lasts; never waited for
    BEAD           tasks.worktree.bead_merge.merge_bead
    GC             tasks.gc.put_away_by_portions; never waited for
    COMMIT         commit.commit.commit
    HEAD.lock      git.refs.swap; then the lock of the branch
    index.lock     commit.land.land; never waited for under these
    a journal      commit.land.write_log; several by their names, as takeback.assign.assign
    its companions hook.record.record_change: manifest and texts; takeback.land_files.land: the same

A journal is the last that is waited for, so a hook, which takes no other, waits for an append and never for a
commit. Apart from these, with nothing but a file's own lock below: ``FLEET``, ``TICK``, ``RUNS``, ``CURSOR``.
The slots of worktrees of ours are taken by whoever finds one free, and never waited for.
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

# Sixteen committers at once land within 0.3 s each at the 95th percentile, so ten means that one hangs.
WAIT = 10.0
# So often a waiter sees another holder before it gives up after all: two minutes.
_HANDS = 12
# How often the first in the line asks for the lock, and the others whether it goes from hand to hand.
_POLL, _GLANCE = 0.002, 0.05
GC = "gc"  # held by a gc in the background, so that there is one; its time says when there was one
COMMIT = "commit"  # whatever moves a branch: one lock for the repository
RUNS = "runs"  # the record of a run of the loop is read and written whole
FLEET = "fleet"  # one at a time talks to the remote: what is pushed rests on what was looked at
# Of these there is one a thing; what is named stands behind the word.
BEAD, TICK, PLAN, CURSOR = "bead-", "tick-", "plan-", "cursor-"


def slot(kind: str, name: str) -> str:
    """The lock of one worktree of ours, by what it is for: ``scratch-1``, ``prove-0``."""
    return f"{kind}-{name}"


@contextlib.contextmanager
def hold(layout: Layout, name: str, wait: float | None = None, busy: str | None = None) -> Iterator[int]:
    """Hold a lock for a ``with`` block, which gets its descriptor.

    A git that inherits the descriptor keeps the lock if we are killed, and so is not taken for a dead one.

    Raises Busy, naming the holder, when one kept it for ``wait`` seconds, WAIT if none are given; ``busy``
    says what else is held. Raises Fatal where the file cannot be locked.
    """
    # Here and not above: importing it takes 20 ms beside click and dulwich, and who reads takes no lock.
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
        thread_local=False,  # a worktree of ours may be given back by another thread than took it
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
                # Without a timeout FileLock calls a second hold in one thread a deadlock, which is Busy here.
                lock.acquire(timeout=_HANDS * wait, poll_interval=_POLL, cancel_check=is_over)
        else:
            lock.acquire(blocking=False)
    except TimeoutError:  # filelock's Timeout is one
        raise _busy(path, name, busy) from None
    except OSError as error:
        raise Fatal(f"the '{name}' lock cannot be taken: {_reason(error, path)}") from error
    try:
        yield fds[0]
    finally:
        lock.release()


def _patience(path: str, wait: float) -> Callable[[], bool]:
    """A question that turns true when one holder keeps a lock for ``wait`` seconds, or too many had it.

    Twenty committers at once on a slow disk: the last of them waits for nineteen, and none of those hangs.
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
    """When a holder of ours last signed a lock's file; of other programs' turns it tells nothing."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


@contextlib.contextmanager
def _turn(path: str, is_over: Callable[[], bool]) -> Iterator[None]:
    """Stand in line for a lock until the block ends. Raises TimeoutError.

    FileLock asks again and again, and who asks at the right moment goes first. The line is a blocking
    ``flock`` on a second file, whose waiters the kernel lets go in the order in which they came.
    """
    with contextlib.ExitStack() as stack:
        fd = files.open_regular(path, os.O_RDWR | os.O_CREAT)
        stack.callback(os.close, fd)
        if not files.try_lock(fd):
            ours, done = threading.Event(), threading.Event()

            def stand() -> None:
                with contextlib.suppress(OSError):  # it is for the order only: the lock itself will tell
                    fcntl.flock(fd, fcntl.LOCK_EX)
                ours.set()
                done.wait()
                os.close(fd)

            # A thread, since flock knows no limit of time. The descriptor is its own: it may come too late.
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
    """What a waiter says who waited in vain."""
    pid, ours = _holder(path)
    who = "another git ralph" if ours else "another program"
    said = busy if busy is not None and ours else f"the '{name}' lock is held by {who}"
    return Busy(said + _shown(pid), "try again shortly")


def holder(layout: Layout, name: str) -> str:
    """Who holds a lock, as `` (process 123)``; empty where nobody can tell. For messages only."""
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
