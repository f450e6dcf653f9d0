"""Broken hooks look exactly like success: say so when the tree changed and a session recorded nothing."""

import os
import time
from datetime import datetime

from gitralph import sessionfile
from gitralph.porcelain.context import Context
from gitralph.quote import shown
from gitralph.state import manifest, pending

_LONG = 30 * 60


def _last_record(ctx: Context, session: str) -> tuple[float, bool] | None:
    """When the session last recorded an edit, and whether it ever did; None for an unknown one.

    One that never did counts from its start.
    """
    times = []
    for name in pending.family(ctx.layout, session):
        if manifest.read(ctx.layout, name).lines:
            times.append(os.stat(ctx.layout.manifest(name)).st_mtime)
    if times:
        return max(times), True
    record = sessionfile.read(ctx.layout, session) or {}
    try:
        return datetime.fromisoformat(str(record.get("started"))).timestamp(), False
    except ValueError:
        return None


def _changed_since(ctx: Context, when: float) -> list[bytes]:
    """The uncommitted paths that nobody recorded and that were written after ``when``."""
    from gitralph.porcelain import owned, status

    dirty = status.dirty_paths(ctx)
    states = owned.by_path(ctx, dirty)
    out = []
    for path in dirty:
        if path in states and states[path].owners():
            continue
        try:
            if os.lstat(os.path.join(ctx.repo.root, os.fsdecode(path))).st_mtime > when:
                out.append(path)
        except OSError:
            continue
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
