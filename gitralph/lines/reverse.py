"""What a file is without some pieces of a session, or with pieces that it lost; pure.

An undo puts each line that a chosen piece brought or took back to what it was before. Where all pieces of a
session are chosen, that is HEAD's state. A redo does the same to the undo. A restore takes the pieces that a
gap threw away, and puts each of their lines back to what their session last made of it.

A commit must not hold a piece without what it is built on, and neither must a file. So lines of others that
were built on a piece refuse the piece's undo. What stands in the place of a lost piece refuses its restore. A
last check counts lines and knows nothing of the weave.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, chain, pairwise

from gitralph.base.kinds import Kind, Why
from gitralph.lines.choose import Attempt, Bond
from gitralph.lines.neighbours import out_of_place
from gitralph.lines.pieces import Change, Pieces
from gitralph.lines.terms import UNRECORDED, LeftEdit, Reversal, Step, step_of
from gitralph.lines.text import difference, is_telling, split_lines, words
from gitralph.lines.weave import BASE, EXISTS, NEWLINE, Hunk

_SHOWN = 3
"""git shows so many lines above and below a change."""


def standing(known: Pieces, owners: Collection[str]) -> list[str]:
    """Return the keys of the owners' steps of which something stands that HEAD lacks, in order."""
    turn = _Turn(known, owners)
    turn.take_out(_pieces_of(known, owners, None))
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
    turn = _Turn(known, owners)
    turn.take_out(_pieces_of(known, owners, keys))
    return _settled(turn, steps, skip)


def apart(known: Pieces, owners: Collection[str], names: Collection[str]) -> list[tuple[str, ...]]:
    """Return the pieces of an undo in the smallest groups that can go without the other groups.

    The groups are in the order of their places. Lines that git shows in one hunk are in one group.
    """
    turn, units = _Turn(known, owners), _pieces_of(known, owners, names)
    turn.take_out(units)
    every = dict(turn.changes)
    groups = _Groups(units)
    if EXISTS in every:
        groups.join(units)
    for unit in units:
        for line in known.weave.atoms_of(known.weave.units[unit]):
            groups.join({unit, *(turn.made_by(line) & units)})
    places = list(turn.places())
    for lines in places:
        groups.join({unit for line in lines for unit in turn.made_by(line) & units})
    settled = False
    while not settled:
        settled = True
        for group in groups.all():
            turn.take_out(group)
            tied = {bond.unit for bond in turn.bonds()}
            if tied:
                groups.join(units if tied - units else {*group, *tied})
                settled = False
                break
    at = {
        unit: n for n, lines in reversed(list(enumerate(places))) for x in lines for unit in turn.made_by(x)
    }
    found = sorted(groups.all(), key=lambda group: min(at.get(unit, len(places)) for unit in group))
    together = dict[int, bool]()
    for group in found:
        turn.take_out(group)
        together |= turn.changes
    if together != every:
        found = [units]
    return [tuple(known.weave.units[unit].key for unit in sorted(group)) for group in found]


class _Groups:
    """Pieces that go together, as disjoint groups."""

    def __init__(self, units: Iterable[int]) -> None:
        self._of = {unit: {unit} for unit in units}

    def join(self, units: Iterable[int]) -> None:
        """Make one group of all groups that these pieces are in."""
        found = set[int]().union(*(self._of[unit] for unit in units))
        self._of |= dict.fromkeys(found, found)

    def all(self) -> list[set[int]]:
        """Return each group once."""
        return list({id(group): group for group in self._of.values()}.values())


def redone(known: Pieces, steps: Sequence[Step], owners: Collection[str], keys: Collection[str]) -> Reversal:
    """Return the file without what the undos `keys` did to it, whatever HEAD has by now."""
    turn = _Turn(known, owners, is_redo=True)
    turn.take_out(_pieces_of(known, owners, keys))
    return _settled(turn, steps, False)


def restored(
    known: Pieces, steps: Sequence[Step], owners: Collection[str], passed: Collection[bytes] = ()
) -> Reversal:
    """Return the file with the owners' pieces that a gap threw away as a whole.

    `passed` are lines that HEAD has had: what a commit took is not lost.
    """
    turn = _Turn(known, owners, is_return=True)
    turn.bring_back({unit for unit in _pieces_of(known, owners, None) if turn.is_lost(unit, passed)})
    return _settled(turn, steps, False)


def _pieces_of(known: Pieces, owners: Collection[str], keys: Collection[str] | None) -> set[int]:
    return {
        number
        for number, unit in enumerate(known.weave.units)
        if unit.owner is not None
        and unit.owner in owners
        and (keys is None or step_of(unit.key) in keys or unit.key in keys)
    }


def _settled(turn: _Turn, steps: Sequence[Step], skip: bool) -> Reversal:
    """Take pieces out until nothing stands in the way; each round takes out at least one."""
    left = list[LeftEdit]()
    while True:
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
        turn.take_out(turn.units - {turn.known.weave.hunks[bond.hunk].unit for bond in bonds})


class _Turn:
    """The pieces that are turned, which means undone, redone or restored, and each line's state afterwards.

    `is_redo`: the pieces are an undo's, and all that they did counts, whoever has the credit. `is_return`:
    the pieces are lost ones that come back.
    """

    def __init__(
        self, known: Pieces, owners: Collection[str], is_redo: bool = False, is_return: bool = False
    ) -> None:
        self.known, self.weave, self.owners = known, known.weave, owners
        self.is_redo, self.is_return = is_redo, is_return
        self.choice = Attempt(known, owners)
        self.units = set[int]()
        self._below_hunk = dict[int, frozenset[int]]()
        self._asked = dict[tuple[frozenset[int], bool, int | None], set[int]]()
        self._touching = dict[int, int]()
        self.changes = dict[int, bool]()
        """The lines whose state on disk changes, each with whether it will stand."""

    def shows(self, line: int) -> bool:
        """Tell whether the file has a line afterwards."""
        now = self.changes.get(line)
        return self.known.on_disk(line) if now is None else now

    def comes(self) -> list[int]:
        return [line for line, stands in self.changes.items() if stands]

    def hunks(self) -> Iterator[tuple[int, Hunk]]:
        """The hunks of the turned pieces, each with its number."""
        for unit in sorted(self.units):
            for number in self.weave.units[unit].hunks:
                yield number, self.weave.hunks[number]

    def moved(self) -> set[int]:
        """The pieces of which a line changes."""
        made = {
            self.weave.hunks[number].unit
            for number, each in self.hunks()
            if not self.changes.keys().isdisjoint(each.touched())
        }
        if self.is_redo or self.is_return:
            return made
        return {self.known.unit(line) for line in self.changes} & self.units or made

    def made_by(self, line: int) -> set[int]:
        """The pieces that ever did something with a line, or have the credit for it."""
        changes = self.known.changes.get(line, ())
        found = {self.weave.hunks[n].unit for number, _, credit in changes for n in (number, credit)}
        return found | {self.known.born_by(line)}

    def places(self) -> Iterator[list[int]]:
        """The changing lines in runs; between two runs are more lines than git shows around two hunks."""
        run, apart = list[int](), 0
        for line in (*self.weave.order(), NEWLINE):
            if line in self.changes:
                if run and apart > 2 * _SHOWN:
                    yield run
                    run = []
                run.append(line)
                apart = 0
            elif self.known.on_disk(line):
                apart += 1
        if run:
            yield run

    # --- taking out ---

    def take_out(self, units: set[int]) -> None:
        """Put each line whose state these pieces made back to its state before."""
        self.units, self.changes = units, {}
        lines = chain.from_iterable(self.known.by_unit.get(unit, ()) for unit in units)
        for line in dict.fromkeys(chain(lines, (x for _, made in self.hunks() for x in made.touched()))):
            if self._is_theirs(line) and self._was(line) != self.known.on_disk(line):
                self.changes[line] = self._was(line)
        if not self.shows(EXISTS):  # an absent file gets no lines
            self.changes = {line: is_in for line, is_in in self.changes.items() if not is_in}

    def _is_theirs(self, line: int) -> bool:
        """Tell whether the pieces made a line's state and no commit has settled it since."""
        known = self.known
        if self.is_redo:
            return True
        if line == EXISTS:
            went = any(number != BASE and not stands for number, stands, _ in known.changes.get(line, ()))
            # a file that was made once and that HEAD has was committed since; one made anew perhaps not
            is_settled = not went or known.credit(line) < known.agreed
            return not (known.in_head[line] and known.on_disk(line) and is_settled)
        if known.in_head[line]:  # a moved file has its lines from HEAD, and they go with the file
            return not known.on_disk(line) or not known.in_head[EXISTS]
        return known.on_disk(line) or not (self.choice.is_over(line) or self._is_committed(line))

    def _is_committed(self, line: int) -> bool:
        """Tell whether a line of the first known text is gone from HEAD, which had it."""
        is_old = self.known.born_by(line) == BASE and self.weave.says(line)
        return is_old and self.weave.content(line) in self.known.were_in_head

    def _was(self, line: int) -> bool:
        """Tell whether a line stood before the pieces; a line of HEAD that they took stands in any case.

        Also one that they brought themselves, and a commit took.
        """
        is_taken = not self.is_redo and self.known.is_removed(line)
        for at, (number, stands, credit) in enumerate(self._history(line)):
            if not self._is_turned(number, credit):
                is_back = at > 0 and is_taken and (line > NEWLINE or number == BASE)
                return stands or (is_back and self.weave.owner_of(number) not in self.owners)
        return is_taken or self.known.born_by(line) not in self.units

    def _is_turned(self, number: int, credit: int) -> bool:
        hunks = self.weave.hunks
        return hunks[credit].unit in self.units or (self.is_redo and hunks[number].unit in self.units)

    # --- bringing back ---

    def bring_back(self, units: set[int]) -> None:
        """Put each line of lost pieces back to what their owners last made of it."""
        self.units, self.changes = units, {}
        for line in dict.fromkeys(x for _, made in self.hunks() for x in made.touched()):
            if self._meant(line) != self.known.on_disk(line):
                self.changes[line] = self._meant(line)

    def _meant(self, line: int) -> bool:
        """Tell whether a line stood as its owners last left it, before gaps and lost pieces changed it."""
        for number, stands, credit in self._history(line):
            owner = self.weave.owner_of(number)
            if owner in self.owners:
                return stands
            is_back = stands and credit != number  # who only brings back what another wrote decides nothing
            if owner is not None and not is_back and not self.is_lost(self.weave.hunks[number].unit):
                return stands
        return True

    def _history(self, line: int) -> Iterator[Change]:
        """The changes of a line, the latest first, without pairs of which the second takes the first back.

        In such a pair another session took its own change back, or a session brought back what a gap had
        taken. For a redo also the session itself: what it redid before is as it was before its undo.
        """
        changes = list(self.known.changes.get(line, ()))
        while changes:
            last = changes.pop()
            is_turned = not self.is_return and self._is_turned(last[0], last[2])
            if is_turned or not changes or changes[-1][1] == last[1]:
                yield last
                continue
            before, after = (self.weave.owner_of(each[0]) for each in (changes[-1], last))
            is_back = before is None and last[1] and last[2] != last[0]
            again = self.is_redo and not self._is_turned(changes[-1][0], changes[-1][2])
            if is_back or (before == after and after is not None and (again or after not in self.owners)):
                changes.pop()
            else:
                yield last

    def is_lost(self, unit: int, passed: Collection[bytes] = ()) -> bool:
        """Tell whether everything that a piece did is gone, last by a gap that put nothing like it there."""
        known, weave = self.known, self.weave
        if weave.units[unit].owner is None:
            return False
        made = [weave.hunks[number] for number in weave.units[unit].hunks]
        brought = [x for each in made for x in (*each.births, *each.undels) if x != NEWLINE]
        if any(known.on_disk(x) or (known.in_head[x] and x != EXISTS) for x in brought):
            return False
        if any(known.weave.says(x) and weave.content(x) in passed for x in known.births(unit)):
            return False
        if brought:
            killers = {known.unit(x) for x in brought} - {BASE}
            gaps = {killer for killer in killers if weave.units[killer].owner is None}
            if any(known.births(gap) and self.choice.corrects(gap, unit) for gap in gaps):
                return False
            # A checkout may meet the very text of an undo that was redone, and counts as the undo then.
            if weave.units[unit].owner in self.owners and any(map(self._is_own_by_gap, brought)):
                return True
            return bool(gaps) or any(killer != unit and self.is_lost(killer) for killer in killers)
        return any(
            known.on_disk(x) and self._is_last_by_gap(x) for each in made for x in each.dels if x != NEWLINE
        )

    def _is_own_by_gap(self, line: int) -> bool:
        """Tell whether a gap did again what the owners had done to a line."""
        return self._is_last_by_gap(line) and self.weave.owner_of(self.known.credit(line)) in self.owners

    def _is_last_by_gap(self, line: int) -> bool:
        changes = self.known.changes.get(line, ())
        return any(self.weave.owner_of(number) is None for number, _, _ in changes[-1:])

    # --- what stands in the way ---

    def bonds(self) -> Iterator[Bond]:
        """Bonds that stand in the way: what cannot stay beside what comes, or without what goes."""
        self._asked = {}
        self._touching = {x: n for n, made in reversed(list(self.hunks())) for x in made.touched()}
        if self.is_return or self.is_redo:
            yield from self._missing()
        if self.is_return:
            yield from self._written_since()
        else:
            yield from self._built_on()
            yield from self._decided()
            yield from self._within()
        yield from self._versions()
        yield from self._whole_file()

    @property
    def _in_the_way(self) -> Kind:
        return Kind.WROTE_SINCE if self.is_return else Kind.BUILT_ON

    def _is_others(self, line: int) -> bool:
        """Tell whether the file keeps a line that none of the turned pieces brought."""
        return line > NEWLINE and self.shows(line) and self.known.born_by(line) not in self.units

    def _built_on(self) -> Iterator[Bond]:
        """Bonds of lines that were written in the place of lines that the pieces had brought."""
        known = self.known
        for number, made in self.hunks():
            for line in (*made.births, *made.undels):
                if line <= NEWLINE or known.on_disk(line) or known.unit(line) in self.units:
                    continue
                if not self.is_redo and self.choice.is_over(line):
                    continue
                over, killer = self._staying(self.choice.replaced_by(line)), known.unit(line)
                same = (x for x in self.weave.seen[self.weave.line[line]] if known.born_by(x) == killer)
                if any(self._is_others(x) and self.weave.repeats(x, line) for x in same):
                    over = {killer, *over}
                yield from (Bond(number, unit, Kind.BUILT_ON) for unit in sorted(over))

    def _decided(self) -> Iterator[Bond]:
        """Bonds of removals: lines must not come back where somebody took out all that had replaced them."""
        known = self.known
        for number, made in self.hunks():
            brought = [x for x in (*made.births, *made.undels) if x > NEWLINE]
            if not brought or any(map(known.on_disk, brought)):
                continue
            if any(x > NEWLINE and self.changes.get(x) for x in made.dels):
                killers = {known.unit(x) for x in brought} - self.units
                yield from (Bond(number, unit, Kind.BUILT_ON) for unit in sorted(killers))

    def _within(self) -> Iterator[Bond]:
        """Bonds of lines that were written inside a block that goes."""
        weave, known = self.weave, self.known
        for number, made in self.hunks():
            block = [x for x in (*made.births, *made.undels) if x > NEWLINE]
            if len(block) < 2 or all(self.changes.get(x) is not False for x in block):
                continue
            places = {x: at for at, x in enumerate(weave.order())}
            block.sort(key=places.__getitem__)
            run = [block[0], *weave.between(block[0], block[-1]), block[-1]]
            goes = [at for at, x in enumerate(run) if self.changes.get(x) is False]
            for line in run[goes[0] : goes[-1]]:
                if self._is_others(line) and known.credit(line) > number:
                    yield Bond(number, known.unit(line), Kind.BUILT_ON)

    def _missing(self) -> Iterator[Bond]:
        """Bonds of a lost piece that needs absent lines: those of a block around it, or under it."""
        known, weave = self.known, self.weave
        births = {
            weave.birth[line]: n
            for n, made in self.hunks()
            for line in made.touched()
            if self.changes.get(line)
        }
        for birth, number in births.items():
            made = weave.hunks[birth]
            rims = made.left, made.right
            if all(x > NEWLINE and not self.shows(x) for x in rims):
                block = {weave.birth[x] for x in rims}
                unit = weave.hunks[min(block)].unit
                if len(block) == 1 and unit not in (BASE, *self.units):
                    yield Bond(number, unit, Kind.NEEDS_FIRST)
            for line in made.dels:
                below = known.born_by(line)
                if line <= NEWLINE or below in (BASE, made.unit, *self.units) or self.shows(line):
                    continue
                under = (x for n in weave.units[below].hunks for x in weave.hunks[n].dels)
                if any(x > NEWLINE and self.shows(x) and not self._stood(x, number) for x in under):
                    yield Bond(number, below, Kind.NEEDS_FIRST)

    def _written_since(self) -> Iterator[Bond]:
        """Bonds of a lost piece in whose place somebody wrote, or whose replaced lines somebody removed."""
        known, weave = self.known, self.weave
        for number, made in self.hunks():
            for line in made.births + made.dels:
                if line <= NEWLINE:
                    continue
                there = self._staying(self.choice.replaced_by(line), on_disk=True)
                yield from (Bond(number, unit, Kind.WROTE_SINCE) for unit in sorted(there))
            for line in made.dels:
                changes = known.changes.get(line, ())
                if line > NEWLINE and changes and not changes[-1][1] and changes[-1][0] > number:
                    unit = weave.hunks[known.credit(line)].unit
                    if (
                        weave.units[unit].owner is not None
                        and not self.is_lost(unit)
                        and unit not in self.units
                    ):
                        yield Bond(number, unit, Kind.WROTE_SINCE)

    def _versions(self) -> Iterator[Bond]:
        """Bonds between two versions of a line: the file never gets both of them, nor neither.

        Two lines are versions where one replaced the other, or where they say the same.
        """
        known, weave, asked = self.known, self.weave, set[object]()
        kind = self._in_the_way
        for line in self.comes():
            if line <= NEWLINE:
                continue
            number = known.credit(line)
            if weave.hunks[number].unit not in self.units:
                number = self._touching[line]
            # what stood beside the line before may stand beside it again
            since = None if self.is_return else number
            over, place = set[int](), (number, self.choice.replaced_by(line), weave.birth[line])
            if place not in asked:
                asked.add(place)
                over |= self._staying(place[1], since=since)
                over |= self._staying(self._below(place[2]), on_disk=True, since=since)
            if known.weave.is_only(line, 1):
                same = weave.seen[weave.line[line]]
                there = [x for x in same if x != line and known.on_disk(x) and not known.in_head[x]]
                over |= {known.born_by(x) for x in there if self._stays(x, since)}
            yield from (Bond(number, unit, kind) for unit in sorted(over))
        for line, stands in self.changes.items():
            if stands or self.is_redo or not known.weave.is_only(line, 1):
                continue
            for other in weave.seen[weave.line[line]]:
                if other != line and known.is_removed(other) and not self.shows(other):
                    yield Bond(self._touching[line], known.unit(other), Kind.BUILT_ON)

    def _stood(self, line: int, number: int) -> bool:
        was = self.known.was(line, number)
        return was is not None and was[1]

    def _below(self, birth: int) -> frozenset[int]:
        """The lines that a hunk replaced, and the lines that those had replaced."""
        if birth not in self._below_hunk:
            found, todo = set[int](), {birth}
            while todo:
                below = {x for n in todo for x in self.weave.hunks[n].dels if x > NEWLINE} - found
                found |= below
                todo = {self.weave.birth[x] for x in below}
            self._below_hunk[birth] = frozenset(found)
        return self._below_hunk[birth]

    def _staying(self, lines: frozenset[int], on_disk: bool = False, since: int | None = None) -> set[int]:
        """The pieces that brought those of some lines that stay; lines of one place share the answer."""
        key = lines, on_disk, since
        if key not in self._asked:
            there = (
                x for x in lines if self._stays(x, since) and not (on_disk and not self.known.on_disk(x))
            )
            self._asked[key] = {self.known.born_by(x) for x in there}
        return self._asked[key]

    def _stays(self, line: int, since: int | None) -> bool:
        """Tell whether the file keeps a line of others, and it did not stand when a hunk was made."""
        return self._is_others(line) and (since is None or not self._stood(line, since))

    def _whole_file(self) -> Iterator[Bond]:
        """Bonds of the whole file: a deleted file loses all its lines, and one made anew is another file."""
        known, weave = self.known, self.weave
        was, will = known.on_disk(EXISTS), self.shows(EXISTS)
        if was and not will:
            stay = [x for x in weave.shown if self.shows(x)]
            number = self._touching[EXISTS]
            units = dict.fromkeys(known.unit(x) for x in stay)
            yield from (Bond(number, unit, self._in_the_way) for unit in units)
        for number, made in self.hunks() if was and will else ():
            other = known.unit(EXISTS)
            went = made.undels if self.is_return else made.dels
            if EXISTS in went and other not in self.units and known.credit(EXISTS) > number and self.comes():
                yield Bond(number, other, self._in_the_way)
        if not was and not will and not self.is_return:
            yield from self._deleted()

    def _deleted(self) -> Iterator[Bond]:
        """Bonds of another session's deletion that stands over what the pieces did."""
        known = self.known
        killer = known.unit(EXISTS)
        if killer in self.units or self.weave.units[killer].owner is None:
            return
        for number, made in self.hunks():
            if any(x > NEWLINE and known.unit(x) == killer for x in made.births):
                yield Bond(number, killer, Kind.BUILT_ON)

    # --- the answer ---

    def text(self) -> bytes | None:
        """Return the text of the file afterwards."""
        if not self.shows(EXISTS):
            return None
        lines = [self.weave.content(line) for line in self.lines()]
        text = b"".join(line + b"\n" for line in lines)
        return text if not lines or not lines[-1] or self.is_complete() else text[:-1]

    def lines(self) -> list[int]:
        """The lines of the file afterwards."""
        if not self.changes:
            return self.weave.shown
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
        names = tuple(self.weave.units[unit].key for unit in sorted(self._together()))
        text = self.text()
        if text is None:
            return Reversal(None, None, units=names, left=tuple(left))
        at = {line: number for number, line in enumerate(self.weave.shown)}
        lines = tuple(at.get(line, self.weave.content(line)) for line in self.lines())
        return Reversal(text, lines, self.is_complete(), names, tuple(left))

    def _together(self) -> set[int]:
        """The turned pieces with those under them: together they give the text."""
        found = set[int]()
        todo = self.moved()
        while todo:
            found |= todo
            lines = {x for unit in todo for x in self.weave.atoms_of(self.weave.units[unit])}
            hunks = {n for x in lines for n, _, _ in self.known.changes.get(x, ())}
            hunks |= {self.weave.birth[x] for x in lines}
            todo = ({self.weave.hunks[n].unit for n in hunks} & self.units) - found
        return found

    def caught(self, steps: Sequence[Step]) -> Iterator[Bond]:
        """Count the lines of the answer; yield a bond for each turned piece where a count fails.

        Each line that goes must have been brought by the pieces' steps, and each that comes taken by them.
        """
        known, text = self.known, self.text()
        keys = {step_of(self.weave.units[unit].key) for unit in self.units}
        made = [step for step in steps if step.key in keys]
        if not self.is_return:
            made = [step._replace(before=step.after, after=step.before) for step in made]
        line = self._written_again(steps, keys) or _uncounted(known.disk, text, made)
        if line is None:
            line = _out_of_order(known.disk, text, made)
        if line is None:
            is_new = self.is_redo or self.is_return  # a line that comes may be in neither HEAD nor the file
            line = out_of_place(known.disk if is_new else known.head, text, known.disk, made, not is_new)
        if line is None:
            return
        for unit in sorted(self.moved()):
            others = {known.owner(x) for x in known.differing()} - {self.weave.units[unit].owner}
            other = next((n for n, one in enumerate(self.weave.units) if one.owner in others), BASE)
            yield Bond(self.weave.units[unit].hunks[0], other, Kind.WHOSE_UNTOLD)

    def _written_again(self, steps: Sequence[Step], keys: Collection[str]) -> bytes | None:
        """Return a telling line that goes although another session wrote it later; else None."""
        went = {
            self.weave.content(x)
            for x, stands in self.changes.items()
            if not stands and self.known.weave.says(x)
        }
        written, again = set[bytes](), set[bytes]()
        for step in steps if went and not self.is_return else ():
            if step.owner is None:
                continue
            fresh = went & difference(step.before, step.after)[1].keys()
            if step.key in keys:
                written |= fresh
                again -= fresh
            elif step.owner not in self.owners and not step.undoes and not step.restores:
                again |= fresh & written
        return min(again, default=None)

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


def _uncounted(disk: bytes | None, text: bytes | None, made: Sequence[Step]) -> bytes | None:
    """Return a telling line or word that changes although none of the edits changes it so; else None."""
    went, came = difference(disk, text)
    takes = [take for step in made for take in step.takes]
    changed = [difference(step.before, step.after) for step in made]
    took = {line for gone, _ in changed for line in gone}
    brought = {line for _, fresh in changed for line in fresh}
    most, now = (Counter(line for line in split_lines(each) if line in came) for each in (disk, text))
    for each in (each for step in made for each in (step.before, step.after) if came):
        most |= Counter(line for line in split_lines(each) if line in came)
    for line in filter(is_telling, chain(went, came)) if not takes else ():
        if line in went and line not in took:
            return line
        if line in came and (line not in brought or now[line] > most[line]):
            return line
    if takes:  # lines that a person gave to the session were changed by no step
        return None
    away, back = Counter[bytes](), Counter[bytes]()
    for gone, fresh in changed:
        away += _words(gone) - _words(fresh)
        back += _words(fresh) - _words(gone)
    lost, won = _words(went) - _words(came), _words(came) - _words(went)
    return next((word for word in chain(lost - away, won - back) if is_telling(word)), None)


def _words(lines: Counter[bytes]) -> Counter[bytes]:
    return Counter(word for line, count in lines.items() for word in words(line) * count)


def _out_of_order(disk: bytes | None, text: bytes | None, made: Sequence[Step]) -> bytes | None:
    """Return a line that changes sides with another one although no text of the edits has that order.

    Then a block moved.
    """
    old, new = split_lines(disk), split_lines(text)
    at = {line: place for place, line in enumerate(old)}
    counts = Counter(old), Counter(new)
    both = [line for line in new if counts[0][line] == counts[1][line] == 1 and is_telling(line)]
    places = [at[line] for line in both]
    highest = accumulate(places, max)
    lowest = reversed(list(accumulate(reversed(places), min)))
    rows = zip(both, places, highest, lowest, strict=True)
    turned = [line for line, place, high, low in rows if high > place or low < place]
    for each in (each for step in made for each in (step.before, step.after) if turned):
        known = {line: place for place, line in enumerate(split_lines(each))}
        if all(line in known for line in turned) and all(known[a] < known[b] for a, b in pairwise(turned)):
            return None
    return turned[0] if turned else None
