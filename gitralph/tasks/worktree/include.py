"""Copies what ``.worktreeinclude`` lists into a new worktree: ignored files only, no link followed."""

import contextlib
import os
import stat

from gitralph.base import nul
from gitralph.git.snapshot import ABSENT, LeadsOutError, Worktree
from gitralph.git.trees import GITLINK, SYMLINK
from gitralph.tasks.worktree.where import Trees

FILE = ".worktreeinclude"


def _wanted(trees: Trees) -> list[bytes]:
    git = trees.inside(trees.root)
    listed = git.run(
        # git is asked what the list names and git does not track, so the list has the syntax of .gitignore.
        "-c",
        "core.fsmonitor=false",
        "ls-files",
        "--others",
        "--ignored",
        f"--exclude-from={FILE}",
        "-z",
    )
    paths = [p for p in nul.rows(listed) if not p.endswith(b"/") and not p.startswith(b".worktrees/")]
    if not paths:
        return []
    # A file that is untracked but not ignored is work in progress, which another worktree must not get.
    said = git.try_run("check-ignore", "-z", "--stdin", stdin=nul.joined(paths))
    return sorted(nul.rows(said.stdout))


def _open_parent(root: str, path: bytes) -> int | None:
    """The folder for ``path`` below ``root``, made where missing; None where a link or file is in the way."""
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for name in path.split(b"/")[:-1]:
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=fd)
            # Folder by folder, with no link followed: the branch that was checked out may hold one that leads
            # outside.
            child = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
        except OSError:
            return None
        finally:
            os.close(fd)
        fd = child
    return fd


def _put(parent: int, name: bytes, data: bytes, mode: int) -> bool:
    """Write one file whole under a private name, then give it its name; False when that is taken."""
    private = name[:200] + b".ralph-%d" % os.getpid()
    fd = os.open(private, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=parent)
    try:
        with os.fdopen(fd, "wb") as out:
            out.write(data)
            os.fchmod(out.fileno(), mode)
        # link(2) fails where the name is taken, rename would replace what the branch has there.
        os.link(private, name, src_dir_fd=parent, dst_dir_fd=parent, follow_symlinks=False)
    except FileExistsError:
        return False
    finally:
        os.unlink(private, dir_fd=parent)
    return True


def _copy(trees: Trees, source: Worktree, target: str, path: bytes) -> bool:
    try:
        found = source.read(path)
    except (LeadsOutError, OSError):
        return False
    if found == ABSENT or found.mode == GITLINK or found.data is None:
        return False
    parent = _open_parent(target, path)
    if parent is None:
        return False
    name = path.rsplit(b"/", 1)[-1]
    try:
        if found.mode == SYMLINK:
            os.symlink(found.data, name, dir_fd=parent)
            return True
        mode = stat.S_IMODE(os.lstat(os.path.join(os.fsencode(trees.root), path)).st_mode) & 0o777
        return _put(parent, name, found.data, mode)
    except OSError:
        return False
    finally:
        os.close(parent)


def copy_included(trees: Trees, target: str) -> list[bytes]:
    """Copy the listed ignored files of the main checkout that ``target`` lacks. Returns which they are."""
    if not os.path.isfile(f"{trees.root}/{FILE}") or target == trees.root:
        return []
    with Worktree(trees.root) as source:
        return [path for path in _wanted(trees) if _copy(trees, source, target, path)]
