"""Measures the separation: random histories, every commit judged by independent ground truth.

`python -m tests.lines.simulator [runs] [first seed]` prints the table. Development used seeds
below 1,000,000; figures are quoted from seeds above.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from gitralph.lines import choose
from gitralph.lines.linediff import Range, ranges
from gitralph.lines.order import chain
from gitralph.lines.terms import LEFT_OUT, UNRECORDED, Separation, Step
from gitralph.lines.text import split_lines
from tests.lines.generator import PLAIN, Cell, Generator
from tests.lines.truth import HUMAN, as_bytes, words_of


def line_hunks(old: Sequence[bytes], new: Sequence[bytes]) -> list[Range]:
    """Diff two texts by the lines that are single in both, each hunk without equal lines at its rims."""
    return [_trimmed(old, new, each) for each in ranges(old, new)]


def _trimmed(old: Sequence[bytes], new: Sequence[bytes], each: Range) -> Range:
    low, high, start, stop = each
    while low < high and start < stop and old[low] == new[start]:
        low, start = low + 1, start + 1
    while low < high and start < stop and old[high - 1] == new[stop - 1]:
        high, stop = high - 1, stop - 1
    return low, high, start, stop


STAYS = ("undeleted", "missing")

CELLS = {
    "50 lines, 2 + human, 8 uniform": Cell(50, 2, 8),
    "300, 3, 12 uniform": Cell(300, 3, 12),
    "300, 3, 12 clustered": Cell(300, 3, 12, hot=4),
    "300, 3, 12 one hot spot": Cell(300, 3, 12, hot=1),
    "300, 3, 40 clustered": Cell(300, 3, 40, hot=4),
    "1000, 4, 40 clustered": Cell(1000, 4, 40, hot=4),
    "1000, 4, 30 uniform": Cell(1000, 4, 30),
}


def plain(cell: Cell) -> Cell:
    """The same cell without moves and reverts."""
    return replace(cell, kinds=PLAIN)


@dataclass
class Tally:
    """What became of the commits of some runs.

    A commit refused at a random moment is tried again after the others; `refused` never went
    through without force, `late` went through only after others had committed.
    """

    committed: int = 0
    late: int = 0
    refused: int = 0
    forced: int = 0
    wrong: list[tuple[int, str, list[str]]] = field(default_factory=list)

    def row(self, name: str) -> str:
        asked = self.committed + self.refused
        done = self.committed + self.forced
        leaks = sum(any(f.startswith("leak") for f in faults) for _, _, faults in self.wrong)
        return (
            f"{name:34} asked {asked:6}  committed {100 * self.committed / max(asked, 1):5.1f} %"
            f" (refused before {self.late:4})"
            f"  refused {100 * self.refused / max(asked, 1):5.1f} %  forced {self.forced:5}"
            f"  wrong {len(self.wrong):3} of {done} ({100 * len(self.wrong) / max(done, 1):.2f} %,"
            f" {leaks} leaks)"
        )


class Run:
    """One random history with its commits."""

    def __init__(self, seed: int, cell: Cell, tally: Tally) -> None:
        self.seed = seed
        self.cell = cell
        self.tally = tally
        self.made = Generator(seed, cell)
        self.truth = self.made.truth
        self.head = list(self.truth.text)
        self.start = as_bytes(self.head)
        self.steps: list[Step] = []
        self.heads: set[bytes | None] = {as_bytes(self.head)}
        self.held: dict[str, set[bytes]] = {"": set(self.head)}
        """The lines that HEAD had by the time of each step."""

    def play(self) -> None:
        """Edit and commit at random moments, then commit what is left in a random order."""
        done = 0
        while done < self.cell.edits:
            done += self.edit()
            if self.made.random.random() < self.cell.commits:
                self.ask(f"s{self.made.random.randrange(self.cell.sessions)}")
        self.finish()

    def edit(self) -> bool:
        actor = self.made.actor()
        before = as_bytes(self.truth.text)
        if not self.made.edit(actor):
            return False
        if actor != HUMAN:
            after = as_bytes(self.truth.text)
            self.held[f"k{len(self.steps)}"] = self.held[""]
            self.steps.append(Step(f"k{len(self.steps)}", actor, before, after))
        return True

    def ask(self, who: str) -> None:
        """One commit at a random moment: done or refused."""
        result = self.try_commit(who)
        if result is not None:
            self.tally.committed += result
            self.tally.late += not result

    def finish(self) -> None:
        """Commit all; who is refused tries again after the others, then by force."""
        waiting = [f"s{n}" for n in range(self.cell.sessions)]
        self.made.random.shuffle(waiting)
        progress = True
        while waiting and progress:
            results = {who: self.try_commit(who) for who in waiting}
            progress = any(results.values())
            self.tally.late += sum(result is False for result in results.values()) if progress else 0
            self.tally.committed += sum(bool(result) for result in results.values())
            waiting = [who for who in waiting if results[who] is False]
        self.tally.refused += len(waiting)
        for who in waiting:
            if self.try_commit(who, force=True):
                self.tally.forced += 1

    def separate(self, who: str, force: bool = False) -> Separation:
        return choose.separate(
            as_bytes(self.head),
            chain(self.steps, self.start),
            as_bytes(self.truth.text),
            owners={who},
            include_entangled=force,
            held=lambda key: self.held.get(key, self.held[""]),
            heads=lambda: self.heads,
        )

    def left_out(self, answer: Separation) -> Callable[[str], bool]:
        """Whether a fault is about a word of an edit that the answer says is left out."""
        steps = {key.rpartition(".")[0] for n in answer.notes if n.why.kind in LEFT_OUT for key in n.units}
        told = set[str]()
        for step in self.steps:
            if step.key in steps:
                old, new = split_lines(step.before), split_lines(step.after)
                for low, high, start, stop in line_hunks(old, new):  # moved lines too
                    told |= {repr(word) for word in words_of([*old[low:high], *new[start:stop]])}
        return lambda fault: fault.split(" ", 1)[1] in told

    def try_commit(self, who: str, force: bool = False) -> bool | None:
        """Commit; None when there is nothing to commit."""
        answer = self.separate(who, force)
        if answer.refused:
            return False
        text = (answer.text or b"").split(b"\n")[:-1]
        also = {HUMAN if name == UNRECORDED else name for name in answer.includes}
        faults = self.truth.judge(who, also, self.head, text)
        # what a person rewrote past recognition is left to him, and said
        said = self.left_out(answer)
        faults = [each for each in faults if each.split(" ", 1)[0] not in STAYS or not said(each)]
        if faults:
            self.tally.wrong.append((self.seed, who, faults))
        if text == self.head:
            return None if not faults else True
        self.truth.commit(who, also, text)
        self.head = text
        self.held[""] = self.held[""] | set(text)
        self.heads.add(as_bytes(text))
        return True


def simulate(cell: Cell, runs: int, first: int) -> Tally:
    """Play a number of runs of one cell."""
    tally = Tally()
    for seed in range(first, first + runs):
        Run(seed, cell, tally).play()
    return tally


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    for name, cell in CELLS.items():
        print(simulate(cell, runs, first).row(name), flush=True)
        print(simulate(plain(cell), runs, first).row("  without moves and reverts"), flush=True)


if __name__ == "__main__":
    main()
