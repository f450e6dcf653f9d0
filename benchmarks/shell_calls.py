"""What watching a shell call costs: the hook before it and the hook after it, against ``git status``.

    python benchmarks/shell_calls.py [--files 20000] [--dirty 20] [--rounds 15]

Prints the best of the rounds in milliseconds, which other load cannot raise, and ratios. ``start`` is
the price of any hook, which is Python's own start: the ratio without it is what watching adds to a
hook that is called anyway.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

GOAL = 1.5
HOOK = [sys.executable, "-P", "-m", "gitralph", "hook", "claude-code"]


def build(root: Path, files: int, dirty: int) -> None:
    """A repository of ``files`` committed files, ``dirty`` of them changed and as many untracked."""
    git = ["git", "-C", str(root), "-c", "user.name=n", "-c", "user.email=e@example.com"]
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for n in range(files):
        path = root / f"d{n % 200}" / f"f{n}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"file {n}\n" * 20)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "base"], check=True)
    for n in range(dirty):
        (root / f"d{n % 200}" / f"f{n}.txt").write_text("changed\n")
        (root / f"new{n}.txt").write_text("new\n")
    subprocess.run([*git, "status"], check=True, stdout=subprocess.DEVNULL)


def timed(action: Callable[[], None], rounds: int) -> float:
    """The shortest time of ``action`` in milliseconds."""
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        taken.append((time.perf_counter() - start) * 1000)
    return min(taken)


def event(root: Path, name: str, tool: str, call: str) -> bytes:
    """A hook event of Claude Code."""
    payload = {
        "session_id": "bench",
        "cwd": str(root),
        "hook_event_name": name,
        "tool_name": tool,
        "tool_input": {"command": "true"},
        "tool_use_id": call,
    }
    return json.dumps(payload).encode()


def measure(root: Path, rounds: int) -> dict[str, float]:
    """Times of ``git status``, of an empty hook, and of the hooks around a shell call."""
    calls = iter(range(10 * rounds))

    def send(name: str, tool: str, call: str) -> None:
        subprocess.run(HOOK, input=event(root, name, tool, call), cwd=root, check=True)

    def status() -> None:
        env = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
        subprocess.run(["git", "status"], cwd=root, env=env, stdout=subprocess.DEVNULL, check=True)

    def pair() -> None:
        call = f"c{next(calls)}"
        send("PreToolUse", "Bash", call)
        send("PostToolUse", "Bash", call)

    pair()
    return {
        "status": timed(status, rounds),
        "start": timed(lambda: send("PreToolUse", "Read", "x"), rounds),
        "call": timed(pair, rounds),
    }


def report(found: dict[str, float]) -> bool:
    """Print the figures; true when the goal is met."""
    status, start, call = found["status"], found["start"], found["call"]
    whole, added = call / 2 / status, (call / 2 - start) / status
    print(f"git status {status:7.1f} ms   empty hook {start:6.1f} ms   one watched event {call / 2:7.1f} ms")
    print(f"ratio of one event to git status: {whole:.2f} with Python's start, {added:.2f} without it")
    return added <= GOAL


def main() -> int:
    """Measure a fresh repository."""
    parser = argparse.ArgumentParser(description="cost of watching a shell call, against git status")
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--dirty", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="shell-calls-") as folder:
        build(Path(folder), given.files, given.dirty)
        return 0 if report(measure(Path(folder), given.rounds)) else 1


if __name__ == "__main__":
    sys.exit(main())
