"""Broken hooks look exactly like success: what makes no record is said, not passed over in silence."""

import os
import time
from collections.abc import Iterable
from datetime import datetime

from gitralph.base.quote import shown
from gitralph.context import Context
from gitralph.hook import sessionfile
from gitralph.journal import consumption, manifests, pending, shell

_LONG = 30 * 60
_SHOWN = 5


def _last_record(ctx: Context, session: str) -> tuple[float, bool] | None:
    """When the session last recorded something, and whether it ever did; None for an unknown one.

    One that never did counts from its start.
    """
    family, times = pending.family(ctx.layout, session), []
    for name in family:
        if manifests.read(ctx.layout, name).lines:
            times.append(os.stat(ctx.layout.manifest(name)).st_mtime)
    # a hook that noted a shell call is no dead one
    called = [sessionfile.seconds(w.time) for w in shell.read(ctx.layout) if w.session in family]
    times += [when for when in called if when is not None]
    if times:
        return max(times), True
    record = sessionfile.read(ctx.layout, session) or {}
    try:
        return datetime.fromisoformat(str(record.get("started"))).timestamp(), False
    except ValueError:
        return None


def _changed_since(ctx: Context, when: float) -> list[bytes]:
    """The uncommitted paths that nobody recorded, nor a shell call explains, written after ``when``."""
    from gitralph.query import status

    out = []
    for row in status.owners(ctx, None):
        if row.owner != status.NOBODY or row.likely:
            continue
        try:
            if os.lstat(os.path.join(ctx.repo.root, os.fsdecode(row.path))).st_mtime > when:
                out.append(row.path)
        except OSError:
            continue
    return out


def passed_over(ctx: Context, sessions: Iterable[str]) -> list[str]:
    """A warning for each line of a manifest that names no path of ours, until a commit has read past it."""
    out = []
    for session in sessions:
        upto = consumption.read(ctx.layout, session).upto
        since = max((at for (token, _), at in upto.items() if token == ctx.layout.token), default=0)
        found = manifests.passed_over(ctx.layout, session, since)
        name = f"'{os.path.basename(ctx.layout.manifest(session))}'"
        out += [
            f"{name} line {number} names '{shown(line)}', no path of this worktree; passed over"
            for number, line in found[:_SHOWN]
        ]
        if len(found) > _SHOWN:
            out.append(f"{len(found) - _SHOWN} more lines of {name} name no path of this worktree")
    return out


def notes(ctx: Context, session: str) -> list[str]:
    """A warning for a commit that found nothing pending, where the hooks may be dead."""
    last = _last_record(ctx, session)
    if last is None:
        return []
    when, ever = last
    if ever and time.time() - when < _LONG:
        return []
    plan = (sessionfile.read(ctx.layout, session) or {}).get("plan")
    ours = os.fsencode(str(plan)) if plan else b""  # the loop ticks it
    changed = [path for path in _changed_since(ctx, when) if path != ours]
    if not changed:
        return []
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))
    return [
        f"warning: session '{session}' recorded no edit since {since}, yet '{shown(changed[0])}' changed "
        "and nobody recorded it; its hooks may be dead: git ralph doctor"
    ]
