"""What real agents are told before they edit near another session's lines, and before they discard."""

import json
import os
import subprocess

import pytest

from tests.real_agents.clients import Stage, Turn, call, need
from tests.real_agents.scripts import change_lines
from tests.support import payloads

pytestmark = pytest.mark.agents

SHELLS = {
    "claude-code": ("Bash", "command"),
    "codex": ("exec_command", "cmd"),
    "copilot": ("bash", "command"),
    "gemini": ("run_shell_command", "command"),
    "opencode": ("bash", "command"),
    "pi": ("bash", "command"),
    "qwen": ("run_shell_command", "command"),
}
_MORE: dict[str, dict[str, object]] = {
    "claude-code": {"description": "run"},
    "copilot": {"description": "run", "mode": "sync"},
    "gemini": {"description": "run"},
    "opencode": {"description": "run"},
    "qwen": {"description": "run", "is_background": False},
}
# Their documents name a context; what comes ahead of a tool the model is not given (0.61.0, 0.24.4).
WITHOUT_CONTEXT = ("gemini", "qwen")


def shell(agent: str, command: str) -> Turn:
    name, key = SHELLS[agent]
    return call(name, **{key: command}, **_MORE.get(agent, {}))


def another_session(stage: Stage) -> None:
    """``S2``, at work, has changed line 30 of ``shared.txt``; a person the user's file."""
    file = stage.repo / "shared.txt"
    before = file.read_text()
    file.write_text(before.replace("line 30\n", "theirs 30\n"))
    event = payloads.edit("S2", str(stage.repo), "shared.txt", before, file.read_text())
    words = ["git", "ralph", "hook", "generic"]
    subprocess.run(words, cwd=stage.repo, env=stage.environ, input=payloads.encode(event), check=True)
    # that process has ended: what tells that the session lives is its last event
    record = stage.repo / ".git/ralph-sessions/S2.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), "process": None}))
    (stage.repo / "u.txt").write_text("the user's\nand more\n")


@pytest.mark.parametrize("agent", SHELLS)
def test_it_is_told_and_denied(workshop: Stage, agent: str) -> None:
    need(agent)
    workshop.ralph("install", "--agent", agent, "--user")
    another_session(workshop)
    turns = change_lines(agent, range(33, 34), "mine")
    denied = shell(agent, "git checkout -- shared.txt u.txt")
    if agent not in WITHOUT_CONTEXT:
        denied["expect_any"] = "has uncommitted line 30 in 'shared.txt'"
    allowed = {**shell(agent, "echo kept > kept.txt"), "expect_any": "would throw away uncommitted work"}
    workshop.run(agent, [*turns, denied, allowed])
    text = (workshop.repo / "shared.txt").read_text()
    assert "theirs 30\n" in text
    assert "mine 33\n" in text
    assert (workshop.repo / "u.txt").read_text() == "the user's\nand more\n"
    assert (workshop.repo / "kept.txt").read_text() == "kept\n"
    log = (workshop.repo / ".git/ralph-sessions/hooks.log").read_text()
    assert log.count("denied 'git checkout'") == 1
    assert not os.path.exists(workshop.repo / ".git/index.lock")
