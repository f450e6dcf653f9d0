"""Agents who commit at once beside a person who commits without pause: who gives up, and who fails.

    python -m benchmarks.contention [--agents 8] [--commits 3] [--rate 20]

Each agent edits a file of its own and calls ``git ralph commit``, ``--commits`` times. The person edits
another file and calls ``git commit <path>``, every other time ``git add`` and ``git commit``, up to
``--rate`` times a second until they are done. A call of the person's that fails is named by what git said: a
lock was in the way, or HEAD moved while it ran, as any other commit would have moved it.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from gitralph.base.errors import BUSY

RALPH = [sys.executable, "-P", "-m", "gitralph"]


@dataclass
class Found:
    """What came of it: exit codes and seconds of the agents, what git said to the person."""

    codes: Counter[int] = field(default_factory=Counter)
    took: list[float] = field(default_factory=list)
    landed: int = 0
    failed: Counter[str] = field(default_factory=Counter)


def _git(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    said = ["-c", "user.name=n", "-c", "user.email=e@example.com", *words]
    return subprocess.run(["git", *said], cwd=root, capture_output=True, text=True, check=False)


def _why(said: str) -> str:
    if "index.lock" in said:
        return "index.lock held"
    if "expected" in said or "reference already exists" in said:
        return "HEAD moved"
    return "ref locked" if ".lock" in said else said.strip()[-200:]


def _person(root: Path, rate: float, stop: threading.Event, found: Found) -> None:
    turn = 0
    while not stop.is_set():
        turn, begun = turn + 1, time.monotonic()
        (root / "person").write_text(f"{turn}\n")
        words = ["commit", "-qm", f"person {turn}", "--", "person"]  # with -a it would take the agents' lines
        if turn % 2:
            done = _git(root, "add", "person")
            if done.returncode:
                found.failed[_why(done.stderr)] += 1
            words = ["commit", "-qm", f"person {turn}"]
        done = _git(root, *words)
        if done.returncode == 0:
            found.landed += 1
        elif done.stderr:  # else there was nothing to commit: the add before it failed
            found.failed[_why(done.stderr)] += 1
        time.sleep(max(0.0, 1 / rate - (time.monotonic() - begun)))


def _agent(root: Path, name: str, commits: int, found: Found) -> None:
    for turn in range(commits):
        before = None if turn == 0 else f"{turn - 1}\n"
        (root / name).write_text(f"{turn}\n")
        event = {"session": name, "cwd": str(root), "event": "edit", "path": name}
        payload = json.dumps({**event, "before": before, "after": f"{turn}\n"}).encode()
        subprocess.run([*RALPH, "hook", "generic"], input=payload, cwd=root, check=True)
        begun = time.monotonic()
        words = [*RALPH, "commit", "--session", name, "-m", f"{name} {turn}"]
        done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
        found.took.append(time.monotonic() - begun)
        found.codes[done.returncode] += 1
        assert done.returncode in (0, BUSY), done.stderr


def run(root: Path, agents: int, commits: int, rate: float) -> Found:
    """Let them work in a fresh repository at ``root``; what came of it."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    for key, value in (("user.name", "n"), ("user.email", "e@example.com"), ("gc.auto", "0")):
        _git(root, "config", key, value)
    for n in range(1000):
        (root / f"d{n % 20}").mkdir(exist_ok=True)
        (root / f"d{n % 20}/f{n}").write_text(f"{n}\n")
    (root / "person").write_text("0\n")
    _git(root, "add", "-A")
    _git(root, "commit", "-qm", "base")
    found, stop = Found(), threading.Event()
    person = threading.Thread(target=_person, args=(root, rate, stop, found))
    if rate:
        person.start()
    try:
        with ThreadPoolExecutor(agents) as pool:
            jobs = [pool.submit(_agent, root, f"agent{n}", commits, found) for n in range(agents)]
            for job in jobs:
                job.result()
    finally:
        stop.set()
        if rate:
            person.join()
    found.took.sort()
    return found


def main() -> None:
    """Print what came of it."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--agents", type=int, default=8)
    options.add_argument("--commits", type=int, default=3)
    options.add_argument("--rate", type=float, default=20)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        found = run(Path(folder) / "repository", given.agents, given.commits, given.rate)
        took = time.monotonic() - begun
    count = len(found.took)
    print(f"agents: {found.codes[0]} of {count} landed, {found.codes[BUSY]} gave up (75)")
    print(f"their wait: median {found.took[count // 2]:.2f} s, longest {found.took[-1]:.2f} s")
    print(f"person: {found.landed} commits in {took:.1f} s, failed: {dict(found.failed) or 'none'}")


if __name__ == "__main__":
    main()
