"""``git ralph undo --redo``: what the last undo took out comes back into the file as it stands now."""

from typing import NamedTuple

from gitralph.git.context import Context
from gitralph.git.snapshot import Content
from gitralph.hook.journal import REDO, RESTORE, UNDO, Record
from gitralph.records.path_records import PathState
from gitralph.takeback import by_lines, whole_files
from gitralph.takeback.survey import Survey, UndoRequest, in_order, survey
from gitralph.takeback.undo import TakenBack, UndoPlan, carry_out, new_call


def redo(ctx: Context, request: UndoRequest, dry: bool = False) -> TakenBack:
    """Bring back the latest undo that was not brought back yet. Raises Refused with nothing written."""
    return carry_out(ctx, request, REDO, _plan, dry)


def has_undone(ctx: Context, session: str) -> bool:
    """True when a session took something back and did not bring it back yet."""
    with survey(ctx, session, None, has_undo) as found:
        return bool(waiting(found))


def has_undo(state: PathState) -> bool:
    """True where any session took something back."""
    return any(record.op == UNDO for record in state.journal.records)


class UndoCall(NamedTuple):
    """One undo: its name, and its record in each path."""

    call: str
    records: dict[bytes, Record]


def waiting(found: Survey) -> list[UndoCall]:
    """The undos of a session that were not brought back, the latest first."""
    back = {
        (path, unit.partition(".")[0])
        for path in found.states
        for record in found.own(path)
        if record.op in (REDO, RESTORE)  # a restore brings a whole file back
        for unit in record.units
    }
    out: dict[str, UndoCall] = {}
    for path, record in reversed(in_order(found)):
        if record.op == UNDO and record.call and (path, str(record.offset)) not in back:
            out.setdefault(record.call, UndoCall(record.call, {})).records[path] = record
    return list(out.values())


def _plan(ctx: Context, request: UndoRequest) -> UndoPlan:
    made = UndoPlan(new_call(REDO))
    with survey(ctx, request.session, request.match, has_undo) as found:
        for one in waiting(found):
            for path, record in sorted(one.records.items()):
                if path in found.barred:
                    made.left.append(found.barred[path])
                else:
                    _bring_path(found, path, record, made)
            if made.changes or made.left:
                break  # nothing of this undo is left to bring back, so it is passed over
    return made


def _bring_path(found: Survey, path: bytes, undo: Record, made: UndoPlan) -> None:
    if not undo.units:
        made.take(whole_files.redone(found, path, undo, REDO, made.call))
        return
    stale = by_lines.why_untold(found, path)
    if stale is not None:
        made.left.append(stale)
        return
    back = by_lines.redone(found, found.texts(path), undo)
    made.left.extend(by_lines.lefts(path, back))
    if back.units and not back.refused:
        mode = mode_before(found.content(path), undo)
        made.changes.append(by_lines.change(found, path, REDO, made.call, back, mode))


def mode_before(content: Content, undo: Record) -> int | None:
    """The mode that the undo took back, unless somebody changed the mode since."""
    now, (before, after) = content.mode, undo.mode
    same = after == (f"{now:o}" if now else None)
    return int(before, 8) if same and before in ("100644", "100755") else None
