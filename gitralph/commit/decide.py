"""Decides for each pending path of a session what of it goes into the commit.

Whole files here; where several owners share a text, ``separate`` takes over. Decisions only: a scene goes in
and an outcome comes out, and nothing is written but blobs.
"""

import itertools
from collections.abc import Sequence

from gitralph.base.quote import shown
from gitralph.commit import by_pieces, decision, path_texts, provenance
from gitralph.commit import separate as lines
from gitralph.commit.decision import Left, Outcome, ReadFrom, Use
from gitralph.commit.inputs import Scene, manifest_upto, records_of
from gitralph.commit.provenance import Chain, records_since_head
from gitralph.git import blobs, history
from gitralph.git.snapshot import Content
from gitralph.git.texts import is_binary
from gitralph.git.trees import GITLINK, Entry
from gitralph.hook import sessionfile
from gitralph.hook.journal import GAP, Record, replay
from gitralph.journal.pending import PathState

_GONE = "it was deleted after the last recorded edit; no session recorded it"

# Names of work files in a bench, which one process may use for several looks at one path: the only state
# here, and nothing is decided by it.
_NUMBERS = itertools.count()


def uses(scene: Scene, state: PathState, sessions: set[str] | None = None) -> tuple[Use, ...]:
    """Consumption of everything these sessions (the family) have here."""
    out = []
    for session in sorted(sessions if sessions is not None else scene.own):
        if session in state.owners() or session in state.void or session in state.taken:
            known = any(r.session == session for r in state.journal.records)
            upto = state.journal.size if known else -1
            # Lines of the commit that left HEAD may be in a stash: they are looked for from now on.
            away = scene.undone and session in scene.own and upto >= 0
            manifest = manifest_upto(scene, state, session)
            out.append(Use(session, upto, manifest, away=away, void=() if away else None))
    return tuple(out)


def _unchanged(scene: Scene, state: PathState) -> bool:
    path = state.path
    return scene.entries.get(path) == scene.reader.entry(path)


def _base_fits(scene: Scene, state: PathState, chain: Chain) -> bool:
    """True when the chain starts from what HEAD holds."""
    head = scene.reader.entry(state.path)
    first = next(record for record in chain.records if record.is_exact)
    if head is None or first.before is None:
        return head is None and first.before is None
    # The usual case costs no process: the bytes are the blob.
    if first.before == head.oid.decode():
        return True
    text = _text_before(scene, state, first)
    if text is None:
        return False
    name = f"base-{next(_NUMBERS)}"
    # Only git knows what attributes make of a text; `hash-object --path` is wrong for a file that has CRLF in
    # HEAD already (seen with git 2.39).
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


def _take(scene: Scene, state: PathState, how: str, *notes: str) -> Outcome:
    content = scene.contents[state.path]
    return Outcome(state.path, content, how, uses=uses(scene, state), notes=notes)


def _refuse(state: PathState, reason: str, detail: str, sessions: list[str]) -> Outcome:
    return Outcome(state.path, left=(Left(state.path, reason, detail, tuple(sessions)),))


def _void(scene: Scene, state: PathState) -> Outcome:
    """Nothing to commit: consumed with a note, and back when its text comes back."""
    where = shown(state.path)
    content = scene.contents[state.path]
    if content.absent:
        first = next(iter(state.journal.records), None)
        is_made = first is not None and first.before is None and not first.unknown_before
        how = "was created and deleted again" if is_made else "is neither in HEAD nor on disk any more"
        note = f"'{where}' {how}; nothing to commit there"
    else:
        note = f"'{where}' is as in HEAD; nothing to commit there"
    others = sorted(state.owners() - scene.own)
    if others:
        called = ", ".join(f"'{sessionfile.called(scene.layout, one)}'" for one in others)
        note += f" (session {called} changed it too)"
    left = Left(state.path, decision.UNCHANGED, "HEAD already has this content")
    seen = provenance.content_id(content)
    return Outcome(
        state.path,
        left=(left,),
        uses=uses(scene, state),
        notes=(note,),
        void=True,
        seen=seen,
        ground=ReadFrom(state.journal.size, seen),
    )


def _watched(scene: Scene, state: PathState) -> Outcome:
    """Nothing to commit, and nothing is said; what left HEAD with an undone commit may be in a stash."""
    made = {
        fields.get("after")
        for fields in state.journal.consumed
        if fields.get("commit") is not None and fields.get("session") in scene.own
    }
    seen = provenance.content_id(scene.contents[state.path])
    head = scene.reader.entry(state.path)
    if not made or (head is not None and head.oid.decode() in made):
        return Outcome(state.path)
    ground = ReadFrom(state.journal.size, seen) if _unchanged(scene, state) else None
    return Outcome(state.path, uses=uses(scene, state), void=True, seen=seen, ground=ground)


def decide(scene: Scene, state: PathState) -> Outcome:
    """The outcome for one path that several rules may keep out, in the order of the rules."""
    found = _decided(scene, state)
    if scene.is_pieces:
        return found
    return _watched(scene, state) if scene.undone and found == Outcome(state.path) else found


def _decided(scene: Scene, state: PathState) -> Outcome:
    path, content = state.path, scene.contents[state.path]
    if not records_of(scene, state) and not state.bare & scene.own:
        return Outcome(path)
    # Asked for by name, so no rule below keeps it out; those that protect the repository stand in
    # `inputs.look`.
    if scene.wishes.whole_file:
        return _take_whole(scene, state)
    # A new path only: what git tracks is not ignored (gitignore(5)).
    if path in scene.ignored:
        return _refuse(state, decision.IGNORED, "git ignores it", [])
    if content.mode == GITLINK and not state.owners() - scene.own:
        return _submodule(scene, state)
    if scene.is_pieces:
        return _from_pieces(scene, state)
    if _unchanged(scene, state):
        return _void(scene, state) if state.owners() & scene.own else Outcome(path)
    since = records_since_head(scene, state)
    if since is not None and _is_alone(scene, state, since):
        # The way of nearly every commit: own exact records lead from HEAD to the file, and no line need be
        # separated.
        found = _take_edits(scene, state, Chain(tuple(since)))
        return _only_since(scene, state, since, found)
    if _has_others(scene, state):
        return _several(scene, state)
    return _sole(scene, state)


def _from_pieces(scene: Scene, state: PathState) -> Outcome:
    """Whole files are decided before lines: gone ones, those known by path alone, and those without lines."""
    content, last = scene.contents[state.path], state.journal.records[-1:]
    if _unchanged(scene, state):
        return _void(scene, state) if state.owners() & scene.own else Outcome(state.path)
    if content.absent and last and last[0].after is not None and not state.bare & scene.own:
        if not state.owners() & scene.own:
            return Outcome(state.path)
        return _refuse(state, decision.GONE, _GONE, [])
    mine = (
        records_of(scene, state) if scene.undone else [r for n in scene.own for r in state.pending.get(n, ())]
    )
    if state.bare or any(not r.is_exact for r in mine):
        return _several(scene, state) if _has_others(scene, state) else _sole(scene, state)
    others = {r.session for r in state.journal.records if r.op != GAP} - scene.own
    has_lines = path_texts.whole_only(scene, state) is None and not is_binary(content.data)
    if not others or not has_lines:
        since = records_since_head(scene, state)
        if since is not None and _is_alone(scene, state, since):
            return _take_edits(scene, state, Chain(tuple(since)))
    if not has_lines and not _has_others(scene, state):
        return _sole(scene, state)
    return by_pieces.separated(scene, state)


def _only_since(scene: Scene, state: PathState, since: "Sequence[Record]", found: Outcome) -> Outcome:
    """Consume what led from HEAD to the file; what came before it may be away in a stash."""
    first = since[0]
    mine = [*records_of(scene, state), *(r for name in scene.own for r in state.void.get(name, ()))]
    if any(r.offset < first.offset for r in mine):
        taken = {name: [str(r.offset) for r in since if r.session == name] for name in scene.own}
        used = (use._replace(units=tuple(taken[use.session]), away=True) for use in found.uses)
        return found._replace(uses=tuple(used))
    return found


def _is_alone(scene: Scene, state: PathState, since: list[Record]) -> bool:
    """True when this session's own exact records lead, one by one, from HEAD's text to the file's."""
    if not since or state.bare - scene.own or any(r.session not in scene.own for r in since):
        return False
    if not all(r.is_exact for r in since):
        return False
    chain = Chain(tuple(since))
    head = scene.reader.entry(state.path)
    starts = since[0].before == (None if head is None else head.oid.decode())
    if not (starts and chain.is_contiguous() and provenance.ends_at(chain, scene.contents[state.path])):
        return False
    return _knew(scene, state, since[0])


def _knew(scene: Scene, state: PathState, first: Record) -> bool:
    """False when a write from an old read may have thrown away what others had written before it."""
    earlier = [r for r in state.journal.records if r.offset < first.offset]
    # A pre event that read the bytes on disk cannot have been an old read.
    if not earlier or first.seen or earlier[-1].after == first.before:
        return True
    return not state.owners() - scene.own


def _has_others(scene: Scene, state: PathState) -> bool:
    """True when another session's record, consumed or not, may stand between HEAD and the file."""
    # A claim has no text, so nothing can tell what of the file is the claimant's: it may be anything.
    if state.bare - scene.own:
        return True
    mine = records_of(scene, state)
    first = mine[0].offset if mine else 0
    if any(r.session not in scene.own for r in state.journal.records if r.offset >= first):
        return True
    return bool(state.owners() - scene.own)


def by_lines(scene: Scene, state: PathState) -> Outcome:
    """What one of the two engines says of a path whose lines have several owners."""
    return by_pieces.separated(scene, state) if scene.is_pieces else lines.separate(scene, state)


def _several(scene: Scene, state: PathState) -> Outcome:
    last = max(state.journal.records, key=lambda r: r.offset, default=None)
    if not state.owners() & scene.own and not records_of(scene, state):
        return Outcome(state.path)
    if scene.contents[state.path].absent and last is not None and last.after is not None:
        return _refuse(state, decision.GONE, _GONE, [])
    return by_lines(scene, state)


def _sole(scene: Scene, state: PathState) -> Outcome:
    mine, content = records_of(scene, state), scene.contents[state.path]
    if not mine:
        return _take(scene, state, decision.WHOLE_FILE, _path_level_note(state))
    last = mine[-1]
    if content.absent and last.after is None and last is state.journal.records[-1]:
        # A deletion known by its path only has the same effect as an exact one: the file is gone.
        if not last.is_exact:
            return _take(scene, state, decision.WHOLE_FILE, _path_level_note(state))
        if _base_fits(scene, state, Chain((last,))):  # it deleted what HEAD has, whatever was there before
            return _take_edits(scene, state, Chain((last,)))
    chain = provenance.chain_of(state.journal.records, mine)
    claimed = bool(state.bare & scene.own)
    if content.absent and chain.last.after is not None and not claimed:
        return _refuse(state, decision.GONE, _GONE, [])
    if chain.path_level:
        # A claim by hand takes the file as it stands; a hook's path-level record only as it was when
        # recorded.
        if claimed or provenance.ends_at(chain, content):
            return _take(scene, state, decision.WHOLE_FILE, _path_level_note(state))
        return _refuse(
            state, decision.UNANCHORED, "only its path was recorded, and the file changed afterwards", []
        )
    if not (chain.is_contiguous() and provenance.ends_at(chain, content)):
        return by_lines(scene, state)
    if not _base_fits(scene, state, chain):
        return by_lines(scene, state)
    return _only_since(scene, state, chain.records, _take_edits(scene, state, chain))


def _take_edits(scene: Scene, state: PathState, chain: Chain) -> Outcome:
    found = _take(scene, state, decision.EDITS)
    assert found.content is not None
    head = scene.reader.entry(state.path)
    mode, foreign = provenance.mode_of(chain, found.content, head.mode if head else None)
    if foreign:
        note = provenance.FOREIGN_MODE.format(shown(state.path))
        return found._replace(content=Content(mode, found.content.data), notes=(*found.notes, note))
    return found


def _path_level_note(state: PathState) -> str:
    return f"'{shown(state.path)}' is committed as it stands: only its path was recorded, its lines were not"


def _submodule(scene: Scene, state: PathState) -> Outcome:
    """The gitlink moves when the session recorded the gitlink itself."""
    oid = history.submodule_head(scene.repo, state.path)
    if oid is None:
        return _refuse(state, decision.SUBMODULE, "it is a repository without a commit", [])
    entry = Entry(GITLINK, oid)
    if scene.reader.entry(state.path) == entry:
        return _void(scene, state)
    return (_take(scene, state, decision.WHOLE_FILE))._replace(entry=entry)


def _take_whole(scene: Scene, state: PathState) -> Outcome:
    """``--whole-file``: the path as it stands, whoever changed it."""
    if scene.contents[state.path].mode == GITLINK:
        return _submodule(scene, state)
    if _unchanged(scene, state):
        return _void(scene, state)
    # Others' lines go along because they were asked for; the trailer says so, or history would lie about
    # them.
    return Outcome(
        state.path,
        scene.contents[state.path],
        decision.WHOLE_FILE,
        uses=uses(scene, state, state.owners() | scene.own),
        notes=(f"'{shown(state.path)}' was committed whole, as it stands",),
        includes=frozenset(state.owners() - scene.own),
    )
