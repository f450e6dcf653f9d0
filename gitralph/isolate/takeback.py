"""What a file would be without some units, or with those that were taken back or thrown away.

The same weave and rules as a commit, asked the other way round: a commit must not hold a unit without
what it needs, so a file must not keep one without it either. Must never touch an atom that the units have
no operation on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from gitralph.isolate.api import LeftEdit, Reading, Reversal, Step
from gitralph.isolate.balance import UNTOLD, left_behind, unbalanced
from gitralph.isolate.build import fold
from gitralph.isolate.explain import Places, keys_of, sessions_of, who
from gitralph.isolate.fit import Fitted, fit
from gitralph.isolate.lines import is_telling
from gitralph.isolate.materialize import Flags, flags_of, states, text_of, visible
from gitralph.isolate.reversal import (
    Ops,
    flags_without,
    is_behind,
    named,
    shown_without,
    thrown_away,
    with_operations,
)
from gitralph.isolate.reverted import void_units
from gitralph.isolate.rules import Need, inside, misplaced, needs_of, overruled
from gitralph.isolate.twins import lost_or_doubled
from gitralph.isolate.weave import BASE, END, EXISTS, NEWLINE, Weave


class Pendings:
    """The owners' units of a path that are in no commit; the records are read once for all that is asked."""

    def __init__(
        self,
        head: bytes | None,
        worktree: bytes | None,
        readings: Sequence[Reading],
        owners: Collection[str],
    ) -> None:
        self._head = head
        self._owners = owners
        self._fitted = fit(readings, head, worktree)

    def standing(self) -> list[str]:
        """Return the keys of the steps of which anything stands outside HEAD, in their order."""
        fitted = self._fitted
        units = _standing(fitted, self._owners, None) if fitted is not None else set()
        return list(dict.fromkeys(step_of(fitted.weave, at) for at in sorted(units))) if fitted else []

    def take_back(self, keys: Collection[str] | None = None, skip: bool = False) -> Reversal | None:
        """Return the file without the pending units, or None where HEAD fits no reading.

        `keys` are the steps to take back, None for all. What others built on is refused, or with `skip`
        stays. Units without effect, because somebody took them back already, are none.
        """
        if self._fitted is None:
            return None
        weave, steps = self._fitted.weave, self._fitted.reading.steps
        found, gone, shown = _tried(weave, steps, _standing(self._fitted, self._owners, keys), skip)
        if keys is None and found.units and not found.left and not found.refused:
            units = named(weave, found.units)
            shown = shown if units == gone else shown_without(weave, units)
            stays = list(left_behind(weave, units, shown, self._head, self._owners))
            if stays:
                return Reversal(weave.text, left=tuple(_left(weave, Places(weave), stays)), refused=True)
        return found


def take_back(
    head: bytes | None,
    worktree: bytes | None,
    readings: Sequence[Reading],
    owners: Collection[str],
    keys: Collection[str] | None = None,
    skip: bool = False,
) -> Reversal | None:
    """Answer :meth:`Pendings.take_back` of a path that is asked about once."""
    return Pendings(head, worktree, readings, owners).take_back(keys, skip)


def _standing(fitted: Fitted, owners: Collection[str], keys: Collection[str] | None) -> set[int]:
    weave, in_head = fitted.weave, fitted.anchored.units
    asked = {
        at
        for at, unit in enumerate(weave.units)
        if unit.owner in owners and unit.owner is not None and at not in in_head
        if keys is None or step_of(weave, at) in keys
    }
    # The file went back behind it (a checkout, a stash): there is nothing in the file to take out.
    asked = {at for at in asked if not is_behind(weave, at)}
    units = asked - void_units(weave, asked, flags_of(weave, in_head))
    units -= _undoing(weave, fitted.reading.steps, units)
    # An edit that a later one of the same session took back has no effect now, but would have one again.
    while units and units != asked:
        shown = shown_without(weave, units)
        woken = {at for at in asked - units if _wakes(weave, at, shown)}
        # An undo that would have to go as well, and with it bring back what it took out, is no part of this.
        woken -= _undoing(weave, fitted.reading.steps, units | woken)
        if not woken:
            break
        units |= woken
    return units


def _wakes(weave: Weave, unit: int, shown: bytearray) -> bool:
    return any(weave.visible(atom) != bool(shown[atom]) for atom in weave.atoms_of(weave.units[unit]))


def undo_undo(steps: Sequence[Step], worktree: bytes | None, keys: Collection[str]) -> Reversal | None:
    """Return the file without the undo steps of these keys; None where the records do not lead to them.

    Whether they are still pending is no question here: they say what was taken out, whatever HEAD is.
    """
    weave = fold(steps, worktree)
    units = {at for at in range(1, len(weave.units)) if step_of(weave, at) in keys}
    units = {at for at in units if weave.atoms_of(weave.units[at])}
    return _reversal(weave, steps, units, skip=False) if units else None


def bring_back(
    head: bytes | None,
    worktree: bytes | None,
    readings: Sequence[Reading],
    owners: Collection[str],
) -> Reversal | None:
    """Return the file with the owners' pending units that nobody's change threw away as a whole.

    Refused is what another session took back, and what does not fit what was written there since. None
    where HEAD fits no reading.
    """
    fitted = fit(readings, head, worktree, keep_away=True)
    if fitted is None:
        return None
    weave, in_head = fitted.weave, fitted.anchored.units
    own = {
        at
        for at, unit in enumerate(weave.units)
        if unit.owner in owners and unit.owner is not None and at not in in_head
    }
    void = void_units(weave, own, flags_of(weave, in_head))
    lost = {at for at in void if _is_lost(weave, at)}
    lost -= _undoing(weave, fitted.reading.steps, lost)
    changed = thrown_away(weave, lost)
    shown = with_operations(weave, changed)
    order = weave.order()
    text = text_of(weave, order, shown)
    if not lost or text == worktree:
        return Reversal(worktree)
    steps = fitted.reading.steps
    after = {step.key: step.after for step in steps}
    texts = {step.key: (step.before, step.after) for step in steps}
    odd = list(unbalanced(weave, lost, shown, texts, comes=True))
    left = _conflicts(weave, lost, changed, shown, after)
    if odd and not left:
        left = _left(weave, Places(weave), odd)
    if left:
        return Reversal(worktree, left=tuple(left), refused=True)
    return _result(weave, order, shown, text, lost)


def step_of(weave: Weave, unit: int) -> str:
    """Return the key of the step that a unit is of, empty for none."""
    step = weave.units[unit].step
    return weave.steps[step] if step >= 0 else ""


def _undoing(weave: Weave, steps: Iterable[Step], units: set[int]) -> set[int]:
    """Return the units of an undo without which what it took out, and what stays out, would return."""
    by_key = {step.key: named(weave, step.undoes) for step in steps if step.undoes}
    return {at for at in units if not by_key.get(step_of(weave, at), set()) <= units}


# --- taking out ---


_MISSING = "needs"


def _reversal(weave: Weave, steps: Sequence[Step], units: set[int], skip: bool) -> Reversal:
    return _tried(weave, steps, units, skip)[0]


def _tried(
    weave: Weave, steps: Sequence[Step], units: set[int], skip: bool
) -> tuple[Reversal, set[int], bytearray]:
    """Take units out; with the answer those that go in the end, and what the file shows then."""
    before = {step.key: step.before for step in steps}
    texts = {step.key: (step.before, step.after) for step in steps}
    places, left = Places(weave), list[LeftEdit]()
    order = weave.order()
    position = weave.positions(order)
    while True:
        shown = shown_without(weave, units)
        text = text_of(weave, order, shown)
        if not units or text == weave.text:
            return Reversal(weave.text, left=tuple(left)), units, shown
        needs = list(_builds_on(weave, units, position))
        needs += lost_or_doubled(weave, units, shown, before)
        # The count comes last: it only says that something does not add up, the others say what.
        needs = needs or list(unbalanced(weave, units, shown, texts, comes=False))
        if not needs:
            return _result(weave, order, shown, text, units, tuple(left)), units, shown
        found = _left(weave, places, needs)
        if not skip:
            return Reversal(weave.text, left=tuple(found), refused=True), units, shown
        left += found
        # Fewer units may bring new needs, so all is asked again; each round drops at least one.
        units = units - {weave.hunks[need.other].unit for need in needs}


def _result(
    weave: Weave,
    order: list[int],
    shown: bytearray,
    text: bytes | None,
    units: set[int],
    left: tuple[LeftEdit, ...] = (),
) -> Reversal:
    names = keys_of(weave, units)
    if text is None:
        return Reversal(None, None, units=names, left=left)
    stay = {atom: at for at, atom in enumerate(weave.shown)}
    lines = tuple(stay.get(atom, weave.content(atom)) for atom in order if shown[atom])
    return Reversal(text, lines, bool(shown[NEWLINE]), names, left)


def _builds_on(weave: Weave, units: set[int], position: Sequence[int]) -> Iterator[Need]:
    """Yield what stays in the file and cannot without the units that shall go."""
    gone = {hunk for at in units for hunk in weave.units[at].hunks}
    flags = flags_without(weave, units)
    rest = {hunk for hunk in range(1, len(weave.hunks)) if flags[hunk]}
    woken = {hunk for at in units for back in weave.undone.get(at, ()) for hunk in weave.units[back].hunks}
    for hunk in sorted(rest):
        for need in needs_of(weave, hunk, flags):
            if hunk in woken:
                yield Need(need.other, min(gone), _MISSING)
            elif need.other in gone and not _is_met(weave, need):
                yield need
        yield from _made_anew(weave, hunk, gone)
    for hunk in sorted(gone):
        yield from _decided_against(weave, hunk, gone, flags)
        yield from _moved_on(weave, hunk, gone, flags)
    yield from inside(weave, position, flags, rest)
    yield from misplaced(weave, position, flags, rest)
    for need in overruled(weave, states(weave, flags), flags, rest):
        # What an undo had brought back goes again with the edit that had replaced it.
        if need.why == "was restored by" and weave.hunks[need.other].unit in weave.undone:
            continue
        gone_since = [atom for atom in weave.hunks[need.hunk].dels if _removed_since(weave, atom, need.hunk)]
        if need.hunk not in woken:
            yield need
        elif gone_since:
            birth, last = weave.birth[gone_since[0]], (weave.ops[gone_since[0]] or [BASE])[-1] >> 1
            missing = weave.owner_of(last) is None and weave.owner_of(birth) is not None
            yield Need(birth if missing else last, need.other, _MISSING if missing else need.why)


def _removed_since(weave: Weave, atom: int, hunk: int) -> bool:
    ops = weave.ops[atom] or [BASE << 1 | 1]
    return not ops[-1] & 1 and ops[-1] >> 1 > hunk


def _is_met(weave: Weave, need: Need) -> bool:
    """Tell whether a unit needs no more of another: it only took back some of it, or moved none of it."""
    made = weave.hunks[need.hunk]
    if need.why == "moves" and not _tells_of_a_move(weave, need.hunk):
        return True
    if made.births:
        return False
    if need.why == "restores":
        return all(_is_own_undo(weave, need.hunk, atom) for atom in made.undels)
    return need.why == "replaces"


def _decided_against(weave: Weave, hunk: int, gone: set[int], flags: Flags) -> Iterator[Need]:
    """Lines must not come back where somebody took out all that stood in their place."""
    made = weave.hunks[hunk]
    if not made.births or any(weave.visible(atom) for atom in made.births):
        return
    if any(atom > END and visible(weave, atom, flags) and not weave.visible(atom) for atom in made.dels):
        for killer in sorted({(weave.ops[atom] or [BASE])[-1] >> 1 for atom in made.births} - gone - {BASE}):
            yield Need(killer, hunk, "removes")


def _moved_on(weave: Weave, hunk: int, gone: set[int], flags: Flags) -> Iterator[Need]:
    """A line that was moved goes back to where it came from: it is neither lost nor doubled."""
    if not _tells_of_a_move(weave, hunk):
        return
    for atom in weave.hunks[hunk].births:
        sources = list(weave.origins(atom))
        if not sources or any(weave.birth[source] in gone for source in sources):
            continue
        back = [source for source in sources if visible(weave, source, flags)]
        if weave.visible(atom) and not back:
            last = (weave.ops[sources[0]] or [BASE])[-1] >> 1
            yield Need(last if last not in gone else hunk, hunk, "moves")
        killer = (weave.ops[atom] or [BASE])[-1] >> 1
        if not weave.visible(atom) and killer not in gone and not all(weave.visible(one) for one in back):
            yield Need(killer, hunk, "removes")


def _tells_of_a_move(weave: Weave, hunk: int) -> bool:
    """Tell whether a line of more than one word came from elsewhere.

    A `return` is written anew wherever one is needed: where somebody had removed another one, it had stopped
    every fortieth undo of a random schedule.
    """
    births = weave.hunks[hunk].births
    return any(atom in weave.origin and is_telling(weave.content(atom)) for atom in births)


def _is_own_undo(weave: Weave, hunk: int, atom: int) -> bool:
    """Tell whether whoever brought a line back had taken it away himself, so that nothing of his is in it."""
    earlier = [op for op in weave.ops[atom] or () if op >> 1 < hunk]
    if not earlier or earlier[-1] & 1:
        return True
    return weave.owner_of(earlier[-1] >> 1) == weave.owner_of(hunk)


def _made_anew(weave: Weave, hunk: int, gone: set[int]) -> Iterator[Need]:
    """A file that was made again after it was deleted must not get the deleted lines as well."""
    if EXISTS not in weave.hunks[hunk].undels:
        return
    for op in weave.ops[EXISTS] or ():
        if not op & 1 and op >> 1 in gone and op >> 1 < hunk:
            yield Need(hunk, op >> 1, "makes anew the file deleted by")


def _left(weave: Weave, places: Places, needs: list[Need]) -> list[LeftEdit]:
    """Word what builds on each unit: whose it is, and where."""
    by_unit: dict[int, list[Need]] = {}
    for need in needs:
        by_unit.setdefault(weave.hunks[need.other].unit, []).append(need)
    found = []
    for unit, built in sorted(by_unit.items()):
        missing = [need for need in built if need.why == _MISSING]
        built = missing or built
        others = {weave.hunks[need.hunk].unit for need in built}
        owner = weave.units[unit].owner
        others = {at for at in others if weave.units[at].owner != owner} or others
        did = "must bring back first what it builds on" if missing else "built on it"
        if all(need.why == UNTOLD for need in built):
            did = "changed lines there too, and whose is what cannot be told"
        found.append(_entangled(weave, places, unit, others, did))
    return found


def _entangled(weave: Weave, places: Places, unit: int, others: set[int], did: str) -> LeftEdit:
    sessions = sessions_of(weave, others)
    keys = keys_of(weave, [unit])
    detail = f"{who(sessions)} {did}"
    return LeftEdit("entangled", places.of_unit(unit), sessions, detail, keys, places.of_units(others))


# --- bringing back ---


def _is_lost(weave: Weave, unit: int) -> bool:
    """Tell whether nobody had the last word on a line of a unit: what a session took back is its edit."""
    last = [(weave.ops[atom] or [BASE])[-1] >> 1 for atom in weave.atoms_of(weave.units[unit])]
    return any(hunk != BASE and weave.owner_of(hunk) is None for hunk in last)


def _conflicts(
    weave: Weave, lost: set[int], changed: Ops, shown: bytearray, after: Mapping[str, bytes | None]
) -> list[LeftEdit]:
    """What stands in the way of lines that shall come back. Gives the weave their operations."""
    places = Places(weave)
    others = {unit: _in_the_way(weave, unit, lost, shown) for unit in lost}
    for need in lost_or_doubled(weave, lost, shown, after):
        others[weave.hunks[need.other].unit].add(weave.hunks[need.hunk].unit)
    weave.ops = [changed.get(atom, ops) or None for atom, ops in enumerate(weave.ops)]
    around: dict[int, set[int]] = {}
    for need in _in_the_air(weave, lost, shown):
        around.setdefault(weave.hunks[need.hunk].unit, set()).add(weave.hunks[need.other].unit)
    did = "wrote there, or took it away, since"
    found = [_entangled(weave, places, unit, others[unit], did) for unit in sorted(lost) if others[unit]]
    did = "must bring back first what it stood in"
    waiting = sorted(unit for unit in around if not others[unit])
    return found + [_entangled(weave, places, unit, around[unit], did) for unit in waiting]


def _in_the_air(weave: Weave, lost: set[int], shown: bytearray) -> Iterator[Need]:
    """Yield lines that stood inside a block of somebody's of which nothing would be there."""
    gone = {
        at
        for at, unit in enumerate(weave.units)
        if at != BASE and (births := _births(weave, at)) and not _shows(births, shown) and unit.key
    }
    flags = flags_of(weave, (at for at in range(len(weave.units)) if at not in gone))
    position = weave.positions(weave.order())
    return inside(weave, position, flags, {hunk for unit in lost for hunk in weave.units[unit].hunks})


def _in_the_way(weave: Weave, unit: int, lost: set[int], shown: bytearray) -> set[int]:
    """Return the units that decided otherwise since: replaced a line again, wrote across the place."""
    made = [weave.hunks[hunk] for hunk in weave.units[unit].hunks]
    last, births = max(weave.units[unit].hunks), set(_births(weave, unit))
    wanted = {atom: atom not in hunk.dels for hunk in made for atom in hunk.touched()}
    found: set[int] = set()
    for atom, value in wanted.items():
        final = (weave.ops[atom] or [BASE])[-1] >> 1
        replaced = not value and final > last and _shows(weave.hunks[final].births, shown)
        # His own last word on a line stands, but not a second version of the line beside the first.
        own = weave.owner_of(final) == weave.units[unit].owner
        if replaced or (bool(shown[atom]) != value and final != BASE and not own):
            found.add(weave.hunks[final].unit)
    if EXISTS not in wanted and not shown[EXISTS]:
        found.add(weave.hunks[(weave.ops[EXISTS] or [BASE])[-1] >> 1].unit)
    for other in weave.hunks[last + 1 :]:
        across = not births.isdisjoint(other.crossed) and _shows(other.births, shown)
        anew = EXISTS in wanted and EXISTS in other.undels and bool(other.births)
        if across or anew:
            found.add(other.unit)
    return found - lost


def _births(weave: Weave, unit: int) -> list[int]:
    return [atom for hunk in weave.units[unit].hunks for atom in weave.hunks[hunk].births]


def _shows(atoms: Iterable[int], shown: bytearray) -> bool:
    return any(shown[atom] for atom in atoms)
