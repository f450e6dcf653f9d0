"""A repository of our own beside the user's: the same objects and settings, its own HEAD, refs and index.

Hooks run in its worktree on a branch of the same name, at the commit's parent. So a hook that asks for the
branch, refuses a commit on it, or commits, stashes and resets itself, does so as in the user's worktree, and
moves nothing of his: a linked worktree shares the branches and the stash. Links to the parts of a repository
are how git's own ``contrib/workdir/git-new-workdir`` does it.
"""

import contextlib
import os
import shutil

from gitralph.base import files
from gitralph.git.context import Context
from gitralph.git.refs import Head

# What belongs to the repository as a whole (gitrepository-layout(5)); `info` has attributes and excludes.
_SHARED = ("objects", "info", "lfs", "shallow")
# A hook that pops what it had not stashed, since there was nothing to stash, must not get the user's.
_STASH = b"refs/stash"


def git_dir(folder: str) -> str:
    """The repository of the worktree at ``folder``."""
    return folder + ".git"


def lay_out(ctx: Context, folder: str, head: Head, excludes: str) -> str:
    """Make the repository of the worktree at ``folder``, on the branch of ``head``; returns its folder.

    The index stays, so that only files that differ are written. ``excludes`` is its ``core.excludesFile``.
    """
    made, common = git_dir(folder), ctx.repo.common_dir
    os.makedirs(folder, exist_ok=True)
    os.makedirs(made, exist_ok=True)
    for name in set(os.listdir(made)) - {"index"}:
        _remove(f"{made}/{name}")
    for name in _SHARED:
        if os.path.lexists(f"{common}/{name}"):
            os.symlink(f"{common}/{name}", f"{made}/{name}")
    os.mkdir(f"{made}/refs")
    files.write_whole(f"{made}/packed-refs", _refs(ctx, head))
    files.write_whole(f"{made}/config", _config(ctx, folder, excludes))
    on = f"ref: {head.ref}" if head.ref else head.oid or ""
    files.write_whole(f"{made}/HEAD", os.fsencode(on) + b"\n")
    _remove(f"{folder}/.git")
    files.write_whole(f"{folder}/.git", b"gitdir: " + os.fsencode(made) + b"\n")
    return made


def remove(folder: str) -> None:
    """Remove the worktree at ``folder`` and its repository."""
    for path in (folder, git_dir(folder), folder + ".exclude"):
        _remove(path)


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _refs(ctx: Context, head: Head) -> bytes:
    """The user's refs as a file of packed refs, the branch at the commit's parent."""
    rows = ctx.git.run("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    found = dict(row.rsplit(b" ", 1) for row in rows)
    found.pop(_STASH, None)
    if head.ref and head.oid:  # others may have committed since
        found[os.fsencode(head.ref)] = head.oid.encode()
    lines = (b"%s %s\n" % (oid, name) for name, oid in sorted(found.items()))
    return b"# pack-refs with: sorted \n" + b"".join(lines)


def _config(ctx: Context, folder: str, excludes: str) -> bytes:
    """The user's settings, and over them what a worktree of ours needs.

    Nothing may delete objects here: what only the user's reflogs, stash or other worktrees hold looks
    unreachable (``extensions.preciousObjects``, gitrepository-layout(5)).
    """
    return os.fsencode(
        "[core]\n\trepositoryFormatVersion = 1\n"
        f"[extensions]\n\tpreciousObjects = true\n"
        f"[include]\n\tpath = {_quoted(ctx.repo.common_dir + '/config')}\n"
        f"\tpath = {_quoted(ctx.repo.git_dir + '/config.worktree')}\n"
        f"[core]\n\tbare = false\n\tworktree = {_quoted(folder)}\n\texcludesFile = {_quoted(excludes)}\n"
        "\tfsmonitor = false\n\tsparseCheckout = false\n\tlogAllRefUpdates = false\n"
        "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
    )


def _quoted(value: str) -> str:
    """A value for a file of settings (git-config(1), Syntax)."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
