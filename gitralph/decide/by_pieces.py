"""Asks ``lines`` what a session commits of one path, and turns the answer into an outcome.

This module gathers what ``lines`` needs: the texts, the steps, and the texts that HEAD held earlier. What
earlier commits took decides nothing; it only tells which notes are no news.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from gitralph.base.kinds import Kind, Why
from gitralph.decide import decision, path_texts, text_chain
from gitralph.decide.decision import Left, Note, Outcome
from gitralph.decide.inputs import Scene, records_of, text_at, uses
from gitralph.decide.path_texts import PathTexts
from gitralph.git.snapshot import ABSENT, Content
from gitralph.hook import windows
from gitralph.hook.journal import GAP, Record, replay, text_id
from gitralph.lines import choose, pieces
from gitralph.lines.attempt import Attempt
from gitralph.lines.order import chain
from gitralph.lines.pieces import Pieces
from gitralph.lines.terms import GAP as GAP_KEY
from gitralph.lines.terms import (
    LEFT_OUT,
    OFFERED,
    STAYS_OUT,
    TAIL,
    UNRECORDED,
    LineNote,
    Separation,
    Step,
    step_of,
)
from gitralph.lines.text import difference, is_telling, split_lines
from gitralph.lines.weave import NEWLINE
from gitralph.records import commit_log, path_records
from gitralph.records.path_records import PathState

Range = tuple[int, int]


def separated(scene: Scene, state: PathState, others: list[str]) -> Outcome:
    """Decide one path line by line; refuse the path where its lines cannot be told apart.

    ``others`` are the other sessions with changes in it.
    """
    whom = others or [decision.UNRECORDED]
    barred = path_texts.whole_only(scene, state)
    if barred is not None:
        return decision.refused(state.path, barred[0], _with_others(barred[1]), whom)
    if path_texts.path_level(scene, state):
        reason = decision.CONTESTED if others else decision.UNANCHORED
        return decision.refused(state.path, reason, Why(Kind.PATH_AND_OTHERS), whom)
    known = path_texts.read(scene, state)
    if path_texts.lost_text(scene, state):
        return decision.refused(state.path, decision.UNANCHORED, path_texts.LOST_TEXT, whom)
    if known.has_binary and not scene.by_person and all(s.owner not in scene.own for s in known.steps):
        return Outcome(state.path)  # the session only moved it, away and back
    if known.has_binary:
        return decision.refused(
            state.path, decision.CONTESTED, Why(Kind.OTHERS_THERE, because=Why(Kind.BINARY)), whom
        )
    if known.disk is None and known.steps and known.steps[-1].after is not None and not scene.by_person:
        return _gone(scene, state, known.pieces)
    if known.carried and known.base is None and others and not known.is_new:
        return decision.refused(state.path, decision.CONTESTED, Why(Kind.MOVED_FROM_NOWHERE), whom)
    if state.path in scene.aside:
        known = replace(known, steps=[_as_anothers(step) for step in known.steps])
    leave = _leaves(scene)
    found = choose.separate(
        known.head,
        known.steps,
        known.disk,
        owners=scene.own,
        skip_entangled=scene.wishes.skip_entangled,
        include_entangled=scene.wishes.include_entangled,
        leave=leave,
        doubted=() if leave else _doubted(scene, state, known.steps),
        held=known.heads.lines,
        heads=known.heads.texts,
        has=known.heads.lines_then,
        moved=known.moved,
        resets=known.heads.resets,
    )
    found, kept = _on_its_lines(scene, known, found, leave)
    outcome = _outcome(scene, state, known.head, known.seen.told(found))._replace(kept=kept)
    is_empty = outcome.content is not None and outcome.content.data == b"" and bool(known.disk)
    if is_empty and not any(step.after == b"" and step.owner in scene.own for step in known.steps):
        moves = [r for r in state.journal.records if r.op == "rename-to"]
        if moves and scene.by_person:
            return Outcome(state.path)
        if moves:  # only that the file is there is the session's, and no line of it
            whom = others or _writers(known.pieces) or whom
            why = Why(Kind.MOVED_WITH_LINES, tuple(whom), moves[-1].other_path or b"")
            return decision.refused(state.path, decision.CONTESTED, why, whom)
        if any(step.after is None and step.owner in scene.own for step in known.steps):
            return outcome._replace(content=ABSENT)  # another has made anew what the session deleted
        made = list(itertools.takewhile(lambda step: step.owner in scene.own, known.steps))
        if outcome.content is not None and known.head is None and made and made[0].before is None:
            # another has written anew what the session made, and goes on top of that
            anew = known.steps[len(made) : len(made) + 1]
            if not anew or anew[0].owner is None or anew[0].before != made[-1].after:
                return _nothing(scene, state, outcome.notes)
            return outcome._replace(content=Content(outcome.content.mode, made[-1].after))
        if known.head is None and any(step.takes for step in known.steps if step.owner in scene.own):
            return Outcome(
                state.path
            )  # what a person gave of his new file is taken back, and the file is his
    if outcome.taken and not all(path_texts.has_passed(scene, state, at) for at in known.unsure_moves):
        return decision.refused(state.path, decision.CONTESTED, Why(Kind.MOVED_OVER), whom)
    return outcome


def _writers(known: Pieces) -> list[str]:
    """The sessions whose lines the file has."""
    return sorted({name for x in known.weave.order() if known.on_disk(x) and (name := known.owner(x))})


def moved_along(scene: Scene, state: PathState) -> Outcome:
    """Tell of the session's lines in a file that another session moved here.

    The lines wait until the session that moved the file commits the move. The outcome holds a note that says
    so. A move of a file that HEAD never had is nothing to commit, so nobody waits for it.
    """
    if not path_texts.has_lines(scene, state):
        return Outcome(state.path)
    texts = path_texts.read(scene, state)
    if texts.is_new:
        return separated(scene, state, text_chain.others(scene, state))
    known = texts.pieces
    if not any(known.weave.units[number].owner in scene.own for number in known.by_unit):
        # lines that HEAD had when the file was moved came with the move, and HEAD may have lost them since
        to = text_chain.arrival(scene, state)
        if to is None or not _waits(scene, state, to):
            return Outcome(state.path)
    movers = sorted({r.session for r in state.journal.records if r.op == "rename-to"})
    return Outcome(state.path, notes=(Note(state.path, Why(Kind.MOVER_FIRST, tuple(movers))),))


def moved_over(scene: Scene, state: PathState) -> str | None:
    """The other session that moved a file with lines of this one to a name that another file had before.

    The records of such a path begin with that other file, so the lines are looked for at the old path. None
    where no line still waits for the mover's commit.
    """
    to = path_records.last_arrival(state.journal)
    if to is None or to is text_chain.arrival(scene, state):
        return None
    if not path_texts.has_lines(scene, state):
        return None
    return to.session if _waits(scene, state, to) else None


def _waits(scene: Scene, state: PathState, to: Record) -> bool:
    """True where another's move brought a line of this session that HEAD has under neither name."""
    if to.other_path is None or to.session in scene.own or not scene.own & state.came_with:
        return False
    old = scene.recorded_at(to.other_path)
    left = path_records.left_by(scene.layout, old.journal, to, state.path)
    if left is None:
        return False
    mine, in_head = set[bytes](), [path_texts.head_lines(scene, state.path)]
    for path, known, _ in _old_paths(scene, old, left):
        units = enumerate(known.weave.units)
        own = (x for n, unit in units if unit.owner in scene.own for x in known.births(n))
        mine |= {text for x in own if x > NEWLINE and is_telling(text := known.weave.content(x))}
        in_head.append(path_texts.head_lines(scene, path))
    here = split_lines(path_texts.one_form(scene.contents[state.path].data))
    return bool(mine.intersection(here).difference(*in_head))


def lost(scene: Scene, state: PathState) -> tuple[Note, ...]:
    """Tell of the session's lines in a file that is as in HEAD where another session took them away."""
    if not state.owners() - scene.own or path_texts.whole_only(scene, state) is not None:
        return ()
    known = path_texts.read(scene, state)
    if path_texts.lost_text(scene, state) or known.has_binary:
        return ()
    return _told(state, choose.lost(known.pieces, known.steps, scene.own, known.heads.lines))


def _gone(scene: Scene, state: PathState, known: Pieces) -> Outcome:
    """Decide a path whose file is gone although no session recorded the deletion.

    Where lines of the session went with the file, or it had removed some of HEAD's before, the path is left
    with a reason. Nothing is committed.
    """
    own = (x for n, unit in enumerate(known.weave.units) if unit.owner in scene.own for x in known.births(n))
    went = any(known.is_history(x) and known.owner(x) is None for x in own)
    removed = (x for x in known.differing() if x > NEWLINE and known.is_removed(x))
    if went or any(known.owner(x) in scene.own for x in removed):
        return decision.refused(state.path, decision.GONE, Why(Kind.GONE), [])
    return Outcome(state.path)


def _leaves(scene: Scene) -> bool:
    """True where an unrecorded correction of the session's lines stays out of the commit."""
    # a person asks for the unrecorded lines themselves
    return scene.by_person or scene.config.choice("ralph.unrecorded", "follow", "leave") == "leave"


def _doubted(scene: Scene, state: PathState, steps: Sequence[Step]) -> set[str]:
    """The keys of the gaps that another session's shell command may have made.

    A command that ended with the text at the end of one gap made no other one, least of all where it also
    began with the text before. Where it ended with a text that nothing tells of, it may have had a part in
    any.
    """
    content = scene.contents[state.path]
    now = (text_chain.content_id(content), f"{content.mode:o}" if content.mode else None)
    first = min(records_of(scene, state), key=lambda r: r.offset, default=None)
    known = {r.after for r in state.journal.records}
    # what stood there before the session's own first edit came before any correction of it
    known |= {r.before for r in state.journal.records if first is not None and r.offset <= first.offset}
    # who only takes lines away corrects none of them
    gaps = [(s.key, s.before, s.after) for s in steps if s.owner is None and s.after is not None]
    known |= {text_id(after) for _, before, after in gaps if not difference(before, after)[1]}
    # that the file was gone tells of a command only where a record says who removed it
    if all(step.owner is None or step.after is not None for step in steps):
        known -= {None}
    told = {(r.session, r.call) for r in state.journal.records if r.by_shell}
    left = windows.left_by_others(scene.layout, state.path, now, scene.own, known, told)
    if left is not None and not left:
        return set()
    last = steps[-1].after if steps else None
    rows = [(key, _text_id(before), _text_id(after)) for key, before, after in gaps]
    rows.append((TAIL, _text_id(last), now[0]))
    every = {key for key, _, _ in rows}
    found = set[str]()
    for change in left or ():
        whole = {key for key, *texts in rows if tuple(texts) == change}
        found |= whole or {key for key, _, after in rows if after == change[1]} or every
    return every if left is None else found


def _text_id(text: bytes | None) -> str | None:
    return None if text is None else text_id(text)


def _on_its_lines(
    scene: Scene, known: PathTexts, found: Separation, leave: bool
) -> tuple[Separation, tuple[Range, ...]]:
    """Add a note for each unrecorded line that stands on the session's lines and stays out of the commit.

    Returns the separation with these notes, and the ranges of such lines: a person may give them to the
    session.
    """
    kept = [n for n in found.notes if n.why.sessions == (UNRECORDED,) and n.why.kind in STAYS_OUT]
    where = [n.lines for n in kept if n.lines]
    if scene.by_person:
        return found, ()
    if found.refused or known.seen.blocks or not (where or leave):
        return found, ()
    look = Attempt(known.pieces, scene.own, known.steps)
    if leave:
        look.follow()
    shown_lines = list(enumerate(known.pieces.weave.shown, 1))
    births = {line for unit in look.followed for line in known.pieces.births(unit)}
    told = {n for first, last in where for n in range(first, last + 1)}
    among = ranges(n for n, line in shown_lines if line in births and n not in told)
    notes = [LineNote(Why(Kind.AMONG, (UNRECORDED,)), each) for each in among]
    free = {n for n, x in shown_lines if known.pieces.is_added(x) and known.pieces.owner(x) is None}
    fresh = {n for first, last in among for n in range(first, last + 1)}
    return found._replace(notes=(*found.notes, *notes)), tuple(ranges(free & (told | fresh)))


def ranges(numbers: Iterable[int]) -> list[Range]:
    """Turn line numbers into ranges: 1, 2, 5 become (1, 2), (5, 5)."""
    out: list[Range] = []
    for number in sorted(set(numbers)):
        if out and number == out[-1][1] + 1:
            out[-1] = out[-1][0], number
        else:
            out.append((number, number))
    return out


def _with_others(why: Why) -> Why:
    """Turn the reason why lines cannot be told apart into one for refusing: others changed the file too."""
    if why.kind is Kind.MANY_EDITS:  # so many edits are a reason by themselves, whoever made them
        return why
    kind = Kind.OTHERS_CHANGED if why.kind is Kind.LARGE else Kind.OTHERS_THERE
    return Why(kind, because=why)


def beside_offers(scene: Scene, state: PathState, offer: Left) -> Outcome:
    """Decide a path for a person's commit that leaves what shell commands may have made of it."""
    found = separated(scene, state, text_chain.others(scene, state))
    named = {*found.includes, *(name for one in found.left for name in one.sessions)}
    if not found.taken or OFFERED in named:
        return Outcome(state.path, left=(offer,))
    notes = tuple(note for note in found.notes if OFFERED not in note.why.sessions)
    return found._replace(left=(*found.left, offer), notes=notes)


def _as_anothers(step: Step) -> Step:
    """A step in which a change that is only offered counts as another session's."""
    return step._replace(owner=OFFERED) if step.offered and step.owner is None else step


def _outcome(scene: Scene, state: PathState, head: bytes | None, found: Separation) -> Outcome:
    mode, is_foreign = path_texts.mode_to_commit(scene, state)
    entry = scene.reader.entry(state.path)
    same_mode = entry is None or mode == entry.mode or found.text is None
    is_same = found.text == head and same_mode
    left = tuple(Left(state.path, one.reason, one.why, one.sessions, one.lines) for one in found.left)
    notes = _told(state, _news(scene, state, found))
    if found.refused or (is_same and left):
        return Outcome(state.path, left=left, notes=notes)
    if is_same:
        return _nothing(scene, state, notes)
    content = ABSENT if found.text is None else Content(mode, found.text)
    if is_foreign and found.text is not None:
        notes = (*notes, Note(state.path, Why(Kind.MODE_LEFT)))
    included = set(found.includes) & state.records.keys()  # lines that came with a move have no record here
    used = uses(scene, state, scene.own | included, found.taken)
    includes = frozenset((*found.includes, *_perhaps(scene, state, found)))
    return Outcome(state.path, content, decision.EDITS, left, used, notes, includes=includes)


def _perhaps(scene: Scene, state: PathState, found: Separation) -> set[str]:
    """The other sessions that may have made what goes along of nobody's."""
    keys = {step_of(unit) for unit in found.taken}
    gone = (r for r in state.journal.records if r.op == GAP and f"{GAP_KEY}{r.offset}" in keys)
    return {name for record in gone for name in record.may} - scene.own


def _news(scene: Scene, state: PathState, found: Separation) -> list[LineNote]:
    """The notes but for those said by an earlier commit, or about pieces that HEAD has already."""
    fresh = {str(r.offset) for name in scene.own for r in state.untold(name)}
    said = {row for name in scene.own for row in commit_log.said(state.journal, name)}

    def is_news(note: LineNote) -> bool:
        if scene.by_person:
            # a person reads all notes but STAYS_OUT: no record of a person's can be lost
            return note.why.kind not in STAYS_OUT
        if note.why.kind in LEFT_OUT and are_committed(scene, state, note.units):
            return False
        is_once = note.why.kind in LEFT_OUT or note.why.kind is Kind.REMOVAL_STAYS
        is_fresh = any(step_of(unit) in fresh for unit in note.units)
        return not is_once or is_fresh or commit_log.row_of(note.why) not in said

    notes = list(filter(is_news, found.notes))
    told = {unit for note in notes if note.why.kind is not Kind.REMOVAL_STAYS for unit in note.units}
    # what became of a text says enough of the removal that came with it
    return [n for n in notes if n.why.kind is not Kind.REMOVAL_STAYS or told.isdisjoint(n.units)]


def are_committed(scene: Scene, state: PathState, units: Sequence[str]) -> bool:
    """True when commits took all of these pieces, and HEAD or a branch holds those commits.

    What happened to the lines afterwards is history, or is on another branch.
    """
    took = [commit_log.taking(state.journal, unit) for unit in units]
    return bool(took) and all(any(_is_held(scene, oid) for oid in one) for one in took)


def _is_held(scene: Scene, oid: str) -> bool:
    if scene.contains(oid):
        return True
    words = ("for-each-ref", "--count=1", "--format=x", f"--contains={oid}", "refs/heads/")
    return bool(scene.bench.git.at(scene.repo.root).try_run(*words).stdout)


def _nothing(scene: Scene, state: PathState, notes: tuple[Note, ...]) -> Outcome:
    """Make the outcome of a path of which the session has no line to commit; it is noted once."""
    if not notes and not any(state.untold(name) for name in scene.own):
        return Outcome(state.path)
    unchanged = Left(state.path, decision.UNCHANGED, Why(Kind.NOTHING_TO_COMMIT))
    if not notes:
        notes = (Note(state.path, Why(Kind.IN_HEAD_OR_GONE)),)
    return Outcome(state.path, left=(unchanged,), uses=uses(scene, state, taken=()), notes=notes)


def _told(state: PathState, notes: Iterable[LineNote]) -> tuple[Note, ...]:
    return tuple(Note(state.path, one.why, one.lines) for one in notes)


def _as_it_left(scene: Scene, state: PathState, left_by: Record) -> tuple[Pieces, list[Record]]:
    """The pieces of a file, and its records, when it was moved away with the record ``left_by``."""
    texts = [(r, b, a) for r, b, a in replay(state.journal, scene.layout) if r.is_exact]
    moved = next((before for r, before, _ in texts if r.offset == left_by.offset), None)
    texts = [row for row in texts if row[0].offset < left_by.offset]
    head = text_at(scene, left_by.head, state.path)
    head, moved = path_texts.one_form(head), path_texts.one_form(moved)
    rows = [path_texts.as_step(r, path_texts.one_form(b), path_texts.one_form(a)) for r, b, a in texts]
    rows = [s._replace(undoes=(), restores=()) for s in rows]
    steps = chain(rows, rows[0].before if rows else head)
    return pieces.pieces(head, moved, steps), [r for r, _, _ in texts]


def lines_along(scene: Scene, state: PathState, left_by: Record) -> dict[bytes, str | None]:
    """List the lines that a moved file brought from its old paths and that neither HEAD nor the session has.

    ``left_by`` is the record with which the file left the last of them. Returns each line's text with its
    owner, None for nobody. Who moved a line wrote it no more than who moves it now.
    """
    found = dict[bytes, str | None]()
    for _, known, came in _old_paths(scene, state, left_by):
        for line in known.differing():
            unit = known.weave.units[known.unit(line)]
            is_told = unit.owner in scene.own or step_of(unit.key) in came
            if line > NEWLINE and known.is_added(line) and not is_told:
                found[known.weave.content(line)] = unit.owner
    return found


def _old_paths(
    scene: Scene, state: PathState, left_by: Record
) -> Iterator[tuple[bytes, Pieces, Collection[str]]]:
    """Each path that a moved file had, its pieces when it left, and the keys of the moves that brought it."""
    todo, seen = [(state, left_by)], {(state.path, left_by.offset)}
    while todo:
        state, left_by = todo.pop()
        known, records = _as_it_left(scene, state, left_by)
        came = set[str]()
        for one in (r for r in records if r.op == "rename-to" and r.other_path is not None):
            old = scene.recorded_at(one.other_path or b"")
            end = path_records.left_by(scene.layout, old.journal, one, state.path)
            if end is None:
                continue
            came.add(str(one.offset))
            if (old.path, end.offset) not in seen:  # a file may go back and forth
                seen.add((old.path, end.offset))
                todo.append((old, end))
        yield state.path, known, came
