"""Which pending paths the user named; pathspecs as git reads them, from the folder he stands in."""

from collections.abc import Callable, Iterable

from gitralph.plumbing import pathspec
from gitralph.porcelain.commit import open_bench
from gitralph.porcelain.context import Context


def matcher(ctx: Context, paths: tuple[str, ...]) -> Callable[[Iterable[bytes]], list[bytes]] | None:
    """A function that picks the paths the user named, None when he named none."""
    if not paths:
        return None

    def match(candidates: Iterable[bytes]) -> list[bytes]:
        bench = open_bench(ctx, quarantine=True)
        try:
            return pathspec.matching(ctx.git, bench.folder, paths, candidates)
        finally:
            bench.remove()

    return match
