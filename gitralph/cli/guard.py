"""``git ralph guard``."""

import os

import click

from gitralph.base.errors import OK, Fatal, Refused, UsageError
from gitralph.base.quote import shown
from gitralph.cli import environ, options, output
from gitralph.context import Context, open_context
from gitralph.query import guard as guarding
from gitralph.query.guard import BYPASS, GuardedPath
from gitralph.session import session_choice


@click.command("guard", cls=options.Command)
@click.argument("words", nargs=-1, metavar="[<hook> <pid> [<file>]]")
def guard(words: tuple[str, ...]) -> int:
    """Judge, or narrow to one session, the commit that git is about to make.

    Meant for git's own hooks: git ralph install --guard.
    """
    if words:  # a hook's call has a lane of its own and takes no options, see guard_hook
        raise UsageError(f"'{words[0]}' is for git's own hooks", "git ralph install --guard")
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
    rows = [_row(ctx, one) for one in found]
    # narrowing is for hooks of this version: one that only asks must not let it pass
    if mode in (guarding.REFUSE, guarding.NARROW):
        bypass = () if ctx.is_agent else (BYPASS,)
        raise Refused("\n".join(rows), "commit only what your session edited: git ralph commit", *bypass)
    for row in rows:
        output.warn(row)
    silence = "" if ctx.is_agent else "; silence this: RALPH_GUARD=0"
    output.hint("commit only what your session edited: git ralph commit" + silence)
    return OK


def _row(ctx: Context, one: GuardedPath) -> str:
    what = "what" if one.lines is None else f"{one.lines} line{'s'[: one.lines != 1]} that"
    whose = f"live session '{ctx.called(one.session)}'"
    return f"'{shown(one.path)}': this commit takes {what} {whose} did not commit yet"
