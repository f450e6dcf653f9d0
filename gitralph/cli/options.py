"""Options that several commands share, and how a command gets its context."""

import os
from collections.abc import Callable
from typing import Any

import click

from gitralph.cli import environ, output
from gitralph.context import Context, open_context

CONTEXT = {"help_option_names": ["-h", "--help"], "ignore_unknown_options": False}

session = click.option("--session", metavar="<id>", help="The session that is meant.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
zero = click.option("-z", "zero", is_flag=True, help="End paths with NUL and quote nothing.")
paths = click.argument("paths", nargs=-1, type=click.UNPROCESSED, metavar="[--] [<path>...]")


def command(name: str) -> Callable[[Callable[..., Any]], click.Command]:
    """A subcommand: long help from its docstring, ``-h`` for short usage."""
    return click.command(name, context_settings=CONTEXT)


def context(create: bool = True) -> Context:
    """The context of this call, with its chatter on stderr."""
    ctx = open_context(environ.snapshot(), create)
    ctx.warn, ctx.say = output.warn, output.note
    if (running := click.get_current_context(silent=True)) is not None:
        running.call_on_close(ctx.repo.close)
    if not create:
        _warn_of_read_only(ctx)
    if _left_by_a_crash(ctx):
        from gitralph.commit import recover

        recover.heal(ctx)
    return ctx


def _warn_of_read_only(ctx: Context) -> None:
    """A command that reads goes on, but what it shows may be old: no hook can record here."""
    there = ctx.layout.top if os.path.lexists(ctx.layout.top) else ctx.repo.common_dir
    if not os.access(there, os.W_OK):
        output.warn(f"'{there}' cannot be written: no edit is recorded here, and nothing can be committed")


def _left_by_a_crash(ctx: Context) -> bool:
    """True when a commit is landing or was cut short; normally one look at an empty folder."""
    try:
        return any(name.endswith(".json") for name in os.listdir(ctx.layout.intents))
    except OSError:
        return False


def quote_high(ctx: Context) -> bool:
    """Whether bytes above 127 are quoted: ``core.quotePath``."""
    return ctx.config.boolean("core.quotepath", default=True)
