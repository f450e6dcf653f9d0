"""Reads a journal as a chain of texts and tells whether records explain the file on disk.

Also says which other sessions have changes between HEAD and the file. Writes nothing. A change that no record
explains is a gap and belongs to nobody. So a session cannot commit a file whole when there is a gap.
"""

import itertools
from collections.abc import Sequence

from gitralph.decide.inputs import Scene
from gitralph.git import history
from gitralph.git.snapshot import Content
from gitralph.git.trees import Entry
from gitralph.hook.journal import GAP, Record, text_id
from gitralph.records.path_records import PathState


def content_id(content: Content) -> str | None:
    """The text id of a file as it stands; None when there is no file."""
    return None if content.data is None else text_id(content.data)


def explains(records: Sequence[Record], content: Content) -> bool:
    """True when records lead, one by one, to exactly the bytes on disk.

    A record by path alone does not tell who made the text that it found, so it must leave the text as it was.
    A gap is nobody's, so nothing is explained with one.
    """
    return is_chain(records) and records[-1].after == content_id(content)


def is_chain(records: Sequence[Record]) -> bool:
    """True when each record begins where the one before ended, and none of them is a gap."""
    pairs = itertools.pairwise(records)
    return all(record.op != GAP for record in records) and all(
        (record.before if record.is_exact else record.after) == last.after for last, record in pairs
    )


def mode_of(records: Sequence[Record], content: Content, head_mode: int | None) -> tuple[int, bool]:
    """The mode to commit, and whether the file's own mode is nobody's.

    The mode is this session's when a record of it saw the mode change, made the file, or changed no text.
    """
    if content.mode == head_mode or head_mode is None:
        return content.mode, False
    # A symbolic link or a submodule is another kind of thing, so its mode goes with its content.
    if {content.mode, head_mode} - {0o100644, 0o100755}:
        return content.mode, False
    return (head_mode, True) if made_mode(records, content) is None else (content.mode, False)


def made_mode(records: Sequence[Record], content: Content) -> Record | None:
    """The last of these records that gave the file the mode that it has."""
    wanted = f"{content.mode:o}"
    for record in reversed(records):
        before, after = record.mode
        if after == wanted and _explains(record, before, wanted):
            return record
    return None


def _explains(record: Record, before: str | None, wanted: str) -> bool:
    if before is not None:
        return before != wanted
    return record.before is None or record.before == record.after or not record.is_exact


def since_head(scene: Scene, state: PathState) -> list[Record]:
    """The records since the file last was what HEAD holds; all of them where no record ever saw it so.

    Whoever is alone among these records made the whole difference, whatever happened before. Texts are
    compared by their ids, so this works only where git converts no line ends.
    """
    head = scene.head_ids(state.path)
    records = state.journal.records
    for at in range(len(records) - 1, -1, -1):
        record = records[at]
        # A record by path alone says what the file was after it. But None there may mean that nothing is
        # known.
        is_after = record.after in head and (record.is_exact or record.after is not None)
        is_before = record.is_exact and record.before in head
        if is_after or is_before:
            return records[at + 1 if is_after else at :]
    return records


def lasting(scene: Scene, state: PathState, upto: int | None = None) -> list[Record]:
    """The exact records of a path, ``upto`` one of them, but for what is as if it had never been.

    A session made a file and took it away again; or a file that is gone now went before, too, and had come
    back as it was; or it was moved here twice. HEAD's file stayed the same meanwhile.
    """
    records = [r for r in state.journal.records if r.is_exact and (upto is None or r.offset <= upto)]
    is_gone, out = bool(records) and records[-1].after is None, list[Record]()
    for record in records:
        is_made = record.before is None
        if is_made:
            _drop_last_life(scene, state, out)
        if _is_moved_again(out, record) and _is_for_nothing(scene, state, [*out, record], scene.head):
            out.pop()
        then = out[-1].before if is_gone and out and out[-1].after is None else None
        # where the record does not tell of the return, nobody recorded it
        is_back = then is not None and then == (record.after if is_made else record.before)
        if is_back and _is_for_nothing(scene, state, [out[-1], record]):
            out.pop()
            if is_made:
                continue
        out.append(record)
    _drop_last_life(scene, state, out, scene.head)
    return out


def _is_moved_again(records: list[Record], record: Record) -> bool:
    """True for a second move from the same path: the file had gone back, and nobody recorded that."""
    return record.op == "rename-to" and [(r.op, r.other) for r in records] == [(record.op, record.other)]


def _drop_last_life(scene: Scene, state: PathState, records: list[Record], *heads: str | None) -> None:
    """Drop the last records where one session made the file with them and took it away again."""
    made = max((n for n, r in enumerate(records) if r.before is None and r.after is not None), default=0)
    life = records[made:]
    if not life or life[-1].after is not None or len({r.session for r in life}) > 1:
        return
    if life[-1].op == "rename-from":  # only where it went back to where it had come from, as it was
        came, went = life[0], life[-1]
        if came.op != "rename-to" or (came.other, came.after) != (went.other, went.before):
            return
    # a move by a tool does not tell of the file that it replaced
    then = records[made - 1].after if made else history.entry_at(scene.repo, life[0].head, state.path)
    if then is None and _is_for_nothing(scene, state, life, *heads):
        del records[made:]


def _is_for_nothing(scene: Scene, state: PathState, records: list[Record], *heads: str | None) -> bool:
    """True when HEAD had the same file at each of these records, and none of their makers is in doubt."""
    entries = {history.entry_at(scene.repo, oid, state.path) for oid in (*heads, *(r.head for r in records))}
    return len(entries) == 1 and history.UNKNOWN not in entries and all(r.op != GAP for r in records)


def arrival(scene: Scene, state: PathState, upto: int | None = None) -> Record | None:
    """The record that brought the file here from another path, as it was; None where none did."""
    first = next(iter(lasting(scene, state, upto)), None)
    return first if first is not None and first.op == "rename-to" and first.before is None else None


def others(scene: Scene, state: PathState) -> list[str]:
    """The other sessions whose records stand between HEAD's text and the file."""
    since = since_head(scene, state)
    found = {r.session for r in since if r.op != GAP and (r.is_exact or r in state.untold(r.session))}
    return sorted((found | state.bare | _came_with(scene, state, since)) - scene.own)


def makers(scene: Scene, state: PathState) -> list[str]:
    """The other sessions of which a shell command may have changed the file since it was as in HEAD."""
    since = since_head(scene, state)
    return sorted({name for r in since if r.op == GAP for name in r.may} - scene.own)


def _came_with(scene: Scene, state: PathState, since: list[Record]) -> set[str]:
    """The sessions that edited the file at its old path and had something uncommitted when it was moved."""
    to = arrival(scene, state) if state.came_with else None
    if to is None or to.other_path is None or to not in since:
        return set()
    entry = history.entry_at(scene.repo, to.head, to.other_path)
    is_clean = isinstance(entry, Entry) and entry.oid.decode() == to.after
    return set() if is_clean else state.came_with
