"""``git ralph restore``: brings recorded pending edits back that the working tree lost.

First comes what the session itself took back, the latest undo first. Then comes what a checkout, a reset, a
dropped stash or a stale write threw away, which nobody recorded. What others wrote there since is a conflict.
An undone edit in whose place the session wrote what is lost stays undone.
"""

from dataclasses import dataclass, field, replace

from gitralph.decide.decision import Left
from gitralph.decide.path_texts import PathTexts
from gitralph.git.context import Context
from gitralph.git.snapshot import ABSENT, Content
from gitralph.hook.journal import REDO, RESTORE, Record
from gitralph.lines.terms import Reversal, Step
from gitralph.records.path_records import PathState
from gitralph.takeback import by_lines, whole_files
from gitralph.takeback.land_files import Replacement
from gitralph.takeback.redo import UndoCall, mode_before, waiting
from gitralph.takeback.survey import Match, Survey, UndoRequest, survey
from gitralph.takeback.undo import TakenBack, UndoPlan, carry_out, ends, new_call


def restore(ctx: Context, request: UndoRequest, dry: bool = False) -> TakenBack:
    """Bring back everything that is lost. Raises Refused with nothing written."""
    return carry_out(ctx, request, RESTORE, _plan, dry)


def has_lost(ctx: Context, session: str, match: Match | None = None) -> bool:
    """True when a session lost something, whether it can come back or something stands in its place."""
    made = _plan(ctx, UndoRequest(session, match=match))
    return bool(made.changes or made.left)


def may_have_lost(state: PathState) -> bool:
    """True where anything is recorded."""
    return bool(state.journal.records)


def _plan(ctx: Context, request: UndoRequest) -> UndoPlan:
    with survey(ctx, request.session, request.match, may_have_lost) as found:
        # The latest undo comes first: what it took out stands on what earlier undos left.
        undos = waiting(found)
        while True:
            made = UndoPlan(new_call(RESTORE))
            stuck = {call for path in sorted(found.states) for call in _take_path(found, path, undos, made)}
            moved = {path for path, _ in ends(found)}
            rest = [one for one in undos if one.call not in stuck or moved.isdisjoint(one.records)]
            if len(rest) == len(undos):
                return made
            undos = rest  # one end of a move does not come back alone


@dataclass
class _Way:
    """A file on its way back: its bytes and lines so far, and the records that led there."""

    content: Content
    known: PathTexts
    records: list[tuple[Record, bytes | None]] = field(default_factory=list)


def _take_path(found: Survey, path: bytes, undos: list[UndoCall], made: UndoPlan) -> list[str]:
    """Plan what comes back at a path; return the undos that stay, where something else comes back."""
    mine = [one.records[path] for one in undos if path in one.records]
    barred = found.barred.get(path)
    if barred is None and by_lines.whole_only(found, path) is not None:
        made.take(
            whole_files.redone(found, path, mine[0], RESTORE, made.call)
            if mine
            else whole_files.restored(found, path, made.call)
        )
        return []
    barred = barred or by_lines.why_untold(found, path)
    if barred is not None:
        made.take(barred if mine else None)
        return []
    way = _Way(found.content(path), found.texts(path))
    left = _redo(found, path, mine, made.call, way)
    lost = by_lines.restored(found, path, way.known)
    if lost.refused:
        left = left or by_lines.lefts(path, lost)
    elif lost.units:
        _go(found, path, way, RESTORE, made.call, lost, _mode(found, path))
        # an undone edit may stand on what was lost, or in its place: then it is told, and refuses nothing
        left = [one._replace(optional=True) for one in _redo(found, path, mine, made.call, way)]
    made.left.extend(left)
    stays = [str(one.call) for one in mine] if any(one.optional for one in left) else []
    if way.records and not any(one.refuses for one in left):
        length = found.states[path].journal.length
        made.changes.append(Replacement(path, found.content(path), way.content, length, tuple(way.records)))
    return stays


def _redo(found: Survey, path: bytes, undos: list[Record], call: str, way: _Way) -> list[Left]:
    """Bring back what undos took out, up to one that is refused: what stands in its way."""
    for undo in undos:
        back = by_lines.redone(found, way.known, undo)
        if back.refused:
            return by_lines.lefts(path, back)
        if back.units:
            _go(found, path, way, REDO, call, back, mode_before(way.content, undo))
    return []


def _go(
    found: Survey, path: bytes, way: _Way, op: str, call: str, answer: Reversal, mode: int | None
) -> None:
    """Bring the file one step further back."""
    data = by_lines.bytes_of(found, path, answer, way.content.data)
    after = ABSENT if data is None else Content(mode or way.content.mode or 0o100644, data)
    record = by_lines.record(found, op, call, way.content, after, answer.units)
    way.records.append((record, way.content.data))
    step = Step(f"new{len(way.records)}", found.session, way.known.disk, answer.text, seen=True)
    way.known = replace(way.known, disk=answer.text, steps=[*way.known.steps, step])
    way.content = after


def _mode(found: Survey, path: bytes) -> int | None:
    """The mode of a file that comes back: the one with which the session left it."""
    return by_lines.last_mode(r.mode[1] for r in found.own(path)) if found.content(path).absent else None
