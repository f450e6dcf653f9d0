"""Options that several commands share, git's form of a usage line, and how a command gets its context."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from typing import Any

import click

from gitralph.base.errors import RalphError, UsageError
from gitralph.cli.terminal import environ, output
from gitralph.commit import cleanup, guard_script
from gitralph.git import dead_locks
from gitralph.git.context import Context, open_context
from gitralph.hook import beat

session = click.option("--session", metavar="<session>", help="The session: name, id or part of it.")


class _AsJson(click.Option):
    """Asks for one document, also where the command fails."""


as_json = click.option("--json", "as_json", is_flag=True, cls=_AsJson, help="Print one JSON document.")
zero = click.option("-z", "zero", is_flag=True, help="End paths with NUL and quote nothing.")
# Unprocessed: a path may hold bytes that are no text.
paths = click.argument("paths", nargs=-1, type=click.UNPROCESSED, metavar="[--] [<path>...]")


class Command(click.Command):
    """A command whose usage line looks like git's: ``git ralph diff [<options>] [--] [<path>...]``."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **{"options_metavar": "[<options>]", **more})

    def invoke(self, ctx: click.Context) -> Any:
        """Run it. Where it fails without a document of its own, ``--json`` prints one that says why."""
        before = output.documents()
        try:
            return super().invoke(ctx)
        except UsageError:
            raise  # a command line that cannot be read has no form to answer in
        except RalphError as error:
            asked = any(isinstance(one, _AsJson) and ctx.params.get(str(one.name)) for one in self.params)
            if asked and output.documents() == before:
                output.as_json({"status": "refused", "notes": [error.message]})  # as ``commit`` has them
            raise


class Group(click.Group):
    """Commands behind one name: ``git ralph session <command> [<args>]``."""

    command_class = Command

    def __init__(self, *given: Any, **more: Any) -> None:
        form = {"options_metavar": "", "subcommand_metavar": "<command> [<args>]"}
        super().__init__(*given, **{**form, **more})


def did_you_mean(typed: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown word: the known words that it resembles."""
    # 0.75 accepts a missing letter or two exchanged ones (`comit`, `stauts`); click's own 0.6 offers
    # `restore` for `rebase`. At most two words, or it is a list and no help.
    close = difflib.get_close_matches(typed, list(known), n=2, cutoff=0.75)
    return f"; did you mean {' or '.join(repr(one) for one in close)}?" if close else ""


def context(create: bool = True, beats: bool = True) -> Context:
    """The context of this call, with its messages on stderr; ``beats`` starts a due sign of life.

    The repository is closed when the command is over, however it ends.
    """
    ctx = open_context(environ.snapshot(), create)
    ctx.warn, ctx.say = output.warn, output.note
    click.get_current_context().call_on_close(ctx.repo.close)
    if not create:
        _warn_of_read_only(ctx)
    if _left_by_a_crash(ctx):
        cleanup.unless_busy(ctx)
    if beats:
        beat.start_if_due(ctx.layout, ctx.repo.root, dict(ctx.environ))
    return ctx


def _warn_of_read_only(ctx: Context) -> None:
    """Warn that what a reading command shows may be old: no hook can record here."""
    there = ctx.layout.top if os.path.lexists(ctx.layout.top) else ctx.repo.common_dir
    if not os.access(there, os.W_OK):
        output.warn(f"'{there}' cannot be written: no edit is recorded here, and nothing can be committed")


def _left_by_a_crash(ctx: Context) -> bool:
    """True when a commit is landing or was cut short; usually a look at two empty folders."""
    if any(_names_one(folder) for folder in (ctx.layout.intents, ctx.layout.narrowed)):
        return True
    if ctx.config.get("ralph.guard") != guard_script.NARROW:
        return False

    # A guarded git that was killed before its first hook has left only its lock.
    return dead_locks.any_lock(ctx.repo)


def _names_one(folder: str) -> bool:
    try:
        return any(name.endswith(".json") for name in os.listdir(folder))
    except OSError:
        return False


def quote_high(ctx: Context) -> bool:
    """True when bytes above 127 are quoted: ``core.quotePath``."""
    return ctx.config.boolean("core.quotepath", default=True)


class BeforeCommand(Command):
    """Keeps the words after ``--`` apart, in the context's ``meta["command"]``: they are a command to run."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            ctx.meta["command"] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)
