"""Takes this session's lines out of a file that others changed too, or says why that cannot be.

Gathers what ``isolate`` needs, texts in working-tree form, and turns its answer into an outcome.
Files whose lines cannot be told apart (binary, filtered, links, too large) follow whole-file rules.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from gitralph import isolate
from gitralph.errors import Fatal
from gitralph.isolate import Separation, Step
from gitralph.journal import Record, replay
from gitralph.plumbing import blob
from gitralph.plumbing.snapshot import ABSENT, Content
from gitralph.plumbing.tree import Entry
from gitralph.porcelain import evidence, history, outcome, rewrites
from gitralph.porcelain.evidence import Chain
from gitralph.porcelain.outcome import Left, Outcome, Use
from gitralph.porcelain.rewrites import Seen
from gitralph.porcelain.scene import Scene, manifest_upto
from gitralph.quote import shown
from gitralph.state import consumption
from gitralph.state.pending import PathState

TEXT_LIMIT = 5 << 20
STEP_LIMIT = 2000
_FILES = (0, 0o100644, 0o100755)


@dataclass(frozen=True)
class Evidence:
    """What is known of a path's texts: ordered steps, HEAD and file in working-tree form."""

    steps: list[Step]
    head: bytes | None
    worktree: bytes | None
    committed: set[str]
    settled: set[str]
    moved: bool
    seen: Seen


def head_text(scene: Scene, path: bytes) -> bytes | None:
    """HEAD's text as a checkout would write it; the bytes themselves where nothing converts them."""
    entry = scene.reader.entry(path)
    if entry is None:
        return None
    return read_blob(scene, entry) if _is_plain(scene, path) else working(scene, path, entry)


def _is_plain(scene: Scene, path: bytes) -> bool:
    """True when the file's bytes are its blob's: nothing converts them."""
    content, made = scene.contents[path], scene.entries.get(path)
    same = made is None or made.oid.decode() == evidence.content_id(content)
    return same and not (content.absent and scene.converts)


def working(scene: Scene, path: bytes, entry: Entry) -> bytes:
    """A blob as a checkout would write it."""
    return blob.working_form(scene.bench.git.at(scene.repo.root), path, entry)


def read_blob(scene: Scene, entry: Entry) -> bytes:
    """The raw bytes of a blob. Raises Fatal where it is missing."""
    try:
        found = scene.repo.objects[entry.oid]
    except KeyError:
        raise Fatal(f"object {entry.oid.decode()} is missing from the object database") from None
    raw: bytes = found.as_raw_string()
    return raw


def _step(record: Record, before: bytes | None, after: bytes | None) -> Step:
    return Step(str(record.offset), record.session, before, after)


def _first_pending(state: PathState) -> int:
    waiting = [r.offset for records in (*state.pending.values(), *state.void.values()) for r in records]
    return min(waiting, default=0)


def gather(scene: Scene, state: PathState) -> Evidence:
    """Texts and steps of a path. What HEAD holds already is left away where the texts meet."""
    head, content = head_text(scene, state.path), scene.contents[state.path]
    texts = [(r, b, a) for r, b, a in replay(state.journal, scene.layout) if r.is_exact]
    seen = rewrites.seen(texts, content.data)
    texts = seen.rows
    first = _first_pending(state)
    recent = [row for row in texts if row[0].offset >= first]
    if recent and recent[0][1] == head:
        texts = recent
    steps = [_step(*row) for row in texts]
    start, then = _start(scene, state, texts[0][0], steps[0].before, head) if steps else (head, head)
    return Evidence(
        isolate.chain(steps, start),
        head,
        seen.worktree,
        consumption.committed_keys(state.journal),
        consumption.settled_keys(state.journal),
        then != head,
        seen,
    )


def _start(
    scene: Scene, state: PathState, first: Record, before: bytes | None, head: bytes | None
) -> tuple[bytes | None, bytes | None]:
    """The text before the first step, and what HEAD held then: older dirt shows as a gap."""
    if before == head:
        return before, head
    then = history.entry_at(scene.repo, first.head, state.path)
    if isinstance(then, history.Unknown):
        known = before if state.journal.consumed else head
        return known, known
    if then is None:
        return None, None
    plain = _is_plain(scene, state.path)
    text = read_blob(scene, then) if plain else working(scene, state.path, then)
    return text, text


def _binary(texts: Iterable[bytes | None]) -> bool:
    return any(text is not None and b"\0" in text[:8000] for text in texts)


def _whole_only(scene: Scene, state: PathState) -> tuple[str, str] | None:
    """The reason why lines of this path cannot be told apart, None when they can."""
    content, entry = scene.contents[state.path], scene.reader.entry(state.path)
    if content.mode not in _FILES or (entry is not None and entry.mode not in _FILES):
        return outcome.CONTESTED, "it is not a plain file, and others have changes there"
    if state.path in scene.filtered:
        return outcome.FILTERED, "a clean filter governs it, and others have changes there"
    if len(content.data or b"") > TEXT_LIMIT:
        return outcome.TOO_LARGE, f"it is larger than {TEXT_LIMIT >> 20} MiB, and others changed it"
    if sum(len(records) for records in state.pending.values()) > STEP_LIMIT:
        return outcome.TOO_LARGE, f"it has more than {STEP_LIMIT} pending edits"
    return None


def _path_level(scene: Scene, state: PathState) -> bool:
    """True when the session claims more of the path than its texts tell."""
    own = [r for name in scene.own for r in state.pending.get(name, [])]
    return bool(state.bare & scene.own) or any(not record.is_exact for record in own)


def _removes(scene: Scene, state: PathState) -> bool:
    own = [r for name in scene.own for r in state.pending.get(name, [])]
    return any(r.after is None or r.op in ("rename-from", "rename-to") for r in own)


def _others(scene: Scene, state: PathState) -> list[str]:
    return sorted(state.owners() - scene.own)


def separate(scene: Scene, state: PathState) -> Outcome:
    """The outcome for a path that others, recorded or not, changed as well."""
    others = _others(scene, state)
    whom = others or [outcome.UNRECORDED]
    barred = _whole_only(scene, state)
    if barred is not None:
        return _refuse(state, *barred, whom)
    if _path_level(scene, state):
        if others:
            return _refuse(state, outcome.CONTESTED, "only its path is recorded, for several", others)
        detail = "only its path is recorded, and somebody without a session changed it too"
        return _refuse(state, outcome.UNANCHORED, detail, whom)
    if others and _removes(scene, state):
        detail = "it was deleted or renamed while others have pending changes there"
        return _refuse(state, outcome.CONTESTED, detail, others)
    known = gather(scene, state)
    if _binary([known.head, known.worktree, *(s.after for s in known.steps)]):
        detail = "it is binary, and others have changes there"
        return _refuse(state, outcome.CONTESTED, detail, whom)
    if _made_anew(scene, state, known):
        return _anew(scene, state, whom)
    return _outcome(scene, state, known, _ask(scene, known))


def _made_anew(scene: Scene, state: PathState, known: Evidence) -> bool:
    """True when the session made a file where HEAD has a text that no step of the journal knows."""
    own = [r for name in scene.own for r in state.pending.get(name, [])]
    anew = [r.offset for r in own if r.is_exact and r.before is None and r.after is not None]
    if not anew or known.head is None:
        return False
    since = (s.after for s in known.steps if s.key.isdigit() and int(s.key) >= min(anew))
    return known.head not in set(since)


def _anew(scene: Scene, state: PathState, whom: list[str]) -> Outcome:
    """A file moved onto another replaces it whole; a file made over a text nobody removed is refused."""
    own = sorted((r for n in scene.own for r in state.pending.get(n, [])), key=lambda r: r.offset)
    content = scene.contents[state.path]
    alone = whom == [outcome.UNRECORDED] and own[-1] is state.journal.records[-1]
    moved = next((r for r in own if r.op == "rename-to"), None)
    if moved is None or not alone or own[-1].after != evidence.content_id(content):
        detail = "it was made anew where HEAD has a text whose removal nobody of this session recorded"
        return _refuse(state, outcome.CONTESTED, detail, whom)
    uses = [
        Use(name, state.journal.size, manifest_upto(scene, state, name))
        for name in sorted(scene.own & state.owners())
    ]
    note = f"'{shown(state.path)}' was replaced by a file that was moved there"
    return Outcome(state.path, content, outcome.WHOLE_FILE, uses=uses, notes=[note])


def _ask(scene: Scene, known: Evidence) -> Separation:
    found = isolate.separate(
        known.head,
        known.steps,
        known.worktree,
        committed=known.committed,
        owners=scene.own,
        settled=known.settled,
        moved=known.moved,
        skip_entangled=scene.wishes.skip_entangled,
        include_entangled=scene.wishes.include_entangled,
    )
    return known.seen.told(found)


def _refuse(state: PathState, reason: str, detail: str, sessions: list[str]) -> Outcome:
    return Outcome(state.path, left=[Left(state.path, reason, detail, tuple(sessions))])


def _left(state: PathState, found: Separation) -> list[Left]:
    return [Left(state.path, one.reason, one.detail, one.sessions, one.lines) for one in found.left]


def _notes(state: PathState, found: Separation) -> list[str]:
    out = []
    for note in found.notes:
        where = f"'{shown(state.path)}'"
        if note.lines:
            first, last = note.lines
            where += f" line {first}" if first == last else f" lines {first}-{last}"
        out.append(f"{where}: {note.detail}")
    return out


def _outcome(scene: Scene, state: PathState, known: Evidence, found: Separation) -> Outcome:
    left, notes = _left(state, found), _notes(state, found)
    if found.refused:
        return Outcome(state.path, left=left, notes=notes)
    if found.text == known.head and not found.taken:
        return _nothing(scene, state, found, left, notes)
    mode = _mode(scene, state)
    content = ABSENT if found.text is None else Content(mode, found.text)
    uses = _uses(scene, state, known, found)
    return Outcome(state.path, content, outcome.EDITS, left, uses, notes, includes=set(found.includes))


def _nothing(
    scene: Scene, state: PathState, found: Separation, left: list[Left], notes: list[str]
) -> Outcome:
    """No line of this session's is to be committed: left, waiting for others, or taken back."""
    waiting = _waiting(found)
    if left or waiting:
        return Outcome(state.path, left=left, notes=notes)
    unchanged = Left(state.path, outcome.UNCHANGED, "nothing of this session's is left to commit")
    uses = [
        Use(name, state.journal.size, manifest_upto(scene, state, name))
        for name in sorted(scene.own & (state.owners() | set(state.void)))
    ]
    if not state.owners() & scene.own:
        return Outcome(state.path)  # void before, void still: said once
    seen = evidence.content_id(scene.contents[state.path])
    return Outcome(state.path, left=[unchanged], uses=uses, notes=notes, void=True, seen=seen)


def _waiting(found: Separation) -> tuple[str, ...]:
    return tuple(unit for note in found.notes if note.kind == "waiting" for unit in note.units)


def _mode(scene: Scene, state: PathState) -> int:
    content, head = scene.contents[state.path], scene.reader.entry(state.path)
    own = [r for name in scene.own for r in state.pending.get(name, state.void.get(name, []))]
    if head is None or not own:
        return content.mode or 0o100644
    if content.absent:
        return head.mode
    return evidence.mode_of(Chain(tuple(own)), content, head.mode)[0]


def _owner_of(state: PathState, unit: str) -> str | None:
    """The session of a unit ``<offset>.<n>``; None for a gap's."""
    offset = unit.rpartition(".")[0]
    return next((r.session for r in state.journal.records if str(r.offset) == offset), None)


def _uses(scene: Scene, state: PathState, known: Evidence, found: Separation) -> list[Use]:
    """What the commit consumes, by the unit: this session's, and those of others that it takes."""
    by_session: dict[str, list[str]] = {}
    for unit in found.taken:
        session = _owner_of(state, unit)
        if session is not None:
            by_session.setdefault(session, []).append(unit)
    for name in scene.own & state.owners():
        by_session.setdefault(name, [])
    kept = [unit for one in found.left for unit in one.units] + list(_waiting(found))
    out = []
    for session, taken in sorted(by_session.items()):
        if session in scene.own:
            left = [unit for unit in kept if _owner_of(state, unit) == session]
        else:
            # an absorbed unit's name ends with a mark
            left = _still_pending(state, known, session, {unit.rstrip("~") for unit in taken})
        manifest = manifest_upto(scene, state, session)
        out.append(Use(session, state.journal.size, manifest, tuple(taken), tuple(left)))
    return out


def _still_pending(state: PathState, known: Evidence, session: str, taken: set[str]) -> list[str]:
    listed = isolate.pending_units(known.head, known.steps, known.worktree, committed=known.committed)
    return [one.unit for one in listed if one.owner == session and one.unit not in taken]
