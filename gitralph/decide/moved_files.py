"""Files that were moved. A moved file takes text along, and its old path knows whose that text is.

A rename has two ends, and a commit has both or neither. Lines of other sessions or of nobody never land under
the new name.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from gitralph.base.kinds import Kind, Why
from gitralph.decide import by_pieces, decision, path_texts, text_chain
from gitralph.decide.decision import Left, Outcome
from gitralph.decide.inputs import Scene, read_blob, uses
from gitralph.git import history, index
from gitralph.git.snapshot import ABSENT
from gitralph.hook.journal import GAP, Record
from gitralph.hook.record import path_text
from gitralph.records.path_records import PathState

_FROM, _TO = "rename-from", "rename-to"


class Rename(NamedTuple):
    """One rename. ``left_by`` is the record in the old path's journal with which the file left."""

    old: bytes
    new: bytes
    state: PathState
    left_by: Record


def _moves(scene: Scene, states: Iterable[PathState]) -> Iterator[Rename]:
    """The own moves that brought these files, each pair of paths once."""
    for state in states:
        own = (r for r in state.journal.records if r.op == _TO and r.session in scene.own)
        name = path_text(state.path)
        for old in dict.fromkeys(r.other_path for r in own if r.other_path is not None):
            there = scene.states.get(old) or scene.recorded_at(old)
            gone = (r for r in there.journal.records if r.op == _FROM and r.session in scene.own)
            ends = [r for r in gone if r.other == name]
            if ends:
                yield Rename(old, state.path, there, ends[-1])


def _at_old_paths(scene: Scene, state: PathState) -> Iterator[PathState]:
    """The states of the paths that a file had before, the last first."""
    seen, to = {state.path}, text_chain.arrival(scene, state)
    while to is not None and to.other_path is not None and to.other_path not in seen:
        seen.add(to.other_path)
        state = scene.recorded_at(to.other_path)
        yield state
        to = text_chain.arrival(scene, state)


def _without_others(scene: Scene, move: Rename, found: Outcome) -> Outcome:
    """Refuse the new path where it would commit lines of others that came with the file."""
    if found.content is None or found.content.data is None or not move.left_by.is_exact:
        return found
    came = path_texts.line_set(found.content.data)
    for path in (move.old, move.new):
        entry = scene.reader.entry(path)
        came -= path_texts.line_set(read_blob(scene, entry)) if entry is not None else set()
    along = by_pieces.lines_along(scene, move.state, move.left_by)
    whose = {along[line] or decision.UNRECORDED for line in along if line in came and line.strip()}
    # Without this option only a person's correction was included, and nothing that came along with the file.
    if scene.wishes.include_entangled:
        whose -= set(found.includes)
    if not whose:
        return found
    who = sorted(whose)[0]
    why = Why(Kind.MOVED_WITH_LINES, (who,), move.old)
    if who == decision.UNRECORDED:
        why = Why(Kind.MOVED_WITH_NOBODYS, path=move.old)
    left = Left(move.new, decision.CONTESTED, why, (who,))
    return found._replace(content=None, uses=(), left=(left,))


def settle(
    scene: Scene, decided: Iterable[Outcome], is_named: bool
) -> tuple[list[Outcome], list[tuple[bytes, bytes]]]:
    """Refuse moved files that bring lines of others, and complete a move that another session began.

    Where paths were named, nothing is completed. Returns the outcomes, and the pairs of paths of each rename.
    A commit must have both paths of a pair or neither.
    """
    by_path = {one.path: one for one in decided}
    if scene.wishes.whole_file:
        return list(by_path.values()), []  # the user named each path, to be taken as it stands
    for path, found in by_path.items():
        # what another moved is taken with his lines, never with those that came along with the file
        if scene.wishes.include_entangled and found.includes and found.taken:
            wide = replace(scene, family=(*scene.family, *found.includes))
            state = scene.states[path]
            for move in _moves(wide, [state, *_at_old_paths(scene, state)]):
                by_path[path] = _without_others(wide, move._replace(new=path), by_path[path])
    for path, found in by_path.items():
        to = text_chain.arrival(scene, scene.states[path]) if found.taken else None
        if to is not None and to.session not in scene.own:  # moved on from where the session had moved it
            for move in _moves(scene, _at_old_paths(scene, scene.states[path])):
                by_path[path] = _without_others(scene, move._replace(new=path), by_path[path])
    taken = [] if is_named else [path for path, found in by_path.items() if found.taken]
    ends = [(one, path) for path in taken for one in _first_end(scene, path)]
    by_path |= {one.path: one for one, _ in ends}
    moves = list(_moves(scene, [scene.states[path] for path in by_path if path in scene.states]))
    for move in moves:
        old, new = by_path.get(move.old), by_path[move.new]
        # One reason is enough where the old path is refused already. With --skip-entangled perhaps only some
        # lines of the old path are left out, so the new path is judged too.
        told = old is not None and _refuses(old) and not scene.wishes.skip_entangled
        if new.taken and not told:
            by_path[move.new] = _without_others(scene, move, new)
        elif old is not None and old.taken and _was_taken_back(scene, move):
            by_path[move.old] = decision.refused(move.old, decision.GONE, Why(Kind.GONE), [])
        elif old is not None and old.taken and not _refuses(new):
            left = _not_arrived(scene, scene.states[move.new], move)
            by_path[move.new] = new._replace(uses=(), left=(left,)) if left else new
    pairs = [*((move.old, move.new) for move in moves), *((one.path, path) for one, path in ends)]
    return list(by_path.values()), pairs


def _first_end(scene: Scene, path: bytes) -> Iterator[Outcome]:
    """The removal of a file that another session moved before this one moved it on, where HEAD has it still.

    Without it HEAD would have the file twice, and no rename. A trailer names who moved it first. Who used the
    old name again since has that end for a commit of his own.
    """
    to, old = text_chain.arrival(scene, scene.states[path]), path_texts.moved_from(scene, scene.states[path])
    if to is None or to.session not in scene.own or old is None:
        return
    on = path
    for there in _at_old_paths(scene, scene.states[path]):
        last = there.journal.records[-1]
        is_end = there.path == old and (last.op, last.other) == (_FROM, path_text(on))
        is_held = is_end and any(index.left_out(scene.repo.git, scene.repo.root, [old]))
        if is_end and last.session not in scene.own and not is_held:
            mover = frozenset([last.session])
            yield Outcome(old, ABSENT, uses=uses(scene, there, mover), includes=mover)
        on = there.path


def _not_arrived(scene: Scene, come: PathState, move: Rename) -> Left | None:
    """The reason why the new path must go although nothing of it does: a commit would only delete the old."""
    if _is_lost(scene, come):
        why = Why(Kind.MOVED_OVER_TEXT, path=move.old)
        return Left(move.new, decision.CONTESTED, why, (decision.UNRECORDED,))
    by = _moved_on(scene, come)
    return Left(move.new, decision.ENTANGLED, Why(Kind.MOVED_BY, (by,)), (by,)) if by else None


def _was_taken_back(scene: Scene, move: Rename) -> bool:
    """True when the new path is as in HEAD again, and nobody's deletion took the old one, which was back too.

    No words tell one deletion from another. A stash that brings the move again brings both ends.
    """
    last = move.state.journal.records[-1]
    is_nobodys = last.op == GAP and last.after is None and scene.own.isdisjoint(last.may)
    return scene.is_as_in_head(move.new) and is_nobodys


def _moved_on(scene: Scene, come: PathState) -> str | None:
    """The other session that moved the file on to where HEAD does not have it yet."""
    last = next((r for r in reversed(come.journal.records) if r.op != GAP), None)
    if last is None or last.op != _FROM or last.session in scene.own or last.other_path is None:
        return None
    now = scene.reader.entry(last.other_path)
    waits = now is None or now == history.entry_at(scene.repo, last.head, last.other_path)
    return last.session if waits and scene.contents[come.path].absent else None


def _is_lost(scene: Scene, come: PathState) -> bool:
    """True when the move replaced a text that no commit holds and that nothing on disk holds any more.

    The file is as the move left it, HEAD has another text there, and HEAD never held a later one.
    """
    last = [r for r in come.journal.records if r.op == _TO and r.session in scene.own][-1]
    if text_chain.content_id(scene.contents[come.path]) != last.after:
        return False
    return not scene.is_as_in_head(come.path) and not path_texts.has_passed(scene, come, last.offset)


def _refuses(found: Outcome) -> bool:
    return any(left.refuses for left in found.left)
