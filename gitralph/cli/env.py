"""``git ralph env``."""

import os

import click

from gitralph.base.errors import Fatal
from gitralph.base.quote import printable
from gitralph.cli.terminal import environ, options, output
from gitralph.setup import env as environments


@click.command("env", cls=options.Command)
def env() -> None:
    """Print what a bug report needs: versions, folders, settings, names of variables."""
    try:
        cwd = os.getcwd()
    except FileNotFoundError:
        raise Fatal("the current folder does not exist any more") from None
    for name, value in environments.facts(environ.snapshot(), cwd):
        output.say(f"{name}: {printable(value)}")
