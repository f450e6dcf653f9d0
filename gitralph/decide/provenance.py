"""Reads a journal as a chain of texts and tells whether it explains what stands on disk; pure.

Used for files that one session alone has pending. A change that no record explains is a gap and
belongs to nobody, so a chain with a gap is not this session's to commit whole.
"""

from typing import NamedTuple

from gitralph.decide.inputs import Scene
from gitralph.git import history
from gitralph.git.snapshot import Content
from gitralph.git.trees import Entry
from gitralph.hook.journal import GAP, Record, text_id
from gitralph.records import pending
from gitralph.records.pending import PathState


class Chain(NamedTuple):
    """The pending records of a path in file order, from the first of the committing session's on."""

    records: tuple[Record, ...]

    @property
    def first(self) -> Record:
        return self.records[0]

    @property
    def last(self) -> Record:
        return self.records[-1]

    @property
    def path_level(self) -> bool:
        """True when no record knows its texts."""
        return not any(record.is_exact for record in self.records)

    def is_contiguous(self) -> bool:
        """True when each step starts from the text that the one before ended with.

        A record by path alone does not tell who made what it found, so it may not change the text; nor may
        one of a change that is nobody's.
        """
        if any(record.op == GAP for record in self.records):
            return False
        at = self.first.after
        for record in self.records[1:]:
            if (record.before if record.is_exact else record.after) != at:
                return False
            at = record.after
        return True


def chain_of(records: list[Record], pending: list[Record]) -> Chain:
    """All records of a journal from the first pending one on."""
    start = min(record.offset for record in pending)
    return Chain(tuple(record for record in records if record.offset >= start))


def content_id(content: Content) -> str | None:
    """The text id of a file as it stands, None when absent."""
    return None if content.data is None else text_id(content.data)


def ends_at(chain: Chain, content: Content) -> bool:
    """True when the last record left exactly the bytes that stand there now."""
    return chain.last.after == content_id(content)


def mode_of(chain: Chain, content: Content, head_mode: int | None) -> tuple[int, bool]:
    """The mode to commit, and whether the file's own mode is nobody's.

    A mode is this session's when its records saw it change, made the file, or changed nothing else.
    """
    if content.mode == head_mode or head_mode is None:
        return content.mode, False
    # A link or a submodule is another kind of thing: its mode goes with the content.
    if {content.mode, head_mode} - {0o100644, 0o100755}:
        return content.mode, False
    wanted = f"{content.mode:o}"
    for record in reversed(chain.records):
        before, after = record.mode
        if after == wanted and _explains(record, before, wanted):
            return content.mode, False
    return head_mode, True


def _explains(record: Record, before: str | None, wanted: str) -> bool:
    if before is not None:
        return before != wanted
    return record.before is None or record.before == record.after or not record.is_exact


def records_since_head(scene: Scene, state: PathState) -> list[Record] | None:
    """The records after the last place where the file was what HEAD holds; None: it never was, here.

    Whoever is alone among them made all that differs, whatever happened before (texts are compared
    by their ids, so only where git converts nothing).
    """
    entry = scene.reader.entry(state.path)
    head = None if entry is None else entry.oid.decode()
    records = state.journal.records
    for at in range(len(records) - 1, -1, -1):
        record = records[at]
        # A path-level record says what the file was after it, but None of such a one may only mean that
        # nothing is known.
        if record.after == head and (record.is_exact or head is not None):
            return records[at + 1 :]
        if record.is_exact and record.before == head:
            return records[at:]
    return None


def others(scene: Scene, state: PathState) -> list[str]:
    """Who else stands between HEAD's text and the file, as far as the records tell."""
    since = records_since_head(scene, state)
    known = state.journal.records if since is None else since
    found = {r.session for r in known if r.op != GAP and (r.is_exact or r in state.untold(r.session))}
    return sorted((found | state.bare | _came_with(scene, state, since)) - scene.own)


def _came_with(scene: Scene, state: PathState, since: list[Record] | None) -> set[str]:
    """Who edited the file at its old path, where something of that was uncommitted when it was moved."""
    to = pending.arrival(state.journal) if state.came_with else None
    if to is None or to.other_path is None or (since is not None and to not in since):
        return set()
    entry = history.entry_at(scene.repo, to.head, to.other_path)
    is_clean = isinstance(entry, Entry) and entry.oid.decode() == to.after
    return set() if is_clean else state.came_with
