"""What sessions have pending in one worktree: manifests and journals less what was consumed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from gitralph.base import files, locks
from gitralph.base.layout import Layout
from gitralph.hook import journal, sessionfile
from gitralph.hook.journal import GAP, Journal, Record
from gitralph.journal import consumption, manifests

# A bound on memory, not on use: no file of ours comes near it, one that somebody put there may.
_LIMIT = 1 << 30


@dataclass(frozen=True)
class PathState:
    """One path: its journal, and per session the records no commit has taken.

    ``bare`` are sessions with a claim: a manifest line that no journal record stands behind; ``void``
    those whose records were reverted, and consumed with a note or only in part; ``taken`` those whose
    records a commit took. What any of them mean now is judged by the content of HEAD and file.
    """

    path: bytes
    journal: Journal
    pending: dict[str, list[Record]] = field(default_factory=dict)
    bare: set[str] = field(default_factory=set)
    void: dict[str, list[Record]] = field(default_factory=dict)
    taken: dict[str, list[Record]] = field(default_factory=dict)
    manifest_upto: dict[str, int] = field(default_factory=dict)

    def owners(self) -> set[str]:
        """Every session with something pending here."""
        return set(self.pending) | self.bare

    def add(self, record: Record) -> None:
        """Count a record as the last one of the journal, which does not hold it yet."""
        record.offset = record.end = self.journal.size
        self.journal.records.append(record)
        self.pending.setdefault(record.session, []).append(record)


@dataclass
class Claims:
    """One session's manifest in this worktree: new lines per path beyond what was consumed.

    Of the paths in ``late`` the manifest was read again, up to that byte, when their journal was read.
    """

    session: str
    size: int = 0
    fresh: dict[bytes, int] = field(default_factory=dict)
    old: set[bytes] = field(default_factory=set)
    damaged: int = 0
    late: dict[bytes, int] = field(default_factory=dict)

    def upto(self, path: bytes) -> int:
        """How far the manifest's lines of one path are known."""
        return self.late.get(path, self.size)

    def catch_up(self, layout: Layout, path: bytes) -> None:
        """Read the lines of one path that were added after the manifest was read."""
        since = self.upto(path)
        size, added = manifests.added(layout, self.session, since, path)
        if size > since:
            self.late[path] = size
        if added:
            self.fresh[path] = self.fresh.get(path, 0) + added


def family(layout: Layout, session: str) -> list[str]:
    """A family: a session and its subagents' sessions, committed as one; parents first.

    Each child is named in its parent's record.
    """
    out, todo = [], [session]
    while todo:
        name = todo.pop(0)
        # Records are files that anybody may write: two sessions that name each other as children must not
        # loop.
        if name in out:
            continue
        out.append(name)
        record = sessionfile.read(layout, name)
        children = record.get("children") if record else None
        todo += [c for c in children if isinstance(c, str)] if isinstance(children, list) else []
    return out


def claims(layout: Layout, session: str) -> Claims:
    """Read one manifest against its consumption."""
    lines, done = manifests.read(layout, session), consumption.read(layout, session)
    found = Claims(session, lines.size, damaged=len(lines.damaged) + done.damaged)
    for path, offsets in lines.lines.items():
        upto = done.upto.get((layout.token, path), 0)
        fresh = sum(1 for offset in offsets if offset >= upto)
        if fresh:
            found.fresh[path] = fresh
        else:
            found.old.add(path)
    return found


def read_journal(layout: Layout, path: bytes, claimed: Sequence[Claims] = ()) -> Journal:
    """The journal of a path, read while no hook is between its two appends; empty when missing.

    ``claimed``, manifests read earlier, learn the lines of this path that came since.
    """
    name = layout.journal(path)
    try:
        fd = files.open_regular(name, os.O_RDONLY)
    except FileNotFoundError:
        return Journal()
    try:
        # Shared: several commands may read at once, and none between a hook's manifest line and its record.
        files.lock(fd, name, files.SHARED, wait=locks.WAIT)
        size = os.fstat(fd).st_size
        found = journal.parse(os.pread(fd, min(size, _LIMIT), 0))
        # Else a commit takes the record and leaves its line behind, which then looks like a script's claim.
        for claim in claimed:
            claim.catch_up(layout, path)
        return found
    finally:
        os.close(fd)


def journal_bytes(layout: Layout, path: bytes) -> int:
    """How long the journal of a path is now, 0 when there is none."""
    try:
        return os.stat(layout.journal(path), follow_symlinks=False).st_size
    except FileNotFoundError:
        return 0


def _split_records(found: PathState) -> None:
    by_session: dict[str, list[Record]] = {}
    for record in found.journal.records:
        # A gap has no session: it is recorded only for the names of its units.
        if record.op == GAP:
            continue
        by_session.setdefault(record.session, []).append(record)
    for session, records in by_session.items():
        mark = consumption.mark_of(found.journal, session)
        waiting = [r for r in records if consumption.is_pending(r, mark)]
        if waiting:
            found.pending[session] = waiting
        if mark.void:
            found.void[session] = records
        elif not waiting:
            found.taken[session] = records


def path_state(layout: Layout, path: bytes, claimed: list[Claims]) -> PathState:
    """Everything known of one path; ``claimed`` are the manifests that may hold claims of it."""
    found = PathState(path, read_journal(layout, path, claimed))
    _split_records(found)
    for claim in claimed:
        fresh = claim.fresh.get(path, 0)
        if path in claim.fresh or path in claim.old:
            found.manifest_upto[claim.session] = claim.upto(path)
        # More manifest lines than records: a script appended the path, or a hook was killed between its two
        # appends.
        if fresh > len(found.pending.get(claim.session, ())):
            found.bare.add(claim.session)
    return found


def as_of(state: PathState, text: str | None, since: int = 0) -> PathState | None:
    """The state when the file last held a text, by its id (None: no file); None where it never did.

    Only a record from byte ``since`` on can tell. What was recorded after it stays pending for whoever
    consumes it.
    """
    records = state.journal.records
    ends = [
        n
        for n, r in enumerate(records)
        if r.offset >= since and r.after == text and (r.is_exact or text is not None)
    ]
    if not ends:
        return None
    if ends[-1] == len(records) - 1:
        return state
    cut = Journal()
    cut.records, cut.size = records[: ends[-1] + 1], records[ends[-1]].end
    cut.consumed, cut.damaged, cut.length = (
        state.journal.consumed,
        state.journal.damaged,
        state.journal.length,
    )
    found = PathState(state.path, cut, bare=set(state.bare), manifest_upto=dict(state.manifest_upto))
    _split_records(found)
    return found


def pending_paths(layout: Layout, sessions: list[str], undone: bool = False) -> dict[bytes, PathState]:
    """The paths that ``sessions`` (one family) have pending or reverted, each with its state.

    ``undone``: a commit of theirs left HEAD, so what commits took counts as well.
    """
    claimed = [claims(layout, session) for session in sessions]
    names = {path for claim in claimed for path in (*claim.fresh, *claim.old)}
    out: dict[bytes, PathState] = {}
    for path in sorted(names):
        fresh = any(path in claim.fresh for claim in claimed)
        if not fresh and not os.path.lexists(layout.journal(path)):
            continue
        found = path_state(layout, path, claimed)
        known = found.owners() | set(found.void) | (set(found.taken) if undone else set())
        if known & set(sessions):
            out[path] = found
    return out


def add_foreign_claims(layout: Layout, states: dict[bytes, PathState], own: set[str]) -> None:
    """Find other sessions' claims of these paths."""
    for path, sessions in manifests.sessions_naming(layout, list(states), own).items():
        for session in sessions:
            claim = claims(layout, session)
            fresh = claim.fresh.get(path, 0)
            if fresh > len(states[path].pending.get(session, ())):
                states[path].bare.add(session)
