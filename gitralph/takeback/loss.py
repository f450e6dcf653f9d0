"""What sessions lost, and how to bring it back; for ``status``, and after a commit that was refused.

A loss has two causes: a shell command threw edits away, or a session overwrote the file from an outdated
copy.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import NamedTuple

from gitralph.base.errors import RalphError
from gitralph.decide import decision, pathspecs
from gitralph.decide.decision import Left
from gitralph.git.context import Context
from gitralph.git.typed import as_pathspec
from gitralph.hook import windows
from gitralph.hook.journal import GAP
from gitralph.hook.windows import ChangedPath, Window
from gitralph.records import manifests, path_records
from gitralph.takeback.restore import has_lost, restore
from gitralph.takeback.survey import UndoRequest


class Loss(NamedTuple):
    """Edits of one session in one path that a command of another session threw away."""

    session: str
    path: bytes
    command: Window


def losses(ctx: Context) -> list[Loss]:
    """Every loss that can be brought back, or is in conflict by now; the latest last."""
    commands = [window for window in windows.read(ctx.layout) if window.rows]
    thrown = {
        (path, window.opened): window
        for window in commands
        for path, row in (window.rows or {}).items()
        if _is_thrown_away(row)
    }
    if not thrown:
        return []
    claimed = [path_records.claims(ctx.layout, name) for name in manifests.sessions_here(ctx.layout)]
    out: dict[tuple[str, bytes], Loss] = {}
    for (path, _), window in sorted(thrown.items(), key=lambda one: one[0][1]):
        state = path_records.path_state(ctx.layout, path, claimed)
        texts = {record.after for record in state.journal.records}
        row = (window.rows or {})[path]
        if row.before is None:
            continue
        for session in sorted({record.session for record in state.journal.records if record.op != GAP}):
            # beside lines that nobody recorded the file is as no record left it
            if row.before[0] not in texts and not state.untold(session):
                continue
            if window.session not in path_records.family(ctx.layout, session):
                out[session, path] = Loss(session, path, window)

    return [one for one in out.values() if has_lost(ctx, one.session, pathspecs.only([one.path]))]


def _is_thrown_away(row: ChangedPath) -> bool:
    """True for a file that had a text of its own, and now is as in HEAD or gone."""
    gone = row.after is None or row.after == (None, None)
    return gone and row.before is not None and row.before[0] is not None


# --- a commit was refused because a session overwrote the file from an outdated copy ---


# So many paths are tried at once, as many as fit into one line of a hint. Each try costs a weave.
_MOST = 10


def ways_back(ctx: Context, left: Iterable[Left]) -> list[str]:
    """For each session a command that brings its lines back. Each command was tried; nothing is written."""
    lost: dict[str, list[bytes]] = {}
    for one in left:
        for name in one.sessions if one.reason == decision.STALE else ():
            if name != decision.UNRECORDED:
                lost.setdefault(name, []).append(one.path)
    out = []
    for name, paths in lost.items():
        # A restore of all paths is refused where one of them cannot come back.
        back = coming_back(ctx, name, paths[:_MOST]) or coming_back(ctx, name, paths[:1])
        if back:
            given = " ".join(as_pathspec(ctx, path) for path in back)
            where = f"--session {shlex.quote(ctx.called(name))} -- {given}"
            out.append(f"git ralph restore {where}  # brings those lines back")
    return out


def coming_back(ctx: Context, session: str, paths: list[bytes]) -> list[bytes]:
    """Those of ``paths`` in which a restore would bring something back; none where it would be refused."""
    request = UndoRequest(session, match=pathspecs.only(paths))
    try:
        changed = {one.path for one in restore(ctx, request, dry=True).changes}
    except RalphError:
        return []
    return [path for path in paths if path in changed]
