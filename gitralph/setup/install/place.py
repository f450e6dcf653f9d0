"""Reads and replaces one file of somebody else's configuration: in one step, through links, modes kept."""

import contextlib
import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass

from gitralph.base import files
from gitralph.base.errors import Refused
from gitralph.setup.install.form import UnusableError

# In bytes. Settings files are read whole, and their old bytes are kept for uninstall.
_LIMIT = 16 << 20


@dataclass(frozen=True)
class FoundFile:
    """A file as it stands; ``target`` is where its links lead, ``data`` None when it is absent."""

    path: str
    target: str
    data: bytes | None
    mode: int | None


def look(path: str) -> FoundFile:
    """Read the file that ``path`` names. Raises UnusableError for what is no file of sane size."""
    # People keep settings in a repository of dotfiles and link to them: replacing the link would cut it.
    target = os.path.realpath(path)
    try:
        fd = os.open(target, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return FoundFile(path, target, None, None)
    except OSError as error:
        raise UnusableError(f"cannot be read: {error.strerror}") from None
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):  # asked before anything else: a folder opens, and Python takes none
        os.close(fd)
        raise UnusableError("is not a regular file")
    with os.fdopen(fd, "rb") as file:
        data = file.read(_LIMIT + 1)
    if len(data) > _LIMIT:
        raise UnusableError("is too large")
    return FoundFile(path, target, data, stat.S_IMODE(found.st_mode))


def usable(path: str) -> FoundFile:
    """As :func:`look`; raises Refused."""
    try:
        return look(path)
    except UnusableError as error:
        raise Refused(f"'{path}' {error}; nothing was written", "correct it, then try again") from None


def _temporary(target: str) -> str:
    """The file's temporary name before it gets its own; always the same, so nothing piles up."""
    folder, name = os.path.split(target)
    return f"{folder}/.{name}.gitralph"


def put(target: str, data: bytes, mode: int, like: str | None = None) -> None:
    """Put ``data`` at ``target`` in one step, with a mode and the owner of the file ``like``.

    What a killed run left under the temporary name is overwritten; two runs wait for each other.
    """
    temporary = _temporary(target)
    # The lock is on the temporary file: the target itself is replaced, and nobody else would look at a lock
    # on it.
    fd = files.open_locked(temporary)
    with os.fdopen(fd, "wb") as file:
        os.ftruncate(fd, 0)
        file.write(data)
        file.flush()
        if like is not None:
            _keep_owner(fd, like)
        os.fchmod(fd, mode)
        os.fsync(fd)
        os.rename(temporary, target)


def clean(target: str) -> None:
    """Remove what a killed run left beside ``target``."""
    with contextlib.suppress(OSError):
        os.unlink(_temporary(target))


def _keep_owner(fd: int, like: str) -> None:
    owner = os.stat(like)
    try:
        os.fchown(fd, owner.st_uid, owner.st_gid)
    except OSError as error:
        # Only root may give a file away (chown(2)). Without that the new file is ours, and as readable as
        # before.
        if error.errno != errno.EPERM:
            raise


def replace(found: FoundFile, data: bytes) -> None:
    """Put ``data`` where ``found`` was, through its links, its mode kept; folders are made."""
    os.makedirs(os.path.dirname(found.target), exist_ok=True)
    try:
        if found.mode is None:
            put(found.target, data, 0o666 & ~files.umask())
        else:
            put(found.target, data, found.mode, found.target)
    except OSError:
        clean(found.target)
        raise


def delete(found: FoundFile, folders: Sequence[str]) -> None:
    """Remove the file, then those of ``folders`` that are empty."""
    os.unlink(found.target)
    clean(found.target)
    prune(folders)


def prune(folders: Sequence[str]) -> None:
    """Remove folders that are empty, innermost first."""
    for folder in sorted(set(folders), key=len, reverse=True):
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def moved(found: FoundFile) -> bool:
    """True when somebody changed the file since it was read."""
    return look(found.path) != found
