"""The command tree: global options, dispatch by name, and exit codes. Commands load on demand."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from importlib import import_module

import click

from gitralph import __version__, manual
from gitralph.base import streams
from gitralph.base.errors import FATAL, INTERRUPTED, OK, USAGE, Fatal
from gitralph.cli import ending, output, pager
from gitralph.cli.declare import Command, Group, did_you_mean

# name -> (module, porcelain or plumbing, one line)
COMMANDS = {
    "commit": ("commit", "porcelain", "Commit only what this session edited"),
    "status": ("status", "porcelain", "Show what is uncommitted, by session"),
    "top": ("status", "porcelain", "Watch sessions, edits and commits live"),
    "diff": ("diff", "porcelain", "Show exactly what commit would record"),
    "why": ("why", "porcelain", "Show who wrote a path or a line"),
    "blame": ("blame", "porcelain", "Show whose every line of a file is"),
    "log": ("log", "porcelain", "Show edits and commits over time"),
    "assign": ("assign", "porcelain", "Give a session lines that nobody recorded"),
    "prove": ("prove", "porcelain", "Run a command on each commit's own tree"),
    "undo": ("undo", "porcelain", "Take a session's pending edits out of the files"),
    "uncommit": ("uncommit", "porcelain", "Take the last commit of a session back"),
    "restore": ("restore", "porcelain", "Bring lost edits of a session back into the files"),
    "session": ("session", "porcelain", "Start, list, show, rename and end sessions"),
    "run": ("run", "porcelain", "Work through a plan, one true commit a task"),
    "plan": ("plan", "porcelain", "Choose and show the plan that run takes"),
    "events": ("events", "porcelain", "Show what happened in a run"),
    "report": ("report", "porcelain", "Make a page of sessions, edits and commits"),
    "export": ("export", "porcelain", "Print whose the lines of commits are, for other tools"),
    "worktree": ("worktree", "porcelain", "A checkout for each work item: add, list, merge, remove"),
    "fleet": ("fleet", "porcelain", "Several clones of one remote: claim work, land it once"),
    "install": ("install", "porcelain", "Register the hooks of an agent"),
    "uninstall": ("install", "porcelain", "Take the hooks of an agent out again"),
    "doctor": ("doctor", "porcelain", "Prove that edits are being recorded"),
    "demo": ("demo", "porcelain", "Two agents and a human in a throw-away repository"),
    "gc": ("gc", "porcelain", "Remove state that nothing needs any more"),
    "env": ("env", "porcelain", "Print what a bug report needs"),
    "help": ("help", "porcelain", "Show the manual of a command"),
    "emit": ("emit", "plumbing", "Add one event to a run"),
    "track": ("track", "plumbing", "Record that a session changed paths"),
    "ls-files": ("ls_files", "plumbing", "List the pending paths of a session"),
    "hook": ("hook", "plumbing", "Record one event of an agent"),
    "guard": ("guard", "plumbing", "Judge the commit that git is about to make"),
}


_FIRST = [
    ("git ralph demo", "two agents and a human, in half a minute"),
    ("git ralph install", "hook up your agents, then: git ralph status"),
    ("git ralph help <command>", "the manual"),
]


class CommandTree(click.Group):
    """Finds a command's module by name, so that only what runs is imported."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = import_module(f"gitralph.cli.{COMMANDS[name][0]}")
        found = getattr(module, name.replace("-", "_"))
        if isinstance(found, (Command, Group)):
            return found.for_click()
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for kind in ("porcelain", "plumbing"):
            with formatter.section(kind.capitalize() + " commands"):
                formatter.write_dl([(n, c[2]) for n, c in COMMANDS.items() if c[1] == kind])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("New here"):  # what is read first, as the rest has scrolled away
            formatter.write_dl(_FIRST)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            close = did_you_mean(args[0], COMMANDS)
            raise click.UsageError(f"'{args[0]}' is not a git ralph command{close}", ctx)
        return super().resolve_command(ctx, args)


def _change_folder(_ctx: click.Context, _option: click.Parameter, folders: Sequence[str]) -> None:
    for folder in folders:
        if folder:
            try:
                os.chdir(folder)
            except OSError as error:
                raise Fatal(f"cannot change to '{folder}': {error.strerror}") from error


@click.command(
    cls=CommandTree,
    name="git ralph",
    context_settings={"help_option_names": ["-h", "--help"]},
    options_metavar="[-C <path>]",
    subcommand_metavar="<command> [<args>]",
)
@click.option(
    "-C",
    "folders",
    multiple=True,
    metavar="<path>",
    expose_value=False,
    is_eager=True,
    callback=_change_folder,
    help="Run as if started in <path>.",
)
@click.version_option(__version__, "--version", message="git-ralph version %(version)s")
def cli() -> None:
    """Commit only what this session edited."""


def _usage(error: click.UsageError) -> None:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):  # nothing asked: no error, just the way
        streams.complain(error.format_message().replace("Usage:", "usage:", 1) + "\n")
        return
    output.chatter("error", _words(error))
    if error.ctx is not None:
        streams.complain(error.ctx.get_usage().replace("Usage:", "usage:") + "\n")
        output.hint(" ".join([*error.ctx.command_path.split(), "-h"]))


def _words(error: click.UsageError) -> str:
    """What is wrong, as git would say it."""
    command = error.ctx.command if error.ctx is not None else None
    if isinstance(error, click.NoSuchOption) and command is not None:
        known = [name for one in command.params for name in one.opts if name.startswith("--")]
        return f"unknown option '{error.option_name}'{did_you_mean(error.option_name, known)}"
    said = error.format_message()
    if isinstance(command, click.Group) and (found := _NO_COMMAND.match(said)):
        close = did_you_mean(found[1], command.commands)
        return f"'{found[1]}' is not a command of '{error.ctx.command_path if error.ctx else ''}'{close}"
    return (said[:1].lower() + said[1:]).rstrip(".")


# click has no class of its own for it, only these words (click 8).
_NO_COMMAND = re.compile(r"No such command '([^']*)'")


_GROUPS = frozenset(["session", "plan", "run", "worktree", "fleet"])


def _page_of(args: list[str]) -> str | None:
    """The command whose manual page is asked for: ``<command> --help``, as git understands it."""
    rest = list(args)
    while rest[:1] == ["-C"]:
        rest = rest[2:]
    if not rest or rest[0] not in COMMANDS:
        return None
    # `session list --help` asks for the page of `session`: a page a command, none for the parts.
    inner = 2 if rest[0] in _GROUPS and rest[1:2] and rest[1][0:1] != "-" else 1
    return rest[0] if rest[inner : inner + 1] == ["--help"] else None


def run(args: list[str]) -> int:
    """Run one command line; returns its exit code, never a traceback for bad input."""

    def command() -> object:
        try:
            topic = _page_of(args)
            if topic is not None and f"git-ralph-{topic}" in manual.pages():
                pager.manual_page(topic)
                return OK
            return cli.main(args, prog_name="git ralph", standalone_mode=False)
        except click.UsageError as error:
            _usage(error)
            return USAGE
        except click.ClickException as error:
            output.chatter("fatal", error.format_message())
            return FATAL
        except click.Abort:
            return INTERRUPTED

    return ending.run(command)
