"""Worktrees of our own, each for one process at a time; by default in the state folder.

Hooks run in one where they could harm what others write, with a repository of its own (`private_repository`),
and proofs run in linked ones, detached. A worktree is kept between uses, so that only files that differ are
written. git is always told the worktree's git dir. A command that ran there may have removed ``.git``, and
git would then find the user's repository around it.
"""

import contextlib
import hashlib
import itertools
import os
import shutil
from contextlib import ExitStack
from typing import NamedTuple

from gitralph.base import files, locks, nul
from gitralph.base.errors import Busy, Fatal
from gitralph.base.ids import EMPTY_TREE
from gitralph.git import listing, private_repository, worktrees
from gitralph.git.context import Context
from gitralph.git.refs import Head
from gitralph.git.run import Git, GitError
from gitralph.git.worktrees import WorktreeEntry

HOOKS, PROOFS = "scratch", "prove"
# A repository's hook must not run for a worktree in which nobody works, and no fsmonitor may watch it. Sparse
# checkout would leave out files that a check needs.
_QUIET = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.sparseCheckout=false")
_REASON = "git ralph runs commands here; taken away by: git ralph gc"
# HEAD before the first commit points to this branch, which is never made.
_UNBORN = "refs/heads/ralph-unborn"


class Slot(NamedTuple):
    """A place for one worktree, held by a lock until it is closed."""

    folder: str
    lock: ExitStack

    def close(self) -> None:
        """Release the place for the next process."""
        self.lock.close()


def _slot(ctx: Context, folder: str) -> Slot:
    """The place at a folder. Raises Busy where somebody uses it."""
    kind, name = folder.split("/")[-2:]
    with ExitStack() as stack:
        stack.enter_context(locks.hold(ctx.layout, locks.slot(kind, name), wait=0))
        return Slot(folder, stack.pop_all())


def take(ctx: Context, kind: str) -> Slot:
    """A place that nobody uses now; there is always one more."""
    for number in itertools.count():
        try:
            return _slot(ctx, f"{_top(ctx)}/{kind}/{ctx.layout.token}-{number}")
        except Busy:
            continue
    raise AssertionError("unreachable")


def _top(ctx: Context) -> str:
    """The folder of these worktrees.

    Jest finds no test in a folder below a ``.git`` (jest-haste-map 29.7, VCS_DIRECTORIES). A folder of the
    user's may serve several repositories. Raises Fatal for one that is no absolute path, or lies in the
    working tree, where every tool would find each file twice.
    """
    given = ctx.config.get("ralph.prooffolder")
    if not given:
        return ctx.layout.top
    folder = os.path.expanduser(given)
    if not os.path.isabs(folder):
        raise Fatal(f"bad value '{given}' for 'ralph.proofFolder': an absolute path is needed")
    root = os.path.realpath(ctx.repo.root)
    if os.path.commonpath([root, os.path.realpath(folder)]) == root:
        raise Fatal(f"bad value '{given}' for 'ralph.proofFolder': it is in the working tree")
    return f"{folder}/{hashlib.sha256(os.fsencode(ctx.repo.common_dir)).hexdigest()[:16]}"


def lay_out(ctx: Context, slot: Slot, tree: bytes, head: str | None, env: dict[str, str]) -> Git:
    """Make a linked worktree hold exactly ``tree``, HEAD detached at ``head``; what git ignores there stays.

    ``head`` None is the unborn branch. Raises GitError.
    """
    _drop_locks(ctx, slot.folder)
    try:
        return _laid_out(ctx, slot.folder, tree, head, env)
    except GitError:  # a crash left it half made; it is ours alone, so begin afresh
        discard(ctx, slot)
        return _laid_out(ctx, slot.folder, tree, head, env)


def lay_out_apart(
    ctx: Context, slot: Slot, tree: bytes, head: Head, env: dict[str, str], excludes: str
) -> tuple[Git, str]:
    """Make a worktree with a repository of its own hold exactly ``tree``, on the branch of ``head``.

    Also returns the repository's folder. Raises GitError.
    """
    if _admin(ctx, slot.folder) is not None:  # 0.1.0 had linked ones
        discard(ctx, slot)

    def laid_out() -> tuple[Git, str]:
        made = private_repository.lay_out(ctx, slot.folder, head, excludes)
        outer = ctx.outer.elsewhere(slot.folder, **env)
        _fill(outer.at(GIT_DIR=made, GIT_WORK_TREE=slot.folder), tree, "-ffdqx")
        return outer, made

    try:
        return laid_out()
    except GitError:
        discard(ctx, slot)
        return laid_out()


def discard(ctx: Context, slot: Slot) -> None:
    """Remove the worktree, and git's record of it."""
    ctx.git.try_run("worktree", "remove", "--force", "--force", slot.folder)
    private_repository.remove(slot.folder)
    ctx.git.try_run("worktree", "unlock", slot.folder)
    ctx.git.try_run("worktree", "remove", "--force", "--force", slot.folder)


def _admin(ctx: Context, folder: str) -> str | None:
    """The admin folder of the worktree; None where folder and admin folder do not name each other."""
    try:
        if os.path.islink(folder):
            return None
        said = os.fsdecode(files.read_bytes(folder + "/.git", 8192)).rstrip("\n")
        admin = os.path.realpath(said.removeprefix("gitdir: "))
        back = os.fsdecode(files.read_bytes(admin + "/gitdir", 8192)).rstrip("\n")
    except OSError:
        return None
    ours = os.path.dirname(admin) == ctx.repo.common_dir + "/worktrees"
    return admin if ours and os.path.realpath(back) == os.path.realpath(folder + "/.git") else None


def _drop_locks(ctx: Context, folder: str) -> None:
    """Remove the locks of a killed git: the slot's lock shows that no git is at work there."""
    admin = _admin(ctx, folder)
    for name in ("index.lock", "HEAD.lock") if admin else ():
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{admin}/{name}")


def _laid_out(ctx: Context, folder: str, tree: bytes, head: str | None, env: dict[str, str]) -> Git:
    if _admin(ctx, folder) is None:
        shutil.rmtree(folder, ignore_errors=True)
        start = head or _nothing_yet(ctx)
        worktrees.patiently(
            # No reflog: it would keep every proved tree's commit from gc for ninety days.
            ctx.git,
            *_QUIET,
            "-c",
            "core.logAllRefUpdates=false",
            "worktree",
            "add",
            "--detach",
            "--no-checkout",
            "--force",
            "--lock",
            "--reason",
            _REASON,
            folder,
            start,
        )
    admin = _admin(ctx, folder)
    if admin is None:
        raise GitError(["worktree", "add"], 128, f"'{folder}' is no worktree of ours".encode())
    outer = ctx.outer.elsewhere(folder, **env)
    git = outer.at(GIT_DIR=admin, GIT_WORK_TREE=folder)
    if head is not None:
        git.run(*_QUIET, "update-ref", "--no-deref", "HEAD", head)
    else:
        git.run(*_QUIET, "symbolic-ref", "HEAD", _UNBORN)
    # Without -x ignored files stay: build caches make the next proof cheap.
    _fill(git, tree, "-ffdq")
    return outer


def _fill(git: Git, tree: bytes, clean: str) -> None:
    _look_at_every_file(git)
    git.run(*_QUIET, "read-tree", "--reset", "-u", tree)
    # -f twice also removes nested repositories that a command left (git-clean(1)).
    git.run(*_QUIET, "clean", clean)


def _look_at_every_file(git: Git) -> None:
    """Take marks off that a command left, behind which git would not see what it wrote (skip-worktree)."""
    rows = listing.entries(git.run(*_QUIET, "ls-files", "-s", "-v", "-z"))
    hidden = [row.path for row in rows if row.tag.upper() == "S"]
    if hidden:
        words = ("update-index", "--no-skip-worktree", "-z", "--stdin")
        git.run(*_QUIET, *words, stdin=nul.joined(hidden))


def _nothing_yet(ctx: Context) -> str:
    """A commit from which git can make a worktree before the first commit exists; no ref will hold it."""
    who = {f"GIT_{role}_{what}": "gitralph" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return ctx.git.at(**who).line("commit-tree", "-m", "nothing yet", EMPTY_TREE)


def kept(ctx: Context) -> list[str]:
    """The worktrees that were used before, by folder; of every worktree of the repository."""
    found = []
    tops = {ctx.layout.top, _top(ctx)}
    for kind, top in ((kind, f"{top}/{kind}") for top in sorted(tops) for kind in (HOOKS, PROOFS)):
        for name in files.names(top):
            lock = ctx.layout.lock(locks.slot(kind, name))
            if os.path.isdir(f"{top}/{name}") and os.path.lexists(lock):
                found.append(f"{top}/{name}")
    return found


def is_one(row: WorktreeEntry) -> bool:
    """True for such a worktree: nobody works in it."""
    return row.locked == _REASON


def retire(ctx: Context, folder: str) -> bool:
    """Remove an idle worktree; False when somebody has begun to use it meanwhile."""
    try:
        slot = _slot(ctx, folder)
    except Busy:
        return False
    try:
        discard(ctx, slot)
    finally:
        slot.close()
    return True
