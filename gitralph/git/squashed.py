"""What ``git merge --squash`` staged: the paths that a merge with the squashed branch gives."""

from gitralph.base import files
from gitralph.git import listing
from gitralph.git.merge import merge_trees
from gitralph.git.repository import Repository
from gitralph.git.run import GitError
from gitralph.git.trees import Entry

_NAMES = 4096


def entries(repo: Repository) -> dict[bytes, Entry | None]:
    """For each path that the squash changes what it made of it; empty where none is under way.

    git names the squashed commits in ``SQUASH_MSG``, the newest first, and nowhere else (git 2.39).
    """
    try:
        told = files.read_bytes(f"{repo.git_dir}/SQUASH_MSG", 1 << 20, foreign=True)[:_NAMES]
    except OSError:
        return {}
    found = [line[7:].decode("ascii", "replace") for line in told.split(b"\n") if line.startswith(b"commit ")]
    tip = found[0].strip() if found else ""
    if len(tip) != 40 or tip.strip("0123456789abcdef"):
        return {}
    try:
        merged = merge_trees(repo.git, "HEAD", tip)
        words = ("diff-tree", "-r", "--raw", "--no-renames", "--no-abbrev", "-z", "HEAD", merged.tree)
        rows = listing.differences(repo.git.run(*words))
    except GitError:
        return {}
    return {path: new for path, (_, new) in rows.items() if path not in merged.conflicts}
