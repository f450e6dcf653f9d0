"""A path read as ``commit`` reads it: per line of the file the record behind it, and git's blame."""

import os
from typing import NamedTuple

from gitralph import isolate
from gitralph.base.errors import Fatal
from gitralph.base.quote import shown
from gitralph.commit import inputs, pathspecs, separate
from gitralph.commit.bench import open_bench
from gitralph.context import Context
from gitralph.git import blame, refs
from gitralph.git.snapshot import Worktree
from gitralph.git.texts import is_binary
from gitralph.hook.journal import TEXT_LIMIT, full_lines
from gitralph.hook.locate import OutsideError
from gitralph.journal import pending
from gitralph.journal.pending import PathState


def tree_path(ctx: Context, typed: str) -> bytes:
    """What the user typed, relative to the cwd, as a tree path. Raises Fatal outside the worktree."""
    try:
        target = ctx.locate(typed)
    except OutsideError as error:
        raise Fatal(f"'{typed}': {error}") from None
    if target.place.root != ctx.repo.root:
        raise Fatal(f"'{typed}' belongs to another worktree, '{target.place.root}'")
    if not os.path.lexists(target.file) and not os.path.lexists(ctx.layout.journal(target.path)):
        pathspecs.refuse_unknown(ctx, [typed], literal=True)
    return target.path


class Read(NamedTuple):
    """A path: its records, the place in the journal of each line's record, and what git says of the line.

    ``pending`` are the places of the records of which something is in no commit.
    """

    state: PathState
    keys: list[str | None]
    lines: list[blame.Line]
    pending: frozenset[str]

    @property
    def commits(self) -> list[str | None]:
        """The commit of each line, None for an uncommitted one."""
        return [line.commit for line in self.lines]


def read(ctx: Context, path: bytes) -> Read:
    """Read a path. Raises Fatal where commit could not look at it either."""
    state = pending.path_state(ctx.layout, path, [])
    bench = open_bench(ctx, quarantine=True)
    try:
        with Worktree(ctx.repo.root) as worktree:
            asked = inputs.question(ctx, bench, worktree, refs.read_head(ctx.repo), family=())
            scene = inputs.look(asked, {path: state})
            if scene.barred:
                raise Fatal(f"'{shown(path)}': {scene.barred[path].detail}")
            data = scene.contents[path].data or b""
            count = len(full_lines(data))
            if len(data) > TEXT_LIMIT or is_binary(data):
                return Read(state, [None] * count, _blamed(ctx, path, data), _by_marks(state))
            known = separate.gather(scene, state)
            return Read(state, _keys(known, count), _blamed(ctx, path, data), _still_pending(known))
    finally:
        bench.remove()


def _by_marks(state: PathState) -> frozenset[str]:
    """What consumption says is pending: all there is where lines are not told apart."""
    return frozenset(str(r.offset) for records in state.pending.values() for r in records)


def _keys(known: separate.Evidence, count: int) -> list[str | None]:
    """The record behind each line of the file as it stands, by its place in the journal."""
    rows = isolate.owners_by_line(known.head, known.steps, known.worktree, committed=known.committed)
    made = [row.key if row.key is not None and row.key.isdigit() else None for row in rows]
    places = [known.seen.line(number) for number in range(1, count + 1)]
    return [made[at - 1] if 0 < at <= len(made) else None for at in places]


def _still_pending(known: separate.Evidence) -> frozenset[str]:
    units = isolate.pending_units(
        known.head, known.steps, known.worktree, committed=known.committed, readings=known.readings
    )
    return frozenset(one.unit.partition(".")[0] for one in units if one.owner is not None)


def _blamed(ctx: Context, path: bytes, data: bytes) -> list[blame.Line]:
    found = blame.lines(ctx.git.at(ctx.repo.root), ctx.config, path, len(full_lines(data)))
    return found if found is not None else blame.uncommitted(data)
