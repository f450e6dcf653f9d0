"""``git ralph worktree merge``: a bead's branch into its base, in memory; a conflict is only an answer."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from gitralph.base import files, locks
from gitralph.base.errors import Busy, Fatal, Refused
from gitralph.base.quote import few
from gitralph.git import carry, commits, index, merge, refs, worktrees
from gitralph.git.context import Context, checkout
from gitralph.git.refs import Head, LostRaceError, Move
from gitralph.git.repository import Repository
from gitralph.git.trees import Entry
from gitralph.git.worktrees import WorktreeEntry
from gitralph.records import bead as beads
from gitralph.records import intents
from gitralph.records.bead import Bead
from gitralph.records.intents import Merging
from gitralph.tasks.prove.judge import MergeJudge
from gitralph.tasks.worktree import recover_merge, where
from gitralph.tasks.worktree.where import Trees, short

# A turn is lost where a side moved while ``judge`` ran. After five in a row it is too slow for this base.
_TURNS = 5
FORWARD, TRUE, ALREADY = "fast-forward", "merge", "already"


@dataclass(frozen=True)
class MergeDone:
    """What a merge came to. ``commit`` is where the target is now."""

    bead: str
    branch: str
    target: str
    before: str
    commit: str
    how: str


class ConflictError(Refused):
    """The two sides changed the same lines; nothing moved. ``paths`` are in conflict."""

    def __init__(self, message: str, paths: tuple[bytes, ...], said: tuple[str, ...], *hints: str) -> None:
        super().__init__(message, *hints)
        self.paths = paths
        self.said = said


@dataclass(frozen=True)
class MergeMove:
    """A move of ``target`` from ``old`` to ``new``; ``ident`` and ``message`` are for the reflogs."""

    bead: Bead
    target: str
    old: str
    new: str
    how: str
    ident: Mapping[str, str]
    message: str


def _target(trees: Trees, record: Bead, given: str | None) -> tuple[str, str]:
    """The branch to move and its commit. Raises Refused for a base that is no branch, Fatal for none."""
    ref = record.base_ref if given is None else worktrees.full_name(trees.git, given)
    if ref is None or not ref.startswith("refs/heads/"):
        named = f"'{given or short(ref or '')}' is not a branch"
        began = f"'{record.bead}' began at commit {(record.base_oid or '?')[:7]}, on no branch"
        raise Refused(named if given or ref else began, _into_another(trees, record))
    oid = worktrees.value(trees.git, ref)
    if oid is None:
        raise Fatal(f"branch '{short(ref)}' is gone", _into_another(trees, record))
    return ref, oid


def _into_another(trees: Trees, record: Bead) -> str:
    """How to merge into what the main checkout has, or into a branch to choose."""
    there = trees.rows[0].branch
    if there is None:
        return "git branch  # what there is to merge into, for --into"
    return f"git ralph worktree merge {record.bead} --into {shlex.quote(short(there))}"


def _message(record: Bead, target: str) -> str:
    title = f": {' '.join(record.title.split())}" if record.title else ""
    # As git words it (fmt-merge-msg).
    into = "" if short(target) in ("main", "master") else f" into {short(target)}"
    return f"Merge bead '{record.bead}'{title}{into}\n\nRalph-Bead: {record.bead}\n"


def _plan(trees: Trees, record: Bead, given: str | None, forward: bool) -> MergeMove:
    branch = where.branch_of(record.bead)
    tip = worktrees.value(trees.git, branch)
    if tip is None:
        row = trees.at(trees.path(record.bead))
        there = row is not None and not row.missing
        way = where.way_back(trees.git, trees.path(record.bead), branch) if there else None
        raise Fatal(f"there is no branch '{short(branch)}'", way or f"git ralph worktree add {record.bead}")
    target, old = _target(trees, record, given)
    if target == branch:
        raise Refused(f"'{short(branch)}' cannot be merged into itself")
    git = trees.ctx.git
    if merge.is_ancestor(git, tip, old):
        return MergeMove(bead=record, target=target, old=old, new=old, how=ALREADY, ident={}, message="")
    # Nothing happened on the target since the branch left it, so it can move without a commit.
    if forward and merge.is_ancestor(git, old, tip):
        note = f"merge {short(branch)}: Fast-forward"
        return MergeMove(
            bead=record,
            target=target,
            old=old,
            new=tip,
            how=FORWARD,
            ident=commits.committer_now(git),
            message=note,
        )
    found = merge.merge_trees(git, old, tip)
    if found.conflicts:
        names = few(found.conflicts, 10)
        raise ConflictError(
            f"'{short(branch)}' conflicts with '{short(target)}' in {names}",
            found.conflicts,
            found.said,
            f"{where.git_in(trees.path(record.bead))} merge {shlex.quote(short(target))}"
            "  # settle it there, then merge again",
        )
    commit, ident = merge.commit_merge(
        git, trees.ctx.config, found.tree, (old, tip), _message(record, target)
    )
    return MergeMove(
        bead=record,
        target=target,
        old=old,
        new=commit,
        how=TRUE,
        ident=ident,
        message=f"merge {short(branch)}: Merge made in memory",
    )


def _checkout(trees: Trees, target: str) -> Repository | None:
    """The checkout that has the target as its HEAD. Raises Refused while something is in progress there."""
    row = trees.holder(target)
    if row is None or row.bare:
        return None
    path = trees.root if row is trees.rows[0] else row.path
    if row.missing and row is not trees.rows[0]:
        raise Refused(
            f"'{short(target)}' is checked out at '{path}', which is not there",
            "git worktree prune  # if it was removed; one that was moved: git worktree repair <path>",
        )
    repo = checkout(trees.ctx, trees.inside(path).line("rev-parse", "--absolute-git-dir"), path)
    if repo is None:
        raise Fatal(f"cannot use the checkout '{path}'")
    operation = repo.operation()
    if operation:
        raise Refused(f"{operation} is in progress in '{path}'", f"{where.git_in(path)} status")
    return repo


def _judge(found: carry.Carry, target: str) -> None:
    bad = carry.unclean(found)
    if bad:
        found.copy.remove()
        raise Refused(
            f"'{short(target)}' is checked out at '{found.repo.root}', which has its own changes of "
            f"{few(bad, 10)}",
            # a stash would take the lines of sessions along, and an agent's is denied
            f"{where.git_in(found.repo.root)} ralph status  # whose they are: they must be committed first",
        )


def _try_writing(found: carry.Carry, target: str, todo: Mapping[bytes, Entry | None], aside: str) -> None:
    """Raise Refused where git could not write a file of the checkout, before anything moves."""
    bad, said = carry.unwritable(found, todo, aside)
    if bad:
        found.copy.remove()
        raise Refused(
            f"'{short(target)}' is checked out at '{found.repo.root}', where git cannot write "
            f"{few(bad, 10)}: {said}",
            "put that right, then merge again",
        )


def _stem(ctx: Context) -> str:
    files.make_folder(ctx.layout.tmp)
    return f"{ctx.layout.tmp}/{os.getpid()}-{os.urandom(4).hex()}"


def _land(trees: Trees, plan: MergeMove) -> None:
    """Move the target, its checkout with it. Raises Refused, Busy; nothing moved then."""
    ctx = trees.ctx
    repo, stem = _checkout(trees, plan.target), _stem(ctx)
    prepared = {"index": f"{stem}.index"}
    noted = Merging(plan.bead.bead, plan.target, plan.old, plan.new, prepared=prepared)
    move = Move(Head(plan.target, plan.old), plan.new, plan.ident, plan.message)
    found = None
    if repo is not None:
        noted.git_dir, noted.root = repo.git_dir, repo.root
        found = carry.open_carry(repo, carry.changed(repo.git, plan.old, plan.new), prepared["index"])
        _judge(found, plan.target)
        todo = {path: pair[1] for path, pair in found.pairs.items()}
        carry.build_index(found, todo)
        _try_writing(found, plan.target, todo, stem + ".trial")
    intents.write(ctx.layout, noted)
    try:
        _swap(ctx, move, found, stem)
    except BaseException:
        now = Head(plan.target, worktrees.value(ctx.git, plan.target))
        if not refs.contains(ctx.repo, now, plan.new):
            intents.remove(ctx.layout, noted)
        raise
    intents.remove(ctx.layout, noted)


def _swap(ctx: Context, move: Move, found: carry.Carry | None, stem: str) -> None:
    if found is None:
        refs.swap_branch(ctx.repo, move, locks.WAIT)
        return
    lock_file = found.repo.index + ".lock"
    index.take_lock(found.copy.path, lock_file, locks.WAIT)
    try:
        if index.moved(found.copy):
            raise LostRaceError
        refs.swap(found.repo, move, locks.WAIT)
        refs.sync(found.repo, move.head)
        todo = {path: pair[1] for path, pair in found.pairs.items()}
        recover_merge.install(ctx, found, todo, stem, lock_file, locked=True)
    finally:
        if index.is_ours(lock_file, found.copy.path):
            os.unlink(lock_file)


def merge_bead(
    ctx: Context, bead: str, into: str | None, forward: bool, judge: MergeJudge | None = None
) -> MergeDone:
    """Merge a bead's branch into its base. Raises ConflictError, Refused, Busy, Fatal; nothing moved then.

    ``judge`` is asked of the merged tree, with no lock held. Where a side moved meanwhile, it is asked again.
    """
    where.checked(bead)
    if judge is None:
        return _merged(ctx, bead, into, forward, None)
    for _ in range(_TURNS):
        proved = _proved(ctx, bead, into, forward, judge)
        try:
            return _merged(ctx, bead, into, forward, proved)
        except LostRaceError:
            continue
    raise Busy(f"the base of '{bead}' moved {_TURNS} times meanwhile", "try again")


def _proved(ctx: Context, bead: str, into: str | None, forward: bool, judge: MergeJudge) -> str | None:
    """The tree that passed; None where there is nothing to merge."""
    trees = where.open_trees(ctx)
    record = where.record_of(ctx.layout, bead)
    if record is None:
        return None
    plan = _plan(trees, record, into, forward)
    tip = worktrees.value(trees.git, where.branch_of(bead))
    if plan.how == ALREADY or tip is None:
        return None
    judge(plan.new, plan.old, tip)
    return merge.tree_of(ctx.git, plan.new)


def _merged(ctx: Context, bead: str, into: str | None, forward: bool, proved: str | None) -> MergeDone:
    """Merge; a tree that is not the ``proved`` one raises LostRaceError."""
    with beads.hold(ctx.layout, bead), locks.hold(ctx.layout, locks.COMMIT):
        recover_merge.recover(ctx)
        trees = where.open_trees(ctx)
        record = where.record_of(ctx.layout, bead)
        if record is None:
            raise Fatal(f"there is no bead '{bead}' here", "git ralph worktree list")
        plan = _plan(trees, record, into, forward)
        if plan.how != ALREADY:
            if proved is not None and merge.tree_of(ctx.git, plan.new) != proved:
                raise LostRaceError
            try:
                _land(trees, plan)
            except LostRaceError:
                raise Busy(f"'{short(plan.target)}' or its checkout moved meanwhile", "try again") from None
        _note(trees, record, plan)
    return MergeDone(bead, short(where.branch_of(bead)), short(plan.target), plan.old, plan.new, plan.how)


def _note(trees: Trees, record: Bead, plan: MergeMove) -> None:
    """Note the merge. A bead that nobody works on any more counts as merged; a running loop goes on."""
    row = trees.at(trees.path(record.bead))
    there = row if row is not None and not row.missing else None
    if there is not None and not _is_merged(trees, there, record, plan):
        trees.ctx.warn(
            f"'{there.path}' is on {where.named(there)}, whose commits were not merged: "
            f"{where.way_back(trees.git, there.path, where.branch_of(record.bead))}"
        )
        return
    record.extra["merged"] = {"target": plan.target, "commit": plan.new}
    if record.status == beads.COMPLETED or (record.active and record.owner is None):
        record.status = beads.MERGED
    beads.write(trees.layout, record)
    if there is not None:
        left = worktrees.dirt(trees.inside(there.path)).changed
        if left:
            trees.ctx.warn(f"'{there.path}' has uncommitted work that was not merged: {few(left, 10)}")


def _is_merged(trees: Trees, row: WorktreeEntry, record: Bead, plan: MergeMove) -> bool:
    """False where the bead's worktree is on something else than its branch, with commits of its own."""
    if row.branch == where.branch_of(record.bead) or row.head is None:
        return True
    return merge.is_ancestor(trees.git, row.head, plan.new)
