"""The command tree: global options, dispatch by name, how a command ends. Commands load on demand."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from gitralph import __version__, manual
from gitralph.base import streams
from gitralph.base.errors import FATAL, INTERRUPTED, USAGE, Fatal
from gitralph.cli import options, output, pager

# 128 and SIGPIPE, as a shell counts it: what git in a pipeline ends with.
BROKEN_PIPE = 141

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
    "branch": ("branch", "porcelain", "Make a branch of one session's commits"),
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


class LazyGroup(click.Group):
    """Imports a command's module when it is called: click's documentation, "Lazily Loading Subcommands"."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = import_module(f"gitralph.cli.{COMMANDS[name][0]}")
        found = getattr(module, name.replace("-", "_"))
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
        name, command, rest = super().resolve_command(ctx, args)
        # As with git, `commit --help` opens the manual; `session list --help` that of `session`.
        at = 1 if isinstance(command, click.Group) and rest and rest[0][:1] != "-" else 0
        if name and rest[at : at + 1] == ["--help"] and f"git-ralph-{name}" in manual.pages():
            pager.manual_page(name)
            ctx.exit()
        return name, command, rest


def _change_folder(_ctx: click.Context, _option: click.Parameter, folders: Sequence[str]) -> None:
    for folder in folders:
        if folder:
            try:
                os.chdir(folder)
            except OSError as error:
                raise Fatal(f"cannot change to '{folder}': {error.strerror}") from error


@click.command(
    cls=LazyGroup,
    name="git ralph",
    context_settings={"help_option_names": ["-h", "--help"]},  # the subcommands' too: click hands them down
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


# --- how it ends ---


def run(args: list[str]) -> int:
    """Run one command line; returns its exit code, never a traceback for bad input."""
    try:
        # A umask that takes our own rights away would make files that we cannot read again.
        os.umask(os.umask(0o022) & ~0o700)
        result = cli.main(args, prog_name="git ralph", standalone_mode=False)
        _flush()
        return result if isinstance(result, int) else 0
    except click.UsageError as error:
        _usage(error)
        return USAGE
    except click.ClickException as error:
        output.chatter("fatal", error.format_message())
        return FATAL
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):  # click makes the one the other, with 1
        _flush()
        return BROKEN_PIPE
    except Exception as error:
        _flush_if_possible()
        return output.fault(error)


def _flush() -> None:
    """Flush what was printed, unless nobody reads it any more."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # the reader went away: nothing to say, and nothing for the interpreter to say at exit
        streams.drop(1)


def _flush_if_possible() -> None:
    """Flush the document that says why it failed; the failure is reported even where that is lost."""
    try:
        sys.stdout.flush()
    except OSError:
        streams.drop(1)


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
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        known = [name for one in error.ctx.command.params for name in one.opts if name.startswith("--")]
        return f"unknown option '{error.option_name}'{options.did_you_mean(error.option_name, known)}"
    if isinstance(error, click.NoSuchCommand) and error.ctx is not None:
        group = error.ctx.command
        assert isinstance(group, click.Group)
        of = "a git ralph command" if group is cli else f"a command of '{error.ctx.command_path}'"
        close = options.did_you_mean(error.command_name, group.list_commands(error.ctx))
        return f"'{error.command_name}' is not {of}{close}"
    said = error.format_message()
    return (said[:1].lower() + said[1:]).rstrip(".")
