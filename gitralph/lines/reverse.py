"""What a file is without some pieces of a session, or with pieces that it lost; pure.

A turn names changes that do not count. An undo passes over what the chosen pieces have the credit for, a redo
over what an undo did, a restore over gaps and over what other sessions lost. Each line of the pieces then
stands as the last change that counts left it. A line of HEAD that was undone comes back in any case. So where
all pieces of a session are undone, HEAD's state of its lines is on disk.

A commit must not hold a piece without what it is built on, and neither must a file. So lines of others that
were built on a piece refuse its turn, and so does what stands in the place of a line that comes. A last check
counts lines and knows nothing of the weave.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Literal

from gitralph.base.kinds import Kind, Why
from gitralph.lines.bonds import Bond
from gitralph.lines.neighbours import out_of_place
from gitralph.lines.past import Past
from gitralph.lines.pieces import Change, Pieces
from gitralph.lines.remembered import remembered
from gitralph.lines.terms import FORMATTED, UNRECORDED, LeftEdit, Reversal, Step, step_of
from gitralph.lines.text import counted_words, difference, split_lines, with_open_end
from gitralph.lines.weave import BASE, EXISTS, NEWLINE, Hunk

Way = Literal["undo", "redo", "restore"]

_SHOWN = 3
"""git shows so many lines above and below a change."""


def standing(known: Pieces, owners: Collection[str]) -> list[str]:
    """Return the keys of the owners' steps of which something stands that HEAD lacks, in order."""
    turn = _Turn(known, owners, "undo")
    turn.take(_pieces_of(known, owners, None))
    units = sorted(turn.moved() | {known.weave.hunks[bond.hunk].unit for bond in turn.bonds()})
    return list(dict.fromkeys(step_of(known.weave.units[unit].key) for unit in units))


def undone(
    known: Pieces,
    steps: Sequence[Step],
    owners: Collection[str],
    keys: Collection[str] | None = None,
    skip: bool = False,
) -> Reversal:
    """Return the file without the owners' pieces, or without those of `keys`; HEAD's lines stay.

    `keys` are keys of steps or names of pieces. Pieces on which others built are refused, or stay with
    `skip`.
    """
    units = _pieces_of(known, owners, keys)
    return _settled(_Turn(known, owners, "undo"), units | _formatted(known, units), steps, skip)


def redone(known: Pieces, steps: Sequence[Step], owners: Collection[str], keys: Collection[str]) -> Reversal:
    """Return the file without what the undos `keys` did to it, whatever HEAD has by now."""
    return _settled(_Turn(known, owners, "redo"), _pieces_of(known, owners, keys), steps)


def restored(
    known: Pieces,
    steps: Sequence[Step],
    owners: Collection[str],
    is_committed: Callable[[str], bool] = lambda _: False,
) -> Reversal:
    """Return the file with the owners' pieces that a gap threw away as a whole.

    `is_committed` tells of a piece, by its name, whether a commit has it that a branch still has: what a
    commit took is not lost, nor what HEAD has had. Of pieces that replaced the same lines the last comes.
    """
    turn = _Turn(known, owners, "restore")
    shells = {step.key for step in steps if step.by_shell}
    turn.by_shell = {at for at, key in enumerate(known.weave.steps) if key in shells}
    by_key, heads = {step.key: step for step in steps}, list[Counter[bytes]]()

    def was_in_head(unit: int) -> bool:
        """Tell whether HEAD has had the lines of a piece, each as often as the edit had left it."""
        weave, step = known.weave, by_key[step_of(known.weave.units[unit].key)]
        if not heads:  # most files have lost nothing, and nobody asks
            heads.extend(Counter(split_lines(text)) for text in known.heads())
        told = {weave.content(x) for x in known.births(unit) if weave.says(x)}
        came = difference(step.before, step.after)[1]  # without a line that moved: HEAD has it elsewhere
        after = Counter(split_lines(step.after))
        need = {one: after[one] for one in told if one in came}
        return bool(need) and any(all(head[one] >= n for one, n in need.items()) for head in heads)

    units = {unit for unit in _pieces_of(known, owners, None) if turn.is_lost(unit)}
    units = {u for u in units if not was_in_head(u) and not is_committed(known.weave.units[u].key)}
    return _settled(turn, units - turn.replaced_later(units), steps)


def apart(known: Pieces, owners: Collection[str], names: Collection[str]) -> list[tuple[str, ...]]:
    """Return the pieces of an undo in the smallest groups that can go without the other groups.

    The groups are in the order of their places. Lines that git shows in one hunk are in one group.
    """
    turn, units = _Turn(known, owners, "undo"), _pieces_of(known, owners, names)
    turn.take(units)
    every, together = turn.changes, dict[int, bool]()
    places = [units] if EXISTS in every else list(turn.places())
    group = {unit: {unit} for unit in chain(*places, units)}

    def join(some: Iterable[int]) -> None:
        found = set[int]().union(*(group[unit] for unit in some))
        group.update(dict.fromkeys(found, found))

    for place in places:
        join(place)
    todo = list(units)
    while todo:
        turn.take(group[todo[-1]])
        tied = {bond.unit for bond in turn.bonds()}
        tied = units if tied - units else tied
        if tied <= group[todo[-1]]:
            todo.pop()
        else:
            join({todo[-1], *tied})
    found = {id(each): each for each in group.values()}.values()
    for each in found:
        turn.take(each)
        together |= turn.changes
    return [turn.names(each) for each in (found if together == every else [units])]


def _pieces_of(known: Pieces, owners: Collection[str], keys: Collection[str] | None) -> set[int]:
    return {
        number
        for number, unit in enumerate(known.weave.units)
        if unit.owner is not None
        and unit.owner in owners
        and (keys is None or step_of(unit.key) in keys or unit.key in keys)
    }


def _formatted(known: Pieces, units: Collection[int]) -> set[int]:
    """The pieces by which another session's shell formatted lines of these pieces, and no other lines."""
    return {
        number
        for number, unit in enumerate(known.weave.units)
        if unit.key.startswith(FORMATTED)
        and known.taken(number)
        and all(known.brought_by(x) in units for x in known.taken(number))
    }


def _settled(turn: _Turn, units: set[int], steps: Sequence[Step], skip: bool = False) -> Reversal:
    """Turn the pieces less those with something in the way; each round lets at least one stay."""
    left = list[LeftEdit]()
    while True:
        turn.take(units)
        bonds = list(turn.bonds())
        if not bonds:
            if not turn.changes or turn.text() == turn.known.disk:
                return Reversal(turn.known.disk, left=tuple(left))
            bonds = list(turn.caught(steps))
        if not bonds:
            return turn.answer(left)
        found = turn.left(bonds)
        if not skip:
            return Reversal(turn.known.disk, left=found, refused=True)
        left += found
        units = units - {turn.known.weave.hunks[bond.hunk].unit for bond in bonds}


class _Turn:
    """The pieces that are undone, redone or restored, and each line's state afterwards."""

    def __init__(self, known: Pieces, owners: Collection[str], way: Way) -> None:
        self.known, self.weave, self.owners, self.way = known, known.weave, owners, way
        self.by_shell = set[int]()
        self.kind = Kind.WROTE_SINCE if way == "restore" else Kind.BUILT_ON
        self.past = Past(known)
        self.units = set[int]()
        self.changes = dict[int, bool]()
        """The lines whose state on disk changes, each with whether it will stand."""
        self.homeless = set[int]()
        """The lines that would come back, but there is no file."""
        self._asked = dict[tuple[frozenset[int], int], set[int]]()
        self._histories = dict[int, list[Change]]()

    def take(self, units: set[int]) -> None:
        """Turn these pieces: each of their lines gets the state that the last change that counts left."""
        self.units, self.changes, self._asked, self._histories = units, {}, {}, {}
        for line in {x: None for _, made in self.hunks() for x in made.touched()}:
            stands = self._stands(line) if self._is_open(line) else self.known.on_disk(line)
            if stands != self.known.on_disk(line):
                self.changes[line] = stands
        self.homeless = set[int]()
        if not self.shows(EXISTS):  # an absent file gets no lines
            self.homeless = {line for line, stands in self.changes.items() if stands}
            self.changes = {line: stands for line, stands in self.changes.items() if not stands}

    def hunks(self) -> Iterator[tuple[int, Hunk]]:
        """The hunks of the turned pieces, each with its number."""
        for unit in sorted(self.units):
            for number in self.weave.units[unit].hunks:
                yield number, self.weave.hunks[number]

    def shows(self, line: int) -> bool:
        """Tell whether the file has a line afterwards."""
        return self.changes.get(line, self.known.on_disk(line))

    def _is_open(self, line: int) -> bool:
        """Tell whether no commit has settled since what an undo finds of a line."""
        known = self.known
        if self.way != "undo":
            return True
        if line == EXISTS:
            went = any(number != BASE and not stands for number, stands, _ in known.changes.get(line, ()))
            # a file that was made once and that HEAD has was committed since; one made anew perhaps not
            is_settled = not went or known.credit(line) < known.agreed or known.head == known.disk
            return not (known.in_head[line] and known.on_disk(line) and is_settled)
        if known.in_head[line]:
            # A moved file has its lines from HEAD, and they go with the file. Where the session put back what
            # somebody had taken away, it is taken away again.
            return not known.on_disk(line) or not known.in_head[EXISTS] or self._is_put_back(line)
        is_old = known.born_by(line) == BASE and self.weave.says(line)
        is_past = is_old and self.weave.content(line) in known.were_in_head
        return known.on_disk(line) or not (is_past or self.past.is_over(line))

    def _is_put_back(self, line: int) -> bool:
        """Tell whether the turned pieces put a line of HEAD back that somebody else had taken away."""
        changes = self.known.changes.get(line, ()) if line > NEWLINE else ()
        # what HEAD got only afterwards was committed since
        if not changes or (line, changes[-1][2]) not in self.known.put_back:
            return False
        if changes[-1][0] < self.known.agreed or self.known.unit(line) not in self.units:
            return False
        others = [stands for n, stands, _ in changes if self.weave.owner_of(n) not in self.owners]
        return others[-1:] == [False]

    def _stands(self, line: int) -> bool:
        """Tell whether a line stands by the last change that counts."""
        known, is_undo = self.known, self.way == "undo"
        if is_undo and self._is_brought(line):
            return False  # also where the session had committed that it took it away
        last = next((each for each in reversed(self._history(line)) if self._counts(*each)), None)
        is_back = is_undo and known.is_removed(line)
        if last is None:
            return is_back or self.way == "restore" or known.born_by(line) not in self.units
        is_back = is_back and known.unit(line) in self.units and (line > NEWLINE or last[0] == BASE)
        return last[1] or (is_back and self.weave.owner_of(last[0]) not in self.owners)

    def _is_brought(self, line: int) -> bool:
        """Tell whether the turned pieces brought a line that HEAD lacks, or the file with all its lines."""
        known = self.known
        lines = self.weave.shown if line == EXISTS else ()
        is_new = known.is_added(line) and line != NEWLINE
        return is_new and all(known.unit(x) in self.units for x in (line, *lines))

    def _history(self, line: int) -> list[Change]:
        """The changes of a line without pairs of which the second takes the first back."""
        if line not in self._histories:
            found = self._histories[line] = list[Change]()
            for each in self.known.changes.get(line, ()):
                if found and found[-1][1] != each[1] and self._takes_back(each, found[-1]):
                    found.pop()
                else:
                    found.append(each)
        return self._histories[line]

    def _takes_back(self, change: Change, before: Change) -> bool:
        """Tell whether a session takes its own change back, or brings back what it wrote and a gap took.

        The session that is asked about takes its own changes back only where a redo passes over others.
        """
        who, by = self.weave.owner_of, self.weave.owner_of(change[0])
        if who(before[0]) is None:
            return change[1] and change[2] != change[0] and by == who(change[2])
        if by in self.owners and not (self.way == "redo" and self._counts(*change) and self._counts(*before)):
            return False
        return by == who(before[0])

    def _counts(self, number: int, stands: bool, credit: int) -> bool:
        unit, owner = self.weave.hunks[number].unit, self.weave.owner_of(number)
        if self.way == "restore":
            is_back = stands and credit != number  # who only brings back what another wrote decides nothing
            if owner in self.owners:
                return True
            return not (owner is None or is_back or self.is_lost(unit) or self._puts_head_back(unit))
        made = {self.weave.hunks[credit].unit} | ({unit} if self.way == "redo" else set())
        return self.units.isdisjoint(made)

    def replaced_later(self, units: Collection[int]) -> set[int]:
        """Those of some pieces that took lines, for all of which later ones of the owners put others."""
        weave, found, over = self.weave, set[int](), set[int]()
        for unit in sorted(_pieces_of(self.known, self.owners, None), reverse=True):
            made = [weave.hunks[number] for number in weave.units[unit].hunks]
            taken = {x for each in made for x in each.dels}
            if unit in units and taken and taken <= over:
                found.add(unit)
            over.update(x for each in made if each.births for x in each.dels)
        return found

    def is_lost(self, unit: int) -> bool:
        """Tell whether everything that a piece did is gone, last by a gap that put nothing like it there."""
        known, weave = self.known, self.weave
        if weave.units[unit].owner is None:
            return False
        made = [weave.hunks[number] for number in weave.units[unit].hunks]
        brought = [x for each in made for x in (*each.births, *each.undels) if x != NEWLINE]
        brought = [x for x in brought if x != EXISTS] or brought  # a file made anew is known by its lines
        if any(known.on_disk(x) or (known.in_head[x] and x != EXISTS) for x in brought):
            return False
        if any(map(known.is_replaced_in_head, known.births(unit))):
            return False  # a correction of it is committed
        if not brought:
            taken = ((x, n) for n in weave.units[unit].hunks for x in weave.hunks[n].dels if x != NEWLINE)
            return any(known.on_disk(x) and self._is_back_by_gap(x, number) for x, number in taken)
        killers = set(map(self._taker, brought)) - {BASE, unit}
        gaps = {killer for killer in killers if weave.units[killer].owner is None}
        gaps |= {killer for killer in killers - gaps if self._puts_head_back(killer)}
        if any(known.births(gap) and self.past.corrects(gap, unit) for gap in gaps):
            return False
        return bool(gaps) or any(map(self.is_lost, killers))

    def _puts_head_back(self, unit: int) -> bool:
        """Tell whether another session's shell put HEAD's lines in others' place, as a checkout does."""
        if self.weave.units[unit].owner in self.owners or self.weave.units[unit].step not in self.by_shell:
            return False
        made = [(number, self.weave.hunks[number]) for number in self.weave.units[unit].hunks]
        back = [(x, number) for number, each in made for x in each.undels]
        if any(EXISTS in each.dels for _, each in made):  # as a clean does with a file that HEAD never had
            return not self.known.on_disk(EXISTS) and not any(text is not None for text in self.known.heads())
        return (
            bool(back) and not any(e.births for _, e in made) and all(p in self.known.put_back for p in back)
        )

    def _is_back_by_gap(self, line: int, number: int) -> bool:
        """Tell whether gaps alone brought a line back since a hunk took it, first and last."""
        back = [n for n, stands, _ in self.known.changes[line] if stands and n > number]
        return all(self.weave.owner_of(n) is None for n in (*back[:1], *back[-1:]))

    def _taker(self, line: int) -> int:
        """The piece that took a line away; also a gap that did again what the owners had done."""
        number, _, credit = self.known.changes[line][-1]
        return self.weave.hunks[number if self.weave.owner_of(credit) in self.owners else credit].unit

    def moved(self) -> set[int]:
        """The pieces of which a line changes."""
        made = {one.unit for _, one in self.hunks() if not self.changes.keys().isdisjoint(one.touched())}
        if self.way != "undo":
            return made
        return {self.known.unit(line) for line in self.changes} & self.units or made

    def made_by(self, line: int) -> set[int]:
        """The pieces that ever did something with a line, or have the credit for it."""
        changes = self.known.changes.get(line, ())
        found = {self.weave.hunks[n].unit for number, _, credit in changes for n in (number, credit)}
        return found | {self.known.born_by(line)}

    def places(self) -> Iterator[set[int]]:
        """The pieces by place; between two places are more lines than git shows around two hunks."""
        found, apart = set[int](), 0
        for line in (*self.weave.order(), NEWLINE):
            if line in self.changes:
                if found and apart > 2 * _SHOWN:
                    yield found
                    found = set()
                found |= self.made_by(line) & self.units
                apart = 0
            elif self.known.on_disk(line):
                apart += 1
        if found:
            yield found

    # --- what stands in the way ---

    def bonds(self) -> Iterator[Bond]:
        """Bonds that stand in the way: what cannot stay beside what comes, or without what goes."""
        for number, made in self.hunks():
            yield from self._replaced(number, made)
            yield from self._decided(number, made)
            yield from self._within(number, made)
        yield from self._under()
        yield from self._nowhere()
        yield from self._whole_file()

    def _is_others(self, line: int) -> bool:
        """Tell whether the file keeps a line that none of the turned pieces brought."""
        return line > NEWLINE and self.shows(line) and self.known.born_by(line) not in self.units

    def _replaced(self, number: int, made: Hunk) -> Iterator[Bond]:
        """Bonds of what others put in the place of a hunk's lines: a file has one version of a line.

        So the same line elsewhere is in the way, and so is who wrote a line again.
        """
        known, weave = self.known, self.weave
        for line in (x for x in made.touched() if x > NEWLINE):
            is_ours = known.unit(line) in self.units
            is_gone = not known.on_disk(line) and not is_ours and line not in made.dels
            is_over = self.way == "undo" and (bool(known.in_head[line]) or self.past.is_over(line))
            comes = self.changes.get(line)
            if comes or self.way == "restore" or (is_gone and not is_over):
                same = weave.seen[weave.line[line]] if weave.is_only(line, 1) else ()
                same = [x for x in same if x != line and not known.in_head[x]]
                again = (x for x in same if comes or weave.repeats(x, line))
                for over in (self.past.replaced_by(line), frozenset(again)):
                    yield from (Bond(number, unit, self.kind) for unit in sorted(self._staying(over, number)))
            for last, _, _ in self._history(line)[-1:] if is_ours and self.way == "undo" else ():
                if weave.owner_of(last) not in {None, *self.owners}:
                    yield Bond(number, weave.hunks[last].unit, self.kind)

    def _staying(self, lines: frozenset[int], number: int) -> set[int]:
        """The pieces that brought those of some lines that others keep, and that did not stand at a hunk."""
        if (lines, number) not in self._asked:
            kept = ((x, self.known.was(x, number)) for x in lines if self._is_others(x))
            fresh = {self.known.born_by(x) for x, was in kept if was is None or not was[1]}
            self._asked[lines, number] = fresh
        return self._asked[lines, number]

    def _decided(self, number: int, made: Hunk) -> Iterator[Bond]:
        """Bonds of removals: no line comes where somebody took out what it is to come for."""
        known, is_return = self.known, self.way == "restore"
        goes = [x for x in (made.dels if is_return else (*made.births, *made.undels)) if x > NEWLINE]
        gone = [x for x in goes if not known.on_disk(x)]
        comes = any(x > NEWLINE and self.changes.get(x) for x in made.dels)
        for unit in sorted({known.unit(x) for x in gone} - self.units):
            if is_return or (comes and gone == goes and not self._puts_back(unit, made)):
                yield Bond(number, unit, self.kind)

    def _puts_back(self, unit: int, made: Hunk) -> bool:
        """Tell whether a piece brought back what a hunk had removed, as a checkout does."""
        back = {x for number in self.weave.units[unit].hunks for x in self.weave.hunks[number].undels}
        return not back.isdisjoint(made.dels)

    def _within(self, number: int, made: Hunk) -> Iterator[Bond]:
        """Bonds of lines that were written inside a block that goes."""
        block = (x for x in (*made.births, *made.undels) if x > NEWLINE)
        goes = [self._place[x] for x in block if self.changes.get(x) is False]
        for line in self.weave.order()[min(goes) : max(goes)] if goes else ():
            if self._is_others(line) and self.known.credit(line) > number:
                yield Bond(number, self.known.unit(line), Kind.BUILT_ON)

    @cached_property
    def _place(self) -> dict[int, int]:
        return {line: at for at, line in enumerate(self.weave.order())}

    def _under(self) -> Iterator[Bond]:
        """Bonds of lines that come back where they cannot stand.

        What they had replaced stands there again, or the block around them is gone.
        """
        known, weave = self.known, self.weave
        made_by = {
            weave.birth[x]: n for n, made in self.hunks() for x in made.touched() if self.changes.get(x)
        }
        for birth, number in made_by.items():
            made, needs = weave.hunks[birth], set[int]()
            if self.way != "undo":
                absent = {known.born_by(x) for x in made.dels if x > NEWLINE and not self.shows(x)}
                needs = {u for u in absent if self._staying(frozenset(known.taken(u)), number)}
                rims = {weave.birth[x] for x in (made.left, made.right) if x > NEWLINE}
                if len(rims) == 1 and not self.shows(made.left) and not self.shows(made.right):
                    needs |= {weave.hunks[n].unit for n in rims}
                needs -= {BASE, made.unit, *self.units}
            yield from (Bond(number, unit, Kind.NEEDS_FIRST) for unit in sorted(needs))
            there = set[int]() if needs else self._staying(self._below(birth), number)
            yield from (Bond(number, unit, self.kind) for unit in sorted(there))

    @remembered
    def _below(self, birth: int) -> frozenset[int]:
        """The lines that a hunk replaced, and the lines that those had replaced."""
        found, todo = set[int](), {birth}
        while todo:
            below = {x for n in todo for x in self.weave.hunks[n].dels if x > NEWLINE} - found
            found |= below
            todo = {self.weave.birth[x] for x in below}
        return frozenset(found)

    def _nowhere(self) -> Iterator[Bond]:
        """Bonds of a line that moved: it goes here, and another took it away where HEAD has it."""
        for number, made in self.hunks() if self.way == "undo" else ():
            for line in made.births:
                if self.changes.get(line) is False and self.weave.is_only(line, 1):
                    for other in self.weave.seen[self.weave.line[line]]:
                        if self.known.is_removed(other) and not self.shows(other):
                            yield Bond(number, self.known.unit(other), self.kind)

    def _whole_file(self) -> Iterator[Bond]:
        """Bonds of the whole file: a deleted file loses all its lines, and one made anew is another file."""
        known, maker = self.known, self.known.unit(EXISTS)
        for number, made in self.hunks() if known.on_disk(EXISTS) else ():
            if EXISTS not in made.touched():
                continue
            if not self.shows(EXISTS):
                units = dict.fromkeys(known.unit(x) for x in self.weave.shown if self.shows(x))
                yield from (Bond(number, unit, self.kind) for unit in units)
            elif maker not in self.units and known.credit(EXISTS) > number and any(self.changes.values()):
                yield Bond(number, maker, self.kind)
        if not known.on_disk(EXISTS) and self.way == "undo" and self.weave.units[maker].owner is not None:
            for number, made in self.hunks() if maker not in self.units else ():
                is_gone = any(
                    not known.in_head[x] and known.unit(x) == maker for x in made.births if x > NEWLINE
                )
                if is_gone or any(x in self.homeless and known.is_removed(x) for x in made.dels):
                    yield Bond(number, maker, self.kind)
        if self.way != "undo" and any(x > NEWLINE for x in self.homeless):
            first = known.brought_by(EXISTS)
            yield from (Bond(number, first, Kind.NEEDS_FIRST) for number, _ in self.hunks())

    # --- the answer ---

    def text(self) -> bytes | None:
        """Return the text of the file afterwards."""
        if not self.shows(EXISTS):
            return None
        lines = [self.weave.content(line) for line in self.lines()]
        text = b"".join(line + b"\n" for line in lines)
        return text if self.is_complete() else with_open_end(text)

    def lines(self) -> list[int]:
        """The lines of the file afterwards."""
        return [line for line in self.weave.order() if self.shows(line)]

    def is_complete(self) -> bool:
        """Tell whether the file ends with a newline afterwards.

        A last line that another wrote behind the pieces keeps its own end.
        """
        known, lines = self.known, self.lines()
        if self.shows(NEWLINE) or not lines:
            return True
        ends = known.credit(NEWLINE)
        return known.on_disk(NEWLINE) and known.credit(lines[-1]) > ends and self._is_others(lines[-1])

    def answer(self, left: Iterable[LeftEdit]) -> Reversal:
        """Return the file. Lines that stay are indices, lines that come back are texts."""
        names, text = self.names(self._together()), self.text()
        if text is None:
            return Reversal(None, None, units=names, left=tuple(left))
        at = {line: number for number, line in enumerate(self.weave.shown)}
        lines = tuple(at.get(line, self.weave.content(line)) for line in self.lines())
        return Reversal(text, lines, self.is_complete(), names, tuple(left))

    def names(self, units: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.weave.units[unit].key for unit in sorted(units))

    def _together(self) -> set[int]:
        """The turned pieces with those under them: together they give the text."""
        found, todo = set[int](), self.moved()
        while todo:
            found |= todo
            lines = {x for unit in todo for x in self.weave.atoms_of(self.weave.units[unit])}
            todo = set[int]().union(*map(self.made_by, lines)) & self.units - found
        return found

    def caught(self, steps: Sequence[Step]) -> Iterator[Bond]:
        """Check the answer as the net checks a commit; yield a bond for each turned piece where it fails.

        The file is what HEAD is to a commit, and the pieces' steps are what the session did; an undo does
        them backwards.
        """
        known, disk, text = self.known, self.known.disk, self.text()
        keys = {step_of(self.weave.units[unit].key) for unit in self.units}
        made = [step for step in steps if step.key in keys]
        if self.way == "restore":
            made = _once(made)
        else:
            made = [step._replace(before=step.after, after=step.before) for step in reversed(made)]
        # lines that a person gave to the session were changed by no step
        is_uncounted = not any(step.takes for step in made) and _is_uncounted(disk, text, made)
        is_new = self.way != "undo"  # a line that comes may be in neither HEAD nor the file
        if not (
            is_uncounted
            or out_of_place(disk if is_new else known.head, text, disk, made, not is_new) is not None
        ):
            return
        for unit in sorted(self.moved()):
            others = {known.owner(x) for x in known.differing()} - {self.weave.units[unit].owner}
            other = next((n for n, one in enumerate(self.weave.units) if one.owner in others), BASE)
            yield Bond(self.weave.units[unit].hunks[0], other, Kind.WHOSE_UNTOLD)

    def left(self, bonds: Iterable[Bond]) -> tuple[LeftEdit, ...]:
        """Turn the bonds of each piece into a refusal: whose lines stand in the way, and where."""
        by_unit = dict[int, list[Bond]]()
        for bond in bonds:
            by_unit.setdefault(self.weave.hunks[bond.hunk].unit, []).append(bond)
        return tuple(self._left(unit, found) for unit, found in sorted(by_unit.items()))

    def _left(self, unit: int, bonds: list[Bond]) -> LeftEdit:
        weave = self.weave
        mine = weave.units[unit].owner
        first = [bond for bond in bonds if bond.kind is Kind.NEEDS_FIRST]
        bonds = first or [bond for bond in bonds if weave.units[bond.unit].owner != mine] or bonds
        units = list(dict.fromkeys(bond.unit for bond in bonds))
        who = tuple(dict.fromkeys(weave.units[other].owner or UNRECORDED for other in units))
        key = weave.units[unit].key
        return LeftEdit("entangled", self._at([unit]), Why(bonds[0].kind, who), (key,), self._at(units))

    def _at(self, units: Iterable[int]) -> tuple[int, int] | None:
        """The first and last line on disk that some pieces brought, None where none stands."""
        return self.weave.span(x for unit in units for x in self.known.births(unit))


def _once(made: Sequence[Step]) -> list[Step]:
    """The steps less an undo with what it took back, and less what a redo or a restore only brought again."""
    found = list[tuple[Step, tuple[Counter[bytes], Counter[bytes]]]]()
    for step in made:
        went, came = difference(step.before, step.after)
        is_turn = bool(step.undoes or step.restores)
        taken = [n for n, (_, one) in enumerate(found) if is_turn and one == (came, went)]
        if taken:
            del found[taken[-1]]
        elif not is_turn or all(one != (went, came) for _, one in found):
            found.append((step, (went, came)))
    return [step for step, _ in found]


def _is_uncounted(disk: bytes | None, text: bytes | None, made: Sequence[Step]) -> bool:
    """Tell whether a line or a word goes or comes more often than by all of the edits."""
    for parts in (Counter[bytes], counted_words):
        went, came = map(parts, difference(disk, text))
        rest = [went - came, came - went]
        for step in made:
            gone, fresh = map(parts, difference(step.before, step.after))
            rest = [rest[0] - (gone - fresh), rest[1] - (fresh - gone)]
        if any(rest):
            return True
    return False
