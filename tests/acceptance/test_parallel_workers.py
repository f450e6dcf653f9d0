"""Two parallel workers and a human in the main checkout: no state is mixed up, nothing is swept."""

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.support import payloads
from tests.support.repo import Repo
from tests.support.runner import COMMAND, PATIENCE

BEADS = ("bd-1", "bd-2")


def _start(repo: Repo, *args: str, stdin: bytes = b"", cwd: Path | None = None) -> "subprocess.Popen[bytes]":
    pipe = subprocess.PIPE
    child = subprocess.Popen(
        [*COMMAND, *args], cwd=cwd or repo.root, env=repo.env, stdin=pipe, stdout=pipe, stderr=pipe
    )
    assert child.stdin is not None
    child.stdin.write(stdin)
    child.stdin.close()
    child.stdin = None
    return child


def _all_well(children: list["subprocess.Popen[bytes]"]) -> list[bytes]:
    done = [child.communicate(timeout=PATIENCE) for child in children]
    assert [child.returncode for child in children] == [0] * len(children), done
    return [out for out, _ in done]


def _launch(repo: Repo, bead: str) -> bytes:
    given = {"worktree_policy": "required", "bead_id": bead, "prompt": "work", "subagent_type": "w"}
    event = {"session_id": "S1", "cwd": str(repo.root), "hook_event_name": "PreToolUse", "tool_name": "Agent"}
    return json.dumps({**event, "tool_input": given}).encode()


def _write(tree: Path, agent: str, number: int) -> bytes:
    """Write a file as a subagent's tool does, and the event of it."""
    path = tree / f"{agent}-{number}.txt"
    path.write_text("work\n")
    fields: dict[str, Any] = {"agent_id": agent, "agent_type": "w"}
    return payloads.encode({**payloads.claude_write("S1", str(tree), str(path), None, "work\n"), **fields})


def test_two_workers_and_a_human(repo: Repo) -> None:
    _all_well([_start(repo, "hook", "claude-code", stdin=_launch(repo, bead)) for bead in BEADS])
    trees = [repo.root / f".worktrees/ralph-{bead}" for bead in BEADS]
    repo.write("u", "the human's\n")
    repo.write("b", "staged by the human\n")
    repo.git("add", "b")
    staged = repo.staged()
    for number in range(3):
        events = [_write(tree, f"a{n}", number) for n, tree in enumerate(trees)]
        _all_well(
            [
                _start(repo, "hook", "claude-code", stdin=event, cwd=tree)
                for event, tree in zip(events, trees, strict=True)
            ]
        )
        repo.write("human.txt", f"{number}\n")
    _all_well([_start(repo, "commit", "--session", "S1", "-m", "work", cwd=tree) for tree in trees])
    for n, tree in enumerate(trees):
        done = Repo(tree, repo.env)
        assert done.changes(done.head()) == {f"a{n}-{k}.txt": "A" for k in range(3)}
        assert done.git("status", "--porcelain") == ""
    for bead in BEADS:
        repo.ralph("worktree", "merge", bead)
        repo.ralph("worktree", "remove", bead, "--session", "S1")
    assert repo.git("ls-tree", "--name-only", "HEAD").count(".txt") == 6
    assert repo.git("status", "--porcelain") == "M  b\n M u\n?? human.txt"
    assert repo.staged() == staged
    records = [json.loads((repo.state / f"beads/{bead}.json").read_text()) for bead in BEADS]
    assert [one["status"] for one in records] == ["removed", "removed"]
    assert repo.git("fsck", "--strict", "--no-dangling", "--no-progress") == ""
