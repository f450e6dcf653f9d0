"""``git ralph hook``: the fast lane answers ``git ralph hook <agent>``; this page is for everybody else."""

from gitralph.__main__ import decide, mend
from gitralph.cli import options
from gitralph.hook import agents
from gitralph.hook import entry as lane


@options.command("hook", epilog="Agents: " + ", ".join(agents.ADAPTERS))
@options.argument("agent", metavar="<agent>")
def hook(agent: str) -> int:
    """Record one JSON event of an agent from standard input; always exits 0."""

    return lane.main(agent, decide, mend)
