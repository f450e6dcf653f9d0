"""Reads the end of a worktree's own reflog of HEAD: where HEAD went, and by which command."""

import os
from typing import NamedTuple

from gitralph.git.repository import Repository

_TAIL = 1 << 16
"""In bytes, some 400 entries; anything earlier counts as unknown."""


class ReflogEntry(NamedTuple):
    """HEAD's commit before and after, in hex, each None where there was none, and git's message."""

    old: str | None
    new: str | None
    message: bytes


def of_head(repo: Repository) -> list[ReflogEntry]:
    """The last moves of HEAD, oldest first; none where no reflog is kept."""
    try:
        with open(repo.git_dir + "/logs/HEAD", "rb") as file:
            file.seek(max(os.fstat(file.fileno()).st_size - _TAIL, 0))
            rows = file.read(_TAIL).split(b"\n")
    except (FileNotFoundError, NotADirectoryError):
        return []
    # `<old> SP <new> SP <who> SP <time> SP <zone> TAB <message>`; the first row may be cut
    parts = [(*words.split(b" ", 2), message) for words, _, message in (row.partition(b"\t") for row in rows)]
    return [ReflogEntry(_oid(part[0]), _oid(part[1]), part[-1]) for part in parts if len(part) == 4]


def _oid(word: bytes) -> str | None:
    return word.decode("ascii", "replace") if word.strip(b"0") else None
