"""What sessions have pending, looked at with the files: void records count when their text is back."""

import os

from gitralph import record
from gitralph.journal import text_id
from gitralph.layout import Layout
from gitralph.porcelain import history
from gitralph.porcelain.context import Context
from gitralph.state import manifest, pending
from gitralph.state.pending import Claims, PathState


def is_revived(ctx: Context, state: PathState, session: str) -> bool:
    """True when the file holds again what a void record of the session made of it, and HEAD does not."""
    found = record.look(os.path.join(ctx.repo.root, os.fsdecode(state.path)))
    if found.mode is None or found.oid not in made_since(state, session):
        return False
    entry = history.head_entry(ctx.repo, state.path)
    # without running a filter: the bytes themselves, or what line end conversion makes of them
    forms = {found.oid, text_id((found.text or b"").replace(b"\r\n", b"\n"))}
    return entry is None or entry.oid.decode() not in forms


def made_since(state: PathState, session: str) -> set[str | None]:
    """The texts that may hold lines of the session's void records: those left from the first one on."""
    first = state.void[session][0].offset
    return {r.after for r in state.journal.records if r.offset >= first}


def counts(ctx: Context, state: PathState, sessions: set[str]) -> bool:
    """True when one of ``sessions`` has something pending here."""
    if state.owners() & sessions:
        return True
    return any(is_revived(ctx, state, name) for name in sessions & set(state.void))


def by_family(ctx: Context, sessions: list[str]) -> dict[bytes, PathState]:
    """The paths that one session and its children have pending."""
    found = pending.pending_paths(ctx.layout, sessions)
    return {p: s for p, s in found.items() if counts(ctx, s, set(sessions))}


def paths_of(ctx: Context, session: str) -> list[bytes]:
    """The pending paths of a session and its children, sorted."""
    return sorted(by_family(ctx, pending.family(ctx.layout, session)))


def all_claims(layout: Layout) -> list[Claims]:
    """The manifests of every session of this worktree."""
    return [pending.claims(layout, name) for name in manifest.sessions_here(layout)]


def by_path(ctx: Context, paths: list[bytes]) -> dict[bytes, PathState]:
    """The state of each path, over all sessions, void records revived where their text is back."""
    claimed = all_claims(ctx.layout)
    out = {}
    for path in paths:
        naming = [c for c in claimed if path in c.fresh or path in c.old]
        known = os.path.lexists(ctx.layout.journal(path))
        if not naming and not known:
            continue
        state = pending.path_state(ctx.layout, path, naming)
        for name in list(state.void):
            if is_revived(ctx, state, name):
                state.pending[name] = state.void[name]
        out[path] = state
    return out
