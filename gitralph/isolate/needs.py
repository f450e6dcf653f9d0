"""What a hunk cannot be committed without: the refusal rules, one generator each.

A need names a hunk of somebody else that is not part of the commit. Some needs can be met by
absorbing that hunk (see `absorb`), the others make the edit entangled. When in doubt a rule
must ask for too much: a refusal costs a gap, a missing rule costs a misattribution.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gitralph.isolate.lines import words
from gitralph.isolate.view import COUNTS, Flags, visible, visible_before
from gitralph.isolate.weave import EXISTS, NEWLINE, Hunk, Weave


class Need(NamedTuple):
    """`hunk` builds on `other`, which the commit does not hold."""

    hunk: int
    other: int
    why: str
    absorbable: bool = False


def needs_of(weave: Weave, hunk: int, flags: Flags) -> Iterator[Need]:
    """Yield what one hunk of a commit lacks, when only the flagged hunks are in it."""
    made = weave.hunks[hunk]
    yield from _file(weave, hunk, made, flags)
    yield from _removed(weave, hunk, made, flags)
    yield from _restored(weave, hunk, made, flags)
    yield from _copied(weave, hunk, made, flags)
    yield from _across(weave, hunk, made, flags)


def _file(weave: Weave, hunk: int, made: Hunk, flags: Flags) -> Iterator[Need]:
    """Lines need the file they are in; a deletion needs what others had removed from it before."""
    if EXISTS in made.dels:
        yield from _emptied(weave, hunk, flags)
        return
    if not (made.births or made.undels):
        return
    if not visible_before(weave, EXISTS, flags, hunk + 1) and not visible(weave, EXISTS, flags):
        yield Need(hunk, provider(weave, EXISTS, hunk), "is in a file created by")


def _emptied(weave: Weave, hunk: int, flags: Flags) -> Iterator[Need]:
    """Lines that a deleted file would take along though its deleter never saw them."""
    for atom in weave.order():
        if visible(weave, atom, flags):
            for op in weave.ops[atom] or ():
                if not op & 1 and not flags[op >> 1] and op >> 1 < hunk:
                    yield Need(hunk, op >> 1, "deletes a file that had lines removed by")


def _removed(weave: Weave, hunk: int, made: Hunk, flags: Flags) -> Iterator[Need]:
    """Rule 1: what a hunk removed or replaced was there in the commit too."""
    for atom in made.dels:
        if atom == NEWLINE or visible_before(weave, atom, flags, hunk):
            continue
        other = provider(weave, atom, hunk)
        if flags[other]:
            other = weave.birth[atom]
        if EXISTS in made.dels:
            yield Need(hunk, other, "deletes the file with")
        elif not _harmless(weave, made, atom, other):
            yield Need(hunk, other, "replaces", absorbable=True)


def _harmless(weave: Weave, made: Hunk, atom: int, other: int) -> bool:
    """Tell whether a removal can wait: it takes away nothing but what is not committed yet."""
    if made.births or made.undels or atom in weave.origin or _moved_by(weave, made, atom):
        return False
    if other != weave.birth[atom]:
        return not weave.hunks[other].dels  # else HEAD still shows what the restoring replaced
    return _replaced_words(weave, other).isdisjoint(words(weave.content(atom)))


def _moved_by(weave: Weave, made: Hunk, atom: int) -> bool:
    """Tell whether the unit of a hunk puts an atom it removes somewhere else."""
    return any(
        weave.origin.get(copy) == atom
        for index in weave.units[made.unit].hunks
        for copy in weave.hunks[index].births
    )


def _replaced_words(weave: Weave, hunk: int) -> set[bytes]:
    """Return the words of all lines that the unit of a hunk replaced."""
    return {
        word
        for index in weave.unit_of(hunk).hunks
        for old in weave.hunks[index].dels
        if old not in (EXISTS, NEWLINE)
        for word in words(weave.content(old))
    }


def _restored(weave: Weave, hunk: int, made: Hunk, flags: Flags) -> Iterator[Need]:
    """Rule 4: text brought back is somebody's."""
    for atom in made.undels:
        if flags[weave.birth[atom]] != COUNTS:
            yield Need(hunk, weave.birth[atom], "restores")


def _copied(weave: Weave, hunk: int, made: Hunk, flags: Flags) -> Iterator[Need]:
    """Rule 4 again: moved text is somebody's, and must not stay where it was."""
    for atom in made.births:
        source = weave.origin.get(atom)
        if source is None:
            continue
        if flags[weave.birth[source]] != COUNTS:
            yield Need(hunk, weave.birth[source], "moves")
        elif visible(weave, source, flags):
            for op in weave.ops[source] or ():
                if not op & 1 and not flags[op >> 1] and op >> 1 < hunk:
                    yield Need(hunk, op >> 1, "moves")


def _across(weave: Weave, hunk: int, made: Hunk, flags: Flags) -> Iterator[Need]:
    """Rule 3: a replaced range must not straddle a line that is gone for others only."""
    if not made.births:
        return
    for atom in made.crossed:
        if visible(weave, atom, flags):
            for op in weave.ops[atom] or ():
                if not op & 1 and not flags[op >> 1] and op >> 1 < hunk:
                    yield Need(hunk, op >> 1, "replaces lines around a removal by")


def provider(weave: Weave, atom: int, hunk: int) -> int:
    """Return the hunk that made an atom visible, as another hunk found it."""
    for op in reversed(weave.ops[atom] or ()):
        if op & 1 and op >> 1 < hunk:
            return op >> 1
    return weave.birth[atom]
