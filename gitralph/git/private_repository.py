"""A repository of our own beside the user's: the same objects and settings, its own HEAD, refs and index.

Hooks run in its worktree on a branch of the same name, at the commit's parent. So a hook that asks for the
branch, refuses a commit on it, or commits, stashes and resets itself, does so as in the user's worktree, and
moves nothing of his: a linked worktree shares the branches and the stash. Links to the parts of a repository
are how git's own ``contrib/workdir/git-new-workdir`` does it.
"""

import os
import re

from gitralph.base import files, folders
from gitralph.git.context import Context
from gitralph.git.refs import Head

# What each worktree has of its own (gitrepository-layout(5)), what is made here, and the state of git ralph.
# All else belongs to the repository as a whole: objects, excludes, the files and keys of other tools.
_OWN = re.compile(
    r"HEAD|.*_HEAD|index|sharedindex\..*|refs|packed-refs|reftable|config|config\.worktree|logs|worktrees|modules|"
    r"commondir|gitdir|locked|rebase-.*|sequencer|BISECT_.*|MERGE_.*|SQUASH_MSG|AUTO_MERGE|.*_EDITMSG|"
    r".*\.lock|.*\.pid|ralph-sessions"
)
_KEPT = re.compile(r"index|sharedindex\..*")
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
    for name in os.listdir(made):
        if not _KEPT.fullmatch(name):
            folders.remove(f"{made}/{name}")
    for name in os.listdir(common):
        if not _OWN.fullmatch(name):
            os.symlink(f"{common}/{name}", f"{made}/{name}")
    os.mkdir(f"{made}/refs")
    packed, links = _refs(ctx, head)
    files.write_whole(f"{made}/packed-refs", packed)
    for ref, target in links.items():
        path = f"{made}/{os.fsdecode(ref)}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        files.write_whole(path, b"ref: " + target + b"\n")
    files.write_whole(f"{made}/config", _config(ctx, folder, excludes))
    on = f"ref: {head.ref}" if head.ref else head.oid or ""
    files.write_whole(f"{made}/HEAD", os.fsencode(on) + b"\n")
    folders.remove(f"{folder}/.git")
    files.write_whole(f"{folder}/.git", b"gitdir: " + os.fsencode(made) + b"\n")
    return made


def remove(folder: str) -> None:
    """Remove the worktree at ``folder`` and its repository."""
    for path in (folder, git_dir(folder), folder + ".exclude"):
        folders.remove(path)


def _refs(ctx: Context, head: Head) -> tuple[bytes, dict[bytes, bytes]]:
    """The user's refs as a file of packed refs, the branch at the commit's parent; and his symbolic refs."""
    rows = ctx.git.run("for-each-ref", "--format=%(refname) %(objectname) %(symref)").splitlines()
    parts = [row.split(b" ") for row in rows if not row.startswith(_STASH + b" ")]
    found = {name: oid for name, oid, link in parts if not link}
    if head.ref and head.oid:  # others may have committed since
        found[os.fsencode(head.ref)] = head.oid.encode()
    lines = (b"%s %s\n" % (oid, name) for name, oid in sorted(found.items()))
    links = {name: link for name, _, link in parts if link}
    return b"# pack-refs with: sorted \n" + b"".join(lines), links


def _config(ctx: Context, folder: str, excludes: str) -> bytes:
    """The user's settings, and over them what a worktree of ours needs.

    Nothing may delete objects here: what only the user's reflogs, stash or other worktrees hold looks
    unreachable (``extensions.preciousObjects``, gitrepository-layout(5)).
    """
    config = ctx.repo.common_dir + "/config"
    with open(config, "rb") as file:
        theirs = file.read()
    # `git config --local` follows no include. But a relative one is meant from its own file, and a backend
    # for refs is not ours.
    if b"[include" in theirs.lower() or ctx.repo.uses_reftable:
        theirs = os.fsencode(f"[include]\n\tpath = {_quoted(config)}\n")
    return theirs + os.fsencode(
        f"\n[include]\n\tpath = {_quoted(ctx.repo.git_dir + '/config.worktree')}\n"
        "[core]\n\trepositoryFormatVersion = 1\n"
        "[extensions]\n\tpreciousObjects = true\n"
        f"[core]\n\tbare = false\n\tworktree = {_quoted(folder)}\n\texcludesFile = {_quoted(excludes)}\n"
        "\tfsmonitor = false\n\tsparseCheckout = false\n\tlogAllRefUpdates = false\n"
        "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
    )


def _quoted(value: str) -> str:
    """A value for a file of settings (git-config(1), Syntax)."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
