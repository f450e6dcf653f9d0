"""``git ralph export``."""

import click

from gitralph.ask.trace import agent_trace, kept_notes, pull_request
from gitralph.ask.trace import export as exporting
from gitralph.ask.trace.export import AGENT_TRACE, GIT_AI, MARKDOWN
from gitralph.base.errors import UsageError
from gitralph.cli.terminal import options, output


@click.command("export", cls=options.Command)
@click.option(
    "--format",
    "form",
    required=True,
    type=click.Choice([AGENT_TRACE, GIT_AI, MARKDOWN]),
    metavar="<format>",
    help="agent-trace, git-ai, or markdown for a pull request.",
)
@click.option("--write-notes", is_flag=True, help="Write git-ai's notes, where a commit has none.")
@click.argument("revisions", required=False, metavar="[<range>]")
def export(form: str, write_notes: bool, revisions: str | None) -> None:
    """Print whose the lines of commits are: a JSON document a commit, or a summary."""
    if write_notes and form != GIT_AI:
        raise UsageError("--write-notes goes with --format git-ai")
    ctx = options.context(create=False)
    kept_notes.write_new_notes(ctx)
    if form == MARKDOWN:
        oids = exporting.commits(ctx, revisions)
        output.raw(pull_request.markdown(ctx, oids, revisions).encode())
        return
    if form == AGENT_TRACE:
        found = agent_trace.records(ctx, exporting.commits(ctx, revisions))
    else:
        found = exporting.git_ai_notes(ctx, revisions, write_notes)
    count = 0
    for one in found:
        output.json_line(one)
        count += 1
    if write_notes:
        output.note(f"{count} {'note' if count == 1 else 'notes'} written to refs/notes/ai")
