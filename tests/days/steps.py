"""What happens in a day: one small value for each step, drawn from a seed.

A step says what to do by numbers that fit any state (line `at` of file `file`), so that a day still
plays when other steps are taken out of it; `replace` makes the variants that the reducer tries.
"""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass, fields, replace

SHELLS = ("s3", "s4")
"""The sessions that make their changes by shell commands, in days that have some."""
SESSIONS = ("s1", "s2", "s3", "s4", "s5")
HUMAN = "h"
FILES = ("a", "b", "c", "d/e", "n1", "n2", "d/n3")
STARTING = 4
"""How many of the files exist in the first commit."""


@dataclass(frozen=True)
class Step:
    """`verb` by `actor`; what the numbers mean is the verb's affair, see `world.py`."""

    number: int
    verb: str
    actor: str = HUMAN
    file: int = 0
    at: int = 0
    """A line."""
    gone: int = 0
    """Lines taken out."""
    new: int = 0
    """Lines put in."""
    flag: int = 0
    """Chooses between forms of the verb."""

    def __str__(self) -> str:
        odd = {k: v for k, v in asdict(self).items() if v and k not in ("number", "verb", "actor")}
        if "file" in odd:
            odd["file"] = FILES[self.file % len(FILES)]
        return f"{self.number:3} {self.actor} {self.verb}" + "".join(f" {k}={v}" for k, v in odd.items())


@dataclass(frozen=True)
class Day:
    """One day: how the repository starts, and its steps."""

    seed: int
    steps: tuple[Step, ...]
    lines: tuple[int, ...] = (20, 12, 14, 10)
    noise: int = 20
    """Per cent of lines without a word."""
    crlf: bool = False
    """`* text=auto`, and CRLF in the working tree."""
    shells: bool = False
    """Some sessions work by their shells; see `SHELLS`."""


EDITS = {"insert": 34, "replace": 22, "tweak": 22, "delete": 13, "several": 7, "undo": 3}
FILE_EDITS = {"create": 3, "remove": 2, "rename": 2, "copy-over": 1}
CORRECTIONS = {"correct": 60, "indent": 25, "drop": 10, "within": 15, "take-back": 20}
GIT = {
    "add": 9,
    "add-all": 3,
    "add-hunk": 8,
    "unstage": 4,
    "restore-staged": 4,
    "commit": 8,
    "commit-all": 7,
    "commit-everything": 3,
    "commit-path": 2,
    "amend": 4,
    "reset-soft": 3,
    "reset-mixed": 4,
    "reset-hard": 1,
    "squash": 2,
    "stash": 5,
    "stash-pop": 9,
    "stash-drop": 1,
    "stash-path": 1,
    "checkout-file": 4,
    "checkout-all": 1,
    "revert": 4,
    "revert-staged": 3,
    "cherry-pick": 3,
    "merge": 3,
    "rebase": 2,
    "pull": 3,
    "push": 2,
    "switch-new": 2,
    "switch-back": 4,
    "rm": 1,
    "mv": 1,
    "clean": 1,
}
COMMITS = {
    "ralph": 74,
    "ralph-skip": 10,
    "ralph-include": 4,
    "ralph-path": 7,
    "ralph-dry": 5,
}
KINDS = {"edit": 40, "file": 2, "human": 7, "correction": 5, "git": 22, "ralph": 24}


class Draw:
    """Draws the steps of one day."""

    def __init__(self, seed: int, calm: bool = False) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        self.kinds = dict(KINDS)
        if calm:
            self.kinds |= {"git": 8, "correction": 2}
        self.hot = [self.random.randrange(0, 36) for _ in range(self.random.choice((2, 4, 8)))]
        self.files = self.random.choice((1, 3, 4, 4))
        self.sessions = SESSIONS[: self.random.choice((2, 3, 5, 5))]
        self.big = self.random.choice((2, 3, 3, 8))

    def _one_of(self, weights: dict[str, int]) -> str:
        return self.random.choices(list(weights), list(weights.values()))[0]

    def _at(self) -> int:
        if self.random.random() < 0.4:
            return self.random.randrange(0, 40)
        return max(0, round(self.random.choice(self.hot) + self.random.gauss(0, 2.5)))

    def step(self, number: int) -> Step:
        """Any step."""
        kind = self._one_of(self.kinds)
        rand = self.random
        file = rand.randrange(self.files) if rand.random() < 0.93 else rand.randrange(len(FILES))
        actor = rand.choice(self.sessions) if kind in ("edit", "file", "ralph") else HUMAN
        weights = {
            "edit": EDITS,
            "human": EDITS,
            "file": FILE_EDITS,
            "correction": CORRECTIONS,
            "git": GIT,
            "ralph": COMMITS,
        }[kind]
        verb = self._one_of(weights)
        if verb in ("create", "rename", "mv", "copy-over") and rand.random() < 0.8:
            file = rand.randrange(len(FILES))
        return Step(
            number,
            verb,
            actor,
            file,
            self._at(),
            1 + rand.randrange(self.big),
            1 + rand.randrange(self.big),
            rand.randrange(1, 1 << 16),
        )

    def day(self, count: int) -> Day:
        """A day of `count` steps."""
        rand = self.random
        lines = tuple(rand.randint(5, 40) for _ in range(STARTING))
        noise, crlf = rand.choice((0, 20, 20, 40)), rand.random() < 0.08
        steps = [self.step(number) for number in range(1, count + 1)]
        ends = [("ralph", who) for who in (*SESSIONS, *SESSIONS)] + [("commit-everything", HUMAN)]
        ends += [("ralph-dry", who) for who in SESSIONS]
        steps += [Step(count + 1 + n, verb, who) for n, (verb, who) in enumerate(ends)]
        return Day(self.seed, tuple(steps), lines, noise, crlf)


def draw(seed: int, count: int | None = None) -> Day:
    """The day of a seed; without a count its length is drawn too."""
    made = Draw(seed)
    return made.day(count if count is not None else made.random.choice((60, 120, 200, 300)))


BY_PLAIN_GIT = ("commit", "commit-all", "commit-everything", "commit-path", "amend")


def with_own_commits(day: Day) -> Day:
    """The same day, in which a person commits by `git ralph commit --mine`, too."""
    rand, steps, last = random.Random(day.seed), list[Step](), len(day.steps) - len(SESSIONS) - 1
    for at, step in enumerate(day.steps):
        share = 0.6 if step.verb in BY_PLAIN_GIT and at < last else 0.2 if step.verb == "ralph" else 0
        steps.append(replace(step, verb="ralph-mine", actor=HUMAN) if rand.random() < share else step)
    return replace(day, steps=tuple(steps))


DONE_OVER = {"again": 35, "undo": 10}
UNDONE = {"checkout-file": 15, "revert": 8, "stash": 5}


def with_work_again(day: Day) -> Day:
    """The same day, in which edits are taken back more often, and done again by anybody."""
    rand, steps = random.Random(day.seed), list[Step]()
    for step in day.steps:
        others = DONE_OVER if step.verb in EDITS else UNDONE if step.verb in GIT else {}
        verb = rand.choices([step.verb, *others], [100 - sum(others.values()), *others.values()])[0]
        steps.append(replace(step, verb=verb))
    return replace(day, steps=tuple(steps))


def parse(lines: str) -> tuple[Step, ...]:
    """Steps as `Step.__str__` prints them: a reduced day is replayed from its text."""
    names = {field.name for field in fields(Step)}
    out = []
    for line in lines.strip().splitlines():
        number, actor, verb, *rest = line.split()
        known = dict(word.split("=") for word in rest)
        assert set(known) <= names, line
        if "file" in known:
            known["file"] = str(FILES.index(known["file"]))
        out.append(Step(int(number), verb, actor, **{k: int(v) for k, v in known.items()}))
    return tuple(out)
