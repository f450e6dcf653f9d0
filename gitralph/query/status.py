"""``git ralph status``: whose is every uncommitted path."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gitralph.commit import decision, pending_paths, provenance
from gitralph.commit.pending_paths import Work, Works
from gitralph.commit.uncommitted import dirty_paths
from gitralph.context import Context
from gitralph.git.snapshot import LeadsOutError, Worktree
from gitralph.hook.journal import Journal
from gitralph.journal import manifests, pending
from gitralph.journal.pending import PathState
from gitralph.journal.shell import Window
from gitralph.shell import attribution

MINE, OTHER, CONTESTED, NOBODY = "mine", "other", "contested", "nobody"


@dataclass(frozen=True)
class Owned:
    """One uncommitted path, its owner in a word, and the sessions with something pending there.

    ``likely`` are the shell commands that may have made what no session recorded.
    """

    path: bytes
    owner: str
    sessions: tuple[str, ...]
    gap: bool = False
    likely: tuple[Window, ...] = ()


def _has_gap(worktree: Worktree, state: PathState, works: list[Work]) -> bool:
    """True when somebody whom no hook saw has changes there as well.

    Where one session alone has work there, its commit tells; else, or where a filter stands between, the
    records do: whether they chain, and end at what stands there.
    """
    if len(works) == 1 and works[0].reason != decision.FILTERED:
        return not works[0].whole
    records = [r for group in state.pending.values() for r in group]
    if not records:
        return False
    chain = provenance.chain_of(state.journal.records, records)
    try:
        content = worktree.read(state.path)
    except LeadsOutError:
        return True
    return not (chain.is_contiguous() and provenance.ends_at(chain, content))


def _owner(worktree: Worktree, state: PathState, works: dict[str, Work], family: set[str]) -> Owned:
    path = state.path
    if not works:
        return Owned(path, NOBODY, ())
    # a parent's commit takes its child's edits as well; the edit is named after who recorded it
    sessions = tuple(sorted(state.owners() or works))
    gap = _has_gap(worktree, state, [works[name] for name in sessions])
    mine = set(sessions) <= family
    if (len(sessions) > 1 and not mine) or gap:
        return Owned(path, CONTESTED, sessions, gap)
    return Owned(path, MINE if mine else OTHER, sessions)


def _states(ctx: Context, paths: list[bytes], works: dict[bytes, dict[str, Work]]) -> dict[bytes, PathState]:
    """What is recorded of each path, pending only where a commit of its session finds it."""
    claimed = [pending.claims(ctx.layout, name) for name in manifests.sessions_here(ctx.layout)]
    out = {}
    for path in paths:
        naming = [claim for claim in claimed if path in claim.fresh or path in claim.old]
        if naming or os.path.lexists(ctx.layout.journal(path)):
            found, asking = pending.path_state(ctx.layout, path, naming), works.get(path, {})
            known = {**found.void, **found.pending}
            alive = {name: known[name] for name in asking if name in known}
            out[path] = replace(found, pending=alive, bare=found.bare & set(asking))
    return out


def owners(
    ctx: Context,
    session: str | None,
    typed: Sequence[str] = (),
    everybody: dict[str, Works] | None = None,
) -> list[Owned]:
    """Every uncommitted path once, or those that pathspecs match, with its owner as ``session`` sees it.

    ``everybody`` is what commits would find, where the caller has asked already.
    """
    paths = dirty_paths(ctx, typed=typed)
    works = pending_paths.by_path(pending_paths.everyone(ctx) if everybody is None else everybody)
    states = _states(ctx, paths, works)
    family = set(pending.family(ctx.layout, session)) if session else set()
    with Worktree(ctx.repo.root) as worktree:
        rows = [
            _owner(worktree, states.get(path) or PathState(path, Journal()), works.get(path, {}), family)
            for path in paths
        ]
    made = attribution.likely(ctx, [row.path for row in rows if row.gap or row.owner == NOBODY], states)
    return [replace(row, likely=made.get(row.path, ())) for row in rows]
