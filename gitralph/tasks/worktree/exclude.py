"""Keeps ``.worktrees/`` out of ``git status`` by the repository's own exclude file, never a tracked one."""

import os

from gitralph.base import files, locks, lost_worktree
from gitralph.base.errors import Busy, Refused

LINE = f"/{lost_worktree.FOLDER}/".encode()


def exclude(common_dir: str) -> None:
    """Write the line once, whoever else is about to. Raises Busy when another program locks the file."""
    path = common_dir + "/info/exclude"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    # Appended under a lock, one write: two adds at once write the line once, and nobody's own lines are
    # lost.
    fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        files.lock(fd, path, wait=locks.WAIT)
        data = os.pread(fd, os.fstat(fd).st_size, 0)
        if LINE not in [row.strip() for row in data.split(b"\n")]:
            os.write(fd, (b"" if data[-1:] in (b"", b"\n") else b"\n") + LINE + b"\n")
    except files.LockTimeoutError:
        raise Busy(f"'{path}' is locked by another program", "try again shortly") from None
    finally:
        os.close(fd)


def make_home(root: str) -> None:
    """The folder all worktrees of beads lie in. Raises Refused where it is a link or a file."""
    home = f"{root}/{lost_worktree.FOLDER}"
    try:
        os.mkdir(home)
    except FileExistsError:
        if os.path.islink(home) or not os.path.isdir(home):
            raise Refused(
                f"'{home}' is not a folder of its own; worktrees are not put behind a link"
            ) from None
