"""Which paths differ from HEAD, by git itself."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence

from gitralph.base import nul
from gitralph.git import blobs, history, listing, refs
from gitralph.git.blobs import Workbench
from gitralph.git.config import Config
from gitralph.git.listing import Counts
from gitralph.git.repository import Repository
from gitralph.git.run import PLAIN_INDEX, Git, GitError
from gitralph.git.snapshot import LeadsOutError, Worktree
from gitralph.git.texts import is_binary
from gitralph.git.trees import GITLINK, Entry

Change = tuple[str, Counts]

UNTRACKED = "??"
"""git's letters for a file that it does not track."""


# In bytes. Lines of a larger file are not counted: nobody reads the number, and counting takes longest.
_COUNTED = 8 << 20
# git is asked by name for so many paths only. It compares each entry of the index with each of them: at
# 100,000 files this takes 17 ms for one, 67 ms for 40 and five seconds for a thousand (git 2.39).
_NAMED = 40


def dirty(
    repo: Repository, config: Config, among: Iterable[bytes] = (), typed: Sequence[str] = ()
) -> dict[bytes, str]:
    """Every path that differs from HEAD in index or worktree, untracked ones too, with git's two letters.

    ``among`` limits it to tree paths, ``typed`` to pathspecs as typed in the present folder. Starts no
    program that the configuration names; a filtered path may be listed needlessly.
    """
    named = sorted(among)
    wanted: list[str | bytes] = [*typed] or [*(named if len(named) <= _NAMED else ())]
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
    # A file that is staged as removed and still lies there has two rows, of which the first counts.
    found: dict[bytes, str] = {}
    for letters, path in listing.states(said):
        found.setdefault(path, letters)
    return {path: found[path] for path in (named if named and not typed else sorted(found)) if path in found}


def dirty_paths(
    repo: Repository, config: Config, among: Iterable[bytes] = (), typed: Sequence[str] = ()
) -> list[bytes]:
    """The paths of :func:`dirty` without the letters, sorted."""
    return list(dirty(repo, config, among, typed))


def refresh(repo: Repository, paths: Collection[bytes]) -> None:
    """Let git look at files, by the programs of the configuration, and its index keep which are clean."""
    named = sorted(paths) if len(paths) <= _NAMED else ()
    git = repo.git.at(repo.root, GIT_LITERAL_PATHSPECS="1", GIT_OPTIONAL_LOCKS="1")
    git.try_run("status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all", "--", *named)


def staged(git: Git, head: str | None, index: str) -> dict[bytes, Entry | None]:
    """What an index changes against HEAD."""
    git = git.at(GIT_INDEX_FILE=os.path.abspath(index))
    # Before the first commit everything is new against the empty tree. git makes its id here for its own
    # object format.
    base = head or git.run("hash-object", "-t", "tree", "--stdin", stdin=b"").strip().decode()
    # `--no-renames`: a rename is two paths, and each may be another session's.
    # A file that `git add -N` announces is not staged.
    words = ("diff-index", "--cached", "--raw", "--no-renames", "--no-abbrev", "--ita-invisible-in-index")
    found = listing.differences(git.run("-c", "core.fsmonitor=false", *words, "-z", base, "--"))
    return {path: new for path, (_, new) in found.items()}


def changes(
    repo: Repository, config: Config, bench: Workbench, found: Mapping[bytes, str]
) -> dict[bytes, Change]:
    """git's letter, and lines added and removed, for each path of :func:`dirty`: file against HEAD.

    Starts no program that the configuration names.
    """
    seeds = _seeds(repo, found)
    known = _compared(repo, config, bench, seeds)
    out: dict[bytes, Change] = {}
    with Worktree(repo.root) as worktree:
        for path, letters in found.items():
            if path not in seeds:
                out[path] = _untracked(repo.root, worktree, path)
            elif letters[0] == "D":  # whatever lies there now, the index no longer has it
                out[path] = "D", _removed(repo, seeds[path])
            else:
                out[path] = known.get(path, ("M", (0, 0)))
    return out


def _seeds(repo: Repository, paths: Iterable[bytes]) -> dict[bytes, Entry]:
    """HEAD's entries of some paths, and of the files that give them attributes."""
    reader = history.base_of(repo, refs.read_head(repo))
    found = {path: reader.entry(path) for path in {*paths, *blobs.attribute_files(paths)}}
    return {path: entry for path, entry in found.items() if entry is not None}


def _compared(
    repo: Repository, config: Config, bench: Workbench, seeds: Mapping[bytes, Entry]
) -> dict[bytes, Change]:
    """Letter and counts of the paths that differ, by an index that holds nothing else.

    `git diff <commit> -- <path>` takes seconds at 100,000 files where the path sorts early: it looks for each
    entry from the start of the index (`next_cache_entry` in unpack-trees.c, git 2.39). A thousand paths by
    name are compared with each entry.
    """
    if not seeds:
        return {}
    index = f"{bench.folder}/head.index"
    git = repo.git.at(repo.root, GIT_INDEX_FILE=index)
    rows = nul.joined(b"%o %s\t%s" % (entry.mode, entry.oid, path) for path, entry in seeds.items())
    git.run(*PLAIN_INDEX, "update-index", "-z", "--index-info", stdin=rows)
    words = [*config.without_programs(), "-c", "diff.autoRefreshIndex=false", "diff"]
    asked = ["--raw", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none"]
    asked += ["--no-relative"]
    try:
        said = git.run(*words, "--numstat", *asked)
    except GitError:
        # git cannot count lines of a pipe that stands in place of a file, and gives up; it still knows the
        # letter.
        said = git.run(*words, *asked)
    return listing.changes(said)


def _removed(repo: Repository, entry: Entry) -> Counts:
    if entry.mode == GITLINK:
        return None, None
    _, data = repo.objects.raw(entry.oid)
    return (None, None) if is_binary(data) else (0, _lines(data))


def _untracked(root: str, worktree: Worktree, path: bytes) -> Change:
    """The change of a file that HEAD does not have."""
    try:
        full = os.path.join(os.fsencode(root), path)
        if os.path.islink(full) or os.stat(full).st_size > _COUNTED:
            return "A", (None, None)
        data = worktree.read(path).data
    except (OSError, LeadsOutError):
        return "A", (None, None)
    if data is None or is_binary(data):
        return "A", (None, None)
    return "A", (_lines(data), 0)


def _lines(data: bytes) -> int:
    return data.count(b"\n") + (data[-1:] not in (b"", b"\n"))
