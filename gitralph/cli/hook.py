"""``git ralph hook``: the fast lane answers ``git ralph hook <agent>``; this file answers all other calls."""

import click

from gitralph.__main__ import decide, mend, tell
from gitralph.cli.terminal import options
from gitralph.hook import agents
from gitralph.hook import entry as lane


@click.command("hook", cls=options.Command, epilog="Agents: " + ", ".join(agents.ADAPTERS))
@click.argument("agent", metavar="<agent>")
def hook(agent: str) -> int:
    """Record one JSON event of an agent from standard input; always exits 0."""
    return lane.main(agent, decide, mend, tell)
