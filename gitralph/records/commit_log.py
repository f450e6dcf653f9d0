"""What commits told of: ``<session>.commits``, and lines in each journal; appended, never rewritten.

The log tells which commit took a record, whether a claim by path alone is still open, and what was said
already. It must not decide what is pending: HEAD and the file decide that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gitralph.base import files, jsonline
from gitralph.base.kinds import Why
from gitralph.base.layout import Layout
from gitralph.hook.journal import Journal, Record, is_oid

# In bytes. This bounds memory, not use: no file of ours comes near it, but a foreign one may.
_LIMIT = 1 << 30


@dataclass
class CommitLog:
    """A session's ``.commits`` file: how far commits read the manifest, by worktree and path."""

    upto: dict[tuple[str, bytes], int] = field(default_factory=dict)
    commits: list[dict[str, Any]] = field(default_factory=list)
    damaged: int = 0


def _lines(data: bytes) -> tuple[list[dict[str, Any]], int]:
    out, damaged = [], 0
    for _, _, line in jsonline.lines(data):
        try:
            out.append(jsonline.object_in(line))
        except ValueError:
            damaged += 1
    return out, damaged


def _finished(layout: Layout, session: str) -> list[dict[str, Any]]:
    try:
        return _lines(files.read_bytes(layout.finished_commits(session), _LIMIT))[0]
    except OSError:
        return []


def read(layout: Layout, session: str) -> CommitLog:
    """What the session's commits took so far; empty when it never committed."""
    found = CommitLog()
    before = _finished(layout, session)
    try:
        found.commits, found.damaged = _lines(files.read_bytes(layout.commits(session), _LIMIT))
    except FileNotFoundError:
        found.commits = before
        return found
    # gc put these lines away, and the manifest in which they count. So they tell of commits, no longer of
    # places.
    now, found.commits = found.commits, before + found.commits
    for fields in now:
        paths = fields.get("paths")
        for path, upto in paths.items() if isinstance(paths, dict) else ():
            if type(upto) is int:
                key = (str(fields.get("worktree")), path.encode("utf-8", "surrogateescape"))
                # The furthest position counts: two commits may append their lines in either order.
                found.upto[key] = max(upto, found.upto.get(key, 0))
    return found


def length_at(journal: Journal, commit: str) -> int:
    """The length of the journal, in bytes, when a commit took something of it; 0 where it took nothing."""
    ends = [fields.get("upto") for fields in journal.log if fields.get("commit") == commit]
    return max((end for end in ends if type(end) is int), default=0)


def heads(journal: Journal) -> list[tuple[int, str]]:
    """The commits that took something of a journal, each with the length that it then had, in bytes."""
    rows = ((fields.get("upto"), fields.get("commit")) for fields in journal.log)
    return [(upto, oid) for upto, oid in rows if type(upto) is int and isinstance(oid, str) and is_oid(oid)]


def told(journal: Journal, session: str) -> int:
    """How far commits have told of a session's records in a journal, in bytes from its beginning."""
    ends = [fields.get("upto") for fields in journal.log if fields.get("session") == session]
    # A position beyond the end belongs to a journal that was removed and begun anew.
    return max((end for end in ends if type(end) is int and end <= journal.size), default=0)


Said = tuple[str, ...]
"""What was told of a path: the kind of ``base.kinds``, then the sessions. Line numbers are left out."""


def row_of(why: Why) -> Said:
    """What the log keeps of a note beside its sentence, which has the names and words of that day."""
    return (why.kind.value, *why.sessions)


def said(journal: Journal, session: str) -> set[Said]:
    """What a session was told of a path by its commits, or when there was nothing to commit."""
    return {row for fields in journal.log if fields.get("session") == session for row in rows_in(fields)}


def rows_in(fields: Mapping[str, Any]) -> set[Said]:
    """What a line of the log says was told; a line of an older version has only the sentence."""
    rows = fields.get("said")
    rows = rows if isinstance(rows, list) else []
    return {tuple(map(str, row)) for row in rows if isinstance(row, list)}


def taking(journal: Journal, unit: str) -> list[str]:
    """The oids of the commits that took the piece with this name, or all of its record."""
    place, upto, found = unit.partition(".")[0], dict[object, int](), list[str]()
    makers = {r.session for r in journal.records if str(r.offset) == place}
    for row in journal.log:
        commit, session, end, units = (row.get(key) for key in ("commit", "session", "upto", "units"))
        since = upto.get(session, 0)
        upto[session] = max(end, since) if type(end) is int else since
        is_whole = session in makers and since <= int(place) < upto[session]
        if is_oid(commit) and (unit in units if isinstance(units, list) else is_whole):
            found.append(str(commit))
    return found


def taken(journal: Journal) -> dict[str, set[str]]:
    """Each commit with the places of the records that it took something of."""
    found: dict[str, set[str]] = {}
    upto: dict[object, int] = {}
    for row in journal.log:
        commit, session, end, units = (row.get(key) for key in ("commit", "session", "upto", "units"))
        since = upto.get(session, 0)
        if type(end) is int:
            upto[session] = max(end, since)
        if not isinstance(commit, str):
            continue
        names = found.setdefault(commit, set())
        if isinstance(units, list):
            # A unit is called by the offset of its record, then a number.
            names |= {str(unit).partition(".")[0] for unit in units}
        elif type(end) is int:
            names |= {
                str(r.offset) for r in journal.records if r.session == session and since <= r.offset < end
            }
    return found


def commit_of(journal: Journal, record: Record) -> str | None:
    """The commit that took a record, or the first of its pieces; None where none did."""
    since = 0
    for fields in journal.log:
        upto, commit, units = fields.get("upto"), fields.get("commit"), fields.get("units")
        if fields.get("session") != record.session or type(upto) is not int:
            continue
        if isinstance(commit, str):
            named = isinstance(units, list) and any(
                isinstance(unit, str) and f"{unit}.".startswith(f"{record.offset}.") for unit in units
            )
            # What changed only the mode has no pieces.
            is_whole = units is None or (record.is_exact and record.before == record.after)
            if named or (is_whole and since <= record.offset < upto):
                return commit
        since = max(since, upto)
    return None
