"""``git ralph ls-files``."""

from gitralph.cli import options, output
from gitralph.porcelain import owned, which


@options.command("ls-files")
@options.session
@options.zero
def ls_files(session: str | None, zero: bool) -> None:
    """List the paths a session has pending, sorted, once each; without a session, of all."""
    ctx = options.context(create=False)
    found = which.for_reading(ctx.layout, ctx.environ, session)
    names = [found] if found else which.all_here(ctx.layout)
    listing = sorted({path for name in names for path in owned.paths_of(ctx, name)})
    output.paths(listing, zero, options.quote_high(ctx))
