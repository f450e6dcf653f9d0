"""Paths that the user named for a commit which has nothing of the session there: said, never passed over."""

import os

from gitralph.porcelain import outcome, status, waiting
from gitralph.porcelain.context import Context
from gitralph.porcelain.outcome import Left
from gitralph.porcelain.request import Request


def in_vain(ctx: Context, request: Request, known: set[bytes]) -> list[Left]:
    """Changed paths that the user named for ``--whole-file`` and the session has nothing on.

    A path that he wrote out, or all that he named; what a folder holds beside the session's is no fault.
    """
    assert request.match is not None
    dirty = set(request.match(status.dirty_paths(ctx))) - known
    here = os.fsdecode(ctx.repo.prefix)
    exact = {os.fsencode(os.path.normpath(os.path.join(here, name))) for name in request.named}
    missed = sorted(dirty & exact if known else dirty)
    out = []
    works = waiting.by_path(waiting.everyone(ctx)) if missed else {}
    for path in missed:
        others = sorted(works.get(path, {}))
        detail = f"session '{request.session}' has recorded nothing there"
        reason = outcome.CONTESTED if others else outcome.UNANCHORED
        out.append(Left(path, reason, detail, tuple(others)))
    return out
