"""Random edits of several sessions and a human, with the parameters of the design document.

25 % noise lines; insert 35, replace 25, tweak 15, delete 12, multi-hunk 6, move 4, revert 3 per
cent; 1-20 lines each; 15 % by a human without hooks; uniform, or near a few hot lines.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.lines.truth import HUMAN, NOISE, Line, Text, Truth, words_of

KINDS = {
    "insert": 35,
    "replace": 25,
    "tweak": 15,
    "delete": 12,
    "multi": 6,
    "move": 4,
    "revert": 3,
}
PLAIN = {kind: weight for kind, weight in KINDS.items() if kind not in ("move", "revert")}


@dataclass(frozen=True)
class Cell:
    """One row of the table."""

    lines: int
    sessions: int
    edits: int
    hot: int = 0
    """Number of hot lines; 0 is uniform."""
    kinds: dict[str, int] = field(default_factory=lambda: KINDS)
    human: float = 0.15
    commits: float = 0.3
    """Chance of a commit after each edit."""
    near: float = 20.0
    """How far from a hot line edits fall, in lines (standard deviation)."""


class Generator:
    """Makes one random edit after the other and tells the truth about each."""

    def __init__(self, seed: int, cell: Cell) -> None:
        self.random = random.Random(seed)
        self.cell = cell
        self._made = 0
        self.truth = Truth([self._line("base") for _ in range(cell.lines)])
        self.truth.begin()
        self.hot = [self.random.random() for _ in range(cell.hot)]
        self._pairs: list[tuple[Text, Text]] = []
        self._moved: list[list[bytes]] = [[]]

    def _word(self, author: str) -> bytes:
        self._made += 1
        return f"{author}w{self._made}".encode()

    def _line(self, author: str) -> Line:
        if self.random.random() < 0.25:
            return self.random.choice(NOISE)
        indent = b"    " * self.random.randint(0, 2)
        return indent + b" ".join(self._word(author) for _ in range(self.random.randint(2, 6)))

    def _block(self, author: str) -> Text:
        """New lines; at least one tells its author, or nobody could judge what became of it."""
        while True:
            block = [self._line(author) for _ in range(self.random.randint(1, 20))]
            if words_of(block):
                return block

    def _place(self, length: int) -> int:
        if not self.hot:
            return self.random.randint(0, length)
        near = self.random.choice(self.hot) * length + self.random.gauss(0, self.cell.near)
        return min(max(round(near), 0), length)

    def actor(self) -> str:
        if self.random.random() < self.cell.human:
            return HUMAN
        return f"s{self.random.randrange(self.cell.sessions)}"

    def edit(self, actor: str) -> bool:
        """Make one edit; False where the drawn kind cannot be done here."""
        kinds = self.cell.kinds
        kind = self.random.choices(list(kinds), list(kinds.values()))[0]
        self._pairs = []
        moved: list[bytes] = []
        self._moved.append(moved)
        text = list(self.truth.text)
        getattr(self, "_" + kind)(actor, text)
        if text == self.truth.text:
            self._moved.pop()
            return False
        self.truth.step(actor, text, self._pairs, moved)
        return True

    def _splice(self, text: Text, start: int, stop: int, new: Text) -> None:
        self._pairs.append((text[start:stop], new))
        text[start:stop] = new

    def _insert(self, actor: str, text: Text) -> None:
        at = self._place(len(text))
        self._splice(text, at, at, self._block(actor))

    def _replace(self, actor: str, text: Text) -> None:
        at = self._place(len(text))
        self._splice(text, at, min(len(text), at + self.random.randint(1, 20)), self._block(actor))

    def _delete(self, _actor: str, text: Text) -> None:
        at = self._place(len(text))
        self._splice(text, at, min(len(text), at + self.random.randint(1, 20)), [])

    def _tweak(self, actor: str, text: Text) -> None:
        at = self._place(len(text))
        at = next((i for i in range(at, len(text)) if text[i] not in NOISE), -1)
        if at < 0:
            return
        words = text[at].split(b" ")
        spots = [i for i, word in enumerate(words) if word]
        words[self.random.choice(spots)] = self._word(actor)
        self._splice(text, at, at + 1, [b" ".join(words)])

    def _multi(self, actor: str, text: Text) -> None:
        for _ in range(self.random.randint(2, 4)):
            kind = self.random.choice(["_insert", "_replace", "_tweak", "_delete"])
            getattr(self, kind)(actor, text)
        gone = [line for old, _ in self._pairs for line in old]
        self._pairs.append((gone, text))  # hunks of one write may touch one another

    def _move(self, _actor: str, text: Text) -> None:
        at = self._place(len(text))
        block = text[at : at + self.random.randint(1, 20)]
        del text[at : at + len(block)]
        to = self._place(len(text))
        text[to:to] = block
        self._moved[-1].extend(words_of(block))

    def _revert(self, _actor: str, text: Text) -> None:
        """Back to one of the last texts that some hook saw; nobody can tell text it never saw."""
        seen = [at for at in range(len(self.truth.texts) - 1) if self._was_seen(at)][-4:]
        if seen:
            at = self.random.choice(seen)
            text[:] = self.truth.texts[at]
            for undone in self._moved[at + 1 : -1]:
                self._moved[-1].extend(undone)

    def _was_seen(self, at: int) -> bool:
        return any(actor != HUMAN for actor in self.truth.actors[at : at + 2])
