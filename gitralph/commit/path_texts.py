"""What is read of a path before anybody asks whose its lines are: HEAD, the file and the recorded edits.

All texts are in working-tree form and in one form of line ends. ``commit``, ``status``, ``why``, ``undo`` and
``assign`` ask the pieces that are made of them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from gitralph.commit import decision, provenance, rewrites
from gitralph.commit.inputs import Scene, read_blob
from gitralph.commit.provenance import Chain
from gitralph.git import blobs, history, refs
from gitralph.git.texts import with_line_feeds
from gitralph.git.trees import Entry
from gitralph.hook.journal import (
    ASSIGN,
    GAP,
    REDO,
    RESTORE,
    TEXT_LIMIT,
    UNDO,
    Record,
    TextHunk,
    full_lines,
    replay,
)
from gitralph.journal.pending import PathState
from gitralph.lines import give
from gitralph.lines.order import chain
from gitralph.lines.pieces import Pieces, pieces
from gitralph.lines.terms import Step, Take
from gitralph.lines.text import split_lines

FILES = (0, 0o100644, 0o100755)
"""Modes of plain files, and of none."""

Row = tuple[Record, bytes | None, bytes | None]
"""A record with its texts before and after."""


# The weave keeps every line that ever was, so memory grows with text and edits: beyond these a file is
# judged whole, and a person does not read a diff of it either.
# Two thousand pending edits of one path are days of work without a commit; each is folded into the weave at
# every commit, status and diff of the path.
STEP_LIMIT = 2000

ARRIVED = "m"
"""Ends the key of the step by which a moved file came as HEAD had it; the rest is the key of the move."""

LOST_TEXT = "a recorded text of it is lost or damaged, so its lines cannot be told apart"


@dataclass(frozen=True)
class PathTexts:
    """HEAD, the file and the steps of one path, in one form.

    ``converted``: that form is not the bytes on disk, because git converts line ends here. ``seen`` says
    which lines a hook rewrote in the commit alone. ``moved`` is what HEAD has where the file was moved from.
    """

    head: bytes | None
    disk: bytes | None
    steps: list[Step]
    converted: bool
    seen: rewrites.AsRead
    moved: bytes | None
    heads: Heads

    @property
    def base(self) -> bytes | None:
        """The text that the file is compared with: HEAD's, under whatever name."""
        return self.head if self.moved is None else self.moved

    @cached_property
    def pieces(self) -> Pieces:
        """Whose each line is."""
        return self.pieces_by(self.steps)

    def pieces_by(self, steps: Sequence[Step]) -> Pieces:
        """The same as other steps would tell it."""
        exists = self.head is not None
        heads = self.heads
        return pieces(self.base, self.disk, steps, heads.lines, heads.texts, exists=exists)


def read(scene: Scene, state: PathState) -> PathTexts:
    """Read a path. Whether a text of it is lost is known then, see :func:`lost_text`."""
    head, disk = head_text(scene, state.path), scene.contents[state.path].data
    first = _first(scene, state) or 0
    texts = [(r, b, a) for r, b, a in replay(state.journal, scene.layout) if r.is_exact and r.offset >= first]
    seen = rewrites.seen(texts, disk)
    texts, disk = seen.rows, seen.worktree
    converted = not is_plain(scene, state.path) or lost_crlf(head, disk, texts)
    if converted:  # with core.autocrlf the file has CRLF, its blob LF, and a payload either
        head, disk = one_form(head), one_form(disk)
        texts = [(r, one_form(b), one_form(a)) for r, b, a in texts]
    rows = [as_step(*row) for row in texts]
    start = head
    if rows:
        start = _start(scene, state, texts[0][0], texts[0][1], head)
    if converted:
        start = one_form(start)
    steps = [_read_late(scene, state, step) for step in chain(rows, start)]
    moved = _moved_text(scene, state) if head is None and disk is not None else None
    if moved is not None:
        moved = with_line_feeds(moved) if converted else moved
        steps = _arrived(steps, moved)
    records = [r for r, _, _ in texts]
    return PathTexts(head, disk, steps, converted, seen, moved, Heads(scene, state, records, converted))


class Heads:
    """The texts that HEAD had at a path when its steps were recorded; each is read once, if asked for."""

    def __init__(self, scene: Scene, state: PathState, rows: list[Record], converted: bool) -> None:
        self.scene, self.state, self.converted = scene, state, converted
        self.rows = [(row.offset, row.head) for row in rows if row.head]
        self._texts: dict[str, bytes | None] = {}
        self._lines: dict[str, set[bytes]] = {}

    def _text(self, head: str) -> bytes | None:
        if head not in self._texts:
            entry = history.entry_at(self.scene.repo, head, self.state.path)
            text = read_blob(self.scene, entry) if isinstance(entry, Entry) else None
            self._texts[head] = one_form(text) if self.converted else text
        return self._texts[head]

    def texts(self) -> set[bytes | None]:
        """All of them, but for no text at all: that says nothing of any line."""
        return {self._text(head) for _, head in self.rows} - {None}

    def lines(self, key: str) -> set[bytes]:
        """The lines that HEAD had when a step was recorded, or when an earlier one was."""
        if key not in self._lines:
            upto = int(key) if key.isdigit() else self.state.journal.size
            texts = {self._text(head) for offset, head in self.rows if offset <= upto}
            self._lines[key] = {line for text in texts for line in split_lines(text)}
        return self._lines[key]


def head_text(scene: Scene, path: bytes) -> bytes | None:
    """HEAD's text as a checkout would write it; the bytes themselves where nothing converts them."""
    entry = scene.reader.entry(path)
    if entry is None:
        return None
    return read_blob(scene, entry) if is_plain(scene, path) else working(scene, path, entry)


def is_plain(scene: Scene, path: bytes) -> bool:
    """True when the file's bytes are its blob's: nothing converts them."""
    content, made = scene.contents[path], scene.entries.get(path)
    same = made is None or made.oid.decode() == provenance.content_id(content)
    # A deleted file has no bytes to compare with: where git converts line ends, HEAD's text must be
    # converted.
    return same and not (content.absent and scene.converts)


def working(scene: Scene, path: bytes, entry: Entry) -> bytes:
    """A blob as a checkout would write it."""
    return blobs.working_form(scene.bench.git.at(scene.repo.root), path, entry)


def one_form(text: bytes | None) -> bytes | None:
    """A text with LF line ends: where git converts them, HEAD, file and records are compared so."""
    return None if text is None else with_line_feeds(text)


def takes_of(hunks: list[TextHunk], before: bytes | None, after: bytes | None) -> tuple[Take, ...] | None:
    """What the hunks of an assignment give; None where its texts are read in another way than they were."""
    places = [(h.start, h.removed, len(h.lines)) for h in hunks]
    return give.takes(full_lines(before or b""), full_lines(after or b""), places)


def as_step(record: Record, before: bytes | None, after: bytes | None) -> Step:
    """A record and its texts as the engine reads them."""
    if record.op == GAP:
        return Step(record.call or str(record.offset), None, before, after)
    key, head = str(record.offset), record.head or ""
    if record.op == ASSIGN:
        given = takes_of(record.hunks or [], before, after)
        if given is not None:
            return Step(key, record.session, after, after, head=head, seen=True, takes=given)
    if record.op in (UNDO, REDO):
        return Step(key, record.session, before, after, head=head, seen=True, undoes=record.units)
    if record.op == RESTORE:
        return Step(key, record.session, before, after, head=head, seen=True, restores=record.units)
    return Step(key, record.session, before, after, head=head, seen=record.seen)


def lost_crlf(head: bytes | None, content: bytes | None, texts: list[Row]) -> bool:
    """True when only records still have CRLF: a checkout wrote the file with the line ends of the blob."""
    if any(_has_crlf(text) for text in (head, content)):
        return False
    return any(_has_crlf(text) for _, before, after in texts for text in (before, after))


def _has_crlf(text: bytes | None) -> bool:
    # One byte is found by memchr; the pair alone cost a tenth of a commit after 1,000 edits of 50 KB.
    return text is not None and b"\r" in text and b"\r\n" in text


def whole_only(scene: Scene, state: PathState) -> tuple[str, str] | None:
    """The reason why lines of this path cannot be told apart, None when they can."""
    content, entry = scene.contents[state.path], scene.reader.entry(state.path)
    # A link's target and a submodule's commit have no lines.
    if content.mode not in FILES or (entry is not None and entry.mode not in FILES):
        return decision.CONTESTED, "it is not a plain file, and others have changes there"
    # A clean filter (git-lfs, git-crypt) makes of each text a blob in which no line of it can be found.
    if state.path in scene.filtered:
        return decision.FILTERED, "a clean filter governs it, and others have changes there"
    if len(content.data or b"") > TEXT_LIMIT:
        return decision.TOO_LARGE, f"it is larger than {TEXT_LIMIT >> 20} MiB, and others changed it"
    if _first(scene, state) is None:
        return decision.TOO_LARGE, f"it has more than {STEP_LIMIT} pending edits"
    return None


def _first(scene: Scene, state: PathState) -> int | None:
    """The record from which on they are read; None where more than STEP_LIMIT of them may be pending.

    Of a longer journal what HEAD had already, when a record found the file so, is left alone.
    """
    records = state.journal.records
    if len(records) <= STEP_LIMIT:
        return 0
    for record in records[-STEP_LIMIT:]:
        entry = history.entry_at(scene.repo, record.head, state.path) if record.is_exact else None
        if isinstance(entry, Entry) and entry.oid.decode() == record.before:
            return record.offset
    return None


def _read_late(scene: Scene, state: PathState, step: Step) -> Step:
    """Without the mark of an old read where git wrote its index since what it overwrote was recorded.

    A file that `git checkout` put back and an old copy of it are the same texts, and where no event read the
    file before the edit, nothing else tells them apart. Then nobody's line is refused for the other's.
    """
    times = [r.mtime for r in state.journal.records if str(r.offset) in step.over]
    try:
        written = os.stat(scene.repo.index).st_mtime_ns
    except FileNotFoundError:
        written = 0
    return step._replace(over=()) if any(at is None or written >= at for at in times) else step


def lost_text(scene: Scene, state: PathState) -> bool:
    """True when a record was found not to lead to its text, and HEAD never had what came of it.

    Asked once the texts were read.
    """
    damaged = set(state.journal.damaged)
    return any(not has_passed(scene, state, r.offset) for r in state.journal.records if r.offset in damaged)


def path_level(scene: Scene, state: PathState) -> bool:
    """True when the session claims more of the path than its texts tell."""
    return bool(claimants(state) & scene.own)


def claimants(state: PathState) -> set[str]:
    """The sessions that have the path pending, but not its lines: only of these a commit's word is asked."""
    return state.bare | {name for name in state.records if any(not r.is_exact for r in state.untold(name))}


def mode_of(scene: Scene, state: PathState) -> tuple[int, bool]:
    """The mode to commit, and whether the file has another that no session recorded."""
    content, head = scene.contents[state.path], scene.reader.entry(state.path)
    own = [r for r in state.journal.records if r.session in scene.own]
    if scene.by_person and head is not None and not content.absent:
        _, is_nobodys = provenance.mode_of(Chain(tuple(state.journal.records)), content, head.mode)
        return content.mode if is_nobodys else head.mode, False
    if head is None or not own:
        return content.mode or 0o100644, False
    if content.absent:
        return head.mode, False
    mode, is_left = provenance.mode_of(Chain(tuple(own)), content, head.mode)
    # one that is another session's goes with its commit
    return mode, is_left and provenance.mode_of(Chain(tuple(state.journal.records)), content, head.mode)[1]


def has_passed(scene: Scene, state: PathState, offset: int) -> bool:
    """True when HEAD, or a commit before it, was seen to hold the path as it was after a record.

    Then somebody committed the file as that record or a later one left it, whatever came after.
    """
    since = [r for r in state.journal.records if r.offset >= offset]
    texts = {r.after for r in since if r.after is not None}

    def holds(entry: Entry | history.Unknown | None) -> bool:
        return isinstance(entry, Entry) and entry.oid.decode() in texts

    if holds(scene.reader.entry(state.path)):
        return True
    head = refs.Head(None, scene.head)
    commits = dict.fromkeys(r.head for r in since[1:] if r.head is not None)
    return any(
        holds(history.entry_at(scene.repo, commit, state.path)) and refs.contains(scene.repo, head, commit)
        for commit in commits
    )


def _moved_text(scene: Scene, state: PathState) -> bytes | None:
    """What HEAD has where the file was moved from: of those lines HEAD had each, under another name."""
    seen = {state.path}
    while (records := state.journal.records) and records[0].op == "rename-to" and records[0].is_exact:
        path = records[0].other_path
        if path is None or path in seen:
            return None
        seen.add(path)
        entry = scene.reader.lookup_safe(path)
        if entry is not None:
            return read_blob(scene, entry) if entry.mode in FILES else None
        state = scene.recorded_at(path)
    return None


def _arrived(steps: list[Step], moved: bytes) -> list[Step]:
    """The steps of a file that was moved: first it came as HEAD had it, then with what was edited before."""
    first = steps[0]
    if first.owner is None or first.before is not None or first.after is None:
        return steps
    came = first._replace(key=first.key + ARRIVED, after=moved)
    return [came, first._replace(before=moved), *steps[1:]]


def _start(
    scene: Scene, state: PathState, first: Record, before: bytes | None, head: bytes | None
) -> bytes | None:
    """The text that HEAD held when the first step was recorded; older dirt shows as a gap."""
    if before == head:
        return before
    then = history.entry_at(scene.repo, first.head, state.path)
    if first.op == ASSIGN and first.head is None:
        return None  # there was no commit yet: an assignment knows
    if isinstance(then, history.Unknown):
        return before
    if then is None:
        return None
    plain = is_plain(scene, state.path)
    return read_blob(scene, then) if plain else working(scene, state.path, then)
