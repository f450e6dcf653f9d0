"""Fits the weave to HEAD, also where HEAD moved without us.

The units our own commits consumed must rebuild HEAD's text. Where they do not, somebody
committed with plain git, pulled, rewound, or had changed the file before the first record. What
HEAD holds is then matched to whole units, to single lines of units, and what is left becomes a gap
between HEAD and the working tree that nobody may build on. Must never guess: the result either
rebuilds HEAD and the working tree byte for byte, or there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gitralph.isolate.align import Match, match_head
from gitralph.isolate.materialize import Flags, flags_of, states, switch, text_of, visible
from gitralph.isolate.weave import BASE, EXISTS, NEWLINE, START, Hunk, Unit, Weave

DRIFT = "head"
"""Key of the units that stand for differences between HEAD and the first known text."""

REST = "+"
"""Ends the name of what is left of a unit that HEAD held once and holds in part now."""


@dataclass
class Anchored:
    """Which units HEAD holds; `drift` are gaps between HEAD and the records that nobody may build on."""

    units: set[int]
    drift: set[int] = field(default_factory=set)
    added: set[int] = field(default_factory=set)
    rewound: set[int] = field(default_factory=set)
    moved: bool = False
    settled: set[int] = field(default_factory=set)
    """Hunks of which HEAD holds some of the lines they brought."""
    rests: dict[int, int] = field(default_factory=dict)
    """Hunk to the hunk that stands for what HEAD lacks of it."""


def exactly(weave: Weave, units: Iterable[int], head: bytes | None) -> bool:
    """Tell whether these units rebuild HEAD's text; where HEAD has no file, they have no line either."""
    shown = states(weave, flags_of(weave, units))
    if head is None:
        # A line of a file that is not there shows as soon as another unit makes the file.
        return not any(shown[atom] for atom in (EXISTS, *weave.order()))
    return text_of(weave, weave.order(), shown) == head


def anchor(weave: Weave, committed: Iterable[int], head: bytes | None) -> Anchored | None:
    """Find the units that HEAD holds, or None where that cannot be said with certainty."""
    units = set(committed)
    # The rule for every commit that only we made: no line has to be matched, so nothing can be mistaken.
    if exactly(weave, units, head):
        return Anchored(units)
    worktree = weave.text
    match = match_head(weave, units, head)
    found = _whole_units(weave, set(units), match)
    # Somebody committed with plain git, amended or reset: first whole units, since `git commit -a` takes them
    # whole, then lines, since `git add -p` does not.
    anchored = Anchored(found, added=found - units, rewound=units - found, moved=True)
    if _text(weave, found) != head:
        _split(weave, anchored, match)
        _drift(weave, anchored, match)
    _bury(weave, anchored, match)
    everything = set(range(len(weave.units)))
    # I1 and I6, checked on every answer and not only in tests: a match that fails them is worth a refusal.
    if _text(weave, anchored.units) != head or _text(weave, everything) != worktree:
        return None
    return anchored


def _text(weave: Weave, units: set[int]) -> bytes | None:
    return text_of(weave, weave.order(), states(weave, flags_of(weave, units)))


def _whole_units(weave: Weave, units: set[int], match: Match) -> set[int]:
    """Add and take out whole units as long as each brings the text closer to HEAD."""
    concerned = set(match.concerned)
    flags = flags_of(weave, units)
    changed = True
    while changed:
        changed = False
        for index in range(1, len(weave.units)):
            atoms = weave.atoms_of(weave.units[index])
            if concerned.isdisjoint(atoms):
                continue
            before = _wrong(weave, flags, atoms, match)
            switch(weave, flags, index, index not in units)
            after = _wrong(weave, flags, atoms, match)
            # Strictly closer each time, so the loop ends; a unit that brings the text no closer is left
            # alone.
            is_clear = after == 0 or _wrong_own(weave, flags, index, match) == 0
            if after < before and (is_clear or (index in units and _is_without(weave, index, match))):
                units, changed = units ^ {index}, True
                continue
            switch(weave, flags, index, index in units)
            below = _below(weave, index, units, match) if before and index in units else set()
            if below and _are_out(weave, flags, {index, *below}, match):
                units, changed = units - {index, *below}, True
    return units


def _below(weave: Weave, index: int, units: set[int], match: Match) -> set[int]:
    """Return the units of which one removed lines, where HEAD shows no line of theirs nor of its own."""
    made = [weave.hunks[hunk] for hunk in weave.units[index].hunks]
    found = {weave.hunks[weave.birth[atom]].unit for one in made for atom in one.dels} - {BASE, index}
    births = [a for unit in {index, *found} for h in weave.units[unit].hunks for a in weave.hunks[h].births]
    return found if found <= units and not any(match.present[atom] for atom in births) else set()


def _are_out(weave: Weave, flags: Flags, units: set[int], match: Match) -> bool:
    """Take some units out together where HEAD is then without them: one alone would show another's line."""
    for unit in units:
        switch(weave, flags, unit, False)
    if not any(_wrong(weave, flags, weave.atoms_of(weave.units[unit]), match) for unit in units):
        return True
    for unit in units:
        switch(weave, flags, unit)
    return False


def _is_without(weave: Weave, index: int, match: Match) -> bool:
    """Tell whether HEAD shows nothing of what a unit did: a commit of ours that was taken out whole."""
    # Else a replacement whose old line came back with a text of nobody's would lose its new line to nobody.
    made = [weave.hunks[hunk] for hunk in weave.units[index].hunks]
    return all(
        not any(match.present[atom] for atom in one.births + one.undels)
        and all(match.present[atom] for atom in one.dels)
        for one in made
    )


def _wrong(weave: Weave, flags: Flags, atoms: list[int], match: Match) -> int:
    return sum(visible(weave, atom, flags) != match.present[atom] for atom in atoms)


def _wrong_own(weave: Weave, flags: Flags, index: int, match: Match) -> int:
    """Count the atoms on which this unit had the last word and that still do not fit."""
    last = [
        atom
        for hunk in weave.units[index].hunks
        for atom in weave.hunks[hunk].touched()
        if not weave.ops[atom] or (weave.ops[atom] or [0])[-1] >> 1 == hunk
    ]
    return _wrong(weave, flags, last, match)


def _differing(weave: Weave, anchored: Anchored, match: Match) -> list[int]:
    shown = states(weave, flags_of(weave, anchored.units))
    return [atom for atom in match.concerned if shown[atom] != match.present[atom]]


def _split(weave: Weave, anchored: Anchored, match: Match) -> None:
    """Settle the lines in which HEAD holds part of a unit; the rest stays its owner's to commit.

    What settles are the first operations on a line, as many as leave it as HEAD has it. At most
    the last one is over: it undoes them, and is pending, whoever made it.
    """
    for atom in _differing(weave, anchored, match):
        wanted = bool(match.present[atom])
        born = weave.birth[atom] != BASE
        ops = weave.ops[atom] or []
        fitting = [wanted, *(bool(op & 1) == wanted and _is_in_head(weave, op, match) for op in ops)]
        place = max((at for at, fits in enumerate(fitting) if fits), default=-1)
        if place < 0 and (not born or atom in match.crowded):
            continue  # HEAD lacks the line for a reason of its own: `_drift` says so
        place = _before_the_stash(weave, ops, place)
        if born and place == 1 and _was_stashed(weave, atom, ops):
            place = -1
        rest = ops[place:] if place >= 0 else ops
        if place >= 0:
            if wanted and born:
                anchored.settled.add(weave.birth[atom])
            _settle(weave, atom, rest, wanted)
        else:
            _hold_back_birth(weave, anchored, atom)
        for op in rest:
            if weave.hunks[op >> 1].unit in anchored.units:
                _hold_back(weave, anchored, atom, op)


def _before_the_stash(weave: Weave, ops: list[int], place: int) -> int:
    """Keep an edit that somebody without a session took back and made again: a stash, and its pop."""
    while place >= 2 and place < len(ops):
        edit, back, again = ops[place - 2 : place + 1]
        makers = [weave.owner_of(op >> 1) for op in (edit, back, again)]
        if edit & 1 != again & 1 or makers[0] is None or makers[1:] != [None, None] or edit >> 1 == BASE:
            return place
        place -= 2
    return place


def _was_stashed(weave: Weave, atom: int, ops: list[int]) -> bool:
    """Tell whether the same befell a line that a session wrote: HEAD lacks it as it was not committed."""
    makers = [weave.owner_of(op >> 1) for op in ops[:2]]
    is_back = [op & 1 for op in ops[:2]] == [0, 1] and makers == [None, None]
    return is_back and weave.owner_of(weave.birth[atom]) is not None


def _is_in_head(weave: Weave, op: int, match: Match) -> bool:
    """Tell whether HEAD can hold an operation: a replacement only with something of what it brought."""
    births = weave.hunks[op >> 1].births
    return bool(op & 1) or not births or any(match.present[atom] for atom in births)


def _settle(weave: Weave, atom: int, rest: list[int], wanted: bool) -> None:
    """Make an atom's state in HEAD part of the base; `rest` are the operations since."""
    kept = {op >> 1 for op in rest}
    for hunk in {weave.birth[atom], *(op >> 1 for op in weave.ops[atom] or ())} - kept:
        weave.forget(hunk, atom)
    weave.birth[atom] = BASE
    weave.ops[atom] = [*([] if wanted else [BASE << 1]), *rest] or None


def _hold_back_birth(weave: Weave, anchored: Anchored, atom: int) -> None:
    """HEAD lost a line of a unit it otherwise holds."""
    hunk = weave.birth[atom]
    if weave.hunks[hunk].unit in anchored.units:
        weave.forget(hunk, atom)
        rest = _rest_of(weave, anchored, hunk)
        weave.hunks[rest].births.append(atom)
        weave.birth[atom] = rest


def _hold_back(weave: Weave, anchored: Anchored, atom: int, op: int) -> None:
    """HEAD lost what a unit it otherwise holds did to a line."""
    hunk, value = op >> 1, op & 1
    weave.forget(hunk, atom)
    rest = _rest_of(weave, anchored, hunk)
    (weave.hunks[rest].undels if value else weave.hunks[rest].dels).append(atom)
    weave.jumbled.add(atom)
    weave.ops[atom] = [rest << 1 | value if one == op else one for one in weave.ops[atom] or ()]


def _rest_of(weave: Weave, anchored: Anchored, hunk: int) -> int:
    """Return the hunk that stands for what HEAD lacks of another; its unit has the same owner."""
    if hunk in anchored.rests:
        return anchored.rests[hunk]
    whole, made = weave.unit_of(hunk), Hunk()
    twins = [anchored.rests[other] for other in whole.hunks if other in anchored.rests]
    if twins:
        made.unit = weave.hunks[twins[0]].unit
    else:
        made.unit = len(weave.units)
        weave.units.append(Unit(whole.key + REST, whole.owner, whole.step))
    made.left, made.right = weave.hunks[hunk].left, weave.hunks[hunk].right
    anchored.rests[hunk] = len(weave.hunks)
    weave.units[made.unit].hunks.append(len(weave.hunks))
    weave.hunks.append(made)
    return anchored.rests[hunk]


def _bury(weave: Weave, anchored: Anchored, match: Match) -> None:
    """Settle as dead what HEAD passed over: text whose replacement was replaced by text in HEAD.

    Somebody who commits H, which stood where Z stood, which stood where A stood, has decided over
    A too, whoever wrote it. Without this a later commit of A's owner would bring A back.
    """
    shown = states(weave, flags_of(weave, anchored.units))
    held = [
        hunk
        for unit in sorted(anchored.units - anchored.drift)
        for hunk in (weave.units[unit].hunks if unit else [])
    ]
    over = [hunk for hunk in held if weave.hunks[hunk].births] + sorted(anchored.settled)
    todo = [(atom, hunk) for hunk in over for atom in weave.hunks[hunk].dels]
    done: set[int] = set()
    while todo:
        atom, by = todo.pop()
        if atom in done or atom in (EXISTS, NEWLINE) or shown[atom] or weave.visible(atom):
            continue
        if _came_back(weave, anchored, atom, by):
            continue
        done.add(atom)
        for hunk in _pending_makers(weave, anchored, atom):
            todo += [(other, hunk) for other in weave.hunks[hunk].dels]
    for atom in done:
        # What only git or a person put back no session's commit brings back, and an edit that replaced it
        # there needs to know that it did.
        makers = _pending_makers(weave, anchored, atom)
        if any(weave.owner_of(hunk) is not None for hunk in makers):
            _settle(weave, atom, [], wanted=False)


def _came_back(weave: Weave, anchored: Anchored, atom: int, hunk: int) -> bool:
    """Tell whether a line was on disk again after a hunk had replaced it: whoever rewrote it then saw it."""
    return any(
        op & 1 and op >> 1 > hunk and weave.hunks[op >> 1].unit not in anchored.units
        for op in weave.ops[atom] or ()
    )


def _pending_makers(weave: Weave, anchored: Anchored, atom: int) -> Iterator[int]:
    """Yield the hunks outside HEAD that once made an atom visible."""
    for hunk in (weave.birth[atom], *(op >> 1 for op in weave.ops[atom] or () if op & 1)):
        if hunk != BASE and weave.hunks[hunk].unit not in anchored.units:
            yield hunk


def _drift(weave: Weave, anchored: Anchored, match: Match) -> None:
    """Make a gap of nobody's from HEAD to the text the journal starts from."""
    differing, hunk, last = set(_differing(weave, anchored, match)), -1, START
    for atom in match.concerned:
        # Lines that HEAD lacks, with none between them that it has, are one change: what a session wrote
        # among them is inside it.
        if match.present[atom] or weave.prev[atom] != last:
            hunk = -1
        last = atom
        if atom not in differing:
            continue
        if atom == NEWLINE:
            _drift_newline(weave, anchored, bool(match.present[NEWLINE]))
        elif match.present[atom]:
            return  # `head` finds that the text does not fit
        else:
            hunk = _drift_line(weave, anchored, atom, hunk)
    for place, contents in match.foreign:
        hunk = _drift_hunk(weave, anchored)
        for content in contents:
            place = weave.insert(place, weave.line_id(content), BASE)
            weave.operate(place, hunk, False)
            weave.hunks[hunk].dels.append(place)


def _drift_hunk(weave: Weave, anchored: Anchored) -> int:
    unit = Unit(f"{DRIFT}.{len(anchored.drift)}", None, -1)
    made = Hunk()
    made.unit = len(weave.units)
    unit.hunks.append(len(weave.hunks))
    weave.units.append(unit)
    weave.hunks.append(made)
    anchored.drift.add(made.unit)
    return unit.hunks[0]


def _drift_line(weave: Weave, anchored: Anchored, atom: int, hunk: int) -> int:
    """HEAD lacks a line: from now on it counts as inserted by nobody, before anything else.

    By that hunk, or by one of its own where it is -1; returns which.
    """
    kept = [op for op in weave.ops[atom] or () if weave.hunks[op >> 1].unit not in anchored.units]
    kept = [op for op in kept if op >> 1 != BASE]
    if weave.birth[atom] != BASE:
        weave.hunks[weave.birth[atom]].births.remove(atom)
    hunk = _drift_hunk(weave, anchored) if hunk < 0 else hunk
    weave.birth[atom] = hunk
    weave.hunks[hunk].births.append(atom)
    weave.ops[atom] = kept or None
    return hunk


def _drift_newline(weave: Weave, anchored: Anchored, is_complete: bool) -> None:
    kept = [op for op in weave.ops[NEWLINE] or () if weave.hunks[op >> 1].unit not in anchored.units]
    kept = [op for op in kept if op >> 1 != BASE]
    hunk = _drift_hunk(weave, anchored)
    weave.jumbled.add(NEWLINE)
    weave.ops[NEWLINE] = [BASE << 1 | is_complete, hunk << 1 | (not is_complete), *kept]
