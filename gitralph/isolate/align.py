"""Matches HEAD's lines to the atoms of a weave that does not rebuild it.

Lines are first matched to what our commits left visible, and only inside the differing places to
atoms nobody committed. Must not decide what a match means (see `head`).
"""

from __future__ import annotations

from bisect import bisect_right
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
    then = _as_it_was(weave, atoms, fresh)
    if then is not None:
        for atom in then:
            match.present[atom] = 1
        return
    old = [weave.line[atom] for atom in atoms]
    place = left
    from difflib import SequenceMatcher  # half a millisecond, and most files are HEAD's and known edits alone

    # Between the anchors the order is known, so the longest common run may decide; autojunk would drop lines
    # that are frequent in files of 200 lines and more (Python's difflib).
    for tag, low_old, high_old, low_new, high_new in SequenceMatcher(
        None, old, fresh, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            for atom in atoms[low_old:high_old]:
                match.present[atom] = 1
        elif high_new > low_new:
            place = atoms[high_old - 1] if high_old else left
            match.foreign.append((place, [weave.texts[line] for line in fresh[low_new:high_new]]))
            match.crowded.update(atoms)


_LOOKS = 1 << 16
"""So many lines at most are looked at for earlier states of one place, the latest first."""


def _as_it_was(weave: Weave, atoms: list[int], fresh: list[int]) -> list[int] | None:
    """Return the atoms of a place as they stood after some step, the last that left the lines HEAD has there.

    Somebody committed the file as it was then: of two equal lines HEAD has the one that was there. A diff
    would take the one that makes the longer run.
    """
    hunks_here = set[int]()
    for atom in atoms:
        hunks_here.update((weave.birth[atom], *(op >> 1 for op in weave.ops[atom] or ())))
    limits = sorted(
        {weave.ends[at] for hunk in hunks_here if (at := bisect_right(weave.ends, hunk)) < len(weave.ends)}
    )
    for limit in limits[: -1 - _LOOKS // (len(atoms) or 1) : -1]:
        shown = [atom for atom in atoms if weave.visible_at(atom, limit)]
        if [weave.line[atom] for atom in shown] == fresh:
            return shown
    return None


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
