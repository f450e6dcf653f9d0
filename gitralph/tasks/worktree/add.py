"""``git ralph worktree add``: makes a bead's own checkout, or finds the one that is there."""

import itertools
import os
from dataclasses import dataclass, field

from gitralph.base import layout, process
from gitralph.base.errors import Failed, Fatal, Refused
from gitralph.base.gitdir import discover
from gitralph.git import worktrees
from gitralph.git.context import Context
from gitralph.git.run import GitError
from gitralph.git.worktrees import WorktreeEntry
from gitralph.hook import sessionfile
from gitralph.records import bead as beads
from gitralph.records import sessions
from gitralph.records.bead import Bead
from gitralph.tasks.worktree import include, leftover, on_creation, where
from gitralph.tasks.worktree.where import Trees, short

# --- whose a bead is: a live owner keeps it, a dead one's is taken over only when asked for ---

# The hint for an agent: whose session ends is for a person to say.
_SHOWS = "git ralph worktree list  # which are free"


def refuse_others(ctx: Context, record: Bead | None, session: str | None, take_over: bool) -> str | None:
    """Check that ``session`` may have the bead. Returns the owner it is taken from, None when it is nobody's.

    Raises Refused while another session has it in progress: always if that one is live, else without
    ``take_over``.
    """
    if record is None or not record.active or record.owner in (None, session):
        return None
    owner = str(record.owner)
    state, called = sessions.state_of(ctx.layout, owner), ctx.called(owner)
    taking = f"git ralph worktree add {record.bead} --take-over"
    if state == "live":
        raise Refused(
            f"bead '{record.bead}' is in progress: session '{called}' has it and is live",
            _SHOWS if ctx.is_agent else f"git ralph session end {called} && {taking}",
        )
    if not take_over:
        raise Refused(
            f"bead '{record.bead}' is in progress: session '{called}' has it, though it is {state}",
            _SHOWS if ctx.is_agent and state != "ended" else taking,
        )
    return owner


def enlist(ctx: Context, session: str | None, bead: str) -> None:
    """Make sure the owner has a session record that names the bead."""
    if session is None:
        return
    kept = sessionfile.read(ctx.layout, session)
    if kept is None:
        sessionfile.ensure(ctx.layout, session, ctx.repo.place, bead=bead)
        sessionfile.update(ctx.layout, session, process=process.ancestor())
    elif kept.get("bead") is None:
        sessionfile.update(ctx.layout, session, bead=bead)


# --- the checkout ---


@dataclass(frozen=True)
class Base:
    """What a new branch starts from. ``ref`` is None for an oid or a detached HEAD."""

    ref: str | None
    oid: str


@dataclass
class Added:
    """A bead's worktree as it is now. ``failed`` tells of its post-create command, where that failed."""

    record: Bead
    reused: bool = False
    opened: bool = False
    taken_from: str | None = None
    notes: list[str] = field(default_factory=list)
    failed: Failed | None = None


def base_of(ctx: Context, given: str | None) -> Base:
    """The base, judged in the caller's worktree before anything is made. Raises Fatal."""
    name = given or "HEAD"
    oid = worktrees.value(ctx.git, name)
    if oid is None:
        if given is None:
            raise Fatal("there is no commit yet to start a worktree from")
        raise Fatal(
            f"'{given}' is not a commit", "git fetch may bring it; --base takes a branch, a tag or an oid"
        )
    return Base(worktrees.full_name(ctx.git, name), oid)


def _heads(trees: Trees) -> list[str]:
    said = trees.git.run("for-each-ref", "--format=%(refname)", where.BRANCHES)
    return os.fsdecode(said).split("\n")[:-1]


def _check_names(trees: Trees, bead: str) -> bool:
    """Whether the bead's branch exists. Raises Refused for a clash or a case twin."""
    heads, branch = _heads(trees), where.branch_of(bead)
    # Refs are files: where `refs/heads/ralph` is one, nothing can lie below it, and a ref below the bead's
    # name bars the bead's own (git-check-ref-format(1)).
    if where.BRANCHES in heads:
        raise Refused(
            f"a branch 'ralph' exists, so '{short(branch)}' cannot", "git branch -m ralph <other name>"
        )
    below = [head for head in heads if head.startswith(branch + "/")]
    if below:
        raise Refused(f"a branch '{short(below[0])}' exists, so '{short(branch)}' cannot")
    known = [*beads.names(trees.layout), *(head.removeprefix(where.BRANCHES + "/") for head in heads)]
    # A disk that ignores case has one folder and one ref file for both.
    for twin in known:
        if twin != bead and twin.lower() == bead.lower():
            raise Refused(
                f"'{bead}' differs only in case from bead '{twin}'", f"git ralph worktree add {twin}"
            )
    return branch in heads


def _check_place(trees: Trees, bead: str, path: str) -> None:
    holder = where.moved_to(trees, bead)
    # git would refuse as well, but only after it had made folders.
    if holder is not None:
        raise Refused(
            f"branch '{short(where.branch_of(bead))}' is checked out at '{holder.path}'",
            *where.way_home(trees, holder, bead),
        )
    if trees.at(path) is None and where.folder_holds_something(path):
        raise Refused(f"'{path}' exists and is no worktree of this repository; it was left alone")


def _clear_absent(trees: Trees, row: WorktreeEntry) -> Trees:
    """Unregister a worktree whose folder is gone, and only that one."""
    if os.path.lexists(row.path):
        raise Refused(f"'{row.path}' has lost its '.git'", "git worktree repair")
    if row.locked is not None:
        raise Refused(
            f"'{row.path}' is locked{_why(row)} and absent",
            f"git ralph worktree unlock {os.path.basename(row.path).removeprefix('ralph-')}",
        )
    # Not `git worktree prune`: that takes every absent one, also those on a disk that is not mounted now.
    worktrees.remove(trees.git, row.path, force=True)
    return trees.again()


def _why(row: WorktreeEntry) -> str:
    return f" ({row.locked})" if row.locked else ""


def _make(trees: Trees, record: Bead, base: Base, exists: bool) -> None:
    """Make the worktree. Where that fails, what there is of it is removed."""
    where.exclude(trees.ctx.repo.common_dir)
    where.make_home(trees.root)
    for tries in itertools.count():
        try:
            worktrees.add(trees.git, record.path, short(record.branch), None if exists else base.oid)
            return
        # BaseException, since a Ctrl-C leaves as much behind as a failure.
        except BaseException as error:
            leftover.take_away(trees.ctx, trees.git, record)
            if not isinstance(error, GitError):
                raise
            # Another `git worktree` command that runs at this moment sees ours half made, and we see its;
            # both pass by themselves.
            if tries >= worktrees.PATIENCE or not worktrees.is_half_registered(error):
                raise Refused(f"git made no worktree: {error.message}") from error
            worktrees.pause(tries, error)


def _start_of(trees: Trees, branch: str, base: Base) -> str:
    """Where an existing branch left its base."""
    done = trees.git.try_run("merge-base", branch, base.oid)
    return done.stdout.decode().strip() or base.oid


def _new_record(trees: Trees, bead: str, old: Bead | None, base: Base, exists: bool) -> Bead:
    record = old or beads.Bead(bead)
    record.branch, record.path = where.branch_of(bead), trees.path(bead)
    if not exists:
        record.base_ref, record.base_oid = base.ref, base.oid
    elif record.base_oid is None:
        # A branch that was there began where it left its base, not at today's tip.
        record.base_ref, record.base_oid = base.ref, _start_of(trees, record.branch, base)
    return record


def add(
    ctx: Context, bead: str, base: str | None = None, session: str | None = None, take_over: bool = False
) -> Added:
    """Make or find a bead's worktree and take it for ``session``.

    Raises UsageError for a bad id, Fatal for a bad base, Refused for what does not fit, Busy for a lost race.
    """
    where.checked(bead)
    start = base_of(ctx, base)
    with beads.hold(ctx.layout, bead) as fd:
        leftover.finish_adding(ctx, where.whole(ctx), bead)
        found = _add(where.open_trees(ctx).keeping(fd), bead, start, session, take_over)
    began = found.record.base_ref or found.record.base_oid
    if base is not None and began not in (start.ref, start.oid):
        found.notes.append(f"it began at '{short(began or '?')}'; --base counts for a new branch alone")
    if not found.reused:
        _set_up(where.open_trees(ctx), found, session)
    return found


def _add(trees: Trees, bead: str, base: Base, session: str | None, take_over: bool) -> Added:
    old = where.record_of(trees.layout, bead)
    if old is not None and old.status == beads.REMOVING:
        raise Refused(f"the removal of bead '{bead}' was cut short", f"git ralph worktree remove {bead}")
    taken_from = refuse_others(trees.ctx, old, session, take_over)
    killed = old is not None and old.status == beads.ADDING
    path = trees.path(bead)
    exists = _check_names(trees, bead)
    _check_place(trees, bead, path)
    row, state = trees.at(path), None
    if row is not None and row.missing:
        state = where.state_of(trees, path)
        trees, row = _clear_absent(trees, row), None
    if row is not None and row.branch != where.branch_of(bead):
        raise where.off_its_branch(trees.git, row, where.branch_of(bead))
    record = _new_record(trees, bead, old, base, exists)
    found = Added(record, reused=row is not None and not killed, taken_from=taken_from)
    found.opened = row is None and exists and not killed
    if row is None:
        record.status = beads.ADDING
        # On disk before git begins: after a kill it says whether the branch was made here and may go.
        record.extra[leftover.NOTE] = {"branch": "old" if exists else "new"}
        beads.write(trees.layout, record)
        try:
            _make(trees, record, base, exists)
        except BaseException:
            _forget(trees, record, old)
            raise
        place = discover(record.path)
        if place is not None and state is not None:  # what was not committed there can be restored
            layout.take_up(place, state)
    _take(trees, record, session, taken_from)
    return found


def _forget(trees: Trees, record: Bead, old: Bead | None) -> None:
    """Take back the record after a failure, unless the worktree stands."""
    if trees.again().at(record.path) is not None:
        return
    # Nothing but this attempt ever wrote the record.
    if old is None or record.created == record.updated:
        os.unlink(trees.layout.bead(record.bead))
    else:
        record.status = beads.REMOVED
        record.extra.pop(leftover.NOTE, None)
        beads.write(trees.layout, record)


def _take(trees: Trees, record: Bead, session: str | None, taken_from: str | None) -> None:
    # A new start counts from zero. A bead that is in progress already must not get its whole limit again.
    if not record.active and record.status != beads.ADDING:
        record.iteration = record.blocks = 0
    record.status = beads.IN_PROGRESS
    record.extra.pop(leftover.NOTE, None)
    if session is not None or taken_from is not None:
        record.owner, record.agent_id = session, None
    beads.write(trees.layout, record)
    enlist(trees.ctx, session, record.bead)


def _set_up(trees: Trees, found: Added, session: str | None) -> None:
    """Copy included files, run git's hook and the configured command; with no lock, as it may take long."""
    path = found.record.path
    if found.opened:
        found.notes.append(f"branch '{short(found.record.branch)}' was there already: opened at its tip")
    copied = include.copy_included(trees, path)
    if copied:
        found.notes.append(f"copied {len(copied)} ignored file{'s' if len(copied) > 1 else ''}")
    said = on_creation.post_checkout(trees, path)
    if said:
        found.notes.append(said)
    ran = on_creation.post_create(trees, found.record.bead, path, session)
    if ran is not None and ran.code:
        found.failed = Failed(
            f"ralph.worktree.postCreate ended with {ran.code}: {ran.said or ran.command}",
            "the worktree is there; run the command in it again",
        )
