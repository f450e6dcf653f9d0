"""The request of an undo, a redo or a restore, and everything that these look at: records, files, HEAD."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from gitralph.base.kinds import Kind, Why
from gitralph.decide import decision, inputs, path_texts
from gitralph.decide.decision import Left
from gitralph.decide.inputs import Scene, open_bench, records_of
from gitralph.decide.path_texts import PathTexts
from gitralph.git import history, refs
from gitralph.git.context import Context
from gitralph.git.snapshot import Content, Worktree
from gitralph.git.trees import Entry
from gitralph.hook.journal import Record
from gitralph.records import manifests, path_records
from gitralph.records.path_records import PathState
from gitralph.sessions import session_choice


class Picked(NamedTuple):
    """What a person chose of a path: pieces by name, or None for the whole file as it was shown."""

    units: tuple[str, ...] | None
    before: Content


class UndoRequest(NamedTuple):
    """What was asked for. ``call`` and ``last`` narrow an undo; ``named`` are the paths as typed.

    ``picks`` is what was chosen hunk by hunk, None where nobody was asked.
    """

    session: str
    call: str | None = None
    last: int | None = None
    skip: bool = False
    match: Match | None = None
    named: tuple[str, ...] = ()
    picks: Mapping[bytes, Picked] | None = None


# --- what is looked at ---


Answer = TypeVar("Answer")


Match = Callable[[Iterable[bytes]], list[bytes]]


@dataclass(frozen=True)
class Survey:
    """The paths of a session as they stand; ``barred`` must not be touched, each with its reason."""

    ctx: Context
    session: str
    scene: Scene
    barred: Mapping[bytes, Left]
    _texts: dict[bytes, PathTexts] = field(default_factory=dict)
    _kept: dict[tuple[object, bytes], Any] = field(default_factory=dict)

    @property
    def states(self) -> Mapping[bytes, PathState]:
        return self.scene.states

    def content(self, path: bytes) -> Content:
        return self.scene.contents[path]

    def texts(self, path: bytes) -> PathTexts:
        """The texts of a path; each path is read once."""
        if path not in self._texts:
            to = path_records.first_arrival(self.states[path].journal)
            is_over = to is not None and self.has_landed(path, to)
            self._texts[path] = path_texts.read(self.scene, self.states[path], carry=is_over)
        return self._texts[path]

    def has_landed(self, path: bytes, move: Record) -> bool:
        """True where HEAD has a path that it lacked when a file was moved there: nobody undoes that move."""
        then = history.entry_at(self.scene.repo, move.head, path)
        return self.scene.reader.entry(path) is not None and not isinstance(then, Entry)

    def kept(self, path: bytes, ask: Callable[[Survey, bytes], Answer]) -> Answer:
        """What ``ask`` says of a path; the answer is kept."""
        if (ask, path) not in self._kept:
            self._kept[ask, path] = ask(self, path)
        answer: Answer = self._kept[ask, path]
        return answer

    def own(self, path: bytes) -> list[Record]:
        """All records of the session and its subagents for a path, in the order of the journal."""
        return records_of(self.scene, self.states[path])


@contextmanager
def survey(
    ctx: Context, session: str, match: Match | None, wanted: Callable[[PathState], bool] | None = None
) -> Iterator[Survey]:
    """Read the paths of a session; with ``wanted`` those of all paths that it ever recorded here."""
    with open_bench(ctx, quarantine=True) as bench, Worktree(ctx.repo.root) as worktree:
        family = path_records.family(ctx.layout, session)
        asked = inputs.question(ctx, bench, worktree, refs.read_head(ctx.repo), family)
        scene = inputs.look(asked, _states(ctx, family, match, wanted))
        # git cannot give back a file that it does not know. So such a file is ours only if this
        # session made it.
        why = Why(Kind.IGNORED_AND_FOUND)
        foreign = {
            path: Left(path, decision.IGNORED, why) for path in scene.ignored if not _made_by(scene, path)
        }
        yield Survey(ctx, session, scene, {**foreign, **scene.barred})


def _made_by(scene: Scene, path: bytes) -> bool:
    records = scene.states[path].journal.records
    own = [r for r in records if r.session in scene.own]
    return bool(own) and own[0] is records[0] and own[0].is_exact and own[0].before is None


def _states(
    ctx: Context, family: list[str], match: Match | None, picks: Callable[[PathState], bool] | None
) -> dict[bytes, PathState]:
    if picks is not None:
        claimed = [path_records.claims(ctx.layout, name) for name in manifests.sessions_here(ctx.layout)]
        paths = {p for claim in claimed if claim.session in family for p in (*claim.fresh, *claim.old)}
        known = {path: path_records.path_state(ctx.layout, path, claimed) for path in sorted(paths)}
        states = {path: state for path, state in known.items() if picks(state)}
    else:
        states = path_records.recorded_paths(ctx.layout, family, lambda old: old)
        path_records.add_foreign_claims(ctx.layout, states, set(family))
    if match is None:
        return states
    wanted = set(match(states))
    return {path: state for path, state in states.items() if path in wanted}


def in_order(found: Survey) -> list[tuple[bytes, Record]]:
    """All records of the session in the order in which they were made.

    A manifest gets a line with each record, so its lines tell the order across paths. Where a script added
    lines of its own, the times tell it.
    """
    rows: list[tuple[tuple[object, ...], bytes, Record]] = []
    several = len(found.scene.family) > 1
    for session in found.scene.family:
        lines = manifests.read(found.ctx.layout, session).lines
        for path in found.states:
            own = [r for r in found.states[path].journal.records if r.session == session]
            places = lines.get(path, [])
            # There is one line for each record and none added by hand, so the n-th line belongs to the n-th
            # record.
            told = len(places) == len(own)
            for at, record in enumerate(own):
                place = places[at] if told else -1
                # Each session has a manifest of its own, so places in two manifests do not compare. The clock
                # does, in seconds.
                stamp = record.ts if several or not told else ""
                rows.append(((stamp, place, record.offset), path, record))
    if any(key[0] for key, _, _ in rows):  # times and places cannot be sorted together
        rows = [((record.ts, key[1], record.offset), path, record) for key, path, record in rows]
    return [(path, record) for _, path, record in sorted(rows, key=lambda row: (row[0], row[1]))]


def one_with(ctx: Context, given: str | None, usage: str, has: Callable[[Context, str], bool]) -> str | None:
    """The named session, else the only one of which ``has`` is true; None where there is none."""
    named = session_choice.named(ctx, given, usage, writes=True)
    if named is not None:
        return named
    found = [name for name in session_choice.all_here(ctx.layout) if has(ctx, name)]
    if len(found) > 1:
        raise session_choice.ambiguous(ctx.layout, found, usage)
    return found[0] if found else None
