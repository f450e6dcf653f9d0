"""Which paths differ from HEAD, as git itself tells."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from gitralph.git import listing, refs
from gitralph.git.config import Config
from gitralph.git.listing import Counts
from gitralph.git.repository import Repository
from gitralph.git.run import GitError
from gitralph.git.snapshot import LeadsOutError, Worktree
from gitralph.git.texts import is_binary
from gitralph.git.trees import EMPTY_TREE

Change = tuple[str, Counts]


def dirty_paths(
    repo: Repository, config: Config, among: Iterable[bytes] = (), typed: Sequence[str] = ()
) -> list[bytes]:
    """Every path that differs from HEAD in index or worktree, untracked ones too, sorted.

    ``among`` limits it to tree paths, ``typed`` to pathspecs as the user typed them where he stands.
    Starts no program that the configuration names; a filtered path may be listed needlessly.
    """
    wanted: list[str | bytes] = [*typed] or sorted(among)
    git = repo.git if typed else repo.git.at(repo.root, GIT_LITERAL_PATHSPECS="1")
    said = git.run(
        *config.without_programs(),
        "status",
        "--porcelain",
        "-z",
        "--no-renames",
        "--untracked-files=all",
        "--ignore-submodules=none",
        "--",
        *wanted,
    )
    return sorted({path for _, path in listing.states(said)})


# A larger file's lines are not counted: nobody reads the number, and reading it takes longer than the rest.
_COUNTED = 8 << 20
# So many paths git is asked for by name, and looks at no other file: at 100,000 files 17 ms for one of them,
# 67 for 40, and 110 for all (git 2.39, which compares each entry with each name).
_NAMED = 40


def changes(
    repo: Repository, config: Config, paths: Iterable[bytes], typed: Sequence[str] = ()
) -> dict[bytes, Change]:
    """Git's letter, and the lines added and removed, for each of some dirty paths: file against HEAD.

    ``typed`` are the pathspecs that they came from. Starts no program that the configuration names.
    """
    head = refs.read_head(repo).oid
    wanted = list(paths)
    by_name = len(wanted) <= _NAMED
    if by_name:
        git = repo.git.at(repo.root, GIT_LITERAL_PATHSPECS="1")
    else:
        git = repo.git if typed else repo.git.at(repo.root)
    asked: list[str | bytes] = [
        "--raw",
        "-z",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=none",
    ]
    asked += ["--no-relative", head or EMPTY_TREE, "--", *(wanted if by_name else typed)]
    start = [*config.without_programs(), "-c", "diff.autoRefreshIndex=false", "diff"]
    try:
        said = git.run(*start, "--numstat", *asked)
    except GitError:
        # git cannot count the lines of a pipe in the place of a file, and gives up; its letter it knows
        said = git.run(*start, *asked)
    known = listing.changes(said)
    out: dict[bytes, Change] = {}
    with Worktree(repo.root) as worktree:
        for path in wanted:
            out[path] = known.get(path) or _untracked(repo.root, worktree, path)
    return out


def _untracked(root: str, worktree: Worktree, path: bytes) -> Change:
    """A file that neither HEAD nor the index has, or one that has its size alone in common with them."""
    try:
        full = os.path.join(os.fsencode(root), path)
        if os.path.islink(full) or os.stat(full).st_size > _COUNTED:
            return "A", (None, None)
        data = worktree.read(path).data
    except (OSError, LeadsOutError):
        return "A", (None, None)
    if data is None or is_binary(data):
        return "A", (None, None)
    return "A", (data.count(b"\n") + (data[-1:] not in (b"", b"\n")), 0)
