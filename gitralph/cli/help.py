"""``git ralph help``."""

from typing import Any

import click

from gitralph.base.errors import UsageError
from gitralph.cli.terminal import options, output
from gitralph.cli.terminal.pager import manual_page


@click.command("help", cls=options.Command)
@click.option("--all", "every", is_flag=True, help="List every command, and those behind it.")
@click.argument("topic", required=False, metavar="[<command> | <guide>]")
def help(every: bool, topic: str | None) -> None:
    """Show the manual page of a command, or of a guide: sessions, hooks, isolation, policy, fleet."""
    if not every:
        manual_page(topic)
        return
    if topic is not None:
        raise UsageError("option --all goes with no topic", f"git ralph help {topic}")
    top = click.get_current_context().find_root()
    command: Any = top.command
    output.content(command.everything(top))
