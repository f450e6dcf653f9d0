"""Reads and replaces one file of somebody else's configuration: in one step, through links, modes kept."""

import errno
import os
import stat
from dataclasses import dataclass

from gitralph.porcelain.install.form import UnusableError

_LIMIT = 16 << 20


@dataclass(frozen=True)
class Found:
    """A file as it stands; ``target`` is where its links lead, ``data`` None when it is absent."""

    path: str
    target: str
    data: bytes | None
    mode: int | None


def look(path: str) -> Found:
    """Read the file that ``path`` names. Raises UnusableError for what is no file of sane size."""
    target = os.path.realpath(path)
    try:
        fd = os.open(target, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return Found(path, target, None, None)
    except OSError as error:
        raise UnusableError(f"cannot be read: {error.strerror}") from None
    with os.fdopen(fd, "rb") as file:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise UnusableError("is not a regular file")
        data = file.read(_LIMIT + 1)
    if len(data) > _LIMIT:
        raise UnusableError("is too large")
    return Found(path, target, data, stat.S_IMODE(found.st_mode))


def _make_folders(folder: str) -> list[str]:
    """Create ``folder`` with its parents; returns what was made, outermost first."""
    if os.path.isdir(folder):
        return []
    made = _make_folders(os.path.dirname(folder))
    os.mkdir(folder)
    return [*made, folder]


def _write_new(path: str, data: bytes, mode: int | None, like: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
        file.flush()
        if mode is not None:
            _keep_owner(fd, like)
            os.fchmod(fd, mode)
        os.fsync(fd)


def _keep_owner(fd: int, like: str) -> None:
    owner = os.stat(like)
    try:
        os.fchown(fd, owner.st_uid, owner.st_gid)
    except OSError as error:
        if error.errno != errno.EPERM:
            raise


def replace(found: Found, data: bytes) -> list[str]:
    """Put ``data`` where ``found`` was, in one step; returns the folders that had to be made."""
    folder, name = os.path.split(found.target)
    made = _make_folders(folder)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    try:
        _write_new(temporary, data, found.mode, found.target)
        os.rename(temporary, found.target)
    except BaseException:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        raise
    return made


def delete(found: Found, folders: list[str]) -> None:
    """Remove the file, then those of ``folders`` that are empty, innermost first."""
    os.unlink(found.target)
    for folder in sorted(folders, key=len, reverse=True):
        try:
            os.rmdir(folder)
        except OSError:
            return


def moved(found: Found) -> bool:
    """True when somebody changed the file since it was read."""
    return look(found.path) != found
