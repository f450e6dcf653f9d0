"""Forgets sessions that ended long ago and have nothing pending: record, manifests, consumption.

``<session>.commits`` holds offsets into the manifests, so neither may outlive the other in a way that
counts: the manifests are first replaced by blank ones of the same length, which mean nothing with or
without offsets. A kill at any point leaves a state that means the same.
"""

import os
from dataclasses import dataclass

from gitralph import files, sessionfile
from gitralph.layout import Layout
from gitralph.porcelain import sessions
from gitralph.state import pending
from gitralph.state.sweep import Sweep, names

_SUFFIXES = (".json", ".files", ".commits")


@dataclass(frozen=True)
class Worktrees:
    """All layouts of a repository: those of worktrees that exist, and of those that do not."""

    here: list[Layout]
    gone: list[Layout]

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


def _has_pending(trees: Worktrees, session: str) -> bool:
    """True when the session, or a child that commits through it, waits for a commit anywhere."""
    members = pending.family(trees.top, session)
    for lay in trees.here:
        states = pending.pending_paths(lay, members)
        if any(state.owners() & set(members) for state in states.values()):
            return True
    return False


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
