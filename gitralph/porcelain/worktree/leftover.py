"""What a ``git worktree add`` that died left of its checkout: cleared away when it is nothing else."""

import os
import shutil

from gitralph.base import nul
from gitralph.porcelain.worktree.where import Trees


def _was_ours(trees: Trees, path: str) -> bool:
    """True without a ``.git``, or with one that names an admin folder of this repository."""
    dot_git = path + "/.git"
    if not os.path.lexists(dot_git):
        return True
    if os.path.islink(dot_git) or not os.path.isfile(dot_git):
        return False
    with open(dot_git, encoding="utf-8", errors="surrogateescape") as file:
        said = file.read(8192).rstrip("\n")
    return said.startswith(f"gitdir: {trees.ctx.repo.common_dir}/worktrees/")


def clear(trees: Trees, path: str, commit: str | None) -> None:
    """Remove an unregistered folder whose every file is the commit's; anything else is left as it is."""
    if commit is None or os.path.islink(path) or not os.path.isdir(path) or not _was_ours(trees, path):
        return
    os.makedirs(trees.layout.tmp, mode=0o700, exist_ok=True)
    private = f"{trees.layout.tmp}/{os.getpid()}-{os.urandom(4).hex()}.index"
    git = trees.git.elsewhere(
        path, GIT_DIR=trees.ctx.repo.common_dir, GIT_WORK_TREE=path, GIT_INDEX_FILE=private
    )
    try:
        git.run("-c", "core.splitIndex=false", "-c", "core.fsmonitor=false", "read-tree", commit)
        words = ("--porcelain", "-z", "--untracked-files=all", "--ignored=matching", "--no-renames")
        rows = nul.rows(git.run("-c", "core.fsmonitor=false", "status", *words))
    finally:
        if os.path.exists(private):
            os.unlink(private)
    # the second letter compares with the files; the first, with whatever HEAD is here, means nothing
    if all(row[1:2] in (b" ", b"D") for row in rows):
        shutil.rmtree(path)
