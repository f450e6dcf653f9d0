"""Opens, locks and appends to state files: no link is followed, modes are private, a record is one write.

Fast lane. An append holds ``flock`` on the file itself. Only ``gc`` may replace the file, so an append
compares the inode again once it has the lock.
"""

import errno
import fcntl
import os
import stat
import time

# In seconds. A hook holds the agent up meanwhile, and an append takes microseconds: a longer holder hangs.
WAIT = 2.0
SHARED, EXCLUSIVE = fcntl.LOCK_SH, fcntl.LOCK_EX
# NOFOLLOW: a link in the state folder could lead an append anywhere. NONBLOCK: opening a fifo of that name
# would wait for ever (POSIX open). NOCTTY: a terminal must not become ours.
_SAFE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class LockTimeoutError(OSError):
    """The lock was not to be had in time."""


def open_regular(path: str, flags: int) -> int:
    """Open a regular file of ours, creating it 0600 with O_CREAT; anything else is an OSError."""
    fd = os.open(path, flags | _SAFE, 0o600)
    mode = os.fstat(fd).st_mode
    if not stat.S_ISREG(mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file", path)
    # An older version, or a person under a loose umask, wrote it. It holds texts that may be private.
    if mode & 0o077:
        _make_private(fd, flags)
    return fd


def open_foreign(path: str) -> int:
    """Open another program's regular file for reading, its mode left as it is; else an OSError."""
    fd = os.open(path, os.O_RDONLY | _SAFE)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file", path)
    return fd


def _make_private(fd: int, flags: int) -> None:
    try:
        os.fchmod(fd, 0o600)
    except OSError:  # on a read-only file system, or with another owner, it can be read all the same
        if flags & (os.O_WRONLY | os.O_RDWR):
            os.close(fd)
            raise


def make_folder(path: str) -> None:
    """Create ``path`` 0700 with its parents; an existing link or file there is an OSError."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        parent = os.path.dirname(path)
        if parent and not os.path.isdir(parent):
            make_folder(parent)
        try:
            os.mkdir(path, 0o700)
            # mkdir obeys the umask, which may take away even our own rights.
            os.chmod(path, 0o700)
        except FileExistsError:
            pass
        mode = os.lstat(path).st_mode
    if not stat.S_ISDIR(mode):
        raise NotADirectoryError(errno.ENOTDIR, "not a folder", path)


def try_lock(fd: int, kind: int = EXCLUSIVE) -> bool:
    """Take ``flock`` if nobody has it; True when it is ours now."""
    try:
        # flock, not lockf: a lockf lock is lost when the process closes any descriptor of the file (POSIX
        # fcntl).
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def lock(fd: int, path: str, kind: int = EXCLUSIVE, wait: float = WAIT) -> None:
    """Take ``flock`` within ``wait`` seconds or raise LockTimeoutError."""
    if try_lock(fd, kind):
        return
    if not (_queue(fd, kind, wait) if wait > 0 else False):
        raise LockTimeoutError(errno.EAGAIN, "locked by somebody else", path)


def _queue(fd: int, kind: int, wait: float) -> bool:
    """Wait in the kernel's own queue, where the first to come is the first to get the lock; an alarm ends it.

    A process that only tries again now and then is overtaken by one that comes at the right moment. Of 16
    committers at once, 6 of 128 commits gave up so, and none with the queue.
    """
    import signal

    class Late(Exception):
        pass

    def ring(_number: int, _frame: object) -> None:
        raise Late

    try:
        if signal.getitimer(signal.ITIMER_REAL)[0] or signal.getsignal(signal.SIGALRM) is None:
            return _poll(fd, kind, wait)  # somebody else's alarm
        before = signal.signal(signal.SIGALRM, ring)
    except ValueError:  # only the main thread may set one
        return _poll(fd, kind, wait)
    try:
        signal.setitimer(signal.ITIMER_REAL, wait)
        try:
            fcntl.flock(fd, kind)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except Late:
        return False
    finally:
        signal.signal(signal.SIGALRM, before)
    return True


def _poll(fd: int, kind: int, wait: float) -> bool:
    deadline = time.monotonic() + wait
    pause = 0.0005
    while not try_lock(fd, kind):
        if time.monotonic() >= deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 2, 0.02)
    return True


def _still_there(fd: int, path: str) -> bool:
    try:
        named = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    ours = os.fstat(fd)
    return named.st_ino == ours.st_ino and named.st_dev == ours.st_dev


def open_locked(path: str, wait: float = WAIT) -> int:
    """Open for reading and appending, creating the file, with the lock held on the file of that name."""
    while True:
        fd = open_regular(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            lock(fd, path, wait=wait)
            if _still_there(fd, path):
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)  # gc replaced it while we waited


class Locked:
    """``with Locked(path) as fd``: :func:`open_locked`, closed with the block, which releases the lock."""

    def __init__(self, path: str, wait: float = WAIT) -> None:
        self.path = path
        self.wait = wait
        self.fd = -1

    def __enter__(self) -> int:
        self.fd = open_locked(self.path, self.wait)
        return self.fd

    def __exit__(self, *_error: object) -> None:
        os.close(self.fd)


def append(fd: int, record: bytes) -> None:
    """Write one newline-ended record at the end of a locked file, in one ``write``.

    After a torn tail the record starts on a fresh line. Raises OSError when the disk takes only part.
    """
    size = os.fstat(fd).st_size
    if size and os.pread(fd, 1, size - 1) != b"\n":
        record = b"\n" + record
    # One write to an O_APPEND file goes to one place. Of 80,000 lines by 16 processes none was torn; with two
    # writes for each line 11,523 were.
    if os.write(fd, record) != len(record):
        raise OSError(errno.ENOSPC, "short write")


def append_record(path: str, record: bytes, wait: float = WAIT) -> None:
    """Lock, append, close."""
    with Locked(path, wait) as fd:
        append(fd, record)


def names(folder: str, suffix: str = "") -> list[str]:
    """The names in a folder, sorted; empty where there is no folder."""
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(suffix))
    except (FileNotFoundError, NotADirectoryError):
        return []


def read_tail(path: str, limit: int, foreign: bool = False) -> tuple[bytes, int]:
    """The last ``limit`` bytes of such a file, and where they begin: the first line may be cut."""
    fd = open_foreign(path) if foreign else open_regular(path, os.O_RDONLY)
    try:
        start = max(os.fstat(fd).st_size - limit, 0)
        return os.pread(fd, limit, start), start
    finally:
        os.close(fd)


def read_bytes(path: str, limit: int, foreign: bool = False) -> bytes:
    """The first ``limit`` bytes of a regular file, ours or with ``foreign`` another's; else an OSError."""
    fd = open_foreign(path) if foreign else open_regular(path, os.O_RDONLY)
    try:
        chunks = []
        while limit > 0:
            chunk = os.read(fd, min(limit, 1 << 20))
            if not chunk:
                break
            chunks.append(chunk)
            limit -= len(chunk)
        return b"".join(chunks)
    finally:
        os.close(fd)


def umask() -> int:
    """The mode bits that a new file of the user does not get."""
    # The umask can only be read by setting it (umask(2)); for the moment between it is private.
    found = os.umask(0o077)
    os.umask(found)
    return found


def _temporary(path: str) -> str:
    return f"{path}.{os.getpid()}-{time.monotonic_ns():x}.tmp"


def write_whole(path: str, data: bytes, exclusive: bool = False, sync: bool = False) -> bool:
    """Put ``data`` at ``path`` in one step: readers see the old file or the new one.

    ``exclusive`` keeps an existing file. Returns whether the new file is there now.
    """
    temporary = _temporary(path)
    fd = open_regular(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        if sync:
            os.fsync(fd)
    finally:
        os.close(fd)
    try:
        if exclusive:
            # `link` refuses an existing name in one step. A test followed by a rename would race.
            os.link(temporary, path)
        else:
            os.rename(temporary, path)
            return True
    except FileExistsError:
        return False
    finally:
        if exclusive:
            os.unlink(temporary)
    return True


def sync_folder(path: str) -> None:
    """Make the names in a folder durable: without this a rename may be lost in a power cut."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def write_for_good(path: str, data: bytes) -> None:
    """As :func:`write_whole`, and durable when this returns: the bytes, the name and the folder."""
    folder = os.path.dirname(path)
    fresh = not os.path.isdir(folder)
    make_folder(folder)
    if fresh:
        sync_folder(os.path.dirname(folder))
    write_whole(path, data, sync=True)
    sync_folder(folder)


def unlocked(fd: int) -> int:
    """A second descriptor of a locked file, without the lock.

    Closing only the first descriptor would keep the lock.
    """
    second = os.dup(fd)
    fcntl.flock(fd, fcntl.LOCK_UN)
    return second


def sync_all(fds: list[int]) -> None:
    """Make files durable and close them: start writing all of them first, then wait for each.

    One wait then serves most of them. Waiting one by one costs a commit of the file system's journal each.
    """
    try:
        for fd in fds if hasattr(os, "posix_fadvise") else ():  # macOS has none
            # Linux then starts to write dirty pages back, without waiting. Python has no sync_file_range.
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        for fd in fds:
            os.fsync(fd)
    finally:
        for fd in fds:
            os.close(fd)
