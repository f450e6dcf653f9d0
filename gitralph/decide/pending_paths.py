"""What waits for a commit. Every command that lists, counts or chooses sessions asks here.

Records alone cannot answer: plain git may have committed an edit, or somebody may have taken it back. So this
module drafts each session's commit as ``commit`` would, in a quarantine, and throws the draft away.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import NamedTuple

from gitralph.base import files
from gitralph.base.errors import Fatal
from gitralph.base.layout import Layout
from gitralph.decide import decision, offers, plan
from gitralph.decide.decision import Left
from gitralph.decide.inputs import Wishes, open_bench
from gitralph.decide.request import Draft
from gitralph.git import listing, uncommitted
from gitralph.git.blobs import Workbench
from gitralph.git.context import Context, without_programs
from gitralph.git.listing import Counts
from gitralph.git.trees import EMPTY_TREE, Entry
from gitralph.hook import sessionfile, windows
from gitralph.records import manifests, over_time, path_records

# No commit can ever take a path that is left for one of these reasons. A session that has only such paths is
# not counted among those that a user must choose between; status lists the path with its reason.
_LEAVING = frozenset([decision.IGNORED, decision.OUTSIDE, decision.SUBMODULE, decision.GONE])
# Linux dates files by a clock that ticks every 1 to 10 ms.
_TICK = 20_000_000


class Work(NamedTuple):
    """What one session has in one path. ``reason`` None: a commit takes it; else why a commit leaves it.

    ``whole``: nothing else is uncommitted in the file. ``change`` is git's letter for what a commit makes of
    the path, R with ``source`` for a rename. ``counts_of`` are the lines added and removed, None where the
    whole file goes. ``change`` and ``counts_of`` are filled only for ``counting``.
    """

    reason: str | None = None
    whole: bool = False
    change: str | None = None
    source: bytes | None = None
    counts_of: Counts | None = None

    @property
    def counts(self) -> bool:
        """True for what a commit takes or refuses; a commit ignores everything else."""
        return self.reason not in _LEAVING

    @property
    def refuses(self) -> bool:
        """True when a commit would be refused because of this path."""
        return self.reason in decision.REFUSING


Works = dict[bytes, Work]


def of(ctx: Context, session: str, counting: bool = False) -> Works:
    """What a commit of ``session`` would find, by path. Writes nothing, starts no configured program.

    ``counting`` counts the lines of each change too, which costs a git process.
    """
    if not os.path.isdir(ctx.layout.top):
        return {}
    quiet = without_programs(ctx)
    with closing(quiet.repo), open_bench(quiet, quarantine=True) as bench:
        return _of(quiet, bench, session, counting)


def _of(ctx: Context, bench: Workbench, session: str, counting: bool) -> Works:
    try:
        return _drafted(ctx, bench, session, counting)
    except Fatal as error:  # damaged records of one session must not stop the others
        ctx.warn(f"what session '{ctx.called(session)}' has pending cannot be told: {error.message}")
        family = path_records.family(ctx.layout, session)
        raw = path_records.recorded_paths(ctx.layout, family, lambda old: old)
        return {p: Work(decision.UNANCHORED) for p, s in raw.items() if not s.owners().isdisjoint(family)}


def everyone(ctx: Context, counting: bool = False) -> dict[str, Works]:
    """What :func:`of` tells, for every session of this worktree that has anything, ordered by session id."""
    names = set(_unfinished(ctx))
    if offers.setting(ctx.config) == offers.INCLUDE:
        names |= {window.session for window in windows.read(ctx.layout)}
    if not names:
        return {}
    quiet = without_programs(ctx)
    with closing(quiet.repo), open_bench(quiet, quarantine=True) as bench:
        found = {name: _of(quiet, bench, name, counting) for name in sorted(names)}
    return {name: works for name, works in found.items() if works}


def _unfinished(ctx: Context) -> Iterator[str]:
    """The sessions with a record that no commit has told of, or with a path that differs from HEAD.

    So are those whose file was moved to such a path.
    """
    claims = [path_records.claims(ctx.layout, name) for name in manifests.sessions_here(ctx.layout)]
    old = {path for claim in claims for path in claim.old}
    dirty = set(uncommitted.dirty_paths(ctx.repo, ctx.config, old)) if old else set[bytes]()
    left = {claim.session for claim in claims if claim.fresh or not dirty.isdisjoint(claim.old)}
    others = {claim.session for claim in claims} - left
    for path in dirty.union(*(claim.fresh for claim in claims)) if others else ():
        if path_records.tells_of_a_move(ctx.layout, path):
            left |= path_records.path_state(ctx.layout, path, []).came_with
    for claim in claims:
        if not left.isdisjoint(path_records.family(ctx.layout, claim.session)):
            yield claim.session


def put_mark_away(ctx: Context, family: Iterable[str]) -> None:
    """After a commit: remove the marks of these sessions, so that git's hook need not start Python for them.

    The mark is removed before the claims are read. A record made meanwhile sets the mark again.
    """
    for session in family:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(ctx.layout.pending(session))
            if path_records.claims(ctx.layout, session).fresh:
                sessionfile.mark_pending(ctx.layout, session)
    _mark_bare(ctx.layout)


def put_marks_away(ctx: Context) -> None:
    """Remove the marks of all sessions here that have nothing pending: plain git may have committed it."""
    for lay in over_time.worktrees(ctx.layout):
        if os.path.isdir(lay.own):
            _mark_bare(lay)
    marked = [name for name in manifests.sessions_here(ctx.layout) if _unmarked(ctx, name)]
    found = everyone(ctx) if marked else {}
    for session in marked:
        if any(name in found for name in path_records.family(ctx.layout, session)):
            sessionfile.mark_pending(ctx.layout, session)


def _mark_bare(lay: Layout) -> None:
    """Mark the sessions into whose manifests a script wrote by itself, and note the time of this look.

    The time noted lies before the look, by more than one tick of the clock that dates files.
    """
    now, since = time.time_ns() - _TICK, _written(lay.looked)
    for session in manifests.sessions_here(lay):
        is_news = not os.path.lexists(lay.pending(session)) and _written(lay.manifest(session)) >= since
        if is_news and path_records.claims(lay, session).fresh:
            sessionfile.mark_pending(lay, session)
    files.make_folder(lay.tmp)
    name = f"{lay.tmp}/{os.getpid()}-looked"
    files.write_whole(name, b"")
    os.utime(name, ns=(now, now))
    os.rename(name, lay.looked)


def _written(path: str) -> int:
    try:
        return os.stat(path, follow_symlinks=False).st_mtime_ns
    except FileNotFoundError:
        return 0


def _unmarked(ctx: Context, session: str) -> bool:
    try:
        os.unlink(ctx.layout.pending(session))
        return True
    except FileNotFoundError:
        return False


def counted(works: Works) -> list[bytes]:
    """The paths that a commit takes or refuses, sorted."""
    return sorted(path for path, work in works.items() if work.counts)


def _drafted(ctx: Context, bench: Workbench, session: str, counting: bool) -> Works:
    made = plan.build(ctx, bench, session, Wishes(), None, writing=False)
    works = _found(made)
    return _counted(ctx, made, bench, works) if counting and made.entries else works


def _counted(ctx: Context, made: Draft, bench: Workbench, works: Works) -> Works:
    """Add to each path git's letter and the line counts of what a commit would take."""
    letters = made.changes
    lines: dict[bytes, Counts] = {}
    if any(path in works and not works[path].whole for path in letters):
        words = ("-r", "-z", "--numstat", "--no-renames")
        tree = plan.rebuilt(ctx, bench, made).tree
        said = bench.git.run("diff-tree", *words, made.base.root or EMPTY_TREE, tree)
        lines = {
            path: found
            for path, found in listing.counts(said).items()
            if path not in works or not works[path].whole
        }
    sources = {new: old for old, new in made.together if letters.get(old) == "D" and letters.get(new) == "A"}
    for new, old in sources.items():
        lines[new] = _between(bench, made.base.entry(old), made.entries[new])
    return {
        path: work._replace(
            change="R" if path in sources else letters[path],
            source=sources.get(path),
            counts_of=lines.get(path),
        )
        if path in letters
        else work
        for path, work in works.items()
    }


def _between(bench: Workbench, old: Entry | None, new: Entry | None) -> Counts:
    """The lines that a file changed besides being renamed."""
    if old is None or new is None or old.oid == new.oid:
        return 0, 0
    said = bench.git.run("diff", "--numstat", "-z", "--no-ext-diff", "--no-textconv", old.oid, new.oid)
    # git prints the counts before the names, and two blobs have two names
    added, removed = said.split(b"\t")[:2]
    return (int(added), int(removed)) if added != b"-" else (None, None)


def _found(made: Draft) -> Works:
    lefts: dict[bytes, list[Left]] = {}
    for one_left in made.left:
        lefts.setdefault(one_left.path, []).append(one_left)
    out: Works = {}
    for one in made.outcomes:
        path, left = one.path, lefts.get(one.path, [])
        refused = [x.reason for x in left if x.refuses]
        leaving = [x.reason for x in left if x.reason in _LEAVING]
        if refused or (leaving and path not in made.entries):
            out[path] = Work((refused or leaving)[0])
        elif path in made.entries:
            out[path] = Work(None, made.entries[path] == made.now.get(path))
        elif one.content is None and one.notes and not one.void:
            # another session moved the file, and has not committed that
            out[path] = Work(decision.WAITING)
    # a file that replaces a folder brings the files below the folder into the commit
    for path in made.entries:
        out.setdefault(path, Work(None, True))
    return out


def by_path(everybody: dict[str, Works]) -> dict[bytes, dict[str, Work]]:
    """Turn the answer of :func:`everyone` round: for each path the sessions that have something there."""
    out: dict[bytes, dict[str, Work]] = {}
    for session, works in everybody.items():
        for path, work in works.items():
            out.setdefault(path, {})[session] = work
    return out


def rivals(ctx: Context, sessions: Iterable[str]) -> list[str]:
    """Those of ``sessions`` whose work no other session's commit takes along as a subagent's."""
    names = list(sessions)
    children = {
        child for name in names for child in path_records.family(ctx.layout, name)[1:] if child in names
    }
    return [name for name in names if name not in children]
