"""Matches HEAD's lines to the atoms of a weave that does not rebuild HEAD's text.

Lines are first matched to what the weave shows. Only inside the places that differ they are matched to atoms
that are gone. What a match means is decided in `place_head`, not here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from gitralph.lines.gotoh import OldLine, best_pairs
from gitralph.lines.linediff import AROUND, Range
from gitralph.lines.text import is_telling
from gitralph.lines.weave import BASE, START, Weave


@dataclass
class Match:
    """Which atoms HEAD shows. ``concerned`` are the atoms in places where HEAD differs."""

    present: bytearray
    concerned: list[int] = field(default_factory=list)
    foreign: list[tuple[int, list[bytes]]] = field(default_factory=list)
    """Runs of lines that HEAD has and no atom stands for, each with the atom that it follows."""


def widened(ranges: list[Range], old: list[int], new: list[int], single: set[int]) -> list[Range]:
    """Widen each differing place by the equal lines around it: HEAD may have those of the block beside it."""
    found: list[Range] = []
    for low_old, high_old, low_new, high_new in ranges:
        # The line that stands alone is taken in too: it forms one run with lines that follow it in one hunk.
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
    done = 0
    for at, line in [*held, (len(atoms), len(fresh))]:
        if line > done:
            place = atoms[at - 1] if at else left
            match.foreign.append((place, [weave.texts[one] for one in fresh[done:line]]))
        done = line + 1


_TOLD, _SAID, _KEPT, _ON, _THERE, _GONE = 1000, 30, 15, 5, 20, 100
"""The worth of a match, and the cost of a run.

``_TOLD`` is for a line that tells its place, since neither side has it twice, ``_SAID`` for any other.
``_KEPT`` is added for a line that a commit had, ``_ON`` where a hunk goes on. A run costs ``_THERE`` among
lines of the first text, of a commit or of the file, else ``_GONE``. So three braces are no match for a block
of which HEAD has nothing else.
"""

_CELLS = 400_000
"""At most so many pairs of lines are weighed, 0.2 s; in a larger place the longest runs decide."""


def _matched(weave: Weave, shown: bytearray, atoms: list[int], fresh: list[int]) -> list[tuple[int, int]]:
    """Pair atoms with lines in their order: whole runs of what one hunk brought.

    Of equal ones the older counts, but not one that was gone when the other came.
    """
    if len(atoms) * len(fresh) > _CELLS:
        return _by_longest_run(weave, atoms, fresh)
    # Of two equally good readings the one with older lines wins: all ages together are less than this unit.
    unit = (len(weave.hunks) + 1) * (len(atoms) + 1)
    again = _came_again(weave, atoms)
    rows = list[OldLine]()
    for before, atom in zip([START, *atoms], atoms, strict=False):
        birth, more = weave.birth[atom], len(weave.hunks) - weave.birth[atom]
        was_there = birth == BASE and (weave.ops[atom] or [1])[0] >> 1 != BASE
        is_likely = was_there and atom not in again
        cost = _THERE if is_likely or shown[atom] or weave.visible(atom) else _GONE
        on = None if before == START or weave.birth[before] != birth else _ON * unit
        if not is_likely and was_there:
            on = None
        rows.append(OldLine(weave.line[atom], more + (_KEPT * unit if shown[atom] else 0), cost * unit, on))
    often = Counter(fresh) | Counter(weave.line[atom] for atom in atoms)
    tells = (is_telling(weave.texts[line]) and often[line] == 1 for line in fresh)
    worth = [(_TOLD if each else _SAID) * unit for each in tells]
    return best_pairs(rows, fresh, worth)[1]


def _came_again(weave: Weave, atoms: list[int]) -> set[int]:
    """The lines that were gone when an equal one came: right below, or anywhere if it tells its place.

    A line of the first text tells its place where that had no second one. What stands below it, up to the
    next such line, is its own.
    """
    found, beside = set[int](), dict[int, int]()
    for atom in reversed(atoms):
        line, gone = weave.line[atom], weave.taker(atom)
        if weave.visible(atom):
            beside.clear()
        elif beside.get(line, 0) > gone:
            found.add(atom)
        beside[line] = max(beside.get(line, 0), weave.birth[atom])
    dead, is_again = [x for x in atoms if weave.birth[x] == BASE and not weave.visible(x)], False
    equal = {line: weave.seen[line] for line in {weave.line[x] for x in dead}}
    for atom in dead:
        same = equal[weave.line[atom]]
        if weave.says(atom) and (len(same) == 1 or weave.birth[same[1]] != BASE):
            is_again = weave.birth[same[-1]] > weave.taker(atom)
        if is_again:
            found.add(atom)
    return found


def _by_longest_run(weave: Weave, atoms: list[int], fresh: list[int]) -> list[tuple[int, int]]:
    """Pair them in a place that is too large for weighing, by Python's difflib."""

    # autojunk would drop lines that are frequent in a file of 200 lines or more (Python's difflib).
    blocks = SequenceMatcher(
        None, [weave.line[a] for a in atoms], fresh, autojunk=False
    ).get_matching_blocks()
    return [(one.a + n, one.b + n) for one in blocks for n in range(one.size)]
