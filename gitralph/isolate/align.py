"""Matches HEAD's lines to the atoms of a weave that does not rebuild it.

Lines are first matched to what our commits left visible, and only inside the differing places to
atoms nobody committed. Must not decide what a match means (see `head`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

from gitralph.base.dataclass import dataclass, field
from gitralph.isolate.linediff import hunks
from gitralph.isolate.lines import ends_with_newline, has_words, split_lines
from gitralph.isolate.materialize import flags_of, states
from gitralph.isolate.weave import BASE, END, EXISTS, NEWLINE, START, Weave


@dataclass(slots=True)
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
    for low_old, high_old, low_new, high_new in hunks(old, new, single.__contains__):
        left = visible[low_old - 1] if low_old else START
        right = visible[high_old] if high_old < len(visible) else END
        _place(weave, match, left, right, new[low_new:high_new])
    return match


def _rims(match: Match, shown: bytearray, head: bytes | None) -> None:
    match.present[EXISTS] = head is not None
    match.concerned.append(EXISTS)
    if head:
        match.present[NEWLINE] = ends_with_newline(head)
        match.concerned.append(NEWLINE)


def _place(weave: Weave, match: Match, left: int, right: int, fresh: list[int]) -> None:
    """Match the lines of one differing place to the atoms between its two neighbours."""
    for line in fresh:
        _bring_up(weave, match, line, right)
    atoms = list(weave.between(left, right))
    for atom in atoms:
        match.present[atom] = 0
    match.concerned.extend(atoms)
    old = [weave.line[atom] for atom in atoms]
    place, floor, held = left, 0, list[tuple[int, int]]()
    from difflib import SequenceMatcher  # half a millisecond, and most files are HEAD's and known edits alone

    # Between the anchors the order is known, so the longest common run may decide; autojunk would drop lines
    # that are frequent in files of 200 lines and more (Python's difflib).
    for tag, low_old, high_old, low_new, high_new in SequenceMatcher(
        None, old, fresh, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            held += [(at, floor) for at in range(low_old, high_old)]
        elif high_new > low_new:
            place, floor = atoms[high_old - 1] if high_old else left, high_old
            match.foreign.append((place, [weave.texts[line] for line in fresh[low_new:high_new]]))
            match.crowded.update(atoms)
    for at in _older(weave, atoms, held):
        match.present[atoms[at]] = 1


def _older(weave: Weave, atoms: list[int], held: list[tuple[int, int]]) -> list[int]:
    """Take of equal lines of a place the one that stood there first, where the order allows it.

    A session copies a line of a function that HEAD has: the longest run of a diff may be the one from the
    copy on. One that is gone from the file is taken for none that is there. `held` are places in `atoms`,
    each with the first one that it may be moved to.
    """
    places: dict[int, list[int]] = {}
    for at, atom in enumerate(atoms):
        places.setdefault(weave.line[atom], []).append(at)
    found, low = list[int](), 0
    for (at, floor), end in zip(held, [*(one for one, _ in held), len(atoms)][1:], strict=True):
        there = places[weave.line[atoms[at]]]
        twins = there[bisect_left(there, max(low, floor)) : bisect_left(there, end)]
        twins = [n for n in twins if weave.visible(atoms[n]) or not weave.visible(atoms[at])]
        found.append(min(twins, key=lambda n: (weave.birth[atoms[n]], n != at)))
        low = found[-1] + 1
    return found


def _bring_up(weave: Weave, match: Match, line: int, right: int) -> None:
    """Put a line that HEAD lacked before a line that it took the place of, where HEAD now has both.

    A replacement's lines stand behind what they replaced, which is a choice: no text shows both. `git add -p`
    may take the new lines and leave the old ones, in front of them.
    """
    if right == END or not has_words(weave.texts[line]):
        return
    for atom in weave.seen[line]:
        hunk = weave.birth[atom]
        # Only a line that replaced the one behind it may change sides with it: any other order was somebody's
        # text.
        if hunk == BASE or match.present[atom] or right not in weave.hunks[hunk].dels:
            continue
        gone, births, at = set(weave.hunks[hunk].dels), [atom], right
        while at != atom and ((at in gone and not weave.visible(at)) or weave.birth[at] == hunk):
            births[-1:-1] = [at] if weave.birth[at] == hunk else []
            at = weave.next[at]
        if at == atom:
            for each in births:
                weave.link(weave.prev[each], weave.next[each])
                weave.link(weave.prev[right], each)
                weave.link(each, right)
            return
