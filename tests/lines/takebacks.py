"""Random schedules of edits, commits, undo, redo and restore, judged by the words in the file alone.

`python -m tests.lines.takebacks [runs] [first seed]` counts what became of them. Every word names its
author, and the events of `truth` tell who put it in and who took it out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher

from gitralph.lines import reverse
from gitralph.lines.order import chain
from gitralph.lines.pieces import Pieces, pieces
from gitralph.lines.terms import Reversal, Step
from tests.lines.generator import KINDS, Cell
from tests.lines.simulator import Run, Tally
from tests.lines.truth import HUMAN, Text, as_bytes, words_of

CELL = Cell(40, 3, 14, hot=2, commits=0.15, near=6.0)
PLAIN = {kind: weight for kind, weight in KINDS.items() if kind not in ("move", "revert")}
STILL = Cell(40, 3, 14, hot=2, commits=0.15, near=6.0, kinds=PLAIN)


@dataclass
class Counts:
    """What became of the undos, redos and restores of some runs."""

    done: dict[str, int] = field(default_factory=dict)
    wrong: list[tuple[int, str]] = field(default_factory=list)

    def count(self, what: str) -> None:
        self.done[what] = self.done.get(what, 0) + 1


@dataclass
class Undone:
    """One undo that may be brought back: its step, and the words it took out and brought back."""

    key: str
    who: str
    gone: set[bytes]
    back: set[bytes]
    step: int


class Schedule(Run):
    """One random history in which sessions also take back and bring back."""

    def __init__(self, seed: int, cell: Cell, counts: Counts) -> None:
        super().__init__(seed, cell, Tally())
        self.counts = counts
        self.undos: list[Undone] = []
        self.redone: list[Undone] = []
        self.ours = set[str]()
        """The steps that are undos, redos and restores."""

    def play(self) -> None:
        done, random = 0, self.made.random
        while done < self.cell.edits:
            done += self.edit()
            self.one_of_ours(f"s{random.randrange(self.cell.sessions)}", random.random())
        for who in [f"s{n}" for n in range(self.cell.sessions)]:
            self.undo(who, None)
            self.redo_last(who, at_once=True)
        self.finish()

    def one_of_ours(self, who: str, chance: float) -> None:
        if chance < 0.2:
            self.undo(who, None)
        elif chance < 0.35:
            self.undo(who, 1)
        elif chance < 0.5:
            self.redo_last(who)
        elif chance < 0.6:
            self.checkout()
        elif chance < 0.7:
            self.restore(who)
        elif chance < 0.8:
            self.ask(who)

    # --- the questions ---

    def chained(self) -> list[Step]:
        return chain(self.steps, self.start)

    def known(self) -> Pieces:
        return pieces(as_bytes(self.head), as_bytes(self.truth.text), self.chained())

    def undo(self, who: str, last: int | None) -> None:
        keys = None
        if last is not None:
            mine = [s.key for s in self.steps if s.owner == who and s.key not in self.ours]
            keys = set(mine[-last:])
        answer = reverse.undone(self.known(), self.chained(), {who}, keys)
        before = list(self.truth.text)
        if not self.settle("undo", who, answer):
            return
        gone = set(words_of(before)) - set(words_of(self.truth.text))
        back = set(words_of(self.truth.text)) - set(words_of(before))
        self.undos.append(Undone(self.steps[-1].key, who, gone, back, len(self.truth.actors) - 1))
        strangers = {word for word in gone if who not in self.hands(word, True)}
        self.fault(f"undo of {who} took words of others", strangers)
        self.fault(
            f"undo of {who} brought words it had not removed",
            {w for w in back if who not in self.hands(w, False)},
        )
        if keys is None:
            pending = set(words_of(self.truth.text)) - self.truth.in_head
            rest = {w for w in pending if self.truth.author[w] == who and self.hands(w, True) == {who}}
            self.fault(f"undo of {who} left words of its own", rest)

    def redo_last(self, who: str, at_once: bool = False) -> None:
        mine = [one for one in self.undos if one.who == who]
        if not mine:
            return
        undone = mine[-1]
        answer = reverse.redone(self.known(), self.chained(), {who}, {undone.key})
        before, since = set(words_of(self.truth.text)), self.removed_since(undone)
        if not self.settle("redo", who, answer):
            if answer.units or not answer.refused:
                self.undos.remove(undone)
            return
        self.undos.remove(undone)
        self.redone.append(replace(undone, step=len(self.truth.actors) - 1))
        after = set(words_of(self.truth.text))
        self.fault("redo brought other words", after - before - undone.gone)
        self.fault("redo took other words", before - after - undone.back)
        self.fault("redo left out words", undone.gone - after - since)

    def removed_since(self, undone: Undone) -> set[bytes]:
        """Words that somebody put in and took out again since an undo took them out.

        An edit of another session that came back since may have taken out any of them.
        """
        at = undone.step
        if any(what.step > at and what.who != undone.who for what in self.redone):
            return set(undone.gone)
        return {
            word for word in undone.gone if any(when > at for when, _, _ in self.truth.events.get(word, ()))
        }

    def checkout(self) -> None:
        """Somebody puts HEAD back; nobody records it."""
        if self.truth.text != self.head:
            self.counts.count("checkout")
            self.move(HUMAN, list(self.head))

    def restore(self, who: str) -> None:
        answer = reverse.restored(self.known(), self.chained(), {who})
        before = set(words_of(self.truth.text))
        if not self.settle("restore", who, answer):
            return
        after = set(words_of(self.truth.text))
        self.fault(
            "restore brought words of others", {w for w in after - before if who not in self.hands(w, True)}
        )
        self.fault(
            "restore took words it had not removed",
            {w for w in before - after if who not in self.hands(w, False)},
        )

    # --- what came of them ---

    def settle(self, what: str, who: str, answer: Reversal) -> bool:
        """Count and record an answer; True where it changed the file."""
        if answer.refused:
            assert answer.left
            self.counts.count(f"{what} refused")
            return False
        text = (answer.text or b"").split(b"\n")[:-1]
        if not answer.units:
            assert text == self.truth.text
            self.counts.count(f"{what} of nothing")
            return False
        self.counts.count(what)
        before, old = as_bytes(self.truth.text), list(self.truth.text)
        moved = {word for word, steps in self.truth.moves.items() if steps}
        self.fault(f"{what} changed the order", _disordered(old, text, moved))
        self.move(who, text)
        key = f"k{len(self.steps)}"
        step = Step(key, who, before, as_bytes(text), seen=True)
        names = answer.units
        self.steps.append(step._replace(restores=names) if what == "restore" else step._replace(undoes=names))
        self.ours.add(key)
        return True

    def move(self, who: str, text: Text) -> None:
        """Tell the truth of a change that puts back what was there before."""
        old = list(self.truth.text)
        rows = SequenceMatcher(None, old, text, autojunk=False).get_opcodes()
        pairs = [(old[a:b], text[c:d]) for tag, a, b, c, d in rows if tag != "equal"]
        self.truth.step(who, text, pairs, [])

    def hands(self, word: bytes, put: bool) -> set[str]:
        """Who ever put a word in, or took it out."""
        return {actor for _, actor, is_in in self.truth.events.get(word, ()) if is_in == put}

    def fault(self, what: str, words: Iterable[bytes]) -> None:
        found = sorted(words)
        if found:
            self.counts.wrong.append((self.seed, f"{what}: {b' '.join(found[:6]).decode()}"))


def _disordered(old: Text, new: Text, moved: set[bytes]) -> set[bytes]:
    """Words that stand on both sides, were never moved, and changed sides with others."""
    both = (set(words_of(old)) & set(words_of(new))) - moved
    one, other = ([word for word in words_of(text) if word in both] for text in (old, new))
    return set() if one == other else {a for a, b in zip(one, other, strict=False) if a != b}


def play(cell: Cell, runs: int, first: int) -> Counts:
    """Play a number of schedules."""
    counts = Counts()
    for seed in range(first, first + runs):
        Schedule(seed, cell, counts).play()
    return counts


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    for name, cell in (("with moves and reverts", CELL), ("without", STILL)):
        counts = play(cell, runs, first)
        print(name, counts.done, f"wrong {len(counts.wrong)}", flush=True)
        for seed, what in counts.wrong[:12]:
            print("  ", seed, what)


if __name__ == "__main__":
    main()
