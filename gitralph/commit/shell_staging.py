"""What the shell commands of a session staged, and what a person had staged before.

The index belongs to the person. Snapshots around each command tell both. What somebody staged since is left
alone. So is what another session's running command may have staged: that session's commit may be next.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable
from typing import NamedTuple

from gitralph.git import history, refs, uncommitted
from gitralph.git.context import Context
from gitralph.git.trees import Entry
from gitralph.hook import windows
from gitralph.hook.windows import AS_HEAD, Index, Window

# git keeps such a file for a commit that it staged and worded itself (git 2.39). Nobody knows who ran that
# command.
_WORDED = ("SQUASH_MSG", "MERGE_MSG")


class PutBack(NamedTuple):
    """One index entry: as an agent staged it, and as it was before."""

    now: Entry | None
    before: Entry | None


def of(ctx: Context, family: Container[str]) -> dict[bytes, PutBack]:
    """What these sessions' commands staged and what is still staged so."""
    commands = windows.read(ctx.layout)
    own = [window for window in commands if window.session in family and window.stages]
    if not any(window.staged or (window.closed is None and window.was_staged is not None) for window in own):
        return {}
    if ctx.repo.operation() not in (None, "a bisect") or _is_worded(ctx):
        return {}
    head = refs.read_head(ctx.repo)
    now = {
        path: _form(entry)
        for path, entry in uncommitted.staged(ctx.repo.git, head.oid, ctx.repo.index).items()
    }
    reader = history.base_of(ctx.repo, head)
    found = _staged(own, now, lambda head, path: history.entry_at(ctx.repo, head, path) == reader.entry(path))
    others = [w for w in commands if w.session not in family and w.closed is None and w.stages]
    out = {}
    for path, before in found.items():
        if not any(_may_have_staged(window, path, now[path]) for window in others):
            was = reader.entry(path) if before == AS_HEAD else _entry(before)
            out[path] = PutBack(_entry(now[path]), was)
    return {path: one for path, one in out.items() if one.now != one.before}


def _is_worded(ctx: Context) -> bool:
    return any(os.path.exists(f"{ctx.repo.git_dir}/{name}") for name in _WORDED)


def _staged(
    commands: Iterable[Window], now: dict[bytes, Index], is_same: Callable[[str | None, bytes], bool]
) -> dict[bytes, Index]:
    """For each path the entry before the first of the commands that led to what is staged now.

    ``is_same`` tells whether HEAD has of a path what a commit has: else a commit carried the entry over.
    """
    before, last = dict[bytes, Index](), dict[bytes, Index]()
    for window in sorted(commands, key=lambda one: (one.closed is None, one.closed or 0)):
        rows = [(row.path, row.before, row.after) for row in window.staged]
        if window.closed is None and window.was_staged is not None:
            there = window.was_staged
            rows = [(path, there.get(path, AS_HEAD), form) for path, form in now.items()]
            rows = [row for row in rows if row[1] == AS_HEAD or is_same(window.head, row[0])]
        for path, was, after in rows:
            if was == after:
                continue
            if path not in last or last[path] != was:  # a person staged something in between
                before[path] = was
            last[path] = after
    return {path: before[path] for path, form in last.items() if path in now and now[path] == form}


def _may_have_staged(window: Window, path: bytes, form: Index) -> bool:
    return window.was_staged is None or window.was_staged.get(path, AS_HEAD) != form


def _form(entry: Entry | None) -> Index:
    return None if entry is None else (f"{entry.mode:06o}", entry.oid.decode())


def _entry(form: Index) -> Entry | None:
    return Entry(int(form[0], 8), form[1].encode()) if isinstance(form, tuple) else None
