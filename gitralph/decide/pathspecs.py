"""Which pending paths the user named. Pathspecs are read as git reads them, from the folder of the user."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Sequence

from gitralph.base import nul
from gitralph.base.errors import Fatal
from gitralph.decide.inputs import open_bench
from gitralph.git import pathspec, refs
from gitralph.git.context import Context
from gitralph.records import manifests


def matcher(ctx: Context, paths: tuple[str, ...]) -> Callable[[Iterable[bytes]], list[bytes]] | None:
    """A function that picks the paths that the user named; None when the user named none.

    Raises Fatal for a pathspec that names nothing at all.
    """
    if not paths:
        return None
    refuse_unknown(ctx, paths)
    return lambda candidates: _matching(ctx, paths, candidates)


def only(paths: Container[bytes]) -> Callable[[Iterable[bytes]], list[bytes]]:
    """A function that picks these paths."""
    return lambda candidates: [path for path in candidates if path in paths]


def _matching(ctx: Context, specs: Sequence[str], candidates: Iterable[bytes]) -> list[bytes]:
    if all(map(pathspec.is_plain, specs)):
        return pathspec.below(ctx.repo.prefix, specs, candidates)
    with open_bench(ctx, quarantine=True) as bench:
        return pathspec.matching(ctx.git, bench.folder, specs, candidates)


def refuse_unknown(ctx: Context, specs: Sequence[str], literal: bool = False) -> None:
    """Raise Fatal, in git's words, for a pathspec that matches nothing in index, worktree, records or HEAD.

    The index alone knows most paths. Only the others are looked up elsewhere.
    """
    for typed in specs:  # for a pathspec that it cannot read, git itself gives the error
        if not typed:
            raise Fatal("the empty string is not a valid pathspec", "use . to match all paths")
    git = ctx.git.at(GIT_LITERAL_PATHSPECS="1") if literal else ctx.git
    # A plain name of a file that exists is known, and git need not be asked.
    asked = [typed for typed in specs if not (pathspec.is_plain(typed) and os.path.lexists(typed))]
    for typed in pathspec.unmatched(git, asked) if asked else ():
        known = os.path.lexists(typed) or not pathspec.unmatched(git, [typed], "--others")
        spec = f":(literal){typed}" if literal else typed
        if not known and not _matching(ctx, [spec], {*recorded(ctx), *_in_head(ctx)}):
            raise Fatal(f"pathspec '{typed}' did not match any file(s) known to git")


def recorded(ctx: Context) -> set[bytes]:
    """Every path that any session recorded here, committed or not."""
    sessions = manifests.sessions_here(ctx.layout)
    return {path for session in sessions for path in manifests.read(ctx.layout, session).lines}


def _in_head(ctx: Context) -> list[bytes]:
    head = refs.read_head(ctx.repo).oid
    if head is None:
        return []
    return nul.rows(ctx.git.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", head))
