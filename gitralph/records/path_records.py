"""What sessions recorded in one worktree: manifests and journals. It must not tell what of it is pending."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from gitralph.base import files, locks
from gitralph.base.layout import Layout
from gitralph.git.texts import with_line_feeds
from gitralph.hook import journal, sessionfile
from gitralph.hook.journal import GAP, REDO, RESTORE, UNDO, Journal, Record
from gitralph.records import commit_log, manifests, moved_back

# In bytes. This bounds memory, not use: no file of ours comes near it, but a foreign one may.
_LIMIT = 1 << 30
_FEW = 16
"""So many paths are read without asking git first: git's processes take longer than these files."""


@dataclass(frozen=True)
class PathState:
    """One path: its journal, and for each session everything that it recorded there.

    ``bare`` are sessions with a claim: a manifest line without a journal record. The content of HEAD and file
    decides what a record means now. Only claims, and records that know a path alone, end once a commit has
    told of them.
    """

    path: bytes
    journal: Journal
    records: dict[str, list[Record]] = field(default_factory=dict)
    bare: set[str] = field(default_factory=set)
    manifest_upto: dict[str, int] = field(default_factory=dict)
    came_with: set[str] = field(default_factory=set)
    """The sessions that edited the file at its old path, before it was moved here."""

    def owners(self) -> set[str]:
        """Every session with a record or a claim here."""
        return set(self.records) | self.bare | self.came_with

    def untold(self, session: str) -> list[Record]:
        """The records of a session of which no commit has told yet, by what it took or by a note."""
        upto = commit_log.told(self.journal, session)
        return [record for record in self.records.get(session, ()) if record.offset >= upto]

    def add(self, record: Record) -> None:
        """Count a record as the journal's last one, although the journal does not hold it yet."""
        record.offset = record.end = self.journal.size
        self.journal.records.append(record)
        self.records.setdefault(record.session, []).append(record)


@dataclass
class Claims:
    """One session's manifest in this worktree: for each path the new lines since a commit told of it.

    For the paths in ``late`` the manifest was read again, up to that byte, together with their journal.
    """

    session: str
    size: int = 0
    fresh: dict[bytes, int] = field(default_factory=dict)
    old: set[bytes] = field(default_factory=set)
    damaged: int = 0
    late: dict[bytes, int] = field(default_factory=dict)

    def upto(self, path: bytes) -> int:
        """Up to which byte the manifest's lines of one path are known."""
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
    """A family: a session and its subagents' sessions, which commit as one; parents first.

    Each child is named in its parent's record.
    """
    out, todo = [], [session]
    while todo:
        name = todo.pop(0)
        # Anybody may write the records: two sessions that name each other as children must not loop.
        if name in out:
            continue
        out.append(name)
        record = sessionfile.read(layout, name)
        children = record.get("children") if record else None
        todo += [c for c in children if isinstance(c, str)] if isinstance(children, list) else []
    return out


def claims(layout: Layout, session: str) -> Claims:
    """Read one manifest and compare it with the log."""
    lines, done = manifests.read(layout, session), commit_log.read(layout, session)
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

    ``claimed`` are manifests that were read earlier; lines of this path that came since are added to them.
    """
    name = layout.journal(path)
    try:
        fd = files.open_regular(name, os.O_RDONLY)
    except FileNotFoundError:
        return Journal()
    try:
        # The lock is shared: several commands may read at once, but none between a hook's manifest line and
        # its record.
        files.lock(fd, name, files.SHARED, wait=locks.WAIT)
        size = os.fstat(fd).st_size
        found = journal.parse(os.pread(fd, min(size, _LIMIT), 0))
        # Otherwise a commit takes the record and leaves its line behind, which then looks like a script's
        # claim.
        for claim in claimed:
            claim.catch_up(layout, path)
        return found
    finally:
        os.close(fd)


def journal_bytes(layout: Layout, path: bytes) -> int:
    """The length of a path's journal now, in bytes; 0 when there is none."""
    try:
        return os.stat(layout.journal(path), follow_symlinks=False).st_size
    except FileNotFoundError:
        return 0


def _by_session(found: PathState, records: Iterable[Record] | None = None) -> None:
    for record in found.journal.records if records is None else records:
        if record.op != GAP:  # a gap is nobody's
            found.records.setdefault(record.session, []).append(record)


def path_state(layout: Layout, path: bytes, claimed: list[Claims]) -> PathState:
    """Everything known of one path; ``claimed`` are the manifests that may hold claims of it."""
    found = PathState(path, read_journal(layout, path, claimed))
    _by_session(found)
    for claim in claimed:
        if path in claim.fresh or path in claim.old:
            found.manifest_upto[claim.session] = claim.upto(path)
        if _is_bare(claim, found):
            found.bare.add(claim.session)
    _count_moved_back(layout, found)
    first, last = first_arrival(found.journal), last_arrival(found.journal)
    for to in (first, None if last is first else last):
        found.came_with.update(_came_with(layout, path, to))
    return found


def _count_moved_back(layout: Layout, state: PathState) -> None:
    """Count what was recorded while a file was away, and came back, at the path where it was."""

    def journal_of(path: bytes) -> Journal:
        return read_journal(layout, path)

    found = moved_back.in_place(state.journal.records, state.path, journal_of)
    if found is not None:
        counted, state.journal.records[:] = found
        state.records.clear()
        _by_session(state, counted)


def tells_of_a_move(layout: Layout, path: bytes) -> bool:
    """True where a file may have been moved to this path; no record is read, which takes much longer."""
    try:
        return b"rename-to" in files.read_bytes(layout.journal(path), _LIMIT)
    except FileNotFoundError:
        return False


def left_by(layout: Layout, found: Journal, to: Record, path: bytes) -> Record | None:
    """The record with which a file left for ``path``, where the record ``to`` brought it in.

    ``found`` is the journal of the old path.
    """
    name = path.decode("utf-8", "surrogateescape")
    ends = [r for r in found.records if r.op == "rename-from" and r.session == to.session]
    ends = [r for r in ends if r.other == name and r.is_exact]
    fitting = [r for r in ends if r.before == to.after]
    if ends and not fitting and to.before is None and to.hunks is not None:
        # Where git has changed the line ends before the move, each journal goes on in a form of its own.
        text = with_line_feeds(b"".join(line for hunk in to.hunks for line in hunk.lines))
        texts = ((r, before) for r, before, _ in journal.replay(found, layout) if r in ends)
        fitting = [r for r, before in texts if before is not None and with_line_feeds(before) == text]
    return fitting[-1] if fitting else None


def first_arrival(journal: Journal) -> Record | None:
    """The first record of a path, where a file came by it from another path, unchanged; else None.

    The file that is there now may have come later: `text_chain.arrival`.
    """
    first = next(iter(journal.records), None)
    came = first is not None and first.op == "rename-to" and first.is_exact and first.before is None
    return first if came else None


def last_arrival(journal: Journal) -> Record | None:
    """The record that brought the file here, be it to a name that another file had before; else None.

    A tool tells nothing of that other file, a shell's two pictures tell its text. A move that was taken back
    and came again is the same move.
    """
    came_again = False
    for record in reversed(journal.records):
        came_again = came_again or record.op in (REDO, RESTORE)
        if came_again and record.op in (UNDO, REDO, RESTORE):
            continue
        if not record.is_exact or record.after is None:
            return None
        if record.op == "rename-to" or record.before is None:
            return record if record.op == "rename-to" else None
    return None


def _came_with(layout: Layout, path: bytes, to: Record | None) -> set[str]:
    found, seen = set[str](), {path}
    while to is not None and to.other_path is not None and to.other_path not in seen:
        there, here = read_journal(layout, to.other_path), path
        left = left_by(layout, there, to, here)
        if left is None:
            break
        path = to.other_path
        seen.add(path)
        before = [r for r in there.records if r.op != GAP and r.offset < left.offset]
        found |= {r.session for r in before}
        to = next((r for r in reversed(before) if r.op == "rename-to"), None)
    return found


def states_of(layout: Layout, paths: Iterable[bytes]) -> dict[bytes, PathState]:
    """What is recorded of each path; paths without records are left out."""
    claimed = [claims(layout, name) for name in manifests.sessions_here(layout)]
    out = {}
    for path in paths:
        naming = [claim for claim in claimed if path in claim.fresh or path in claim.old]
        if naming or os.path.lexists(layout.journal(path)):
            out[path] = path_state(layout, path, naming)
    return out


def as_of(state: PathState, text: str | None, since: int = 0) -> PathState | None:
    """The state when the file last held a text with this id (None: no file); None where it never did.

    Only a record from byte ``since`` on counts. Later records are not in the state.
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
    cut.log, cut.damaged, cut.length = (
        state.journal.log,
        state.journal.damaged,
        state.journal.length,
    )
    found = PathState(state.path, cut, bare=set(state.bare), manifest_upto=dict(state.manifest_upto))
    _by_session(found)
    return found


def recorded_paths(
    layout: Layout, sessions: list[str], differing: Callable[[set[bytes]], Iterable[bytes]]
) -> dict[bytes, PathState]:
    """The paths in which ``sessions`` (one family) may have something pending, each with its state.

    A session that works for weeks has recorded thousands of paths that HEAD holds by now. So ``differing``
    picks, from paths that a commit told of, those that differ from HEAD.
    """
    claimed = [claims(layout, session) for session in sessions]
    fresh = {path for claim in claimed for path in claim.fresh}
    old = {path for claim in claimed for path in claim.old} - fresh
    old = {path for path in old if os.path.lexists(layout.journal(path))}
    out: dict[bytes, PathState] = {}
    for path in sorted({*fresh, *(differing(old) if len(old) > _FEW else old)}):
        found = path_state(layout, path, claimed)
        if found.owners() & set(sessions):
            out[path] = found
    # Lines of the sessions went along with a moved file, perhaps through names where others stand since.
    todo = list(out.values())
    seen = set(out)
    for state in todo:
        for record in itertools.chain(*state.records.values()):
            to = record.other_path if record.op == "rename-from" else None
            if to is not None and to not in seen:
                seen.add(to)
                todo.append(path_state(layout, to, []))
                if not todo[-1].owners().isdisjoint(sessions):
                    out[to] = todo[-1]
    return out


def _is_bare(claim: Claims, state: PathState) -> bool:
    """True for more new manifest lines than records.

    Then a script appended the path, or a hook was killed between its two appends.
    """
    return claim.fresh.get(state.path, 0) > len(state.untold(claim.session))


def add_foreign_claims(layout: Layout, states: dict[bytes, PathState], own: set[str]) -> None:
    """Add other sessions' claims of these paths."""
    for path, sessions in manifests.sessions_naming(layout, list(states), own).items():
        for session in sessions:
            claim = claims(layout, session)
            if _is_bare(claim, states[path]):
                states[path].bare.add(session)
