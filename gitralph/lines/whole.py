"""Reads a text as the first text with some whole pieces on it.

HEAD after a session's commit is such a text, and so is what a checkout or a stash leaves. Where such a
reading gives exactly the text, each line is known to be the line of its piece, and no alignment can mistake
it. This module must not know owners.
"""

from __future__ import annotations

from collections.abc import Iterable

from gitralph.lines.materialize import flags_of, states, switch, text_of
from gitralph.lines.text import difference, split_lines
from gitralph.lines.weave import BASE, NEWLINE, Weave

_OPEN = 24
"""So many pieces that no telling line reveals are tried, each O(lines)."""
_WORK = 1_000_000
"""At most so many lines are looked at for these pieces."""


class Whole:
    """What a text consists of, as far as whole pieces go."""

    def __init__(self, weave: Weave, text: bytes) -> None:
        self.weave, self.text = weave, text
        self.lines = set(split_lines(text))
        self.units, self.open = self._told()
        self.flags = flags_of(weave, self.units)
        self.shown = states(weave, self.flags)
        self.off = self._distance()
        """How far the text is from these pieces; 0 where it is made of them alone."""
        if self.off:
            self._try_open()

    def _distance(self) -> int:
        made = text_of(self.weave, self.weave.order(), self.shown)
        return 0 if made == self.text else 1 + sum(each.total() for each in difference(made, self.text))

    def _told(self) -> tuple[set[int], list[int]]:
        """The pieces that lines of single occurrence reveal, and those that no line reveals."""
        weave = self.weave
        found, quiet = set[int](), list[int]()
        for number in range(1, len(weave.units)):
            told = [x for x in self._births(number) if weave.is_only(x)]
            if any(weave.content(x) in self.lines for x in told):
                found.add(number)
            elif not told:
                quiet.append(number)
        todo = list(found)
        while todo:  # a piece counts too if a found piece took its lines away, though none of them shows
            for hunk in weave.units[todo.pop()].hunks:
                for line in weave.hunks[hunk].dels:
                    below = weave.hunks[weave.birth[line]].unit
                    if line > NEWLINE and below != BASE and below not in found:
                        found.add(below)
                        todo.append(below)
        still_open = list[int]()
        for number in quiet:
            told = [x for x in self._gone(number) if weave.is_only(x)]
            if number in found:
                continue
            if told and not any(weave.content(x) in self.lines for x in told):
                found.add(number)
            elif not told:
                still_open.append(number)
        return found, still_open

    def _births(self, unit: int) -> Iterable[int]:
        return (x for n in self.weave.units[unit].hunks for x in self.weave.hunks[n].births)

    def _gone(self, unit: int) -> Iterable[int]:
        return (x for n in self.weave.units[unit].hunks for x in self.weave.hunks[n].dels)

    def _try_open(self) -> None:
        """Put in and take out unrevealed pieces as long as the result comes nearer to the text."""
        weave = self.weave
        tries = self.open[-_OPEN:]
        if len(tries) * len(weave.line) > _WORK:
            return
        for number in (*tries, *reversed(tries)):
            before = self.flags[weave.units[number].hunks[0]]
            switch(weave, self.flags, number, 0 if before else 1)
            old, self.shown = self.shown, states(weave, self.flags)
            off = self._distance()
            if off < self.off:
                self.off = off
                if not off:
                    return
            else:
                switch(weave, self.flags, number, before)
                self.shown = old


def lines_of_whole(weave: Weave, text: bytes | None) -> list[int] | None:
    """Return the lines of a text that consists of whole pieces, None for any other; it is asked for gaps."""
    # a person's change nearly always has a line that never was there
    if not text or not all(map(weave.ids.__contains__, split_lines(text))):
        return None
    found = Whole(weave, text)
    return None if found.off else [line for line in weave.order() if found.shown[line]]
