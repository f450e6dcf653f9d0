"""``git ralph guard``."""

import os

from gitralph.cli import environ, options, output
from gitralph.errors import OK, Fatal, Refused
from gitralph.porcelain import guard as porcelain
from gitralph.porcelain import which
from gitralph.porcelain.context import Context, open_context
from gitralph.porcelain.guard import Taken
from gitralph.quote import shown

_BYPASS = "or take them all the same: git commit --no-verify"


@options.command("guard")
def guard() -> int:
    """Say when a commit that git is about to make would take another live session's lines.

    Meant for git's pre-commit hook: git ralph install --guard.
    """
    env = environ.snapshot()
    if env.get("RALPH_GUARD") == "0":
        return OK
    ctx = open_context(env, create=False)
    ctx.warn, ctx.say = output.warn, output.note
    try:
        return _judge(ctx)
    finally:
        ctx.repo.close()


def _judge(ctx: Context) -> int:
    mode = porcelain.mode(ctx)
    if mode == porcelain.OFF or not os.path.isdir(ctx.layout.top):
        return OK
    try:
        own = which.for_reading(ctx, None)
    except Fatal:  # a launcher's session that has recorded nothing yet owns nothing yet
        own = None
    found = porcelain.judge(ctx, own)
    if not found:
        return OK
    rows = [_row(one) for one in found]
    if mode == porcelain.REFUSE:
        raise Refused("\n".join(rows), "commit only what your session edited: git ralph commit", _BYPASS)
    for row in rows:
        output.warn(row)
    output.hint("commit only what your session edited: git ralph commit; silence this: RALPH_GUARD=0")
    return OK


def _row(one: Taken) -> str:
    what = "what" if one.lines is None else f"{one.lines} line{'s'[: one.lines != 1]} that"
    return f"'{shown(one.path)}': this commit takes {what} live session '{one.session}' did not commit yet"
