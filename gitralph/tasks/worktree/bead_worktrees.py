"""``git ralph worktree list``: every bead's worktree as git and the disk have it now."""

import os
from dataclasses import dataclass, field

from gitralph.base import gitdir, ids, lost_worktree
from gitralph.base.errors import Fatal
from gitralph.base.layout import MAIN
from gitralph.git import worktrees
from gitralph.git.context import Context, state_layout
from gitralph.git.run import GitError
from gitralph.git.worktrees import Dirt, WorktreeEntry
from gitralph.records import bead as beads
from gitralph.records import manifests, sessions
from gitralph.records.bead import Bead
from gitralph.tasks.worktree import where
from gitralph.tasks.worktree.where import Trees


@dataclass
class BeadWorktree:
    """One bead's worktree. ``last`` is oid, subject and date of its last commit."""

    bead: str
    path: str
    state: str
    record: Bead
    row: WorktreeEntry | None
    dirt: Dirt = field(default_factory=Dirt)
    ahead: int | None = None
    behind: int | None = None
    last: tuple[str, str, str] | None = None
    sessions: tuple[str, ...] = ()
    """The live sessions that are at work there."""

    def document(self) -> dict[str, object]:
        """As ``--json`` shows it."""
        record, row = self.record, self.row
        counts = {k: len(getattr(self.dirt, k)) for k in ("staged", "modified", "untracked", "unmerged")}
        last = dict(zip(("oid", "subject", "date"), self.last, strict=True)) if self.last else None
        return {
            "bead": self.bead,
            "path": self.path,
            "state": self.state,
            "status": record.status,
            "branch": where.short(branch) if (branch := row.branch if row else record.branch) else None,
            "head": row.head if row else None,
            "locked": row.locked if row else None,
            "owner": record.owner,
            "sessions": list(self.sessions),
            "agent_id": record.agent_id,
            "base_ref": record.base_ref,
            "base_oid": record.base_oid,
            "ahead": self.ahead,
            "behind": self.behind,
            "dirty": counts,
            "iteration": record.iteration,
            "max_iterations": record.max_iterations,
            "title": record.title,
            "last_commit": last,
        }


def _state(trees: Trees, record: Bead | None, row: WorktreeEntry | None, at_work: tuple[str, ...]) -> str:
    if record is None or row is None:
        return "orphan"
    if row.missing:
        return "missing"
    # Somebody switched in there: what is committed now would be on another branch.
    if row.branch != where.branch_of(record.bead):
        return "mismatch"
    if row.locked is not None:
        return "locked"
    owner = record.owner if record.active else None
    if at_work or (owner and sessions.state_of(trees.layout, owner) == "live"):
        return "live"
    return "stale" if owner else "idle"


def _at_work(trees: Trees, bead: str, row: WorktreeEntry | None) -> tuple[str, ...]:
    """The live sessions that recorded edits there, were started there, or were started for the bead."""
    if not os.path.isdir(trees.layout.top):
        return ()
    place = gitdir.discover(os.path.realpath(row.path)) if row is not None and not row.missing else None
    there = state_layout(place, create=False) if place is not None else None
    names = dict.fromkeys(manifests.sessions_here(there) if there is not None else ())
    for record in sessions.records(trees.layout):
        if record.get("bead") == bead or (there is not None and record.get("worktree") == there.token):
            names[str(record["session"])] = None
    return tuple(name for name in names if sessions.state_of(trees.layout, name) == "live")


def bead_at(ctx: Context, token: object) -> str | None:
    """The bead whose worktree has this token, None for any other worktree."""
    if token in (None, MAIN):
        return None
    trees = where.open_trees(ctx)
    for name in _names(trees):
        place = gitdir.discover(os.path.realpath(trees.path(name)))
        if place is not None and state_layout(place, create=False).token == token:
            return name
    return None


def _last(trees: Trees, row: WorktreeEntry) -> tuple[str, str, str] | None:
    if not row.head or not row.head.strip("0"):
        return None
    done = trees.git.try_run("log", "-1", "--no-show-signature", "--format=%H%x00%s%x00%cI", row.head)
    parts = done.stdout.decode("utf-8", "replace").rstrip("\n").split("\0")
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else None


def _look(trees: Trees, found: BeadWorktree) -> None:
    row, record = found.row, found.record
    if row is None:
        return
    found.last = _last(trees, row)
    base = record.base_ref or record.base_oid
    counts = worktrees.ahead_behind(trees.git, row.head, base) if base and row.head else None
    found.ahead, found.behind = counts or (None, None)
    if not row.missing:
        try:
            found.dirt = worktrees.dirt(
                trees.inside(row.path), programs=tuple(trees.ctx.config.without_programs())
            )
        except GitError as error:
            trees.ctx.warn(f"'{row.path}': {error.message}")


def _names(trees: Trees) -> list[str]:
    home = f"{trees.root}/{lost_worktree.FOLDER}/{lost_worktree.PREFIX}"
    here = [r.path[len(home) :] for r in trees.rows if r.path.startswith(home)]
    return sorted({*beads.names(trees.layout), *(name for name in here if ids.is_bead(name))})


def rows(ctx: Context) -> list[BeadWorktree]:
    """Every bead that has a worktree, or should have one."""
    trees = where.open_trees(ctx)
    found = []
    for name in _names(trees):
        path = trees.path(name)
        try:
            record = beads.read(ctx.layout, name)
        except beads.DamagedBeadError as error:
            ctx.warn(str(error))
            record = None
        row = trees.at(path)
        if row is None and (record is None or record.status == beads.REMOVED):
            continue
        at_work = _at_work(trees, name, row)
        state = _state(trees, record, row, at_work)
        record = record or beads.Bead(name, status="unknown")
        one = BeadWorktree(name, path, state, record, row, sessions=at_work)
        _look(trees, one)
        found.append(one)
    return found


def path_of(ctx: Context, bead: str) -> str:
    """The path of a bead's worktree. Raises Fatal where there is none."""
    trees = where.open_trees(ctx)
    path = trees.path(where.checked(bead))
    row = trees.at(path)
    holder = where.moved_to(trees, bead)
    if row is None and holder is not None:
        raise Fatal(
            f"branch '{where.short(where.branch_of(bead))}' is checked out at '{holder.path}'",
            *where.way_home(trees, holder, bead),
        )
    if row is None or row.missing or not os.path.isdir(path):
        raise Fatal(f"bead '{bead}' has no worktree", f"git ralph worktree add {bead}")
    return path
