"""What becomes of one file when pieces are taken out or brought back: bytes, record, refusal."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from gitralph.base.kinds import Kind, Why
from gitralph.decide import by_pieces, decision, path_texts, text_chain
from gitralph.decide.decision import Left
from gitralph.decide.path_texts import PathTexts
from gitralph.git.snapshot import ABSENT, Content
from gitralph.git.trees import SYMLINK
from gitralph.hook import journal, sessionfile, shellforms
from gitralph.hook.journal import GAP, PAYLOAD, Record, full_lines, text_id
from gitralph.lines import reverse
from gitralph.lines.terms import ARRIVED, Reversal, Step, step_of
from gitralph.lines.terms import GAP as GAP_KEY
from gitralph.takeback.land_files import Replacement
from gitralph.takeback.survey import Survey


def whole_only(found: Survey, path: bytes) -> tuple[str, Why] | None:
    """The reason why lines of a path cannot be told apart, None when they can."""
    return found.kept(path, _whole_only)


def _whole_only(found: Survey, path: bytes) -> tuple[str, Why] | None:
    state = found.states[path]
    barred = path_texts.whole_only(found.scene, state)
    if barred is not None:
        return barred
    if state.bare & found.scene.own or any(not r.is_exact for r in since_head(found, path)):
        return decision.UNANCHORED, Why(Kind.PATH_ONLY)
    known = found.texts(path)
    if path_texts.lost_text(found.scene, state):
        return decision.UNANCHORED, Why(Kind.TEXT_LOST)
    if known.has_binary:
        return decision.CONTESTED, Why(Kind.BINARY)
    if any(r.mode[1] == f"{SYMLINK:o}" for r in state.journal.records):
        return decision.CONTESTED, Why(Kind.LINK)
    return None


def since_head(found: Survey, path: bytes) -> list[Record]:
    """The session's records of a path since the file last was as in HEAD; all of them where it never was."""
    since = text_chain.since_head(found.scene, found.states[path])
    return [r for r in since if r.op != GAP and r.session in found.scene.own]


def why_untold(found: Survey, path: bytes) -> Left | None:
    """The reason why the records of a path do not tell of the file on disk, None where they do."""
    if found.texts(path).seen.blocks:
        return Left(path, decision.STALE, Why(Kind.HOOK_LINES))
    return None


def standing(found: Survey, path: bytes) -> list[str]:
    """The keys of the session's steps of which something stands in the file and is in no commit."""
    keys = reverse.standing(found.texts(path).pieces, found.scene.own)
    return [key.removesuffix(ARRIVED) for key in keys]


def undone(found: Survey, path: bytes, keys: Collection[str] | None, skip: bool) -> Reversal:
    """The file without these steps, or without these pieces of steps."""
    known, own = found.texts(path), found.scene.own
    if keys is None:
        return reverse.undone(known.pieces, known.steps, own, None, skip)
    # edits made before a move go back together with the move, or stay with it
    keys = {*keys, *(key + ARRIVED for key in keys)}
    answer = reverse.undone(known.pieces, known.steps, own, keys, skip)
    stays = {step_of(unit) for one in answer.left for unit in one.units}
    stays |= {key.removesuffix(ARRIVED) for key in stays}
    if answer.refused or stays.isdisjoint(key for key in keys if key.endswith(ARRIVED)):
        return answer
    return reverse.undone(known.pieces, known.steps, own, keys - stays, skip)._replace(left=answer.left)


def redone(found: Survey, known: PathTexts, undo: Record) -> Reversal:
    """The file without the undo."""
    return reverse.redone(known.pieces, known.steps, found.scene.own, {str(undo.offset)})


def restored(found: Survey, path: bytes, known: PathTexts) -> Reversal:
    """The file with the session's lines that a gap threw away.

    In the last gap git may have put HEAD's text there, and somebody wrote on: the texts alone do not tell.
    """
    own = found.scene.own

    def is_committed(unit: str) -> bool:
        return by_pieces.are_committed(found.scene, found.states[path], [unit])

    lost = reverse.restored(known.pieces, known.steps, own, is_committed)
    last = known.steps[-1].after if known.steps else known.disk
    if not lost.refused or known.head is None or known.head in (last, known.disk):
        return lost
    steps = [*known.steps, Step(f"{GAP_KEY}head", None, last, known.head)]
    again = reverse.restored(known.pieces_by(steps), steps, own, is_committed)
    return lost if again.refused else again


def lefts(path: bytes, answer: Reversal) -> list[Left]:
    """What was refused or left, in the form of commands: with the lines that stand in the way, each once.

    A line that was taken back and brought back stands in more than one record.
    """
    rows = (
        Left(path, one.reason, one.why, one.sessions, one.other_lines or one.lines) for one in answer.left
    )
    return list(dict.fromkeys(rows))


def bytes_of(found: Survey, path: bytes, answer: Reversal, raw: bytes | None) -> bytes | None:
    """The new bytes. Lines of ``raw`` that stay keep their line end, lines that come back get the file's."""
    if answer.lines is None or not found.texts(path).converted:
        return answer.text
    old = full_lines(raw or b"")
    end = _line_end(found, path)
    out = [
        (old[one].rstrip(b"\n").removesuffix(b"\r") + _end_of(old[one], end))
        if isinstance(one, int)
        else one + end
        for one in answer.lines
    ]
    text = b"".join(out)
    return text if answer.complete else text.removesuffix(b"\n").removesuffix(b"\r")


def _end_of(line: bytes, end: bytes) -> bytes:
    """The end of this line; the last line of a file may have none, and then gets ``end``."""
    return b"\r\n" if line.endswith(b"\r\n") else b"\n" if line.endswith(b"\n") else end


def _line_end(found: Survey, path: bytes) -> bytes:
    """The line end of a file: that of most lines, else of the last recorded text that had any."""
    rows = journal.replay(found.states[path].journal, found.scene.layout)
    texts = [found.content(path).data, *(text for _, b, a in reversed(rows) for text in (a, b))]
    text = next((text for text in texts if text and b"\n" in text), b"\n")
    # The majority decides, so that one stray line end does not change the lines that come back.
    return b"\r\n" if 2 * text.count(b"\r\n") > text.count(b"\n") else b"\n"


def change(found: Survey, path: bytes, op: str, call: str, answer: Reversal, mode: int | None) -> Replacement:
    """The file and its record. ``mode`` is the mode of a file that comes back, or a new mode."""
    before = found.content(path)
    text = bytes_of(found, path, answer, before.data)
    after = ABSENT if text is None else Content(mode or before.mode or 0o100644, text)
    made = record(found, op, call, before, after, answer.units)
    return Replacement(path, before, after, found.states[path].journal.length, ((made, before.data),))


def record(
    found: Survey, op: str, call: str, before: Content, after: Content, units: tuple[str, ...]
) -> Record:
    """The record for the journal."""
    old, new = before.data, after.data
    hunks = [] if old == new else [journal.hunk_between(old or b"", new or b"")]
    return Record(
        found.session,
        op,
        None if old is None else text_id(old),
        None if new is None else text_id(new),
        PAYLOAD,
        hunks=hunks,
        mode=(_mode(before), _mode(after)),
        tool=op,
        call=call,
        head=found.scene.head,
        ts=sessionfile.now(),
        seen=True,
        units=units,
        shells=shellforms.mark(found.ctx.layout),
    )


def _mode(content: Content) -> str | None:
    return None if content.absent else f"{content.mode:o}"


def last_mode(modes: Iterable[str | None]) -> int | None:
    """The last of some recorded modes that is one of a plain file."""
    found = [int(mode, 8) for mode in modes if mode in ("100644", "100755")]
    return found[-1] if found else None


def with_mode(one: Replacement, mode: int) -> Replacement:
    """The same replacement with another executable bit."""
    made, before = one.records[-1]
    made.mode = (made.mode[0], f"{mode:o}")
    return one._replace(after=Content(mode, one.after.data), records=((made, before),))
