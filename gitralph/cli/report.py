"""``git ralph report``."""

import json
import os
import sys

import click

from gitralph.ask.report import document, gather, page
from gitralph.base import programs, runner
from gitralph.base.errors import Failed, Fatal, UsageError
from gitralph.cli.terminal import environ, options, output
from gitralph.git.context import Context


@click.command("report", cls=options.Command)
@click.option("--run", metavar="<id>", help="Only the sessions and tasks of this run.")
@click.option("-o", "--output", "target", metavar="<file>", help="Write it there instead of standard output.")
@click.option("--open", "opened", is_flag=True, help="Show it in the browser.")
@click.option("--tokens", is_flag=True, help="Also the tokens that were taken, from transcripts.")
@options.as_json
def report(run: str | None, target: str | None, opened: bool, tokens: bool, as_json: bool) -> None:
    """Make one self-contained HTML page of sessions, edits, commits and tasks."""
    if opened and as_json:
        raise UsageError("options --open and --json exclude each other")
    if target is None and not (opened or as_json) and environ.is_terminal(sys.stdout):
        raise UsageError(
            "the report is a page for a browser, not for a terminal",
            "git ralph report --open",
            "git ralph report -o report.html  # keeps it in a file",
        )
    ctx = options.context(create=False)
    facts = gather.gather(ctx, run, tokens)
    told = json.dumps(document.document(facts), indent=1) + "\n" if as_json else page.render(facts)
    made = told.encode("utf-8", "replace")
    if opened and target in (None, "-"):
        target = ctx.layout.report
    if target is None or target == "-":
        output.raw(made)
        return
    try:
        with open(target, "wb") as file:
            file.write(made)
    except OSError as error:
        raise Fatal(f"cannot write '{os.fspath(target)}': {error.strerror}") from error
    if opened:
        _show(ctx, os.path.abspath(target))


def _show(ctx: Context, path: str) -> None:
    """Open a page as git opens its manual in HTML. Raises Failed where there is no browser."""
    words = [ctx.git.program, "web--browse", path]
    if runner.show(words, env=programs.inherited(ctx.environ, naming=True)):
        raise Failed(
            f"no browser could be started; the page is in '{path}'",
            "git config --global web.browser <browser>",
        )
