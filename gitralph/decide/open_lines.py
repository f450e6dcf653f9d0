"""The uncommitted lines of a path and their owners. The guard asks before an edit or a discard.

An agent waits for the answer. A line that no session brought is a person's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from typing import NamedTuple

from gitralph.decide import inputs, path_texts
from gitralph.decide.inputs import Scene, open_bench
from gitralph.decide.path_texts import PathTexts
from gitralph.git import refs
from gitralph.git.context import Context, without_programs
from gitralph.git.snapshot import Worktree
from gitralph.hook.journal import full_lines
from gitralph.lines.linediff import ranges
from gitralph.lines.terms import step_of
from gitralph.lines.weave import EXISTS
from gitralph.records import path_records
from gitralph.records.path_records import PathState


class OpenLine(NamedTuple):
    """One line in which HEAD and the file differ. ``owner`` None: nobody recorded the line.

    ``number`` counts from 1 in the file; a removed line has the number of the line that follows it. ``since``
    is the time of the record, empty where there is none.
    """

    owner: str | None
    number: int
    text: bytes
    removed: bool = False
    since: str = ""


class OpenPath(NamedTuple):
    """What is uncommitted in a path.

    ``whole`` are the owners of changes that have no lines, such as a deletion.
    """

    lines: tuple[OpenLine, ...] = ()
    whole: frozenset[str | None] = frozenset()
    head: bytes | None = None
    disk: bytes | None = None

    def lost(self, after: bytes | None) -> OpenPath:
        """The part that would be lost if the file held ``after`` instead; None means no file."""
        if after == self.disk:
            return OpenPath()
        if after == self.head or after is None or self.disk is None:
            kept = set() if after == self.head else {n for n, one in enumerate(self.lines) if one.removed}
            return self._replace(lines=tuple(x for n, x in enumerate(self.lines) if n not in kept))
        old, new = full_lines(self.disk), full_lines(after)
        found = ranges(old, new)
        gone = {at + 1 for first, last, _, _ in found for at in range(first, last)}
        back = {line.rstrip(b"\r\n") for _, _, first, last in found for line in new[first:last]}
        lines = [x for x in self.lines if (x.text in back if x.removed else x.number in gone)]
        return self._replace(lines=tuple(lines))


def read(ctx: Context, paths: Iterable[bytes]) -> Iterator[tuple[bytes, OpenPath]]:
    """Read what is uncommitted in each path. Starts no program that the configuration names.

    A path at which commit could not look, such as one in a submodule, is left out.
    """
    quiet = without_programs(ctx)
    with closing(quiet.repo), open_bench(quiet, quarantine=True) as bench, Worktree(ctx.repo.root) as tree:
        asked = inputs.question(quiet, bench, tree, refs.read_head(quiet.repo), family=())
        states = {path: path_records.path_state(ctx.layout, path, []) for path in paths}
        scene = inputs.look_unfiltered(asked, states)
        for path, state in scene.states.items():
            if path not in scene.barred and path not in scene.ignored:
                yield path, _of(scene, state)


def _of(scene: Scene, state: PathState) -> OpenPath:
    path = state.path
    if scene.is_as_in_head(path):
        return OpenPath()
    known = {r.session for r in state.journal.records} | state.bare
    texts = None if path_texts.whole_only(scene, state) else path_texts.read(scene, state)
    if texts is None or texts.has_binary:
        return OpenPath(whole=frozenset[str | None](known) or frozenset([None]))
    bare = path_texts.claimants(state)
    lines = tuple(_lines(texts, {str(r.offset): r.ts for r in state.journal.records}))
    whole: set[str | None] = set(bare)
    pieces = texts.pieces
    if pieces.is_added(EXISTS) or pieces.is_removed(EXISTS) or not lines:
        whole.add(pieces.owner(EXISTS) if lines or pieces.is_added(EXISTS) else None)
    # A record without texts may cover these lines. So no line without an owner counts for certain as a
    # person's.
    if bare:
        lines = tuple(line for line in lines if line.owner is not None)
    return OpenPath(lines, frozenset(whole), texts.base, texts.disk)


def _lines(texts: PathTexts, times: Mapping[str, str]) -> Iterator[OpenLine]:
    pieces, number = texts.pieces, 0
    weave = pieces.weave
    for line in weave.order():
        stands = pieces.on_disk(line)
        number += stands
        if stands != bool(pieces.in_head[line]):
            unit = weave.units[pieces.unit(line)]
            at = number if stands else number + 1
            since = times.get(step_of(unit.key), "")
            yield OpenLine(unit.owner, at, weave.content(line), not stands, since)
