"""What nobody recorded of a file, line by line, for a person who says whose it is.

An assignment is a step that gives pieces of a gap an owner. This module lists each unrecorded change once,
with its line and the sessions among whose lines it stands. It also turns what a person chose into the texts
and places of a record. It must not decide who gets what.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from gitralph.base.kinds import Kind
from gitralph.lines.attempt import Attempt
from gitralph.lines.bonds import Bonds
from gitralph.lines.handover import paired
from gitralph.lines.pieces import Pieces
from gitralph.lines.terms import Step, Take
from gitralph.lines.text import ends_with_newline, split_lines, with_open_end
from gitralph.lines.weave import BASE, END, EXISTS, NEWLINE


class Unrecorded(NamedTuple):
    """The smallest change that nobody recorded.

    `line` counts from 1 in the file on disk; the end of the file is one more than there are lines. `removed`
    are lines of HEAD that stood before that line. `added`: the line itself is new. `sessions` have
    uncommitted lines that the change replaced or stands among. `stale`: HEAD has another text there than the
    one that was changed. `end`: the newline at the end of the file changes too. `file`: nobody recorded that
    the file itself came or went.
    """

    line: int
    added: bool = False
    removed: tuple[bytes, ...] = ()
    end: bool = False
    file: bool = False
    sessions: tuple[str, ...] = ()
    stale: bool = False


def recorded(known: Pieces, owners: Collection[str]) -> dict[int, str]:
    """The uncommitted lines of the file that other sessions than `owners` recorded, each with its session."""
    whose = ((at, known.owner(line)) for at, line in enumerate(known.weave.shown, 1) if known.is_added(line))
    return {at: owner for at, owner in whose if owner is not None and owner not in owners}


def unrecorded(known: Pieces, owners: Collection[str], steps: Sequence[Step] = ()) -> list[Unrecorded]:
    """List what nobody recorded, in line order; uncommitted lines of `owners` are never in the way."""
    ways = _Ways(known, owners, steps)
    found, removed, number = list[Unrecorded](), list[int](), 0
    for line in (*_in_pairs(known), END):  # END stands for what was removed after the last line
        if line != END and not known.on_disk(line):
            if ways.is_taken(line):
                removed.append(line)
            continue
        number += 1
        added = line != END and known.is_added(line) and known.owner(line) is None
        if added or removed:
            hunks = {known.credit(each) for each in (*removed, *([line] if added else []))}
            texts = tuple(known.weave.content(gone) for gone in removed)
            found.append(
                Unrecorded(
                    number, added, texts, sessions=ways.among(hunks, removed), stale=ways.is_stale(hunks)
                )
            )
        removed = []
    return _with_rims(known, found)


class _Ways:
    """What stands in the way of giving unrecorded changes: the bonds that they would have."""

    def __init__(self, known: Pieces, owners: Collection[str], steps: Sequence[Step]) -> None:
        self.known, self.owners = known, owners
        units = known.weave.units
        foreign = known.weave.hunks[known.foreign].unit
        free = {n for n, unit in enumerate(units) if unit.owner is None and n not in (BASE, foreign)}
        look = Attempt(known, owners, steps)
        look.wanted |= free
        self.bonds = [
            bond
            for bond in Bonds(look, steps).find()
            if known.weave.hunks[bond.hunk].unit in free
            and not (bond.soft or bond.kind is Kind.IN_A_NEW_FILE)
        ]
        self.followed = dict[int, str]()
        others = {units[unit].owner for unit in known.by_unit} - {None, *owners}
        for owner in sorted(filter(None, others)):
            theirs = Attempt(known, {owner}, steps, look.past)
            theirs.follow()
            self.followed |= {unit: owner for unit in theirs.followed if known.births(unit)}

    def is_taken(self, line: int) -> bool:
        """Tell whether a gap took away a line of HEAD, or rewrote a line that the owners had brought."""
        known = self.known
        hunk = known.credit(line)
        if known.owner(line) is not None or hunk in (BASE, known.foreign):
            return False
        if known.in_head[line]:
            return True
        brought = known.weave.units[known.born_by(line)].owner
        return brought in self.owners and any(map(known.is_added, known.weave.hunks[hunk].births))

    def among(self, hunks: set[int], removed: Sequence[int]) -> tuple[str, ...]:
        known, units = self.known, self.known.weave.units
        names = {units[bond.unit].owner for bond in self.bonds if bond.hunk in hunks}
        names |= {self.followed.get(known.weave.hunks[hunk].unit) for hunk in hunks}
        todo, seen = [known.credit(line) for line in removed], set[int]()
        while todo:  # whoever wrote over the gap's lines takes these lines away too
            hunk = todo.pop()
            seen.add(hunk)
            for line in filter(known.is_history, known.weave.hunks[hunk].births):
                names.add(known.owner(line))
                if known.owner(line) is None and known.credit(line) not in seen:
                    todo.append(known.credit(line))
        return tuple(sorted(name for name in names if name is not None and name not in self.owners))

    def is_stale(self, hunks: set[int]) -> bool:
        return BASE in hunks or any(bond.stale and bond.hunk in hunks for bond in self.bonds)


def _in_pairs(known: Pieces) -> Iterator[int]:
    """All lines. In an unrecorded block each old line stands before the line that replaced it."""
    weave = known.weave
    runs = (paired(weave, n) for n in range(1, len(weave.hunks)) if weave.owner_of(n) is None)
    by_first = {run[0]: run for run in runs if run}
    moved = {line for run in by_first.values() for line in run}
    for line in weave.order():
        if line in by_first:
            yield from by_first[line]
        elif line not in moved:
            yield line


def _with_rims(known: Pieces, found: list[Unrecorded]) -> list[Unrecorded]:
    """Let the last change carry the newline at the end.

    A file that came or went empty is a change by itself.
    """
    head, text = known.head, known.weave.text
    if known.on_disk(EXISTS) != bool(known.in_head[EXISTS]) and known.owner(EXISTS) is None:
        found = [one._replace(file=True) for one in found or [Unrecorded(1)]]
    if not text or ends_with_newline(head) == ends_with_newline(text) or known.owner(NEWLINE) is not None:
        return found
    lines = len(known.weave.shown)
    if found and found[-1].line >= lines:
        return [*found[:-1], found[-1]._replace(end=True)]
    return [*found, Unrecorded(lines, end=True)]


def is_exact(
    before: Pieces,
    after: Pieces,
    owners: Collection[str],
    chosen: Collection[Unrecorded],
    steps: Sequence[Step] = (),
) -> bool:
    """Tell whether exactly the chosen changes got an owner; `after` has the step that gives them.

    Equal lines side by side can be mistaken for each other. So what nobody recorded must be the same
    afterwards, less the chosen changes, and so must everything that others own.
    """
    asked, left = (unrecorded(known, owners, steps) for known in (before, after))
    if [_bare(one) for one in left] != [_bare(one) for one in asked if one not in chosen]:
        return False
    return _of_others(before, owners) == _of_others(after, owners)


def _bare(one: Unrecorded) -> Unrecorded:
    """Return a change without the parts that its neighbours decide."""
    return one._replace(end=False, file=False, sessions=(), stale=False)


def _of_others(known: Pieces, owners: Collection[str]) -> Counter[tuple[str | None, bool, bytes]]:
    """What others own, by text, since equal lines may have changed places and thus numbers."""
    lines = ((known.owner(x), known.is_added(x), x) for x in known.differing() if x > NEWLINE)
    return Counter(
        (owner, added, known.weave.content(x))
        for owner, added, x in lines
        if owner is not None and owner not in owners
    )


def without(
    worktree: bytes | None, head: bytes | None, chosen: Sequence[Unrecorded], eol: bytes = b"\n"
) -> tuple[bytes | None, list[tuple[int, int, int]]]:
    r"""Return the text without the chosen changes, and where these are.

    A place is a start, the removed lines, and the number of added lines. A file that gaps alone made is
    absent again. `eol` ends the lines that come back.
    """
    lines = _lines(worktree, eol)
    by_line = {change.line: change for change in chosen}
    out: list[bytes] = []
    places: list[tuple[int, int, int]] = []
    for number, content in enumerate([*lines, None], 1):
        change = by_line.get(number)
        if change is not None:
            last = places[-1] if places else (0, 0, 0)
            if change.added and not change.removed and number > 1 and _adds(by_line.get(number - 1)):
                places[-1] = last[0], last[1], last[2] + 1
            elif change.added or change.removed:
                places.append((len(out), len(change.removed), int(change.added)))
            out += [gone + eol for gone in change.removed]
        if content is not None and not (change is not None and change.added):
            out.append(content)
    text = b"".join(out)
    if not text and head is None and all(change.file for change in chosen):
        return None, []
    complete = ends_with_newline(head if worktree is None or any(c.end for c in chosen) else worktree)
    return (text if complete else with_open_end(text).removesuffix(eol[:-1])), places


def _adds(change: Unrecorded | None) -> bool:
    return change is not None and change.added


def _lines(text: bytes | None, eol: bytes) -> list[bytes]:
    only = text is not None and b"\n" not in text
    lines = split_lines(text)
    return [line.removesuffix(eol[:-1]) + eol for line in lines] if only else [line + b"\n" for line in lines]


def takes(
    before: Sequence[bytes], after: Sequence[bytes], places: Sequence[tuple[int, int, int]]
) -> tuple[Take, ...] | None:
    """Return what a recorded assignment gives, from the lines of its texts and the places of its hunks.

    Returns None where the places do not lead from one text to the other: then the record is an edit like any
    other.
    """
    found: list[Take] = []
    shift, done, rebuilt = 0, 0, list[bytes]()
    olds, news = (split_lines(b"".join(each)) for each in (before, after))
    for start, removed, added in places:
        if start < done or start + removed > len(before):
            return None
        at = start + shift
        rebuilt += [*before[done:start], *after[at : at + added]]
        shift, done = shift + added - removed, start + removed
        old, new = olds[start:done], news[at : at + added]
        while old and new and old[0] == new[0]:  # these lines stand there only for the newline after them
            del old[0], new[0]
            at += 1
        if old or new:
            found.append(Take(at, len(new), tuple(old)))
    if [*rebuilt, *before[done:]] != list(after):
        return None
    ended = [not lines or lines[-1].endswith(b"\n") for lines in (before, after)]
    if ended[0] != ended[1]:
        last = found.pop() if found and found[-1].at + found[-1].count >= len(after) else Take(len(after))
        found.append(replace(last, end=True))
    return tuple(found) or (Take(0),)
