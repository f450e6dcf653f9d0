"""Agents that may write documentation only."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support import source
from tests.support.repo import Repo
from tests.support.runner import Done

SCRIPT = source.ROOT / "contrib/hooks/doc-only-check.sh"


def check(repo: Repo, path: object, tool: str = "Write", code: int = 0, **fields: Any) -> Done:
    given = fields.pop("tool_input", {"file_path": path, "content": "x\n"})
    payload = {
        "session_id": "S1",
        "cwd": str(repo.root),
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": given,
        "tool_use_id": "t1",
        **fields,
    }
    done = repo.run("hook", "claude-code", stdin=json.dumps(payload).encode(), env={"RALPH_DOC_ONLY": "1"})
    assert done.code == code, (path, done.said)
    assert done.out == b""
    return done


@pytest.mark.parametrize("path", ["README.md", "docs/a.md", "CLAUDE.md", "CLAUDE.local.md", "README.MD"])
def test_documentation_may_be_written(repo: Repo, path: str) -> None:
    """Markdown and the agents' own notes pass without a word."""
    for tool in ("Write", "Edit"):
        check(repo, path, tool)
        check(repo, str(repo.root / path), tool)
    linked = repo.worktree("w")
    check(repo, str(linked.root / path))
    check(linked, str(repo.root / path))
    assert not repo.state.exists()


DENIED = [
    "src/app.py",
    "src/CLAUDE.py",
    "x.md/evil.py",
    "a.md.py",
    "notes.md ",
    "../outside.md",
    "/tmp/x.md",
    "",
]


@pytest.mark.parametrize("path", DENIED)
def test_code_is_denied(repo: Repo, path: str) -> None:
    """Names that only look like documentation, paths outside, links to code: denied, the file named."""
    assert path in check(repo, path, code=2).said


def test_a_link_to_code_and_no_path_are_denied(repo: Repo) -> None:
    repo.write("src/app.py", "x\n")
    (repo.root / "docs").mkdir()
    os.symlink("../src/app.py", repo.file("docs/x.md"))
    os.symlink(".", repo.file("loop"))
    assert "docs/x.md" in check(repo, "docs/x.md", code=2).said
    assert "Write" in check(repo, None, code=2, tool_input={"content": "x"}).said
    check(repo, None, code=2, tool_input={"file_path": 5})
    check(repo, None, code=2, tool_input="text")
    check(repo, "loop/README.md")
    for tool in ("Read", "Bash", "Grep", "TodoWrite"):
        check(repo, "src/app.py", tool)


def test_code_is_denied_by_the_script(repo: Repo) -> None:
    for path, code in (("README.md", 0), ("src/app.py", 2)):
        payload = {"tool_name": "Write", "tool_input": {"file_path": path}, "cwd": str(repo.root)}
        done = subprocess.run(
            [SCRIPT],
            cwd=repo.root,
            env=repo.env,
            input=json.dumps(payload).encode(),
            capture_output=True,
            check=False,
        )
        assert done.returncode == code
        assert done.stdout == b""
        assert (path.encode() in done.stderr) is bool(code)


def test_multi_edit_notebook_and_patch_are_checked(repo: Repo) -> None:
    check(repo, None, "MultiEdit", 2, tool_input={"file_path": "a.md", "edits": [{"file_path": "b.py"}]})
    check(repo, None, "MultiEdit", 0, tool_input={"file_path": "a.md", "edits": [{"old_string": "x"}]})
    check(repo, None, "NotebookEdit", 2, tool_input={"notebook_path": "x.ipynb"})
    patch = "*** Begin Patch\n*** Update File: README.md\n*** Move to: run.py\n*** End Patch\n"
    check(repo, None, "apply_patch", 2, tool_input={"command": patch})
    check(repo, None, "apply_patch", 0, tool_input={"command": patch.replace("run.py", "docs/run.md")})


def test_configuration_extends_the_patterns(repo: Repo) -> None:
    check(repo, "docs/x.txt", code=2)
    repo.git("config", "--add", "ralph.docs.pattern", "docs/*.txt")
    repo.git("config", "--add", "ralph.docs.pattern", "LICENSE")
    check(repo, "docs/x.txt")
    check(repo, "LICENSE")
    check(repo, "x.txt", code=2)


def scribe(repo: Repo, path: Path, code: int = 0, **fields: Any) -> None:
    payload = {
        "session_id": "S1",
        "cwd": str(repo.root),
        "hook_event_name": "PreToolUse",
        "tool_name": "Write",
        "tool_input": {"file_path": str(path), "content": "x\n"},
        "tool_use_id": "t1",
        "agent_type": "ralph:scribe",
        **fields,
    }
    assert repo.run("hook", "claude-code", stdin=json.dumps(payload).encode()).code == code


def test_a_scribe_of_a_worker_writes_in_the_workers_worktree(repo: Repo) -> None:
    def send(**fields: Any) -> str:
        payload = {"session_id": "S1", "cwd": str(repo.root), **fields}
        done = repo.run("hook", "claude-code", stdin=json.dumps(payload).encode())
        assert done.code == 0
        return done.text

    given = {"worktree_policy": "required", "bead_id": "bd-1", "prompt": "p", "subagent_type": "w"}
    launch = {"hook_event_name": "PreToolUse", "tool_name": "Agent"}
    send(**launch, tool_input=given)
    send(hook_event_name="SubagentStart", agent_id="a1", agent_type="w")
    ask = {"subagent_type": "scribe", "prompt": "write it down"}
    assert send(**launch, tool_input=ask) == "", "from the main conversation: the main checkout"
    tree = repo.root / ".worktrees/ralph-bd-1"
    assert str(tree) in send(**launch, agent_id="a1", tool_input=ask)
    send(hook_event_name="SubagentStart", agent_id="a2", agent_type="scribe")
    scribe(repo, tree / "CLAUDE.md", agent_id="a2")
    scribe(repo, repo.root / "CLAUDE.md", 2, agent_id="a2")
    scribe(repo, repo.root / "CLAUDE.md", agent_id="a3")
    scribe(repo, repo.root / "code.py", 2, agent_id="a3")


def test_an_allowed_edit_of_a_scribe_is_recorded(repo: Repo) -> None:
    scribe(repo, repo.root / "CLAUDE.md", agent_id="a3")
    repo.write("CLAUDE.md", "x\n")
    payload = {
        "session_id": "S1",
        "cwd": str(repo.root),
        "hook_event_name": "PostToolUse",
        "tool_name": "Write",
        "tool_input": {"file_path": str(repo.root / "CLAUDE.md"), "content": "x\n"},
        "tool_use_id": "t1",
        "agent_type": "scribe",
        "agent_id": "a3",
        "tool_response": {"type": "create", "content": "x\n", "originalFile": None},
    }
    repo.hook("claude-code", payload)
    assert repo.pending("S1") == ["CLAUDE.md"]
