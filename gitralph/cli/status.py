"""``git ralph status``."""

import os
import sys

import click

from gitralph.base.quote import printable, shown
from gitralph.cli import environ, options, output
from gitralph.commit import pending_paths
from gitralph.context import Context
from gitralph.query import status as statuses
from gitralph.query.status import Owned
from gitralph.session import dead_hooks, session_choice, sessions
from gitralph.shell import attribution

_COLORS = {"mine": "green", "other": "cyan", "contested": "red", "nobody": "yellow"}


@options.command("status")
@options.session
@options.as_json
@click.option("--porcelain", "stable", is_flag=True, help="Print stable lines for programs.")
@options.zero
@click.argument("specs", nargs=-1, type=click.UNPROCESSED, metavar="[--] [<pathspec>...]")
def status(session: str | None, as_json: bool, stable: bool, zero: bool, specs: tuple[str, ...]) -> None:
    """Show whose every uncommitted path is: mine, other, contested or nobody."""
    ctx = options.context(create=False)
    found = session_choice.for_reading(ctx, session)
    everybody = pending_paths.everyone(ctx)
    rows = statuses.owners(ctx, found, specs, everybody)
    for text in dead_hooks.passed_over(ctx, session_choice.all_here(ctx.layout)):
        output.warn(text)
    if as_json:
        _json(found, rows, sessions.listing(ctx, everybody))
    elif stable or zero:
        _lines(rows, zero, options.quote_high(ctx))
    else:
        color = environ.wants_color(ctx.environ, ctx.config.get("color.ui"))
        _table(found, rows, color, _Here(ctx))


def _json(session: str | None, rows: list[Owned], listing: list[dict[str, object]]) -> None:
    output.as_json(
        {
            "session": session,
            "paths": [
                {"path": output.text(r.path), "owner": r.owner, "sessions": list(r.sessions), **_likely(r)}
                for r in rows
            ],
            "sessions": listing,
        }
    )


def _likely(row: Owned) -> dict[str, object]:
    """The shell calls that likely changed a path which nobody recorded; never a command's text."""
    if not row.likely:
        return {}
    keys = ("session", "agent_id", "tool", "call", "time")
    return {"likely": [{key: getattr(command, key) for key in keys} for command in row.likely]}


def _lines(rows: list[Owned], zero: bool, high: bool) -> None:
    for row in rows:
        sys.stdout.write(f"{row.owner} {','.join(row.sessions) or '-'} ")
        output.paths([row.path], zero, high)


class _Here:
    """Paths as git's status prints them for people: from where one stands."""

    def __init__(self, ctx: Context) -> None:
        relative = ctx.config.boolean("status.relativepaths", default=True)
        self.folder = ctx.repo.prefix if relative else b""

    def shown(self, path: bytes) -> str:
        return shown(os.path.relpath(path, self.folder) if self.folder else path)


def _table(session: str | None, rows: list[Owned], color: bool, here: _Here) -> None:
    if not rows:
        output.say("nothing uncommitted")
        return
    if session:
        output.say(f"as session '{session}' sees it:")
    width = max(len(here.shown(row.path)) for row in rows)
    for row in rows:
        word = click.style(f"{row.owner:<9}", fg=_COLORS[row.owner]) if color else f"{row.owner:<9}"
        who = ", ".join(row.sessions) + (" and somebody unrecorded" if row.gap else "")
        made = " and ".join(attribution.call_name(command) for command in row.likely)
        who += f"{' ' if who else ''}likely {made}" if made else ""
        sys.stdout.write(f"  {word} {here.shown(row.path):<{width}}  {printable(who)}".rstrip() + "\n")
    if any(row.owner == "nobody" for row in rows):
        output.hint("git ralph track <path> claims a path for a session")
    if any(row.likely for row in rows):
        output.hint("git ralph commit --with-shell takes what only a session's own shell calls changed")
