"""What sessions lost to whose shell command: told by ``status``, brought back by ``restore``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gitralph.git.context import Context
from gitralph.hook import windows
from gitralph.hook.journal import GAP
from gitralph.hook.windows import ChangedPath, Window
from gitralph.records import manifests, pending
from gitralph.takeback import restore
from gitralph.takeback.survey import Match


class Loss(NamedTuple):
    """Edits of a session in one path that a command of another one threw away."""

    session: str
    path: bytes
    command: Window


def losses(ctx: Context) -> list[Loss]:
    """Every loss that can be brought back or is in conflict by now, the commands that did it the last."""
    commands = [window for window in windows.read(ctx.layout) if window.rows]
    thrown = {
        (path, window.opened): window
        for window in commands
        for path, row in (window.rows or {}).items()
        if _is_thrown_away(row)
    }
    if not thrown:
        return []
    claimed = [pending.claims(ctx.layout, name) for name in manifests.sessions_here(ctx.layout)]
    out: dict[tuple[str, bytes], Loss] = {}
    for (path, _), window in sorted(thrown.items(), key=lambda one: one[0][1]):
        state = pending.path_state(ctx.layout, path, claimed)
        texts = {record.after for record in state.journal.records}
        row = (window.rows or {})[path]
        if row.before is None or row.before[0] not in texts:
            continue
        for session in sorted({record.session for record in state.journal.records if record.op != GAP}):
            if window.session not in pending.family(ctx.layout, session):
                out[session, path] = Loss(session, path, window)

    return [one for one in out.values() if restore.has_lost(ctx, one.session, _only(one.path))]


def _is_thrown_away(row: ChangedPath) -> bool:
    """True for a file that had a text of its own, and is as in HEAD now or gone."""
    gone = row.after is None or row.after == (None, None)
    return gone and row.before is not None and row.before[0] is not None


def _only(path: bytes) -> Match:
    def match(known: Iterable[bytes]) -> list[bytes]:
        return [one for one in known if one == path]

    return match
