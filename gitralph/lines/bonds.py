"""What stands in the way of a choice of pieces: rules 2 and 6 of `choose`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from gitralph.base.kinds import Kind
from gitralph.lines.attempt import Attempt
from gitralph.lines.pieces import Held
from gitralph.lines.terms import GAP, Step
from gitralph.lines.text import words
from gitralph.lines.weave import BASE, END, EXISTS, NEWLINE, START, Hunk

# In a place with more pairs of lines nobody looks for a mended form: each pair is compared word by word.
_PAIRS = 10_000


@dataclass(frozen=True)
class Bond:
    """A hunk that cannot go without another piece.

    `soft`: the bond refuses nothing, it only lets superseded removals go along. `whole`: the bond concerns
    the file as a whole, which is there or not. `stale`: the reason to refuse is "stale".
    """

    hunk: int
    unit: int
    kind: Kind
    stale: bool = False
    soft: bool = False
    whole: bool = False


class _Run(NamedTuple):
    """Lines side by side, up to those that HEAD and the commit have; by piece those that the commit lacks."""

    at: dict[int, int]
    lacked: dict[int, list[int]]


class Bonds:
    """Finds the bonds of an attempt, as it stands each time."""

    def __init__(self, choice: Attempt, steps: Sequence[Step], held: Held = lambda _: ()) -> None:
        self.choice, self.past, self.held = choice, choice.past, held
        self.known, self.weave = choice.known, choice.weave
        self.over = _old_copies(steps)
        self._runs = dict[int, _Run]()

    def find(self) -> Iterator[Bond]:
        """Yield what stands in the way now."""
        known, weave = self.known, self.weave
        self._runs = {}
        told = set[int]()
        for bond in self._of_pieces():
            if not bond.soft:
                told.add(weave.hunks[bond.hunk].unit)
            yield bond
        # a piece that waits anyway needs no second reason
        yield from (bond for bond in self._versions() if weave.hunks[bond.hunk].unit not in told)
        if self.over and known.on_disk(EXISTS):  # all lines of a deleted file are gone, whoever had read them
            yield from self._old_reads()
        if not known.in_head[EXISTS] and known.on_disk(EXISTS) and not self.choice.takes(known.unit(EXISTS)):
            maker = known.unit(EXISTS)
            for unit in sorted(self.choice.wanted & known.by_unit.keys() - {BASE}):
                yield Bond(weave.units[unit].hunks[0], maker, Kind.IN_A_NEW_FILE, stale=known.is_old(maker))

    def _of_pieces(self) -> Iterator[Bond]:
        """Yield what stands in the way of each piece by itself."""
        known, weave = self.known, self.weave
        for unit in sorted(self.choice.wanted - self.choice.followed):
            writes = self.choice.writes(unit)
            for number in weave.units[unit].hunks:
                made = weave.hunks[number]
                fresh = [x for x in made.births if not known.in_head[x] and self.choice.shows(x)]
                yield from self._built_on(number, made, writes)
                yield from self._around(number, made, writes)
                if fresh:
                    yield from self._inside(number, fresh)
                # what HEAD alone has there is another version of what nobody recorded
                if writes and unit in self.choice.included and self.past.has_other_version(made):
                    yield Bond(number, weave.hunks[known.foreign].unit, Kind.REPLACES, stale=True)
                yield from self._whole_file(number, made, writes)

    def may_go_under(self, bond: Bond) -> bool:
        """Tell whether a bond is of a hunk that was written over the other piece, in a file that stays."""
        deletes = EXISTS in self.weave.hunks[bond.hunk].dels
        return bond.kind in (Kind.REPLACES, Kind.STANDS_FOR) and not deletes

    def _built_on(self, number: int, made: Hunk, writes: bool) -> Iterator[Bond]:
        """Bonds of a hunk that replaced lines HEAD lacks, or took away what stands for lines of HEAD.

        A piece that HEAD has already took away there what it takes away.
        """
        known = self.known
        foreign = self.weave.hunks[known.foreign].unit
        is_done = not writes and any(known.in_head[x] for x in known.births(made.unit))
        for line in made.dels:
            unit = known.brought_by(line)
            if line <= NEWLINE or known.in_head[line] or known.on_disk(line) or self.choice.counts(unit):
                continue
            if not writes:
                gone = self.past.removed_by(unit)
                if known.credit(line) == number and gone and not is_done:
                    # What the hunk took away stands for lines of HEAD. Where those were only moved, it is the
                    # very line.
                    moved = known.weave.says(line) and self.weave.line[line] in gone
                    yield Bond(number, unit, Kind.STANDS_FOR, soft=not moved)
            elif self.past.never_comes(line) and not self.past.removed_by(unit):
                # The hunk is over something of HEAD's only where HEAD got lines here that no step knows.
                if self.past.has_other_version(made) and not self.choice.counts(foreign):
                    yield Bond(number, foreign, Kind.REPLACES, stale=True)
            else:
                is_old = known.is_old(known.born_by(line))
                yield Bond(number, unit, Kind.REPLACES, stale=is_old, soft=unit in self.choice.gone)

    def _around(self, number: int, made: Hunk, writes: bool) -> Iterator[Bond]:
        """Bonds of a removed range: it may hold no line of HEAD that its owner never saw.

        A range that was rewritten may also hold no line that only others removed.
        """
        known = self.known
        gone = [x for x in made.dels if x > NEWLINE and not self.choice.shows(x)]
        if len(gone) > 1:
            for line in self.weave.between(gone[0], gone[-1]):
                if known.is_removed(line) and self.choice.shows(line):
                    unseen = known.credit(line) == known.foreign
                    if (writes or unseen) and not self.choice.counts(known.unit(line)):
                        yield Bond(number, known.unit(line), Kind.AROUND, stale=unseen)

    def _inside(self, number: int, fresh: list[int]) -> Iterator[Bond]:
        """Bonds of new lines inside a block that HEAD lacks: the block goes on above and below them."""
        for unit in sorted(self._beyond(fresh[0], number, True) & self._beyond(fresh[-1], number, False)):
            if self.weave.hunks[number].assigned and self.weave.units[unit].owner is None:
                continue  # a person gave the session these lines of the gap, and no others
            yield Bond(number, unit, Kind.INSIDE, stale=self.known.is_old(unit))

    def _beyond(self, line: int, number: int, above: bool) -> set[int]:
        """The pieces of lines that the commit lacks, in one direction up to the next line that it has.

        Lines count as they stood when the hunk was made.
        """
        run = self._runs.get(line) or self._run_of(line)
        found = set[int]()
        for unit, lines in run.lacked.items():
            for other in lines if above else reversed(lines):
                if (run.at[other] < run.at[line]) != above:
                    break
                was = self.known.was(other, number)
                if was is not None and was[1]:
                    found.add(unit)
                    break
        return found

    def _run_of(self, line: int) -> _Run:
        known, run = self.known, _Run({}, {})
        for at, other in enumerate(self._place_of(line, self.choice.shows)):
            run.at[other] = at
            is_lacked = not known.in_head[other] and not self.choice.counts(known.brought_by(other))
            if is_lacked and not (known.is_history(other) and self.past.is_taken_back(known.born_by(other))):
                run.lacked.setdefault(known.born_by(other), []).append(other)
        self._runs |= dict.fromkeys(run.at, run)
        return run

    def _whole_file(self, number: int, made: Hunk, writes: bool) -> Iterator[Bond]:
        """Bonds of a whole file: a new one replaces all that HEAD has there, a deleted one loses it."""
        known = self.known
        if not known.in_head[EXISTS] or not (EXISTS in made.undels or EXISTS in made.dels):
            return
        others = [x for x in known.differing() if known.in_head[x] and not self.choice.counts(known.unit(x))]
        if EXISTS in made.undels and writes and not any(known.in_head[x] for x in made.births):
            for line in others:
                yield Bond(number, known.unit(line), Kind.MADE_ANEW, whole=True)
        if EXISTS in made.dels and not known.on_disk(EXISTS):
            for line in made.dels:
                unit = known.brought_by(line)
                if line > NEWLINE and not known.in_head[line] and not self.choice.counts(unit):
                    yield Bond(number, unit, Kind.DELETES_WITH, whole=True)
            for line in others:
                stale = known.credit(line) == known.foreign
                yield Bond(number, known.unit(line), Kind.DELETES_REMOVED, stale, whole=True)

    def _old_reads(self) -> Iterator[Bond]:
        """Bonds of rule 6: a step from an old copy took a line that is now in neither HEAD nor the file."""
        known, weave = self.known, self.weave
        step = {n: weave.steps[unit.step] for n, unit in enumerate(weave.units) if unit.step >= 0}
        last = {unit.owner: n for n, unit in enumerate(weave.units)}
        made_by = dict[str, list[Hunk]]()
        for made in weave.hunks:
            made_by.setdefault(step.get(made.unit, ""), []).append(made)
        told = dict[str, int]()
        for unit in sorted(self.choice.wanted & known.by_unit.keys()):
            key = step.get(unit, "")
            over = self.over.get(key)
            if not over:
                continue
            if key in told:  # its first piece names all others that are in the way
                yield Bond(weave.units[unit].hunks[0], told[key], Kind.OLD_READ, stale=True)
                continue
            for line in (line for made in made_by.get(GAP + key, ()) for line in made.dels):
                other = known.brought_by(line)
                if (
                    known.is_history(line)
                    and line > NEWLINE
                    and not self.past.is_over(line)
                    and not weave.count[weave.line[line]]
                    and step.get(other, "") in over
                    and last.get(weave.units[other].owner, unit) < unit
                ):
                    told[key] = other
                    yield Bond(weave.units[unit].hunks[0], other, Kind.OLD_READ, stale=True)

    def _versions(self) -> Iterator[Bond]:
        """Bonds between two versions of a line: HEAD never gets both of them, nor neither.

        Two lines are versions where they say the same, where one replaced the other, at second hand too, and
        where both took the place of one line. So are a line that HEAD had before, and what HEAD has in its
        place that no step knows.
        """
        known, weave = self.known, self.weave
        gone = {weave.content(x): x for x in known.differing() if known.is_removed(x) and weave.is_only(x, 1)}
        beside, asked = self._beside_again(), set[object]()
        births = (x for unit in self.choice.wanted for x in known.births(unit))
        from_record = [x for x in births if known.is_history(x) and self.choice.shows(x)]
        may_come = (x for x in (*known.differing(), *from_record) if x > NEWLINE and not known.in_head[x])
        for line in may_come:
            others = set(beside.get(line, ()))
            birth = weave.birth[line]
            is_shown = self.choice.shows(line)
            unit = known.unit(line) if known.on_disk(line) else known.brought_by(line)
            place = self.past.replaced_by(line), birth, unit, is_shown
            if line in known.changes and place not in asked:  # lines of one place have the same versions
                asked.add(place)
                others |= place[0].union(weave.hunks[birth].dels)
            if is_shown and place[1:] not in asked:
                asked.add(place[1:])
                under = self.past.under(birth)
                others |= self.past.replaced_by(*under).union(under)
            if weave.content(line) in gone:
                others.add(gone[weave.content(line)])
            for other in others:
                if other > NEWLINE and known.is_removed(other) and self.choice.shows(other) == is_shown:
                    one, two = unit, known.unit(other)
                    if self.choice.counts(one) != self.choice.counts(two):
                        one, two = (one, two) if self.choice.counts(one) else (two, one)
                        # the first text has no hunk: it goes as superseded when its replacement goes
                        one, two = (one, two) if weave.units[one].hunks else (two, one)
                        stale = two == weave.hunks[known.foreign].unit
                        yield Bond(weave.units[one].hunks[0], two, Kind.OTHER_VERSION, stale=stale)

    def _beside_again(self) -> dict[int, set[int]]:
        """Each added line that HEAD had before, with the lines in its place that HEAD alone has.

        And each of which one of those has most words: somebody may have mended it, committed that, and taken
        the mend back. For a person, who may take HEAD's line away, each added line.
        """
        known, found, seen = self.known, dict[int, set[int]](), set[int]()
        unknown = {x for x in self.weave.hunks[known.foreign].births if known.is_removed(x)}
        for line in unknown:
            place = [] if line in seen else self._place_of(line, known.on_disk)
            seen.update(place)
            back = [x for x in place if known.is_added(x) and self.weave.says(x)]
            if back and not self.choice.counts(self.weave.hunks[known.foreign].unit):
                ever = self.held(GAP)  # also what it had only between two edits
                had = {
                    x for x in back if (text := self.weave.content(x)) in known.were_in_head or text in ever
                }
                mended = self._mended(back, unknown.intersection(place))
                back = [x for x in back if x in had or x in mended]
            found |= dict.fromkeys(back, unknown.intersection(place))
        return found

    def _mended(self, lines: list[int], forms: Set[int]) -> set[int]:
        """The lines of which one form has more than half of the words."""
        if len(lines) * len(forms) > _PAIRS:
            return set()
        said = {x: set(words(self.weave.content(x))) for x in (*lines, *forms)}
        return {x for x in lines if any(2 * len(said[x] & said[form]) > len(said[x]) for form in forms)}

    def _place_of(self, line: int, stays: Callable[[int], bool]) -> list[int]:
        """The lines around a line, up to those that HEAD has and that stay."""
        known, weave = self.known, self.weave

        def ends(x: int) -> bool:
            return x in (START, END) or (bool(known.in_head[x]) and stays(x))

        while not ends(weave.prev[line]):
            line = weave.prev[line]
        place = [line]
        while not ends(weave.next[place[-1]]):
            place.append(weave.next[place[-1]])
        return place


def _old_copies(steps: Sequence[Step]) -> dict[str, tuple[str, ...]]:
    """For each step that was written from an old copy: the steps that the copy lacked.

    Whoever wrote from an old copy knew its own edits. Where the copy lacks those too, git or a person had put
    the file back, and the step is not listed.
    """
    owner = {step.key: step.owner for step in steps}
    return {step.key: step.over for step in steps if step.owner not in map(owner.get, step.over)}
