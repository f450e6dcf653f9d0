"""Decides for each pending path of a session what of it goes into the commit.

This module decides whole files. ``by_pieces`` decides files whose lines must be told apart. A ``Scene`` goes
in and an ``Outcome`` comes out. Nothing is written but blobs.
"""

import itertools

from gitralph.base.kinds import Kind, Why
from gitralph.decide import by_pieces, decision, path_texts, text_chain
from gitralph.decide.decision import Left, Note, Outcome
from gitralph.decide.inputs import Scene, records_of, uses
from gitralph.decide.text_chain import Chain, records_since_head
from gitralph.git import blobs, history
from gitralph.git.snapshot import Content
from gitralph.git.texts import is_binary
from gitralph.git.trees import GITLINK, Entry
from gitralph.hook.journal import RENDERED, Record, replay
from gitralph.records import path_records
from gitralph.records.path_records import PathState

# Numbers the work files in a bench, so that one process can look at a path several times. This counter is the
# only state of the module, and no decision depends on it.
_NUMBERS = itertools.count()


def _base_fits(scene: Scene, state: PathState, chain: Chain) -> bool:
    """True when the chain starts from the text that HEAD holds."""
    head = scene.reader.entry(state.path)
    first = next(record for record in chain.records if record.is_exact)
    if head is None or first.before is None:
        return head is None and first.before is None
    # In the usual case the text id is the blob's oid, and no process is needed.
    if first.before == head.oid.decode():
        return True
    text = _text_before(scene, state, first)
    if text is None:
        return False
    name = f"base-{next(_NUMBERS)}"
    # Only git knows which blob the attributes make of a text. `hash-object --path` gives the wrong one for a
    # file that has CRLF in HEAD already (seen with git 2.39).
    made = blobs.blobs_for(
        scene.bench, name, {state.path: Content(head.mode, text)}, scene.reader, scene.worktree
    )
    entry = made[state.path]
    return entry is not None and entry.oid == head.oid


def _text_before(scene: Scene, state: PathState, record: Record) -> bytes | None:
    for found, before, _after in replay(state.journal, scene.layout):
        if found.offset == record.offset:
            return before
    return None


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
    return Outcome(state.path, left=(left,), uses=uses(scene, state), notes=notes, void=True)


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
        return _of_nobody(scene, state)
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
        to = path_records.arrival(state.journal)
        if to is None:
            return Outcome(path)  # moved over another file: `moved_over` asks at the old path
        if _waits_for_its_move(scene, path, to):
            return by_pieces.moved_along(scene, state)
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
    is_whole = is_path_level or path_texts.whole_only(scene, state) is not None
    if is_whole or is_binary(content.data):
        return _whole(scene, state)
    since = records_since_head(scene, state)
    if since is not None and _is_alone(scene, state, since):
        # Nearly every commit goes this way: the session's own exact records lead from HEAD to the file, so no
        # line needs to be separated.
        return _take_edits(scene, state, Chain(tuple(since)))
    return by_pieces.separated(scene, state, [])


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
    to = path_records.arrival(there.journal)
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
        return _take_edits(scene, state, Chain((last,)))
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
    if not others:
        if content.mode != GITLINK:
            if scene.is_as_in_head(path):
                return Outcome(path)
            # The file may still hold a session's lines as they were before a hook rewrote them for a commit.
            is_rewritten = any(record.op == RENDERED for record in state.journal.records)
            if is_rewritten and path_texts.has_lines(scene, state):
                return by_pieces.separated(scene, state, [])
            return _take(scene, state, decision.WHOLE_FILE)
        found = _submodule(scene, state)
        return found if found.taken else Outcome(path)
    if scene.is_as_in_head(path) or content.mode == GITLINK:
        return Outcome(path)
    claimed = sorted(path_texts.claimants(state))
    if claimed:
        left = Left(path, decision.CONTESTED, Why(Kind.ONLY_ITS_PATH), tuple(claimed), optional=True)
        return Outcome(path, left=(left,))
    since = records_since_head(scene, state)
    if since and _is_chain(scene, state, since) and not _has_foreign_mode(scene, state, since):
        # the sessions' records explain the whole difference, so nothing is left for the person
        return Outcome(path)
    return by_pieces.separated(scene, state, others)


def counting(scene: Scene, state: PathState) -> list[Record]:
    """The session's records that still count for the file as it stands.

    An exact record counts when it came after the file last equalled HEAD. A record by path alone counts while
    no commit has told of it.
    """
    late = {r.offset for r in text_chain.maybe_since_head(scene, state)}
    open_ = {r.offset for name in scene.own for r in state.untold(name)}
    return [r for r in records_of(scene, state) if r.offset in (late if r.is_exact else open_)]


def _is_alone(scene: Scene, state: PathState, since: list[Record]) -> bool:
    """True when this session's own exact records lead, one by one, from HEAD's text to the file's."""
    # Other sessions' lines may stand in the file, or a write that did not know of them may have removed them.
    return bool(since) and not state.owners() - scene.own and _is_chain(scene, state, since)


def _is_chain(scene: Scene, state: PathState, since: list[Record]) -> bool:
    """True when exact records, whoever made them, lead one by one from HEAD's text to the file's."""
    if not all(r.is_exact for r in since):
        return False
    chain = Chain(tuple(since))
    head = scene.reader.entry(state.path)
    starts = since[0].before == (None if head is None else head.oid.decode())
    return starts and text_chain.explains(chain, scene.contents[state.path])


def _has_foreign_mode(scene: Scene, state: PathState, since: list[Record]) -> bool:
    head = scene.reader.entry(state.path)
    content = scene.contents[state.path]
    return head is not None and text_chain.mode_of(Chain(tuple(since)), content, head.mode)[1]


def _whole(scene: Scene, state: PathState) -> Outcome:
    """Decide a path that has no lines, or is known by its path alone, where nobody else has anything.

    A path that a person claimed by hand goes as it stands. A path that a hook recorded goes only while the
    file is as it was recorded.
    """
    content = scene.contents[state.path]
    if state.bare & scene.own:
        return _take(scene, state, decision.WHOLE_FILE, Why(Kind.AS_IT_STANDS))
    mine = counting(scene, state)
    if not mine:
        return Outcome(state.path)
    last = mine[-1]
    if content.absent and last.after is None and last is state.journal.records[-1]:
        # A deletion known by its path alone has the same effect as an exact one: the file is gone.
        if not last.is_exact:
            return _take(scene, state, decision.WHOLE_FILE, Why(Kind.AS_IT_STANDS))
        # the session deleted what HEAD has; it does not matter what the file held in between
        if _base_fits(scene, state, Chain((last,))):
            return _take_edits(scene, state, Chain((last,)))
    chain = text_chain.chain_of(state.journal.records, mine)
    if content.absent and chain.last.after is not None:
        return decision.refused(state.path, decision.GONE, Why(Kind.GONE), [])
    if chain.has_no_texts:
        if text_chain.ends_at(chain, content):
            return _take(scene, state, decision.WHOLE_FILE, Why(Kind.AS_IT_STANDS))
        return decision.refused(state.path, decision.UNANCHORED, Why(Kind.PATH_AND_CHANGED), [])
    if not (text_chain.explains(chain, content) and _base_fits(scene, state, chain)):
        return by_pieces.separated(scene, state, [])
    return _take_edits(scene, state, chain)


def _take_edits(scene: Scene, state: PathState, chain: Chain) -> Outcome:
    found = _take(scene, state, decision.EDITS)
    assert found.content is not None
    head = scene.reader.entry(state.path)
    mode, foreign = text_chain.mode_of(chain, found.content, head.mode if head else None)
    if foreign:
        note = Note(state.path, Why(Kind.MODE_LEFT))
        return found._replace(content=Content(mode, found.content.data), notes=(*found.notes, note))
    return found


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
