"""``git ralph diff``."""

import click

from gitralph.cli import environ, options, output
from gitralph.commit import commit
from gitralph.commit.advice import describe
from gitralph.commit.pathspecs import matcher
from gitralph.query.diff import render
from gitralph.session import session_choice


@options.command("diff")
@options.session
@click.option("--stat", is_flag=True, help="Show a diffstat instead of the patch.")
@options.paths
def diff(session: str | None, stat: bool, paths: tuple[str, ...]) -> None:
    """Show exactly what commit would record."""
    ctx = options.context(create=False)
    found = session_choice.for_reading(ctx, session)
    names = [found] if found else session_choice.all_here(ctx.layout)
    color = environ.wants_color(ctx.environ, ctx.config.get("color.ui"))
    match = matcher(ctx, paths)
    for name in names:
        request = commit.Request(name, match=match)
        result, text = render(ctx, request, stat=stat, color=color)
        output.raw(text)
        for left in result.left:
            if left.reason != "unchanged":
                output.warn(describe(left))
