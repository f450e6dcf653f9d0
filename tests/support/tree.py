"""The click tree: every command that can be typed, with its options as they are typed."""

from collections.abc import Iterator
from dataclasses import dataclass

import click

from gitralph.cli.main import COMMANDS, cli


@dataclass(frozen=True)
class Typed:
    """One command: the words after ``git ralph``, and its option spellings without help."""

    words: tuple[str, ...]
    options: frozenset[str]
    is_group: bool

    @property
    def page(self) -> str:
        """The name of its manual page."""
        return "-".join(["git-ralph", *self.words[:1]])


def _options(command: click.Command) -> frozenset[str]:
    found: set[str] = set()
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            found.update(parameter.opts + parameter.secondary_opts)
    return frozenset(found)


def commands() -> Iterator[Typed]:
    """Every command, subcommands of groups too, and ``git ralph`` itself first."""
    yield Typed((), _options(cli), True)
    context = click.Context(cli)
    for name in COMMANDS:
        found = cli.get_command(context, name)
        assert found is not None
        yield from _walk((name,), found)


def _walk(words: tuple[str, ...], command: click.Command) -> Iterator[Typed]:
    is_group = isinstance(command, click.Group)
    yield Typed(words, _options(command), is_group)
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from _walk((*words, name), inner)
