"""Which paths differ from HEAD, as git itself tells."""

from collections.abc import Iterable, Sequence

from gitralph.context import Context
from gitralph.git import listing


def dirty_paths(ctx: Context, among: Iterable[bytes] = (), typed: Sequence[str] = ()) -> list[bytes]:
    """Every path that differs from HEAD in index or worktree, untracked ones too, sorted.

    ``among`` limits it to tree paths, ``typed`` to pathspecs as the user typed them where he stands.
    Starts no program that the configuration names; a filtered path may be listed needlessly.
    """
    wanted: list[str | bytes] = [*typed] or sorted(among)
    git = ctx.git if typed else ctx.git.at(ctx.repo.root, GIT_LITERAL_PATHSPECS="1")
    said = git.run(
        *ctx.config.without_programs(), "status", "--porcelain", "-z", "--no-renames",
        "--untracked-files=all", "--ignore-submodules=none", "--", *wanted,
    )  # fmt: skip
    return sorted({path for _, path in listing.states(said)})
