"""Tells whether git may have put files back in a worktree since some moment.

``git stash``, ``reset``, ``checkout``, ``merge``, ``pull`` and ``rebase`` leave a mark of their own, a
plain ``git commit`` does not touch the files. Must err to the side of yes.
"""

import os
from dataclasses import dataclass

from gitralph.git import reflog
from gitralph.git.repository import Repository


@dataclass(frozen=True)
class PutBack:
    """What a repository's own files tell of its worktree: read once, asked for every record.

    ``latest`` is when a mark changed last, ``last_move`` when HEAD's reflog did, ``index`` when the index was
    written (nanoseconds). ``places`` has each commit of the reflog with its first row; in row ``moved``, the
    last such one, HEAD moved by more than a commit; -1: in none.
    """

    latest: int
    last_move: int
    index: int
    places: dict[str | None, int]
    moved: int

    def since(self, head: str | None, mtime: int | None) -> bool:
        """True when git may have put files back since HEAD was ``head`` and the clock ``mtime`` (ns)."""
        if mtime is None or self.latest >= mtime:
            return True
        # `git rebase` tells of its end in a row of its own, after which HEAD is where it was.
        if 0 <= self.last_move < mtime:
            return False
        if head is None:
            return self.moved >= 0
        place = self.places.get(head)
        return place is None or self.moved > place

    def might_have(self, mtime: int | None) -> bool:
        """True when the index was written since the clock ``mtime`` (ns), as by `git checkout -- <file>`.

        That leaves no other mark, but most commands of git write the index.
        """
        return mtime is None or self.index >= mtime


def read(repo: Repository) -> PutBack:
    """Read the marks and HEAD's reflog of a worktree."""
    places: dict[str | None, int] = {}
    moved = -1
    for at, move in enumerate(reflog.of_head(repo)):
        places.setdefault(move.new, at)
        # A checkout of the commit that HEAD is at leaves the files, or is no more than one of files; a branch
        # that is renamed has two rows, HEAD gone and there again.
        is_idle = move.old == move.new and move.message.startswith(b"checkout: ")
        is_idle = is_idle or move.message.startswith(b"Branch: renamed ")
        if not _is_commit(move.message) and not is_idle:
            moved = at
    # The newest mark alone counts: one file put back after a record is enough to doubt the record.
    latest = max(map(_time, _marks(repo)))
    return PutBack(latest, _time(repo.git_dir + "/logs/HEAD"), _time(repo.index), places, moved)


def _marks(repo: Repository) -> list[str]:
    """Files and folders that change with a stash, a reset, a merge or a rebase (gitrepository-layout(5))."""
    # a stash that was the only one goes with its file: then the folder changed
    shared = [
        repo.common_dir + "/refs/stash",
        repo.common_dir + "/logs/refs/stash",
        repo.common_dir + "/logs/refs",
    ]
    return [*shared, repo.git_dir + "/ORIG_HEAD", repo.git_dir + "/AUTO_MERGE"]


# Only a commit moves HEAD and leaves the files: every other command of git that writes the reflog (merge,
# reset, checkout, pull, rebase, cherry-pick, revert) may write files as well.
def _is_commit(message: bytes) -> bool:
    """True for ``commit: <subject>`` and ``commit (amend): <subject>``, as `git commit` tells the reflog."""
    head, colon, _ = message.partition(b": ")
    kind = head.removeprefix(b"commit")
    if not colon or kind == head:
        return False
    return not kind or (kind[:2] == b" (" and kind[-1:] == b")" and kind[2:-1].isalpha() and kind.islower())


def _time(name: str) -> int:
    try:
        return os.stat(name).st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        return -1
