"""Files that were moved away and back: each was edited where it was, and nothing happened elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy

from gitralph.hook.journal import GAP, Journal, Record

_MOVES = ("rename-from", "rename-to")

_Ends = tuple[int, int]
"""The places of two moves in a journal: of a file away and of the same file back."""


def in_place(
    records: Sequence[Record], path: bytes, journal_of: Callable[[bytes], Journal]
) -> tuple[list[Record], list[Record]] | None:
    """What counts for the sessions and what tells of the text, for the records of a path.

    None where no file went and came back. HEAD stayed the same meanwhile. What was recorded at the other path
    gets offsets between the two moves. What changed nothing tells of no text, but counts for its session:
    else a line of its manifest would be a claim.
    """
    counted, void = list(records), list[Record]()
    for other in {r.other_path for r in records if r.op in _MOVES} - {None, path}:
        there = journal_of(other or b"").records
        for is_home, ends, far in reversed(list(_returns(counted, there, path, other or b""))):
            span = slice(ends[0], ends[1] + 1)
            went, came = counted[ends[0]], counted[ends[1]]
            if is_home:
                edits = [_copied(r, went.offset + n) for n, r in enumerate(there[far[0] + 1 : far[1]], 1)]
                last = there[far[1]]
                still = [_copied(went, went.offset, went.before), _copied(last, came.offset, came.after)]
                counted[span] = [still[0], *edits, still[1]]
                # what nobody recorded before the file came back is a gap, and the second move knows its text
                void += still if (edits[-1].after if edits else went.before) == came.after else still[:1]
            else:
                counted[span] = [_copied(r, r.offset, None) for r in counted[span]]
                counted[ends[1]].op, counted[ends[1]].other = came.op, came.other  # to where they count
                void += counted[span]
    gone = set(map(id, void))
    return (counted, [record for record in counted if id(record) not in gone]) if void else None


def _returns(
    here: Sequence[Record], there: Sequence[Record], path: bytes, other: bytes
) -> Iterator[tuple[bool, _Ends, _Ends]]:
    """Moves of a file to another path and back: whether it was here first, and where they stand in each."""
    mine = [n for n, r in enumerate(here) if r.op in _MOVES and r.other_path == other]
    its = [n for n, r in enumerate(there) if r.op in _MOVES and r.other_path == path]
    at = 0
    while len(mine) == len(its) and at + 1 < len(mine):
        ends, far = (mine[at], mine[at + 1]), (its[at], its[at + 1])
        is_home = here[ends[0]].op == "rename-from"
        if _is_return(*((here, ends, there, far) if is_home else (there, far, here, ends))):
            yield is_home, ends, far
            at += 1
        at += 1


def _is_return(home: Sequence[Record], ends: _Ends, there: Sequence[Record], far: _Ends) -> bool:
    went, came, span = home[ends[0]], home[ends[1]], there[far[0] : far[1] + 1]
    is_same = ends[0] + 1 == ends[1] and came.before is None and span[0].before is None
    is_same = is_same and (went.before, came.after) == (span[0].after, span[-1].before)
    is_told = all(r.is_exact and r.op != GAP and r.head == went.head for r in (*span, went, came))
    edits = span[1:-1]
    is_told = is_told and all(r.op not in _MOVES and None not in (r.before, r.after) for r in edits)
    return is_same and is_told and len(edits) < came.offset - went.offset - 1


def _copied(record: Record, offset: int, *text: str | None) -> Record:
    """A copy of a record for another place; with a text as an edit that changes nothing of that text."""
    found = copy(record)
    found.offset, found.end, found.op = offset, offset + 1, "edit"
    for one in text:
        found.end, found.before, found.after, found.hunks, found.other = record.end, one, one, [], None
    return found
