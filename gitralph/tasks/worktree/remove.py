"""``git ralph worktree remove``: refuses what would lose work; with ``--force`` it saves everything first."""

import os
import shutil
from dataclasses import dataclass, field

from gitralph.base import files, layout
from gitralph.base.errors import Busy, Refused
from gitralph.base.gitdir import discover
from gitralph.base.quote import few
from gitralph.git import worktrees
from gitralph.git.context import Context
from gitralph.git.run import Git
from gitralph.git.worktrees import Dirt, WorktreeEntry
from gitralph.records import bead as beads
from gitralph.records.bead import Bead
from gitralph.tasks.worktree import leftover, recover_merge, removable, trash, where
from gitralph.tasks.worktree.removable import Objections
from gitralph.tasks.worktree.where import Trees, short


@dataclass
class Removed:
    """What went: ``saved`` is the ref that holds the work, ``kept`` the branch that stayed."""

    path: str
    saved: str | None = None
    kept: str | None = None
    ignored: list[bytes] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def _known(trees: Trees, bead: str) -> Bead:
    record = where.record_of(trees.layout, bead)
    path = trees.path(bead)
    if path == trees.root or (record is None and trees.at(path) is None):
        raise Refused(f"there is no bead '{bead}' here", "git ralph worktree list")
    if record is None:
        raise Refused(f"'{path}' was not made by git ralph worktree", f"git worktree remove {path}")
    if record.status == beads.REMOVED and trees.at(path) is None:
        raise Refused(
            f"the worktree of bead '{bead}' is removed already",
            f"git ralph worktree {'restore' if trash.saved_refs(trees, bead) else 'add'} {bead}",
        )
    return record


def _check_row(git: Git, row: WorktreeEntry, bead: str) -> None:
    if row.locked is not None:
        why = f": {row.locked}" if row.locked else ""
        raise Refused(f"'{row.path}' is locked{why}", f"git ralph worktree unlock {bead}")
    # git would take the checkout around the folder for the one in it.
    if row.missing and os.path.lexists(row.path):
        raise Refused(
            f"'{row.path}' has lost its '.git'; what is in it was left alone", "git worktree repair"
        )
    if not row.missing and not _is_registered(row.path):
        raise Refused(
            f"'{row.path}' holds another checkout than the one that git knows there; it was left alone",
            "git worktree list",
        )
    if not row.missing and row.branch != where.branch_of(bead):
        raise where.off_its_branch(git, row, where.branch_of(bead))


def _is_registered(path: str) -> bool:
    """True when a folder and its registration name each other, as ``git worktree remove`` wants them.

    Another worktree may have been moved there, or another repository cloned.
    """
    place = discover(path)
    if place is None:
        return False
    try:
        said = os.fsdecode(files.read_bytes(f"{place.git_dir}/gitdir", 8192)).rstrip("\n")
    except OSError:
        return False
    back = os.path.dirname(os.path.join(place.git_dir, said))
    return _in_real_folder(back) == _in_real_folder(path)


def _in_real_folder(path: str) -> str:
    # The last part stays as it is: it may be a link to another checkout.
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def remove(ctx: Context, bead: str, force: bool, caller: str | None, cwd: str) -> Removed:
    """Remove a bead's worktree and, once nothing is lost by it, its branch. Raises Refused, Busy."""
    where.checked(bead)
    # A merge that was cut short is finished first, since it decides whether the bead's commits are merged.
    recover_merge.settle(ctx)
    with beads.hold(ctx.layout, bead) as fd:
        leftover.finish_adding(ctx, where.whole(ctx), bead)
        trees = where.open_trees(ctx).keeping(fd)
        record = _known(trees, bead)
        row = trees.at(trees.path(bead))
        if record.status == beads.REMOVING:
            return _resume(trees, record, row, force)
        if row is not None:
            _check_row(trees.git, row, bead)
        elif (holder := where.moved_to(trees, bead)) is not None:
            raise Refused(
                f"branch '{short(where.branch_of(bead))}' is checked out at '{holder.path}'",
                *where.way_home(trees, holder, bead),
            )
        elif where.folder_holds_something(trees.path(bead)):
            raise Refused(f"'{trees.path(bead)}' is no worktree of this repository; it was left alone")
        removable.refuse_never(trees.path(bead), cwd)
        if row is None or row.missing:
            return _absent(trees, record, row, force)
        verdict = removable.judge(trees, record, row.path, caller)
        if verdict.reasons() and not force:
            rest = ", but not what git ignores" if verdict.ignored else ""
            raise Refused(
                f"'{row.path}' is kept: {'; '.join(verdict.reasons())}",
                f"git ralph worktree remove --force {bead}  "
                f"# saves it all under {trash.REFS}/{bead}/ first{rest}",
            )
        return _go(trees, record, row, verdict)


def _begin(trees: Trees, record: Bead, tip: str | None, saved: str | None) -> None:
    """Note on disk what is about to go, so that a removal cut short can be told from new work."""
    record.status = beads.REMOVING
    record.extra["removing"] = {"tip": tip, "saved": saved}
    beads.write(trees.layout, record)


def _go(trees: Trees, record: Bead, row: WorktreeEntry, verdict: Objections) -> Removed:
    done = Removed(row.path, ignored=verdict.ignored)
    tip, git = verdict.tip, trees.inside(row.path)
    # Nothing of a merged and clean worktree needs a save.
    if tip is not None and (verdict.dirt.changed or not verdict.contained):
        saved = trash.save(trees, record.bead, row.path, git, tip, verdict.dirt)
        # A process may write between the save and the removal, so the worktree is looked at again right
        # before. What comes in the moment after is lost, as with `git worktree remove --force`.
        if not trash.still_same(trees, row.path, git, tip, saved):
            raise Busy(
                f"'{row.path}' changes while it is being saved", "stop whoever writes there, then try again"
            )
        done.saved = saved.ref
        record.trash.append(saved.ref)
    place = discover(row.path)
    if place is not None:  # the sessions' records of it stay, for `restore`
        record.extra["state"] = layout.for_place(place, create=False).token
    _begin(trees, record, tip, done.saved)
    try:
        # Where nothing was to save, git runs without --force, so that its own check sees what came since.
        is_forced = done.saved or verdict.ignored or verdict.modules
        worktrees.remove(trees.git, row.path, force=bool(is_forced))
    except BaseException:
        if not _has_begun(git, row.path):
            record.status = beads.IN_PROGRESS
            beads.write(trees.layout, record)
        raise
    return _finish(trees, record, done, tip)


def _has_begun(git: Git, path: str) -> bool:
    """True when git had deleted some of a worktree before it failed: the removal is to be resumed then."""
    if not os.path.lexists(path + "/.git"):
        return True
    changed = worktrees.dirt(git).changed
    return bool(changed) and not any(os.path.lexists(os.path.join(os.fsencode(path), p)) for p in changed)


def _finish(trees: Trees, record: Bead, done: Removed, tip: str | None) -> Removed:
    """Delete the branch and mark the record, once the folder is gone."""
    branch = where.branch_of(record.bead)
    if tip is not None and worktrees.value(trees.git, branch) is not None:
        # git refuses to delete a branch that is checked out; somebody may have done that meanwhile.
        held = trees.again().holder(branch) is not None
        if held or not worktrees.delete_branch(trees.git, branch, tip):
            done.kept = short(branch)
            done.notes.append(f"branch '{short(branch)}' is elsewhere by now and was kept")
    record.status, record.agent_id = beads.REMOVED, None
    record.extra.pop("removing", None)
    beads.write(trees.layout, record)
    return done


def _absent(trees: Trees, record: Bead, row: WorktreeEntry | None, force: bool) -> Removed:
    """Only the registration is left, or not even that: clear it, and keep a branch with work on it."""
    done = Removed(trees.path(record.bead))
    if row is not None:
        worktrees.remove(trees.git, row.path, force=True)
        done.notes.append("the folder was gone; only its registration was removed")
    tip = worktrees.value(trees.git, where.branch_of(record.bead))
    verdict = Objections()
    if tip is not None:
        removable.judge_branch(trees, record, tip, verdict)
    if not verdict.merged and not force:
        done.kept, tip = short(where.branch_of(record.bead)), None
        done.notes.append(f"branch '{done.kept}' has commits that are not merged and was kept")
    elif tip is not None and not verdict.contained:
        done.saved = _save_tip(trees, record, tip)
    return _finish(trees, record, done, tip)


def _save_tip(trees: Trees, record: Bead, tip: str) -> str:
    saved = trash.save(trees, record.bead, trees.root, trees.git, tip, Dirt())
    record.trash.append(saved.ref)
    return saved.ref


def _fresh(trees: Trees, git: Git, path: str, tip: str, saved: str | None) -> Dirt:
    """What lies in a half-deleted worktree and is neither in the tip nor in the save."""
    found = worktrees.dirt(git)
    there = [p for p in found.changed if os.path.lexists(os.path.join(os.fsencode(path), p))]
    oids = trash.hash_files(
        trees.git, path, [p for p in there if not os.path.isdir(os.path.join(os.fsencode(path), p))]
    )
    # By content: the index of a half-deleted worktree tells nothing, and times neither.
    fresh = [p for p in there if oids.get(p) not in _known_oids(trees.git, p, (saved, tip))]
    return Dirt(modified=tuple(fresh))


def _known_oids(git: Git, path: bytes, commits: tuple[str | None, ...]) -> set[str | None]:
    out: set[str | None] = set()
    for commit in commits:
        if commit:
            said = git.try_run("rev-parse", "--verify", "-q", commit.encode() + b":" + path).stdout
            out.add(said.decode().strip() or None)
    return out - {None}


def _resume(trees: Trees, record: Bead, row: WorktreeEntry | None, force: bool) -> Removed:
    """Finish a removal that was killed. What appeared since then counts as work."""
    noted = record.extra.get("removing")
    tip, saved = (noted.get("tip"), noted.get("saved")) if isinstance(noted, dict) else (None, None)
    path = trees.path(record.bead)
    done = Removed(path, saved=saved, notes=["an earlier removal was cut short; finished now"])
    admin = where.admin_of(trees, path)
    if os.path.isdir(path) and admin and tip:
        git = trees.git.elsewhere(path, GIT_DIR=admin, GIT_WORK_TREE=path)
        fresh = _fresh(trees, git, path, tip, saved)
        if fresh.changed and not force:
            raise Refused(f"'{path}' has new work: {few(fresh.changed, 10)}")
        if fresh.changed:
            again = trash.save(trees, record.bead, path, git, tip, fresh, seed=saved or tip)
            record.trash.append(again.ref)
            done.saved = again.ref
        shutil.rmtree(path)
    elif where.folder_holds_something(path):
        raise Refused(f"'{path}' is no worktree any more; it was left alone")
    if row is not None:
        worktrees.remove(trees.git, path, force=True)
    return _finish(trees, record, done, tip)
