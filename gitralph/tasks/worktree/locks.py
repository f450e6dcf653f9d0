"""``git ralph worktree lock`` and ``unlock``: git's own lock, by bead."""

from gitralph.base.errors import Fatal, Refused
from gitralph.git import worktrees
from gitralph.git.context import Context
from gitralph.git.worktrees import WorktreeEntry
from gitralph.records import bead as beads
from gitralph.tasks.worktree import where
from gitralph.tasks.worktree.where import Trees


def _registered(trees: Trees, bead: str) -> WorktreeEntry:
    row = trees.at(trees.path(where.checked(bead)))
    if row is None:
        raise Fatal(f"bead '{bead}' has no worktree", f"git ralph worktree add {bead}")
    return row


def lock(ctx: Context, bead: str, reason: str | None) -> None:
    """Lock a bead's worktree. Raises Refused when it is locked already."""
    with beads.hold(ctx.layout, where.checked(bead)):
        trees = where.open_trees(ctx)
        row = _registered(trees, bead)
        if row.locked is not None:
            raise Refused(f"'{row.path}' is locked already" + (f": {row.locked}" if row.locked else ""))
        worktrees.lock(trees.git, row.path, reason)


def unlock(ctx: Context, bead: str) -> None:
    """Unlock a bead's worktree. Raises Refused when it is not locked."""
    with beads.hold(ctx.layout, where.checked(bead)):
        trees = where.open_trees(ctx)
        row = _registered(trees, bead)
        if row.locked is None:
            raise Refused(f"'{row.path}' is not locked")
        worktrees.unlock(trees.git, row.path)
