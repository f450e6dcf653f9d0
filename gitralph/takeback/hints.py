"""The next commands to type after a refusal."""

import shlex

from gitralph.decide import decision
from gitralph.decide.decision import Left
from gitralph.git.context import Context
from gitralph.git.typed import as_name
from gitralph.hook.journal import UNDO
from gitralph.takeback.request import UndoRequest

# Hints are read, not searched: who has more refused paths than this gets a first few commands and sees from
# them how the others go.
_MOST = 5


def after_refusal(ctx: Context, request: UndoRequest, op: str, refusals: list[Left], more: bool) -> list[str]:
    """What takes it on: who stands in the way, then, where there is ``more``, the rest without it."""
    session = request.session
    out = []
    for one in refusals[:_MOST]:
        if one.lines is not None:
            where = as_name(ctx, one.path)
            out.append(f"git ralph why {where}:{one.lines[0]}  # who wrote it, and when")
    if op == UNDO:
        others = {name for one in refusals for name in one.sessions} if not ctx.is_agent else set[str]()
        for name in sorted(others - {decision.UNRECORDED, session})[:_MOST]:
            other = shlex.quote(ctx.called(name))
            out.append(f"git ralph undo --session {other} --dry-run  # what the other would lose")
        if more:
            words = ["git ralph undo --session", shlex.quote(ctx.called(session))]
            words += ["--call", shlex.quote(request.call)] if request.call is not None else []
            words += ["--last", str(request.last)] if request.last is not None else []
            words += ["--skip-entangled", *(["--", shlex.join(request.named)] if request.named else [])]
            out.append(" ".join(words) + "  # leaves it")
    return list(dict.fromkeys(out))
