"""``git ralph ls-files``."""

from gitralph.cli import options, output
from gitralph.porcelain import silence, waiting, which


@options.command("ls-files")
@options.session
@options.zero
def ls_files(session: str | None, zero: bool) -> None:
    """List the paths a session has pending, sorted, once each; without a session, of all."""
    ctx = options.context(create=False)
    found = which.for_reading(ctx, session)
    for text in silence.passed_over(ctx, [found] if found else which.all_here(ctx.layout)):
        output.warn(text)
    listing = waiting.of(ctx, found) if found else waiting.by_path(waiting.everyone(ctx))
    output.paths(sorted(listing), zero, options.quote_high(ctx))
