"""Which pieces one session commits: HEAD, less the lines it removed, plus the lines it added; or why not.

1. Together: what one step removed and brought in one place goes together or not at all.

2. Built on: a piece may replace lines that another piece brought and HEAD lacks. Then it waits for that other
piece. So does a piece inside a block of such lines, and a piece around a line that only others removed. A
line that HEAD had before waits where HEAD alone has another in its place, as does what is included of
nobody's, and one that replaced a line of HEAD where HEAD has lost that and a line beside it, which the file
still has.

3. Superseded: rule 2 does not hold where no line and no word is left of those other lines, and the pieces
that go took each of them that says something. Nor where its session gives the other piece up, as rule 5 has
it. The later piece goes, and the removals under those lines go with it.

4. Written over: another session's recorded edit may have taken a line of this session. While that edit shows,
the line is committed from the record. Not so where HEAD had a text without the line since, or has what stands
for it, or lost another line that the edit took as well; nor where the piece only added lines and the edit
replaced all of them without keeping a word; nor where the file went back since to a text from before the
line, and nothing of the edit stands. A text of HEAD tells nothing while another line of the piece waits: it
was between a stash and its pop, or a reset took it back. A line that came with a file which was moved over
another is committed as it came, also where a gap took it, unless the gap also brought older lines back.

5. Follows: a gap goes along that only replaces the session's own added lines and keeps at least half of the
words that they brought, or of all their words where they brought none, or that only removes such lines. Words
of one character and words that HEAD has do not count, where there are others. What a session brought in
several edits counts as brought in one, and what a gap that goes along brought as the session's own. One that
brings lines elsewhere than it took some must keep all words. A gap inside one block of these lines follows,
too, where it replaces lines of the block and brings no paragraph, or stands beside a line with a word and
beside no blank one; and so does a gap of blank lines beside a line with a word. No gap follows where HEAD has
what a record had put in the place of these lines: git or a person has only put them back. Where no gap
follows, the session gives up a piece of which gaps took all that says something: what came instead is theirs.

6. Old read: a step that was written from a copy without another session's line waits. It waits while the line
is in neither HEAD nor the file and its writer has not edited the file since. A line that HEAD has needs no
such bond: the gap took it, so the commit keeps it. Where the copy lacks also what the step's own session had
recorded, it is no old copy: somebody put the file back.

7. The net: the finished text is checked by another way, see `net`.

8. Said: a note tells of lines of the session that are left nowhere, and of its removals that HEAD keeps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gitralph.base.kinds import Kind, Why
from gitralph.lines.net import Change as TextChange
from gitralph.lines.net import caught
from gitralph.lines.pieces import Heads, Held, Pieces, pieces
from gitralph.lines.terms import (
    FORMATTED,
    GAP,
    UNRECORDED,
    LeftEdit,
    LineNote,
    Reason,
    Separation,
    Step,
    step_of,
)
from gitralph.lines.text import all_words, ends_with_newline, has_words, is_telling, split_lines, words
from gitralph.lines.weave import BASE, END, EXISTS, NEWLINE, START, Hunk, Weave

LEAVE, FORM, WORDS = "leave", "form", "words"
"""What becomes of a gap on the session's lines: it stays out, or goes with every word kept, or with half."""

_DEEP = 50
"""So many edits on top of one another are followed."""


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


class Attempt:
    """One attempt at a choice: the pieces that are wanted, superseded, followed and included."""

    def __init__(self, known: Pieces, owners: Collection[str], steps: Sequence[Step] = ()) -> None:
        self.known, self.weave, self.steps = known, known.weave, steps
        self.over = _old_reads(steps)
        self.own = {n for n, unit in enumerate(known.weave.units) if (unit.owner or UNRECORDED) in owners}
        self.wanted = set(self.own)
        self.superseded = set[int]()
        self.followed = set[int]()
        self.included = set[int]()
        shells = {FORMATTED + step.key: step.owner for step in steps if step.owner is not None}
        self.formatted = {
            n: shells[step_of(unit.key)]
            for n, unit in enumerate(known.weave.units)
            if step_of(unit.key) in shells
        }
        """For each piece that changed no word of other sessions' lines: whose shell command made it."""
        moves = {step.key: step for step in steps if step.onto or step.came}
        self.moves = {
            n: moves[step_of(unit.key)].came
            for n, unit in enumerate(known.weave.units)
            if step_of(unit.key) in moves
        }
        """For each piece that brought a moved file: the lines that HEAD had, see `Step.came`."""
        self.gone = set[int]()
        self.how = LEAVE
        self._given_up = dict[str, set[int]]()
        self._over = dict[int, bool]()
        self._runs = dict[int, _Run]()
        self._replaced_by = dict[frozenset[int], frozenset[int]]()
        self._over_hunks = dict[int, frozenset[int]]()
        # Many lines lead to one piece, and each way to it asks again: without the answers the work doubles
        # with each step. They hang on the texts alone, not on what is wanted.
        self._seen = dict[tuple[int, int, int], bool]()
        self._corrects = dict[tuple[int, int], bool]()
        self._ended = dict[int, bool]()
        self._begun = dict[int, bool]()
        self._removed = dict[int, frozenset[int]]()
        self._lacking = dict[int, list[int]]()
        self._replaced_whole = dict[tuple[int, int], bool]()

    # --- what goes ---

    def takes(self, unit: int) -> bool:
        return unit in self.wanted

    def counts(self, unit: int) -> bool:
        return unit in self.wanted or unit in self.superseded

    def shows(self, line: int) -> bool:
        """Tell whether the commit has a line."""
        known = self.known
        unit = known.unit(line)
        if known.in_head[line]:
            return known.on_disk(line) or not (self.counts(unit) and self.still_means(unit))
        return self.takes(unit) if known.on_disk(line) else self.is_written_over(line)

    def is_written_over(self, line: int) -> bool:
        """Tell whether a line that is in neither HEAD nor the file is committed from the record (rule 4).

        An edit that HEAD lacks has replaced the line, and will go on top of it later.
        """
        known = self.known
        unit, killer = known.brought_by(line), known.unit(line)
        if (
            line <= NEWLINE
            or not self.takes(unit)
            or self.is_over(line)
            or self.counts(killer)
            or self.has_ended(unit)
            or (known.is_undone(line) and not any(map(known.on_disk, known.births(killer))))
        ):
            return False
        if (
            self.weave.units[killer].owner is None
            and not self.is_of_move(line)
            and not self.corrects(killer, unit)
        ):
            return False
        is_whole = self.is_replaced_whole(unit, killer) and not self.is_of_move(line)
        return self.is_seen(killer, unit) and not is_whole

    def is_over(self, line: int) -> bool:
        """Tell whether a line that is gone stays gone:

        HEAD had a text without it, or has what replaced it.
        """
        known = self.known
        if line not in self._over:
            self._over[line] = known.is_settled(line) or known.is_replaced_in_head(line)
        return self._over[line]

    def has_ended(self, unit: int) -> bool:
        """Tell whether HEAD has a line of a piece, or the piece was taken back."""
        if unit not in self._ended:
            is_in_head = any(self.known.in_head[x] for x in self.known.births(unit))
            self._ended[unit] = is_in_head or self.is_taken_back(unit)
        return self._ended[unit]

    def is_taken_back(self, unit: int) -> bool:
        """Tell whether a piece was taken back: all it brought is gone, and all it removed is there."""
        known = self.known
        births, taken = known.births(unit), known.taken(unit)
        if not all(map(known.is_history, births)) or not all(map(known.on_disk, taken)):
            return False
        return bool(taken) or not any(self._came(known.unit(x)) for x in births)

    def _came(self, unit: int) -> list[int]:
        """The lines that a piece brought, and those that it brought back, as a block that moves again."""
        made = [self.weave.hunks[n] for n in self.weave.units[unit].hunks]
        back = [x for each in made for x in each.undels if x > NEWLINE]
        return [*self.known.births(unit), *back]

    def is_replaced_whole(self, unit: int, killer: int) -> bool:
        """Tell whether another piece replaced all lines of a piece and kept no word of them."""
        if (unit, killer) not in self._replaced_whole:
            self._replaced_whole[unit, killer] = self._is_replaced_whole(unit, killer)
        return self._replaced_whole[unit, killer]

    def _is_replaced_whole(self, unit: int, killer: int) -> bool:
        known = self.known
        births = known.births(unit)
        if known.taken(unit) or any(known.unit(x) != killer for x in births):
            return False
        is_told = any(map(known.weave.says, births))
        return is_told and known.words(births).isdisjoint(known.words(self._came(killer)))

    def is_seen(self, unit: int, over: int, depth: int = 0) -> bool:
        """Tell whether a piece that took lines of `over` is a recorded edit that still shows on disk."""
        key = (unit, over, depth)
        if key not in self._seen:
            self._seen[key] = self._is_seen(unit, over, depth)
        return self._seen[key]

    def _is_seen(self, unit: int, over: int, depth: int) -> bool:
        known, weave = self.known, self.weave
        if depth > _DEEP:
            return False
        is_gap = weave.units[unit].owner is None
        if is_gap and not self.corrects(unit, over) and not self.is_on_moved(unit, over):
            return False
        births = known.births(unit)
        if any(known.in_head[x] for x in births):
            return False
        if known.on_disk(EXISTS) and any(EXISTS in weave.hunks[n].dels for n in weave.units[unit].hunks):
            return False  # a deletion shows only while the file is gone
        came = self._came(unit)
        if any(map(known.on_disk, [x for x in came if weave.says(x)] or came)):
            return True
        if any(known.left_head(x) for x in known.taken(unit) if known.brought_by(x) != over):
            return False  # HEAD has made the removal, too, so nothing will go on top later
        if births:
            return any(
                self.is_seen(killer, unit, depth + 1) for killer in map(known.unit, births) if killer != unit
            )
        if any(map(known.on_disk, known.births(over))):
            return True
        if known.is_swept(unit):
            return False
        taken = known.taken(over)
        # a brace comes and goes with other blocks as well
        taken = [x for x in taken if has_words(weave.content(x))] or taken
        return any(known.is_removed(x) and known.unit(x) == over for x in taken)

    def still_means(self, unit: int, depth: int = 0, denied: dict[int, int] | None = None) -> bool:
        """Tell whether the removals of a piece still hold.

        They do not where a text stands in their place that neither the piece nor any other going piece
        brought. What HEAD has already of the piece tells only where it has all. `denied` has the pieces that
        were asked on the way, with the depth, and do not.
        """
        known, births = self.known, self._not_in_head(unit)
        is_other = False
        denied = {} if denied is None else denied
        for line in births if depth < _DEEP else ():
            if known.on_disk(line) or known.in_head[line] or self.is_written_over(line):
                return True
            killer = known.unit(line)
            if self.counts(killer):
                if denied.get(killer, _DEEP + 1) > depth + 1:
                    if self.still_means(killer, depth + 1, denied):
                        return True
                    denied[killer] = depth + 1
                is_other = True
            elif known.births(killer) or self.weave.units[killer].owner is not None:
                is_other = True
        return not is_other

    def _not_in_head(self, unit: int) -> list[int]:
        """The lines of a piece that HEAD lacks, or all where it lacks none."""
        if unit not in self._lacking:
            births = self.known.births(unit)
            self._lacking[unit] = [x for x in births if not self.known.in_head[x]] or births
        return self._lacking[unit]

    def writes(self, unit: int, depth: int = 0, denied: dict[int, int] | None = None) -> bool:
        """Tell whether the commit has text of a piece, or what was made of that text since.

        `denied` is as in `still_means`.
        """
        known = self.known
        denied = {} if denied is None else denied
        for line in known.births(unit) if depth < _DEEP else ():
            if not known.in_head[line] and self.shows(line):
                return True
            killer = known.unit(line)
            if known.is_history(line) and self.counts(killer) and denied.get(killer, _DEEP + 1) > depth + 1:
                if self.writes(killer, depth + 1, denied):
                    return True
                denied[killer] = depth + 1
        return False

    # --- what stands in the way ---

    def bonds(self) -> Iterator[Bond]:
        known, weave = self.known, self.weave
        self._runs = {}
        for unit in sorted(self.wanted - self.followed):
            writes = self.writes(unit)
            for number in weave.units[unit].hunks:
                made = weave.hunks[number]
                fresh = [x for x in made.births if not known.in_head[x] and self.shows(x)]
                yield from self._built_on(number, made, writes)
                yield from self._around(number, made, writes)
                if fresh:
                    yield from self._inside(number, fresh)
                # what HEAD alone has there is another version of what nobody recorded
                if writes and unit in self.included and self._has_other_version(made):
                    yield Bond(number, weave.hunks[known.foreign].unit, Kind.REPLACES, stale=True)
                yield from self._whole_file(number, made, writes)
        yield from self._versions()
        if self.over and known.on_disk(EXISTS):  # all lines of a deleted file are gone, whoever had read them
            yield from self._old_reads()
        if not known.in_head[EXISTS] and known.on_disk(EXISTS) and not self.takes(known.unit(EXISTS)):
            maker = known.unit(EXISTS)
            for unit in sorted(self.wanted & known.by_unit.keys() - {BASE}):
                yield Bond(weave.units[unit].hunks[0], maker, Kind.IN_A_NEW_FILE, stale=known.is_old(maker))

    def _built_on(self, number: int, made: Hunk, writes: bool) -> Iterator[Bond]:
        """Bonds of a hunk that replaced lines HEAD lacks, or took away what stands for lines of HEAD."""
        known = self.known
        foreign = self.weave.hunks[known.foreign].unit
        for line in made.dels:
            unit = known.brought_by(line)
            if line <= NEWLINE or known.in_head[line] or known.on_disk(line) or self.counts(unit):
                continue
            if not writes:
                gone = self._removed_by(unit)
                if known.credit(line) == number and gone:
                    # What the hunk took away stands for lines of HEAD. Where those were only moved, it is the
                    # very line.
                    moved = known.weave.says(line) and self.weave.line[line] in gone
                    yield Bond(number, unit, Kind.STANDS_FOR, soft=not moved)
            elif self.never_comes(line) and not self._removed_by(unit):
                # The hunk is over something of HEAD's only where HEAD got lines here that no step knows.
                if self._has_other_version(made) or self._lies_in_lost(made, line):
                    yield Bond(number, foreign, Kind.REPLACES, stale=True)
            else:
                is_old = known.is_old(known.born_by(line))
                yield Bond(number, unit, Kind.REPLACES, stale=is_old, soft=unit in self.gone)

    def _removed_by(self, unit: int) -> frozenset[int]:
        """What HEAD has and a piece took away, as numbers of lines' texts."""
        if unit not in self._removed:
            gone = filter(self.known.is_removed, self.known.by_unit.get(unit, ()))
            self._removed[unit] = frozenset(self.weave.line[x] for x in gone)
        return self._removed[unit]

    def never_comes(self, line: int) -> bool:
        """Tell whether nobody will bring a line any more: it is over, or HEAD has others of its piece.

        A gap may be what git merged and what a person wrote beside it, so it is no one piece.
        """
        known = self.known
        unit = known.brought_by(line)
        if unit not in self._begun:
            births = known.births(unit) if self.weave.units[unit].owner is not None else []
            self._begun[unit] = any(known.in_head[x] and self.weave.says(x) for x in births)
        return self._begun[unit] or self.is_over(line)

    def _around(self, number: int, made: Hunk, writes: bool) -> Iterator[Bond]:
        """Bonds of a removed range: it may hold no line of HEAD that its owner never saw.

        A range that was rewritten may also hold no line that only others removed.
        """
        known = self.known
        gone = [x for x in made.dels if x > NEWLINE and not self.shows(x)]
        if len(gone) > 1:
            for line in self.weave.between(gone[0], gone[-1]):
                if known.is_removed(line) and self.shows(line):
                    unseen = known.credit(line) == known.foreign
                    if (writes or unseen) and not self.counts(known.unit(line)):
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
        for at, other in enumerate(self._place_of(line, self.shows)):
            run.at[other] = at
            if not known.in_head[other] and not self.counts(known.brought_by(other)):
                run.lacked.setdefault(known.born_by(other), []).append(other)
        self._runs |= dict.fromkeys(run.at, run)
        return run

    def _whole_file(self, number: int, made: Hunk, writes: bool) -> Iterator[Bond]:
        """Bonds of a whole file: a new one replaces all that HEAD has there, a deleted one loses it."""
        known = self.known
        if not known.in_head[EXISTS] or not (EXISTS in made.undels or EXISTS in made.dels):
            return
        others = [x for x in known.differing() if known.in_head[x] and not self.counts(known.unit(x))]
        if EXISTS in made.undels and writes and not any(known.in_head[x] for x in made.births):
            for line in others:
                yield Bond(number, known.unit(line), Kind.MADE_ANEW, whole=True)
        if EXISTS in made.dels and not known.on_disk(EXISTS):
            for line in made.dels:
                if line > NEWLINE and not known.in_head[line] and not self.counts(known.brought_by(line)):
                    yield Bond(number, known.brought_by(line), Kind.DELETES_WITH, whole=True)
            for line in others:
                yield Bond(
                    number,
                    known.unit(line),
                    Kind.DELETES_REMOVED,
                    stale=known.credit(line) == known.foreign,
                    whole=True,
                )

    def _old_reads(self) -> Iterator[Bond]:
        """Bonds of rule 6: a step from an old copy took a line that is now in neither HEAD nor the file."""
        known, weave = self.known, self.weave
        step = {n: weave.steps[unit.step] for n, unit in enumerate(weave.units) if unit.step >= 0}
        last = {unit.owner: n for n, unit in enumerate(weave.units)}
        made_by = dict[str, list[Hunk]]()
        for made in weave.hunks:
            made_by.setdefault(step.get(made.unit, ""), []).append(made)
        told = dict[str, int]()
        for unit in sorted(self.wanted & known.by_unit.keys()):
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
                    and not self.is_over(line)
                    and not weave.count[weave.line[line]]
                    and step.get(other, "") in over
                    and last.get(weave.units[other].owner, unit) < unit
                ):
                    told[key] = other
                    yield Bond(weave.units[unit].hunks[0], other, Kind.OLD_READ, stale=True)

    def _versions(self) -> Iterator[Bond]:
        """Bonds between two versions of a line: HEAD never gets both of them, nor neither.

        Two lines are versions where they say the same, and where one replaced the other and came back since.
        So are a line that HEAD had before, and what HEAD has in its place that no step knows.
        """
        known, weave = self.known, self.weave
        gone = {
            weave.content(x): x
            for x in known.differing()
            if known.is_removed(x) and known.weave.is_only(x, 1)
        }
        beside, asked = self._beside_again(), set[object]()
        for line in known.differing():
            if line <= NEWLINE or not known.is_added(line):
                continue
            others = set(beside.get(line, ()))
            birth = weave.birth[line]
            place = self.replaced_by(line), birth, known.unit(line), self.shows(line)
            if line in known.changes and place not in asked:  # lines of one place have the same versions
                asked.add(place)
                others |= place[0].union(weave.hunks[birth].dels)
            if weave.content(line) in gone:
                others.add(gone[weave.content(line)])
            for other in others:
                if other > NEWLINE and known.is_removed(other) and self.shows(other) == self.shows(line):
                    one, two = known.unit(line), known.unit(other)
                    if self.counts(one) != self.counts(two):
                        one, two = (one, two) if self.counts(one) else (two, one)
                        # the first text has no hunk: it goes as superseded when its replacement goes
                        one, two = (one, two) if weave.units[one].hunks else (two, one)
                        stale = two == weave.hunks[known.foreign].unit
                        yield Bond(weave.units[one].hunks[0], two, Kind.OTHER_VERSION, stale=stale)

    def _beside_again(self) -> dict[int, set[int]]:
        """Each added line that HEAD had before, with the lines in its place that HEAD alone has."""
        known, found, seen = self.known, dict[int, set[int]](), set[int]()
        unknown = {x for x in self.weave.hunks[known.foreign].births if known.is_removed(x)}
        for line in unknown:
            place = [] if line in seen else self._place_of(line, known.on_disk)
            seen.update(place)
            back = [x for x in place if known.is_added(x) and self.weave.says(x)]
            back = [x for x in back if self.weave.content(x) in known.were_in_head]
            found |= dict.fromkeys(back, unknown.intersection(place))
        return found

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

    def replaced_by(self, line: int) -> frozenset[int]:
        """All lines that were ever put in the place of a line, or in the place of such a line."""
        took = self._takers(line)
        if took not in self._replaced_by:
            found, todo = set[int](), list(took)
            while todo:
                number = todo.pop()
                if number not in found:
                    found.add(number)
                    todo += self._over_hunk(number)
            births = (self.weave.hunks[number].births for number in found)
            self._replaced_by[took] = frozenset[int]().union(*births)
        return self._replaced_by[took]

    def _takers(self, line: int) -> frozenset[int]:
        return frozenset(number for number, stands, _ in self.known.changes.get(line, ()) if not stands)

    def _over_hunk(self, number: int) -> frozenset[int]:
        if number not in self._over_hunks:
            births = self.weave.hunks[number].births
            self._over_hunks[number] = frozenset[int]().union(*map(self._takers, births))
        return self._over_hunks[number]

    # --- superseding ---

    def may_go_under(self, bond: Bond) -> bool:
        """Tell whether a bond is of a hunk that was written over the other piece, in a file that stays."""
        deletes = EXISTS in self.weave.hunks[bond.hunk].dels
        return bond.kind in (Kind.REPLACES, Kind.STANDS_FOR) and not deletes

    def supersede(self, unit: int) -> None:
        """Let the pieces in the way go as removals where nothing of them is left, or given up (rule 3)."""
        known, more = self.known, [unit]
        for unit in more:
            births, gone = known.births(unit), known.taken(unit)
            is_more = len(gone) > len(births) and not self.is_given_up(unit)
            if not all(map(known.is_history, births)) or is_more:
                return
            below = dict.fromkeys(known.brought_by(x) for x in gone if known.is_history(x))
            more += [one for one in below if one not in more and not self.counts(one)]
        wrote = known.words(self._made_of(more))
        for unit in more:
            told = [x for x in known.births(unit) if known.weave.says(x)]
            # where another session took the rest of them, the removals under that rest are not ours to make
            if not all(self.counts(known.unit(x)) or known.unit(x) in more for x in told):
                return
            said = known.words(told) - known.words(known.taken(unit))
            if not self.is_given_up(unit) and (not said or not said.isdisjoint(wrote)):
                return
        self.superseded |= set(more)

    def _made_of(self, units: Collection[int]) -> list[int]:
        """The lines of the commit that stand where lines of these pieces stood, also by later edits."""
        known, every = self.known, self.weave.units
        found, lines = set[int](), list[int]()
        todo = {every[known.unit(x)].step for unit in units for x in known.births(unit)}
        while todo:
            at = todo.pop()
            found.add(at)
            births = [x for u in (*self.wanted, *units) if every[u].step == at for x in known.births(u)]
            lines += [x for x in births if self.shows(x)]
            todo |= {every[known.unit(x)].step for x in births if known.is_history(x)} - found
        return lines

    def is_given_up(self, unit: int) -> bool:
        """Tell whether the session of a piece lets go of it, see `let_go`."""
        owner = self.weave.units[unit].owner
        if owner is None:
            return False
        if owner not in self._given_up:
            other = Attempt(self.known, (owner,), self.steps)
            other.begin(self.how)
            self._given_up[owner] = other.gone
        return unit in self._given_up[owner]

    def begin(self, how: str) -> None:
        """Let gaps follow, and give up what they left nothing of."""
        self.how = how
        if how != LEAVE:
            self.follow(how)
        self.let_go()

    def let_go(self) -> None:
        """Give up each own piece of which a gap left no line that says something."""
        known = self.known
        for unit in sorted(self.own, reverse=True):
            told = [x for x in known.births(unit) if known.weave.says(x)]
            if told and all(
                known.is_history(x)
                and not self.counts(known.unit(x))
                and (known.owner(x) is None or known.unit(x) in self.gone)
                and not self.is_written_over(x)
                for x in told
            ):
                self.wanted.discard(unit)
                self.gone.add(unit)

    # --- following ---

    def follow(self, how: str) -> None:
        """Let gaps on the session's own lines go along (rule 5)."""
        known, weave = self.known, self.weave
        for number, unit in enumerate(weave.units):
            if unit.owner is None and number not in (BASE, weave.hunks[known.foreign].unit):
                if any(weave.hunks[n].assigned for n in unit.hunks):
                    continue
                if self._follows(number, how):
                    self.followed.add(number)
                    self.wanted.add(number)

    def drop_corrections(self) -> None:
        """Where a piece stays out, the gaps that follow it stay out too."""
        known, weave = self.known, self.weave
        for unit in sorted(self.followed, reverse=True):
            hunks = [weave.hunks[n] for n in weave.units[unit].hunks]
            rims = [x for made in hunks for x in (made.left, made.right) if x not in (START, END)]
            on = known.taken(unit) or [x for x in rims if known.brought_by(x) in self.own]
            if not all(self.takes(known.brought_by(x)) for x in on):
                self.followed.discard(unit)
                self.wanted.discard(unit)

    def _is_own(self, line: int) -> bool:
        unit = self.known.brought_by(line)
        # who moved a file need not have written a line of it
        return not self.known.in_head[line] and self.takes(unit) and unit not in self.moves

    def is_of_move(self, line: int) -> bool:
        """Tell whether a line came with a moved file, and HEAD or nobody's file had it under the old name."""
        return self.weave.content(line) in self.moves.get(self.known.brought_by(line), ())

    def _follows(self, unit: int, how: str) -> bool:
        known, weave = self.known, self.weave
        hunks = [weave.hunks[n] for n in weave.units[unit].hunks]
        births, taken = known.births(unit), known.taken(unit)
        if any(x <= NEWLINE for made in hunks for x in made.dels) or any(made.undels for made in hunks):
            return False
        # who corrects a line that git or he had put back for what HEAD has corrects what HEAD has
        if any(map(known.on_disk, taken)) or any(map(known.is_replaced_in_head, taken)):
            return False
        if taken:
            if not all(map(self._is_own, taken)) or not births:
                return all(map(self._is_own, taken))
            # who brings lines back elsewhere, and other ones among them, writes something of his own
            if how == FORM or any(made.births and not made.dels for made in hunks):
                return all_words(map(weave.content, taken)) == all_words(map(weave.content, births))
            if all(self.corrects(unit, over) for over in {known.brought_by(x) for x in taken}):
                return True
        if how == WORDS and all(map(self._is_inside, hunks)):
            return True
        rims = [x for x in (hunks[0].left, hunks[0].right) if x not in (START, END) and self._is_own(x)]
        rims = [x for x in rims if self.shows(x)]  # nothing follows a line that is gone
        return not taken and bool(rims) and not any(weave.content(x).strip() for x in births)

    def _is_inside(self, made: Hunk) -> bool:
        """Tell whether a hunk lies in one block of the session's lines and brings no paragraph.

        A line that only comes between `}` and `return`, or beside a blank line, may belong anywhere.
        """
        rims = [x for x in (made.left, made.right) if x not in (START, END) and self._is_own(x)]
        rims = [x for x in rims if self.shows(x)]  # nothing follows a line that is gone
        around = [self.weave.content(x) for x in rims]
        is_sure = bool(made.dels) or (any(map(is_telling, around)) and all(map(bytes.strip, around)))
        blank = [sum(not self.weave.content(x).strip() for x in lines) for lines in (made.births, made.dels)]
        is_sure = is_sure and blank[0] <= blank[1]  # who brings a paragraph writes something of his own
        return len(rims) == 2 and is_sure and len({self._block_of(x) for x in (*rims, *made.dels)}) == 1

    def _block_of(self, line: int) -> int:
        """The hunk that brought a line, or brought what the line corrects."""
        number = self.weave.birth[line]
        while (made := self.weave.hunks[number]).unit in self.followed and made.dels:
            number = self.weave.birth[made.dels[0]]
        return number

    def _has_other_version(self, made: Hunk) -> bool:
        """Tell whether HEAD got lines that no step knows in the place where a hunk was made."""
        known = self.known
        between = self.weave.between(made.left, made.right)
        return any(known.is_removed(x) and known.credit(x) == known.foreign for x in between)

    def _lies_in_lost(self, made: Hunk, line: int) -> bool:
        """Tell whether HEAD lost a replaced line with a line beside it, which the file still has."""
        known, birth = self.known, self.weave.birth
        return any(
            x not in (START, END)
            and birth[x] == birth[line]
            and known.on_disk(x)
            and not known.in_head[x]
            and self.weave.content(x) in known.were_in_head
            for x in (made.left, made.right)
        )

    def is_on_moved(self, gap: int, over: int) -> bool:
        """Tell whether a gap changed lines that came with a moved file, and brought no others back."""
        made = [self.weave.hunks[n] for n in self.weave.units[gap].hunks]
        is_other = any(self._has_other_version(one) or any(x > NEWLINE for x in one.undels) for one in made)
        return bool(self.moves.get(over)) and not is_other

    def corrects(self, gap: int, over: int) -> bool:
        """Tell whether the writer of a gap saw the lines that it took, see rule 5."""
        if (gap, over) not in self._corrects:
            self._corrects[gap, over] = self._has_half(gap, over)
        return self._corrects[gap, over]

    def _has_half(self, gap: int, over: int) -> bool:
        """Tell whether the writer of a gap saw the lines that it took: half of their words are there again.

        Otherwise git may have taken the lines away before, and somebody wrote in the empty place. Lines of
        the gap that HEAD has already do not count: they were committed, and the session's lines came beside
        them later. Words of one character and words that HEAD has do not count, where there are others: every
        function says some.
        """
        known, weave = self.known, self.weave
        if any(self._has_other_version(weave.hunks[n]) for n in weave.units[gap].hunks):
            return False
        taken = set(known.taken(gap))
        gone = [x for x in known.births(over) if x in taken]
        brought = known.words(gone) - known.words(self._under(over)) or known.words(gone)
        brought = {x for x in brought - known.words_of_head if len(x) > 1} or brought
        came = [x for x in known.births(gap) if not known.in_head[x]]
        return 2 * len(brought & known.words(came)) >= max(len(brought), 1)

    def _under(self, unit: int) -> list[int]:
        """What a piece replaced: in place of lines of the same owner that HEAD lacks, what these replaced."""
        known, found, units = self.known, list[int](), [unit]
        for one in units:
            for line in known.taken(one):
                under = known.brought_by(line)
                if known.in_head[line] or self.weave.units[under].owner != self.weave.units[unit].owner:
                    found.append(line)
                elif under not in units:
                    units.append(under)
        return found


def _old_reads(steps: Sequence[Step]) -> dict[str, tuple[str, ...]]:
    """For each step that was written from an old copy: the steps that the copy lacked.

    Whoever wrote from an old copy knew its own edits. Where the copy lacks those too, git or a person had put
    the file back, and the step is not listed.
    """
    owner = {step.key: step.owner for step in steps}
    return {step.key: step.over for step in steps if step.owner not in map(owner.get, step.over)}


def separate(
    head: bytes | None,
    steps: Sequence[Step],
    disk: bytes | None,
    *,
    owners: Collection[str],
    skip_entangled: bool = False,
    include_entangled: bool = False,
    follow: str = WORDS,
    held: Held = lambda _: (),
    heads: Heads = tuple,
    moved: bytes | None = None,
) -> Separation:
    """Make the text that the owners' commit has instead of HEAD's, or say why not.

    `moved` is HEAD's text at the path that the file was moved from, None for a file that was not moved. With
    UNRECORDED as the owner it makes a person's commit, of what nobody recorded.
    """
    if head == disk:
        return Separation(head)
    base = head if moved is None else moved
    known = pieces(base, disk, steps, held, heads, exists=head is not None)
    choice = Attempt(known, owners, steps)
    choice.begin(follow)
    unmet, skipped = list[Bond](), set[int]()
    while True:
        found = list(choice.bonds())
        seen = len(choice.superseded)
        # a piece that many hunks are built on is asked once: 2,000 hunks on one took 1 s
        for unit in dict.fromkeys(bond.unit for bond in found if choice.may_go_under(bond)):
            if unit not in choice.superseded:
                choice.supersede(unit)
        if len(choice.superseded) > seen:
            continue
        found = [bond for bond in found if not bond.soft]
        if include_entangled:
            met = {bond.unit for bond in found if not bond.stale and bond.kind is not Kind.MADE_ANEW}
            more = met - choice.own - skipped - {BASE, known.weave.hunks[known.foreign].unit}
            if more - choice.wanted:
                choice.wanted |= more
                choice.included |= more
                continue
        if not found:
            break
        unmet += found
        stuck = {known.weave.hunks[bond.hunk].unit for bond in found} - skipped
        if not skip_entangled or not stuck:
            break
        skipped |= stuck
        choice.wanted -= skipped
        choice.drop_corrections()
        choice.superseded = set()
    left = _left(choice, unmet)
    if left and (found or any(one.reason != "entangled" for one in left)):
        return Separation(head, left=left, refused=True)
    answer = _answer(choice, left, steps, held)
    under, strict = _under(choice), follow != WORDS and UNRECORDED not in owners
    includes = {*answer.includes, *({UNRECORDED} & set(owners))}
    includes |= {UNRECORDED for unit in choice.followed if unit in choice.formatted}
    asked = base, answer.text, disk, steps, owners, includes
    along = _corrections(choice, owners)
    line = None if answer.text == head else caught(*asked, under, strict, held(""), along, _given_up(choice))
    if line is None:
        return answer
    units = tuple(known.weave.units[u].key for u in sorted(choice.wanted & known.by_unit.keys()))
    return Separation(
        head, left=(*left, LeftEdit("stale", _at(known, line), Why(Kind.UNPLACED), units)), refused=True
    )


def lost(known: Pieces, steps: Sequence[Step], owners: Collection[str], held: Held) -> tuple[LineNote, ...]:
    """What the owners' records brought and other sessions took away, in a file that is as in HEAD."""
    found = _lost(Attempt(known, owners, steps), {GAP + s.key: s.owner for s in steps if s.over}, held)
    return tuple(note for note in found if note.why.kind is Kind.LEFT_TO_OTHERS)


def _corrections(choice: Attempt, owners: Collection[str]) -> list[TextChange] | None:
    """The followed pieces of nobody, by text; None where other pieces of nobody go along as well."""
    weave = choice.weave
    if UNRECORDED in owners or any(weave.units[unit].owner is None for unit in choice.included):
        return None
    found = list[TextChange]()
    for unit in choice.followed:
        if weave.units[unit].owner is None:
            made = [weave.hunks[number] for number in weave.units[unit].hunks]
            old = [weave.content(x) for one in made for x in one.dels if x > NEWLINE]
            new = [weave.content(x) for one in made for x in one.births if x > NEWLINE]
            found.append((None, b"\n".join(old), b"\n".join(new), ()))
    return found


def _under(choice: Attempt) -> dict[bytes, set[str | None]]:
    """The lines that go with superseded pieces, each with the owners of these pieces."""
    found = dict[bytes, set[str | None]]()
    for unit in choice.superseded:
        for line in choice.known.taken(unit):
            found.setdefault(choice.weave.content(line), set()).add(choice.weave.units[unit].owner)
    return found


def _given_up(choice: Attempt) -> set[bytes]:
    """The lines that gaps took and nobody commits any more: who wrote in their place may say their words.

    Not where a line of a gap keeps half of the words: by itself it would be a correction.
    """
    known, weave, units = choice.known, choice.weave, filter(choice.is_given_up, choice.superseded)
    taken = (x for x in known.changes if known.is_history(x) and known.owner(x) is None)
    lost = set(filter(choice.never_comes, taken)).union(*map(known.births, units))
    by_word = dict[bytes, set[int]]()
    for line in known.differing() if lost else ():
        if line > NEWLINE and known.is_added(line) and known.owner(line) is None:
            for word in words(weave.content(line)):
                by_word.setdefault(word, set()).add(line)

    def is_kept(text: bytes) -> bool:
        said = set(words(text))
        kept = Counter(line for word in said for line in by_word.get(word, ()))
        return 2 * max(kept.values(), default=0) >= max(len(said), 1)

    return {text for text in map(weave.content, lost) if not is_kept(text)}


def _at(known: Pieces, line: bytes) -> tuple[int, int] | None:
    at = [n for n, each in enumerate(split_lines(known.disk), 1) if each == line]
    return (at[0], at[0]) if at else None


def _left(choice: Attempt, unmet: list[Bond]) -> tuple[LeftEdit, ...]:
    weave = choice.weave
    numbers = {line: at for at, line in enumerate(weave.shown, 1)} if unmet else {}
    out = dict[tuple[int, int], LeftEdit]()
    for bond in unmet:
        made, who = weave.hunks[bond.hunk], weave.units[bond.unit].owner or UNRECORDED
        reason: Reason = "stale" if bond.stale else "contested" if bond.whole else "entangled"
        is_foreign = bond.stale and bond.kind is not Kind.OLD_READ
        why = Why(Kind.HEAD_MOVED) if is_foreign else Why(bond.kind, (who,))
        units = (weave.units[made.unit].key,)
        out[made.unit, bond.unit] = LeftEdit(reason, _numbers(numbers, made), why, units)
    # Of several turns in one line each is in the way for the same reason.
    told = dict[tuple[Reason, tuple[int, int] | None, Why], LeftEdit]()
    for one in out.values():
        key = one.reason, one.lines, one.why
        told[key] = one._replace(units=(*told[key].units, *one.units)) if key in told else one
    return tuple(told.values())


def _numbers(numbers: dict[int, int], made: Hunk) -> tuple[int, int] | None:
    own = [numbers[x] for x in (*made.births, *made.undels) if x in numbers]
    own = own or [numbers[x] for x in (made.left,) if x in numbers]
    return (min(own), max(own)) if own else (1, 1) if numbers else None


def _answer(choice: Attempt, left: tuple[LeftEdit, ...], steps: Sequence[Step], held: Held) -> Separation:
    known, weave = choice.known, choice.weave
    order = weave.order()
    # Most lines of a large file are in both texts, and nothing ever happened to them.
    in_head, changes = known.in_head, known.changes
    shown = [line for line in order if (in_head[line] and line not in changes) or choice.shows(line)]
    text = _text(choice, shown) if choice.shows(EXISTS) else None
    changed = {line for line in known.differing() if choice.shows(line) != bool(known.in_head[line])}
    changed |= {line for line in shown if not in_head[line] and not known.on_disk(line)}
    units = {known.brought_by(x) if known.is_history(x) else known.unit(x) for x in changed}
    units |= set(filter(choice.writes, choice.included))
    followed = {unit for unit in choice.followed if unit in units or choice.writes(unit)}
    told = followed - choice.formatted.keys()
    who = {weave.units[unit].owner or UNRECORDED for unit in choice.included | told}
    notes = (
        *_notes(choice, followed),
        *_lost(choice, {GAP + s.key: s.owner for s in steps if s.over}, held),
        *_taken_again(choice),
        *_stays(choice),
    )
    names = tuple(weave.units[unit].key for unit in sorted(units))
    return Separation(text, taken=names, left=left, includes=tuple(sorted(who)), notes=notes)


def _text(choice: Attempt, shown: list[int]) -> bytes:
    known = choice.known
    text = b"".join([choice.weave.content(line) + b"\n" for line in shown])
    if not shown:
        return b""
    is_complete = choice.shows(NEWLINE)
    if known.in_head[NEWLINE] != known.on_disk(NEWLINE):
        # The newline at the end goes with the last line.
        ends = split_lines(known.head), split_lines(known.disk)
        if is_complete != known.on_disk(NEWLINE) and not known.in_head[shown[-1]] and ends[1]:
            is_complete = known.on_disk(NEWLINE) or not known.on_disk(shown[-1])
        elif known.in_head[shown[-1]] and not ends_with_newline(known.head):
            is_complete = is_complete or choice.weave.content(shown[-1]) != ends[0][-1]
    elif not known.in_head[NEWLINE]:
        is_complete = False  # neither text ends with a newline
    return text if is_complete or not choice.weave.content(shown[-1]) else text[:-1]


def _notes(choice: Attempt, followed: set[int]) -> Iterator[LineNote]:
    known, weave = choice.known, choice.weave
    if followed:
        where = weave.span(x for unit in followed for x in known.births(unit))
        whose = {choice.formatted[u] for u in followed if u in choice.formatted}
        is_format = whose and all(u in choice.formatted for u in followed)
        why = Why(Kind.FORMATTED, tuple(sorted(whose))) if is_format else Why(Kind.CORRECTED, (UNRECORDED,))
        yield LineNote(why, where)
    kept = [x for u in sorted(choice.own) for x in known.births(u) if x > NEWLINE and known.is_history(x)]
    over = {known.unit(x) for x in kept if choice.shows(x) and known.owner(x) is None}
    changed = weave.span(y for unit in over for y in known.births(unit)) if over else None
    if changed is not None:
        yield LineNote(Why(Kind.CHANGED_SINCE, (UNRECORDED,)), changed)
    others = choice.superseded - choice.own - {BASE}
    if others:
        who = tuple(dict.fromkeys(weave.units[u].owner or UNRECORDED for u in sorted(others)))
        where = weave.span(x for unit in choice.wanted for x in known.births(unit))
        yield LineNote(Why(Kind.NOTHING_LEFT, who), where)


def _lost(choice: Attempt, old: dict[str, str | None], held: Held) -> Iterator[LineNote]:
    """What the session's records brought, and is in none of HEAD, file and commit by somebody else's change.

    `old` names who wrote from an old copy of the file, by the key of the gap that shows it.
    """
    known, weave = choice.known, choice.weave
    passed, lost = held(""), list[tuple[int, int, int]]()
    for unit in sorted(choice.own - choice.followed):
        for line in (x for x in known.births(unit) if x > NEWLINE):
            killer = known.unit(line)
            if not has_words(weave.content(line)) or not known.is_history(line) or choice.shows(line):
                continue
            is_removal = killer in choice.followed and not known.births(killer)
            if (is_removal or not choice.counts(killer)) and weave.content(line) not in passed:
                lost.append((unit, line, killer))
    if not lost:
        return
    at = [y for _, _, killer in lost for y in known.births(killer)]
    killers = [weave.units[killer] for _, _, killer in lost]
    names = tuple(dict.fromkeys(one.owner or old.get(step_of(one.key)) or UNRECORDED for one in killers))
    kind = Kind.LEFT_TO_NOBODY if names == (UNRECORDED,) else Kind.LEFT_TO_OTHERS
    where = _where(weave, at) or _where(weave, [line for _, line, _ in lost])
    yield LineNote(Why(kind, names), where, tuple(dict.fromkeys(weave.units[u].key for u, _, _ in lost)))


def _taken_again(choice: Attempt) -> Iterator[LineNote]:
    """What the session took away last, but another had before and is credited with it."""
    known, weave, hunks = choice.known, choice.weave, choice.weave.hunks
    again = dict[int, int]()
    for line in (x for x in known.differing() if x > NEWLINE and known.is_removed(x) and choice.shows(x)):
        took = (hunks[n].unit for n, stands, _ in reversed(known.changes[line]) if not stands)
        last = next((unit for unit in took if weave.units[unit].owner is not None), BASE)
        if last in choice.own and known.unit(line) not in choice.own:
            again[line] = last
    if again:
        names = tuple(dict.fromkeys(known.owner(x) or UNRECORDED for x in again))
        units = dict.fromkeys(weave.units[unit].key for unit in again.values())
        yield LineNote(Why(Kind.REMOVED_BEFORE, names), _where(weave, list(again)), tuple(units))


def _stays(choice: Attempt) -> Iterator[LineNote]:
    """What the session removed and HEAD keeps: somebody changed what had replaced it, or put it elsewhere."""
    known, weave = choice.known, choice.weave
    asked, kept = choice.own & (choice.wanted | choice.gone), dict[int, int]()
    took = ((x, unit) for unit in asked for x in known.taken(unit) if known.unit(x) == unit)
    gone = {weave.line[x]: unit for x, unit in took if known.is_history(x) and weave.says(x)}
    for line in (x for x in known.differing() if x > NEWLINE and known.is_removed(x) and choice.shows(x)):
        if known.unit(line) in asked:
            kept[line] = known.unit(line)
        elif known.credit(line) == known.foreign and weave.line[line] in gone:
            kept[line] = gone[weave.line[line]]
    if kept:
        units = sorted(set(kept.values()))
        takers = {known.unit(x) for unit in units for x in known.births(unit) if known.is_history(x)}
        who = dict.fromkeys(weave.units[taker].owner or UNRECORDED for taker in sorted(takers - choice.own))
        keys = tuple(weave.units[unit].key for unit in units)
        yield LineNote(Why(Kind.REMOVAL_STAYS, tuple(who) or (UNRECORDED,)), _where(weave, list(kept)), keys)


def _where(weave: Weave, lines: Collection[int]) -> tuple[int, int] | None:
    """The line numbers on disk of some lines, or of what stands in their place."""
    wanted, shown, here, at = set(lines), set(weave.shown), 1, list[int]()
    for line in weave.order() if wanted else ():
        if line in wanted:
            at.append(min(here, len(shown)))
        here += line in shown
    return (max(min(at), 1), max(at)) if shown and at else None
