"""What a file is with some of its steps alone, and which other steps these need; pure.

The weave knows every line that ever stood. So a step finds its place although lines of other steps around it
are missing.

A step needs another one in four cases. It removed lines that the other brought. It brought back lines that
the other removed. It stands inside lines that the other brought. Or only the other removed a line without
which the step has one place to go, and with which it has two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from gitralph.lines.fold import fold
from gitralph.lines.materialize import text_of
from gitralph.lines.terms import Step
from gitralph.lines.text import split_lines
from gitralph.lines.weave import BASE, END, EXISTS, NEWLINE, START, Hunk, Weave


class Alone(NamedTuple):
    """The text after a step, made of the wanted steps up to it, and the steps that it needs and lacks."""

    key: str
    text: bytes | None
    needs: tuple[str, ...] = ()


def alone(steps: Sequence[Step], wanted: Collection[str]) -> Iterator[Alone]:
    """Return the text after each wanted step, made of the wanted steps up to it.

    Every step begins where the one before it ended. A step that lacks what it needs is applied as if it had
    that.
    """
    if not steps:
        return

    weave = fold(steps, steps[-1].after)
    made: list[list[int]] = [[] for _ in weave.steps]
    for number, hunk in enumerate(weave.hunks[1:], 1):
        made[weave.units[hunk.unit].step].append(number)
    told = {step.key: step for step in steps}
    standing, before = _Standing(weave), steps[0].before
    for at, key in enumerate(weave.steps):
        if key not in wanted:
            continue
        found = dict.fromkeys(need for number in made[at] for need in standing.needs(number, made[at]))
        standing.take(made[at])
        text = text_of(weave, weave.order(), standing.shows)
        if found or not _is_same_change(told[key], before, text):
            others = [one for one in weave.steps[:at] if one not in wanted]
            found = dict.fromkeys([one for one in found if one not in wanted] or others)
        yield Alone(key, text, tuple(found))
        before = text


def _is_same_change(step: Step, before: bytes | None, after: bytes | None) -> bool:
    """Tell whether the same lines come and go as in the step itself. This check does not use the weave."""
    pairs = ((step.before, step.after), (before, after))
    one, other = ((Counter(split_lines(old)), Counter(split_lines(new))) for old, new in pairs)
    return one[1] - one[0] == other[1] - other[0] and one[0] - one[1] == other[0] - other[1]


class _Standing:
    """Which lines stand when only some steps count."""

    def __init__(self, weave: Weave) -> None:
        self.weave = weave
        self.shows = bytearray(birth == BASE for birth in weave.birth)
        for atom in (EXISTS, NEWLINE):
            ops = weave.ops[atom]
            self.shows[atom] = not ops or ops[0] != BASE << 1
        self.came = bytearray(self.shows)
        """The lines that stood at any time."""

    def take(self, hunks: Sequence[int]) -> None:
        """Count these hunks from now on."""
        for number in hunks:
            made = self.weave.hunks[number]
            for atom in made.dels:
                self.shows[atom] = 0
            for atom in (*made.births, *made.undels):
                self.shows[atom] = self.came[atom] = 1

    def needs(self, number: int, step: Sequence[int]) -> Iterator[str]:
        """The steps that a hunk needs and lacks; ``step`` are all hunks of the hunk's own step."""
        weave, made = self.weave, self.weave.hunks[number]
        is_new = any(EXISTS in weave.hunks[one].undels for one in step)
        if not self.shows[EXISTS] and not is_new:
            yield self._last(EXISTS, number)
        for atom in made.dels:
            if atom != NEWLINE and not self.shows[atom]:
                yield self._last(atom, number)
        for atom in made.undels:
            if atom > NEWLINE and not self.came[atom]:
                yield self._step(weave.birth[atom])
            if atom != NEWLINE and self.shows[atom]:
                yield self._last(atom, number)
        if EXISTS in made.dels:
            gone = {atom for one in step for atom in weave.hunks[one].dels}
            for atom in weave.order():
                if self.shows[atom] and atom not in gone:
                    yield self._last(atom, number)
        elif not is_new:
            yield from self._place(number, made)

    def _place(self, number: int, made: Hunk) -> Iterator[str]:
        """The steps that are missing until a hunk has exactly one place where it can go."""
        weave = self.weave
        gone = [atom for atom in made.dels if atom > NEWLINE]
        if gone:
            # The lines that it removed say where it is.
            for atom in weave.between(gone[0], gone[-1]) if len(gone) > 1 else ():
                if self.shows[atom] and atom not in made.dels:
                    yield self._last(atom, number)
            return

        fresh = {atom for atom in (*made.births, *made.undels) if atom > NEWLINE}
        if not fresh:
            return
        sides = [atom for atom in (made.left, made.right) if atom in (START, END) or self.shows[atom]]
        if not sides:
            yield from (self._last(atom, number) for atom in (made.left, made.right))
        rim = made.left
        for atom in weave.between(made.left, made.right):
            if atom in fresh:
                rim = made.right
            elif self.shows[atom] and (rim in (START, END) or weave.birth[rim] != self._taker(atom, number)):
                # Only a line that was replaced stays with what replaced it.
                yield self._last(atom, number)

    def _taker(self, atom: int, number: int) -> int:
        before = (op >> 1 for op in reversed(self.weave.ops[atom] or ()) if op >> 1 < number)
        return next(before, self.weave.birth[atom])

    def _last(self, atom: int, number: int) -> str:
        """The step that had made a line what it was when a hunk was made."""
        return self._step(self._taker(atom, number))

    def _step(self, hunk: int) -> str:
        return self.weave.steps[self.weave.unit_of(hunk).step]
