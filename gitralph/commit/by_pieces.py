"""Puts the question of one path to ``lines`` and turns its answer into an outcome.

Gathers texts and steps, and what HEAD had held; nothing that earlier commits took is asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from gitralph import isolate
from gitralph.base.quote import shown
from gitralph.commit import decision, provenance, rewrites, separate
from gitralph.commit.decision import Left, Outcome, Use
from gitralph.commit.inputs import Scene, manifest_upto, read_blob, records_of
from gitralph.git import history
from gitralph.git.snapshot import ABSENT, Content
from gitralph.git.texts import is_binary, with_line_feeds
from gitralph.git.trees import Entry
from gitralph.hook.journal import ASSIGN, Record, replay
from gitralph.isolate import Separation, Step
from gitralph.isolate.api import step_of
from gitralph.isolate.lines import split_lines
from gitralph.isolate.weave import NEWLINE
from gitralph.journal import shell
from gitralph.journal.pending import PathState
from gitralph.lines import choose, pieces

_FILES = (0o100644, 0o100755)


def separated(scene: Scene, state: PathState) -> Outcome:
    """The outcome for one path whose lines can be told apart."""
    others = sorted({r.session for r in state.journal.records if r.session} - scene.own)
    whom = others or [decision.UNRECORDED]
    barred = separate.whole_only(scene, state)
    if barred is not None:
        return _refuse(state, *barred, whom)
    if separate.path_level(scene, state):
        reason = decision.CONTESTED if others else decision.UNANCHORED
        return _refuse(state, reason, "only its path was recorded, and others changed it too", whom)
    steps, head, disk, converted, seen, rows = _texts(scene, state)
    if separate.lost_text(state):
        return _refuse(state, decision.UNANCHORED, separate.LOST_TEXT, whom)
    if any(map(is_binary, [head, disk, *(step.after for step in steps)])):
        return _refuse(state, decision.CONTESTED, "it is binary, and others have changes there", whom)
    at = _arrival(scene, state) if head is not None else None
    if at is not None:
        return _moved_onto(scene, state, at, whom)
    moved = _moved_text(scene, state) if head is None and disk is not None else None
    if moved is not None:
        moved = with_line_feeds(moved) if converted else moved
        steps = _arrived(steps, moved)
    heads = _Heads(scene, state, rows, converted)
    found = seen.told(
        choose.separate(
            head,
            steps,
            disk,
            owners=scene.own,
            skip_entangled=scene.wishes.skip_entangled,
            include_entangled=scene.wishes.include_entangled,
            follow=_follow(scene, state),
            held=heads.lines,
            heads=heads.texts,
            moved=moved,
        )
    )
    return _outcome(scene, state, head, found)


def _arrival(scene: Scene, state: PathState) -> int | None:
    """The record by which this session moved the file of today over a text that HEAD has still."""
    records, now = state.journal.records, provenance.content_id(scene.contents[state.path])
    moves = [n for n, r in enumerate(records) if r.op == "rename-to" and r.session in scene.own]
    if (
        not moves
        or records[-1].after != now
        or any(r.before is None and r.after for r in records[moves[-1] + 1 :])
    ):
        return None
    return None if separate.has_passed(scene, state, records[moves[-1]].offset) else moves[-1]


def _moved_onto(scene: Scene, state: PathState, at: int, whom: list[str]) -> Outcome:
    """It takes the place of HEAD's text where it found that there and no other's since: `mv` removed it."""
    records, there = state.journal.records, scene.reader.entry(state.path)
    since = records[at:]
    is_own = all(r.session in scene.own for r in since)
    is_chain = all(one.after == two.before for one, two in pairwise(since))
    was_there = there is not None and history.entry_at(scene.repo, since[0].head, state.path) == there
    is_known = not at or (there is not None and records[at - 1].after == there.oid.decode())
    if not (is_own and is_chain and was_there and is_known):
        detail = "it was made anew where HEAD has a text whose removal nobody of this session recorded"
        return _refuse(state, decision.CONTESTED, detail, whom)
    content = scene.contents[state.path]
    note = f"'{shown(state.path)}' was replaced by a file that was moved there"
    notes = () if content.absent else (note,)
    return Outcome(state.path, content, decision.WHOLE_FILE, (), _uses(scene, state), notes)


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
            return read_blob(scene, entry) if entry.mode in _FILES else None
        state = scene.recorded_at(path)
    return None


def _arrived(steps: list[Step], moved: bytes) -> list[Step]:
    """The steps of a file that was moved: first it came as HEAD had it, then with what was edited before."""
    first = steps[0]
    if first.owner is None or first.before is not None or first.after is None:
        return steps
    came = first._replace(key=f"{first.key}m", after=moved)
    return [came, first._replace(before=moved), *steps[1:]]


def _texts(
    scene: Scene, state: PathState
) -> tuple[list[Step], bytes | None, bytes | None, bool, rewrites.AsRead, list[Record]]:
    head, disk = separate.head_text(scene, state.path), scene.contents[state.path].data
    texts = [(r, b, a) for r, b, a in replay(state.journal, scene.layout) if r.is_exact]
    seen = rewrites.seen(texts, disk)
    texts, disk = seen.rows, seen.worktree
    converted = not separate.is_plain(scene, state.path) or separate.lost_crlf(head, disk, texts)
    if converted:
        head, disk = separate.one_form(head), separate.one_form(disk)
        texts = [(r, separate.one_form(b), separate.one_form(a)) for r, b, a in texts]
    rows = [separate.as_step(*row) for row in texts]
    rows = [Step(s.key, s.owner, s.before, s.after, head=s.head, seen=s.seen, takes=s.takes) for s in rows]
    start = head
    if rows:
        start = _start(scene, state, texts[0][0], texts[0][1], head)
    if converted:
        start = separate.one_form(start)
    return isolate.chain(rows, start), head, disk, converted, seen, [r for r, _, _ in texts]


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
    plain = separate.is_plain(scene, state.path)
    return read_blob(scene, then) if plain else separate.working(scene, state.path, then)


class _Heads:
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
            self._texts[head] = separate.one_form(text) if self.converted else text
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


def _follow(scene: Scene, state: PathState) -> str:
    """How corrections go along: where another's command may have made one, only if no word changed."""
    if scene.config.choice("ralph.unrecorded", "follow", "leave") == "leave":
        return choose.LEAVE
    mine = records_of(scene, state)
    first = min((r.offset for r in mine), default=0)
    old = {r.before for r in mine if r.offset == first}
    old |= {r.after for r in state.journal.records if r.offset < first}
    content = scene.contents[state.path]
    now = (provenance.content_id(content), f"{content.mode:o}" if content.mode else None)
    known = {text for text in old if text is not None}
    if shell.may_have_changed(scene.layout, state.path, now, scene.own, known):
        return choose.FORM
    return choose.WORDS


def _refuse(state: PathState, reason: str, detail: str, sessions: list[str]) -> Outcome:
    return Outcome(state.path, left=(Left(state.path, reason, detail, tuple(sessions)),))


def _uses(scene: Scene, state: PathState, taken: Iterable[str] = ()) -> tuple[Use, ...]:
    """All that the session has there is told of: what it means later, the lines say."""
    keys = {str(r.offset): r.session for r in state.journal.records}
    units = list(taken)
    return tuple(
        Use(
            name,
            state.journal.size,
            manifest_upto(scene, state, name),
            tuple(unit for unit in units if keys.get(step_of(unit)) == name) or None,
        )
        for name in sorted({r.session for r in records_of(scene, state)} | (scene.own & state.bare))
    )


def _outcome(scene: Scene, state: PathState, head: bytes | None, found: Separation) -> Outcome:
    mode, is_foreign = separate.mode_of(scene, state)
    entry = scene.reader.entry(state.path)
    same_mode = entry is None or mode == entry.mode or found.text is None
    is_same = found.text == head and same_mode
    left, notes = (
        separate.left_of(state, found),
        separate.notes_of(scene, state, _unsaid(scene, state, found)),
    )
    if found.refused or (is_same and left):
        return Outcome(state.path, left=left, notes=notes)
    if is_same:
        return _nothing(scene, state, notes)
    content = ABSENT if found.text is None else Content(mode, found.text)
    if is_foreign and found.text is not None:
        notes = (*notes, provenance.FOREIGN_MODE.format(shown(state.path)))
    uses = _uses(scene, state, found.taken)
    return Outcome(state.path, content, decision.EDITS, left, uses, notes, includes=frozenset(found.includes))


def _unsaid(scene: Scene, state: PathState, found: Separation) -> Separation:
    """Without what an earlier commit said already of lines that are settled."""
    if scene.undone:
        return found
    fresh = {str(r.offset) for name in scene.own for r in state.pending.get(name, ())}
    notes = [
        note
        for note in found.notes
        if note.kind != "left out" or any(step_of(u) in fresh for u in note.units)
    ]
    return found._replace(notes=tuple(notes))


def _nothing(scene: Scene, state: PathState, notes: tuple[str, ...]) -> Outcome:
    """No line of this session's is to be committed; said once."""
    if not state.owners() & scene.own:
        return Outcome(state.path)
    unchanged = Left(state.path, decision.UNCHANGED, "nothing of this session's is left to commit")
    if not notes:
        notes = (f"'{shown(state.path)}': what this session did there is in HEAD or gone; nothing to commit",)
    seen = provenance.content_id(scene.contents[state.path])
    return Outcome(state.path, left=(unchanged,), uses=_uses(scene, state), notes=notes, void=True, seen=seen)


def lines_along(scene: Scene, state: PathState, left_by: Record) -> dict[bytes, str | None]:
    """The lines that a move took along from a path and that are neither HEAD's nor the session's: whose."""
    texts = [(r, b, a) for r, b, a in replay(state.journal, scene.layout) if r.is_exact]
    moved = next((before for r, before, _ in texts if r.offset == left_by.offset), None)
    texts = [row for row in texts if row[0].offset < left_by.offset]
    entry = history.entry_at(scene.repo, left_by.head, state.path)
    head = read_blob(scene, entry) if isinstance(entry, Entry) else None
    head, moved = separate.one_form(head), separate.one_form(moved)
    rows = [separate.as_step(r, separate.one_form(b), separate.one_form(a)) for r, b, a in texts]
    rows = [Step(s.key, s.owner, s.before, s.after, head=s.head, seen=s.seen, takes=s.takes) for s in rows]
    steps = isolate.chain(rows, rows[0].before if rows else head)
    known = pieces.pieces(head, moved, steps)
    came = {str(r.offset): r for r, _, _ in texts if r.op == "rename-to" and r.session in scene.own}
    found = dict[bytes, str | None]()
    for line in known.differing():
        if line <= NEWLINE or not known.is_added(line):
            continue
        unit = known.weave.units[known.unit(line)]
        record = came.get(unit.key.rpartition(".")[0])
        if unit.owner not in scene.own:
            found[known.weave.content(line)] = unit.owner
        elif record is not None and record.other_path is not None:
            there = scene.recorded_at(record.other_path)
            name = state.path.decode("utf-8", "surrogateescape")
            ends = [r for r in there.journal.records if r.op == "rename-from" and r.other == name]
            ends = [r for r in ends if r.offset != left_by.offset or there is not state]
            if ends and there.path != state.path:
                found |= lines_along(scene, there, ends[-1])
    return found
