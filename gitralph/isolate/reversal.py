"""Takes units back, and brings them back, exactly: operation by operation, without a diff.

A recorded undo names the units it took out, a redo those of the undo, a restore those that nobody's
change had thrown away. Redo and restore remove the operations that were in the way, so that afterwards
the units are what they were before. Must change nothing where the names do not lead to the step's text.
"""

from __future__ import annotations

from collections.abc import Collection

from gitralph.isolate.api import Step
from gitralph.isolate.lines import ends_with_newline
from gitralph.isolate.materialize import Flags, flags_of, states, text_of, visible_before
from gitralph.isolate.weave import BASE, Weave

Ops = dict[int, list[int] | None]


def without(weave: Weave, step: Step) -> list[int] | None:
    """Return the visible lines without the units a step undoes, or with those it restores.

    None where its text is another.
    """
    units, back = named(weave, step.undoes), named(weave, step.restores)
    if not units and not back:
        return None
    order = weave.order()
    shown = shown_without(weave, units) if units else with_operations(weave, thrown_away(weave, back))
    if text_of(weave, order, shown) != step.after:
        return None
    return [atom for atom in order if shown[atom]]


def shown_without(weave: Weave, units: Collection[int]) -> bytearray:
    """Return per atom whether it is visible when all units but these count."""
    flags = flags_without(weave, units)
    shown = states(weave, flags)
    for at in units:
        for hunk in weave.units[at].hunks:
            for atom in weave.hunks[hunk].dels:
                if not shown[atom] and _came_again(weave, at, hunk, atom):
                    shown[atom] = visible_before(weave, atom, flags, hunk)
    return shown


def flags_without(weave: Weave, units: Collection[int]) -> Flags:
    """Return the flags of all units but these, and but those that other undos took out.

    An edit and its undo say nothing together, yet each alone has its say in what became of a line.
    """
    idle: set[int] = set()
    gone = {hunk for at in units for hunk in weave.units[at].hunks}
    touched = {undone for at, undone in weave.undone.items() if not _has_last_word(weave, at, gone)}
    for at, undone in weave.undone.items():
        if at not in units and undone.isdisjoint(units) and undone not in touched:
            idle |= {at, *undone}
    everything = range(len(weave.units))
    if idle:
        flags = flags_of(weave, (at for at in everything if at not in idle))
        # Without them the text must be the same, or they do not cancel out after all.
        if text_of(weave, weave.order(), states(weave, flags)) != weave.text:
            idle = set()
    return flags_of(weave, (at for at in everything if at not in idle and at not in units))


def _has_last_word(weave: Weave, unit: int, gone: set[int]) -> bool:
    """Tell whether nobody has touched a line since an undo did, but for hunks that shall go."""
    own = set(weave.units[unit].hunks)
    for atom in weave.atoms_of(weave.units[unit]):
        ops = [op >> 1 for op in weave.ops[atom] or () if op >> 1 not in gone]
        if ops and ops[-1] not in own:
            return False
    return True


def _came_again(weave: Weave, unit: int, hunk: int, atom: int) -> bool:
    """Tell whether a removal was put back and done again by nobody, with the unit's own lines (a stash).

    What nobody took away and brought again with it is still the unit's doing.
    """
    later = [op for op in weave.ops[atom] or () if op >> 1 > hunk]
    if not later or later[-1] & 1 or any(weave.owner_of(op >> 1) is not None for op in later):
        return False
    last = weave.hunks[later[-1] >> 1]
    births = {born for at in weave.units[unit].hunks for born in weave.hunks[at].births}
    return not births.isdisjoint(last.undels) if births else not last.births


def is_behind(weave: Weave, unit: int) -> bool:
    """Tell whether the file went back behind a unit, and none of its lines came back since."""
    hunks = weave.units[unit].hunks
    later = [each for each in weave.checkouts if each[0] > max(hunks, default=BASE)]
    if not later or any(weave.visible(atom) for hunk in hunks for atom in weave.hunks[hunk].births):
        return False
    _, known, held = later[-1]
    return unit not in held if known is None else known <= min(hunks)


def named(weave: Weave, names: Collection[str]) -> set[int]:
    """Return the units of some names, none where one of them is unknown."""
    wanted = set(names)
    if not wanted:
        return set()
    found = {at for at, unit in enumerate(weave.units) if unit.key in wanted} - {BASE}
    # All or none: half of an undo has a text that nobody ever saw.
    return found if len(found) == len(wanted) else set()


def cancel(weave: Weave, step: Step) -> bool:
    """Make the undo that a step takes back as if it had never been; False where that is not its text."""
    units = named(weave, step.undoes)
    # Only units of an undo that still stands can be taken back this way; anything else is an edit.
    if not units or not units <= set(weave.undone):
        return False
    hunks = {hunk for at in units for hunk in weave.units[at].hunks}
    changed: Ops = {}
    for atom in {atom for hunk in hunks for atom in weave.hunks[hunk].touched()}:
        changed[atom] = [op for op in weave.ops[atom] or () if op >> 1 not in hunks]
    if not _settle(weave, step, changed):
        return False
    for at in units:
        weave.units[at].owner = None  # nothing is left of it: it is nobody's to commit
        del weave.undone[at]
    return True


def revive(weave: Weave, step: Step) -> bool:
    """Make what nobody did to the units that a step restores as if it had never been; False as above."""
    units = named(weave, step.restores)
    changed = thrown_away(weave, units)
    hunks = {hunk for at in units for hunk in weave.units[at].hunks}
    # Another session had removed the line too, and that was thrown away as well: what removes it now is an
    # edit of its own then.
    for ops in changed.values():
        if ops and not ops[-1] & 1 and ops[-1] >> 1 not in hunks:
            return False
    return bool(units) and _settle(weave, step, changed)


def thrown_away(weave: Weave, units: Collection[int]) -> Ops:
    """Return per atom of some units its operations without those of nobody's that came last.

    What replaced such a line and was thrown away itself counts as taken back: of two edits that a checkout
    threw away, the earlier one comes back as it was, and the later one may after it.
    """
    changed: Ops = {}
    for at in units:
        for atom in weave.atoms_of(weave.units[at]):
            ops = list(weave.ops[atom] or ())
            # What a session did last stays: it meant it.
            while ops and ops[-1] >> 1 != BASE and weave.owner_of(ops[-1] >> 1) is None:
                ops.pop()
            last = ops[-1] >> 1 if ops and not ops[-1] & 1 else BASE
            if weave.hunks[last].unit not in units and (ended := _ended_by_nobody(weave, last, units)):
                ops.append(ended << 1 | 1)
            if ops != list(weave.ops[atom] or ()):
                changed[atom] = ops
    return changed


def _ended_by_nobody(weave: Weave, hunk: int, units: Collection[int]) -> int:
    """Return the hunk of nobody's that took all of a hunk's unit back, BASE where anything of it stands.

    Its lines are gone, and what it had taken away is there again or comes back with `units`. What stayed away
    would be brought back by an undo of it, beside the line that returned.
    """
    unit = weave.unit_of(hunk)
    made = [weave.hunks[each] for each in unit.hunks]
    births = [atom for each in made for atom in each.births]
    gone = [atom for each in made for atom in each.dels]
    if unit.owner is None or any(map(weave.visible, births)):
        return BASE
    back = [atom for atom in gone if weave.visible(atom)]
    if any(weave.hunks[weave.birth[atom]].unit not in units for atom in set(gone) - set(back)):
        return BASE
    last = [(weave.ops[atom] or [BASE])[-1] >> 1 for atom in births or back]
    return max(last, default=BASE) if all(weave.owner_of(each) is None for each in last) else BASE


def with_operations(weave: Weave, changed: Ops) -> bytearray:
    """Return per atom whether it is visible once some atoms have other operations."""
    shown = states(weave, flags_of(weave, range(len(weave.units))))
    for atom, ops in changed.items():
        shown[atom] = not ops or bool(ops[-1] & 1)
    return shown


def _settle(weave: Weave, step: Step, changed: Ops) -> bool:
    """Give atoms their new operations if that makes the step's text."""
    order = weave.order()
    shown = with_operations(weave, changed)
    if text_of(weave, order, shown) != step.after:
        return False
    since = len(weave.hunks)
    for atom, ops in changed.items():
        for op in set(weave.ops[atom] or ()) - set(ops or ()):
            since = min(since, op >> 1)
            made = weave.hunks[op >> 1]
            for atoms in (made.dels, made.undels):
                if atom in atoms:
                    atoms.remove(atom)
        for op in set(ops or ()) - set(weave.ops[atom] or ()):
            weave.hunks[op >> 1].undels.append(atom)
        weave.ops[atom] = ops or None
    weave.shown = [atom for atom in order if shown[atom]]
    weave.count = [0] * len(weave.texts)
    for atom in weave.shown:
        weave.count[weave.line[atom]] += 1
    weave.text, weave.complete = step.after, ends_with_newline(step.after)
    weave.steps.append(step.key)
    # The file stands before no unit any more as a whole: each is judged by its own lines from here on.
    weave.returns.append((len(weave.hunks), len(weave.hunks)))
    weave.checkouts.append((len(weave.hunks), len(weave.hunks), frozenset()))
    # A text in between was made of operations that are gone: what returns to it is diffed.
    weave.known = {text: count for text, count in weave.known.items() if count <= since}
    weave.known.setdefault(weave.text, len(weave.hunks))
    return True
