"""What sessions lost, and what brings it back: told by ``status``, and after a commit that was refused.

A shell command threw edits away, or a session overwrote the file from an outdated copy of it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import NamedTuple

from gitralph.base.errors import RalphError
from gitralph.decide import decision
from gitralph.decide.decision import Left
from gitralph.git.context import Context
from gitralph.git.typed import as_pathspec
from gitralph.hook import windows
from gitralph.hook.journal import GAP
from gitralph.hook.windows import ChangedPath, Window
from gitralph.records import manifests, pending
from gitralph.takeback.restore import has_lost, restore
from gitralph.takeback.survey import Match, UndoRequest


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

    return [one for one in out.values() if has_lost(ctx, one.session, _only(one.path))]


def _is_thrown_away(row: ChangedPath) -> bool:
    """True for a file that had a text of its own, and is as in HEAD now or gone."""
    gone = row.after is None or row.after == (None, None)
    return gone and row.before is not None and row.before[0] is not None


def _only(path: bytes) -> Match:
    def match(known: Iterable[bytes]) -> list[bytes]:
        return [one for one in known if one == path]

    return match


# --- a commit was refused because a session overwrote the file from an outdated copy ---


# As many as one line of a hint holds; each costs what a restore does.
# So many paths are asked about at once; each costs a weave, and a hint that names more would not be read.
_MOST = 10


def ways_back(ctx: Context, left: Iterable[Left]) -> list[str]:
    """A command for each session whose lines it brings back, tried first; nothing is written."""
    lost: dict[str, list[bytes]] = {}
    for one in left:
        for name in one.sessions if one.reason == decision.STALE else ():
            if name != decision.UNRECORDED:
                lost.setdefault(name, []).append(one.path)
    out = []
    for name, paths in lost.items():
        # where one path cannot come back, a restore of all of them is refused
        back = coming_back(ctx, name, paths[:_MOST]) or coming_back(ctx, name, paths[:1])
        if back:
            given = " ".join(as_pathspec(ctx, path) for path in back)
            where = f"--session {shlex.quote(ctx.called(name))} -- {given}"
            out.append(f"git ralph restore {where}  # brings those lines back")
    return out


def coming_back(ctx: Context, session: str, paths: list[bytes]) -> list[bytes]:
    """Those of some paths in which a restore brings anything back now; none where it would be refused."""
    request = UndoRequest(session, match=lambda known: [one for one in known if one in paths])
    try:
        changed = {one.path for one in restore(ctx, request, dry=True).changes}
    except RalphError:
        return []
    return [path for path in paths if path in changed]
