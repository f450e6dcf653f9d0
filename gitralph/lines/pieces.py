"""Every line that ever stood at a path: is it in HEAD, is it on disk, and whose is that.

The weave holds the lines and what each step did with them. Here each change gets an owner, and HEAD gets its
place. A recorded step is credited with what it does, but who only brings back what another wrote is not,
unless HEAD had held that. A gap is credited with what is new alone. So names survive a stash and its pop, a
checkout and an undo, and nothing needs to know that git did it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from gitralph.lines.fold import fold
from gitralph.lines.place_head import place_head
from gitralph.lines.terms import Step
from gitralph.lines.text import ends_with_newline, is_telling, words
from gitralph.lines.weave import BASE, EXISTS, NEWLINE, Hunk, Unit, Weave

Held = Callable[[str], Container[bytes]]
"""The lines that HEAD had by the time of a step."""

Heads = Callable[[], Collection[bytes | None]]
"""The texts that HEAD had when steps were recorded."""

Change = tuple[int, bool, int]
"""A hunk, whether the line stands from there on, and the hunk that is credited with that."""


def _nothing(_: str) -> Container[bytes]:
    return ()


@dataclass(frozen=True)
class Pieces:
    """All lines of a path; a line is the number of an atom of the weave."""

    weave: Weave
    head: bytes | None
    disk: bytes | None
    in_head: bytearray
    changes: dict[int, list[Change]]
    """What happened to a line after it was brought."""
    foreign: int
    """The hunk of the lines that HEAD has and no step knows."""
    heads: Heads
    by_unit: dict[int, list[int]] = field(default_factory=dict)
    """The added and removed lines of each piece."""

    @cached_property
    def agreed(self) -> int:
        """So many hunks had been made when HEAD last was a text that the file had."""
        return max(self.weave.known.get(text, 0) for text in (self.head, *self.heads()))

    def on_disk(self, line: int) -> bool:
        changes = self.changes.get(line)
        return changes[-1][1] if changes else True

    def credit(self, line: int) -> int:
        """The hunk that made a line's present state."""
        changes = self.changes.get(line)
        return changes[-1][2] if changes else self.weave.birth[line]

    def unit(self, line: int) -> int:
        """The piece of a line's present state."""
        return self.weave.hunks[self.credit(line)].unit

    def owner(self, line: int) -> str | None:
        return self.weave.units[self.unit(line)].owner

    def brought_by(self, line: int) -> int:
        """The piece that brought a line to where it stands, or stood last."""
        return self.weave.hunks[self._stood(line)[2]].unit

    def born_by(self, line: int) -> int:
        """The piece that brought a line first."""
        return self.weave.hunks[self.weave.birth[line]].unit

    def last_stood(self, line: int) -> int:
        """The hunk since which a line stands, or stood last."""
        return self._stood(line)[0]

    def _stood(self, line: int) -> Change:
        birth = self.weave.birth[line]
        stood = (change for change in reversed(self.changes.get(line, ())) if change[1])
        return next(stood, (birth, True, birth))

    def is_added(self, line: int) -> bool:
        return not self.in_head[line] and self.on_disk(line)

    def is_removed(self, line: int) -> bool:
        return bool(self.in_head[line]) and not self.on_disk(line)

    def is_settled(self, line: int) -> bool:
        """Tell whether a line that is gone was gone already in a text that HEAD had."""
        return self.credit(line) < self.agreed and not self.on_disk(line)

    def is_history(self, line: int) -> bool:
        return not self.in_head[line] and not self.on_disk(line)

    def differing(self) -> Iterator[int]:
        """The lines that HEAD and the file do not share."""
        for lines in self.by_unit.values():
            yield from lines

    def was(self, line: int, hunks: int) -> Change | None:
        """The state of a line when there were so many hunks, None before it was brought."""
        return _was(self.weave, self.changes, line, hunks)

    def births(self, unit: int) -> list[int]:
        """The lines that a piece brought."""
        return self._brought[unit]

    def taken(self, unit: int) -> list[int]:
        """The lines that a piece took away."""
        return self._took[unit]

    # A piece is asked once for each of its lines: 4,000 equal ones took 1.4 s, and now 0.10.
    @cached_property
    def _brought(self) -> list[list[int]]:
        hunks = self.weave.hunks
        return [[line for n in unit.hunks for line in hunks[n].births] for unit in self.weave.units]

    @cached_property
    def _took(self) -> list[list[int]]:
        hunks = self.weave.hunks
        return [[x for n in unit.hunks for x in hunks[n].dels if x > NEWLINE] for unit in self.weave.units]

    def words(self, lines: Sequence[int]) -> set[bytes]:
        return {word for line in lines if line > NEWLINE for word in words(self.weave.content(line))}

    def is_replaced_in_head(self, line: int) -> bool:
        """Tell whether HEAD has something telling of what was put in a line's place, at any time."""
        return self._went_by(line, self._leads, self.last_stood(line))

    def _went_by(self, line: int, hunks: bytearray, since: int = 0) -> bool:
        changes = self.changes.get(line, ())
        return any(hunks[number] for number, stands, _ in changes if not stands and number >= since)

    @cached_property
    def _leads(self) -> bytearray:
        """Per hunk whether HEAD has something of what it brought, or of what replaced that.

        Asked line by line, 300 rewritings of one line took four times as long as 150.
        """
        hunks = self.weave.hunks
        found = bytearray(len(hunks))
        for number in range(len(hunks) - 1, BASE, -1):
            found[number] = any(
                (self.in_head[x] and self.says(x)) or self._went_by(x, found) for x in hunks[number].births
            )
        return found

    def is_only(self, line: int, others: int = 0) -> bool:
        """Tell whether a line says something that no other line ever said, but for so many."""
        return self.says(line) and len(self.weave.seen[self.weave.line[line]]) <= 1 + others

    def says(self, line: int) -> bool:
        """Tell whether a line says something that is hardly anybody else's."""
        return line > NEWLINE and is_telling(self.weave.content(line))


def pieces(
    head: bytes | None,
    disk: bytes | None,
    steps: Sequence[Step],
    held: Held = _nothing,
    heads: Heads = tuple,
    *,
    exists: bool = True,
) -> Pieces:
    """Read the steps of a path, and place HEAD among its lines; not `exists`: HEAD has them elsewhere."""
    weave = fold(steps, disk)
    changes = _Credits(weave, held).run()
    foreign = len(weave.hunks)
    made = Hunk()
    made.unit = len(weave.units)
    weave.hunks.append(made)
    in_head = place_head(weave, head, foreign)
    weave.units.append(Unit("", None, -1))
    weave.units[made.unit].hunks.append(foreign)
    for line in made.births:
        changes[line] = [(foreign, False, foreign)]
    in_head[EXISTS] = head is not None and exists
    known = Pieces(weave, head, disk, in_head, changes, foreign, heads)
    in_head[NEWLINE] = ends_with_newline(head) if head else known.on_disk(NEWLINE)
    for line in (EXISTS, NEWLINE, *weave.order()):
        if not (in_head[line] and line not in changes) and bool(in_head[line]) != known.on_disk(line):
            known.by_unit.setdefault(known.unit(line), []).append(line)
    return known


def _was(weave: Weave, changes: dict[int, list[Change]], line: int, hunks: int) -> Change | None:
    birth = weave.birth[line]
    if birth >= hunks:
        return None
    for change in reversed(changes.get(line, ())):
        if change[0] < hunks:
            return change
    return birth, True, birth


class _Credits:
    """Goes through the hunks of a weave in their order and says who is credited with each change."""

    def __init__(self, weave: Weave, held: Held) -> None:
        self.weave, self.held = weave, held
        self.changes: dict[int, list[Change]] = {}
        self.takers: dict[int, dict[int, None]] = {}
        """Per line the hunks that took it away and brought something, the last one last."""
        self.returned = dict(weave.returns)
        for line in (EXISTS, NEWLINE):
            ops = weave.ops[line]
            if ops and ops[0] == BASE << 1:
                self.changes[line] = [(BASE, False, BASE)]

    def run(self) -> dict[int, list[Change]]:
        weave, at = self.weave, 1
        while at < len(weave.hunks):
            step, first = weave.unit_of(at).step, at
            while at < len(weave.hunks) and weave.unit_of(at).step == step:
                at += 1
            if weave.owner_of(first) is None:
                self._gap(first, at)
            else:
                self._record(first, at, weave.steps[step])
        return self.changes

    def _visible(self, line: int) -> bool:
        changes = self.changes.get(line)
        return changes[-1][1] if changes else True

    def _set(self, line: int, hunk: int, stands: bool, credit: int) -> None:
        self.changes.setdefault(line, []).append((hunk, stands, credit))
        if not stands and self.weave.hunks[credit].births:
            takers = self.takers.setdefault(line, {})
            takers.pop(credit, None)
            takers[credit] = None

    def _stood_by(self, line: int) -> int:
        """The hunk that was credited with a line when it stood last."""
        stood = (change[2] for change in reversed(self.changes.get(line, ())) if change[1])
        return next(stood, self.weave.birth[line])

    def _record(self, first: int, last: int, key: str) -> None:
        weave = self.weave
        back = {line for n in range(first, last) for line in weave.hunks[n].undels}
        for n in range(first, last):
            made = weave.hunks[n]
            for line in made.dels:
                self._set(line, n, False, self._was_taken_by(line, back, key) or n)
            for line in made.undels:
                credit = self._stood_by(line)
                self._set(line, n, True, n if line <= NEWLINE or self._was_held(credit, key) else credit)

    def _was_taken_by(self, line: int, back: set[int], key: str) -> int | None:
        """The hunk that took a line away before, if what it had brought comes back as a whole."""
        for credit in reversed(self.takers.get(line, {})):
            births = self.weave.hunks[credit].births
            if back.issuperset(births) and not self._was_held(credit, key):
                return credit
        return None

    def _was_held(self, hunk: int, key: str) -> bool:
        """Tell whether HEAD had what a hunk brought, by the time of a step."""
        if hunk == BASE:
            return True
        lines = [self.weave.content(line) for line in self.weave.hunks[hunk].births if line > NEWLINE]
        held = self.held(key) if lines else ()
        return any(line in held for line in lines if is_telling(line))

    def _gap(self, first: int, last: int) -> None:
        weave, then = self.weave, self.returned.get(first)
        numbers = range(first, last)
        for n in numbers:
            for line, stands in (
                *((x, False) for x in weave.hunks[n].dels),
                *((x, True) for x in weave.hunks[n].undels),
            ):
                was = None if then is None else _was(weave, self.changes, line, then)
                if was is not None and was[1] == stands:
                    self._set(line, n, stands, was[2])
                else:
                    self._set(line, n, stands, self._stood_by(line) if stands else n)
        if then is not None:
            self._as_it_was(first, then)
            return
        for n in numbers:
            self._took_the_rest(n, weave.hunks[n])
            self._did_again(n, weave.hunks[n])

    def _as_it_was(self, first: int, then: int) -> None:
        """Where a text is back, a line that is gone now as it was then is whose it was then."""
        for line, changes in self.changes.items():
            at, stands, credit = changes[-1]
            was = _was(self.weave, self.changes, line, then) if then <= at < first else None
            if was is not None and not stands and not was[1] and was[2] != credit:
                changes.append((first, stands, was[2]))

    def _took_the_rest(self, number: int, gap: Hunk) -> None:
        """What a gap brings back only in part it took the rest of away itself."""
        for line in gap.undels if gap.births else ():
            killers = [change[0] for change in self.changes.get(line, ()) if not change[1]]
            for other in self.weave.hunks[killers[-1]].dels if killers else ():
                if other > NEWLINE and not self._visible(other) and other not in gap.dels:
                    self._set(other, number, False, number)

    def _did_again(self, number: int, gap: Hunk) -> None:
        """What a gap takes away as a record did, and with all that it put there, is that record's."""
        again = set(gap.dels)
        for line in gap.dels:
            changes = self.changes[line]
            before = [c for _, stands, c in changes[:-1] if not stands and self.weave.owner_of(c) is not None]
            if before:
                record = self.weave.hunks[before[-1]]
                if EXISTS in again and EXISTS not in record.dels:
                    continue  # a file that goes takes its lines along, whoever had taken them before
                is_there = all(map(self._visible, record.births)) if record.births else not gap.births
                rest = [x for x in record.dels if x not in again]
                if is_there and all(not self._visible(x) and self._credit(x) == before[-1] for x in rest):
                    changes[-1] = (number, False, before[-1])

    def _credit(self, line: int) -> int:
        changes = self.changes.get(line)
        return changes[-1][2] if changes else self.weave.birth[line]
