"""Paths that the user named for a commit although the session has nothing there.

They are reported, never ignored.
"""

import os

from gitralph.base.kinds import Kind, Why
from gitralph.decide import decision, pending_paths
from gitralph.decide.decision import Left
from gitralph.decide.request import Request
from gitralph.git import uncommitted
from gitralph.git.context import Context


def exact(ctx: Context, request: Request) -> set[bytes]:
    """The paths that the user wrote out one by one, not those that a folder or a pattern covers."""
    here = os.fsdecode(ctx.repo.prefix)
    return {os.fsencode(os.path.normpath(os.path.join(here, name))) for name in request.named}


def in_vain(ctx: Context, request: Request, known: set[bytes]) -> list[Left]:
    """Changed paths that the user named for ``--whole-file`` and in which the session has nothing.

    Such a path counts when the user wrote it out, or when nothing that the user named is the session's. Other
    files in a named folder are no fault.
    """
    assert request.match is not None
    dirty = set(request.match(uncommitted.dirty_paths(ctx.repo, ctx.config))) - known
    missed = sorted(dirty & exact(ctx, request) if known else dirty)
    out = []
    works = pending_paths.by_path(pending_paths.everyone(ctx)) if missed else {}
    for path in missed:
        others = sorted(works.get(path, {}))
        reason = decision.CONTESTED if others else decision.UNANCHORED
        out.append(Left(path, reason, Why(Kind.NOTHING_RECORDED, (request.session,)), tuple(others)))
    return out
