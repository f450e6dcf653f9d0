"""Reads a path as ``commit`` does, and tells for each line the record behind it and git's blame."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from gitralph.base.errors import Fatal
from gitralph.decide import inputs, offers, path_texts, pathspecs, text_chain
from gitralph.decide.decision import Left
from gitralph.decide.in_time import InTime
from gitralph.decide.inputs import Scene, open_bench
from gitralph.decide.path_texts import PathTexts
from gitralph.git import blame, history, refs
from gitralph.git.context import Context
from gitralph.git.descent import Descent
from gitralph.git.run import GitError
from gitralph.git.snapshot import Worktree
from gitralph.git.texts import is_binary
from gitralph.git.trees import FILES, Entry
from gitralph.hook.journal import GAP, TEXT_LIMIT, Record, full_lines
from gitralph.hook.locate import NoWorktreeError, OutsideError
from gitralph.lines import owners
from gitralph.records import path_records
from gitralph.records.path_records import PathState


def tree_path(ctx: Context, typed: str) -> bytes:
    """Turn what the user typed, relative to the cwd, into a tree path. Raises Fatal outside the worktree."""
    if typed and not os.path.islink(typed) and os.path.realpath(typed) == ctx.repo.root:
        raise Fatal(f"'{typed}' is the worktree's own folder; name a file in it")
    try:
        target = ctx.locate(typed)
    except NoWorktreeError:
        raise Fatal(f"'{typed}' is outside repository at '{ctx.repo.root}'") from None  # git's own words
    except OutsideError as error:
        raise Fatal(f"'{typed}': {error}") from None
    if target.place.root != ctx.repo.root:
        raise Fatal(f"'{typed}' belongs to another worktree, '{target.place.root}'")
    if not os.path.lexists(target.file) and not os.path.lexists(ctx.layout.journal(target.path)):
        pathspecs.refuse_unknown(ctx, [typed], literal=True)
    return target.path


class Read(NamedTuple):
    """A path with its records. ``keys`` holds for each line the offset of its record, ``lines`` git's blame.

    ``pending`` are the offsets of the records of which something is in no commit. ``offered`` are the
    lines, by number, that shell commands of several sessions may have made, each with its record.
    """

    state: PathState
    keys: list[str | None]
    lines: list[blame.Line]
    pending: frozenset[str]
    carried: tuple[Record, ...] = ()
    offered: Mapping[int, Record] = MappingProxyType({})

    def records(self) -> Iterator[Record]:
        """The records of the file, first those from before it was moved."""
        yield from self.carried
        yield from self.state.journal.records

    @property
    def commits(self) -> list[str | None]:
        """The commit of each line, None for an uncommitted one."""
        return [line.commit for line in self.lines]


def read(ctx: Context, path: bytes) -> Read | Left:
    """Read a path; a Left tells why commit could not look at it either."""
    state = path_records.path_state(ctx.layout, path, [])
    with open_bench(ctx, quarantine=True) as bench, Worktree(ctx.repo.root) as worktree:
        asked = inputs.question(ctx, bench, worktree, refs.read_head(ctx.repo), family=())
        scene = inputs.look(asked, {path: state})
        if scene.barred:
            return scene.barred[path]
        lines = _blamed(ctx, scene, state)
        data = scene.contents[path].data or b""
        if len(data) > TEXT_LIMIT or is_binary(data):
            return Read(state, [None] * len(lines), lines, _since_head(scene, state))
        known = path_texts.read(scene, state)
        waiting = _pending(scene, state, known)
        keys = _keys(ctx, known, lines)
        return Read(state, keys, lines, waiting, known.carried, offers.by_line(known.pieces, state))


def _since_head(scene: Scene, state: PathState) -> frozenset[str]:
    """The records of which the file may still hold something, for a file whose lines are not told apart."""
    return frozenset() if scene.is_as_in_head(state.path) else _keys_of(text_chain.since_head(scene, state))


def _pending(scene: Scene, state: PathState, known: PathTexts) -> frozenset[str]:
    """The records of which something is in no commit.

    A record by path alone has no lines to look for. It waits until a commit has told of it, as long as HEAD's
    file differs.
    """
    if scene.is_as_in_head(state.path):
        return frozenset()
    waiting = [r for name in state.records for r in state.untold(name) if not r.is_exact]
    entry, content = scene.reader.entry(state.path), scene.contents[state.path]
    if entry is not None and {entry.mode, content.mode} == set(FILES):
        made = text_chain.made_mode(state.journal.records, content)
        waiting += [made] if made is not None and made.op != GAP else []
    return _keys_of(waiting) | owners.pending(known.pieces)


def _keys_of(records: Iterable[Record]) -> frozenset[str]:
    return frozenset(str(record.offset) for record in records)


def _keys(ctx: Context, known: PathTexts, lines: Sequence[blame.Line]) -> list[str | None]:
    """The record behind each line of the file as it stands, by its place in the journal."""
    rows = owners.by_line(known.pieces)
    in_time = InTime(Descent(ctx.repo), known.steps, known.heads.at)
    found: list[str | None] = []
    for number, line in enumerate(lines, 1):
        at = known.seen.line(number)
        key = in_time.maker(rows[at - 1], line.commit) if 0 < at <= len(rows) else None
        found.append(key if key is not None and key.lstrip("-").isdigit() else None)
    return found


def _blamed(ctx: Context, scene: Scene, state: PathState) -> list[blame.Line]:
    """What git says of each line, of a file that was moved here under its old name."""
    path, data = state.path, scene.contents[state.path].data
    is_new = (
        scene.reader.entry(path) is None and scene.contents[path].mode in FILES
    )  # git would follow a link
    old = path_texts.moved_from(scene, state) if is_new and data else None
    try:
        count = len(full_lines(data or b""))
        found = blame.lines(ctx.git.at(ctx.repo.root), ctx.config, path, count, old)
    except GitError:
        # Where HEAD has the file git has to know it, unless it lacks an object that no remote gives it.
        held = history.entry_at(ctx.repo, refs.read_head(ctx.repo).oid, path)
        if data is not None and isinstance(held, Entry) and held.mode in FILES:
            raise
        found = None
    return found if found is not None else blame.uncommitted(data or b"")
