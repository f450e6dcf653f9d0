"""What happened to single lines, step by step: how often each came and went, and in whose place.

Lines are told apart by their bytes alone, so that an answer of the weave can be looked at in a way that
shares nothing with it. Must ask neither the weave nor HEAD.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from gitralph.isolate.api import Step
from gitralph.isolate.linediff import line_hunks
from gitralph.isolate.lines import (
    common_lines,
    complete,
    difference,
    has_words,
    is_telling,
    split_lines,
    words,
)

Changes = Sequence[tuple[Step, int]]
"""Steps that changed how often a line stands, in their order, with how often it came or went."""

_DEPTH = 20
"""So many replacements of replacements are followed."""


class Lines(list[bytes]):
    """The lines of one side of a hunk that say anything, each once."""

    def __init__(self, lines: Collection[bytes], others: Collection[bytes]) -> None:
        super().__init__(line for line in dict.fromkeys(lines) if line not in others and has_words(line))
        self._by_word: dict[bytes, list[bytes]] | None = None

    def with_word(self, word: bytes) -> Sequence[bytes]:
        """Return those that have a word."""
        # By an index: each line of a block asks for its own, and 1,000 lines rewritten five times took 7 s.
        if self._by_word is None:
            self._by_word = {}
            for one in self:
                for each in set(words(one)):
                    self._by_word.setdefault(each, []).append(one)
        return self._by_word.get(word, ())

    def alike(self, line: bytes) -> list[bytes]:
        """Return those that share a word with a line; all where none does."""
        found = (one for word in words(line) for one in self.with_word(word))
        return list(dict.fromkeys(found)) or list(self)


class Exchange(NamedTuple):
    """What went and what came in one place, but for what is on both sides."""

    gone: Lines
    came: Lines


_NOTHING = Exchange(Lines((), ()), Lines((), ()))


def exchanges(step: Step) -> dict[bytes, Exchange]:
    """Return for each line that a step brought or took the first place where it did."""
    before, after = complete(step.before), complete(step.after)
    head, tail = common_lines(before, after)
    old = split_lines(before[head : len(before) - tail])
    new = split_lines(after[head : len(after) - tail])
    found: dict[bytes, Exchange] = {}
    for low, high, start, stop in line_hunks(old, new):
        gone, came = dict.fromkeys(old[low:high]), dict.fromkeys(new[start:stop])
        made = Exchange(Lines(gone, came), Lines(came, gone))
        for line in (*gone, *came):
            found.setdefault(line, made)
    return found


class LineHistory(dict[bytes, list[tuple[Step, int]]]):
    """The changes of each line that any step or what came after the last one changed."""

    def __init__(self, steps: Sequence[Step], worktree: bytes | None) -> None:
        super().__init__()
        end = [Step("", None, steps[-1].after, worktree)] if steps else []
        self.steps = (*steps, *end)
        self._exchanges: dict[int, dict[bytes, Exchange]] = {}
        self._telling: dict[bytes, bool] = {}
        self._first: dict[bytes, str | None] | None = None
        for step in self.steps:
            gone, came = difference(step.before, step.after)
            for line in gone.keys() | came.keys():
                self.setdefault(line, []).append((step, came[line] - gone[line]))

    def exchanged(self, step: Step, line: bytes) -> Exchange:
        """Return what else went and what came where a step of these brought or took a line."""
        if id(step) not in self._exchanges:
            self._exchanges[id(step)] = exchanges(step)
        return self._exchanges[id(step)].get(line, _NOTHING)

    def is_telling(self, line: bytes) -> bool:
        """Tell whether a line is hardly anybody else's (see `lines.is_telling`)."""
        if line not in self._telling:
            self._telling[line] = is_telling(line)
        return self._telling[line]

    def first_writer(self, word: bytes) -> str | None:
        """Return who brought a word that was not in the lines he replaced; None: nobody, or an older one."""
        if self._first is None:
            self._first = {}
            for step in self.steps:
                gone, came = difference(step.before, step.after)
                old = {one for line in gone for one in words(line)}
                for one in {one for line in came for one in words(line)} - old:
                    self._first.setdefault(one, step.owner)
        return self._first.get(word)

    def stood_for(self, line: bytes) -> set[bytes]:
        """Return what a line came in the place of, at first or second hand, whoever wrote it."""
        asked, todo = {line}, [line]
        while todo and len(asked) < _DEPTH:
            one = todo.pop()
            came = [step for step, change in self.get(one, ()) if change > 0]
            earlier = {other for step in came for other in self.exchanged(step, one).gone.alike(one)} - asked
            earlier = set(filter(self.is_telling, earlier))
            asked |= earlier
            todo += earlier
        return asked - {line}

    def became(self, line: bytes) -> set[bytes]:
        """Return what was written in the place of a line, and in the place of that, whoever wrote it."""
        found, todo = set[bytes](), [line]
        while todo and len(found) < _DEPTH:
            one = todo.pop()
            for step in [step for step, change in self.get(one, ()) if change < 0][-1:]:
                fresh = set(filter(self.is_telling, self.exchanged(step, one).came.alike(one))) - found
                # what stood there from the start was put back in that place, not written
                fresh = {other for other in fresh if self.get(other, ((step, 1),))[0][1] > 0}
                found |= fresh
                todo += fresh
        return found
