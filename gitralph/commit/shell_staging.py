"""What the shell commands of a session staged or unstaged, and what a person had staged before.

The index belongs to the person. Snapshots around each command tell both. What somebody staged since is left
alone. So is what another session's running command may have staged: that session's commit may be next.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from gitralph.base.layout import Layout
from gitralph.commit import carryover, operation
from gitralph.git import history, index, refs, uncommitted
from gitralph.git.context import Context
from gitralph.git.index import Stages
from gitralph.git.repository import BISECT
from gitralph.git.trees import FILES, Entry
from gitralph.hook import hook_git, windows
from gitralph.hook.shellforms import UNMERGED
from gitralph.hook.windows import AS_HEAD, Index, Window
from gitralph.records import path_records

_SECONDS = 5.0


class PutBack(NamedTuple):
    """One index entry: as an agent staged it, and as it was before."""

    now: Entry | None
    before: Entry | None


Had = Entry | Stages | None
"""What the index had of a path; None where it had nothing."""


def of(ctx: Context, family: Sequence[str]) -> tuple[dict[bytes, PutBack], list[bytes]]:
    """What these sessions' commands staged and what is still staged so.

    Beside it the paths in conflict that they staged as they stood, marks and all.
    """
    found = _look(ctx, family, None)
    plain = {path: PutBack(now, was) for path, (now, was) in found.items() if not isinstance(was, Stages)}
    return plain, sorted(found.keys() - plain.keys())


def had(ctx: Context, family: Sequence[str], among: Container[bytes] | None = None) -> dict[bytes, Had]:
    """What was in the index of both before.

    ``among``: also while git concludes a merge in which these sessions have a part, but of these paths alone,
    which the merge does not touch. For of the others nobody can tell what git staged itself.
    """
    return {path: was for path, (_, was) in _look(ctx, family, among).items()}


def _look(
    ctx: Context, family: Sequence[str], among: Container[bytes] | None
) -> dict[bytes, tuple[Entry | None, Had]]:
    what = ctx.repo.operation()
    is_plain = what in (None, BISECT) and not hook_git.is_worded(ctx.repo.git_dir)
    commands = windows.read(ctx.layout) if is_plain and among is None else windows.in_operation(ctx.layout)
    own = [window for window in commands if window.session in family and window.stages]
    if not any(window.staged or (window.closed is None and window.was_staged is not None) for window in own):
        return {}
    if not is_plain and among is None and not _is_a_person_s(ctx, family, what):
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
    out = dict[bytes, tuple[Entry | None, Had]]()
    put_back = (row for w in commands for row in w.put_back if w.session not in family)
    over = {(row.path, row.after): row.before for row in put_back if row.after != AS_HEAD}
    for path, (before, then) in found.items():
        form = now.get(path, AS_HEAD)
        while (path, before) in over:  # another agent had staged that, and its turn is over
            before = over.pop((path, before))
        if not any(_may_have_staged(window, path, form) for window in others):
            there = reader.entry(path) if form == AS_HEAD else _entry(form)
            was = reader.entry(path) if before == AS_HEAD else _stages(before) or _entry(before)
            if then is not None and isinstance(was, Entry) and before != AS_HEAD and not is_same(then, path):
                was = _carried(ctx, history.entry_at(ctx.repo, then, path), reader.entry(path), was, there)
            out[path] = there, was
    open_now = set(index.unmerged(ctx.repo.git, ctx.repo.root)) if out else set[bytes]()
    for path, (there, was) in list(out.items()):
        is_asked = (among is None or path in among) and path not in open_now
        if there == was or (isinstance(was, Stages) and _is_settled(ctx, path, there, was)) or not is_asked:
            del out[path]
    if not is_plain and among is None:
        out = _of_its_own(ctx, family, out, bool(open_now))
    gone = {path: was for path, (_, was) in out.items() if path not in now and isinstance(was, Entry)}
    kept = _stashed(ctx, gone) if gone else set[bytes]()
    return {path: one for path, one in out.items() if path not in kept}


def _is_settled(ctx: Context, path: bytes, there: Entry | None, stages: Stages) -> bool:
    """Tell whether what is staged is no conflict any more: one side as it is, or a text without marks."""
    return there is None or there in stages or not operation.has_marks(ctx, path, there)


def _of_its_own(
    ctx: Context, family: Sequence[str], found: dict[bytes, tuple[Entry | None, Had]], is_open: bool
) -> dict[bytes, tuple[Entry | None, Had]]:
    """What is put back in a person's operation: conflicts, and while one is open what is the agent's own.

    Of the rest he may have staged some while the command ran, and once all is settled the agent may have been
    asked to mend something.
    """
    stages = {path for path, (_, was) in found.items() if isinstance(was, Stages)}
    states = path_records.states_of(ctx.layout, sorted(set(found) - stages)) if is_open or stages else {}
    own = {path for path, state in states.items() if not state.owners().isdisjoint(family)}
    return {path: one for path, one in found.items() if path in stages or path in own}


def _is_a_person_s(ctx: Context, family: Sequence[str], what: str | None) -> bool:
    """Tell whether an operation is under way in which these sessions have no part."""
    return what in operation.TOLD_BY and not operation.has_part_in(ctx, family, what)


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
        for path, was, after in rows:
            if was in (after, UNMERGED):  # the stages are not known
                continue
            # a person staged something in between, or a conflict came up
            if path not in last or last[path] != was or _stages(was):
                before[path] = was, window.head
            last[path] = after
    return {path: before[path] for path, form in last.items() if now.get(path, AS_HEAD) == form}


def _may_have_staged(window: Window, path: bytes, form: Index) -> bool:
    return window.was_staged is None or window.was_staged.get(path, AS_HEAD) != form


def _form(entry: Entry | None) -> Index:
    return None if entry is None else (f"{entry.mode:06o}", entry.oid.decode())


def _entry(form: Index) -> Entry | None:
    if not isinstance(form, tuple) or len(form) != 2:
        return None
    return Entry(int(form[0], 8), form[1].encode())


def _stages(form: Index) -> Stages | None:
    if not isinstance(form, tuple) or len(form) != 3:
        return None
    return Stages(*(_entry(one) if one[0].strip("0") else None for one in form))
