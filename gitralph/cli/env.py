"""``git ralph env``."""

import os

from gitralph.cli import environ, options, output
from gitralph.errors import Fatal
from gitralph.porcelain import env as porcelain
from gitralph.quote import printable


@options.command("env")
def env() -> None:
    """Print what a bug report needs: versions, folders, settings, names of variables."""
    try:
        cwd = os.getcwd()
    except FileNotFoundError:
        raise Fatal("the current folder does not exist any more") from None
    for name, value in porcelain.facts(environ.snapshot(), cwd):
        output.say(f"{name}: {printable(value)}")
