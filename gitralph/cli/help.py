"""``git ralph help``."""

import click

from gitralph.cli import options
from gitralph.cli.pager import manual_page


@click.command("help", cls=options.Command)
@click.argument("topic", required=False, metavar="[<command> | <guide>]")
def help(topic: str | None) -> None:
    """Show the manual page of a command, or of a guide: sessions, hooks, isolation, policy, fleet."""
    manual_page(topic)
