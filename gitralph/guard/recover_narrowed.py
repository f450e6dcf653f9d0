"""Finishes or drops a plain commit that the guard narrowed, once its git is done or was killed.

It runs under the commit lock. The intent tells what git had in hand: our files by their inode, and git's own
``index.lock`` as it was seen. So no lock of anybody else is removed.
"""

import os
from collections.abc import Iterator

from gitralph.base import process
from gitralph.base.errors import Fatal
from gitralph.base.layout import Layout
from gitralph.commit import land, restage
from gitralph.decide import pending_paths
from gitralph.git import dead_locks, history, index, plain_index, refs
from gitralph.git.context import Context
from gitralph.git.plain_index import AS_IS, PATHS, WHOLE, Given
from gitralph.git.repository import Repository
from gitralph.git.trees import Entry
from gitralph.hook.journal import is_oid
from gitralph.records import intents, path_records
from gitralph.records.intents import Narrowed

# How far back a commit is looked for where there is no reflog. The first command of ours after the kill
# looks, so only commits made meanwhile are nearer to the tip. Beyond fifty the commit is not found and its
# records stay pending; the next commit sees that HEAD has them.
_FAR = 50


def recover(ctx: Context) -> None:
    """Settle each narrowed commit whose git is gone."""
    for todo in list(intents.unfinished(ctx.layout, Narrowed)):
        if process.is_running(todo.git):
            continue
        there = land.seen_from(ctx.repo, todo.git_dir)
        settle(ctx, todo)
        if there is not None:
            dead_locks.clear(there, todo.ref)


def settle(ctx: Context, todo: Narrowed) -> None:
    """Give the user's index back, and finish the commit if git made it."""
    there = land.seen_from(ctx.repo, todo.git_dir)
    if there is not None:
        give_back(there, ctx.layout, todo)
        _drop_locks(there, todo, ("narrowed",))
    commit = _made(there or ctx.repo, todo) if todo.lines else None
    if commit is not None:
        land.finish(ctx.repo, ctx.layout, todo.made(commit))
    if commit is not None and todo.token == ctx.layout.token:
        pending_paths.put_mark_away(ctx, path_records.family(ctx.layout, todo.session))
    # what the session's shell had staged is not in the user's index
    if commit is not None or todo.form == AS_IS:
        restage.mark(
            ctx, land.own_layout(ctx.layout, todo.token), path_records.family(ctx.layout, todo.session)
        )
    if there is not None:
        _drop_locks(there, todo, ("final",))
    intents.remove(ctx.layout, todo)


def drop(repo: Repository, lay: Layout, todo: Narrowed) -> None:
    """Take everything back and forget the intent: nothing is to be committed."""
    give_back(repo, lay, todo)
    intents.remove(lay, todo)


def place_of(repo: Repository, todo: Narrowed) -> Given:
    """The index files of that commit."""
    real = repo.index
    read = {AS_IS: real, WHOLE: real + ".lock"}.get(todo.form)
    return Given(todo.form, read or f"{repo.git_dir}/next-index-{todo.git['pid']}.lock", real)


def give_back(repo: Repository, lay: Layout, todo: Narrowed) -> None:
    """Put the user's own index back, however far the exchange had come; later calls change nothing."""
    narrowed, original = todo.prepared.get("narrowed", ""), todo.prepared.get("original", "")
    if todo.form != AS_IS or not os.path.exists(narrowed):
        return
    place = place_of(repo, todo)
    if not plain_index.give_back(place, todo.prepared) and not index.is_ours(place.real, original):
        _under_lock(repo, lay, todo, place)
    # Once this file is gone, nothing of the exchange is in the index: what stands there is the user's.
    os.unlink(narrowed)


def _under_lock(repo: Repository, lay: Layout, todo: Narrowed, place: Given) -> None:
    """Do the same where git's lock is not ours: as a whole, or entry by entry where others wrote since."""
    narrowed, original = todo.prepared["narrowed"], todo.prepared.get("original", "")
    if index.is_ours(place.real, narrowed) and os.path.exists(original):
        index.take_lock(original, place.lock, land.WAIT)
        if plain_index.give_back(place, todo.prepared) and index.is_ours(place.real, original):
            return
    rows = {path: (before, after) for path, before, after in _rows(todo.swapped)}
    for _ in range(5):
        copy = index.copy_index(repo.index, f"{lay.tmp}/{os.getpid()}-{os.urandom(4).hex()}.index")
        staged = index.entries(repo.git, copy, repo.root, rows)
        now = {path: staged[path].entry if path in staged else None for path in rows}
        wanted = {path: before for path, (before, after) in rows.items() if now[path] == after}
        if not wanted:
            copy.remove()
            return
        index.advance(repo.git, copy, repo.root, wanted, {p: s.flags for p, s in staged.items()})
        if land.install(repo, copy):
            return


def _rows(rows: list[list[object]]) -> Iterator[tuple[bytes, Entry | None, Entry | None]]:
    for path, before, after in rows:
        yield str(path).encode("utf-8", "surrogateescape"), land.entry(before), land.entry(after)


def _made(repo: Repository, todo: Narrowed) -> str | None:
    """The commit that git made, None where the branch never had one."""
    for oid in dict.fromkeys(_candidates(repo, todo)):
        try:
            is_it = is_oid(oid) and history.tree_of(repo, oid) == todo.tree.encode()
        except Fatal:
            continue
        if is_it and land.landed(repo, todo.made(oid)):
            return oid
    return None


def _candidates(repo: Repository, todo: Narrowed) -> Iterator[str]:
    """The commits that followed the HEAD of the decision: by the reflogs, else by their parents.

    The last one first: a commit that was taken back and made again has the same tree.
    """
    yield from reversed(list(refs.followers(repo, todo.ref, todo.old or refs.ZERO)))
    words = ("rev-list", "--first-parent", "--parents", f"-n{_FAR}", todo.ref or "HEAD", "--")
    for row in repo.git.try_run(*words).stdout.decode().splitlines():
        commit, *parents = row.split()
        if parents[:1] == ([todo.old] if todo.old else []):
            yield commit


def _drop_locks(repo: Repository, todo: Narrowed, kinds: tuple[str, ...]) -> None:
    """Remove locks that are our prepared files, or git's own lock as the guard saw it."""
    place = place_of(repo, todo)
    if todo.form not in (WHOLE, PATHS):
        return
    for lock in (place.lock, place.read):
        if any(index.is_ours(lock, todo.prepared.get(kind, "")) for kind in kinds):
            os.unlink(lock)
    if todo.form == PATHS and todo.lock and seen(place.lock) == todo.lock:
        os.unlink(place.lock)


def seen(path: str) -> list[int]:
    """What tells a file of git's from a later one of the same name; empty where there is no file."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return []
    return [found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size]
