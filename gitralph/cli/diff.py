"""``git ralph diff``."""

import click

from gitralph.cli import environ, options, output
from gitralph.porcelain import commit as porcelain
from gitralph.porcelain import which
from gitralph.porcelain.advice import describe
from gitralph.porcelain.chosen import matcher
from gitralph.porcelain.diff import render


@options.command("diff")
@options.session
@click.option("--stat", is_flag=True, help="Show a diffstat instead of the patch.")
@options.paths
def diff(session: str | None, stat: bool, paths: tuple[str, ...]) -> None:
    """Show exactly what commit would record."""
    ctx = options.context(create=False)
    found = which.for_reading(ctx, session)
    names = [found] if found else which.all_here(ctx.layout)
    color = environ.wants_color(ctx.environ, ctx.config.get("color.ui"))
    match = matcher(ctx, paths)
    for name in names:
        request = porcelain.Request(name, match=match)
        result, text = render(ctx, request, stat=stat, color=color)
        output.raw(text)
        for left in result.left:
            if left.reason != "unchanged":
                output.warn(describe(left))
