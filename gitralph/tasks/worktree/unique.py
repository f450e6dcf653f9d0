"""Ignored files that exist nowhere else: ``git worktree remove`` would delete them without a word."""

import filecmp
import os
import stat
from fnmatch import fnmatchcase

from gitralph.tasks.worktree.where import Trees

# A folder with more counts as found nowhere else: people wait for the answer, and refusing is the safe
# side.
_MOST = 20_000


def _same(one: bytes, other: bytes) -> bool:
    try:
        first, second = os.lstat(one), os.lstat(other)
        if stat.S_ISLNK(first.st_mode) and stat.S_ISLNK(second.st_mode):
            return os.readlink(one) == os.readlink(other)
        if not (stat.S_ISREG(first.st_mode) and stat.S_ISREG(second.st_mode)):
            return False
        return filecmp.cmp(one, other, shallow=False)
    except OSError:
        return False


def _files(root: bytes, path: bytes) -> list[bytes]:
    full = os.path.join(root, path)
    if os.path.islink(full) or not os.path.isdir(full):
        return [path]
    out: list[bytes] = []
    for folder, folders, names in os.walk(full):
        links = [n for n in folders if os.path.islink(os.path.join(folder, n))]
        out += [os.path.relpath(os.path.join(folder, name), root) for name in (*names, *links)]
        if len(out) > _MOST:
            break
    return out


def _matches(path: bytes, patterns: list[str]) -> bool:
    name = os.fsdecode(path)
    parts = name.split("/")
    heads = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    return any(fnmatchcase(one, p.rstrip("/")) for p in patterns for one in (*heads, *parts))


def unique_ignored(trees: Trees, root: str, ignored: tuple[bytes, ...]) -> list[bytes]:
    """The ignored paths below ``root`` whose bytes the main checkout does not have at the same place."""
    here, main = os.fsencode(root), os.fsencode(trees.root)
    patterns = trees.ctx.config.all("ralph.worktree.disposable")
    found = []
    for path in ignored:
        if _matches(path, patterns):
            continue
        inner = _files(here, path)
        if len(inner) > _MOST or not all(
            _same(os.path.join(here, p), os.path.join(main, p)) or _matches(p, patterns) for p in inner
        ):
            found.append(path)
    return found
