"""Repositories that are made once a run and copied: a copy costs a fifth of git's processes."""

import atexit
import hashlib
import os
import shutil
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path

_HEADER, _STATS, _FIXED = 12, 24, 62  # of an index of version 2, see gitformat-index(5)
_folders: dict[str, Path] = {}


def copy(name: str, root: Path, make: Callable[[Path], object]) -> Path:
    """Put what ``make`` makes in a folder at ``root``; it is called the first time. Returns that folder."""
    if name not in _folders:
        folder = Path(tempfile.mkdtemp(prefix="gitralph-tests-"))
        # a spawned child that copies has its own
        atexit.register(_remove, folder, os.getpid())
        make(folder / "repo")
        _folders[name] = folder / "repo"
    shutil.copytree(_folders[name], root, symlinks=True, dirs_exist_ok=True)
    os.utime(root)  # a new folder, whose files are older than anything a test writes
    _look_again(root)
    return _folders[name]


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _look_again(root: Path) -> None:
    """What ``git update-index --refresh`` does: the files are others than those the index has seen."""
    index = root / ".git" / "index"
    if not index.exists():
        return
    data = bytearray(index.read_bytes()[:-20])
    at = _HEADER
    for _ in range(int.from_bytes(data[8:12])):
        end = data.index(0, at + _FIXED)
        found = os.lstat(root / os.fsdecode(bytes(data[at + _FIXED : end])))
        stats = (*divmod(found.st_ctime_ns, 10**9), *divmod(found.st_mtime_ns, 10**9))
        words = (word & 0xFFFFFFFF for word in (*stats, found.st_dev, found.st_ino))
        data[at : at + _STATS] = struct.pack(">6I", *words)
        at += (end - at) // 8 * 8 + 8
    index.write_bytes(data + hashlib.sha1(data).digest())
