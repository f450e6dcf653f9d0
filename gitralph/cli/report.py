"""``git ralph report``."""

import os

import click

from gitralph.base.errors import Fatal
from gitralph.cli import options, output
from gitralph.report import gather, page


@options.command("report")
@click.option("--run", metavar="<id>", help="Only the sessions and tasks of this run.")
@click.option("-o", "--output", "target", metavar="<file>", help="Write it there instead of standard output.")
def report(run: str | None, target: str | None) -> None:
    """Make one self-contained HTML page of sessions, edits, commits and tasks."""
    ctx = options.context(create=False)
    made = page.render(gather.gather(ctx, run)).encode("utf-8", "replace")
    if target is None or target == "-":
        output.raw(made)
        return
    try:
        with open(target, "wb") as file:
            file.write(made)
    except OSError as error:
        raise Fatal(f"cannot write '{os.fspath(target)}': {error.strerror}") from error
