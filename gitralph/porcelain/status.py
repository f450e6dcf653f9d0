"""``git ralph status``: whose is every uncommitted path."""

from dataclasses import dataclass, replace

from gitralph.plumbing.snapshot import LeadsOutError, Worktree
from gitralph.porcelain import evidence, owned, shelloffer
from gitralph.porcelain.context import Context
from gitralph.state import pending
from gitralph.state.pending import PathState
from gitralph.state.shell import Window

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


def dirty_paths(ctx: Context) -> list[bytes]:
    """Every path that differs from HEAD in index or worktree, untracked ones too, sorted.

    Starts no program that the configuration names; a filtered path may be listed needlessly.
    """
    said = ctx.git.at(ctx.repo.root).run(
        *ctx.config.without_programs(), "status", "--porcelain", "-z", "--no-renames",
        "--untracked-files=all", "--ignore-submodules=none",
    )  # fmt: skip
    return sorted({row[3:].rstrip(b"/") for row in said.split(b"\0")[:-1]})


def _has_gap(worktree: Worktree, state: PathState) -> bool:
    """True when the file is not what its last record left, or the records do not chain."""
    records = [r for group in state.pending.values() for r in group]
    if not records:
        return False
    chain = evidence.chain_of(state.journal.records, records)
    try:
        content = worktree.read(state.path)
    except LeadsOutError:
        return True
    return not (chain.is_contiguous() and evidence.ends_at(chain, content))


def _owner(worktree: Worktree, path: bytes, state: PathState | None, family: set[str]) -> Owned:
    if state is None or not state.owners():
        return Owned(path, NOBODY, ())
    sessions = tuple(sorted(state.owners()))
    gap = _has_gap(worktree, state)
    mine = set(sessions) <= family
    if (len(sessions) > 1 and not mine) or gap:
        return Owned(path, CONTESTED, sessions, gap)
    return Owned(path, MINE if mine else OTHER, sessions)


def owners(ctx: Context, session: str | None) -> list[Owned]:
    """Every uncommitted path once, with its owner as ``session`` sees it."""
    paths = dirty_paths(ctx)
    states = owned.by_path(ctx, paths)
    family = set(pending.family(ctx.layout, session)) if session else set()
    with Worktree(ctx.repo.root) as worktree:
        rows = [_owner(worktree, path, states.get(path), family) for path in paths]
    made = shelloffer.likely(ctx, [row.path for row in rows if row.gap or row.owner == NOBODY], states)
    return [replace(row, likely=made.get(row.path, ())) for row in rows]
