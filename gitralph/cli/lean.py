"""The lane of the commands that are typed most: without click where their line is plain, see ``declare``."""

import sys

from gitralph.cli import ending, main
from gitralph.cli.declare import Command, Group

# Those that an agent or a person types all day; their modules do not import click.
COMMANDS = frozenset(
    [
        "assign",
        "commit",
        "diff",
        "fleet",
        "ls-files",
        "report",
        "restore",
        "session",
        "status",
        "track",
        "uncommit",
        "undo",
        "why",
    ]
)


def find(name: str, words: list[str]) -> tuple[Command, list[str]] | None:
    """The command that is meant, with its own words; None where that is left to click."""
    module = f"gitralph.cli.{name.replace('-', '_')}"
    __import__(module)  # importlib's own import_module brings warnings, half a millisecond
    found = getattr(sys.modules[module], name.replace("-", "_"))
    if isinstance(found, Group):
        inner = found.commands.get(words[0]) if words else None
        return None if inner is None else (inner, words[1:])
    assert isinstance(found, Command)
    return found, words


def run(args: list[str]) -> int:
    """Run one command line; returns its exit code."""
    if args and args[0] in COMMANDS:
        found = find(args[0], args[1:])
        given = found[0].read(found[1]) if found else None
        if found and given is not None:
            call = found[0].call
            return ending.run(lambda: call(**given))

    return main.run(args)
