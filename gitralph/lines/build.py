"""Folds recorded steps into a weave: diffs, moves, returning lines, units.

Each step is read against the text before it and against nothing later. So replaying a journal gives the same
units with the same names. This module must not look at HEAD or at commits.
"""

from __future__ import annotations

from itertools import groupby

from gitralph.lines.linediff import AROUND, Range, hunks, paired, parted
from gitralph.lines.moves import Surroundings, may_return, origins, returning
from gitralph.lines.place import birthplace
from gitralph.lines.text import common_lines, complete, ends_with_newline
from gitralph.lines.weave import BASE, END, EXISTS, NEWLINE, START, Hunk, Unit, Weave
from gitralph.lines.whole import lines_of_whole


class Folding:
    """One step on its way into the weave."""

    def __init__(self, weave: Weave, key: str, owner: str | None, named: int = 0) -> None:
        self.weave = weave
        self.key = key
        self.owner = owner
        self.named = named
        """How many units of the same step have their names already."""
        self.first = len(weave.hunks)
        self.joined: list[int] = []
        """For each new hunk the new hunk whose unit it shares."""

    def run(self, after: bytes | None, then: list[int] | None = None) -> None:
        """Fold in a text; `then` are the atoms of which it consists, where these are known."""
        weave = self.weave
        if after == weave.text:
            weave.steps.append(self.key)
            return
        then = self._known(after) if then is None else then
        # A diff would not do here. After `git stash pop` a brace or a blank line matches several old lines,
        # and a diff would give some of them to whoever popped.
        if then is not None:
            if self.owner is None and after in weave.known:
                weave.returns.append((self.first, weave.known[after]))
            self._return_to(then)
            self._join_moved_back(self._removers())
        else:
            self._change_to(after)
        self._rims(after)
        self._name_units()
        weave.text = after
        weave.steps.append(self.key)
        weave.known.setdefault(after, len(weave.hunks))

    def _change_to(self, after: bytes | None) -> None:
        """Put in what a diff with the current text finds."""
        weave = self.weave
        ranges, fresh = self._ranges(after)
        surroundings = Surroundings(weave, ranges, fresh)
        for _ in ranges:
            self._new_hunk()
        # Insert from the end, so that the indices of the ranges in front stay right. The operations of one
        # step are then not in the order of their hunks.
        for index in reversed(range(len(ranges))):
            hunk = self.first + index
            start, stop, low_new, high_new = ranges[index]
            new = fresh[low_new:high_new]
            self._splice(hunk, start, stop, new, surroundings)
        # A moved block is a removal and an insertion. To commit one without the other loses the text or
        # doubles it.
        self._moves(surroundings)

    def _known(self, after: bytes | None) -> list[int] | None:
        """Return the lines of an earlier text, or of a gap's that consists of whole pieces; else None."""
        weave = self.weave
        if after in weave.known:
            return weave.shown_at(weave.known[after])
        return lines_of_whole(weave, after) if self.owner is None else None

    def _return_to(self, then: list[int]) -> None:
        """Return to a text that the file had before: each of its lines is the line that stood there then.

        A stash, a checkout or an undo brings back several lines at once, also lines that say nothing by
        themselves, such as a brace. A diff would take some of these for new.
        """
        weave = self.weave
        shown = set(weave.shown)
        wanted = set(then)
        left, made = START, None
        for atom in [*(a for a in weave.order() if a in shown or a in wanted), END]:
            if atom == END or (atom in shown and atom in wanted):
                if made is not None:
                    made.right = atom
                left, made = atom, None
                continue
            if made is None:
                made = weave.hunks[self._new_hunk()]
                made.left = left
            back = atom in wanted
            weave.operate(atom, len(weave.hunks) - 1, back)
            (made.undels if back else made.dels).append(atom)
            weave.count[weave.line[atom]] += 1 if back else -1
        weave.shown = then

    def _new_hunk(self) -> int:
        self.weave.hunks.append(Hunk())
        self.joined.append(len(self.joined))
        return len(self.weave.hunks) - 1

    def _ranges(self, after: bytes | None) -> tuple[list[Range], list[int]]:
        """Diff a text against the current one; old ends are indices of visible lines."""
        weave = self.weave
        old, new = complete(weave.text), complete(after)
        head, tail = common_lines(old, new)
        start = old.count(b"\n", 0, head)
        stop = start + old.count(b"\n", head, len(old) - tail)
        around = [self.weave.line[atom] for atom in weave.shown[max(start - AROUND, 0) : start]]
        below = [self.weave.line[atom] for atom in weave.shown[stop : stop + AROUND]]
        window = [weave.line[atom] for atom in weave.shown[start:stop]]
        fresh = [weave.line_id(line) for line in new[head : len(new) - tail].split(b"\n")[:-1]]
        start, fresh = start - len(around), [*around, *fresh, *below]
        window = [*around, *window, *below]
        found = hunks(window, fresh, lambda line: weave.count[line] == 1)
        ranges = [(a + start, b + start, c, d) for a, b, c, d in found]
        # A session's edit has one intention and stays whole. A gap may be a formatter that ran over
        # everybody's lines.
        if self.owner is None:
            ranges = [piece for each in ranges for piece in self._around_kept(each, fresh)]
            ranges = [piece for each in ranges for piece in self._by_owner(each, fresh)]
        return ranges, fresh

    def _around_kept(self, each: Range, fresh: list[int]) -> list[Range]:
        """Split a hunk whose old lines all remain, each as often: the new lines stand around them.

        Example: a person adds lines before and behind the brace at the end of a session's block. The lines
        before the brace are within the block.
        """
        low_old, high_old, low_new, high_new = each
        old, new = (
            [self.weave.line[atom] for atom in self.weave.shown[low_old:high_old]],
            fresh[low_new:high_new],
        )
        there = set(old)
        if not old or [line for line in new if line in there] != old:
            return [each]
        kept = [low_new + at for at, line in enumerate(new) if line in there]
        rims = zip([low_new - 1, *kept], [*kept, high_new], strict=True)
        parts = [(low_old + at, low_old + at, above + 1, below) for at, (above, below) in enumerate(rims)]
        return [part for part in parts if part[2] < part[3]]

    def _by_owner(self, each: Range, fresh: list[int]) -> list[Range]:
        """Split a gap where it goes from one owner's lines to another's, as far as the lines pair.

        Examples: a formatter rewrites lines of two sessions at once; each session may take its own (see
        `follow`). A person corrects a session's last line and goes on with the lines of HEAD below it.
        """
        low_old, high_old, low_new, high_new = each
        weave = self.weave
        births = [weave.birth[atom] for atom in weave.shown[low_old:high_old]]
        makers = [(birth == BASE, weave.owner_of(birth)) for birth in births]
        if len(set(makers)) < 2 or low_new == high_new:
            return [each]
        old = [weave.content(atom) for atom in weave.shown[low_old:high_old]]
        new = [weave.texts[line] for line in fresh[low_new:high_new]]
        parts = paired(old, new)
        is_own = [owner is not None for _, owner in makers]
        cuts = [at for at in range(1, len(makers)) if is_own[at] != is_own[at - 1]]
        # where sessions' lines stand on both sides, either might be the rest of the other
        if len(parts) == 1 and len(cuts) == 1:
            parts = parted(old, new, cuts[0], is_own[0])
        out = list[Range]()
        for _, some in groupby(parts, lambda part: frozenset(makers[part[0] : part[1]])):
            first, *rest = some
            last = rest[-1] if rest else first
            out.append((low_old + first[0], low_old + last[1], low_new + first[2], low_new + last[3]))
        return out

    def _splice(self, hunk: int, start: int, stop: int, fresh: list[int], surroundings: Surroundings) -> None:
        """Put one hunk into the weave."""
        weave = self.weave
        removed = weave.shown[start:stop]
        left = weave.shown[start - 1] if start else START
        right = weave.shown[stop] if stop < len(weave.shown) else END
        made = weave.hunks[hunk]
        made.left, made.right = left, right
        gone = set(removed)
        # A line that was rewritten n times has n dead lines beside it, which are in nobody's way. Without
        # this check 4,000 rewrites took 7.2 s, four times as long as 2,000.
        dead: list[int] = []
        is_known = may_return(weave, fresh, surroundings)
        if not removed or is_known:
            dead = [atom for atom in weave.between(left, right) if atom not in gone]
        # Ask before anything is inserted: a returned line keeps its author, an inserted line gets a new one.
        back = returning(weave, dead, fresh, surroundings, self.owner is not None) if is_known else {}
        place = removed[-1] if removed else birthplace(weave, left, right, dead)
        self._delete(hunk, removed)
        weave.shown[start:stop] = self._grow(hunk, place, fresh, back)

    def _delete(self, hunk: int, removed: list[int]) -> None:
        weave = self.weave
        for atom in removed:
            weave.operate(atom, hunk, False)
            weave.count[weave.line[atom]] -= 1
        weave.hunks[hunk].dels = removed

    def _grow(self, hunk: int, place: int, fresh: list[int], back: dict[int, int]) -> list[int]:
        """Insert the new lines and return those that were there before; gives the new visible run."""
        weave = self.weave
        if back:
            place = weave.prev[back[min(back)]]
        made = weave.hunks[hunk]
        grown: list[int] = []
        for index, line in enumerate(fresh):
            atom = back.get(index)
            if atom is None:
                atom = weave.insert(place, line, hunk)
                made.births.append(atom)
            else:
                weave.operate(atom, hunk, True)
                made.undels.append(atom)
            weave.count[line] += 1
            grown.append(atom)
            place = atom
        return grown

    def _moves(self, surroundings: Surroundings) -> None:
        """Link lines that repeat older text. A move is one unit with the removal of what it moved."""
        weave = self.weave
        taken_by = self._removers()
        last = {weave.line[atom]: atom for atom in sorted(taken_by)}
        for at, made in enumerate(weave.hunks[self.first :]):
            for atom, origin in origins(weave, made.births, surroundings, last):
                weave.origin[atom] = origin
                if origin in taken_by:
                    self._join(at, taken_by[origin])
        self._join_moved_back(taken_by)

    def _removers(self) -> dict[int, int]:
        """Map each atom that this step removed to the hunk that removed it."""
        made = enumerate(self.weave.hunks[self.first :])
        return {atom: at for at, hunk in made for atom in hunk.dels}

    def _join_moved_back(self, taken_by: dict[int, int]) -> None:
        """Join a hunk that brought lines back with the hunk of this step that removed them elsewhere."""
        weave = self.weave
        for at, made in enumerate(weave.hunks[self.first :]):
            for atom in made.undels:
                for other in weave.seen[weave.line[atom]]:
                    if other in taken_by:
                        self._join(at, taken_by[other])

    def _root(self, index: int) -> int:
        while self.joined[index] != index:
            index = self.joined[index]
        return index

    def _join(self, one: int, other: int) -> None:
        low, high = sorted((self._root(one), self._root(other)))
        self.joined[high] = low

    def _rims(self, after: bytes | None) -> None:
        """Record creation, deletion, and whether the last line ends with a newline."""
        weave, count = self.weave, len(self.joined)
        if (weave.text is None) != (after is None):
            hunk = self.first if count else self._new_hunk()
            weave.operate(EXISTS, hunk, after is not None)
            made = weave.hunks[hunk]
            (made.undels if after is not None else made.dels).append(EXISTS)
            # A file is created or deleted as a whole: half of a deletion is a tree that nobody ever saw.
            for index in range(1, len(self.joined)):
                self._join(0, index)
        if after:
            self._newline(ends_with_newline(after), self.first + count - 1 if count else None)

    def _newline(self, is_complete: bool, last: int | None) -> None:
        weave = self.weave
        at_end = last is not None and weave.hunks[last].right == END
        # Whoever appends complete lines completes the file too, also where the newline before them is
        # another's and not committed yet.
        shared = at_end and is_complete and weave.ops[NEWLINE] is not None
        if is_complete == weave.visible(NEWLINE) and not shared:
            return
        hunk = last if last is not None and at_end else self._new_hunk()
        weave.operate(NEWLINE, hunk, is_complete)
        made = weave.hunks[hunk]
        (made.undels if is_complete else made.dels).append(NEWLINE)

    def _name_units(self) -> None:
        weave = self.weave
        named: dict[int, int] = {}
        for index in range(len(self.joined)):
            root = self._root(index)
            if root not in named:
                # A unit is named by the number of its hunk within the step. Journals on disk keep these
                # names, so a replay must always number hunks in this way.
                key = f"{self.key}.{self.named + len(named)}"
                named[root] = len(weave.units)
                weave.units.append(Unit(key, self.owner, len(weave.steps)))
            weave.units[named[root]].hunks.append(self.first + index)
            weave.hunks[self.first + index].unit = named[root]
