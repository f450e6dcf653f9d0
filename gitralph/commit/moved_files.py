"""A file that was moved takes its text along: whose that is, is asked where it came from.

Both ends of a rename belong together: a commit has both or neither, and no line of another session, or
of nobody, under the new name.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from gitralph.base.quote import shown
from gitralph.commit import by_pieces, decision, path_texts
from gitralph.commit.decision import Left, Outcome
from gitralph.commit.inputs import Scene
from gitralph.git import history
from gitralph.git.texts import with_line_feeds
from gitralph.git.trees import Entry
from gitralph.hook.journal import GAP, Record, full_lines, replay, text_id
from gitralph.isolate.lines import is_telling
from gitralph.journal.pending import PathState

_FROM, _TO = "rename-from", "rename-to"


class Rename(NamedTuple):
    """One pending rename: the path it left with that record of its journal, and the path it came to."""

    old: bytes
    new: bytes
    state: PathState
    left_by: Record
    come: PathState
    """The path it came to, by the record at ``at`` of its journal."""
    at: int


def _state(scene: Scene, states: Mapping[bytes, PathState], path: bytes) -> PathState:
    return states.get(path) or scene.recorded_at(path)


def _source(scene: Scene, states: Mapping[bytes, PathState], come: PathState, to: Record) -> Rename | None:
    """Where a file came from by the rename ``to``, one of the records of ``come``."""
    old, path, records = to.other_path, come.path, come.journal.records
    if old is None:
        return _by_text(scene, states, come, to)
    state, name = _state(scene, states, old), path.decode("utf-8", "surrogateescape")
    ends = [r for r in state.journal.records if r.op == _FROM and r.other == name and r.session in scene.own]
    # a file may go to and fro: the n-th arrival is of the n-th departure
    number = [r.offset for r in records if r.op == _TO and r.other == to.other].index(to.offset)
    return Rename(old, path, state, ends[min(number, len(ends) - 1)], come, to.offset) if ends else None


def _by_text(scene: Scene, states: Mapping[bytes, PathState], come: PathState, to: Record) -> Rename | None:
    """The same for records that do not name the other end: older versions wrote such."""
    for old, state in states.items():
        for record in state.journal.records:
            fits = record.op == _FROM and record.other is None and record.before == to.after
            if fits and record.session in scene.own and old != come.path:
                return Rename(old, come.path, state, record, come, to.offset)
    return None


def _moves(scene: Scene, states: Mapping[bytes, PathState]) -> Iterator[Rename]:
    for state in states.values():
        known = [r for name in scene.own for r in (*state.void.get(name, ()), *state.pending.get(name, ()))]
        if True:
            known += [record for name in scene.own for record in state.taken.get(name, ())]
        for record in {r.offset: r for r in known}.values():
            found = _source(scene, states, state, record) if record.op == _TO else None
            if found is not None:
                yield found


def _is_committed(scene: Scene, path: bytes, text: bytes | None, commit: str | None) -> bool:
    """True when HEAD, or the HEAD of then, holds this text at ``path``."""
    if text is None:
        return False
    forms = {text_id(text).encode(), text_id(with_line_feeds(text)).encode()}
    then = history.entry_at(scene.repo, commit, path)
    return any(isinstance(entry, Entry) and entry.oid in forms for entry in (scene.reader.entry(path), then))


def _has_lines(scene: Scene, move: Rename, lines: set[bytes]) -> bool:
    """True when HEAD had lines at the old path when the file was moved from there."""
    entry = history.entry_at(scene.repo, move.left_by.head, move.old) if lines else None
    there = scene.repo.objects.raw(entry.oid)[1] if isinstance(entry, Entry) else b""
    return lines <= _lines(there)


def _is_waiting(state: PathState, record: Record) -> bool:
    """True where no commit has it: pending, or without effect at the old path since the file moved."""
    known = (*state.pending.get(record.session, ()), *state.void.get(record.session, ()))
    return any(record is one for one in known)


def _foreign(scene: Scene, states: Mapping[bytes, PathState], move: Rename) -> str | None:
    """Whose uncommitted text a move took along: another session, or nobody; None when it is all known.

    Goes back from the text that was moved, step by step, to one that is committed or this session's.
    """
    texts = {r.offset: before for r, before, _ in replay(move.state.journal, scene.layout)}
    at, text, head = move.left_by.before, texts.get(move.left_by.offset), move.left_by.head
    if not move.left_by.is_exact:
        return None  # known by its path: the rules of the old path judge it
    for record in reversed(move.state.journal.records):
        if record.offset >= move.left_by.offset:
            continue
        if _is_committed(scene, move.old, text, head):
            return None
        # A text that no record leads to: somebody wrote there before the move.
        if record.after != at:
            return decision.UNRECORDED
        if record.session not in scene.own and _is_waiting(move.state, record):
            return record.session
        if not record.is_exact:
            return None
        # A commit notes what nobody recorded as a whole, also where it took some of it only.
        if record.op == GAP and not _has_lines(scene, move, _lines(text) - _lines(texts.get(record.offset))):
            return decision.UNRECORDED
        if record.op == _TO:
            before = _source(scene, states, move.state, record)
            return _foreign(scene, states, before) if before is not None else None
        at, text, head = record.before, texts.get(record.offset), record.head
    return None if at is None or _is_committed(scene, move.old, text, head) else decision.UNRECORDED


def _judge(
    scene: Scene, states: Mapping[bytes, PathState], move: Rename, old: Outcome | None, found: Outcome
) -> Outcome:
    """What becomes of the new path: as decided, or refused for the text that came along."""
    found = _with_head(scene, move, old, found)
    if _lost_with_head(scene, move, found):
        detail = f"it was moved here from '{shown(move.old)}' with lines that HEAD has no longer"
        left = Left(move.new, decision.CONTESTED, detail, (decision.UNRECORDED,))
        return found._replace(content=None, uses=(), left=(left,))
    if True:
        return _without_others(scene, move, found)
    who = _foreign(scene, states, move) if found.content is not None else None
    if who is None or _is_away(scene, move, found) or _is_over(scene, move) or _was_own_text(scene, move):
        return found
    whose = "lines that nobody recorded" if who == decision.UNRECORDED else f"lines of session '{who}'"
    detail = f"it was moved here from '{shown(move.old)}' with {whose}"
    left = Left(move.new, decision.CONTESTED, detail, (who,))
    return found._replace(content=None, uses=(), left=(left,))


def _without_others(scene: Scene, move: Rename, found: Outcome) -> Outcome:
    """The same for lines: refused where the commit brings lines of others that came with the file."""
    if found.content is None or found.content.data is None or not move.left_by.is_exact:
        return found
    came = _lines(found.content.data)
    for path in (move.old, move.new):
        entry = scene.reader.entry(path)
        came -= _lines(scene.repo.objects.raw(entry.oid)[1]) if entry is not None else set()
    along = by_pieces.lines_along(scene, move.state, move.left_by)
    whose = {along[line] or decision.UNRECORDED for line in along if line in came and line.strip()}
    whose -= set(found.includes)
    if not whose:
        return found
    who = sorted(whose)[0]
    text = "lines that nobody recorded" if who == decision.UNRECORDED else f"lines of session '{who}'"
    left = Left(
        move.new, decision.CONTESTED, f"it was moved here from '{shown(move.old)}' with {text}", (who,)
    )
    return found._replace(content=None, uses=(), left=(left,))


def _with_head(scene: Scene, move: Rename, old: Outcome | None, found: Outcome) -> Outcome:
    """What HEAD got at the old path since the move (a rebase, a reset) and the file has must not go."""
    entry, disk = scene.reader.entry(move.old), scene.contents[move.new]
    if entry is None or disk.data is None or scene.reader.entry(move.new) is not None:
        return found
    if found.content is None or found.content.data is None or found.content.data == disk.data:
        return found
    there = scene.repo.objects.raw(entry.oid)[1]
    # only with the removal of the old path are they moved, and not there twice
    goes = old is not None and old.content is not None and old.content.absent
    if goes and there in (disk.data, with_line_feeds(disk.data)):
        return found._replace(content=found.content._replace(data=disk.data))
    left_out = set(full_lines(with_line_feeds(there))) & set(full_lines(with_line_feeds(disk.data)))
    if left_out <= set(full_lines(with_line_feeds(found.content.data))):
        return found
    detail = f"it was moved here from '{shown(move.old)}', where HEAD has lines since that it does not record"
    left = Left(move.new, decision.CONTESTED, detail, (decision.UNRECORDED,))
    return found._replace(content=None, uses=(), left=(left,))


def _lost_with_head(scene: Scene, move: Rename, found: Outcome) -> bool:
    """True when the commit brings lines that came with the move, and HEAD and the file have no more."""
    if found.content is None or found.content.data is None:
        return False

    came, own = set[bytes](), set[bytes]()
    for record, before, after in replay(move.state.journal, scene.layout):
        if record.offset == move.left_by.offset:
            came = _lines(before)
        elif record.session in scene.own:
            own |= _lines(after) - _lines(before)
    came = (came & _lines(found.content.data)) - own - _lines(scene.contents[move.new].data)
    for path in (move.old, move.new):
        entry = scene.reader.entry(path) if came else None
        came -= _lines(scene.repo.objects.raw(entry.oid)[1]) if entry is not None else set()
    return any(map(is_telling, came))


def _lines(text: bytes | None) -> set[bytes]:
    return {line.rstrip(b"\n") for line in full_lines(with_line_feeds(text or b""))}


def _is_away(scene: Scene, move: Rename, found: Outcome) -> bool:
    """True when the commit brings no line of what was moved: a reset or a stash took it away again."""
    if found.content is None or found.content.data is None:
        return False
    texts = {r.offset: after for r, _, after in replay(move.come.journal, scene.layout)}
    entry, moved = scene.reader.entry(move.new), texts.get(move.at)
    if entry is None or moved is None:
        return False
    there = scene.repo.objects.raw(entry.oid)[1]
    brought = set(full_lines(found.content.data)) - set(full_lines(there))
    return brought.isdisjoint(full_lines(moved))


def _is_over(scene: Scene, move: Rename) -> bool:
    """True when somebody has committed the file since under its new name."""
    return path_texts.has_passed(scene, move.come, move.at)


def _was_own_text(scene: Scene, move: Rename) -> bool:
    """As ``separate.was_own_text`` of what was moved."""
    return True


def settle(
    scene: Scene, states: Mapping[bytes, PathState], decided: Iterable[Outcome]
) -> tuple[list[Outcome], list[tuple[bytes, bytes]]]:
    """The outcomes with moved texts of others refused, and the paths that must be committed together."""
    by_path = {one.path: one for one in decided}
    if scene.wishes.whole_file:
        return list(by_path.values()), []  # each path was named, to be taken as it stands
    moves = list(_moves(scene, states))
    for move in moves:
        old, new = by_path.get(move.old), by_path[move.new]
        # where the old path is refused already, one reason is enough; but some of it may be skipped only
        told = old is not None and _refuses(old) and not scene.wishes.skip_entangled
        if new.taken and not told:
            by_path[move.new] = _judge(scene, states, move, old, new)
    return list(by_path.values()), [(move.old, move.new) for move in moves]


def _refuses(found: Outcome) -> bool:
    return any(left.refuses for left in found.left)
