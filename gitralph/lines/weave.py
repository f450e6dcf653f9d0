"""The weave: every line that any recorded state of a path ever held, in one order.

An atom is one such line. It is inserted once; later hunks delete it and return it any number of times. The
text of any set of units is what their operations alone leave visible, so the order of commits cannot matter.
This module must not know which units are committed: units and their names depend on earlier steps only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from gitralph.lines.text import ends_with_newline, is_telling, split_lines

EXISTS, NEWLINE, START, END = range(4)
"""Atoms that are no lines: the file is there, its last line is complete, and the two rims."""

BASE = 0
"""The hunk and unit that hold the first known text; they are part of every commit."""


class Hunk:
    """The operations of one step in one place."""

    __slots__ = ("assigned", "births", "dels", "left", "right", "undels", "unit")

    def __init__(self) -> None:
        self.unit = BASE
        self.births: list[int] = []
        self.dels: list[int] = []
        self.undels: list[int] = []
        self.left = START
        self.right = END
        self.assigned = False
        """True for lines that follow no other line.

        A person gave them to the owner or left them to nobody, or a record of nobody's offers them.
        """

    def touched(self) -> list[int]:
        """Return every atom on which this hunk has an operation."""
        return self.births + self.dels + self.undels


class Unit:
    """What is committed or left together: the smallest part of a commit."""

    __slots__ = ("hunks", "key", "owner", "step")

    def __init__(self, key: str, owner: str | None, step: int) -> None:
        self.key = key
        self.owner = owner
        self.step = step
        self.hunks: list[int] = []


class Seen:
    """Maps a line id to all atoms with this content, in the order of their insertion."""

    def __init__(self, first: Sequence[int], kinds: int) -> None:
        self._first = first
        """The line ids of the first text: those of atom 4, atom 5 and so on."""
        self._kinds = kinds
        self._of_first: dict[int, list[int]] | None = None
        self._later: dict[int, list[int]] = {}

    def add(self, line: int, atom: int) -> None:
        """Note an atom that was inserted after the first text."""
        self._later.setdefault(line, []).append(atom)

    def __getitem__(self, line: int) -> Sequence[int]:
        later = self._later.get(line, [])
        return [*self._in_first(line), *later] if line < self._kinds else later

    def _in_first(self, line: int) -> Sequence[int]:
        # A file whose lines are all different has equal numbers for lines and atoms. That saves a million
        # lists.
        if len(self._first) == self._kinds:
            return (line + 4,)
        if self._of_first is None:
            self._of_first = {}
            for atom, other in enumerate(self._first, 4):
                self._of_first.setdefault(other, []).append(atom)
        return self._of_first[line]


class Weave:
    """All atoms of one path with their operations; the weave grows by one step at a time (see `build`)."""

    def __init__(self, start: bytes | None) -> None:
        self.text = start
        self.texts: list[bytes] = []
        self.ids: dict[bytes, int] = {}
        # The four atoms that are no lines have no content.
        self.line: list[int] = [-1] * 4
        self.birth: list[int] = [BASE] * 4
        self.ops: list[list[int] | None] = [None] * 4
        self.next: list[int] = [0, 0, END, END]
        self.prev: list[int] = [0, 0, START, START]
        self.hunks: list[Hunk] = [Hunk()]
        self.units: list[Unit] = [Unit("", None, -1)]
        self.steps: list[str] = []
        self.returns: list[tuple[int, int]] = []
        """For each gap that went back to an old text: its first hunk, and how many hunks the old text had.

        What the hunks in between did is undone.
        """
        self.known: dict[bytes | None, int] = {start: 1}
        """The texts that the file had, each with the number of hunks when the file first had it."""
        self.origin: dict[int, int] = {}
        """Atom to the older atom whose text it repeats, moved or restored elsewhere."""
        self.shown: list[int] = []
        """The visible atoms in order: the lines of `text`."""
        self.count: list[int] = []
        """For each line id how many visible atoms have this content."""
        self.ops[EXISTS] = None if start is not None else [BASE << 1]
        self.ops[NEWLINE] = None if ends_with_newline(start) else [BASE << 1]
        self._order: list[int] | None = None
        self._begin(split_lines(start))

    def _begin(self, lines: Sequence[bytes]) -> None:
        # Inserting a million lines at once takes a third of the time that one by one took. The lists share
        # their numbers.
        self.ids = dict(zip(lines, range(len(lines)), strict=True))
        is_single = len(self.ids) == len(lines)
        if not is_single:
            self.ids = {content: at for at, content in enumerate(self.ids)}
        self.texts = list(self.ids)
        numbers = list(self.ids.values() if is_single else map(self.ids.__getitem__, lines))
        self.count = (
            [1] * len(numbers) if is_single else list(map(Counter(numbers).__getitem__, range(len(self.ids))))
        )
        self.seen = Seen(numbers, len(self.ids))
        self.shown = list(range(4, 4 + len(numbers)))
        self.line += numbers
        self.birth += [BASE] * len(numbers)
        self.ops += [None] * len(numbers)
        if numbers:
            self.next[START], self.prev[END] = 4, self.shown[-1]
            self.next += [*self.shown[1:], END]
            self.prev += [START, *self.shown[:-1]]

    def line_id(self, content: bytes) -> int:
        """Return the number of a line's content."""
        known = self.ids.get(content)
        if known is None:
            known = self.ids[content] = len(self.texts)
            self.texts.append(content)
            self.count.append(0)
        return known

    def insert(self, after: int, line: int, hunk: int) -> int:
        """Put a new atom behind another one."""
        self._order = None
        atom = len(self.line)
        follower = self.next[after]
        self.line.append(line)
        self.birth.append(hunk)
        self.ops.append(None)
        self.prev.append(after)
        self.next.append(follower)
        self.next[after] = self.prev[follower] = atom
        self.seen.add(line, atom)
        return atom

    def operate(self, atom: int, hunk: int, visible: bool) -> None:
        """Record that a hunk deletes or returns an atom."""
        ops = self.ops[atom]
        if ops is None:
            ops = self.ops[atom] = []
        # Hunk and value share one int: a list holds these without an object for each operation.
        ops.append(hunk << 1 | visible)

    def visible(self, atom: int) -> bool:
        """Tell whether an atom is visible when all operations count."""
        ops = self.ops[atom]
        return ops is None or bool(ops[-1] & 1)

    def taker(self, atom: int) -> int:
        """Return the hunk that took away an atom that is gone."""
        return (self.ops[atom] or [BASE])[-1] >> 1

    def visible_at(self, atom: int, hunks: int) -> bool:
        """Tell whether an atom was visible when there were so many hunks."""
        if self.birth[atom] >= hunks:
            return False
        for op in reversed(self.ops[atom] or ()):
            if op >> 1 < hunks:
                return bool(op & 1)
        return True

    def shown_at(self, hunks: int) -> list[int]:
        """Return the lines that were visible when there were so many hunks."""
        # Only operations of one step are out of order, and those made after HEAD was matched; nobody asks
        # this then.
        found: list[int] = []
        following, birth, every, limit = self.next, self.birth, self.ops, hunks << 1
        atom = following[START]
        while atom != END:
            if birth[atom] < hunks:
                ops = every[atom]
                at = bisect_left(ops, limit) if ops else 0
                if not ops or not at or ops[at - 1] & 1:
                    found.append(atom)
            atom = following[atom]
        return found

    def content(self, atom: int) -> bytes:
        """Return the line that an atom stands for."""
        return self.texts[self.line[atom]]

    def says(self, atom: int) -> bool:
        """Tell whether a line is telling, so that hardly anybody else wrote the same by chance."""
        return atom > NEWLINE and is_telling(self.content(atom))

    def is_only(self, atom: int, others: int = 0) -> bool:
        """Tell whether a line is telling and at most ``others`` other lines ever had the same text."""
        return self.says(atom) and len(self.seen[self.line[atom]]) <= 1 + others

    def order(self) -> list[int]:
        """Return all line atoms in order; the caller must not change the list."""
        if self._order is not None:
            return self._order
        found = self._order = []
        following = self.next
        atom = following[START]
        while atom != END:
            found.append(atom)
            atom = following[atom]
        return found

    def span(self, lines: Iterable[int]) -> tuple[int, int] | None:
        """Return the numbers of the first and last of some lines that stand, None where none does."""
        wanted = set(lines)
        found = [at for at, line in enumerate(self.shown, 1) if line in wanted]
        return (found[0], found[-1]) if found else None

    def link(self, left: int, right: int) -> None:
        """Put an atom right behind another one."""
        self._order = None
        self.next[left], self.prev[right] = right, left

    def between(self, left: int, right: int) -> Iterator[int]:
        """Walk the atoms strictly between two others; to the end where the second is not behind the first."""
        atom = self.next[left]
        while atom not in (right, END):
            yield atom
            atom = self.next[atom]

    def repeats(self, atom: int, older: int) -> bool:
        """Tell whether an atom repeats an older one, directly or over other atoms."""
        # An origin is older than what repeats it. So a line that moved n times is not followed to its
        # beginning.
        at = self.origin.get(atom, START)
        while at > older:
            at = self.origin.get(at, START)
        return at == older

    def unit_of(self, hunk: int) -> Unit:
        """Return the unit to which a hunk belongs."""
        return self.units[self.hunks[hunk].unit]

    def owner_of(self, hunk: int) -> str | None:
        """Return who made a hunk."""
        return self.unit_of(hunk).owner

    def atoms_of(self, unit: Unit) -> list[int]:
        """Return every atom on which a unit has an operation."""
        return [atom for hunk in unit.hunks for atom in self.hunks[hunk].touched()]
