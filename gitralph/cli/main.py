"""The command tree: global options, dispatch by name, and exit codes. Commands load on demand."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from gitralph import __version__
from gitralph.base import streams
from gitralph.base.errors import BUSY, FATAL, INTERRUPTED, USAGE, Fatal, RalphError
from gitralph.base.files import LockTimeoutError
from gitralph.cli import environ, output

# name -> (module, porcelain or plumbing, one line)
COMMANDS = {
    "commit": ("commit", "porcelain", "Commit only what this session edited"),
    "status": ("status", "porcelain", "Show whose every uncommitted path is"),
    "diff": ("diff", "porcelain", "Show exactly what commit would record"),
    "why": ("why", "porcelain", "Show who wrote a path or a line"),
    "assign": ("assign", "porcelain", "Give a session lines that nobody recorded"),
    "session": ("session", "porcelain", "Start, list, show and end sessions"),
    "run": ("run", "porcelain", "Work through a plan, one true commit a task"),
    "plan": ("plan", "porcelain", "Choose and show the plan that run takes"),
    "events": ("events", "porcelain", "Show what happened in a run"),
    "report": ("report", "porcelain", "Make a page of sessions, edits and commits"),
    "worktree": ("worktree", "porcelain", "A checkout for each bead: add, list, merge, remove"),
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


class Tree(click.Group):
    """Finds a command's module by name, so that only what runs is imported."""

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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(f"'{args[0]}' is not a git ralph command; see 'git ralph -h'", ctx)
        return super().resolve_command(ctx, args)


def _change_folder(_ctx: click.Context, _option: click.Parameter, folders: Sequence[str]) -> None:
    for folder in folders:
        if folder:
            try:
                os.chdir(folder)
            except OSError as error:
                raise Fatal(f"cannot change to '{folder}': {error.strerror}") from error


@click.command(
    cls=Tree,
    name="git ralph",
    context_settings={"help_option_names": ["-h", "--help"]},
    options_metavar="[-C <path>]",
    subcommand_metavar="<command> [<args>]",
)
@click.option(
    "-C", "folders", multiple=True, metavar="<path>", expose_value=False, is_eager=True,
    callback=_change_folder, help="Run as if started in <path>.",
)  # fmt: skip
@click.version_option(__version__, "--version", message="git-ralph version %(version)s")
def cli() -> None:
    """Commit only what this session edited."""


def _flush() -> None:
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
    output.chatter("error", error.format_message())
    if error.ctx is not None:
        streams.complain(error.ctx.get_usage().replace("Usage:", "usage:") + "\n")


def run(args: list[str]) -> int:
    """Run one command line; returns its exit code, never a traceback for bad input."""
    try:
        os.umask(os.umask(0o022) & ~0o700)
        result = cli.main(args, prog_name="git ralph", standalone_mode=False)
        _flush()
        return result if isinstance(result, int) else 0
    except RalphError as error:
        _flush_if_possible()
        output.report(error)
        return error.exit_code
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
        return 141
    except LockTimeoutError as error:
        output.chatter("error", f"'{error.filename}' is locked by another git ralph; try again shortly")
        return BUSY
    except OSError as error:
        _flush_if_possible()
        name = f"'{os.fsdecode(error.filename)}': " if error.filename else ""
        output.chatter("fatal", f"{name}{error.strerror or error}")
        return FATAL
    except Exception as error:  # a bug of ours: said plainly, the details on demand
        if environ.wants_trace():
            raise
        output.chatter("fatal", f"internal error: {type(error).__name__}: {error}")
        output.hint("run it again with RALPH_TRACE=1 for the details")
        return FATAL
