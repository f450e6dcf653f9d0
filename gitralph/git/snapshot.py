"""Copies given files of the working tree into a private folder, following no link.

The copy is judged, converted and committed. So a path that becomes a link meanwhile cannot bring foreign
bytes in. Nothing is written to the working tree.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping
from typing import NamedTuple

from gitralph.git.trees import GITLINK, SYMLINK

# No link is followed at the end of a path. O_NONBLOCK: opening a pipe that lies there would wait for its
# writer.
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class Content(NamedTuple):
    """A file as it stands: mode (0 = absent), and its bytes or link text, None for a submodule."""

    mode: int
    data: bytes | None

    @property
    def absent(self) -> bool:
        return self.mode == 0


ABSENT = Content(0, None)


class LeadsOutError(Exception):
    """A parent of the path is a link: what lies behind it is not this worktree's."""


class Worktree:
    """Reads files below a root through folder descriptors; ``instead`` are contents that replace files."""

    def __init__(self, root: str, instead: Mapping[bytes, Content] | None = None) -> None:
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._instead = instead or {}

    def close(self) -> None:
        os.close(self._root)

    def __enter__(self) -> Worktree:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def folder(self, path: bytes, make: bool = False) -> int | None:
        """A descriptor of the folder that holds ``path``; None where it is missing and must not be made.

        Raises LeadsOutError.
        """
        fd = os.dup(self._root)
        for name in path.split(b"/")[:-1]:
            try:
                if make:
                    _make_folder(fd, name)
                # This look tells a link (an error) from a file in the way (absent). The open after it follows
                # no link either.
                found = os.stat(name, dir_fd=fd, follow_symlinks=False)
                if stat.S_ISLNK(found.st_mode):
                    raise LeadsOutError
                child = os.open(name, _OPEN | os.O_DIRECTORY, dir_fd=fd)
            except (FileNotFoundError, NotADirectoryError):
                return None
            finally:
                os.close(fd)
            fd = child
        return fd

    def read(self, path: bytes) -> Content:
        """The file at ``path``. Raises LeadsOutError; a folder without ``.git`` is absent."""
        if path in self._instead:
            return self._instead[path]
        parent = self.folder(path)
        if parent is None:
            return ABSENT
        try:
            return read_name(parent, path.rsplit(b"/", 1)[-1])
        finally:
            os.close(parent)


def _make_folder(parent: int, name: bytes) -> None:
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=parent)


def read_name(parent: int, name: bytes) -> Content:
    """The file of a name in an open folder; a folder without ``.git`` is absent."""
    try:
        found = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return ABSENT
    if stat.S_ISLNK(found.st_mode):
        return Content(SYMLINK, os.readlink(name, dir_fd=parent))
    if stat.S_ISDIR(found.st_mode):
        return _read_folder(parent, name)
    if not stat.S_ISREG(found.st_mode):
        return ABSENT
    fd = os.open(name, _OPEN, dir_fd=parent)
    try:
        data = b"".join(iter(lambda: os.read(fd, 1 << 22), b""))
    finally:
        os.close(fd)
    return Content(0o100755 if found.st_mode & 0o100 else 0o100644, data)


def _read_folder(parent: int, name: bytes) -> Content:
    try:
        os.stat(name + b"/.git", dir_fd=parent, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    return Content(GITLINK, None)


def write_copy(folder: str, path: bytes, content: Content) -> None:
    """Put ``content`` at ``path`` below a private ``folder``."""
    full = os.path.join(os.fsencode(folder), path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    assert content.data is not None
    if content.mode == SYMLINK:
        os.symlink(content.data, full)
        return
    with open(full, "xb") as file:
        file.write(content.data)
    os.chmod(full, content.mode & 0o777)
