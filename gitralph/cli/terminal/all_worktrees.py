"""Shows all worktrees in one view, for ``status``, ``top`` and ``session list``."""

from __future__ import annotations

from collections.abc import Iterable

from gitralph.ask.every_line import age
from gitralph.ask.everywhere import WideView, WorktreeSession
from gitralph.base.quote import printable, shown
from gitralph.cli.terminal import columns, output
from gitralph.git.context import Context
from gitralph.hook import sessionfile
from gitralph.records import sessions
from gitralph.sessions import lifecycle


def document(ctx: Context, view: WideView) -> dict[str, object]:
    """The sessions as ``session list --json`` tells them, each with its worktree, and the collisions."""
    collisions = [
        {"path": output.text(one.path), "sessions": list(one.sessions), "worktrees": list(one.worktrees)}
        for one in view.collisions
    ]
    return {"sessions": [_session(ctx, row) for row in view.sessions], "collisions": collisions}


def _session(ctx: Context, row: WorktreeSession) -> dict[str, object]:
    record = sessionfile.read(ctx.layout, row.session) or sessionfile.new_record(ctx.layout, row.session)
    facts = lifecycle.describe(ctx.layout, record, {})
    more = {"worktree": row.worktree, "bead": row.bead, "title": row.title, "pending": len(row.files)}
    return {**facts, **more, "files": [output.text(path) for path in row.files]}


def show(ctx: Context, view: WideView) -> None:
    """The view for people."""
    for line in lines(ctx, view, output.room()):
        output.content(line)


def lines(ctx: Context, view: WideView, room: int | None) -> Iterable[str]:
    """One line for each worktree; below it one for each session, and one for each path that collides."""
    for root, branch in view.worktrees:
        yield printable(f"{root} ({(branch or 'detached').removeprefix('refs/heads/')})")
        rows = [_cells(ctx, view, row) for row in view.sessions if row.worktree == root]
        yield from (f"  {line}" for line in columns.fitted(rows, room and room - 2, (2,), ()))
        for one in view.collisions:
            if root in one.worktrees:
                others = ", ".join(other for other in one.worktrees if other != root)
                yield printable(f"  ! '{shown(one.path)}' collides with {others}")


def _cells(ctx: Context, view: WideView, row: WorktreeSession) -> list[str]:
    hit = any(row.session in one.sessions and row.worktree in one.worktrees for one in view.collisions)
    count = f"{len(row.files)} file{'s'[: len(row.files) != 1]}"
    state = sessions.said(sessions.state_of(ctx.layout, row.session))
    name = ("! " if hit else "") + ctx.called(row.session)
    return [name, row.bead or "-", printable(row.title or "-"), count, state, age(row.last)]
