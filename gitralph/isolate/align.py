"""Matches HEAD's lines to the atoms of a weave that does not rebuild it.

Lines are first matched to what our commits left visible, and only inside the differing places to
atoms nobody committed. Must not decide what a match means (see `head`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from gitralph.isolate.blocks import AROUND
from gitralph.isolate.gotoh import OldLine, best_pairs
from gitralph.isolate.linediff import Range, hunks
from gitralph.isolate.lines import ends_with_newline, has_words, is_telling, split_lines
from gitralph.isolate.materialize import flags_of, states
from gitralph.isolate.weave import BASE, END, EXISTS, NEWLINE, START, Weave


@dataclass
class Match:
    """Which atoms HEAD shows; `concerned` are those in places where HEAD differs."""

    present: bytearray
    concerned: list[int] = field(default_factory=list)
    foreign: list[tuple[int, list[bytes]]] = field(default_factory=list)
    """Runs of lines HEAD has and no atom stands for, with the atom they follow."""
    crowded: set[int] = field(default_factory=set)
    """The concerned atoms in places where HEAD has such lines."""


def match_head(weave: Weave, units: set[int], head: bytes | None) -> Match:
    """Match HEAD's text against the weave in which `units` are committed."""
    shown = states(weave, flags_of(weave, units))
    match = Match(bytearray(shown))
    _rims(match, shown, head)
    visible = [atom for atom in weave.order() if shown[atom]] if shown[EXISTS] else []
    # Without the file none of its lines is there, whatever their own operations say.
    for atom in weave.order() if not shown[EXISTS] else []:
        match.present[atom] = 0
    old = [weave.line[atom] for atom in visible]
    new = [weave.line_id(line) for line in split_lines(head)]
    # The same trust as between two recorded texts: only lines single on both sides anchor (see `linediff`).
    single = {line for line, n in Counter(old).items() if n == 1}
    single &= {line for line, n in Counter(new).items() if n == 1}
    ranges = hunks(old, new, single.__contains__)
    for _, high_old, low_new, high_new in ranges:
        right = visible[high_old] if high_old < len(visible) else END
        fresh = new[low_new:high_new]
        for line, beyond in zip(fresh, [*fresh[1:], -1], strict=False):
            bring_up(weave, match, line, beyond, right)
    for low_old, high_old, low_new, high_new in widened(ranges, old, new, single):
        left = visible[low_old - 1] if low_old else START
        right = visible[high_old] if high_old < len(visible) else END
        place_lines(weave, match, shown, left, right, new[low_new:high_new])
    return match


def widened(ranges: list[Range], old: list[int], new: list[int], single: set[int]) -> list[Range]:
    """Take equal lines around each differing place in: HEAD's may be those of the block beside it."""
    found: list[Range] = []
    for low_old, high_old, low_new, high_new in ranges:
        # the line that stands alone is taken in as well: lines that follow it in one hunk are one run with it
        above = below = 0
        while above < min(AROUND, low_old, low_new) and old[low_old - above - 1] == new[low_new - above - 1]:
            above += 1
            if old[low_old - above] in single:
                break
        while below < min(AROUND, len(old) - high_old, len(new) - high_new):
            if old[high_old + below] != new[high_new + below]:
                break
            below += 1
            if old[high_old + below - 1] in single:
                break
        each = low_old - above, high_old + below, low_new - above, high_new + below
        if found and found[-1][1] >= each[0]:
            each = found[-1][0], max(each[1], found[-1][1]), found[-1][2], max(each[3], found[-1][3])
            found.pop()
        found.append(each)
    return found


def _rims(match: Match, shown: bytearray, head: bytes | None) -> None:
    match.present[EXISTS] = head is not None
    match.concerned.append(EXISTS)
    if head:
        match.present[NEWLINE] = ends_with_newline(head)
        match.concerned.append(NEWLINE)


def place_lines(
    weave: Weave, match: Match, shown: bytearray, left: int, right: int, fresh: list[int]
) -> None:
    """Match the lines of one differing place to the atoms between its two neighbours."""
    atoms = list(weave.between(left, right))
    for atom in atoms:
        match.present[atom] = 0
    match.concerned.extend(atoms)
    held = _matched(weave, shown, atoms, fresh)
    for at, _ in held:
        match.present[atoms[at]] = 1
    above = _run([at == number == line for number, (at, line) in enumerate(held)])
    ends = [(len(atoms) - 1 - n, len(fresh) - 1 - n) for n in range(len(held))]
    below = _run([one == other for one, other in zip(reversed(held), ends, strict=True)])
    done = 0
    for at, line in [*held, (len(atoms), len(fresh))]:
        if line > done:
            place = atoms[at - 1] if at else left
            match.foreign.append((place, [weave.texts[one] for one in fresh[done:line]]))
            match.crowded.update(atoms[above : len(atoms) - below])
        done = line + 1


def _run(found: list[bool]) -> int:
    return found.index(False) if False in found else len(found)


_TOLD, _SAID, _KEPT, _ON, _THERE, _GONE = 1000, 30, 15, 5, 20, 100
"""What a match is worth of a line that tells its place and of one that does not, more of one that a commit
had, and more where a hunk goes on; and what a run costs: of lines of the first text, of a commit or of the
file, and of others. Three braces of a block of which HEAD has nothing else are no match."""

_CELLS = 400_000
"""So many pairs of lines are weighed, 0.2 s; in a larger place the longest runs decide."""


def _matched(weave: Weave, shown: bytearray, atoms: list[int], fresh: list[int]) -> list[tuple[int, int]]:
    """Pair atoms with lines, in their order: whole runs of what one hunk brought, the older of equal ones."""
    if len(atoms) * len(fresh) > _CELLS:
        return _by_longest_run(weave, atoms, fresh)
    # of two readings as good the one of older lines: their ages together are less than the unit
    unit = (len(weave.hunks) + 1) * (len(atoms) + 1)
    rows = list[OldLine]()
    for before, atom in zip([START, *atoms], atoms, strict=False):
        birth, more = weave.birth[atom], len(weave.hunks) - weave.birth[atom]
        was_there = birth == BASE and (weave.ops[atom] or [1])[0] >> 1 != BASE
        cost = _THERE if was_there or shown[atom] or weave.visible(atom) else _GONE
        on = None if before == START or weave.birth[before] != birth else _ON * unit if birth != BASE else 0
        rows.append(OldLine(weave.line[atom], more + (_KEPT * unit if shown[atom] else 0), cost * unit, on))
    worth = [(_TOLD if is_telling(weave.texts[line]) else _SAID) * unit for line in fresh]
    return best_pairs(rows, fresh, worth)[1]


def _by_longest_run(weave: Weave, atoms: list[int], fresh: list[int]) -> list[tuple[int, int]]:
    """The same for a place that is too large for it, by Python's difflib."""

    # autojunk would drop lines that are frequent in files of 200 lines and more (Python's difflib)
    blocks = SequenceMatcher(
        None, [weave.line[a] for a in atoms], fresh, autojunk=False
    ).get_matching_blocks()
    return [(one.a + n, one.b + n) for one in blocks for n in range(one.size)]


def bring_up(weave: Weave, match: Match, line: int, beyond: int, right: int) -> None:
    """Put a line that HEAD lacked before a line that it took the place of, where HEAD now has both.

    A replacement's lines stand behind what they replaced, which is a choice: no text shows both. `git add -p`
    may take the new lines and leave the old ones, in front of them. `beyond` is the line that HEAD has behind
    it, if that is new there as well, `right` the atom behind all of these.
    """
    if not has_words(weave.texts[line]):
        return
    if beyond >= 0 and not is_telling(weave.texts[beyond]):
        beyond = -1  # a brace may be any
    for atom in weave.seen[line]:
        hunk = weave.birth[atom]
        # Only a line that replaced the one behind it may change sides with it: any other order was somebody's
        # text.
        if hunk == BASE or match.present[atom]:
            continue
        # the atoms that are no lines have no line's number, -1, as there is none beyond the last
        same = (each for each in weave.hunks[hunk].dels if weave.line[each] == beyond >= 0)
        old = next(same, right)
        if old == END or old not in weave.hunks[hunk].dels:
            continue
        gone, births, at = set(weave.hunks[hunk].dels), [atom], old
        while at != atom and (weave.birth[at] == hunk or _no_text_has_both(weave, at, hunk, gone)):
            births[-1:-1] = [at] if weave.birth[at] == hunk else []
            at = weave.next[at]
        if at == atom:
            for each in births:
                weave.link(weave.prev[each], weave.next[each])
                weave.link(weave.prev[old], each)
                weave.link(each, old)
            return


def _no_text_has_both(weave: Weave, atom: int, hunk: int, gone: set[int]) -> bool:
    """Tell whether a line is gone for good by what a hunk took away, or was gone before."""
    return not weave.visible(atom) and (atom in gone or not weave.visible_at(atom, hunk))
