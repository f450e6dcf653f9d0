"""All worktrees of the repository in one look: who works where, on what, and where two would collide.

Two worktrees collide where a merge of them would: both changed the same lines since their common commit, in
different ways. This costs one ``git status`` for each worktree, and more only for a path that two of them
changed.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

from gitralph.ask import changed, prompts
from gitralph.ask.whose import Makers, blob
from gitralph.base import gitdir
from gitralph.base.errors import Fatal, RalphError
from gitralph.base.layout import Layout
from gitralph.decide import pending_paths
from gitralph.git import carry, own_worktree, refs, uncommitted, worktrees
from gitralph.git.context import Context, checkout, state_layout
from gitralph.git.history import tree_of
from gitralph.git.refs import Head
from gitralph.git.repository import Repository
from gitralph.git.snapshot import LeadsOutError, Worktree
from gitralph.git.texts import is_binary
from gitralph.git.trees import FILES, TreeReader
from gitralph.hook import sessionfile
from gitralph.hook.journal import GAP, Journal, hunk_between
from gitralph.records import bead as beads
from gitralph.records import checklist, commit_log, manifests, path_records, sessions
from gitralph.records.bead import DamagedBeadError

_LONGEST = 80


class WorktreeSession(NamedTuple):
    """A session in a worktree: what it works on, its uncommitted paths there, when it last recorded."""

    session: str
    worktree: str
    bead: str | None
    title: str | None
    files: tuple[bytes, ...]
    last: float


class Collision(NamedTuple):
    """A path that worktrees changed in the same lines, and the sessions that did."""

    path: bytes
    sessions: tuple[str, ...]
    worktrees: tuple[str, ...]


class WideView(NamedTuple):
    """Every worktree with its branch, the sessions in them, and the collisions."""

    worktrees: tuple[tuple[str, str | None], ...]
    sessions: tuple[WorktreeSession, ...]
    collisions: tuple[Collision, ...]


@dataclass(frozen=True)
class _Tree:
    """One worktree: what differs from its HEAD, and what its commits changed since the common commit."""

    root: str
    branch: str | None
    head: str
    repo: Repository
    layout: Layout
    dirty: Mapping[bytes, str]


def look(ctx: Context) -> WideView:
    """Look at all worktrees; one that cannot be read is left out with a warning."""
    trees = list(_trees(ctx))
    known = (one for one in beads.records(ctx.layout) if not isinstance(one, DamagedBeadError))
    kept = {one.branch: one.bead for one in known}
    # A session in the worktree of a bead works on that bead.
    own = {tree.root: kept[tree.branch] for tree in trees if tree.branch in kept}
    rows = [row for tree in trees for row in _sessions(ctx, tree, own.get(tree.root))]
    there = {row.session for row in rows}
    roots = {tree.layout.token: tree.root for tree in trees}
    for record in sessions.records(ctx.layout):  # sessions that have nothing uncommitted anywhere
        root = roots.get(str(record.get("worktree")))
        if str(record["session"]) not in there and root is not None:
            rows.append(_row(ctx, str(record["session"]), root, (), own.get(root)))
    order = {root: at for at, root in enumerate(roots.values())}
    rows.sort(key=lambda row: (order[row.worktree], ctx.called(row.session)))
    found = tuple((tree.root, tree.branch) for tree in trees)
    return WideView(found, tuple(rows), tuple(_collisions(ctx, trees)))


def _trees(ctx: Context) -> Iterator[_Tree]:
    for row in worktrees.listing(ctx.git):
        if row.bare or row.missing or row.head is None or own_worktree.is_one(row):
            continue
        try:
            place = gitdir.discover(row.path)
            repo = checkout(ctx, place.git_dir, row.path) if place is not None else None
            if place is None or repo is None:
                continue
            dirty = uncommitted.dirty(repo, ctx.config)
            lay = state_layout(place, create=False)
        except RalphError as error:
            ctx.warn(f"'{row.path}' cannot be read: {error}")
            continue
        yield _Tree(row.path, row.branch, row.head, repo, lay, dirty)


# --- who ---


def _sessions(ctx: Context, tree: _Tree, own: str | None) -> Iterator[WorktreeSession]:
    files: dict[str, list[bytes]] = {}
    for path in tree.dirty:
        for session in _at_work(ctx, tree, path):
            files.setdefault(session, []).append(path)
    for session, paths in files.items():
        yield _row(ctx, session, tree.root, tuple(paths), own, tree.layout)


def _at_work(ctx: Context, tree: _Tree, path: bytes) -> list[str]:
    """The sessions with something in an uncommitted path."""
    found = list[str]()
    if os.path.lexists(tree.layout.journal(path)):
        journal = path_records.read_journal(tree.layout, path)
        names = dict.fromkeys(r.session for r in journal.records if r.op != GAP)
        found += [name for name in names if _has_more(ctx, tree, path, journal, name)]
    for session in manifests.sessions_here(tree.layout) if not found else ():
        claims = path_records.claims(tree.layout, session)
        found += [session] if path in claims.fresh else []
    return list(dict.fromkeys(found))


def _has_more(ctx: Context, tree: _Tree, path: bytes, journal: Journal, session: str) -> bool:
    """True where a session has something in a path that no commit of HEAD took."""
    end = commit_log.told(journal, session)
    if any(r.offset >= end for r in journal.records if r.session == session and r.op != GAP):
        return True
    commits = [row["commit"] for row in journal.log if row.get("session") == session and row.get("commit")]
    if not commits or refs.contains(tree.repo, Head(None, tree.head), str(commits[-1])):
        return False
    # The commit was taken back, or written anew, so only a draft of the session tells.
    there = replace(ctx, repo=tree.repo, layout=tree.layout)
    return path in pending_paths.counted(pending_paths.of(there, session))


def _row(
    ctx: Context,
    session: str,
    root: str,
    paths: tuple[bytes, ...],
    own: str | None,
    lay: Layout | None = None,
) -> WorktreeSession:
    record = sessionfile.read(ctx.layout, session) or {}
    bead = record.get("bead") or own
    last = sessions.last_event(lay or ctx.layout, session)
    named = bead if isinstance(bead, str) else None
    return WorktreeSession(session, root, named, _title(ctx, session, {**record, "bead": bead}), paths, last)


def _title(ctx: Context, session: str, record: Mapping[str, object]) -> str | None:
    """What a session works on: its task's text, else its bead's title, else what it was asked first."""
    plan, number, bead = record.get("plan"), record.get("task"), record.get("bead")
    found: str | None = None
    if isinstance(plan, str) and isinstance(number, str | int) and str(number).isdecimal():
        try:
            tasks = checklist.tasks_of(os.path.join(ctx.repo.root, plan))
            found = tasks[int(number) - 1].text if 0 < int(number) <= len(tasks) else None
        except Fatal:
            found = None
    if found is None and isinstance(bead, str) and "/" not in bead:
        try:
            kept = beads.read(ctx.layout, bead)
            found = kept.title if kept is not None else None
        except (DamagedBeadError, OSError):
            found = None
    short = " ".join((found or prompts.first(ctx, session) or "").split())
    return (short if len(short) <= _LONGEST else short[: _LONGEST - 1] + "…") or None


# --- what collides ---


def _collisions(ctx: Context, trees: list[_Tree]) -> Iterator[Collision]:
    base = _base_of_all(ctx, [tree.head for tree in trees])
    committed = {head: _changed(ctx, base, head) for head in {tree.head for tree in trees}}
    at: dict[bytes, list[_Tree]] = {}
    for tree in trees:
        for path in {*tree.dirty, *committed[tree.head]}:
            at.setdefault(path, []).append(tree)
    both = {path: found for path, found in at.items() if len(found) > 1}
    if not both:
        return

    looker = _Looker(ctx)
    for path, found in sorted(both.items()):
        meeting: dict[str, _Tree] = {}
        for one, other in combinations(found, 2):
            # Both are marked then. With fifty worktrees this saves a thousand merges of one file.
            if {one.root, other.root} <= meeting.keys():
                continue
            if looker.collide(path, one, other):
                meeting |= {one.root: one, other.root: other}
        if meeting:
            order = {tree.root: at for at, tree in enumerate(found)}
            meeting = dict(sorted(meeting.items(), key=lambda item: order[item[0]]))
            who = (one for tree in meeting.values() for one in looker.sessions(path, tree, committed))
            yield Collision(path, tuple(dict.fromkeys(who)), tuple(meeting))


def _base_of_all(ctx: Context, heads: Iterable[str]) -> str | None:
    distinct = list(dict.fromkeys(heads))
    if len(distinct) < 2:
        return distinct[0] if distinct else None
    done = ctx.git.try_run("merge-base", "--octopus", *distinct)
    return done.stdout.decode().strip() or None


def _changed(ctx: Context, base: str | None, head: str) -> dict[bytes, str]:
    """The paths that the commits since the base changed; nothing without a common commit."""
    if base is None or base == head:
        return {}
    return dict.fromkeys(carry.changed(ctx.git, base, head), base)


class _Looker:
    """Compares worktrees in pairs; what it read once serves every pair."""

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.makers = ctx, Makers(ctx)
        self._bases: dict[frozenset[str], str | None] = {}
        self._texts: dict[tuple[str, bytes], bytes | None] = {}

    def collide(self, path: bytes, one: _Tree, other: _Tree) -> bool:
        base = self._base(one.head, other.head)
        if base is None:
            return False
        ours, theirs, old = self._now(one, path), self._now(other, path), self._text(base, path)
        if ours == theirs or old in (ours, theirs):
            return False
        if ours is None or theirs is None or any(is_binary(text or b"") for text in (ours, theirs, old)):
            return True
        mine, its = (hunk_between(old or b"", text) for text in (ours, theirs))
        if mine.start > its.start + its.removed or its.start > mine.start + mine.removed:
            return False
        return self._conflicts(ours, old or b"", theirs)

    def _base(self, one: str, other: str) -> str | None:
        key = frozenset((one, other))
        if key not in self._bases:
            done = self.ctx.git.try_run("merge-base", one, other)
            self._bases[key] = done.stdout.decode().split("\n")[0] or None
        return self._bases[key]

    def _now(self, tree: _Tree, path: bytes) -> bytes | None:
        if path not in tree.dirty:
            return self._text(tree.head, path)
        key = tree.root, path
        if key not in self._texts:
            with Worktree(tree.root) as files:
                try:
                    self._texts[key] = files.read(path).data
                except (LeadsOutError, OSError):
                    self._texts[key] = None
        return self._texts[key]

    def _text(self, commit: str, path: bytes) -> bytes | None:
        key = commit, path
        if key not in self._texts:
            reader = TreeReader(self.ctx.repo.objects, tree_of(self.ctx.repo, commit))
            found = reader.entry(path)
            oid = found.oid.decode() if found is not None and found.mode in FILES else None
            self._texts[key] = blob(self.ctx, oid)
        return self._texts[key]

    def _conflicts(self, ours: bytes, base: bytes, theirs: bytes) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            names = [f"{folder}/{name}" for name in ("ours", "base", "theirs")]
            for name, text in zip(names, (ours, base, theirs), strict=True):
                with open(name, "wb") as file:
                    file.write(text)
            # The exit status is the number of conflicts (git-merge-file(1)).
            return self.ctx.git.try_run("merge-file", "-p", "-q", *names).returncode != 0

    def sessions(
        self, path: bytes, tree: _Tree, committed: Mapping[str, Mapping[bytes, str]]
    ) -> Iterator[str]:
        """Whose the changes of a path in a worktree are, the uncommitted ones first."""
        if path in tree.dirty:
            yield from _at_work(self.ctx, tree, path)
        base = committed[tree.head].get(path)
        if base is not None:
            words = ("log", "--no-show-signature", "--format=%H", f"{base}..{tree.head}", "--")
            said = self.ctx.git.at(tree.root).run("--literal-pathspecs", *words, path)
            for head in changed.heads(self.ctx, said.decode().split()):
                yield from self.makers.of_all(head)
