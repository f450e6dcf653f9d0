"""The weave: every line any recorded state of a path ever held, in one order.

An atom is one such line. It is inserted once and then deleted and returned any number of times,
each time by a hunk of one step. The text of any set of units is what their operations alone
leave visible, so the order of commits cannot matter. Must not know which units are committed:
units and their names may depend on earlier steps only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitralph.isolate.lines import ends_with_newline, split_lines

EXISTS, NEWLINE, START, END = range(4)
"""Atoms that are no lines: the file is there, its last line is complete, and the two rims."""

BASE = 0
"""The hunk and unit that hold the first known text; part of every commit."""


class Hunk:
    """The operations of one step in one place."""

    __slots__ = ("assigned", "births", "crossed", "dels", "left", "right", "undels", "unit")

    def __init__(self) -> None:
        self.unit = BASE
        self.births: list[int] = []
        self.dels: list[int] = []
        self.undels: list[int] = []
        self.crossed: list[int] = []
        """Dead lines between the first and the last line this hunk replaced."""
        self.left = START
        self.right = END
        self.assigned = False
        """A person gave this to the owner, or gave away some of it and left the rest to nobody."""

    def touched(self) -> list[int]:
        """Return every atom this hunk has an operation on."""
        return self.births + self.dels + self.undels


class Unit:
    """What is committed or left together: the smallest grain of a commit."""

    __slots__ = ("hunks", "key", "owner", "step")

    def __init__(self, key: str, owner: str | None, step: int) -> None:
        self.key = key
        self.owner = owner
        self.step = step
        self.hunks: list[int] = []


class Weave:
    """All atoms of one path with their operations; grows by one step at a time (see `build`)."""

    def __init__(self, start: bytes | None) -> None:
        self.text = start
        self.texts: list[bytes] = []
        self.ids: dict[bytes, int] = {}
        self.line: list[int] = [-1] * 4
        self.birth: list[int] = [BASE] * 4
        self.ops: list[list[int] | None] = [None] * 4
        self.next: list[int] = [0, 0, END, END]
        self.prev: list[int] = [0, 0, START, START]
        self.hunks: list[Hunk] = [Hunk()]
        self.units: list[Unit] = [Unit("", None, -1)]
        self.steps: list[str] = []
        self.returns: list[tuple[int, int]] = []
        """Per step of nobody's that went back to a text the file had before: its first hunk, and how
        many there were when it had that text. What the hunks in between did is undone."""
        self.known: dict[bytes | None, int] = {start: 1}
        """The texts the file had, each with how many hunks there were when it had it first."""
        self.origin: dict[int, int] = {}
        """Atom to the older atom whose text it repeats: moved or restored elsewhere."""
        self.seen: dict[int, list[int]] = {}
        """Line id to all atoms with this content."""
        self.shown: list[int] = []
        """The visible atoms, in order: the lines of `text`."""
        self.count: dict[int, int] = {}
        self.complete = ends_with_newline(start)
        self.ops[EXISTS] = None if start is not None else [BASE << 1]
        self.ops[NEWLINE] = None if self.complete else [BASE << 1]
        self._begin(split_lines(start))

    def _begin(self, lines: Sequence[bytes]) -> None:
        last = START
        for content in lines:
            last = self.insert(last, self.line_id(content), BASE)
            self.shown.append(last)
        for atom in self.shown:
            self.count[self.line[atom]] = self.count.get(self.line[atom], 0) + 1

    def line_id(self, content: bytes) -> int:
        """Return the number of a line's content."""
        known = self.ids.get(content)
        if known is None:
            known = self.ids[content] = len(self.texts)
            self.texts.append(content)
        return known

    def insert(self, after: int, line: int, hunk: int) -> int:
        """Put a new atom behind another one."""
        atom = len(self.line)
        follower = self.next[after]
        self.line.append(line)
        self.birth.append(hunk)
        self.ops.append(None)
        self.prev.append(after)
        self.next.append(follower)
        self.next[after] = self.prev[follower] = atom
        self.seen.setdefault(line, []).append(atom)
        return atom

    def operate(self, atom: int, hunk: int, visible: bool) -> None:
        """Record that a hunk deletes or returns an atom."""
        ops = self.ops[atom]
        if ops is None:
            ops = self.ops[atom] = []
        # Hunk and value in one int: a list holds them without an object an operation.
        ops.append(hunk << 1 | visible)

    def visible(self, atom: int) -> bool:
        """Tell whether an atom is visible when all operations count."""
        ops = self.ops[atom]
        return ops is None or bool(ops[-1] & 1)

    def visible_at(self, atom: int, hunks: int) -> bool:
        """Tell whether an atom was visible when there were so many hunks."""
        if self.birth[atom] >= hunks:
            return False
        for op in reversed(self.ops[atom] or ()):
            if op >> 1 < hunks:
                return bool(op & 1)
        return True

    def content(self, atom: int) -> bytes:
        """Return the line an atom stands for."""
        return self.texts[self.line[atom]]

    def order(self) -> list[int]:
        """Return all line atoms in their order."""
        found: list[int] = []
        following = self.next
        atom = following[START]
        while atom != END:
            found.append(atom)
            atom = following[atom]
        return found

    def between(self, left: int, right: int) -> Iterator[int]:
        """Walk the atoms strictly between two others."""
        atom = self.next[left]
        while atom != right:
            yield atom
            atom = self.next[atom]

    def origins(self, atom: int) -> Iterator[int]:
        """Walk the older atoms whose text one repeats, from the latest."""
        while atom in self.origin:
            atom = self.origin[atom]
            yield atom

    def unit_of(self, hunk: int) -> Unit:
        """Return the unit a hunk belongs to."""
        return self.units[self.hunks[hunk].unit]

    def owner_of(self, hunk: int) -> str | None:
        """Return who made a hunk."""
        return self.unit_of(hunk).owner

    def atoms_of(self, unit: Unit) -> list[int]:
        """Return every atom a unit has an operation on."""
        return [atom for hunk in unit.hunks for atom in self.hunks[hunk].touched()]
