"""Small dense histories: three sessions and a person take turns in four lines, and each session commits.

`python -m tests.lines.dense --seed 1 --runs 20000` plays them and prints the first wrong ones. Large files
draw three parties in one place rarely; here it is the rule. The judge knows no rule of the tool: it follows
each word to who wrote it and each line to who took it away.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from random import Random

from gitralph.lines.terms import UNRECORDED, Separation
from tests.lines.texts import File, text

SESSIONS = ("s1", "s2", "s3")
HUMAN = "human"
BASE = tuple(f"base {n}a {n}b" for n in range(4))
NOISE = ("", "{", "}")


@dataclass
class History:
    """What happened to one file. `kinds`: of ten turns so many keep a word, bring a noise line, are git's."""

    seed: int
    turns: int = 5
    kinds: tuple[int, int, int] = (0, 0, 0)
    file: File = field(default_factory=lambda: File(text(*BASE)))
    disk: list[str] = field(default_factory=lambda: list(BASE))
    head: list[str] = field(default_factory=lambda: list(BASE))
    author: dict[str, str] = field(default_factory=dict)
    took: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    """Who took a line away last, and what came in its place."""
    told: list[str] = field(default_factory=list)

    def play(self) -> History:
        rand, is_gap = Random(self.seed), False
        for turn in range(self.turns):
            # nobody sees what stands between two turns of a person, so they would be one
            who = rand.choice(SESSIONS if is_gap or not turn else (*SESSIONS, HUMAN))
            if turn and rand.randrange(10) < self.kinds[2]:
                is_gap = self._git(rand, is_gap)
            else:
                self._edit(rand, who)
                is_gap = who == HUMAN
        return self

    def _git(self, rand: Random, is_gap: bool) -> bool:
        verb = rand.choice((*SESSIONS, "commit -a", "checkout"))
        if verb == "commit -a":
            self.head = list(self.disk)
            self.file.holds(*self.head)
        elif verb == "checkout":
            if is_gap or self.disk == self.head:
                return is_gap
            for line in self._words_in(self.disk):
                if line not in self.head:
                    self.took[line] = (HUMAN, ())
            self.disk = list(self.head)
            self.file.person(*self.disk)
            is_gap = True
        else:
            answer = self.file.ask(verb)
            if answer.refused or answer.text == self.file.head:
                return is_gap
            self.head = lines_of(answer)
            self.file.holds(*self.head)
        self.told.append(f"{verb}: HEAD {self.head}")
        return is_gap

    def _edit(self, rand: Random, who: str) -> None:
        low = rand.randint(0, len(self.disk))
        high = min(len(self.disk), low + rand.choice((0, 0, 1, 1, 2, 3, 4)))
        old = self.disk[low:high]
        keeps_words = bool(self._words_in(old)) and rand.randrange(10) < self.kinds[0]
        if keeps_words:
            new = [self._tweaked(rand, who, line) for line in old]
        else:
            new = [self._line(rand, who) for _ in range(rand.choice((0, 1, 1, 2, 3) if old else (1, 1, 2)))]
        one_for_one = keeps_words or len(old) == len(new) == len(self._words_in(new))
        for at, line in enumerate(old):
            if line not in NOISE:
                self.took[line] = (who, (new[at],) if one_for_one else tuple(new))
        self.disk[low:high] = new
        self.told.append(f"{who}: {old} -> {new}")
        if who == HUMAN:
            self.file.person(*self.disk)
        else:
            self.file.edit(who, *self.disk)

    def _word(self, who: str) -> str:
        word = f"{who}w{len(self.author)}"
        self.author[word] = who
        return word

    def _line(self, rand: Random, who: str) -> str:
        noise = rand.randrange(10) < self.kinds[1]
        return rand.choice(NOISE) if noise else f"{self._word(who)} {self._word(who)}"

    def _tweaked(self, rand: Random, who: str, line: str) -> str:
        words = line.split()
        if line not in NOISE:
            words[rand.randrange(len(words))] = self._word(who)
        return " ".join(words)

    @staticmethod
    def _words_in(lines: Iterable[str]) -> list[str]:
        return [line for line in lines if line not in NOISE]

    # --- the judge ---

    def commits(self, *who: str, **wishes: bool) -> bool:
        """Whether a commit of some sessions would change HEAD now."""
        return self.file.ask(*who, **wishes).text != self.file.head

    def faults(self, *who: str, **wishes: bool) -> Iterator[str]:
        """What is wrong with the commit that some sessions would make now."""
        answer = self.file.ask(*who, **wishes)
        if answer.refused or answer.text == self.file.head:
            return
        own = {HUMAN if name == UNRECORDED else name for name in (*who, *answer.includes)}
        yield from self.judged(lines_of(answer), own, *who)

    def judged(self, text: list[str], own: Collection[str], *who: str) -> Iterator[str]:
        """What is wrong with a text, if it holds what the owners and those that it names did."""
        known = {word for line in self.head for word in line.split()}
        for line in self._words_in(text):
            others = {self.author.get(word) for word in set(line.split()) - known}
            if line not in self.head and not others <= {*own, None}:
                yield f"holds another's {line}"
            if line not in (*self.head, *self.disk) and self.took[line][0] in (*who, HUMAN):
                yield f"brings {line} back"
        for line in self._words_in(self.head):
            if line not in text and not self._may_take(line, own):
                yield f"takes {line} away"
        for side in (self.head, self.disk):
            one, other = (self._words_in([x for x in a if x in b]) for a, b in ((text, side), (side, text)))
            if one != other:
                yield f"has another order than {side}"

    def _may_take(self, line: str, own: Collection[str]) -> bool:
        """Whether they took a line away, or all that came in its place."""
        if line in self.disk or line not in self.took:
            return False
        taker, instead = self.took[line]
        told = self._words_in(instead)
        return taker in own or (bool(told) and all(self._may_take(x, own) for x in told))


def lines_of(answer: Separation) -> list[str]:
    return (answer.text or b"").decode().splitlines()


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.lines.dense", description=__doc__)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--runs", type=int, default=20_000)
    options.add_argument("--turns", type=int, default=5)
    options.add_argument("--kinds", type=int, nargs=3, default=(0, 0, 0))
    options.add_argument("--include", action="store_true")
    options.add_argument("--skip", action="store_true")
    options.add_argument("--show", type=int, default=3)
    asked = options.parse_args()
    found, tally = 0, Counter[str]()
    wishes = {"include_entangled": asked.include, "skip_entangled": asked.skip}
    for seed in range(asked.seed, asked.seed + asked.runs):
        day = History(seed, asked.turns, tuple(asked.kinds)).play()
        for who in SESSIONS:
            answer = day.file.ask(who, **wishes)
            tally["refused" if answer.refused else "made" if answer.text != day.file.head else "nothing"] += 1
            wrong = list(day.faults(who, **wishes))
            found += bool(wrong)
            if wrong and found <= asked.show:
                print(f"seed {seed}: {who} {wrong}", *day.told, f"disk {day.disk}", sep="\n    ")
                print(f"    commit {lines_of(answer)} {answer.includes}")
    print(f"{found} wrong;", ", ".join(f"{n} {name}" for name, n in tally.most_common()))
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
