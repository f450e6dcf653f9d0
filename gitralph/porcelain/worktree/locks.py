"""``git ralph worktree lock`` and ``unlock``: git's own lock, by bead."""

from gitralph.errors import Fatal, Refused
from gitralph.plumbing import worktree
from gitralph.plumbing.worktree import Registered
from gitralph.porcelain.context import Context
from gitralph.porcelain.worktree import where
from gitralph.porcelain.worktree.where import Trees
from gitralph.state import bead as beads


def _registered(trees: Trees, bead: str) -> Registered:
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
        worktree.lock(trees.git, row.path, reason)


def unlock(ctx: Context, bead: str) -> None:
    """Unlock a bead's worktree. Raises Refused when it is not locked."""
    with beads.hold(ctx.layout, where.checked(bead)):
        trees = where.open_trees(ctx)
        row = _registered(trees, bead)
        if row.locked is None:
            raise Refused(f"'{row.path}' is not locked")
        worktree.unlock(trees.git, row.path)
