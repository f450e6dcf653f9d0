"""The scratch worktree, in which hooks run where they could harm what others write meanwhile.

It holds exactly the commit's tree. Tools that git ignores in the user's worktree (``node_modules``,
``.venv``, ``.husky/_``) are reached through symbolic links, one for each ignored folder. So nothing is
copied. ``git clean`` and ``git stash --all`` remove the link and never what it leads to. And no privilege is
needed, as it would be for a mount.

A pattern like ``node_modules/`` does not match a link. So a file of our own excludes the links. Links that a
hook adds all the same are left out by name.
"""

import os
import re
from typing import NamedTuple

from gitralph.base import files, nul
from gitralph.git import own_worktree
from gitralph.git.context import Context
from gitralph.git.own_worktree import Slot
from gitralph.git.refs import Head
from gitralph.git.run import Git

# Byte code counts as valid for a source of the same size and second. So byte code from the commit's tree
# would be taken for the main worktree's.
_NO_TOOLS = (b"__pycache__", b".worktrees")


class Scratch(NamedTuple):
    """A scratch worktree in use: git in it, its place, and the links that lead out of it."""

    git: Git
    slot: Slot
    borrowed: tuple[bytes, ...]

    @property
    def folder(self) -> str:
        return self.slot.folder

    def close(self) -> None:
        """Remove the links and give the worktree to the next commit."""
        for path in self.borrowed:
            link = os.path.join(os.fsencode(self.folder), path)
            if os.path.islink(link):
                os.unlink(link)
        self.slot.close()


def open_scratch(ctx: Context, tree: bytes, head: Head, env: dict[str, str]) -> Scratch:
    """The scratch worktree with exactly ``tree`` in it, on the branch of ``head`` and at its commit."""
    slot = own_worktree.take(ctx, own_worktree.HOOKS)
    try:
        excludes = slot.folder + ".exclude"
        git, made = own_worktree.lay_out_apart(ctx, slot, tree, head, env, excludes)
        borrowed = _borrow(ctx, slot.folder)
        links = b"".join(b"/" + _escaped(one) + b"\n" for one in borrowed)
        files.write_whole(excludes, _users_excludes(ctx) + b"\n" + links)
        # git names the index to its hooks, and some read it by that name.
        return Scratch(git.at(GIT_INDEX_FILE=f"{made}/index"), slot, borrowed)
    except BaseException:
        slot.close()
        raise


def _borrow(ctx: Context, folder: str) -> tuple[bytes, ...]:
    """Link what git ignores in the user's worktree into the scratch one; returns the linked paths.

    Folders are linked wherever they lie, files only at the root (``.env``): object files in a source tree are
    no tools.
    """
    said = ctx.git.at(ctx.repo.root).run(
        "-c",
        "core.fsmonitor=false",
        "ls-files",
        "-z",
        "--others",
        "--ignored",
        "--exclude-standard",
        "--directory",
    )
    root, target = os.fsencode(ctx.repo.root), os.fsencode(folder)
    linked: list[bytes] = []
    for row in sorted(nul.rows(said)):
        path = row.rstrip(b"/")
        is_below = path.startswith(tuple(one + b"/" for one in linked))
        if is_below or not _is_tool(root, path, row.endswith(b"/")):
            continue
        link = os.path.join(target, path)
        if os.path.isdir(os.path.dirname(link)) and not os.path.lexists(link):
            os.symlink(os.path.join(root, path), link)
            linked.append(path)
    return tuple(linked)


def _is_tool(root: bytes, path: bytes, is_folder: bool) -> bool:
    if not is_folder:
        return b"/" not in path
    # A nested repository is somebody's work, not a tool: a hook must not reach it through a link.
    return path.rpartition(b"/")[2] not in _NO_TOOLS and not os.path.lexists(
        os.path.join(root, path, b".git")
    )


def _users_excludes(ctx: Context) -> bytes:
    done = ctx.git.at(ctx.repo.root).try_run("config", "--type=path", "--get", "core.excludesFile")
    home = ctx.environ.get("XDG_CONFIG_HOME") or ctx.environ.get("HOME", "") + "/.config"
    named = os.fsdecode(done.stdout).rstrip("\n") if done.returncode == 0 else f"{home}/git/ignore"
    try:
        with open(os.path.join(ctx.repo.root, named), "rb") as file:
            return file.read()
    except OSError:
        return b""


def _escaped(path: bytes) -> bytes:
    """A path as a pattern that matches only this path."""
    out = re.sub(rb"[\\*?[]", rb"\\\g<0>", path)
    return out[:-1] + b"\\ " if out.endswith(b" ") else out
