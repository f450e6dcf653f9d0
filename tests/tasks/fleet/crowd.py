"""Many clones, each a process of its own, that work off the same beads; some are killed or put to sleep.

A clone's program is this file: it claims what is free, commits on the bead's branch, lands it, and goes on
until every bead is done.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.repo import Repo

_PROGRAM = [sys.executable, "-P", "-m", "tests.tasks.fleet.crowd"]
ROOT = Path(__file__).parents[3]


def beads(count: int) -> list[str]:
    """The ids of the work items."""
    return [f"bd-{number:03d}" for number in range(count)]


def _ralph(*words: str) -> tuple[int, str, str]:
    from tests.support import runner

    done = runner.in_process(words, cwd=os.getcwd(), env=os.environ)
    return done.code, done.text, done.said


def _git(*words: str) -> int:
    return subprocess.run(["git", *words], check=False, capture_output=True).returncode


def drain(wanted: list[str], lands: bool) -> None:
    """Work until no bead is left that is not done; what a clone holds it lands before it claims more."""
    left, mine = set(wanted), set[str]()
    chance = random.Random(os.getpid())
    # Of many clones most wait for the few that work: asking again at once would starve those.
    longest, vain, parent = max(1, len(wanted) // 6), 0, os.getppid()
    while left and os.getppid() == parent:  # a test that was killed leaves nobody at work
        bead = chance.choice(sorted(mine & left or left))
        code, _, said = _ralph("fleet", "claim", bead)
        if code == 0:
            vain = 0
            mine.add(bead)
            if _work(bead, lands):
                left.remove(bead)
                continue
        elif code == 4 and "git ralph fleet land" in said:
            # by ourselves, as far as the claim goes: whether the branch has it a landing finds out
            if _land(bead, lands):
                left.remove(bead)
            continue
        elif code == 4 and "is done" in said:
            left.remove(bead)  # and others too, by now
        else:
            mine.discard(bead)
            time.sleep(chance.uniform(0.1, 0.4) * min(2**vain, longest))
            vain += 1
        left -= _done()


def _done() -> set[str]:
    """What is done by now, asked at once: 50 clones that try 200 beads one by one take 25 minutes."""
    code, text, _ = _ralph("fleet", "claims", "--json")
    rows = json.loads(text) if code == 0 else []
    return {row["bead"] for row in rows if row["state"] == "done"}


def _work(bead: str, lands: bool) -> bool:
    """One bead, from its branch to the landing; False where another has it by now."""
    _git("fetch", "-q", "origin", "main")
    _git("checkout", "-q", "-f", "-B", f"ralph/{bead}", "origin/main")
    Path(bead).write_text(f"{os.getcwd()}\n")
    _git("add", bead)
    _git("commit", "-q", "-m", f"work on {bead}")
    return _land(bead, lands)


def _land(bead: str, lands: bool) -> bool:
    """Land what is on the bead's branch; False where another has the bead by now."""
    for _ in range(60):
        code, _, said = _ralph("fleet", "land", bead)
        if code == 0:
            return True
        if code == 4 and not lands and "one step" in said:
            _git("push", "-q", "origin", f"ralph/{bead}:main")
            continue
        if code == 4:
            return False
        time.sleep(0.05)
    return False


@dataclass
class Crowd:
    """Clones at work on a world's beads."""

    clones: list[Repo]
    wanted: list[str]
    skews: dict[int, str] = field(default_factory=dict)
    children: dict[int, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    def start(self, number: int) -> None:
        """Let a clone work."""
        repo = self.clones[number]
        env = {**repo.env, "PYTHONPATH": str(ROOT), "CROWD": json.dumps(self.wanted)}
        env |= {"GIT_COMMITTER_DATE": self.skews[number]} if number in self.skews else {}
        self.children[number] = subprocess.Popen(
            _PROGRAM,
            cwd=repo.root,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def start_all(self) -> None:
        """Let all work."""
        for number in range(len(self.clones)):
            self.start(number)

    def kill(self, number: int) -> None:
        """End a clone at once, with the git that it has started."""
        os.killpg(self.children[number].pid, signal.SIGKILL)
        self.children.pop(number).communicate()

    def stop(self, number: int) -> None:
        """Put a clone to sleep."""
        os.killpg(self.children[number].pid, signal.SIGSTOP)

    def wake(self, number: int) -> None:
        """Let a clone go on."""
        os.killpg(self.children[number].pid, signal.SIGCONT)

    def wait(self) -> list[str]:
        """Wait for all that live; what they said that is no answer of the tool."""
        said = [child.communicate()[1].decode("utf-8", "replace") for child in self.children.values()]
        return [text for text in said if text]


if __name__ == "__main__":
    drain(json.loads(os.environ["CROWD"]), lands=True)
