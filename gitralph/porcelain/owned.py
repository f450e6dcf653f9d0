"""What sessions have pending, looked at with the files: void records count when their text is back."""

import os

from gitralph import record
from gitralph.layout import Layout
from gitralph.porcelain.context import Context
from gitralph.state import manifest, pending
from gitralph.state.pending import Claims, PathState


def is_revived(root: str, state: PathState, session: str) -> bool:
    """True when the file holds again what a void record of the session made of it."""
    found = record.look(os.path.join(root, os.fsdecode(state.path)))
    return found.mode is not None and state.void[session][-1].after == found.oid


def counts(root: str, state: PathState, sessions: set[str]) -> bool:
    """True when one of ``sessions`` has something pending here."""
    if state.owners() & sessions:
        return True
    return any(is_revived(root, state, name) for name in sessions & set(state.void))


def by_family(ctx: Context, sessions: list[str]) -> dict[bytes, PathState]:
    """The paths that one session and its children have pending."""
    found = pending.pending_paths(ctx.layout, sessions)
    return {p: s for p, s in found.items() if counts(ctx.repo.root, s, set(sessions))}


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
            if is_revived(ctx.repo.root, state, name):
                state.pending[name] = state.void[name]
        out[path] = state
    return out
