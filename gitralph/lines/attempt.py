"""An attempt at a choice: which pieces go, and which lines the commit has then; rules 3 to 5 of `choose`."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gitralph.lines.past import DEEP, Past
from gitralph.lines.pieces import Pieces
from gitralph.lines.remembered import remembered
from gitralph.lines.terms import FORMATTED, UNRECORDED, Step, step_of
from gitralph.lines.text import all_words, has_words, is_telling
from gitralph.lines.weave import BASE, END, NEWLINE, START, Hunk


class Attempt:
    """The pieces that are wanted, superseded, followed and included."""

    def __init__(
        self, known: Pieces, owners: Collection[str], steps: Sequence[Step] = (), past: Past | None = None
    ) -> None:
        self.known, self.weave, self.steps = known, known.weave, steps
        self.past = past or Past(known, steps)
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
        told = {step.key for step in steps if step.offered}
        self.offered = {n for n, unit in enumerate(known.weave.units) if step_of(unit.key) in told}
        """What a session's command may have made: no person's where only the record has it."""
        self.own = {
            n
            for n, unit in enumerate(known.weave.units)
            if (unit.owner or UNRECORDED) in owners and not self._is_form(n)
        }
        self.wanted = set(self.own)
        self.gone = set[int]()
        self.leave, self.doubted = True, frozenset[str]()
        self._given_up = dict[str, set[int]]()

    def _is_form(self, unit: int) -> bool:
        """Tell whether a piece is what a formatter made of sessions' lines; it is theirs, and no person's."""
        took = self.known.taken(unit) if unit in self.formatted else ()
        return bool(took) and all(self.weave.units[self.known.brought_by(x)].owner is not None for x in took)

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
        """Tell whether a line that is in neither HEAD nor the file is committed from the record (rule 4)."""
        known, unit, killer = self.known, self.known.brought_by(line), self.known.unit(line)
        if line <= NEWLINE or not self.takes(unit) or self.counts(killer) or unit in self.offered:
            return False
        if killer in self.offered and not any(map(known.on_disk, known.births(killer))):
            return False  # perhaps the session's own command took the line away, and nothing shows that
        return self.past.is_covered(line)

    def still_means(self, unit: int, depth: int = 0, denied: dict[int, int] | None = None) -> bool:
        """Tell whether the removals of a piece still hold.

        They do not where a text stands in their place that neither the piece nor any other going piece
        brought. What HEAD has already of the piece tells only where it has all. `denied` has the pieces that
        were asked on the way, with the depth, and do not.
        """
        known, births = self.known, self._not_in_head(unit)
        is_other = False
        denied = {} if denied is None else denied
        for line in births if depth < DEEP else ():
            if known.on_disk(line) or known.in_head[line] or self.is_written_over(line):
                return True
            killer = known.unit(line)
            if self.counts(killer):
                if denied.get(killer, DEEP + 1) > depth + 1:
                    if self.still_means(killer, depth + 1, denied):
                        return True
                    denied[killer] = depth + 1
                is_other = True
            elif known.births(killer) or self.weave.units[killer].owner is not None:
                is_other = True
        return not is_other

    @remembered
    def _not_in_head(self, unit: int) -> list[int]:
        """The lines of a piece that HEAD lacks, or all where it lacks none."""
        births = self.known.births(unit)
        return [x for x in births if not self.known.in_head[x]] or births

    def writes(self, unit: int, depth: int = 0, denied: dict[int, int] | None = None) -> bool:
        """Tell whether the commit has text of a piece, or what was made of that text since.

        `denied` is as in `still_means`.
        """
        known = self.known
        denied = {} if denied is None else denied
        for line in known.births(unit) if depth < DEEP else ():
            if not known.in_head[line] and self.shows(line):
                return True
            killer = known.unit(line)
            if known.is_history(line) and self.counts(killer) and denied.get(killer, DEEP + 1) > depth + 1:
                if self.writes(killer, depth + 1, denied):
                    return True
                denied[killer] = depth + 1
        return False

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
            told = self._told(unit)
            # where another session took the rest of them, the removals under that rest are not ours to make
            worded = [x for x in known.births(unit) if has_words(self.weave.content(x))]
            rest = [x for x in worded if self.weave.units[known.unit(x)].owner is not None]
            if not all(self.counts(known.unit(x)) or known.unit(x) in more for x in (*told, *rest)):
                return
            said = known.words(told) - known.words(known.taken(unit))
            if not self.is_given_up(unit) and (not said or not said.isdisjoint(wrote)):
                return
        self.superseded |= set(more)

    def _told(self, unit: int) -> list[int]:
        """The telling lines that a piece brought; where it brought none, those with a word."""
        births = self.known.births(unit)
        return [x for x in births if self.weave.says(x)] or [
            x for x in births if has_words(self.weave.content(x))
        ]

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
            other = Attempt(self.known, (owner,), self.steps, self.past)
            other.begin(self.leave, self.doubted)
            self._given_up[owner] = other.gone
        return unit in self._given_up[owner]

    def begin(self, leave: bool, doubted: Collection[str]) -> None:
        """Let gaps follow, unless they are to be left, and give up what they left nothing of.

        Of the gaps with a key in `doubted` it may be another session's shell command that made them: such a
        one follows only where it keeps every word.
        """
        self.leave, self.doubted = leave, frozenset(doubted)
        if not leave:
            self.follow()
        self.let_go()

    def let_go(self) -> None:
        """Give up each own piece of which a gap left no line that says something."""
        known = self.known
        for unit in sorted(self.own, reverse=True):
            told = self._told(unit)
            if told and all(
                known.is_history(x)
                and not self.counts(known.unit(x))
                and (known.owner(x) is None or known.unit(x) in self.gone)
                and not self.is_written_over(x)
                for x in told
            ):
                self.wanted.discard(unit)
                self.gone.add(unit)

    def follow(self) -> None:
        """Let gaps on the session's own lines go along (rule 5)."""
        known, weave = self.known, self.weave
        for number, unit in enumerate(weave.units):
            if unit.owner is None and number not in (BASE, weave.hunks[known.foreign].unit):
                if any(weave.hunks[n].assigned for n in unit.hunks):
                    continue
                if self._follows(number):
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
        return not self.known.in_head[line] and self.takes(unit) and unit not in self.past.moves

    def _follows(self, unit: int) -> bool:
        known, weave = self.known, self.weave
        is_doubted = step_of(weave.units[unit].key) in self.doubted
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
            if is_doubted or any(made.births and not made.dels for made in hunks):
                return all_words(map(weave.content, taken)) == all_words(map(weave.content, births))
            if all(self.past.corrects(unit, over) for over in {known.brought_by(x) for x in taken}):
                return True
        if not is_doubted and all(map(self._is_inside, hunks)):
            rims = [x for made in hunks for x in (made.left, made.right)]
            return not self.past.came_later(unit, [*taken, *rims])
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
