"""``git ralph ls-files``."""

import click

from gitralph.cli.terminal import options, output
from gitralph.decide import pending_paths
from gitralph.records import passed_over
from gitralph.sessions import session_choice


@click.command("ls-files", cls=options.Command)
@options.session
@options.zero
def ls_files(session: str | None, zero: bool) -> None:
    """List the paths a session has pending, sorted, once each; without a session, of all."""
    ctx = options.context(create=False)
    found = session_choice.for_reading(ctx, session)
    for text in passed_over.warnings(ctx.layout, [found] if found else session_choice.all_here(ctx.layout)):
        output.warn(text)
    listing = pending_paths.of(ctx, found) if found else pending_paths.by_path(pending_paths.everyone(ctx))
    output.paths(sorted(listing), zero, options.quote_high(ctx))
