"""``git ralph guard``."""

import os

from gitralph.base.errors import OK, Fatal, Refused
from gitralph.base.quote import shown
from gitralph.cli import environ, options, output
from gitralph.context import Context, open_context
from gitralph.query import guard as guarding
from gitralph.query.guard import Taken
from gitralph.session import session_choice

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
    mode = guarding.mode(ctx)
    if mode == guarding.OFF or not os.path.isdir(ctx.layout.top):
        return OK
    try:
        own = session_choice.for_reading(ctx, None)
    except Fatal:  # a launcher's session that has recorded nothing yet owns nothing yet
        own = None
    found = guarding.judge(ctx, own)
    if not found:
        return OK
    rows = [_row(one) for one in found]
    if mode == guarding.REFUSE:
        raise Refused("\n".join(rows), "commit only what your session edited: git ralph commit", _BYPASS)
    for row in rows:
        output.warn(row)
    output.hint("commit only what your session edited: git ralph commit; silence this: RALPH_GUARD=0")
    return OK


def _row(one: Taken) -> str:
    what = "what" if one.lines is None else f"{one.lines} line{'s'[: one.lines != 1]} that"
    return f"'{shown(one.path)}': this commit takes {what} live session '{one.session}' did not commit yet"
