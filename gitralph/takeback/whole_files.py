"""Files whose lines are not told apart: binary ones, links, large and filtered ones, claims by path.

Such a file goes back as a whole, and only where this session alone changed it and it still is as the session
left it. Then nobody can lose a byte.
"""

from __future__ import annotations

from collections.abc import Collection

from gitralph.base.kinds import Kind, Why
from gitralph.decide import decision, path_texts, text_chain
from gitralph.decide.decision import Left
from gitralph.decide.inputs import read_blob
from gitralph.git.snapshot import ABSENT, Content
from gitralph.git.trees import GITLINK, Entry
from gitralph.hook.journal import GAP, RESTORE, TEXT_LIMIT, UNDO, Record, replay
from gitralph.takeback import by_lines
from gitralph.takeback.land_files import Replacement
from gitralph.takeback.survey import Survey


def standing(found: Survey, path: bytes) -> list[Record]:
    """The session's records that lead from HEAD's text to the file, in order."""
    scene = found.scene
    if scene.is_as_in_head(path):
        return []
    return by_lines.since_head(found, path)


def undone(
    found: Survey, path: bytes, keys: Collection[str] | None, why: tuple[str, Why], call: str
) -> Replacement | Left | None:
    """The file as it was before these records, or why not; None where there is nothing to take back."""
    scene, state = found.scene, found.states[path]
    known = standing(found, path)
    asked = [r for r in known if keys is None or str(r.offset) in keys]
    claimed = keys is None and bool(state.bare & scene.own)
    if not asked and not claimed:
        return None
    others = _others(found, path, known)
    if others:
        why_not = Why(Kind.OTHERS_THERE, because=why[1])
        return Left(path, decision.CONTESTED, why_not, tuple(sorted(others)))
    content = scene.contents[path]
    if content.mode == GITLINK:
        return Left(path, decision.SUBMODULE, Why(Kind.SUBMODULE))
    # The records cannot put back a text that nobody recorded; HEAD may have it.
    if claimed or any(not r.is_exact for r in asked):
        return _to_head(found, path, asked, claimed, call)
    # Whole texts come back in reverse order only: one from the middle would take the later ones along.
    if known[-len(asked) :] != asked:
        return Left(path, decision.ENTANGLED, Why(Kind.LATER_EDITS, because=why[1]), (found.session,))
    last = state.journal.records[-1]
    # The text before the first record lies under all of them only where each record starts at the end of the
    # one before, the last ends at the file, and nobody wrote after it.
    if not (text_chain.explains(asked, content) and last is asked[-1]):
        return Left(path, why[0], Why(Kind.CHANGED_AFTER, because=why[1]), (decision.UNRECORDED,))
    text = next(b for r, b, _ in replay(state.journal, scene.layout) if r is asked[0])
    after = ABSENT if text is None else Content(_mode(found, path, asked[0]), text)
    return _change(found, path, after, UNDO, call)


def _others(found: Survey, path: bytes, known: list[Record]) -> set[str]:
    state, own = found.states[path], found.scene.own
    first = known[0].offset if known else 0
    later = {r.session for r in state.journal.records if r.offset >= first and r.op != GAP}
    return (later | state.bare) - own


def _to_head(
    found: Survey, path: bytes, asked: list[Record], claimed: bool, call: str
) -> Replacement | Left | None:
    """Take back a path known without texts: HEAD's file comes back where the file is exactly as recorded."""
    scene, content = found.scene, found.scene.contents[path]
    head = scene.reader.entry(path)
    if claimed or not asked or asked[-1].after != text_chain.content_id(content):
        return Left(path, decision.UNANCHORED, Why(Kind.UNKNOWN_THEN))
    if head is None:
        return Left(path, decision.UNANCHORED, Why(Kind.UNKNOWN_BEFORE))
    # What a smudge filter writes need not be what was there before.
    if path in scene.filtered:
        return Left(path, decision.FILTERED, Why(Kind.FILTER_AND_PATH))
    text = _head_text(found, path, head)
    if max(len(text), len(content.data or b"")) > TEXT_LIMIT:
        return Left(path, decision.TOO_LARGE, Why(Kind.TOO_LARGE_TO_KEEP))
    return _change(found, path, Content(head.mode, text), UNDO, call)


def _head_text(found: Survey, path: bytes, head: Entry) -> bytes:
    text = path_texts.head_text(found.scene, path)
    assert text is not None
    return text if head.mode in (0o100644, 0o100755) else read_blob(found.scene, head)


def _mode(found: Survey, path: bytes, record: Record) -> int:
    """The mode that a file had before a record: as seen then, else as in HEAD, else as it is."""
    before, head = record.mode[0], found.scene.reader.entry(path)
    # Anybody may write the journal file, and int(…, 8) raises for the digits 8 and 9.
    if before is not None and before.isdigit() and not set("89") & set(before):
        return int(before, 8)
    if head is not None and head.mode != GITLINK:
        return head.mode
    return found.scene.contents[path].mode or 0o100644


def _change(found: Survey, path: bytes, after: Content, op: str, call: str) -> Replacement | None:
    before = found.scene.contents[path]
    if before == after:
        return None
    made = by_lines.record(found, op, call, before, after, ())
    return Replacement(path, before, after, found.states[path].journal.length, ((made, before.data),))


def redone(found: Survey, path: bytes, undo: Record, op: str, call: str) -> Replacement | Left | None:
    """The file as it was before an undo of the whole file."""
    content, state = found.scene.contents[path], found.states[path]
    # Whoever wrote since would lose that: a redo brings back exactly the text that the undo took away.
    if text_chain.content_id(content) != undo.after or state.journal.records[-1] is not undo:
        others = sorted({r.session for r in state.journal.records if r.offset > undo.offset})
        why = Why(Kind.CHANGED_AFTER_UNDO)
        return Left(path, decision.ENTANGLED, why, tuple(others or [decision.UNRECORDED]))
    text = next(b for r, b, _ in replay(state.journal, found.scene.layout) if r is undo)
    after = ABSENT if text is None else Content(_mode(found, path, undo), text)
    made = _change(found, path, after, op, call)
    if made is not None:
        made.records[0][0].units = (f"{undo.offset}.0",)
    return made


def restored(found: Survey, path: bytes, call: str) -> Replacement | None:
    """The file as the session left it, where it is as it was before that, and nobody wrote since.

    None also where a commit had it so: then it is not lost.
    """
    state, scene = found.states[path], found.scene
    now = text_chain.content_id(found.content(path))
    texts = replay(state.journal, scene.layout)
    first = next((n for n in range(len(texts) - 1, -1, -1) if texts[n][0].before == now), len(texts))
    lost = [record for record, _, _ in texts[first:]]
    if not lost or any(r.session not in scene.own or r.op == GAP for r in lost):
        return None
    if not text_chain.is_chain(lost) or lost[-1].after in (None, now):
        return None
    if path_texts.has_passed(scene, state, lost[0].offset):
        return None
    text = texts[-1][2]
    if text is None:
        return None
    mode = by_lines.last_mode(r.mode[1] for r in lost) or found.content(path).mode or 0o100644
    return _change(found, path, Content(mode, text), RESTORE, call)
