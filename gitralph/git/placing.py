"""Puts a finished file in the place of another file of the working tree, at once or not at all.

This happens only if the other file still is what was read. The two are exchanged in one step, and the file
that comes out is compared. So an editor's save in between is put back and never lost. No link is followed,
neither on the way nor at its end. A second name of the file (a hard link) keeps the old content, as with git.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import stat
from collections.abc import Callable
from functools import cache

from gitralph.git.snapshot import Content, Worktree, read_name
from gitralph.git.trees import SYMLINK

_Rename = Callable[[int, bytes, int, bytes, int], int]


# Linux, linux/fs.h: both names exist before and after, and at no moment is one of them missing.
_EXCHANGE = 2


@cache
def renameat2() -> _Rename | None:
    """The C library's, None where there is none; looked for once."""
    try:
        found = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):  # a C library without the call, or another system
        return None
    found.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    found.restype = ctypes.c_int

    def call(from_fd: int, old: bytes, to_fd: int, new: bytes, flags: int) -> int:
        return ctypes.get_errno() if found(from_fd, old, to_fd, new, flags) else 0

    return call


def exchange(from_fd: int, old: bytes, to_fd: int, new: bytes) -> bool:
    """Let two files change names; False where the system cannot. Raises OSError."""
    call = renameat2()
    number = call(from_fd, old, to_fd, new, _EXCHANGE) if call is not None else errno.ENOSYS
    if number in (errno.ENOSYS, errno.EINVAL):
        return False
    if number:
        raise OSError(number, os.strerror(number), os.fsdecode(new))
    return True


class HeldFolder:
    """The folder of a path in a working tree, held open, and a work folder on the same file system."""

    def __init__(self, worktree: Worktree, path: bytes, work: str, make: bool) -> None:
        """Raises LeadsOutError, and FileNotFoundError where a folder is missing and must not be made."""
        self.name = path.rsplit(b"/", 1)[-1]
        parent = worktree.folder(path, make)
        if parent is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fsdecode(path))
        self.parent = parent
        self.work = os.open(work, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        # A file can be renamed only within one file system. Otherwise the work is done beside the file.
        if os.fstat(self.work).st_dev != os.fstat(parent).st_dev:
            os.close(self.work)
            self.work = os.dup(parent)

    def close(self) -> None:
        os.close(self.parent)
        os.close(self.work)

    def now(self) -> Content:
        """The file that stands there now."""
        return read_name(self.parent, self.name)

    def aside(self, work: bytes) -> Content:
        """The file in the work folder under a name."""
        return read_name(self.work, work)

    def drop(self, work: bytes) -> None:
        """Remove a name from the work folder."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(work, dir_fd=self.work)

    def prepare(self, work: bytes, wanted: Content, umask: int) -> None:
        """Write the finished file into the work folder, durable, with the rights of the file it replaces."""
        assert wanted.data is not None
        self.drop(work)
        if wanted.mode == SYMLINK:
            os.symlink(wanted.data, work, dir_fd=self.work)
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(work, flags, 0o600, dir_fd=self.work)
        try:
            view = memoryview(wanted.data)
            while view:
                view = view[os.write(fd, view) :]
            self._give_rights(fd, wanted.mode, umask)
            os.fsync(fd)
        finally:
            os.close(fd)

    def _give_rights(self, fd: int, mode: int, umask: int) -> None:
        try:
            old = os.stat(self.name, dir_fd=self.parent, follow_symlinks=False)
        except FileNotFoundError:
            old = None
        if old is None or not stat.S_ISREG(old.st_mode):
            os.fchmod(fd, (0o777 if mode & 0o100 else 0o666) & ~umask)
            return
        rights = old.st_mode & 0o7777
        if bool(rights & 0o100) != bool(mode & 0o100):  # x wherever r is, as `git checkout` does it
            rights = rights | (rights & 0o444) >> 2 if mode & 0o100 else rights & ~0o111
        if old.st_gid != os.fstat(fd).st_gid:
            try:
                os.fchown(fd, -1, old.st_gid)
            except OSError:  # not one of our groups: the file is the user's all the same
                rights &= ~0o6000
        os.fchmod(fd, rights)

    def put(self, work: bytes, expected: Content, wanted: Content) -> bool:
        """Put the prepared file in its place; False, with nothing changed, where another file stands there.

        Afterwards the old file is in the work folder, under the same name.
        """
        if self.now() != expected:
            return False
        if expected.absent:
            return self._link(work)
        if wanted.absent:
            return self._take_away(work, expected)
        if not exchange(self.work, work, self.parent, self.name):
            # Without an exchange (not Linux, or a file system that has none) a save between the look above
            # and this rename is lost, as with every program that saves by renaming.
            os.rename(work, self.name, src_dir_fd=self.work, dst_dir_fd=self.parent)
            return True
        if self.aside(work) == expected:
            return True
        exchange(self.work, work, self.parent, self.name)
        if self.aside(work) != wanted:  # saved once more meanwhile: the newest save is the one to stand there
            exchange(self.work, work, self.parent, self.name)
        return False

    def _link(self, work: bytes) -> bool:
        try:
            os.link(work, self.name, src_dir_fd=self.work, dst_dir_fd=self.parent, follow_symlinks=False)
        except FileExistsError:
            return False
        return True

    def _take_away(self, work: bytes, expected: Content) -> bool:
        os.rename(self.name, work, src_dir_fd=self.parent, dst_dir_fd=self.work)
        if self.aside(work) == expected:
            return True
        self.give_back(work)
        return False

    def give_back(self, work: bytes) -> None:
        """Put back the file that was taken away, under its own name if that is free."""
        if self._link(work):
            self.drop(work)

    def sync(self) -> None:
        """Make the name durable."""
        os.fsync(self.parent)


def drop_empty_folders(worktree: Worktree, path: bytes, keep: bytes) -> None:
    """Remove the folders above a path that are empty now, as git does; not ``keep`` and none above it."""
    names = path.split(b"/")[:-1]
    while names:
        folder = b"/".join(names)
        if keep == folder or keep.startswith(folder + b"/"):
            return
        parent = worktree.folder(folder, make=False)
        if parent is None:
            return
        try:
            os.rmdir(names[-1], dir_fd=parent)
        except OSError:
            return
        finally:
            os.close(parent)
        names.pop()
