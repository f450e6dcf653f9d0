"""``git ralph help``."""

import sys

import click

from gitralph import manual
from gitralph.cli import environ, options, output


@options.command("help")
@click.argument("topic", required=False, metavar="[<command> | <guide>]")
def help(topic: str | None) -> None:
    """Show the manual page of a command, or of the guides 'sessions' and 'hooks'."""
    env = environ.snapshot()
    page = manual.find(topic)
    if environ.is_terminal(sys.stdout) and manual.show(page, env) == 0:
        return
    output.raw(manual.render(page, env).encode())
