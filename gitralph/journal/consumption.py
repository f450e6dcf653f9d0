"""Which records commits have taken: ``<session>.commits`` for manifests, lines in each journal.

Appended, never rewritten. ``commit: null`` with a note stands for what needed no commit; such
records count again when their text comes back (a stash popped, say).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gitralph.base import files, jsonline
from gitralph.base.layout import Layout
from gitralph.hook.journal import Journal, Record

# A bound on memory, not on use: no file of ours comes near it, one that somebody put there may.
_LIMIT = 1 << 30


class Mark(NamedTuple):
    """How far one session's records of one path are consumed.

    Records of this session before byte ``upto`` are consumed, except units in ``left``. ``void``: the
    last line consumed them as reverted, with nothing of them left to commit.
    """

    upto: int = 0
    left: frozenset[str] = frozenset()
    void: bool = False


@dataclass
class Consumed:
    """A session's ``.commits`` file: per worktree and path the manifest offset consumed so far."""

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


def read(layout: Layout, session: str) -> Consumed:
    """What commits of a session took so far; empty when it never committed."""
    found = Consumed()
    before = _finished(layout, session)
    try:
        found.commits, found.damaged = _lines(files.read_bytes(layout.commits(session), _LIMIT))
    except FileNotFoundError:
        found.commits = before
        return found
    # What was put away tells of commits, no longer of places: the manifest it counts in went with it.
    now, found.commits = found.commits, before + found.commits
    for fields in now:
        paths = fields.get("paths")
        for path, upto in paths.items() if isinstance(paths, dict) else ():
            if type(upto) is int:
                key = (str(fields.get("worktree")), path.encode("utf-8", "surrogateescape"))
                # The furthest counts: two commits may append their lines in either order.
                found.upto[key] = max(upto, found.upto.get(key, 0))
    return found


def mark_of(journal: Journal, session: str) -> Mark:
    """The state of one session in one journal, from its last consumption line."""
    mark = Mark()
    for fields in journal.consumed:
        upto, left = fields.get("upto"), fields.get("left")
        # A position beyond the journal is of one that was removed and begun anew: it would hide records not
        # yet committed.
        if fields.get("session") != session or type(upto) is not int or upto > journal.size:
            continue
        units = [u for u in left if isinstance(u, str)] if isinstance(left, list) else []
        void = fields.get("commit") is None
        # A line that took nothing (a claim that came to nothing) says nothing of the records before it; one
        # that names its units does, even where it names none.
        says = fields.get("void") is not None or fields.get("units") is not None
        if void and not says and not mark.left and not _is_between(journal, session, mark.upto, upto):
            void = mark.void
        mark = Mark(max(upto, mark.upto), frozenset(units), void)
    return mark


def _is_between(journal: Journal, session: str, since: int, upto: int) -> bool:
    return any(since <= r.offset < upto and r.session == session for r in journal.records)


def is_pending(record: Record, mark: Mark) -> bool:
    """True when a record, or a unit of it, is in no commit yet."""
    if record.offset >= mark.upto:
        return True
    prefix = f"{record.offset}."
    return any(unit.startswith(prefix) for unit in mark.left)


class Landed(NamedTuple):
    """What commits had put into HEAD once one of them landed.

    ``names`` are the records and units taken up to then: ``<offset>`` and ``<offset>.<n>``, a record
    taken whole by its offset alone. ``upto`` is how long the journal was. The records before ``since``
    were settled by then; ``base`` is the id of the text that HEAD had there, None for no file.
    """

    commit: str
    names: frozenset[str]
    upto: int
    since: int
    base: str | None


def landings(journal: Journal) -> list[Landed]:
    """The commits that took records of a path, latest first."""
    taken: set[str] = set()
    marks: dict[str, Mark] = {}
    found: list[Landed] = []
    for fields in journal.consumed:
        session, upto, left = fields.get("session"), fields.get("upto"), fields.get("left")
        if not isinstance(session, str) or type(upto) is not int:
            continue
        units, commit, old = fields.get("units"), fields.get("commit"), marks.get(session, Mark())
        if isinstance(commit, str):
            if isinstance(units, list):
                taken.update(unit for unit in units if isinstance(unit, str))
            else:
                taken.update(
                    str(r.offset)
                    for r in journal.records
                    if r.session == session and old.upto <= r.offset < upto
                )
                taken.update(old.left)
            since, base = fields.get("since"), fields.get("base")
            place = since if type(since) is int else 0
            # One commit has a line for each session of a family.
            if found and found[-1].commit == commit:
                found.pop()
            found.append(
                Landed(commit, frozenset(taken), upto, place, base if isinstance(base, str) else None)
            )
        kept = frozenset(left) if isinstance(left, list) else frozenset()
        marks[session] = Mark(max(upto, old.upto), kept)
    return found[::-1]


def committed_keys(journal: Journal) -> set[str]:
    """The records and units that commits have put into HEAD."""
    found = landings(journal)
    return set(found[0].names) if found else set()


def settled_keys(journal: Journal) -> set[str]:
    """The records consumed with a note because nothing of them was left to commit."""
    settled: set[str] = set()
    last: dict[str, int] = {}
    for fields in journal.consumed:
        session, upto = fields.get("session"), fields.get("upto")
        if not isinstance(session, str) or type(upto) is not int:
            continue
        void = fields.get("void")
        if fields.get("commit") is None and isinstance(void, list):
            settled.update(unit for unit in void if isinstance(unit, str))
        elif fields.get("commit") is None:
            since = last.get(session, 0)
            settled.update(
                str(r.offset) for r in journal.records if r.session == session and since <= r.offset < upto
            )
        last[session] = max(upto, last.get(session, 0))
    return settled


def length_at(journal: Journal, commit: str) -> int:
    """How long the journal was when a commit took something of it; 0 where it took nothing."""
    ends = [fields.get("upto") for fields in journal.consumed if fields.get("commit") == commit]
    return max((end for end in ends if type(end) is int), default=0)


def told(journal: Journal, session: str) -> int:
    """How far commits have told of a session's records in a journal, in bytes from its beginning."""
    ends = [fields.get("upto") for fields in journal.consumed if fields.get("session") == session]
    # A position beyond the journal is of one that was removed and begun anew.
    return max((end for end in ends if type(end) is int and end <= journal.size), default=0)


def commit_of(journal: Journal, record: Record) -> str | None:
    """The commit that took a record, or the first of its units; None for none."""
    since = 0
    for fields in journal.consumed:
        upto, commit, units = fields.get("upto"), fields.get("commit"), fields.get("units")
        if fields.get("session") != record.session or type(upto) is not int:
            continue
        if isinstance(commit, str):
            named = isinstance(units, list) and any(
                isinstance(unit, str) and f"{unit}.".startswith(f"{record.offset}.") for unit in units
            )
            if named or (units is None and since <= record.offset < upto):
                return commit
        since = max(since, upto)
    return None
