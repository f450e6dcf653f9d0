"""``git ralph export``: the records of a range in another tool's format."""

from collections.abc import Iterator

from gitralph.ask.trace import git_ai
from gitralph.ask.trace.agent_trace import Document, records, revision
from gitralph.base.errors import Fatal
from gitralph.git import history, refs
from gitralph.git.context import Context

AGENT_TRACE, GIT_AI, MARKDOWN = "agent-trace", "git-ai", "markdown"


def commits(ctx: Context, typed: str | None) -> list[str]:
    """The commits of a range, or of HEAD's history, oldest first. Raises Fatal for what names none."""
    if typed is None:
        head = refs.read_head(ctx.repo).oid
        words = [head, "--"] if head is not None else None
    else:
        words = history.range_words(ctx.git, typed)
    if words is None:
        return []
    said = ctx.git.try_run("rev-list", "--reverse", "--topo-order", *words)
    if said.returncode:
        hints = ["git fetch --unshallow  # this clone is shallow"] if history.is_shallow(ctx.git) else []
        raise Fatal(f"'{typed}' names no commits", *hints)
    return said.stdout.decode().split()


def git_ai_notes(ctx: Context, typed: str | None, write: bool) -> Iterator[Document]:
    """``{"commit", "note"}`` for each commit with lines of a session; with ``write`` only what it wrote."""
    for record in records(ctx, commits(ctx, typed)):
        text, commit = git_ai.note(record), revision(record)
        if text is None:
            continue
        if not write or git_ai.write(ctx, commit, text):
            yield {"commit": commit, "note": text}
