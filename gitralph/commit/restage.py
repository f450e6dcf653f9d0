"""Gives a person's index back once an agent's commit is made or refused, or the agent's turn ends.

The intent names only the session. What its shell staged, and what was there before, is looked up when the
work is done. So a second try finds nothing to do. Runs under the commit lock.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Container, Sequence

from gitralph.base import files, jsonline, locks
from gitralph.base.errors import RalphError
from gitralph.base.layout import Layout
from gitralph.commit import land, shell_staging
from gitralph.commit.shell_staging import Had
from gitralph.git import index, refs, uncommitted
from gitralph.git.context import Context
from gitralph.hook import record, sessionfile, shellcalls, windows
from gitralph.records import intents, path_records
from gitralph.records.intents import Restaging

_TRIES = 5


def due(ctx: Context, session: str) -> None:
    """Put back what a session's shell staged; where git holds the index, the next command does it.

    Never fails the command that calls it.
    """
    if not shell_staging.had(ctx, path_records.family(ctx.layout, session)):
        return
    intents.write(ctx.layout, Restaging(ctx.repo.git_dir, ctx.layout.token, session))
    with contextlib.suppress(OSError, RalphError), locks.hold(ctx.layout, locks.COMMIT, wait=0):
        recover(ctx)


def recover(ctx: Context) -> None:
    """Put back what is due in this worktree; an intent of a removed worktree is dropped."""
    for todo in list(intents.unfinished(ctx.layout, Restaging)):
        if todo.token == ctx.layout.token:
            if _put_back(ctx, todo, path_records.family(ctx.layout, todo.session)):
                intents.remove(ctx.layout, todo)
        elif not os.path.isdir(todo.git_dir):
            intents.remove(ctx.layout, todo)


def at_once(ctx: Context, session: str, paths: Container[bytes]) -> list[bytes]:
    """Put back what a session's shell staged of these paths, also in a merge that does not touch them.

    Returns which; none where git holds the index, for then its commit does not read the index as it is.
    """
    family, prepared = path_records.family(ctx.layout, session), f"{ctx.layout.tmp}/{os.getpid()}.restaged"
    with locks.hold(ctx.layout, locks.COMMIT):
        return sorted(_exchange(ctx, prepared, lambda: shell_staging.had(ctx, family, paths)) or ())


def _put_back(ctx: Context, todo: Restaging, family: Sequence[str]) -> bool:
    """Put the index entries back; False where git holds the index, or where it kept moving."""
    prepared = f"{ctx.layout.tmp}/{todo.prepared['index']}"
    if _exchange(ctx, prepared, lambda: shell_staging.had(ctx, family)) is None:
        return False
    mark(ctx, ctx.layout, family)
    return True


def _exchange(ctx: Context, prepared: str, look: Callable[[], dict[bytes, Had]]) -> dict[bytes, Had] | None:
    """Put back what a look finds, by way of the prepared file; None where git holds or moves the index."""
    lock = f"{ctx.repo.index}.lock"
    if index.is_ours(lock, prepared):
        os.unlink(lock)  # a kill came before the exchange, which begins anew
    files.make_folder(ctx.layout.tmp)
    for _ in range(_TRIES):
        if os.path.lexists(lock):
            return None
        copy = index.copy_index(ctx.repo.index, prepared)
        try:
            found = look()
            if not found:
                return found
            there = index.entries(ctx.repo.git, copy, ctx.repo.root, found)
            flags = {path: mark.flags for path, mark in there.items()}
            index.advance(ctx.git, copy, ctx.repo.root, found, flags)
            index.refresh(ctx, copy, found, flags)
            if land.install(ctx.repo, copy):
                return found
        finally:
            copy.remove()
    return None


def mark(ctx: Context, lay: Layout, family: Sequence[str]) -> None:
    """Note that everything these sessions' commands have staged so far was put back."""
    if lay.token == ctx.layout.token:
        with contextlib.suppress(OSError, RalphError):  # the commit has landed
            _begin_anew(ctx, family)
    for session in family:
        if os.path.lexists(lay.staged(session)):
            told = {"v": 1, "restaged": session, "ts": sessionfile.now()}
            files.append_record(lay.shells, jsonline.line(told))
            with contextlib.suppress(FileNotFoundError):
                os.unlink(lay.staged(session))


def _begin_anew(ctx: Context, family: Sequence[str]) -> None:
    """Let the running commands of these sessions have begun with what was put back of earlier ones.

    What a running command staged itself, and stays staged since another's may have, is still to be put back.
    """
    known = [window for window in windows.read(ctx.layout) if window.session in family]
    running = [window for window in known if window.closed is None]
    earlier = dict[bytes, windows.Index]()
    for row in (row for window in known if window.closed is not None for row in window.staged):
        earlier.setdefault(row.path, row.before)
    if not running or not earlier:
        return
    now = uncommitted.staged(ctx.repo.git, refs.read_head(ctx.repo).oid, ctx.repo.index)
    for window in running:
        name = ctx.layout.shell_call(window.session, window.key or window.call or window.tool or "")
        kept = shellcalls.load(name)
        staged = kept.get("staged") if kept is not None else None
        if kept is None or kept["token"] != ctx.layout.token or not isinstance(staged, dict):
            continue
        for path, before in earlier.items():
            entry = now.get(path)
            form = None if entry is None else (f"{entry.mode:06o}", entry.oid.decode())
            if path not in now and before == windows.AS_HEAD:
                staged.pop(record.path_text(path), None)
            elif path in now and before == form:
                staged[record.path_text(path)] = None if form is None else list(form)
        shellcalls.change(name, {**kept, "staged": staged})
