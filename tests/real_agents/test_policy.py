"""A real Claude Code with the plugin: a worktree by policy, a scribe beside the worker, the loop."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.real_agents.clients import Stage, Turn, call
from tests.support import source

PLUGIN = source.ROOT / "contrib/hooks/claude-code-plugin"
TREE = "${REPO}/.worktrees/ralph-bd-1"

pytestmark = pytest.mark.agents


def launch(kind: str, prompt: str) -> Turn:
    """The main conversation, or a worker, starts a subagent and waits for it."""
    return call(
        "Agent", description=kind, prompt=prompt, subagent_type=f"ralph:{kind}", run_in_background=False
    )


def conversation(name: str, *turns: Turn) -> dict[str, Any]:
    """What the model says to whoever was asked with this word."""
    return {"name": name, "match": {"user": name}, "turns": list(turns)}


SCRIBE = conversation(
    "SCRIBETASK",
    call("Write", file_path=f"{TREE}/CLAUDE.md", content="a fact\n"),
    call("Write", file_path=f"{TREE}/code.py", content="no documentation\n"),
    {"expect": "only documentation", "text": "Written down."},
)
WORKER = conversation(
    "WORKERTASK",
    call("Write", file_path=f"{TREE}/work.txt", content="work\n"),
    launch("scribe", "SCRIBETASK: write the fact down"),
    call("Bash", command=f"cd {TREE} && git add -A && git commit -qm work"),
    {"text": "not yet"},
    {"expect": "iteration 1 of 5", "text": "still not"},
    {"expect": "iteration 2 of 5", "text": "nearly"},
    {"expect": "iteration 3 of 5", "text": "<promise>BEAD COMPLETE</promise>"},
)
HEADER = "worktree_policy: required\nbead_id: bd-1\nmax_iterations: 5\n\n"


def bead(stage: Stage) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((stage.repo / ".git/ralph-sessions/beads/bd-1.json").read_text())
    return found


def start(stage: Stage, *turns: Turn) -> dict[str, Any]:
    stage.ralph("install", "--agent", "claude-code", "--user")
    return stage.run("claude-code", turns, "--arg=--plugin-dir", f"--arg={PLUGIN}", others=[SCRIBE, WORKER])


def test_worker_scribe_loop_and_merge(stage: Stage) -> None:
    start(stage, launch("ralph-worker", HEADER + "WORKERTASK please"))
    tree = stage.repo / ".worktrees/ralph-bd-1"
    assert (tree / "CLAUDE.md").read_text() == "a fact\n"
    assert not (tree / "code.py").exists()
    assert not (stage.repo / "CLAUDE.md").exists()
    found = bead(stage)
    assert (found["status"], found["iteration"]) == ("completed", 3)
    events = (stage.repo / ".git/ralph-sessions/events.jsonl").read_text()
    assert events.count("bead.completed") == 1
    stage.ralph("worktree", "merge", "bd-1")
    assert (stage.repo / "CLAUDE.md").read_text() == "a fact\n"
    stage.ralph("worktree", "remove", "bd-1")
    assert not tree.exists()


def test_a_worker_without_a_bead_is_not_started(stage: Stage) -> None:
    stage.ralph("install", "--agent", "claude-code", "--user")
    report = start(stage, launch("ralph-worker", "worktree_policy: required\n\nWORKERTASK please"))
    assert [name for name, _ in report["played"]] == ["main", "main"]
    assert not Path(stage.repo / ".worktrees").exists()


def test_the_loop_holds_a_worker_in_the_background(stage: Stage) -> None:
    """Claude Code's default launch: the worker runs on while its parent waits, and lists itself."""
    work = conversation(
        "BACKTASK",
        call("Write", file_path=f"{TREE}/work.txt", content="work\n"),
        {"text": "not yet"},
        {"expect": "iteration 1 of 5", "text": "still not"},
        {"expect": "iteration 2 of 5", "text": "nearly"},
        {"expect": "iteration 3 of 5", "text": "<promise>BEAD COMPLETE</promise>"},
    )
    turn = call(
        "Agent", description="w", prompt=HEADER + "BACKTASK please", subagent_type="ralph:ralph-worker"
    )
    stage.ralph("install", "--agent", "claude-code", "--user")
    stage.run("claude-code", [turn], "--arg=--plugin-dir", f"--arg={PLUGIN}", others=[work])
    found = bead(stage)
    assert (found["status"], found["iteration"]) == ("completed", 3)
