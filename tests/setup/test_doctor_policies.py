"""``git ralph doctor`` says where a worktree policy is stated and nothing holds launches to it."""

import json
import os
from pathlib import Path

import pytest

from tests.support.repo import Repo

AGENT = "---\nname: worker\nworktree_policy: required\n---\nWork.\n"


def _policy(repo: Repo) -> dict[str, object] | None:
    done = repo.run("doctor", "--json")
    rows: list[dict[str, object]] = json.loads(done.out)["checks"]
    return next((row for row in rows if row["check"] == "worktree policies"), None)


def test_nothing_is_said_where_no_agent_states_one(repo: Repo) -> None:
    repo.write(".claude/agents/plain.md", "---\nname: plain\n---\nworktree_policy is not stated here\n")
    assert _policy(repo) is None


def test_a_policy_that_nobody_enforces_is_told(repo: Repo) -> None:
    """With the page that says how; it stops nothing."""
    repo.write(".claude/agents/worker.md", AGENT)
    row = _policy(repo)
    assert row is not None
    assert row["ok"] is False
    assert "worker.md" in str(row["detail"])
    assert repo.ralph("help", "policy").code == 0
    assert row["fix"] == "git ralph help policy"


@pytest.mark.parametrize("kind", ["plugin", "hook", "link"])
def test_a_plugin_or_a_hook_of_ours_enforces_it(repo: Repo, tmp_path: Path, kind: str) -> None:
    repo.write(".claude/agents/worker.md", AGENT)
    hook = {"SubagentStop": [{"hooks": [{"type": "command", "command": "git-ralph hook claude-code"}]}]}
    text = json.dumps({"enabledPlugins": {"ralph@shelf": True}} if kind == "plugin" else {"hooks": hook})
    if kind == "link":
        (tmp_path / "settings.json").write_text(text)
        os.symlink(tmp_path / "settings.json", repo.root / ".claude/settings.json")
    else:
        repo.write(".claude/settings.json", text)
    row = _policy(repo)
    assert row is not None
    assert row["ok"] is True
