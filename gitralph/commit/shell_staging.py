"""What the shell commands of a session staged or unstaged, and what a person had staged before.

The index belongs to the person. Snapshots around each command tell both. What somebody staged since is left
alone. So is what another session's running command may have staged: that session's commit may be next.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Container, Iterable, Mapping
from typing import NamedTuple

from gitralph.base.layout import Layout
from gitralph.commit import carryover
from gitralph.git import history, refs, uncommitted
from gitralph.git.context import Context
from gitralph.git.trees import FILES, Entry
from gitralph.hook import hook_git, windows
from gitralph.hook.shellforms import UNMERGED
from gitralph.hook.windows import AS_HEAD, Index, Window

_SECONDS = 5.0


class PutBack(NamedTuple):
    """One index entry: as an agent staged it, and as it was before."""

    now: Entry | None
    before: Entry | None


def of(ctx: Context, family: Container[str], among: Container[bytes] | None = None) -> dict[bytes, PutBack]:
    """What these sessions' commands staged and what is still staged so.

    While git concludes a merge nobody can tell what it staged itself, but of those paths that the merge does
    not touch: ``among``.
    """
    commands = windows.read(ctx.layout) if among is None else windows.in_operation(ctx.layout)
    own = [window for window in commands if window.session in family and window.stages]
    if not any(window.staged or (window.closed is None and window.was_staged is not None) for window in own):
        return {}
    is_plain = ctx.repo.operation() in (None, "a bisect") and not hook_git.is_worded(ctx.repo.git_dir)
    if not is_plain and among is None:
        return {}
    head = refs.read_head(ctx.repo)
    now = {
        path: _form(entry)
        for path, entry in uncommitted.staged(ctx.repo.git, head.oid, ctx.repo.index).items()
    }
    reader = history.base_of(ctx.repo, head)

    def is_same(head: str | None, path: bytes) -> bool:
        return history.entry_at(ctx.repo, head, path) == reader.entry(path)

    found = _staged(own, now, is_same)
    others = [w for w in commands if w.session not in family and w.closed is None and w.stages]
    out = {}
    theirs = (row for w in commands for row in w.put_back if w.session not in family)
    over = {(row.path, row.after): row.before for row in theirs if row.after != AS_HEAD}
    for path, (before, then) in found.items():
        form = now.get(path, AS_HEAD)
        while (path, before) in over:  # another agent had staged that, and its turn is over
            before = over.pop((path, before))
        if not any(_may_have_staged(window, path, form) for window in others):
            there, was = (reader.entry(path) if one == AS_HEAD else _entry(one) for one in (form, before))
            if then is not None and before != AS_HEAD and not is_same(then, path):
                was = _carried(ctx, history.entry_at(ctx.repo, then, path), reader.entry(path), was, there)
            out[path] = PutBack(there, was)
    out = {
        path: one for path, one in out.items() if one.now != one.before and (among is None or path in among)
    }
    gone = {path: one.before for path, one in out.items() if path not in now and one.before is not None}
    kept = _stashed(ctx, gone) if gone else set[bytes]()
    return {path: one for path, one in out.items() if path not in kept}


def put_back(layout: Layout, family: Container[str]) -> dict[bytes, Entry | None]:
    """What these sessions' commands staged and what was taken out of the index since, as it was staged.

    To the agent it is staged still: git would have it in its next commit.
    """
    found = dict[bytes, Index]()
    for window in windows.read(layout):
        found.update((row.path, row.after) for row in window.put_back if window.session in family)
    return {path: _entry(form) for path, form in found.items() if form != AS_HEAD}


def _carried(
    ctx: Context, old: object, new: Entry | None, was: Entry | None, there: Entry | None
) -> Entry | None:
    """What a person had staged on an older HEAD, on the present one; ``there`` where that cannot be told."""
    files = [one for one in (old, new, was) if isinstance(one, Entry) and one.mode in FILES]
    texts = [ctx.repo.objects.raw(one.oid)[1] for one in files]
    found = carryover.carried(texts[0], texts[1], texts[2], None, tuple) if len(texts) == 3 else None
    if found is None or was is None:
        return there
    return Entry(was.mode, ctx.git.run("hash-object", "-w", "--stdin", stdin=found).strip())


def _stashed(ctx: Context, gone: Mapping[bytes, Entry]) -> set[bytes]:
    """Those of some entries that a stash has of the index, as its second parent (git-stash(1))."""
    stashes = hook_git.stashes(ctx.repo.common_dir, ctx.repo.git_dir)
    keys = {f"{stash}^2:{os.fsdecode(path)}": path for stash in stashes for path in gone}
    found = hook_git.blobs(ctx.repo.root, list(keys), dict(ctx.environ), time.monotonic() + _SECONDS)
    return {keys[key] for key, oid in found.items() if oid == gone[keys[key]].oid.decode()}


def _staged(
    commands: Iterable[Window], now: dict[bytes, Index], is_same: Callable[[str | None, bytes], bool]
) -> dict[bytes, tuple[Index, str | None]]:
    """For each path the entry before the first of the commands that led to what is staged now.

    With it comes what HEAD was then, None where nobody knows.

    ``is_same`` tells whether HEAD has of a path what a commit has: else a commit carried the entry over.
    """
    before, last = dict[bytes, tuple[Index, str | None]](), dict[bytes, Index]()
    for window in sorted(commands, key=lambda one: (one.closed is None, one.closed or 0)):
        rows = [(row.path, row.before, row.after) for row in window.staged]
        if window.closed is None and window.was_staged is not None:
            there = window.was_staged
            rows = [(path, there.get(path, AS_HEAD), now.get(path, AS_HEAD)) for path in {*there, *now}]
            rows = [row for row in rows if row[1] == AS_HEAD or is_same(window.head, row[0])]
            rows = [row for row in rows if row[1] != UNMERGED]
        for path, was, after in rows:
            if was == after:
                continue
            if path not in last or last[path] != was:  # a person staged something in between
                before[path] = was, window.head
            last[path] = after
    return {path: before[path] for path, form in last.items() if now.get(path, AS_HEAD) == form}


def _may_have_staged(window: Window, path: bytes, form: Index) -> bool:
    return window.was_staged is None or window.was_staged.get(path, AS_HEAD) != form


def _form(entry: Entry | None) -> Index:
    return None if entry is None else (f"{entry.mode:06o}", entry.oid.decode())


def _entry(form: Index) -> Entry | None:
    return Entry(int(form[0], 8), form[1].encode()) if isinstance(form, tuple) else None
