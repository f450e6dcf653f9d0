"""Warns where hooks may be dead: a broken hook looks exactly like one that had nothing to record."""

import os
import time

from gitralph.ask import status
from gitralph.base.quote import few, shown
from gitralph.decide.request import Result
from gitralph.git.context import Context
from gitralph.hook import sessionfile, windows
from gitralph.records import manifests, path_records
from gitralph.sessions import transcript_claims

# In seconds. An agent may think, run tests or wait for a person this long while its hooks work.
_LONG = 30 * 60
_SHOWN = 5


def _last_record(ctx: Context, session: str) -> tuple[float, bool] | None:
    """When the session last recorded something, and whether it ever did; None for an unknown session.

    For a session without a record its start counts.
    """
    family, times = path_records.family(ctx.layout, session), []
    for name in family:
        if manifests.read(ctx.layout, name).lines:
            times.append(os.stat(ctx.layout.manifest(name)).st_mtime)
    # a hook that noted a shell call works
    called = [sessionfile.seconds(w.time) for w in windows.read(ctx.layout) if w.session in family]
    times += [when for when in called if when is not None]
    if times:
        return max(times), True
    record = sessionfile.read(ctx.layout, session) or {}
    started = sessionfile.seconds(record.get("started"))
    return None if started is None else (started, False)


def _changed_since(ctx: Context, when: float) -> list[bytes]:
    """The uncommitted paths, written after ``when``, that no record and no shell call explains."""
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


def _warnings(ctx: Context, session: str) -> list[str]:
    """A warning for a commit that found nothing pending, where the hooks may be dead."""
    last = _last_record(ctx, session)
    if last is None:
        return []
    when, ever = last
    if ever and time.time() - when < _LONG:
        return []
    plan = (sessionfile.read(ctx.layout, session) or {}).get("plan")
    ours = os.fsencode(str(plan)) if plan else b""  # the loop itself writes the plan
    changed = [path for path in _changed_since(ctx, when) if path != ours]
    # Nothing changed, so there was nothing to record.
    if not changed:
        return []
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))
    return [
        f"warning: session '{ctx.called(session)}' recorded no edit since {since}, "
        f"yet '{shown(changed[0])}' changed and nobody recorded it; its hooks may be dead: git ralph doctor"
    ]


def explained(ctx: Context, session: str, result: Result) -> Result:
    """The result of a commit, with a note on why nothing was pending where that is strange."""
    return result.noting(*_notes(ctx, session)) if result.silent else result


def _notes(ctx: Context, session: str) -> list[str]:
    """Notes for a commit that finds nothing because no hook ever recorded an edit."""
    agent, found = "", list[bytes]()
    if transcript_claims.is_empty(ctx, session):
        agent, found = transcript_claims.named_paths(ctx, session)
    if not found:
        return _warnings(ctx, session)
    called = ctx.called(session)
    return [
        f"no hook recorded an edit of session '{called}', but its {agent} transcript names "
        f"{few(found, _SHOWN)}; "
        f"'git ralph track --from-transcript --session {called}' claims them by their path"
    ]
