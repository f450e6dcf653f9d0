"""Takes away what a killed ``git worktree add`` left behind, by our own record of it.

``git worktree`` cannot do it. With an empty ``commondir`` even its list fails, for every worktree. Its
``remove`` refuses a worktree whose ``.git`` was not written yet (seen with git 2.39).
"""

import os
import shutil

from gitralph.base import files, gitdir, lost_worktree, nul
from gitralph.base.errors import Busy
from gitralph.git import worktrees
from gitralph.git.context import Context
from gitralph.git.run import Git
from gitralph.git.worktrees import INITIALIZING
from gitralph.records import bead as beads
from gitralph.records.bead import Bead

NOTE = "adding"
"""The field of a bead's record that says, until its worktree stands, whether its branch is new."""


def _text(path: str) -> str | None:
    try:
        return gitdir.read_line(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _half_made(common_dir: str, path: str) -> list[str]:
    """The admin folders that git began for a checkout and did not finish.

    Where the name is taken, git adds a number. It writes ``locked`` first, then ``gitdir``, which names the
    checkout.
    """
    home, base = f"{common_dir}/worktrees", os.path.basename(path)
    out = []
    for name in files.names(home):
        if not (name.startswith(base) and (name == base or name[len(base) :].isdigit())):
            continue
        checkout, lock = _text(f"{home}/{name}/gitdir"), _text(f"{home}/{name}/locked")
        # Without ``gitdir`` nothing says whose it is. Then only the name without a number counts as ours.
        ours = checkout == path + "/.git" or (not checkout and name == base)
        # git locks a worktree as ``initializing`` while it makes it, and unlocks it at the end
        # (builtin/worktree.c). Where a git that it started died, it unlocks a half made worktree, whose HEAD
        # has only zeros, as it was written first.
        unset = not (_text(f"{home}/{name}/HEAD") or "").strip("0")
        begun = lock in ("", INITIALIZING) or (lock is None and (not checkout or unset))
        if ours and begun:
            out.append(f"{home}/{name}")
    return out


def _was_ours(common_dir: str, path: str) -> bool:
    """True without a ``.git``, or with one that is empty or names an admin folder of this repository."""
    dot_git = path + "/.git"
    if not os.path.lexists(dot_git):
        return True
    if os.path.islink(dot_git) or not os.path.isfile(dot_git):
        return False
    said = _text(dot_git) or ""
    return not said or said.startswith(f"gitdir: {common_dir}/worktrees/")


def _is_begun(git: Git, path: str, commit: str, name: bytes) -> bool:
    """True for a file that git had begun to write."""
    with open(os.path.join(os.fsencode(path), name), "rb") as file:
        data = file.read()
    # As git would write it here, with filters and line ends: a kill leaves a beginning of just that.
    whole = git.try_run("cat-file", "--filters", os.fsencode(commit) + b":" + name)
    return whole.returncode == 0 and whole.stdout.startswith(data)


def clear(ctx: Context, git: Git, path: str, commit: str | None) -> None:
    """Remove an unregistered folder whose every file is the commit's; anything else is left as it is."""
    common = ctx.repo.common_dir
    if commit is None or os.path.islink(path) or not os.path.isdir(path) or not _was_ours(common, path):
        return
    os.makedirs(ctx.layout.tmp, mode=0o700, exist_ok=True)
    private = f"{ctx.layout.tmp}/{os.getpid()}-{os.urandom(4).hex()}.index"
    inside = git.elsewhere(path, GIT_DIR=common, GIT_WORK_TREE=path, GIT_INDEX_FILE=private)
    try:
        inside.run("-c", "core.splitIndex=false", "-c", "core.fsmonitor=false", "read-tree", commit)
        words = ("--porcelain", "-z", "--untracked-files=all", "--ignored=matching", "--no-renames")
        rows = nul.rows(inside.run("-c", "core.fsmonitor=false", "status", *words))
        # The second letter compares with the files. The first, with whatever HEAD is here, means nothing. D
        # is a file that git had not come to; anything else that differs may be somebody's work.
        changed = [row for row in rows if row[1:2] not in (b" ", b"D")]
        if all(row[1:2] == b"M" and _is_begun(inside, path, commit, row[3:]) for row in changed):
            shutil.rmtree(path)
    finally:
        if os.path.exists(private):
            os.unlink(private)


def _clear_branch(git: Git, record: Bead) -> None:
    """Delete the branch where this add made it and it holds nothing yet."""
    note = record.extra.get(NOTE)
    if not isinstance(note, dict) or note.get("branch") != "new" or record.base_oid is None:
        return
    # `git update-ref -d` deletes even a branch that is checked out somewhere, so this asks first.
    if all(row.branch != record.branch for row in worktrees.listing(git)):
        worktrees.delete_branch(git, record.branch, record.base_oid)


def take_away(ctx: Context, git: Git, record: Bead) -> None:
    """Undo an ``add`` that did not come to its end; a worktree that stands is left alone.

    The caller holds the bead's lock, so nobody is adding it now.
    """
    for folder in _half_made(ctx.repo.common_dir, record.path):
        shutil.rmtree(folder)
    if any(row.path == record.path for row in worktrees.listing(git)):
        return
    clear(ctx, git, record.path, worktrees.value(git, record.branch) or record.base_oid)
    _clear_branch(git, record)


def finish_adding(ctx: Context, git: Git, bead: str) -> None:
    """Take away what a killed ``add`` of this bead left, before git is asked about its worktrees."""
    record = _adding(ctx, bead)
    if record is not None:
        take_away(ctx, git, record)


def _adding(ctx: Context, bead: str) -> Bead | None:
    try:
        record = beads.read(ctx.layout, bead)
    except beads.DamagedBeadError:
        return None
    if record is None or record.status != beads.ADDING:
        return None
    own = f"/{lost_worktree.FOLDER}/{lost_worktree.PREFIX}{bead}"  # a stored path is not just believed
    return record if record.path.endswith(own) else None


def finish_all(ctx: Context, git: Git) -> None:
    """Finish adding for every bead whose lock is free: git cannot list worktrees while one is broken."""
    for bead in beads.names(ctx.layout):
        if _adding(ctx, bead) is None:
            continue
        try:
            # No waiting: whoever holds the lock is adding it now, and finishes by himself.
            with beads.hold(ctx.layout, bead, wait=0):
                finish_adding(ctx, git, bead)
        except Busy:
            continue
