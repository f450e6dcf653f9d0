"""Finishes or drops merges of beads that were cut short.

Else a checkout would keep an ``index.lock`` that a person has to delete, or an index that stages the reverse
of the merge.
"""

import os

from gitralph.base import locks
from gitralph.base.quote import few
from gitralph.git import carry, dead_locks, index, refs, worktrees
from gitralph.git.context import Context, checkout
from gitralph.git.refs import Head
from gitralph.git.repository import Repository
from gitralph.git.trees import Entry
from gitralph.records import intents
from gitralph.records.intents import Merging


def settle(ctx: Context) -> None:
    """Finish or drop under the commit lock; one readdir when there is nothing."""
    if intents.names(ctx.layout, Merging):
        with locks.hold(ctx.layout, locks.COMMIT):
            recover(ctx)


def recover(ctx: Context) -> None:
    """As :func:`settle`, for a caller that holds the lock."""
    for plan in list(intents.unfinished(ctx.layout, Merging)):
        repo = checkout(ctx, plan.git_dir, plan.root) if plan.git_dir and plan.root else None
        dead_locks.settle_refs(repo or ctx.repo, plan.target)
        if repo is not None and _landed(ctx, repo, plan):
            _finish(ctx, repo, plan)
        if plan.git_dir:
            index.drop_lock(f"{plan.git_dir}/index", plan.prepared)
        intents.remove(ctx.layout, plan)


def _landed(ctx: Context, repo: Repository | None, plan: Merging) -> bool:
    now = worktrees.value(ctx.git, plan.target)
    return refs.contains(ctx.repo, Head(plan.target, now), plan.new) or refs.left_from(
        repo or ctx.repo, plan.target, plan.new
    )


def _finish(ctx: Context, repo: Repository, plan: Merging) -> None:
    """Bring the target's checkout forward, as long as it still is on the target."""
    head = refs.read_head(repo)
    # Somebody switched or reset the checkout after the crash: its files are another commit's now.
    if head.ref != plan.target or not refs.contains(repo, head, plan.new):
        return
    stem = f"{ctx.layout.tmp}/{os.getpid()}-{os.urandom(4).hex()}"
    found = carry.open_carry(repo, carry.changed(repo.git, plan.old, plan.new), stem + ".index")
    todo = carry.unfinished(found)
    if not todo:
        found.copy.remove()
        return
    carry.build_index(found, todo)
    mine = index.is_ours(repo.index + ".lock", plan.prepared.get("index", ""))
    install(ctx, found, todo, stem, repo.index + ".lock", locked=mine)
    os.unlink(found.copy.path)


def install(
    ctx: Context,
    found: carry.Carry,
    todo: dict[bytes, Entry | None],
    stem: str,
    lock_file: str,
    locked: bool,
) -> None:
    """Write the files and put the new index in place, under ``index.lock``.

    The branch has moved, so the index comes whatever files git could not write: of these it tells as changed
    on disk. With the old index the next commit would take the merge back.
    """
    if not locked:
        index.take_lock(found.copy.path, lock_file, locks.WAIT)
    try:
        left = carry.write_files(found, todo, stem + ".timed")
        os.chmod(stem + ".timed", os.stat(found.copy.path).st_mode & 0o777)
        os.rename(stem + ".timed", found.repo.index)
    finally:
        if not locked:
            os.unlink(lock_file)
    if left:
        ctx.warn(
            f"git could not write {few(left, 10)} in '{found.repo.root}', "
            "which counts as changed there until git checkout writes it"
        )
