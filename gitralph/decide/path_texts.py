"""Reads one path before anybody asks whose its lines are: HEAD's text, the file and the recorded steps.

All texts are in working-tree form, with one form of line ends. ``commit``, ``status``, ``why``, ``undo`` and
``assign`` ask the pieces that are made of these texts.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property

from gitralph.base.kinds import Kind, Why
from gitralph.decide import decision, hook_rewrites, text_chain
from gitralph.decide.hook_rewrites import Row
from gitralph.decide.inputs import Scene, read_blob, records_of, text_at
from gitralph.git import blobs, history, reflog, refs
from gitralph.git.snapshot import Content
from gitralph.git.texts import is_binary, with_line_feeds
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
    text_id,
)
from gitralph.hook.record import path_text
from gitralph.lines import give
from gitralph.lines.conflict import heads_side
from gitralph.lines.formatting import told_apart
from gitralph.lines.order import chain
from gitralph.lines.pieces import Pieces, pieces
from gitralph.lines.terms import ARRIVED, Step, Take
from gitralph.lines.terms import GAP as GAP_KEY
from gitralph.lines.text import difference, is_telling, split_lines
from gitralph.records import commit_log, path_records
from gitralph.records.path_records import PathState

FILES = (0, 0o100644, 0o100755)
"""Modes of plain files; 0 stands for no file."""

_NUMBERS = itertools.count()

# The weave keeps every line that ever stood in the file, so memory grows with text and edits. Beyond these
# limits a file is judged whole; nobody reads a diff of such a file either. Two thousand pending edits of one
# path are days of work without a commit. Each commit, status and diff of the path folds all of them into the
# weave.
STEP_LIMIT = 2000

_MOVES = 50
"""So many moves of HEAD are looked at where somebody reset it behind what he had committed."""

LOST_TEXT = Why(Kind.NOT_APART, because=Why(Kind.TEXT_LOST))


@dataclass(frozen=True)
class PathTexts:
    """HEAD's text, the file and the steps of one path, in one form of line ends.

    ``converted``: git converts line ends here, so this form is not the bytes on disk. ``seen`` says which
    lines a repository hook rewrote in the commit alone. ``moved`` is HEAD's text at the path from which the
    file was moved, ``carried`` the records made at that old path.
    """

    head: bytes | None
    disk: bytes | None
    steps: list[Step]
    converted: bool
    seen: hook_rewrites.AsRead
    moved: bytes | None
    heads: Heads
    carried: tuple[Record, ...] = ()

    @property
    def base(self) -> bytes | None:
        """The text that the file is compared with:

        HEAD's at this path, or at the path that the file was moved from.
        """
        return self.head if self.moved is None else self.moved

    @property
    def is_new(self) -> bool:
        """True where a record made the file and HEAD never had it, under no name."""
        came = any(step.key.endswith(ARRIVED) and step.after is not None for step in self.steps)
        is_made = bool(self.carried) and self.carried[0].before is None
        return is_made and not came and not self.heads.texts()

    @cached_property
    def has_binary(self) -> bool:
        """True when HEAD's text, the file or a recorded text is binary."""
        return any(map(is_binary, [self.head, self.disk, *(step.after for step in self.steps)]))

    @property
    def unsure_moves(self) -> list[int]:
        """The records of moves onto this path that may have overwritten another's uncommitted change.

        A hook sees a move only when it is done. Then nobody knows whether the overwritten change still stood
        there. A move counts as undone, and is not listed, where the file is again as before it or holds no
        line of what was moved.
        """
        found = [at for at, step in enumerate(self.steps) if step.onto and step.before is not None]
        return [int(self.steps[at].key.removesuffix(ARRIVED)) for at in found if not self._is_sure(at)]

    def _is_sure(self, at: int) -> bool:
        moved = self.steps[at]
        came = set(split_lines(moved.after)) - set(split_lines(moved.before))
        went_on = self.disk is None and self.steps[-1].after is None  # moved on or deleted, by a record
        is_undone = not went_on and not any(map(is_telling, came.intersection(split_lines(self.disk))))
        if is_undone or any(step.after == self.disk for step in self.steps[:at]):
            return True
        then = self.heads.text(moved.head) if moved.head else None
        if moved.head and then != self.head and not self.heads.scene.contains(moved.head):
            return False  # HEAD has lost what it had then, and that is uncommitted again
        for step in reversed(self.steps[:at]):
            if step.after == then or step.owner != moved.owner:
                return step.after == then
        return self.steps[0].before == then

    @cached_property
    def pieces(self) -> Pieces:
        """Every line of the path and its owner, by the steps as recorded."""
        return self.pieces_by(self.steps)

    def pieces_by(self, steps: Sequence[Step]) -> Pieces:
        """The same pieces for other steps than the recorded ones."""
        exists = self.head is not None
        heads = self.heads
        return pieces(self.base, self.disk, steps, heads.lines, heads.texts, heads.lines_then, exists=exists)


def read(scene: Scene, state: PathState, carry: bool = True) -> PathTexts:
    """Read a path. Afterwards :func:`lost_text` can tell whether a recorded text is lost.

    ``carry`` also reads the records that were made at the file's old path. Undoing a move does not want them.
    """
    head, disk = head_text(scene, state.path), scene.contents[state.path].data
    first = _first(scene, state) or 0
    texts = [(r, b, a) for r, b, a in replay(state.journal, scene.layout) if r.is_exact and r.offset >= first]
    if carry:
        texts = _kept(texts, text_chain.lasting(scene, state))
    seen = hook_rewrites.seen(texts, disk)
    texts, disk = seen.rows, seen.worktree
    carried, arrivals = _carried(scene, state) if carry and not first else ([], [])
    converted = not is_plain(scene, state.path) or _lost_crlf(
        scene, state.path, head, disk, [*carried, *texts]
    )
    start = _start(scene, state, texts[0][0], texts[0][1], head) if texts else head
    moved = _moved_text(scene, state) if head is None and disk is not None else None
    if converted:  # with core.autocrlf the file has CRLF, its blob LF, and a payload either
        head, disk, start, moved = one_form(head), one_form(disk), one_form(start), one_form(moved)
        texts = [(r, one_form(b), one_form(a)) for r, b, a in texts]
        carried = [(r, one_form(b), one_form(a)) for r, b, a in carried]
    texts = _without_conflicts(texts, head)
    rows, records = [as_step(*row) for row in texts], [r for r, _, _ in (*carried, *texts)]
    heads = Heads(scene, state, records, converted)
    is_told = bool(carried) or (moved is not None and bool(rows) and rows[0].before is None)
    if is_told:
        then = moved if moved is not None else _text_that_left(heads, arrivals or [texts[0][0]])
        rows = _from_old_path(
            rows, [as_step(*row) for row in carried], then, bool(arrivals), moved is not None
        )
    known = [*(r for r, _, _ in carried), *state.journal.records]
    steps = [_read_late(scene, known, step) for step in chain(rows, start)]
    if not is_told:
        moves = {str(r.offset): r for r, _, _ in texts if r.op == "rename-to" and r.head}
        steps = [_with_came(step, moves[step.key], heads) if step.key in moves else step for step in steps]
    steps = told_apart(steps, heads.lines)
    return PathTexts(head, disk, steps, converted, seen, moved, heads, tuple(r for r, _, _ in carried))


def _without_conflicts(texts: list[Row], head: bytes | None) -> list[Row]:
    """The records, each conflict that a session settled as HEAD's side, where the other side is its own."""
    in_head, own, out = set(split_lines(head)), dict[str, set[bytes]](), list[Row]()
    for record, before, after in texts:
        mine = own.setdefault(record.session, set())
        # the places of what a person gave are those of the file as it stood
        if record.op not in (GAP, ASSIGN):
            before, after = heads_side(before, in_head, mine), heads_side(after, in_head, mine)
            mine.update(difference(before, after)[1])
        out.append((record, before, after))
    return out


def _text_that_left(heads: Heads, arrivals: Sequence[Record]) -> bytes | None:
    """The text that HEAD had of a file when it was moved, the last move first; None where it never had it.

    Where the file had come over another one, HEAD's text may be that other one's still.
    """
    for move, before in itertools.zip_longest(arrivals, arrivals[1:]):
        text = heads.left(move)
        is_older = before is not None and before.head and text == heads.text(before.head, move.other_path)
        if text is not None and not is_older:
            return text
    return None


def _with_came(step: Step, record: Record, heads: Heads) -> Step:
    """A step that moved a file here, with the lines that HEAD had under its old name.

    Of a file that HEAD did not have, nobody knows who wrote its lines.
    """
    there = heads.left(record)
    return step._replace(came=frozenset(split_lines(step.after if there is None else there)))


class Heads:
    """The texts that HEAD had at a path when its steps were recorded. Each text is read once, on demand."""

    def __init__(self, scene: Scene, state: PathState, rows: list[Record], converted: bool) -> None:
        self.scene, self.state, self.converted = scene, state, converted
        self.rows = [
            (row.offset, row.head, (row.other_path if row.offset < 0 else None) or state.path)
            for row in rows
            if row.head
        ]
        self._all = [*self.rows, *((upto, oid, state.path) for upto, oid in commit_log.heads(state.journal))]
        self._texts: dict[tuple[str, bytes], bytes | None] = {}
        self._lines: dict[str, set[bytes]] = {}
        self._then: dict[str, set[bytes]] = {}

    def text(self, head: str, path: bytes | None = None) -> bytes | None:
        """The text that the commit ``head`` has at ``path``, by default at this path."""
        path = path or self.state.path
        if (head, path) not in self._texts:
            text = text_at(self.scene, head, path)
            self._texts[head, path] = one_form(text) if self.converted else text
        return self._texts[head, path]

    def left(self, move: Record) -> bytes | None:
        """The text that HEAD had at the old path when a move took the file from there."""
        return self.text(move.head, move.other_path) if move.head and move.other_path is not None else None

    def at(self, key: str) -> bytes | None:
        """What HEAD had when a step was recorded."""
        return next((self.text(head, path) for offset, head, path in self.rows if str(offset) == key), None)

    def lines_then(self, key: str) -> set[bytes]:
        """The lines that HEAD had when a step was recorded."""
        if key not in self._then:
            self._then[key] = set(split_lines(self.at(key)))
        return self._then[key]

    def texts(self) -> set[bytes | None]:
        """All of these texts. A commit without the file is left out: it says nothing about any line."""
        return {self.text(head, path) for _, head, path in self.rows} - {None}

    def resets(self) -> Iterator[tuple[bytes | None, bytes | None]]:
        """The text before and after each commit that HEAD had and lost, by its reflog; the latest first.

        An amend is left out, and what a rebase squeezed into a commit: that is no commit of its own.
        """
        repo, path = self.scene.repo, self.state.path
        moves = [(m.old, m.new) for m in reflog.of_head(repo)[-_MOVES:]]
        if self.scene.head is not None:
            refs.look_up(repo, self.scene.head, (new for _, new in moves if new is not None))
        for old, new in reversed(moves):
            if old is None or new is None or self.scene.contains(new):
                continue
            is_changed = history.entry_at(repo, old, path) != history.entry_at(repo, new, path)
            if is_changed and refs.contains(repo, refs.Head(None, new), old):
                yield self.text(old), self.text(new)

    def lines(self, key: str) -> set[bytes]:
        """The lines that HEAD had when the step ``key`` was recorded, or before; for "" those at any step.

        Before a step also by commits of the log, which may have been taken back since.
        """
        if key not in self._lines:
            upto = int(key) if key.lstrip("-").isdigit() else self.state.journal.size
            rows = self._all if key else self.rows
            texts = {self.text(head, path) for offset, head, path in rows if offset <= upto}
            self._lines[key] = {line for text in texts for line in split_lines(text)}
        return self._lines[key]


def head_text(scene: Scene, path: bytes) -> bytes | None:
    """HEAD's text as a checkout would write it: the blob itself where git converts nothing."""
    entry = scene.reader.entry(path)
    if entry is None:
        return None
    return read_blob(scene, entry) if is_plain(scene, path) else working(scene, path, entry)


def is_plain(scene: Scene, path: bytes) -> bool:
    """True when the file's bytes are the blob's, so that git converts nothing."""
    content, made = scene.contents[path], scene.entries.get(path)
    same = made is None or made.oid.decode() == text_chain.content_id(content)
    # A deleted file has no bytes to compare with. Where git converts line ends, HEAD's text must be
    # converted.
    return same and not (content.absent and scene.converts)


def working(scene: Scene, path: bytes, entry: Entry) -> bytes:
    """A blob's text as a checkout would write it."""
    return blobs.working_form(scene.bench.git.at(scene.repo.root), path, entry)


def one_form(text: bytes | None) -> bytes | None:
    """A text with LF line ends.

    Where git converts line ends, HEAD, file and records are compared in this form.
    """
    return None if text is None else with_line_feeds(text)


def line_set(text: bytes | None) -> set[bytes]:
    """The lines of a text in the one form in which texts are compared."""
    return set(split_lines(one_form(text)))


def head_lines(scene: Scene, path: bytes) -> set[bytes]:
    """The lines of HEAD's file in that form; none of a link or a submodule."""
    entry = scene.reader.entry(path)
    return line_set(read_blob(scene, entry)) if entry is not None and entry.mode in FILES else set()


def takes_of(hunks: list[TextHunk], before: bytes | None, after: bytes | None) -> tuple[Take, ...] | None:
    """What each hunk of an assignment gives; None where the texts have other line ends than it recorded."""
    places = [(h.start, h.removed, len(h.lines)) for h in hunks]
    return give.takes(full_lines(before or b""), full_lines(after or b""), places)


def as_step(record: Record, before: bytes | None, after: bytes | None) -> Step:
    """Turn a record and its texts into a step for ``lines``."""
    if record.op == GAP:
        key = f"{GAP_KEY}{record.offset}" if record.may or not record.call else record.call
        return Step(key, None, before, after, offered=bool(record.may))
    key, head = str(record.offset), record.head or ""
    if record.op == ASSIGN:
        given = takes_of(record.hunks or [], before, after)
        if given is not None:
            return Step(key, record.session, after, after, head=head, seen=True, takes=given)
    if record.op in (UNDO, REDO):
        return Step(key, record.session, before, after, head=head, seen=True, undoes=record.units)
    if record.op == RESTORE:
        return Step(key, record.session, before, after, head=head, seen=True, restores=record.units)
    onto = record.op == "rename-to" and before is None
    return Step(
        key,
        record.session,
        before,
        after,
        head=head,
        seen=record.seen,
        alone=record.alone,
        onto=onto,
        moved=record.op == "rename-to",
        by_shell=record.by_shell and record.op != "rename-from",
    )


def _lost_crlf(
    scene: Scene, path: bytes, head: bytes | None, content: bytes | None, texts: list[Row]
) -> bool:
    """True when only the records still have CRLF: a checkout wrote the file with LF, as the blob has it."""
    if any(_has_crlf(text) for text in (head, content)):
        return False
    known = next((text for _, *both in texts for text in both if text and _has_crlf(text)), None)
    if known is None:
        return False
    # Where git stores CRLF as it stands, somebody took it out, and that is a change like any other.
    name = f"crlf-{next(_NUMBERS)}"
    made = blobs.blobs_for(scene.bench, name, {path: Content(0o100644, known)}, scene.reader, scene.worktree)
    entry = made[path]
    return entry is not None and entry.oid.decode() != text_id(known)


def _has_crlf(text: bytes | None) -> bool:
    # memchr finds one byte fast. A search for the pair alone took a tenth of a commit after 1,000 edits of 50
    # KB.
    return text is not None and b"\r" in text and b"\r\n" in text


def whole_only(scene: Scene, state: PathState) -> tuple[str, Why] | None:
    """The reason why the lines of this path cannot be told apart, None when they can."""
    content, entry = scene.contents[state.path], scene.reader.entry(state.path)
    # A symbolic link's target and a submodule's commit have no lines.
    if content.mode not in FILES or (entry is not None and entry.mode not in FILES):
        return decision.CONTESTED, Why(Kind.NO_FILE)
    # A clean filter (git-lfs, git-crypt) turns each text into a blob in which no line of the text is found.
    if state.path in scene.filtered:
        return decision.FILTERED, Why(Kind.CLEAN_FILTER)
    if len(content.data or b"") > TEXT_LIMIT:
        return decision.TOO_LARGE, Why(Kind.LARGE, number=TEXT_LIMIT >> 20)
    if _first(scene, state) is None:
        return decision.TOO_LARGE, Why(Kind.MANY_EDITS, number=STEP_LIMIT)
    return None


def has_lines(scene: Scene, state: PathState) -> bool:
    """True when the file on disk is text whose lines can be told apart."""
    return whole_only(scene, state) is None and not is_binary(scene.contents[state.path].data)


def _first(scene: Scene, state: PathState) -> int | None:
    """The offset of the first record to read; None where more than STEP_LIMIT records may be pending.

    A longer journal is read from the last record that found the file as HEAD had it then.
    """
    records = state.journal.records
    if len(records) <= STEP_LIMIT:
        return 0
    for record in records[-STEP_LIMIT:]:
        entry = history.entry_at(scene.repo, record.head, state.path) if record.is_exact else None
        if isinstance(entry, Entry) and entry.oid.decode() == record.before:
            return record.offset
    return None


def _read_late(scene: Scene, records: Sequence[Record], step: Step) -> Step:
    """Drop the mark of an old read where git may have written the file in between.

    `git checkout` may put an old text back, and an agent may write from an old copy: both leave the same
    texts. Where no event read the file before the edit, only the time of git's index tells them apart. In
    doubt the mark goes, so that no line is refused for it.
    """
    if not step.over:
        return step
    times = [r.mtime for r in records if str(r.offset) in step.over]
    try:
        written = os.stat(scene.repo.index).st_mtime_ns
    except FileNotFoundError:
        written = 0
    return step._replace(over=()) if any(at is None or written >= at for at in times) else step


def lost_text(scene: Scene, state: PathState) -> bool:
    """True when a record does not lead to its text and HEAD never held what came of it.

    Ask this after :func:`read`, which finds the damaged records.
    """
    damaged = set(state.journal.damaged)
    return any(not has_passed(scene, state, r.offset) for r in state.journal.records if r.offset in damaged)


def path_level(scene: Scene, state: PathState) -> bool:
    """True when the session claims the path itself, and not only lines that its texts tell."""
    return bool(claimants(state) & scene.own)


def claimants(state: PathState) -> set[str]:
    """The sessions that have the path itself pending, without its lines.

    Only such a claim ends when a commit has told of it.
    """
    return state.bare | {name for name in state.records if any(not r.is_exact for r in state.untold(name))}


def mode_to_commit(scene: Scene, state: PathState) -> tuple[int, bool]:
    """The mode to commit, and whether the file's own mode is one that no session recorded."""
    content, head = scene.contents[state.path], scene.reader.entry(state.path)
    if head is None:
        return content.mode or 0o100644, False
    if content.absent:
        return head.mode, False
    if not scene.by_person and not records_of(scene, state):
        return content.mode, False
    # what a commit took of a mode before explains no later one
    records = state.journal.records
    late = {r.offset for name in {r.session for r in records} for r in state.untold(name)}
    late |= {r.offset for r in text_chain.since_head(scene, state)}
    counting = [r for r in records if r.offset in late]
    own = [r for r in counting if r.session in scene.own and r.op != GAP]
    others = [r for r in counting if r.session not in scene.own and r.op != GAP]
    if scene.by_person:
        _, is_nobodys = text_chain.mode_of(counting, content, head.mode)
        return content.mode if is_nobodys else head.mode, False
    mode, is_left = text_chain.mode_of(own, content, head.mode)
    # a mode that another session recorded goes with that session's commit
    return mode, is_left and text_chain.mode_of(others, content, head.mode)[1]


def has_passed(scene: Scene, state: PathState, offset: int) -> bool:
    """True when HEAD or a commit before it is known to hold the path as a record, or a later one, left it.

    Then somebody committed the file in that state, whatever came after.
    """
    since = [r for r in state.journal.records if r.offset >= offset]
    texts = {r.after for r in since if r.after is not None}

    def holds(entry: Entry | history.Unknown | None) -> bool:
        return isinstance(entry, Entry) and entry.oid.decode() in texts

    if holds(scene.reader.entry(state.path)):
        return True
    commits = dict.fromkeys(r.head for r in since[1:] if r.head is not None)
    return any(
        holds(history.entry_at(scene.repo, commit, state.path)) and scene.contains(commit)
        for commit in commits
    )


def is_back(scene: Scene, state: PathState) -> bool:
    """True for a file that HEAD lacks and a commit before HEAD had just so: somebody took it out and back.

    What a session had in it is committed, and who brings it back has to commit it.
    """
    now = text_chain.content_id(scene.contents[state.path])
    if now is None or scene.head is None or scene.reader.entry(state.path) is not None:
        return False
    records = state.journal.records
    made = max((r.offset for r in records if r.before is None and r.after and r.op != GAP), default=-1)
    commits = [*((r.offset, r.head) for r in records), *commit_log.heads(state.journal)]
    # what a record made anew since is that session's, as a commit had it before or not
    heads = dict.fromkeys(oid for at, oid in commits if oid and at >= made)
    then = {oid: history.entry_at(scene.repo, oid, state.path) for oid in heads}
    same = (oid for oid, entry in then.items() if isinstance(entry, Entry) and entry.oid.decode() == now)
    return any(map(scene.contains, same))


def _moved_text(scene: Scene, state: PathState) -> bytes | None:
    """HEAD's text at the path from which the file was moved; None where there is none.

    Each of its lines is in HEAD, under another name.
    """
    path = moved_from(scene, state)
    entry = scene.reader.lookup_safe(path) if path is not None else None
    return read_blob(scene, entry) if entry is not None and entry.mode in FILES else None


def moved_from(scene: Scene, state: PathState) -> bytes | None:
    """The path at which HEAD has a file that was moved here; None where there is none.

    None also where a file stands at the old path again, or where the file here was made anew since.
    """
    seen = {state.path}
    while (records := text_chain.lasting(scene, state)) and records[0].op == "rename-to":
        path = records[0].other_path
        made = [r for r in records[1:] if r.op not in (REDO, RESTORE)]
        is_anew = any(r.before is None and r.after is not None for r in made)
        if path is None or path in seen or is_anew or not _is_gone(scene, path):
            return None
        seen.add(path)
        entry, state = scene.reader.lookup_safe(path), scene.recorded_at(path)
        to = text_chain.arrival(scene, state)
        # the file had come over the one that HEAD has there
        is_others = to is not None and entry == history.entry_at(scene.repo, to.head, path)
        if entry is not None and not is_others:
            return path
    return None


def _is_gone(scene: Scene, path: bytes) -> bool:
    content = scene.contents.get(path)
    if content is not None:
        return content.absent
    return not os.path.lexists(os.path.join(os.fsencode(scene.repo.root), path))


def _carried(scene: Scene, state: PathState) -> tuple[list[Row], list[Record]]:
    """The records of a file from its old paths, before it was moved here; their offsets are negative.

    Also the moves that brought it, the last one first; none where it was not moved here as it stood.
    """
    to, seen, out = text_chain.arrival(scene, state), {state.path}, list[Row]()
    arrivals = list[Record]()
    while to is not None and to.other_path is not None and to.other_path not in seen:
        here, old = state, scene.recorded_at(to.other_path)
        left = path_records.left_by(scene.layout, old.journal, to, here.path)
        if left is None:
            break
        seen.add(old.path)
        arrivals.append(to)
        texts = _kept(replay(old.journal, scene.layout), text_chain.lasting(scene, old, left.offset))
        state, to = old, text_chain.arrival(scene, old, left.offset)
        found = [row for row in texts if row[0].offset < left.offset and row[0] is not to]
        shift = left.offset + 1 - (out[0][0].offset if out else 0)
        out = [(_at(r, r.offset - shift, old.path), b, a) for r, b, a in found] + out
    return out, arrivals


def _kept(rows: Sequence[Row], records: Sequence[Record]) -> list[Row]:
    kept = {r.offset for r in records}
    return [row for row in rows if row[0].is_exact and row[0].offset in kept]


def _at(record: Record, offset: int, path: bytes) -> Record:
    """A copy of a record for another place in a longer journal."""
    found = copy(record)
    found.offset, found.other = offset, path_text(path)
    if record.op in (UNDO, REDO, RESTORE):
        found.op = "edit"  # its units are named by offsets of the old journal
    return found


def _from_old_path(
    rows: list[Step], carried: list[Step], then: bytes | None, is_unchanged: bool, in_head: bool
) -> list[Step]:
    """The steps of a moved file: it arrives as HEAD had it ``then``; edits before and after the move follow.

    Where the file was not moved as it stood, what differs from that text is the mover's. Where HEAD had it,
    who had once made it has no part in its being here. Where HEAD has it still (``in_head``), nothing is the
    mover's: it is read from its first record on, as any file.
    """
    first = rows[0]
    if then is not None:
        carried = [s._replace(before=s.before or b"", after=s.after or b"", moved=True) for s in carried]
    start = carried[0].before if carried and (then is None or in_head) else then
    text = start if then is None else then
    came = first._replace(key=first.key + ARRIVED, after=start, came=frozenset(split_lines(text)))
    moved = first._replace(before=first.after if is_unchanged else start, onto=False)
    return [came, *carried, moved, *rows[1:]]


def _went_back(scene: Scene, since: str | None) -> bool:
    """True where HEAD is an ancestor of what it was."""
    if since is None or scene.head is None or scene.contains(since):
        return False
    return refs.contains(scene.repo, refs.Head(None, since), scene.head)


def _start(
    scene: Scene, state: PathState, first: Record, before: bytes | None, head: bytes | None
) -> bytes | None:
    """The text that HEAD held when the first step was recorded. Older uncommitted changes are a gap.

    Where HEAD went back behind that, as by a reset, it is HEAD's text now: what was between is a gap, too.
    """
    if before == head:
        return before
    if _went_back(scene, first.head):
        return head
    then = history.entry_at(scene.repo, first.head, state.path)
    if first.op == ASSIGN and first.head is None:
        return None  # an assignment knows that there was no commit yet
    if isinstance(then, history.Unknown):
        return before
    if then is None:
        return None
    plain = is_plain(scene, state.path)
    return read_blob(scene, then) if plain else working(scene, state.path, then)
