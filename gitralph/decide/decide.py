"""Decides for each pending path of a session what of it goes into the commit.

This module decides whole files. ``by_pieces`` decides files whose lines must be told apart. A ``Scene`` goes
in and an ``Outcome`` comes out. Nothing is written but blobs.
"""

from gitralph.base.kinds import Kind, Why
from gitralph.decide import by_pieces, decision, path_texts, text_chain
from gitralph.decide.decision import Left, Note, Outcome
from gitralph.decide.inputs import Scene, read_blob, records_of, uses
from gitralph.git import history
from gitralph.git.snapshot import Content
from gitralph.git.trees import GITLINK, Entry
from gitralph.hook.journal import GAP, Record, replay
from gitralph.lines.text import difference, is_telling, split_lines
from gitralph.records import path_records
from gitralph.records.path_records import PathState


def _take(scene: Scene, state: PathState, how: str, *whys: Why) -> Outcome:
    content = scene.contents[state.path]
    notes = tuple(Note(state.path, why) for why in whys)
    return Outcome(state.path, content, how, uses=uses(scene, state), notes=notes)


def _void(scene: Scene, state: PathState) -> Outcome:
    """The outcome of a path with nothing to commit; a note says so once."""
    kind = Kind.AS_IN_HEAD
    if scene.contents[state.path].absent:
        first = next(iter(state.journal.records), None)
        is_made = first is not None and first.before is None and not first.unknown_before
        kind = Kind.CREATED_AND_DELETED if is_made else Kind.NOWHERE
    notes = by_pieces.lost(scene, state) if kind is Kind.AS_IN_HEAD else ()
    notes = notes or (Note(state.path, Why(kind, tuple(sorted(state.owners() - scene.own)))),)
    left = Left(state.path, decision.UNCHANGED, Why(Kind.SAME))
    return Outcome(state.path, left=(left,), uses=uses(scene, state), notes=notes)


def decide(scene: Scene, state: PathState) -> Outcome:
    """Decide one path, and tell of lines that another session moved to a name that was in use."""
    found = _decided(scene, state)
    mover = None if scene.by_person else by_pieces.moved_over(scene, state)
    if mover is None:
        return found
    return found._replace(notes=(*found.notes, Note(state.path, Why(Kind.MOVER_FIRST, (mover,)))))


def _decided(scene: Scene, state: PathState) -> Outcome:
    """The first rule that applies gives the outcome.

    Where other sessions have changes, the lines are told apart at once. Else rules for whole files come
    first: a file known by its path alone, a file without lines, a file that the session alone changed.
    """
    path, content = state.path, scene.contents[state.path]
    if scene.by_person:
        return _take_of_nobody(scene, state) if path_texts.is_back(scene, state) else _of_nobody(scene, state)
    if not state.owners() & scene.own:
        return Outcome(path)
    # The user named this path, so no rule below keeps it out. The rules that protect the repository have been
    # applied in `inputs.look`.
    if scene.wishes.whole_file:
        return _take_whole(scene, state)
    # This rule holds for a new path only: git never ignores a file that it tracks (gitignore(5)).
    if path in scene.ignored:
        return decision.refused(state.path, decision.IGNORED, Why(Kind.IGNORED), [])
    if content.absent and _is_moved_away(scene, state):
        return _outcome_of_move(scene, state)
    if not (set(state.records) | state.bare) & scene.own:
        to = text_chain.arrival(scene, state)
        if to is None:
            return Outcome(path)  # moved over another file: `moved_over` asks at the old path
        if _waits_for_its_move(scene, path, to):
            return by_pieces.moved_along(scene, state)
    if path_texts.is_back(scene, state):
        return Outcome(path)
    others = text_chain.others(scene, state)
    if content.mode == GITLINK and not others:
        return _submodule(scene, state)
    if scene.is_as_in_head(path):
        is_told = not any(state.untold(name) for name in scene.own) and not state.bare & scene.own
        return Outcome(path) if is_told else _void(scene, state)
    if others:
        return by_pieces.separated(scene, state, others)
    is_path_level = path_texts.path_level(scene, state)
    if is_path_level and (makers := text_chain.makers(scene, state)):
        return by_pieces.separated(scene, state, makers)
    is_whole = is_path_level or not path_texts.has_lines(scene, state)
    # Other sessions' lines may stand in the file, or a write that did not know of them may have removed them.
    if (is_whole or not state.owners() - scene.own) and _is_explained(scene, state):
        # Nearly every commit goes this way: the session's own exact records lead from HEAD to the file, so no
        # line needs to be separated.
        return _take_edits(scene, state)
    return _whole(scene, state) if is_whole else by_pieces.separated(scene, state, [])


def _waits_for_its_move(scene: Scene, path: bytes, to: Record) -> bool:
    """True while HEAD has no file here, or still the one that ``to`` moved another over."""
    now, old = scene.reader.entry(path), to.other_path
    if now is None or now != history.entry_at(scene.repo, to.head, path):
        return now is None
    # where both files were the same, only the old path tells that the move is in HEAD
    return old is None or scene.reader.entry(old) == history.entry_at(scene.repo, to.head, old)


def _is_moved_away(scene: Scene, state: PathState) -> bool:
    """True for a file that was moved away with changes of others in it; the new path decides these."""
    last = state.journal.records[-1] if state.journal.records else None
    if last is None or last.op != "rename-from" or last.other_path is None:
        return False
    there = scene.recorded_at(last.other_path)
    to = text_chain.arrival(scene, there)
    if (
        to is None
        or to.other_path != state.path
        or path_records.left_by(scene.layout, state.journal, to, there.path) is not last
    ):
        return False
    return bool(there.came_with - scene.own) or not state.owners() <= scene.own


def _outcome_of_move(scene: Scene, state: PathState) -> Outcome:
    last = state.journal.records[-1]
    if last.session in scene.own and not scene.is_as_in_head(state.path):
        return _take_edits(scene, state)
    if scene.reader.entry(state.path) is None:
        return Outcome(state.path)  # the deletion went along in the commit that took the new path
    return by_pieces.separated(scene, state, text_chain.others(scene, state))


def _of_nobody(scene: Scene, state: PathState) -> Outcome:
    """Decide a path for a person's commit: everything of it that no session owns.

    Where no session has anything in the path, the person gets all of it.
    """
    path, content = state.path, scene.contents[state.path]
    if path in scene.ignored:
        return decision.refused(state.path, decision.IGNORED, Why(Kind.IGNORED), [])
    others = text_chain.others(scene, state)
    if path in scene.aside:
        return by_pieces.beside_offers(scene, state, scene.aside[path])
    if not others:
        if content.mode != GITLINK:
            if scene.is_as_in_head(path):
                return Outcome(path)
            if path_texts.has_lines(scene, state) and _is_session_s_again(scene, state):
                return by_pieces.separated(scene, state, [])
            return _take_of_nobody(scene, state)
        found = _submodule(scene, state)
        return found if found.taken else Outcome(path)
    if scene.is_as_in_head(path) or content.mode == GITLINK:
        return Outcome(path)
    claimed = sorted(path_texts.claimants(state))
    if claimed:
        left = Left(path, decision.CONTESTED, Why(Kind.ONLY_ITS_PATH), tuple(claimed), optional=True)
        return Outcome(path, left=(left,))
    head = scene.reader.entry(path)
    is_modes = head is not None and path_texts.mode_to_commit(scene, state)[0] != head.mode
    if not is_modes and _is_explained(scene, state):
        return Outcome(path)
    return by_pieces.separated(scene, state, others)


def _take_of_nobody(scene: Scene, state: PathState) -> Outcome:
    content, head = scene.contents[state.path], scene.reader.entry(state.path)
    now = scene.entries.get(state.path)
    if head is not None and now is not None:  # a session may have changed the mode alone
        mode, _ = path_texts.mode_to_commit(scene, state)
        if now._replace(mode=mode) == head:
            return Outcome(state.path)
        content = Content(mode, content.data)
    return _take(scene, state, decision.WHOLE_FILE)._replace(content=content)


def _is_session_s_again(scene: Scene, state: PathState) -> bool:
    """True where a telling line differs from HEAD as a session had once recorded it.

    A popped stash brings that back, or a hook rewrote the line in the commit alone.
    """
    entry = scene.reader.entry(state.path)
    head = read_blob(scene, entry) if entry is not None else None
    told = [r for r in replay(state.journal, scene.layout) if r[0].op != GAP]
    now = path_texts.one_form(scene.contents[state.path].data)
    went, came = (set(filter(is_telling, lines)) for lines in difference(path_texts.one_form(head), now))
    for _, before, after in told if went or came else ():
        gone, fresh = difference(path_texts.one_form(before), path_texts.one_form(after))
        if not (went.isdisjoint(gone) and came.isdisjoint(fresh)):
            return True
    return False


def _is_explained(scene: Scene, state: PathState) -> bool:
    """True when records lead, one by one, from HEAD's text to the file's."""
    since = text_chain.since_head(scene, state)
    first = next((r for r in since if r.is_exact), None)
    is_from_head = first is not None and first.before in scene.head_ids(state.path)
    is_told = is_from_head and text_chain.explains(since, scene.contents[state.path])
    return is_told and not _had_been_so(scene, state, since[0].offset)


def _had_been_so(scene: Scene, state: PathState, offset: int) -> bool:
    """True where a line that the file has and HEAD lacks, or the other way round, was so at an older record.

    Then the records since the file was as in HEAD may only have brought back what somebody else had done.
    """
    earlier = [r for r in state.journal.records if r.offset < offset]
    if not earlier or not path_texts.has_lines(scene, state) or _is_all_own(scene, state):
        return False
    entry = scene.reader.entry(state.path)
    head = None if entry is None else read_blob(scene, entry)
    now = scene.contents[state.path].data
    went, came = (set(filter(is_telling, lines)) for lines in difference(head, now))
    for record, *texts in replay(state.journal, scene.layout):
        for text in texts if record.offset < offset else ():
            lines = set(split_lines(text))
            if not came.isdisjoint(lines) or (text is not None and not went <= lines):
                return True
    return False


def _is_all_own(scene: Scene, state: PathState) -> bool:
    """True where the session's records alone lead from a text of HEAD's past to the file.

    Then nobody else's work can have come back, and no weave is needed however often it rewrote its lines.
    """
    records, own = state.journal.records, records_of(scene, state)
    first = records[0]
    if len(own) != len(records) or not text_chain.explains(records, scene.contents[state.path]):
        return False
    then = history.entry_at(scene.repo, first.head, state.path) if first.head else None
    is_from_head = isinstance(then, Entry) and then.oid.decode() == first.before
    return is_from_head and scene.contains(first.head or "")


def _whole(scene: Scene, state: PathState) -> Outcome:
    """Decide a path that has no lines, or is known by its path alone, where nobody else has anything.

    A path that a person claimed by hand goes as it stands. A path that a hook recorded goes only while the
    file is as it was recorded.
    """
    content = scene.contents[state.path]
    if state.bare & scene.own:
        # a damaged record may be that of this claim, which then had lines
        if state.journal.damaged or state.journal.length > state.journal.size:
            return decision.refused(state.path, decision.UNANCHORED, path_texts.LOST_TEXT, [])
        return _take(scene, state, decision.WHOLE_FILE, Why(Kind.AS_IT_STANDS))
    late = {r.offset for r in text_chain.since_head(scene, state)}
    open_ = {r.offset for name in scene.own for r in state.untold(name)}
    mine = [r for r in records_of(scene, state) if r.offset in (late if r.is_exact else open_)]
    if not mine:
        return Outcome(state.path)
    last = state.journal.records[-1]
    if content.absent and last.after is not None:
        return decision.refused(state.path, decision.GONE, Why(Kind.GONE), [])
    # A deletion known by its path alone has the same effect as an exact one: the file is gone.
    is_deleted = content.absent and last is mine[-1] and not last.is_exact
    if is_deleted or not any(r.is_exact for r in state.journal.records if r.offset >= mine[0].offset):
        if last.after == text_chain.content_id(content):
            return _take(scene, state, decision.WHOLE_FILE, Why(Kind.AS_IT_STANDS))
        return decision.refused(state.path, decision.UNANCHORED, Why(Kind.PATH_AND_CHANGED), [])
    return by_pieces.separated(scene, state, [])


def _take_edits(scene: Scene, state: PathState) -> Outcome:
    found, content = _take(scene, state, decision.EDITS), scene.contents[state.path]
    if content.absent:
        return found
    mode, is_foreign = path_texts.mode_to_commit(scene, state)
    notes = (Note(state.path, Why(Kind.MODE_LEFT)),) if is_foreign else ()
    return found._replace(content=Content(mode, content.data), notes=notes)


def _submodule(scene: Scene, state: PathState) -> Outcome:
    """Decide a submodule: its gitlink moves when the session recorded the gitlink itself."""
    oid = history.submodule_head(scene.repo, state.path)
    if oid is None:
        return decision.refused(state.path, decision.SUBMODULE, Why(Kind.NO_COMMIT), [])
    entry = Entry(GITLINK, oid)
    if scene.reader.entry(state.path) == entry:
        return _void(scene, state)
    return (_take(scene, state, decision.WHOLE_FILE))._replace(entry=entry)


def _take_whole(scene: Scene, state: PathState) -> Outcome:
    """Decide a path for ``--whole-file``: it goes as it stands, whoever changed it."""
    if scene.contents[state.path].mode == GITLINK:
        return _submodule(scene, state)
    if scene.is_as_in_head(state.path):
        return _void(scene, state)
    # The user asked for the lines of others too. A trailer names these sessions, or history would lie about
    # them.
    return Outcome(
        state.path,
        scene.contents[state.path],
        decision.WHOLE_FILE,
        uses=uses(scene, state, state.owners() | scene.own),
        notes=(Note(state.path, Why(Kind.WHOLE)),),
        includes=frozenset(state.owners() - scene.own),
    )
