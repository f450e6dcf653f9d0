"""``git ralph diff``."""

import os

import click

from gitralph.ask.diff import render, unrecorded
from gitralph.base.errors import Refused, UsageError
from gitralph.base.quote import printable
from gitralph.cli.terminal import environ, options, output
from gitralph.cli.terminal.pager import pager
from gitralph.decide.decision import UNRECORDED, Left
from gitralph.decide.pathspecs import matcher
from gitralph.decide.request import Request
from gitralph.git.context import Context
from gitralph.hook import sessionfile
from gitralph.sessions import session_choice
from gitralph.words.advice import described

NOBODY = "nobody"


@click.command("diff", cls=options.Command)
@options.session
@click.option("--nobody", is_flag=True, help="Show what no session recorded.")
@click.option("--mine", is_flag=True, help="Show what commit --mine would record.")
@click.option("--stat", is_flag=True, help="Show a diffstat instead of the patch.")
@click.option("--name-only", "names", is_flag=True, help="Show only the paths.")
@options.paths
def diff(
    session: str | None, nobody: bool, mine: bool, stat: bool, names: bool, paths: tuple[str, ...]
) -> None:
    """Show exactly what commit would record, or what nobody did."""
    if stat and names:
        raise UsageError("options --stat and --name-only exclude each other")
    ctx = options.context(create=False)
    if session == NOBODY or (paths == (NOBODY,) and not os.path.lexists(NOBODY)):
        session, paths, nobody = None, () if paths == (NOBODY,) else paths, True
    if nobody and session is not None:
        raise UsageError("options --session and --nobody exclude each other")
    if mine and (nobody or session is not None):
        raise UsageError("options --session, --nobody and --mine exclude each other")
    if mine and ctx.is_agent:
        raise Refused("--mine is for a person, and this is an agent's shell", "git ralph diff")
    found = UNRECORDED if mine else None if nobody else session_choice.for_reading(ctx, session)
    color = environ.wants_color(ctx.environ, ctx.config.get("color.ui"))
    words = [f"--color={'always' if color else 'never'}"]
    room = output.room()  # git sees a pipe, and would fill 80 columns
    words += ["--stat" if room is None else f"--stat={room}"] if stat else []
    words += ["--name-only"] if names else []
    left = list[Left]()
    with pager(ctx, "diff"):
        if nobody:
            left, text = unrecorded(ctx, matcher(ctx, paths), words)
            output.raw(text)
        else:
            sessions = [found] if found else session_choice.all_here(ctx.layout)
            left = _show(ctx, sessions, paths, words, color)
    for line in described(ctx.layout, (one for one in left if one.reason != "unchanged")):
        output.warn(line)


def _show(
    ctx: Context, sessions: list[str], paths: tuple[str, ...], words: list[str], color: bool
) -> list[Left]:
    """Show each session's patch, under its name where there may be several; returns what stays out."""
    left: list[Left] = []
    shown, match = 0, matcher(ctx, paths)
    for session in sessions:
        result, text = render(ctx, Request(session, match=match, named=paths), words)
        left += result.left
        refused = len({one.path for one in result.left if one.refuses})
        if (text or refused) and len(sessions) > 1:
            heading = _heading(ctx, session, refused)
            line = click.style(heading, fg="yellow", bold=True) if color else heading
            output.raw((("\n" if shown else "") + line + "\n").encode())
            shown += 1
        output.raw(text)
    return left


def _heading(ctx: Context, session: str, refused: int) -> str:
    """A line that ``git apply`` ignores; it also names a session whose commit would be refused."""
    agent = (sessionfile.read(ctx.layout, session) or {}).get("agent")
    words = f"# session {ctx.called(session)}" + (f" ({agent})" if agent else "")
    if refused:
        words += f": commit would refuse {refused} path{'s' if refused != 1 else ''}"
    return printable(words)
