"""What a task did in another worktree than the one it works in: there it lands nothing."""

import os
from collections.abc import Iterable
from dataclasses import replace

from gitralph.base import gitdir
from gitralph.base.errors import RalphError
from gitralph.decide import pending_paths
from gitralph.git import worktrees
from gitralph.git.context import Context, checkout, state_layout


def pending(ctx: Context, sessions: Iterable[str]) -> dict[str, set[bytes]]:
    """The paths with something of these sessions to commit in other worktrees, by the worktrees' roots."""
    names, found = tuple(sessions), dict[str, set[bytes]]()
    # Without linked worktrees, and without a list of paths there, nothing has to be read.
    if not os.path.isdir(ctx.repo.common_dir + "/worktrees"):
        return found
    for row in worktrees.listing(ctx.git):
        place = None if row.bare or row.missing else gitdir.discover(row.path)
        if place is None:
            continue
        try:
            layout = state_layout(place, create=False)
            here = [name for name in names if os.path.lexists(layout.manifest(name))]
            if not here or layout.token == ctx.layout.token:
                continue
            repo = checkout(ctx, place.git_dir, row.path)
            if repo is None:
                continue
            try:
                there = replace(ctx, repo=repo, layout=layout)
                paths = {p for name in here for p in pending_paths.counted(pending_paths.of(there, name))}
            finally:
                repo.close()
        except RalphError:
            continue  # a damaged worktree tells nothing, and git ralph doctor tells of it
        if paths:
            found[row.path] = paths
    return found
