"""Install, doctor and uninstall for each agent: what is written, what is kept, who has to be trusted."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gitralph.hook.agents import ADAPTERS
from gitralph.setup.doctor.samples import SAMPLES
from gitralph.setup.install.table import AGENTS, EXTENSION, MANUAL, SETTINGS, Agent
from tests.support.home import Home
from tests.support.repo import Repo

pytestmark = [pytest.mark.wired, pytest.mark.usefixtures("probes")]

WIRED = [agent for agent in AGENTS.values() if agent.form != MANUAL]
FILES = [agent for agent in AGENTS.values() if agent.form == SETTINGS]
each = pytest.mark.parametrize("agent", WIRED, ids=lambda agent: agent.name)
each_file = pytest.mark.parametrize("agent", FILES, ids=lambda agent: agent.name)


def user_file(agent: Agent) -> str:
    return f"{agent.folder}/{agent.user_file}"


def verdict(home: Home, agent: str, code: int = 0, **env: str) -> dict[str, Any]:
    rows: list[dict[str, Any]] = home.ralph("doctor", "--json", code=code, env=env).json()["agents"]
    return next(row for row in rows if row["agent"] == agent)


def codes(row: dict[str, Any]) -> list[str]:
    return [problem["code"] for problem in row["problems"]]


def without(home: Home, program: str) -> str:
    """PATH without the folders that hold a program."""
    parts = home.env["PATH"].split(":")
    return ":".join(part for part in parts if not os.path.exists(f"{part}/{program}"))


def test_every_adapter_has_an_entry_and_a_sample() -> None:
    assert set(AGENTS) == set(ADAPTERS) == set(SAMPLES)


@each
def test_it_is_installed_alive_and_gone_without_a_trace(agent: Agent, home: Home) -> None:
    path = without(home, "codex")
    home.ralph("install", "--agent", agent.name)
    assert (home.root / user_file(agent)).exists()
    row = verdict(home, agent.name, PATH=path)
    assert (row["alive"], codes(row)) == (True, [])
    assert row["exact"] == "payload"
    assert "already installed" in home.ralph("install", "--agent", agent.name).text
    home.ralph("uninstall", "--agent", agent.name)
    assert home.tree() == {}


@each_file
def test_events_of_both_tools_and_of_the_session_are_registered(agent: Agent, home: Home) -> None:
    home.ralph("install", "--agent", agent.name)
    text = (home.root / user_file(agent)).read_text()
    hooks = json.loads(text)["hooks"]
    events = [name.lower() for name in hooks]
    assert {"sessionstart", "sessionend"} < set(events)
    assert any("stop" in name or name == "afteragent" for name in events)
    assert any(name.startswith(("pre", "before")) for name in events)
    assert any(name.startswith(("post", "after")) for name in events)
    assert '"matcher": ""' not in text
    for groups in hooks.values():
        handlers = groups if agent.flat else [one for group in groups for one in group["hooks"]]
        assert [one[agent.keys[0]] for one in handlers] == [agent.command]
        assert 5 <= handlers[0][agent.keys[1]] * agent.unit <= 60
    for group in hooks.get("PreToolUse", hooks.get("BeforeTool", hooks.get("preToolUse"))):
        matched = set((group.get("matcher") or "Bash").split("|"))
        assert matched & {"Bash", "run_shell_command", "Shell", "Execute"}


@each_file
def test_foreign_hooks_keep_their_bytes(agent: Agent, home: Home) -> None:
    event = agent.events[1][0]
    theirs: dict[str, Any] = {"type": "command", agent.keys[0]: "their-hook", agent.keys[1]: 5}
    group = theirs if agent.flat else {"matcher": "x", "hooks": [theirs]}
    text = json.dumps({"version": 1, "a": [1], "hooks": {event: [group]}}, indent="\t")
    home.write(user_file(agent), text)
    home.ralph("install", "--agent", agent.name)
    assert "their-hook" in home.read(user_file(agent)).decode()
    home.ralph("uninstall", "--agent", agent.name)
    assert home.read(user_file(agent)).decode() == text


COMMENTED = """\
// mine
{
  /* kept: "hooks" */
  "ui": {"theme": "x"}, // and this, too
  "hooks": {
    // nothing yet
  }
}
"""


@pytest.mark.parametrize("agent", [a for a in FILES if a.comments], ids=lambda a: a.name)
def test_comments_stay_where_the_format_has_them(agent: Agent, home: Home) -> None:
    home.write(user_file(agent), COMMENTED)
    home.ralph("install", "--agent", agent.name)
    after = home.read(user_file(agent)).decode()
    for comment in ("// mine", '/* kept: "hooks" */', "// and this, too", "// nothing yet"):
        assert comment in after
    assert verdict(home, agent.name)["alive"]
    (home.root / user_file(agent)).write_text(after + "\n")
    home.ralph("uninstall", "--agent", agent.name)
    left = home.read(user_file(agent)).decode()
    assert "git ralph" not in left
    assert "// and this, too" in left


@pytest.mark.parametrize("agent", [a for a in FILES if not a.comments], ids=lambda a: a.name)
def test_comments_are_refused_where_the_agent_would_not_take_them(agent: Agent, home: Home) -> None:
    home.write(user_file(agent), COMMENTED)
    said = home.ralph("install", "--agent", agent.name, code=4).said
    assert "is not valid JSON" in said
    assert home.read(user_file(agent)).decode() == COMMENTED
    assert "settings-rejected" in codes(verdict(home, agent.name, code=1))


def test_a_missing_git_ralph_is_no_denial_to_copilot(home: Home) -> None:
    """It takes any failing hook for a no."""
    assert AGENTS["copilot"].command.endswith("|| true")
    home.write(
        ".copilot/hooks/gitralph.json",
        '{"version": 1, "hooks": {"preToolUse": [{"type": "command", '
        '"bash": "git ralph hook copilot", "timeoutSec": 30}]}}',
    )
    assert "brought up to date" in home.ralph("install", "--agent", "copilot").text
    assert home.read(".copilot/hooks/gitralph.json").count(b"git ralph hook copilot || true") == 8


def test_an_install_without_the_shell_tool_is_brought_up_to_date(home: Home) -> None:
    home.ralph("install", "--agent", "claude-code")
    file = home.root / ".claude/settings.json"
    file.write_text(file.read_text().replace("NotebookEdit|Bash", "NotebookEdit"))
    assert codes(verdict(home, "claude-code")) == ["incomplete"]
    assert "brought up to date" in home.ralph("install", "--agent", "claude-code").text
    assert codes(verdict(home, "claude-code")) == []


@pytest.mark.parametrize(
    ("agent", "is_read"),
    [("codex", True), ("opencode", True), ("gemini", False), ("qwen", False), ("copilot", False)],
)
def test_started_in_a_subdirectory(agent: str, is_read: bool, home: Home, repo: Repo) -> None:
    home.cwd = repo.root / "d"
    home.ralph("install", "--agent", agent, "--project")
    home.root.joinpath(".gemini").mkdir(exist_ok=True)
    row = verdict(home, agent, code=int(not is_read), PATH=without(home, "codex"))
    assert ("not-read-here" in codes(row)) is not is_read


TRUST: dict[str, tuple[str, Any]] = {
    "gemini": (".gemini/trustedFolders.json", lambda root: {root: "TRUST_FOLDER"}),
    "qwen": (".qwen/trustedFolders.json", lambda root: {root: "TRUST_FOLDER"}),
    "copilot": (".copilot/config.json", lambda root: {"trusted_folders": [root]}),
}


@pytest.mark.parametrize("agent", TRUST)
def test_an_untrusted_folder_is_named_and_a_trusted_one_is_not(agent: str, home: Home, repo: Repo) -> None:
    home.cwd = repo.root
    if agent == "qwen":  # off unless it is switched on
        home.ralph("install", "--agent", agent, "--project")
        assert verdict(home, agent)["trusted"] is True
        home.write(".qwen/settings.json", '{"security": {"folderTrust": {"enabled": true}}}')
    said = home.ralph("install", "--agent", agent, "--project").said
    assert "trust" in said
    row = verdict(home, agent, code=1)
    assert (row["trusted"], row["alive"], codes(row)) == (False, False, ["not-trusted"])
    file, rule = TRUST[agent]
    home.write(file, json.dumps(rule(str(repo.root))))
    row = verdict(home, agent)
    assert (row["trusted"], row["alive"], codes(row)) == (True, True, [])


def test_a_record_here_speaks_for_a_trust_given_for_one_run(home: Home, repo: Repo) -> None:
    home.cwd = repo.root
    home.ralph("install", "--agent", "copilot", "--project")
    before, after = SAMPLES["copilot"]("S1", str(repo.root), str(repo.root / "n"), "new\n")
    for event in before:
        repo.hook("copilot", event)
    repo.write("n", "new\n")
    repo.hook("copilot", after[0])
    row = verdict(home, "copilot")
    assert (row["trusted"], row["alive"], codes(row)) == (None, True, ["not-trusted"])


FAKE_CODEX = """\
#!/usr/bin/env python3
import json, os, sys
for line in sys.stdin:
    row = json.loads(line)
    if row.get("method") == "hooks/list":
        path = os.path.expanduser("~/.codex/hooks.json")
        hook = {"sourcePath": path, "enabled": True, "trustStatus": "STATUS"}
        print(json.dumps({"method": "noise"}))
        print(json.dumps({"id": row["id"], "result": {"data": [{"hooks": [hook]}]}}), flush=True)
"""


@pytest.mark.parametrize("status", ["trusted", "untrusted", "modified"])
def test_codex_is_asked_whether_it_trusts_our_hooks(status: str, home: Home) -> None:
    said = home.ralph("install", "--agent", "codex").said
    assert "/hooks" in said
    program = home.write("bin/codex", FAKE_CODEX.replace("STATUS", status))
    program.chmod(0o755)
    row = verdict(home, "codex", code=int(status != "trusted"), PATH=f"{program.parent}:{home.env['PATH']}")
    assert row["trusted"] is (status == "trusted")
    assert codes(row) == ([] if status == "trusted" else ["not-trusted"])


def test_codex_that_trusts_one_of_two_registrations_runs_our_hooks(home: Home, repo: Repo) -> None:
    """The user's hooks work, whatever it thinks of the project's."""
    home.cwd = repo.root
    home.ralph("install", "--agent", "codex", "--user")
    home.ralph("install", "--agent", "codex", "--project")
    text = FAKE_CODEX.replace("STATUS", "trusted").replace(
        '"hooks": [hook]',
        '"hooks": [hook, {"sourcePath": os.path.join(os.getcwd(), ".codex/hooks.json"), "enabled": True, '
        '"trustStatus": "untrusted"}]',
    )
    program = home.write("bin/codex", text)
    program.chmod(0o755)
    row = verdict(home, "codex", code=0, PATH=f"{program.parent}:{home.env['PATH']}")
    assert (row["trusted"], row["alive"], codes(row)) == (True, True, ["installed-twice"])


def test_a_codex_that_does_not_answer_leaves_it_open(home: Home) -> None:
    home.ralph("install", "--agent", "codex")
    program = home.write("bin/codex", "#!/bin/sh\nexit 2\n")
    program.chmod(0o755)
    row = verdict(home, "codex", PATH=f"{program.parent}:{home.env['PATH']}")
    assert (row["trusted"], row["alive"]) == (None, True)


@pytest.mark.parametrize("agent", ["cursor", "droid"])
def test_what_was_never_seen_at_work_says_so(agent: str, home: Home) -> None:
    assert f"'{agent}' is experimental" in home.ralph("install", "--agent", agent).said


def test_a_hook_without_a_record_for_many_commits(home: Home, repo: Repo) -> None:
    home.cwd = repo.root
    home.ralph("install", "--agent", "pi")
    os.utime(home.root / ".pi/agent/extensions/gitralph.ts", (1_600_000_000, 1_600_000_000))
    assert codes(verdict(home, "pi")) == []
    for number in range(20):
        repo.write("a", f"{number}\n")
        repo.commit_all("more")
    row = verdict(home, "pi")
    assert codes(row) == ["no-record-since"]
    assert "in 21 commits" in row["problem"]


def test_commit_warns_when_a_session_is_silent_while_files_change(repo: Repo) -> None:
    """Dead hooks look exactly like success."""
    repo.start("S1")
    assert "may be dead" not in repo.ralph("commit", "--session", "S1", "-m", "x").said
    later = os.stat(repo.root).st_mtime + 60
    repo.write("a", "changed by an agent without hooks\n")
    os.utime(repo.root / "a", (later, later))
    said = repo.ralph("commit", "--session", "S1", "-m", "x").said
    assert "warning: session 'session-1' recorded no edit since" in said
    assert "git ralph doctor" in said
    repo.edit("S1", "b", "mine\n")
    assert "may be dead" not in repo.ralph("commit", "--session", "S1", "-m", "x").said
    assert "may be dead" not in repo.ralph("commit", "--session", "S1", "-m", "x").said


def test_the_plugin_of_opencode_speaks_the_envelope() -> None:
    text = Path(__file__).parents[2] / "gitralph/setup/install/data/gitralph.js"
    for key in ("hook_event_name", "session_id", "parent_session_id", "cwd", "worktree", "event"):
        assert key in text.read_text()
    assert AGENTS["opencode"].form == EXTENSION
