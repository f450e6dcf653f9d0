"""Forgets sessions that ended long ago and have nothing pending: record, manifests, consumption.

``<session>.commits`` holds offsets into the manifests, so neither may outlive the other in a way that
counts: the manifests are first replaced by blank ones of the same length, which mean nothing with or
without offsets. A kill at any point leaves a state that means the same.
"""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

from gitralph import files, sessionfile
from gitralph.errors import Fatal
from gitralph.layout import Layout
from gitralph.porcelain import outcome, sessions, waiting
from gitralph.porcelain.context import Context, in_worktree
from gitralph.state import pending
from gitralph.state.sweep import Sweep, names

_SUFFIXES = (".json", ".files", ".commits")


@dataclass(frozen=True)
class Worktrees:
    """All layouts of a repository: those of worktrees that exist, and of those that do not.

    ``roots`` says by token where the existing ones are.
    """

    ctx: Context
    here: list[Layout]
    gone: list[Layout]
    roots: dict[str, str] = field(default_factory=dict)

    @property
    def top(self) -> Layout:
        return self.here[0]

    @property
    def every(self) -> list[Layout]:
        return [*self.here, *self.gone]


def known(trees: Worktrees) -> list[str]:
    """Every session that has left a file, sorted."""
    stems: set[str] = set()
    for suffix in _SUFFIXES:
        for lay in trees.every:
            stems.update(name.removesuffix(suffix) for name in names(lay.own, suffix))
    return sorted(stem.partition("~")[0] for stem in stems)


def _last_event(trees: Worktrees, session: str) -> float:
    files_of = [trees.top.record(session), trees.top.commits(session)]
    files_of += [lay.manifest(session) for lay in trees.every]
    times = []
    for path in files_of:
        try:
            times.append(os.lstat(path).st_mtime)
        except FileNotFoundError:
            continue
    return max(times, default=0.0)


@contextmanager
def _standing_in(trees: Worktrees, lay: Layout) -> Iterator[Context]:
    """The context of a worktree. Raises Fatal where it cannot be used."""
    if lay.token == trees.ctx.layout.token:
        yield trees.ctx
        return
    if lay.token not in trees.roots:
        raise Fatal("nobody can tell where the main worktree is")
    there = in_worktree(trees.ctx, trees.roots[lay.token])
    with closing(there.repo):
        yield there


def _has_records(lay: Layout, session: str) -> bool:
    """True when a journal still tells of the session, or of a child that commits through it."""
    return bool(pending.pending_paths(lay, pending.family(lay, session), undone=True))


def _has_pending(trees: Worktrees, session: str) -> bool:
    """True when a commit would find something of it anywhere, but for files that git ignores."""
    for lay in trees.here:
        if not _has_records(lay, session):
            continue
        try:
            with _standing_in(trees, lay) as ctx:
                works = waiting.of(ctx, session)
        except Fatal:
            return True
        if any(work.reason != outcome.IGNORED for work in works.values()):
            return True
    return False


def _settle(trees: Worktrees, session: str) -> None:
    """Consume what came to nothing, as its commit would: else it is a rival in others' files for ever."""
    from gitralph.porcelain import commit

    for lay in trees.here:
        if _has_records(lay, session):
            with _standing_in(trees, lay) as ctx:
                _, made, bench = commit.preview(ctx, commit.Request(session))
                bench.remove()
                commit.note_void(ctx, made)


def is_over(trees: Worktrees, session: str, cutoff: float) -> bool:
    """True when nobody will miss it: silent since ``cutoff``, not live, nothing pending, no orphan."""
    if _last_event(trees, session) >= cutoff or sessions.state_of(trees.top, session) == "live":
        return False
    if any(os.path.lexists(lay.manifest(session)) for lay in trees.gone):
        return False
    return not _has_pending(trees, session)


def forget(sweep: Sweep, trees: Worktrees, session: str) -> None:
    """Remove one session that :func:`is_over`; gives way to a hook that wakes it up meanwhile."""
    manifests = [m for m in (lay.manifest(session) for lay in trees.here) if os.path.lexists(m)]
    others = [trees.top.commits(session), trees.top.record(session)]
    patches = [p for p in (lay.patch(session) for lay in trees.here) if os.path.lexists(p)]
    if sweep.dry:
        for path in [*manifests, *patches, *others]:
            sweep.unlink("session", path)
        return
    _settle(trees, session)
    blanks = [(path, _blank(path)) for path in manifests]
    if not all(was_quiet for _, (_, was_quiet) in blanks):
        return
    for path in [*patches, others[0]]:
        sweep.unlink("session", path)
    for path, (size, _) in blanks:
        if not _drop_blank(sweep, path, size):
            return
    sweep.unlink("session", others[1])
    for lay in trees.here:
        sessionfile.clear_active(lay, session)


def _blank(path: str) -> tuple[int, bool]:
    """Replace a manifest by blank lines; returns its length, and False when lines came meanwhile.

    Such lines, from a script that takes no lock, are carried over.
    """
    fd = files.open_locked(path)
    try:
        facts = os.fstat(fd)
        size = facts.st_size
        files.write_whole(path, b"\n" * size)
        os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))  # a rerun must find it as old
        late = os.pread(fd, os.fstat(fd).st_size - size, size)
    finally:
        os.close(fd)
    if late:
        files.append_record(path, late)
    return size, not late


def _drop_blank(sweep: Sweep, path: str, size: int) -> bool:
    """Remove a blank manifest; False when the session has written into it again."""
    fd = files.open_locked(path)
    try:
        if os.fstat(fd).st_size != size:
            return False
        sweep.unlink("session", path)
        return True
    finally:
        os.close(fd)
