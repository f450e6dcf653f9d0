"""The separation measured from outside: edits through ``git ralph hook``, commits through ``git ralph``.

The same random histories and the same ground truth as ``tests/lines``, but nothing here knows the
weave: a commit is judged by the blob that git has. ``RALPH_FULL=1`` plays many more.
"""

from pathlib import Path

import pytest

from tests.lines.generator import PLAIN, Cell, Generator
from tests.lines.simulator import STAYS, Run, Tally
from tests.lines.truth import HUMAN, as_bytes
from tests.support.repo import Repo
from tests.support.size import FULL

RUNS = 150 if FULL else 2
FIRST_SEED = 5_000_000
CELLS = {
    "50 lines, 2 sessions, 8 edits": Cell(50, 2, 8),
    "300 lines, 3 sessions, 12 clustered edits": Cell(300, 3, 12, hot=4),
    "1000 lines, 4 sessions, 30 edits": Cell(1000, 4, 30),
}


class Played:
    """One random history in one real repository."""

    def __init__(self, repo: Repo, seed: int, cell: Cell) -> None:
        self.repo = repo
        self.cell = cell
        self.made = Generator(seed, cell)
        self.truth = self.made.truth
        self.path = f"file-{seed}.txt"
        repo.write(self.path, as_bytes(self.truth.text))
        repo.commit_all(f"seed {seed}")
        for number in range(cell.sessions):
            repo.run("session", "start", "--id", f"s{number}", "--continue")
        self.refused = self.done = 0
        self.faults: list[str] = []
        self.reasons: list[str] = []

    def play(self) -> None:
        """Edit and commit at random moments; then everybody commits, the refused again, then by force."""
        done = 0
        while done < self.cell.edits:
            done += self.edit()
            if self.made.random.random() < self.cell.commits:
                self.done += self.ask(f"s{self.made.random.randrange(self.cell.sessions)}") is True
        waiting = [f"s{n}" for n in range(self.cell.sessions)]
        self.made.random.shuffle(waiting)
        progress = True
        while waiting and progress:
            results = {who: self.ask(who) for who in waiting}
            progress = any(results.values())
            self.done += sum(bool(result) for result in results.values())
            waiting = [who for who in waiting if results[who] is False]
        self.refused = len(waiting)
        for who in waiting:
            self.ask(who, "--include-entangled")

    def edit(self) -> bool:
        actor = self.made.actor()
        if not self.made.edit(actor):
            return False
        after = as_bytes(self.truth.text)
        if actor == HUMAN:
            self.repo.write(self.path, after)
        else:
            self.repo.edit(actor, self.path, after)
        return True

    def ask(self, who: str, *options: str) -> bool | None:
        """One commit, judged by what HEAD holds afterwards; False when refused, None for nothing."""
        old = self.repo.blob(self.path).split(b"\n")[:-1]
        done = self.repo.run("commit", "--session", who, "-m", "x", "--json", *options)
        assert done.code in (0, 4), done.said
        if done.code == 4:
            self.reasons.append(done.said)
            return False
        new = self.repo.blob(self.path).split(b"\n")[:-1]
        also = set()
        if new != old:
            rows = self.repo.trailers().split("\n")
            names = {row.partition(": ")[2] for row in rows if row.startswith("Ralph-Includes: ")}
            also = {HUMAN if name == "unrecorded" else name for name in names}
            found = self.truth.judge(who, also, old, new)
            # what a person rewrote past recognition is left to him, and said
            if any("is left to" in note for note in done.json()["notes"]):
                found = [each for each in found if each.split(" ", 1)[0] not in STAYS]
            self.faults += found
            self.truth.commit(who, also, new)
        if new == old:
            return None
        return True


def finish(played: Played) -> None:
    """The human commits the rest: HEAD ends at the working tree, byte for byte."""
    repo = played.repo
    assert repo.read(played.path) == as_bytes(played.truth.text)
    repo.git("add", "-A")
    repo.git("commit", "-q", "--allow-empty", "-m", "the rest")
    assert repo.blob(played.path) == as_bytes(played.truth.text)


@pytest.mark.parametrize("name", CELLS if FULL else [*CELLS][:2])
@pytest.mark.parametrize("kinds", ["all kinds of edits", "without moves and reverts"])
def test_random_histories_from_outside(repo: Repo, tmp_path: Path, name: str, kinds: str) -> None:
    cell = CELLS[name]
    if kinds != "all kinds of edits":
        cell = Cell(cell.lines, cell.sessions, cell.edits, cell.hot, PLAIN, cell.human, cell.commits)
    wrong, asked, done = [], 0, 0
    reasons: list[str] = []
    compared = []
    for seed in range(FIRST_SEED, FIRST_SEED + RUNS):
        played = Played(repo, seed, cell)
        played.play()
        finish(played)
        asked, done = asked + played.refused + played.done, done + played.done
        inside = Tally()
        Run(seed, cell, inside).play()
        compared.append((seed, played.done, played.refused, inside.committed, inside.refused))
        reasons += played.reasons
        if played.faults:
            wrong.append((seed, played.faults))
    print(f"{name}, {kinds}: {done} of {asked} committed, {len(wrong)} histories wrong")
    assert not [fault for _, faults in wrong for fault in faults if fault.startswith("leak")]
    assert len(wrong) <= (0 if kinds != "all kinds of edits" else asked * 0.02), wrong
    print("\n".join(reasons))
    assert [row for row in compared if row[1:3] != row[3:5]] == [], "the tool refuses more than the weave"
