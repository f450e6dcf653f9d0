"""The command tree: global options, dispatch by name, how a command ends. Commands load on demand."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from gitralph import __version__
from gitralph.base import streams
from gitralph.base.errors import FATAL, INTERRUPTED, USAGE, Fatal
from gitralph.cli.terminal import options, output, pager
from gitralph.setup import manual

# 128 and SIGPIPE, as a shell counts it: what git in a pipeline ends with.
BROKEN_PIPE = 141

LOOK, COMMIT, BACK, MANY, SETUP, PROGRAMS = (
    "Look",
    "Commit",
    "Take back",
    "Many tasks",
    "Set up",
    "For programs",
)

# name -> (module, the heading in the help, the command in one line)
COMMANDS = {
    "status": ("status", LOOK, "Show what is uncommitted, by session"),
    "top": ("status", LOOK, "Watch sessions, edits and commits live"),
    "diff": ("diff", LOOK, "Show exactly what commit would record"),
    "log": ("log", LOOK, "Show edits and commits over time"),
    "why": ("why", LOOK, "Show who wrote a path or a line"),
    "blame": ("blame", LOOK, "Show whose every line of a file is"),
    "events": ("events", LOOK, "Show what happened in a run"),
    "report": ("report", LOOK, "Make a page of sessions, edits and commits"),
    "commit": ("commit", COMMIT, "Commit only what this session edited"),
    "assign": ("assign", COMMIT, "Give a session lines that nobody recorded"),
    "prove": ("prove", COMMIT, "Run a command on each commit's own tree"),
    "branch": ("branch", COMMIT, "Make a branch of one session's commits"),
    "export": ("export", COMMIT, "Print whose the lines of commits are, for other tools"),
    "undo": ("undo", BACK, "Take a session's pending edits out of the files"),
    "uncommit": ("uncommit", BACK, "Take the last commit of a session back"),
    "restore": ("restore", BACK, "Bring lost edits of a session back into the files"),
    "session": ("session", MANY, "Start, list, show, rename and end sessions"),
    "run": ("run", MANY, "Work through a plan, one true commit a task"),
    "plan": ("plan", MANY, "Choose and show the plan that run takes"),
    "worktree": ("worktree", MANY, "A checkout for each work item: add, list, merge, remove"),
    "fleet": ("fleet", MANY, "Several clones of one remote: claim work, land it once"),
    "install": ("install", SETUP, "Register the hooks of an agent"),
    "uninstall": ("install", SETUP, "Take the hooks of an agent out again"),
    "doctor": ("doctor", SETUP, "Prove that edits are being recorded"),
    "demo": ("demo", SETUP, "Two agents and a human in a throw-away repository"),
    "gc": ("gc", SETUP, "Remove state that nothing needs any more"),
    "env": ("env", SETUP, "Print what a bug report needs"),
    "help": ("help", SETUP, "Show the manual of a command"),
    "emit": ("emit", PROGRAMS, "Add one event to a run"),
    "track": ("track", PROGRAMS, "Record that a session changed paths"),
    "ls-files": ("ls_files", PROGRAMS, "List the pending paths of a session"),
    "hook": ("hook", PROGRAMS, "Record one event of an agent"),
    "guard": ("guard", PROGRAMS, "Judge the commit that git is about to make"),
}

_FIRST = [
    ("git ralph demo", "two agents and a human, in half a minute"),
    ("git ralph help tutorial", "two agents in one directory, to type along"),
    ("git ralph install", "hook up your agents, then: git ralph status"),
    ("git ralph help <command>", "the manual; git ralph help --all lists everything"),
]


class LazyGroup(click.Group):
    """Imports a command's module when it is called (click's documentation, "Lazily Loading Subcommands")."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = import_module(f"gitralph.cli.{COMMANDS[name][0]}")
        if not gc.isenabled():  # the program turned it off while it loads; what is loaded now stays
            gc.freeze()
            gc.enable()
        found = getattr(module, name.replace("-", "_"))
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("New here"):
            formatter.write_dl(_FIRST)
        for group in (LOOK, COMMIT, BACK, MANY, SETUP, PROGRAMS):
            with formatter.section(group):
                formatter.write_dl([(n, c[2]) for n, c in COMMANDS.items() if c[1] == group])

    def everything(self, ctx: click.Context) -> str:
        """Every command with the commands behind it."""
        formatter = ctx.make_formatter()
        for group in (LOOK, COMMIT, BACK, MANY, SETUP, PROGRAMS):
            with formatter.section(group):
                names = [name for name, row in COMMANDS.items() if row[1] == group]
                formatter.write_dl([row for name in names for row in self._rows(ctx, name)])
        return formatter.getvalue().strip("\n")

    def _rows(self, ctx: click.Context, name: str) -> list[tuple[str, str]]:
        found, rows = self.get_command(ctx, name), [(name, COMMANDS[name][2])]
        if isinstance(found, click.Group):
            inner = ((one, found.get_command(ctx, one)) for one in found.list_commands(ctx))
            said = ((one, (each.help or "").split("\n")[0].rstrip(".")) for one, each in inner if each)
            rows += [(f"  {name} {one}", line) for one, line in said]
        return rows

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
        # A umask that takes away our own rights would make files that we cannot read again.
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
    except (BrokenPipeError, SystemExit):  # click turns a BrokenPipeError into a SystemExit with 1
        _flush()
        return BROKEN_PIPE
    except Exception as error:
        # The document that says why it failed; the failure is reported even where that is lost.
        _flush(OSError)
        return output.fault(error)


def _flush(fault: type[OSError] = BrokenPipeError) -> None:
    """Flush the output; what it holds is lost where that ends in ``fault``."""
    try:
        sys.stdout.flush()
    except fault:
        # the reader is gone: nothing to say, also not for the interpreter at exit
        streams.drop(1)


def _usage(error: click.UsageError) -> None:
    # nothing was asked for: this is no error, and the help shows the way
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
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
    # click lists choices in a sentence of its own, one a line
    said = error.format_message().replace(". Choose from:\n\t", "; choose from: ").replace(",\n\t", ", ")
    return (said[:1].lower() + said[1:]).rstrip(".")
