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
from gitralph.records import path_records
from gitralph.records.path_records import PathState


def content_id(content: Content) -> str | None:
    """The text id of a file as it stands; None when there is no file."""
    return None if content.data is None else text_id(content.data)


def explains(records: Sequence[Record], content: Content) -> bool:
    """True when records lead, one by one, to exactly the bytes on disk.

    A record by path alone does not tell who made the text that it found, so it must leave the text as it was.
    A gap is nobody's, so nothing is explained with one.
    """
    if any(record.op == GAP for record in records):
        return False
    for last, record in itertools.pairwise(records):
        if (record.before if record.is_exact else record.after) != last.after:
            return False
    return records[-1].after == content_id(content)


def mode_of(records: Sequence[Record], content: Content, head_mode: int | None) -> tuple[int, bool]:
    """The mode to commit, and whether the file's own mode is nobody's.

    The mode is this session's when a record of it saw the mode change, made the file, or changed no text.
    """
    if content.mode == head_mode or head_mode is None:
        return content.mode, False
    # A symbolic link or a submodule is another kind of thing, so its mode goes with its content.
    if {content.mode, head_mode} - {0o100644, 0o100755}:
        return content.mode, False
    wanted = f"{content.mode:o}"
    for record in reversed(records):
        before, after = record.mode
        if after == wanted and _explains(record, before, wanted):
            return content.mode, False
    return head_mode, True


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
        if (is_after or is_before) and not _is_told_late(records, at):
            return records[at + 1 if is_after else at :]
    return records


def _is_told_late(records: list[Record], at: int) -> bool:
    """True for what a command did before another's edit that stands before it: it was told at its end."""
    record = records[at]
    if not record.by_shell or not at or records[at - 1].after == record.before:
        return False
    return any(one.is_exact and one.before == record.after for one in records[:at])


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
    to = path_records.arrival(state.journal) if state.came_with else None
    if to is None or to.other_path is None or to not in since:
        return set()
    entry = history.entry_at(scene.repo, to.head, to.other_path)
    is_clean = isinstance(entry, Entry) and entry.oid.decode() == to.after
    return set() if is_clean else state.came_with
