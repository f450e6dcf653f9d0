"""Everything recorded over time: every journal of every worktree, also what commits took long ago.

This is the one reader for questions about the past; ``records.path_records`` reads what counts now. gc
removes a journal in which nothing is pending. So anything older than the last gc may be gone: an answer tells
what is known, never that there was no more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from gitralph.base import files, jsonline
from gitralph.base.layout import Layout
from gitralph.hook import journal
from gitralph.hook.journal import GAP, Journal, Record
from gitralph.hook.others import worktrees as worktrees

# In bytes. A journal grows by a line for each edit, and gc removes it once nothing in it is pending.
_LIMIT = 1 << 28


class KeptJournal(NamedTuple):
    """The journal of one path in one worktree, as it was when it was read; ``file`` is where it lies."""

    layout: Layout
    file: str
    journal: Journal
    data: bytes

    @property
    def records(self) -> list[Record]:
        """The edits of sessions. A gap is nobody's, so it is left out."""
        return [record for record in self.journal.records if record.op != GAP]

    @property
    def path(self) -> bytes | None:
        """The tree path, taken from a record: the file's name has only a part of the path, and a digest."""
        for record in self.records:
            path = jsonline.object_in(self.data[record.offset : record.end]).get("path")
            return path.encode("utf-8", "surrogateescape") if isinstance(path, str) else None
        return None


def journals(layout: Layout) -> Iterator[KeptJournal]:
    """The journals of one worktree, read without a lock. A half-written line counts next time."""
    try:
        names = sorted(os.listdir(layout.edits))
    except OSError:
        return
    for name in names:
        file = f"{layout.edits}/{name}"
        try:
            data = files.read_bytes(file, _LIMIT)
        except OSError:
            continue
        yield KeptJournal(layout, file, journal.parse(data), data)
