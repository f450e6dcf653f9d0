"""What to type where an answer stops at the first commits of a shallow clone."""

from collections.abc import Iterable

from gitralph.ask.every_line import Finding
from gitralph.cli.terminal import output
from gitralph.git import history
from gitralph.git.context import Context


def tell(ctx: Context, found: Iterable[Finding]) -> None:
    """Say how the rest of the history comes here, where a line may be from there."""
    if any(one.boundary for one in found) and history.is_shallow(ctx.git):
        output.hint("git fetch --unshallow  # the history before that commit")
