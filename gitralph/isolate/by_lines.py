"""Answers by the lines alone where the weave cannot: only where each says itself whose it is.

The weave must know where every line stands; after a stash, a reset and a squash HEAD may hold a text that
fits no place of it. Then the owner's own edits are put onto HEAD hunk by hunk, as a rebase would, by a
three-way merge (S. Khanna, K. Kunal, B. Pierce, "A Formal Investigation of Diff3", 2007), and each line
that came or went must tell that it is the owner's: it stands once, nobody else ever wrote it, and the file
shows it or another's pending edit in its place. Must give no answer as soon as a merge conflicts or a
line leaves a doubt. Lines that say nothing, such as a brace, go with their hunk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from gitralph.isolate.api import Step, step_of
from gitralph.isolate.build import fold
from gitralph.isolate.fit import indices
from gitralph.isolate.linediff import line_hunks
from gitralph.isolate.lines import difference, ends_with_newline, is_telling, split_lines
from gitralph.isolate.weave import EXISTS, NEWLINE, Unit, Weave

Lines = list[bytes]
Counts = Mapping[bytes, int]
"""How often lines came (more than 0) or went."""

_LARGEST = 1 << 20
"""No second answer for larger files: they would be counted line by line, 0.2 s a MiB, to refuse after all."""


class Told(NamedTuple):
    """The text of a commit that the lines tell of, and the owners' units that are in it."""

    text: bytes
    taken: tuple[str, ...] = ()
    away: tuple[str, ...] = ()
    """Units without effect there: what git took away may come back."""


class Made(NamedTuple):
    """What a step did to the lines; `at` is its place among the steps."""

    at: int
    step: Step
    made: Counts

    @property
    def fresh(self) -> Lines:
        """The lines that it brought, without those that say nothing."""
        return [line for line, n in self.made.items() if n > 0 and is_telling(line)]


def by_lines(
    head: bytes | None,
    steps: Sequence[Step],
    worktree: bytes | None,
    committed: Collection[str],
    owners: Collection[str],
    follow: bool,
) -> Told | None:
    """Return HEAD with the owners' edits, or None where a line leaves a doubt.

    The arguments are those of `separate`. HEAD's own text says that nothing of theirs is left to commit.
    """
    if head is None or worktree is None or max(len(head), len(worktree)) > _LARGEST:
        return None
    if ends_with_newline(head) != ends_with_newline(worktree) or not steps:
        return None
    # What a person gave away, and what was taken back or restored, only the weave can read.
    if any(step.takes or step.undoes or step.restores for step in steps):
        return None
    case = _Case(steps, worktree, owners, committed, split_lines(head), split_lines(worktree))
    # A write from an old read stays refused: to commit the rest would bless what it threw away.
    if any(step.over for step in case.pending):
        return None
    text = case.put_on_head()
    if text is None:
        return None
    text = [line for line in text if not (follow and case.was_taken_out(line))]
    if not case.proves(text):
        return None
    if text == case.old:
        return Told(head)
    weave = fold(steps, worktree)
    known = indices(weave, committed)
    now = Counter(text)
    taken, away = list[str](), list[str]()
    for at, unit in enumerate(weave.units):
        if at not in known and unit.owner in owners and unit.owner is not None:
            (away if _is_away(weave, unit, now) else taken).append(unit.key)
    end = b"\n" if text and ends_with_newline(head) else b""
    return Told(b"\n".join(text) + end, tuple(taken), tuple(away))


def _is_away(weave: Weave, unit: Unit, now: Counter[bytes]) -> bool:
    """Tell whether a text shows nothing of what a unit did."""
    made = [weave.hunks[hunk] for hunk in unit.hunks]
    births = [weave.content(atom) for one in made for atom in one.births]
    if any(map(is_telling, births)):
        return not any(now[line] for line in births if is_telling(line))
    gone = [weave.content(atom) for one in made for atom in one.dels if atom not in (EXISTS, NEWLINE)]
    return any(now[line] for line in gone if is_telling(line))


class _Case:
    """HEAD and file with what happened to each line."""

    def __init__(
        self,
        steps: Sequence[Step],
        worktree: bytes,
        owners: Collection[str],
        committed: Collection[str],
        old: Lines,
        new: Lines,
    ) -> None:
        self.steps, self.owners, self.old, self.new = steps, frozenset(owners), old, new
        self.in_head, self.in_file = Counter(old), Counter(new)
        self.done = set(map(step_of, committed))
        self.pending = [step for step in steps if step.owner in owners and step.key not in self.done]
        self.changes: list[Made] = []
        self.of_line: dict[bytes, list[Made]] = {}
        for at, step in enumerate((*steps, Step("", None, steps[-1].after, worktree))):
            gone, made = difference(step.before, step.after)
            made.subtract(gone)
            change = Made(at, step, made)
            self.changes.append(change)
            for line in change.made:
                self.of_line.setdefault(line, []).append(change)
        mine = [change for change in self.changes if self._is_pending(change)]
        self.brought = {line for change in mine for line, n in change.made.items() if n > 0}

    def _is_pending(self, change: Made) -> bool:
        return any(change.step is step for step in self.pending)

    def _last(self, line: bytes) -> Made | None:
        return self.of_line[line][-1] if line in self.of_line else None

    # --- the commit ---

    def put_on_head(self) -> Lines | None:
        """Return HEAD with every hunk of the owners' of which it lacks something; None for a conflict."""
        text: Lines | None = self.old
        for change in self.changes:
            is_pending = self._is_pending(change)
            if change.step.owner not in self.owners or not self._waits(change.made, change.at, is_pending):
                continue
            before, after = split_lines(change.step.before), split_lines(change.step.after)
            for low, high, start, stop in line_hunks(before, after):
                made = _made(before[low:high], after[start:stop])
                if text is not None and self._waits(made, change.at, is_pending):
                    text = _merged(before, text, before[:low] + after[start:stop] + before[high:])
        return text

    def _waits(self, made: Counts, at: int, is_pending: bool) -> bool:
        """Tell whether the file has something of a change that HEAD lacks.

        Lines that say nothing count where there are no others.
        """
        telling = {line: n for line, n in made.items() if is_telling(line)}
        return any(
            (self.in_file[line] > self.in_head[line] or (is_pending and self._is_covered(line)))
            if n > 0
            else self.in_file[line] < self.in_head[line] and not self._is_over(line, at)
            for line, n in (telling or made).items()
        )

    def _is_over(self, line: bytes, at: int) -> bool:
        """Tell whether a line came back after a removal, and another session removed it last."""
        last = self.of_line[line][-1].step
        came_back = any(one.at > at and one.made[line] > 0 for one in self.of_line[line])
        return came_back and last.owner not in {*self.owners, None}

    def was_taken_out(self, line: bytes) -> bool:
        """Tell whether nobody's change removed a line of the owners' and put nothing in its place."""
        if self.in_file[line] or self.in_head[line] or not self._went_unseen(line):
            return False
        if not is_telling(line):
            return True
        return self._is_own(line) and not any(map(is_telling, self._came_for(line)))

    def _was_rewritten(self, line: bytes) -> bool:
        """Tell whether a text that nobody recorded and HEAD lacks stands in the place of a line."""
        came = self._came_for(line) if self._went_unseen(line) else []
        return any(is_telling(one) and self.in_file[one] > self.in_head[one] for one in came)

    def _went_unseen(self, line: bytes) -> bool:
        """Tell whether what happened to a line last was that nobody's change removed it."""
        last = self._last(line)
        return last is not None and last.step.owner is None and last.made[line] < 0

    def _came_for(self, line: bytes) -> Lines:
        """Return what the last change of a line put in its place."""
        step = self.of_line[line][-1].step
        before, after = split_lines(step.before), split_lines(step.after)
        for low, high, start, stop in line_hunks(before, after):
            if line in before[low:high]:
                return after[start:stop]
        return []

    # --- the proof ---

    def proves(self, text: Lines) -> bool:
        """Tell whether each line that differs from HEAD is the owners', and nothing of theirs is left out."""
        now = Counter(text)
        lines = {*self.old, *self.new, *text, *self.of_line}
        if any(self._is_doubtful(line, now) for line in lines if is_telling(line)):
            return False
        # A line that moved did not come or go: whose move it was the counts do not tell.
        return all(
            _in_one_order(*pair) for pair in ((self.old, self.new), (text, self.new), (text, self.old))
        )

    def _is_doubtful(self, line: bytes, now: Counter[bytes]) -> bool:
        was, comes, stands = self.in_head[line], now[line], self.in_file[line]
        if not was and not comes and not stands:
            if self._went_by_owner(line) and any(now[one] for one in self._replaced_unseen(line)):
                return True  # whoever removed the line removed what it stands for
            return line in self.brought and (self._is_covered(line) or self._was_rewritten(line))
        if was == comes == stands:
            return False
        if max(was, comes, stands) > 1:
            return True
        if was == comes:  # it is left out
            return self._is_own(line) if stands else self._went_by_owner(line)
        if comes:
            return not self._is_own(line) or not (stands or self._is_covered(line))
        return bool(stands) or not self._went_by_owner(line)

    def _is_own(self, line: bytes) -> bool:
        """Tell whether the owners wrote a line first, no other session ever did, and none took it since."""
        changes = self.of_line.get(line, [])
        names = {change.step.owner for change in changes if change.made[line] > 0}
        if not changes or changes[0].step.owner not in self.owners or not names <= {*self.owners, None}:
            return False
        by_session = [change for change in changes if change.step.owner is not None]
        return any(
            change.made[line] > 0 and change.step.owner in self.owners for change in by_session[-1:]
        ) or self._is_covered(line)

    def _went_by_owner(self, line: bytes) -> bool:
        last = self._last(line)
        return last is not None and last.step.owner in self.owners and last.made[line] < 0

    def _replaced_unseen(self, line: bytes) -> Lines:
        """Return the lines of HEAD, gone from the file, in the place of which nobody's change put a line."""
        born = next((one for one in reversed(self.of_line[line]) if one.made[line] > 0), None)
        if born is None or born.step.owner is not None:
            return []
        before, after = split_lines(born.step.before), split_lines(born.step.after)
        for low, high, start, stop in line_hunks(before, after):
            if line in after[start:stop]:
                gone = filter(is_telling, before[low:high])
                return [one for one in gone if self.in_head[one] and not self.in_file[one]]
        return []

    def _is_covered(self, line: bytes) -> bool:
        """Tell whether another session's edit that HEAD lacks took a line of the owners' away and stands."""
        changes = self.of_line.get(line, [])
        writers = {change.step.owner for change in changes if change.made[line] > 0}
        if self.in_head[line] or not writers & self.owners:
            return False
        last = changes[-1]
        if last.made[line] > 0 or last.step.owner in {*self.owners, None}:
            return False
        if last.fresh:
            return self._is_replaced(line, set())
        # No removal waits that a commit took, nor one before an edit that started from just what HEAD held.
        return last.step.key not in self.done and not any(step.clean for step in self.steps[last.at + 1 :])

    def _is_replaced(self, line: bytes, asked: set[bytes]) -> bool:
        """Tell whether what came in the place of a line, at first or second hand, is in the file only."""
        asked.add(line)
        last = self._last(line)
        return (
            last is not None
            and last.made[line] < 0
            and not self._takes_back(last, line)
            and any(
                self.in_file[one] > self.in_head[one] or (one not in asked and self._is_replaced(one, asked))
                for one in last.fresh
            )
        )

    def _takes_back(self, change: Made, line: bytes) -> bool:
        """Tell whether nobody's change put back all lines of HEAD that a line had come in the place of."""
        born = next((one for one in reversed(self.of_line[line]) if one.made[line] > 0), None)
        if change.step.owner is not None or born is None:
            return False
        old = [one for one, n in born.made.items() if n < 0 and is_telling(one) and self.in_head[one]]
        return bool(old) and all(change.made.get(one, 0) > 0 for one in old)


def _in_one_order(one: Lines, other: Lines) -> bool:
    """Tell whether the lines that are single in both texts have the same order."""
    counts = Counter(one), Counter(other)
    both = {line for line in counts[0] if counts[0][line] == counts[1][line] == 1}
    return [line for line in one if line in both] == [line for line in other if line in both]


def _merged(base: Lines, ours: Lines, theirs: Lines) -> Lines | None:
    """Return `ours` with what leads from `base` to `theirs`; None where both changed the same place."""
    if base == ours:
        return theirs
    mine = line_hunks(base, ours)
    out, at, grown, passed = Lines(), 0, 0, 0
    for low, high, start, stop in line_hunks(base, theirs):
        while passed < len(mine) and mine[passed][1] < low:
            a, b, c, d = mine[passed]
            grown, passed = grown + (d - c) - (b - a), passed + 1
        if passed < len(mine) and mine[passed][0] <= high:
            a, b, c, d = mine[passed]
            if (a, b) == (low, high) and ours[c:d] == theirs[start:stop]:
                continue  # the same on both sides
            return None
        out += ours[at : low + grown] + theirs[start:stop]
        at = high + grown
    return out + ours[at:]


def _made(old: Lines, new: Lines) -> Counts:
    made = Counter(new)
    made.subtract(old)
    return {line: n for line, n in made.items() if n}
