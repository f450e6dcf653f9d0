"""What became of a piece: whether it is over, taken back, replaced or corrected.

The texts alone tell it, whoever commits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from gitralph.lines.pieces import Pieces
from gitralph.lines.remembered import remembered
from gitralph.lines.terms import Step, step_of
from gitralph.lines.text import has_words, split_lines
from gitralph.lines.weave import BASE, EXISTS, NEWLINE, Hunk

Resets = Callable[[], Iterable[tuple[bytes | None, bytes | None]]]
"""Gives the text before and after each commit that HEAD had and lost."""

DEEP = 50
"""So many edits on top of one another are followed."""


class Past:
    """The questions about one path, each with the answers that it gave.

    Many lines lead to one piece, and each way to it asks again: without the answers the work doubles with
    each step.
    """

    def __init__(self, known: Pieces, steps: Sequence[Step] = (), resets: Resets = tuple) -> None:
        self.known, self.weave, self._resets = known, known.weave, resets
        moves = {step.key: step for step in steps if step.onto or step.came}
        self.moves = {
            n: moves[step_of(unit.key)].came
            for n, unit in enumerate(known.weave.units)
            if step_of(unit.key) in moves
        }
        """For each piece that brought a moved file: the lines that HEAD had, see `Step.came`."""

    @remembered
    def is_over(self, line: int) -> bool:
        """Tell whether a line that is gone stays gone:

        HEAD had a text without it, or has what replaced it.
        """
        return self.known.is_settled(line) or self.known.is_replaced_in_head(line)

    @remembered
    def has_ended(self, unit: int) -> bool:
        """Tell whether HEAD has a line of a piece, or the piece was taken back."""
        return any(self.known.in_head[x] for x in self.known.births(unit)) or self.is_taken_back(unit)

    def is_taken_back(self, unit: int) -> bool:
        """Tell whether a piece was taken back: all it brought is gone, and all it removed is there."""
        known = self.known
        births, taken = known.births(unit), known.taken(unit)
        if not all(map(known.is_history, births)) or not all(map(known.on_disk, taken)):
            return False
        return bool(taken) or not any(self.came(known.unit(x)) for x in births)

    def came(self, unit: int) -> list[int]:
        """The lines that a piece brought, and those that it brought back, as a block that moves again."""
        made = [self.weave.hunks[n] for n in self.weave.units[unit].hunks]
        back = [x for each in made for x in each.undels if x > NEWLINE]
        return [*self.known.births(unit), *back]

    @remembered
    def is_replaced_whole(self, unit: int, killer: int) -> bool:
        """Tell whether another piece replaced all lines of a piece and kept no word of them."""
        known = self.known
        births = known.births(unit)
        if known.taken(unit) or any(known.unit(x) != killer for x in births):
            return False
        is_told = any(map(known.weave.says, births))
        return is_told and known.words(births).isdisjoint(known.words(self.came(killer)))

    def never_comes(self, line: int) -> bool:
        """Tell whether nobody will bring a line any more: it is over, or HEAD has others of its piece."""
        return self._has_begun(self.known.brought_by(line)) or self.is_over(line)

    @remembered
    def _has_begun(self, unit: int) -> bool:
        """Tell whether HEAD has a telling line of a session's piece.

        A gap may be what git merged and what a person wrote beside it, so it is no one piece.
        """
        births = self.known.births(unit) if self.weave.units[unit].owner is not None else []
        return any(self.known.in_head[x] and self.weave.says(x) for x in births)

    @remembered
    def removed_by(self, unit: int) -> frozenset[int]:
        """What HEAD has and a piece took away, as numbers of lines' texts."""
        gone = filter(self.known.is_removed, self.known.by_unit.get(unit, ()))
        return frozenset(self.weave.line[x] for x in gone)

    def replaced_by(self, *lines: int) -> frozenset[int]:
        """All lines that were ever put in the place of one of these, or in the place of such a line."""
        return self._put_by(frozenset[int]().union(*map(self._takers, lines)))

    @remembered
    def _put_by(self, took: frozenset[int]) -> frozenset[int]:
        found, todo = set[int](), list(took)
        while todo:
            number = todo.pop()
            if number not in found:
                found.add(number)
                todo += self._over_hunk(number)
        return frozenset[int]().union(*(self.weave.hunks[number].births for number in found))

    def under(self, number: int) -> list[int]:
        """The lines in whose place a hunk put others, and of those that are history what they replaced."""
        found, asked, todo = list[int](), {BASE, number}, [number]
        for each in todo:
            dels = self.weave.hunks[each].dels
            found += dels
            more = {self.weave.birth[x] for x in dels if self.known.is_history(x)} - asked
            asked |= more
            todo += more
        return found

    def _takers(self, line: int) -> frozenset[int]:
        return frozenset(number for number, stands, _ in self.known.changes.get(line, ()) if not stands)

    @remembered
    def _over_hunk(self, number: int) -> frozenset[int]:
        return frozenset[int]().union(*map(self._takers, self.weave.hunks[number].births))

    def has_other_version(self, made: Hunk) -> bool:
        """Tell whether HEAD got lines that no step knows in the place where a hunk was made."""
        known = self.known
        between = self.weave.between(made.left, made.right)
        return any(known.is_removed(x) and known.credit(x) == known.foreign for x in between)

    @remembered
    def corrects(self, gap: int, over: int) -> bool:
        """Tell whether the writer of a gap saw the lines that it took: half of their words are there again.

        Otherwise git may have taken the lines away before, and somebody wrote in the empty place. Lines of
        the gap that HEAD has already do not count: they were committed, and the session's lines came beside
        them later. Words of one character and words that HEAD has do not count, where there are others: every
        function says some.
        """
        known, weave = self.known, self.weave
        if any(self.has_other_version(weave.hunks[n]) for n in weave.units[gap].hunks):
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

    def came_later(self, gap: int, lines: Sequence[int]) -> bool:
        """Tell whether HEAD got lines of a gap when it had these lines already: in a commit that it lost."""
        weave = self.weave
        there = {weave.content(x) for x in lines if weave.says(x)}
        came = {weave.content(x) for x in self.known.births(gap) if weave.says(x)} - there
        pairs = self._resets() if there and came else ()
        texts = ((set(split_lines(old)), set(split_lines(new))) for old, new in pairs)
        return any(not there.isdisjoint(old) and not came.isdisjoint(new - old) for old, new in texts)

    def is_of_move(self, line: int) -> bool:
        """Tell whether a line came with a moved file, and HEAD or nobody's file had it under the old name."""
        return self.weave.content(line) in self.moves.get(self.known.brought_by(line), ())

    def is_on_moved(self, gap: int, over: int) -> bool:
        """Tell whether a gap changed lines that came with a moved file, and brought no others back."""
        made = [self.weave.hunks[n] for n in self.weave.units[gap].hunks]
        is_other = any(self.has_other_version(one) or any(x > NEWLINE for x in one.undels) for one in made)
        return bool(self.moves.get(over)) and not is_other

    @remembered
    def is_covered(self, line: int) -> bool:
        """Tell whether an edit that HEAD lacks has replaced a line and still shows (rule 4).

        HEAD gets the line all the same, and the edit goes on top of it later.
        """
        known = self.known
        unit, killer = known.brought_by(line), known.unit(line)
        if self.is_over(line) or self.has_ended(unit) or self._has_committed_taker(line):
            return False
        if known.is_undone(line) and not any(map(known.on_disk, known.births(killer))):
            return False
        is_moved = self.is_of_move(line)
        if self.weave.units[killer].owner is None and not is_moved and not self.corrects(killer, unit):
            return False
        return self._is_seen(killer, unit, 0) and (is_moved or not self.is_replaced_whole(unit, killer))

    def _has_committed_taker(self, line: int) -> bool:
        """Tell whether HEAD had a line, and has another part of the step that took it: it has that step."""
        known, units = self.known, self.weave.units
        then = known.was(line, known.agreed)
        if then is None or not then[1]:
            return False
        return units[known.unit(line)].step in self._in_head

    @cached_property
    def _in_head(self) -> set[int]:
        """The steps of which HEAD has a telling line."""
        known, units = self.known, self.weave.units
        there = (
            n for n in range(len(units)) for x in known.births(n) if known.in_head[x] and self.weave.says(x)
        )
        return {units[n].step for n in there}

    @remembered
    def _is_seen(self, unit: int, over: int, depth: int) -> bool:
        """Tell whether a piece that took lines of `over` is a recorded edit that still shows on disk."""
        known, weave = self.known, self.weave
        if depth > DEEP:
            return False
        is_gap = weave.units[unit].owner is None
        if is_gap and not self.corrects(unit, over) and not self.is_on_moved(unit, over):
            return False
        births = known.births(unit)
        if any(known.in_head[x] for x in births):
            return False
        if known.on_disk(EXISTS) and any(EXISTS in weave.hunks[n].dels for n in weave.units[unit].hunks):
            return False  # a deletion shows only while the file is gone
        came = self.came(unit)
        if any(map(known.on_disk, [x for x in came if weave.says(x)] or came)):
            return True
        if any(known.left_head(x) for x in known.taken(unit) if known.brought_by(x) != over):
            return False  # HEAD has made the removal, too, so nothing will go on top later
        if births:
            killers = (killer for killer in map(known.unit, births) if killer != unit)
            return any(self._is_seen(killer, unit, depth + 1) for killer in killers)
        # a brace comes and goes with other blocks as well
        brought, taken = (
            [x for x in lines if has_words(weave.content(x))] or lines
            for lines in (known.births(over), known.taken(over))
        )
        if any(map(known.on_disk, brought)):
            return True
        if known.is_swept(unit):
            return False
        return any(known.is_removed(x) and known.unit(x) == over for x in taken)
