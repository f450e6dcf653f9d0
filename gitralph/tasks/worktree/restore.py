"""``git ralph worktree restore``: a removed worktree as it was, from its save."""

from dataclasses import dataclass

from gitralph.base.errors import Fatal, Refused
from gitralph.git import worktrees
from gitralph.git.context import Context
from gitralph.records import bead as beads
from gitralph.tasks.worktree import exclude, trash, where
from gitralph.tasks.worktree.where import Trees, short


@dataclass(frozen=True)
class Restored:
    """What came back: where, from which save, how many files beyond the tip."""

    path: str
    saved: str
    files: int


def _chosen(trees: Trees, bead: str, given: str | None) -> str:
    refs = trash.saved_refs(trees, bead)
    if given is not None:
        refs = [ref for ref in refs if given in (ref, ref.rsplit("/", 1)[-1])]
    if not refs:
        raise Fatal(f"there is no save of bead '{bead}'", f"git for-each-ref {trash.REFS}/")
    return refs[-1]


def _check(trees: Trees, bead: str, tip: str) -> bool:
    """Whether the branch must be made. Raises Refused when something is in the way."""
    path, branch = trees.path(bead), where.branch_of(bead)
    if trees.at(path) is not None or where.folder_holds_something(path):
        raise Refused(f"'{path}' exists", f"git ralph worktree remove {bead}")
    holder = trees.holder(branch)
    if holder is not None:
        raise Refused(f"branch '{short(branch)}' is checked out at '{holder.path}'")
    now = worktrees.value(trees.git, branch)
    # A branch that went on has commits that a checkout of the save's tip would not show.
    if now not in (None, tip):
        raise Refused(
            f"branch '{short(branch)}' is at {str(now)[:12]}, the save stands on {tip[:12]}",
            f"git branch -m {short(branch)} <other name>",
        )
    return now is None


def restore(ctx: Context, bead: str, stamp: str | None = None) -> Restored:
    """Bring a removed worktree back, files byte for byte, staged changes too. The save stays."""
    where.checked(bead)
    with beads.hold(ctx.layout, bead) as fd:
        trees = where.open_trees(ctx).keeping(fd)
        ref = _chosen(trees, bead, stamp)
        tip, *staged = trash.parents_of(trees.git, ref)
        fresh = _check(trees, bead, tip)
        path, branch = trees.path(bead), where.branch_of(bead)
        exclude.exclude(ctx.repo.common_dir)
        exclude.make_home(trees.root)
        worktrees.add(trees.git, path, short(branch), tip if fresh else None)
        count = trash.write_back(trees, path, tip, ref)
        if staged:
            trees.inside(path).run("read-tree", staged[0])
        record = where.record_of(ctx.layout, bead) or beads.Bead(bead)
        record.branch, record.path, record.base_oid = branch, path, record.base_oid or tip
        record.status, record.owner = beads.IN_PROGRESS, None
        record.extra.pop("removing", None)
        beads.write(ctx.layout, record)
    return Restored(path, ref, count)
