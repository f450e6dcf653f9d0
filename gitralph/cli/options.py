"""Options that several commands share, and how a command gets its context."""

from collections.abc import Callable
from typing import Any

import click

from gitralph.cli import environ, output
from gitralph.porcelain.context import Context, open_context

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
    return ctx


def quote_high(ctx: Context) -> bool:
    """Whether bytes above 127 are quoted: ``core.quotePath``."""
    return ctx.config.boolean("core.quotepath", default=True)
