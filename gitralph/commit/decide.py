"""Decides for each pending path of a session what of it goes into the commit.

Whole files here; where several owners share a text, ``separate`` takes over. Decisions only: nothing
is written but blobs.
"""

import itertools
from collections.abc import Mapping
from dataclasses import replace

from gitralph.base import nul
from gitralph.base.quote import shown
from gitralph.commit import decision, history, provenance
from gitralph.commit.decision import Left, Outcome, Use
from gitralph.commit.inputs import Scene, manifest_upto
from gitralph.commit.provenance import Chain, records_since_head
from gitralph.git import blobs
from gitralph.git.repository import Repository
from gitralph.git.run import GitError
from gitralph.git.snapshot import ABSENT, Content, LeadsOutError
from gitralph.git.trees import GITLINK, BlockedError, Entry
from gitralph.hook.journal import Record
from gitralph.journal.pending import PathState

_NUMBERS = itertools.count()


def _mine(scene: Scene, state: PathState) -> list[Record]:
    known = {**state.taken, **state.void, **state.pending}
    records = [r for s in scene.family for r in known.get(s, [])]
    return sorted(records, key=lambda record: record.offset)


def uses(scene: Scene, state: PathState, sessions: set[str] | None = None) -> list[Use]:
    """Consumption of everything these sessions (the family) have here."""
    out = []
    for session in sorted(sessions if sessions is not None else scene.own):
        if session in state.owners() or session in state.void or session in state.taken:
            known = any(r.session == session for r in state.journal.records)
            upto = state.journal.size if known else -1
            out.append(Use(session, upto, manifest_upto(scene, state, session)))
    return out


def look(scene: Scene, states: Mapping[bytes, PathState]) -> dict[bytes, Left]:
    """Read the files and make their blobs; the paths that are none of this commit's business."""
    left: dict[bytes, Left] = {}
    for path, state in states.items():
        try:
            scene.contents[path] = scene.worktree.read(path)
            scene.reader.lookup(path)
        except LeadsOutError:
            if _deleted(scene, state):  # for git too, nothing is there beyond a link
                scene.contents[path] = ABSENT
                continue
            left[path] = Left(path, decision.OUTSIDE, "a folder on its way is a symbolic link")
        except BlockedError as blocked:
            if blocked.mode == GITLINK:
                where = shown(blocked.path)
                left[path] = Left(path, decision.SUBMODULE, f"it lies in submodule '{where}'")
        else:
            left |= _in_another_repository(scene, path)
    wanted = {path: c for path, c in scene.contents.items() if path not in left}
    left |= _make_blobs(scene, wanted)
    new = [p for p, c in wanted.items() if not c.absent and scene.reader.entry(p) is None]
    scene.ignored = ignored_paths(scene.repo, new)
    return left


def _in_another_repository(scene: Scene, path: bytes) -> dict[bytes, Left]:
    """A new path below a nested ``.git``: its record came from a script, not from our hook."""
    if scene.contents[path].absent or scene.reader.entry(path) is not None:
        return {}
    nested = history.repository_above(scene.repo, path)
    # Our hook never records across a nested `.git`; any script may write a manifest line.
    if nested is None:
        return {}
    return {path: Left(path, decision.SUBMODULE, f"it lies in the repository '{shown(nested)}'")}


def _deleted(scene: Scene, state: PathState) -> bool:
    """True when deleting the path was the last thing that was recorded there, by this session."""
    mine = _mine(scene, state)
    return bool(mine) and mine[-1].after is None and mine[-1] is state.journal.records[-1]


def _make_blobs(scene: Scene, wanted: dict[bytes, Content]) -> dict[bytes, Left]:
    """Fill ``scene.entries``; the paths whose filter fails are refused."""
    try:
        scene.entries.update(_blobs(scene, "now", wanted))
        return {}
    except GitError:
        # One filter that fails makes the whole `git update-index` fail: find out which, so that the other
        # paths go on.
        suspects = sorted(scene.filtered & set(wanted))
        if not suspects:
            raise
    left = {}
    for number, path in enumerate(suspects):
        try:
            scene.entries.update(_blobs(scene, f"one-{number}", {path: wanted[path]}))
        except GitError:
            left[path] = Left(path, decision.FILTERED, "its clean filter failed")
    plain = {path: content for path, content in wanted.items() if path not in suspects}
    scene.entries.update(_blobs(scene, "plain", plain))
    return left


def _blobs(scene: Scene, name: str, contents: dict[bytes, Content]) -> dict[bytes, Entry | None]:
    return blobs.blobs_for(scene.bench, name, contents, scene.reader, scene.worktree)


def ignored_paths(repo: Repository, paths: list[bytes]) -> set[bytes]:
    """Those of ``paths`` that git ignores and does not track."""
    if not paths:
        return set()
    done = repo.git.at(repo.root).try_run(
        "-c",
        # A look must start no program that the configuration names.
        "core.fsmonitor=false",
        "check-ignore",
        "-z",
        "--stdin",
        stdin=nul.joined(paths),
    )
    return set(nul.rows(done.stdout))


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
    from gitralph.hook.journal import replay

    for found, before, _after in replay(state.journal, scene.layout):
        if found.offset == record.offset:
            return before
    return None


def _take(scene: Scene, state: PathState, how: str, *notes: str) -> Outcome:
    content = scene.contents[state.path]
    return Outcome(state.path, content, how, uses=uses(scene, state), notes=list(notes))


def _refuse(state: PathState, reason: str, detail: str, sessions: list[str]) -> Outcome:
    return Outcome(state.path, left=[Left(state.path, reason, detail, tuple(sessions))])


def _void(scene: Scene, state: PathState) -> Outcome:
    """Nothing to commit: consumed with a note, and back when its text comes back."""
    where = shown(state.path)
    content = scene.contents[state.path]
    if content.absent:
        note = f"'{where}' was created and deleted again; nothing to commit there"
    else:
        note = f"'{where}' is as in HEAD; nothing to commit there"
    others = sorted(state.owners() - scene.own)
    if others:
        note += f" (session {', '.join(repr(name) for name in others)} changed it too)"
    left = Left(state.path, decision.UNCHANGED, "HEAD already has this content")
    seen = provenance.content_id(content)
    return Outcome(state.path, left=[left], uses=uses(scene, state), notes=[note], void=True, seen=seen)


def decide(scene: Scene, state: PathState) -> Outcome:
    """The outcome for one path that several rules may keep out, in the order of the rules."""
    path, content = state.path, scene.contents[state.path]
    if not _mine(scene, state) and not state.bare & scene.own:
        return Outcome(path)
    # Asked for by name, so no rule below keeps it out; those that protect the repository stand in `look`.
    if scene.wishes.whole_file:
        return _take_whole(scene, state)
    # A new path only: what git tracks is not ignored (gitignore(5)).
    if path in scene.ignored:
        return _refuse(state, decision.IGNORED, "git ignores it", [])
    if content.mode == GITLINK and not state.owners() - scene.own:
        return _submodule(scene, state)
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


def _only_since(scene: Scene, state: PathState, since: list[Record], found: Outcome) -> Outcome:
    """Consume what led from HEAD to the file; what came before it may be away in a stash."""
    first = since[0]
    earlier = [r for r in _mine(scene, state) if r.offset < first.offset]
    if earlier:
        taken = {name: [str(r.offset) for r in since if r.session == name] for name in scene.own}
        found.uses = [replace(use, units=tuple(taken[use.session]), away=True) for use in found.uses]
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
    mine = _mine(scene, state)
    first = mine[0].offset if mine else 0
    if any(r.session not in scene.own for r in state.journal.records if r.offset >= first):
        return True
    return bool(state.owners() - scene.own)


def separate(scene: Scene, state: PathState) -> Outcome:
    """As ``separate.separate``, which most commits need not import."""
    from gitralph.commit import separate as lines

    return lines.separate(scene, state)


def _several(scene: Scene, state: PathState) -> Outcome:
    last = max(state.journal.records, key=lambda r: r.offset, default=None)
    if not state.owners() & scene.own and not _mine(scene, state):
        return Outcome(state.path)
    if scene.contents[state.path].absent and last is not None and last.after is not None:
        return _refuse(
            state, decision.GONE, "it was deleted after the last recorded edit; no session recorded it", []
        )
    return separate(scene, state)


def _sole(scene: Scene, state: PathState) -> Outcome:
    mine, content = _mine(scene, state), scene.contents[state.path]
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
        return _refuse(
            state, decision.GONE, "it was deleted after the last recorded edit; no session recorded it", []
        )
    if chain.path_level:
        # A claim by hand takes the file as it stands; a hook's path-level record only as it was when
        # recorded.
        if claimed or provenance.ends_at(chain, content):
            return _take(scene, state, decision.WHOLE_FILE, _path_level_note(state))
        return _refuse(state, decision.UNANCHORED, "it changed after it was recorded", [])
    if not (chain.is_contiguous() and provenance.ends_at(chain, content)):
        return separate(scene, state)
    if not _base_fits(scene, state, chain):
        return separate(scene, state)
    return _take_edits(scene, state, chain)


def _take_edits(scene: Scene, state: PathState, chain: Chain) -> Outcome:
    found = _take(scene, state, decision.EDITS)
    assert found.content is not None
    head = scene.reader.entry(state.path)
    mode, foreign = provenance.mode_of(chain, found.content, head.mode if head else None)
    if foreign:
        found.content = Content(mode, found.content.data)
        found.notes.append(f"the mode of '{shown(state.path)}' was changed and no session recorded it; left")
    return found


def _path_level_note(state: PathState) -> str:
    return f"'{shown(state.path)}' is known by its path only; committed as it stands"


def _submodule(scene: Scene, state: PathState) -> Outcome:
    """The gitlink moves when the session recorded the gitlink itself."""
    oid = history.submodule_head(scene.repo, state.path)
    if oid is None:
        return _refuse(state, decision.SUBMODULE, "it is a repository without a commit", [])
    entry = Entry(GITLINK, oid)
    if scene.reader.entry(state.path) == entry:
        return _void(scene, state)
    scene.entries[state.path] = entry
    return _take(scene, state, decision.WHOLE_FILE)


def _take_whole(scene: Scene, state: PathState) -> Outcome:
    """``--whole-file``: the path as it stands, whoever changed it."""
    if scene.contents[state.path].mode == GITLINK:
        return _submodule(scene, state)
    if _unchanged(scene, state):
        return _void(scene, state)
    found = _take(scene, state, decision.WHOLE_FILE)
    everyone = state.owners() | scene.own
    found.uses = uses(scene, state, everyone)
    # Others' lines go along because they were asked for; the trailer says so, or history would lie about
    # them.
    found.includes = state.owners() - scene.own
    found.notes.append(f"'{shown(state.path)}' was committed whole, as it stands")
    return found
