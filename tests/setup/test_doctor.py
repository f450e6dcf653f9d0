"""``git ralph doctor``: an installed hook is fired for real, and each reason for silence has a name."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gitralph.setup.doctor import probe, samples
from gitralph.setup.install.table import AGENTS
from tests.support import shells
from tests.support.home import Home
from tests.support.probes import FIRE
from tests.support.repo import Repo

pytestmark = [pytest.mark.wired, pytest.mark.usefixtures("probes")]

SETTINGS = ".claude/settings.json"
COMMAND = "git ralph hook claude-code"
WRITERS = "Write|Edit|MultiEdit|NotebookEdit|Bash"


def settings(command: str = COMMAND, *events: str, **more: object) -> str:
    """A settings file that registers ``command`` for ``events``, by default for those we want."""
    wanted = ("SessionStart", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd")
    names = events or wanted
    group = {"hooks": [{"type": "command", "command": command, "timeout": 10}]}
    hooks = {n: [{"matcher": WRITERS, **group} if "Tool" in n else group] for n in names}
    return json.dumps({**more, "hooks": hooks})


def document(home: Home, code: int, **env: str) -> dict[str, Any]:
    found: dict[str, Any] = home.ralph("doctor", "--json", code=code, env=env).json()
    assert found["ok"] == (code == 0)
    return found


def verdict(home: Home, agent: str = "claude-code", code: int = 1, **env: str) -> dict[str, Any]:
    """The verdict on one agent."""
    rows: list[dict[str, Any]] = document(home, code, **env)["agents"]
    return next(row for row in rows if row["agent"] == agent)


def codes(row: dict[str, Any]) -> list[str]:
    return [problem["code"] for problem in row["problems"]]


def test_both_agents_are_alive_after_install(home: Home) -> None:
    home.ralph("install", "--agent", "claude-code", "--agent", "pi")
    found = document(home, 0)
    assert found["repository"] is None
    for row in found["agents"][:2]:
        name = SETTINGS if row["agent"] == "claude-code" else ".pi/agent/extensions/gitralph.ts"
        file = f"{home.root}/{name}"
        assert row == {
            "agent": row["agent"],
            "present": True,
            "installed": [{"scope": "user", "file": file, "read_here": True}],
            "trusted": True,
            "seen": None,
            "alive": True,
            "exact": "payload",
            "shell": True,
            "shell_seen": None,
            "works_by_shell": None,
            "problem": None,
            "fix": None,
            "problems": [],
        }


def test_the_form_for_people(home: Home) -> None:
    home.ralph("install", "--agent", "claude-code")
    done = home.ralph("doctor")
    rows = done.text.splitlines()
    assert rows[0] == "edits are recorded: claude-code hooked up, a real event was recorded"
    assert rows[1] == f"claude-code          alive  user '{home.root}/{SETTINGS}'"
    assert rows[2] == "generic              works  any other agent, wired by hand: git ralph help hooks"
    assert rows[3].startswith("no repository here   -      git ")
    assert rows[4].startswith("not found            -      pi, codex, gemini")
    assert len(rows) == 5
    assert "\033" not in done.text


def test_it_leaves_nothing_behind(home: Home, tmp_path: Path) -> None:
    home.ralph("install", "--agent", "claude-code", "--agent", "pi")
    before = home.tree()
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    home.ralph("doctor", env={"TMPDIR": str(scratch)})
    assert home.tree() == before
    assert list(scratch.iterdir()) == []
    assert list(home.cwd.iterdir()) == []


def test_it_writes_nothing_into_the_repository(
    home: Home, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "fire", FIRE)
    home.ralph("install", "--agent", "claude-code")
    home.cwd = repo.root
    found = document(home, 0)
    assert found["repository"]["root"] == str(repo.root)
    assert not repo.state.exists()


def test_no_agent_installed_is_a_no(home: Home) -> None:
    row = verdict(home)
    assert row["installed"] == []
    assert not row["alive"]
    done = home.ralph("doctor", code=1)
    assert "hint: git ralph install  # hooks up every agent that it finds" in done.said
    (home.root / ".claude").mkdir()
    assert verdict(home)["fix"] == "git ralph install --agent claude-code"


def test_one_that_is_alive_is_enough_although_another_is_there(home: Home) -> None:
    (home.root / ".claude").mkdir()
    home.ralph("install", "--agent", "pi")
    assert codes(verdict(home, code=0)) == ["not-installed"]


def test_git_ralph_not_on_path(home: Home, tmp_path: Path) -> None:
    home.ralph("install", "--agent", "claude-code")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("git", "sh", "cat"):
        (programs / name).symlink_to(str(shutil.which(name, path=home.env["PATH"])))
    row = verdict(home, PATH=str(programs))
    assert not row["alive"]
    assert row["problem"] == "'git-ralph' is not on PATH in the shell that runs hooks"
    assert "PATH" in row["fix"]


def test_tracking_switched_off(home: Home) -> None:
    home.ralph("install", "--agent", "claude-code")
    row = verdict(home, RALPH_TRACKING="0")
    assert (row["alive"], codes(row), row["fix"]) == (False, ["tracking-off"], "unset RALPH_TRACKING")


def test_a_session_of_a_launcher_is_not_touched(home: Home, repo: Repo) -> None:
    home.ralph("install", "--agent", "claude-code")
    home.cwd = repo.root
    repo.start("mine")
    env = {"RALPH_TRACKING": "1", "RALPH_SESSION": "mine", "RALPH_MANIFEST": str(repo.state / "mine.files")}
    assert verdict(home, code=0, **env, CLAUDE_CODE_SESSION_ID="other")["alive"]
    assert repo.pending("mine") == []


@pytest.mark.parametrize("text", ["{", '{"hooks": []}', "[1]"])
def test_settings_that_the_agent_rejects(home: Home, text: str) -> None:
    home.write(SETTINGS, text)
    row = verdict(home)
    assert codes(row) == ["settings-rejected"]
    assert "the agent ignores it" in row["problem"]
    assert "broken" in home.ralph("doctor", code=1).text.splitlines()[1]


@pytest.mark.parametrize("file", [SETTINGS, ".claude/settings.local.json"])
def test_hooks_switched_off(home: Home, file: str) -> None:
    home.write(SETTINGS, settings())
    home.cwd = home.root
    home.write(file, settings(disableAllHooks=True))
    row = verdict(home)
    assert "hooks-disabled" in codes(row)
    assert "'disableAllHooks' is set in" in row["problem"]
    assert not row["alive"]


def test_the_project_file_is_not_read_from_below(home: Home, repo: Repo) -> None:
    home.cwd = repo.root
    home.ralph("install", "--agent", "claude-code", "--project")
    assert verdict(home, code=0)["alive"]
    home.cwd = repo.root / "d"
    row = verdict(home)
    assert codes(row) == ["not-read-here"]
    assert row["installed"][0]["read_here"] is False
    assert f"start it in '{repo.root}'" in row["fix"]


def test_the_project_file_is_not_read_from_a_linked_worktree(home: Home, repo: Repo) -> None:
    home.cwd = repo.root
    home.ralph("install", "--agent", "claude-code", "--agent", "pi", "--project")
    other = repo.worktree("w1")
    home.cwd = other.root
    for agent in ("claude-code", "pi"):
        assert codes(verdict(home, agent)) == ["not-read-here"]
    home.ralph("install", "--agent", "claude-code", "--agent", "pi", "--user")
    assert verdict(home, code=0)["alive"]


def test_trust_of_a_project_is_the_agent_s_to_know(home: Home, repo: Repo) -> None:
    home.cwd = repo.root
    home.ralph("install", "--agent", "pi", "--project")
    assert verdict(home, "pi", code=0)["trusted"] is None
    assert "note: it runs only where you trust the project" in home.ralph("doctor").text


def test_registered_twice(home: Home, repo: Repo) -> None:
    home.cwd = repo.root
    home.ralph("install", "--agent", "claude-code", "--project")
    home.ralph("install", "--agent", "claude-code", "--user")
    row = verdict(home, code=0)
    assert (row["alive"], codes(row)) == (True, ["installed-twice"])
    assert row["fix"] == "git ralph uninstall --agent claude-code --project"


def test_an_old_command(home: Home) -> None:
    home.write(SETTINGS, settings("git-ralph hook claude-code"))
    row = verdict(home, code=0)
    assert (row["alive"], codes(row)) == (True, ["old-command"])
    home.ralph("install", "--agent", "claude-code")
    assert codes(verdict(home, code=0)) == []


def test_events_that_are_missing(home: Home) -> None:
    home.write(SETTINGS, settings(COMMAND, "PostToolUse"))
    row = verdict(home, code=0)
    assert (
        "does not register SessionStart, PreToolUse, PostToolUseFailure, Stop, SessionEnd" in row["problem"]
    )


@pytest.mark.parametrize("matcher", [None, "Bash", "Read|Grep"])
def test_without_the_event_that_tells_of_a_change_no_edit_is_recorded(
    home: Home, matcher: str | None
) -> None:
    """Fired by hand the command works; the agent never fires it."""
    file = home.write(SETTINGS, settings())
    found = json.loads(file.read_text())
    if matcher is None:
        del found["hooks"]["PostToolUse"]
    else:
        found["hooks"]["PostToolUse"][0]["matcher"] = matcher
    file.write_text(json.dumps(found))
    row = verdict(home)
    assert (row["alive"], codes(row)) == (False, ["incomplete"])
    assert row["problem"].endswith("does not register PostToolUse: it records no edit")
    assert home.ralph("doctor", code=1).text.startswith("edits get lost: ")
    home.ralph("install", "--agent", "claude-code")
    assert codes(verdict(home, code=0)) == []


def test_a_registration_that_hears_of_no_change_is_made_good_by_another(home: Home, repo: Repo) -> None:
    home.write(SETTINGS, settings(COMMAND, "PreToolUse"))
    home.cwd = repo.root
    repo.write(SETTINGS, settings())
    row = verdict(home, code=0)
    assert (row["alive"], codes(row)) == (True, ["incomplete", "installed-twice"])


def test_a_command_that_records_nothing(home: Home) -> None:
    home.write(SETTINGS, settings("true # git ralph hook claude-code"))
    row = verdict(home)
    assert codes(row) == ["no-record"]
    assert "ran (exit 0) and recorded nothing" in row["problem"]


def test_a_command_that_fails_is_quoted(home: Home) -> None:
    home.write(SETTINGS, settings("echo 'no such module' >&2; false git ralph hook claude-code"))
    assert verdict(home)["fix"] == "it said: no such module"


def test_a_command_that_hangs(home: Home) -> None:
    text = settings("sleep 60 # git ralph hook claude-code").replace('"timeout": 10', '"timeout": 1')
    home.write(SETTINGS, text)
    assert codes(verdict(home)) == ["too-slow"]


def test_a_command_that_prints_is_heard_by_the_agent(home: Home) -> None:
    home.write(SETTINGS, settings(f"echo hello; {COMMAND}"))
    assert codes(verdict(home, code=0)) == ["noise"]


@pytest.mark.parametrize("how", ["another command", "no hooks", "no file"])
def test_hooks_that_somebody_took_out(home: Home, how: str) -> None:
    home.ralph("install", "--agent", "claude-code", "--agent", "pi")
    file = home.root / SETTINGS
    if how == "no file":
        file.unlink()
    else:
        file.write_text("{}" if how == "no hooks" else file.read_text().replace(COMMAND, "true"))
    row = verdict(home)
    assert codes(row) == ["taken-out"]
    assert "--agent claude-code --user" in row["fix"]
    home.ralph("uninstall", "--agent", "claude-code", "--user")
    assert verdict(home, code=0)["problem"] in (None, "not installed")


def test_hooks_by_hand_count(home: Home) -> None:
    script = home.write("bin/gitralph-claude-code.sh", f"#!/bin/sh\n{COMMAND}\n")
    script.chmod(0o755)
    home.write(SETTINGS, settings(str(script)))
    row = verdict(home, code=0)
    assert (row["alive"], codes(row)) == (True, [])


def test_a_state_folder_of_a_newer_version(home: Home, repo: Repo) -> None:
    home.ralph("install", "--agent", "claude-code")
    repo.edit("S1", "a", "new\n")
    (repo.state / "format").write_text("99\n")
    home.cwd = repo.root
    row = verdict(home)
    assert (row["alive"], codes(row)) == (False, ["state-unusable"])
    assert "state format: '99'" in row["problem"]


def test_a_state_folder_that_is_none(home: Home, repo: Repo) -> None:
    home.ralph("install", "--agent", "claude-code")
    repo.state.write_text("in the way")
    home.cwd = repo.root
    assert codes(verdict(home)) == ["state-unusable"]


def test_a_state_folder_that_cannot_be_written(
    home: Home, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.ralph("install", "--agent", "claude-code")
    repo.edit("S1", "a", "new\n")
    repo.state.chmod(0o500)
    may = os.access  # root may write everywhere, so the answer is made
    monkeypatch.setattr(os, "access", lambda path, mode: path != str(repo.state) and may(path, mode))
    home.cwd = repo.root
    try:
        row = verdict(home)
    finally:
        repo.state.chmod(0o700)
    assert codes(row) == ["state-unusable"]
    assert row["fix"] == f"give yourself write access: chmod u+rwx '{repo.state}'"


def test_what_it_tells_of_the_repository(home: Home, repo: Repo) -> None:
    home.ralph("install", "--agent", "claude-code")
    repo.edit("S1", "a", "new\n")
    repo.hook("claude-code", b"not json\n")
    home.cwd = repo.root
    found = document(home, 0)
    assert [check["check"] for check in found["checks"]] == [
        "git",
        "state format",
        "writable",
        "private",
        "unfinished commits",
        "damaged records",
        "hooks.log",
    ]
    assert "input is not JSON" in found["repository"]["log"][-1]
    repo.state.chmod(0o755)
    check = next(row for row in document(home, 0)["checks"] if row["check"] == "private")
    assert (check["ok"], check["fix"]) == (False, f"chmod 700 '{repo.state}'")


def test_damage_is_told_with_file_and_line(home: Home, repo: Repo) -> None:
    """One line that is no record, and one that does not lead to its text; the neighbours count."""
    home.ralph("install", "--agent", "claude-code")
    for number, path in enumerate("aabb"):
        repo.edit("S1", path, f"text {number}\n")
    home.cwd = repo.root
    journals = sorted((repo.state / "edits").iterdir())
    journals[0].write_bytes(b"not a record\n" + journals[0].read_bytes())
    journals[1].write_bytes(journals[1].read_bytes().replace(b"text 3", b"texts3"))
    check = next(row for row in document(home, 0)["checks"] if row["check"] == "damaged records")
    assert not check["ok"]
    assert check["detail"] == f"'{journals[0]}' line 1, '{journals[1]}' line 2"
    typed = check["fix"].removeprefix("see what it tells of: ")
    said = subprocess.run(typed, shell=True, capture_output=True, check=True).stdout
    assert said == b"not a record\n"


@pytest.mark.parametrize("cut", [1, 40])
def test_a_last_record_that_was_cut_off_is_told(home: Home, repo: Repo, cut: int) -> None:
    """The refusal of a commit sends people here."""
    home.ralph("install", "--agent", "claude-code")
    for number in range(2):
        repo.edit("S1", "a", f"text {number}\n")
    (journal,) = (repo.state / "edits").iterdir()
    journal.write_bytes(journal.read_bytes()[:-cut])
    assert "'git ralph doctor' says where" in repo.run("commit", "--session", "S1", "-m", "x").said
    home.cwd = repo.root
    check = next(row for row in document(home, 0)["checks"] if row["check"] == "damaged records")
    assert (check["ok"], check["detail"]) == (False, f"'{journal}' line 2")


def test_when_an_agent_was_seen_last(home: Home, repo: Repo) -> None:
    home.ralph("install", "--agent", "claude-code")
    before, _ = samples.SAMPLES["claude-code"]("S1", str(repo.root), str(repo.root / "a"), "x")
    repo.hook("claude-code", before[0])
    home.cwd = repo.root
    seen = verdict(home, code=0)["seen"]
    assert seen is not None
    assert seen.endswith("Z")
    assert f"last record here {seen}" in home.ralph("doctor").text


def test_every_agent_has_a_sample() -> None:
    assert set(samples.SAMPLES) == set(AGENTS)


@pytest.mark.parametrize("agent", samples.SAMPLES)
def test_a_probe_is_exact(home: Home, agent: str) -> None:
    shot = FIRE(agent, AGENTS[agent].command, home.env)
    assert (shot.exact, shot.code, shot.printed, shot.shell) == ("payload", 0, "", True)


# --- an agent's shell ---


def _without_shell(home: Home, event: str) -> None:
    """Our hooks, of which one is registered for the tools that write files alone."""
    found = json.loads(settings())
    found["hooks"][event][0]["matcher"] = WRITERS.removesuffix("|Bash")
    home.write(SETTINGS, json.dumps(found))


def _told(repo: Repo, *rows: str) -> str:
    """A session of Claude Code with its transcript, which says what it was told."""
    transcript = repo.root.parent / "transcript.jsonl"
    transcript.write_text("".join(f"{row}\n" for row in rows))
    start, _ = samples.SAMPLES["claude-code"]("S1", str(repo.root), str(repo.root / "a"), "x")
    repo.hook("claude-code", {**start[0], "transcript_path": str(transcript)})
    return str(transcript)


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse"])
def test_a_registration_that_the_shells_events_do_not_pass(home: Home, repo: Repo, event: str) -> None:
    """Edits are recorded, so it is a warning; fired by hand the command hears of both."""
    _without_shell(home, event)
    home.cwd = repo.root
    row = verdict(home, code=0)
    assert (row["alive"], row["shell"], codes(row)) == (True, False, ["incomplete", "no-shell"])
    said = home.ralph("doctor").text
    assert "problem: its shell commands are not recorded" in said
    assert "fix: git ralph install --agent claude-code" in said
    home.ralph("install", "--agent", "claude-code")
    row = verdict(home, code=0)
    assert (row["shell"], codes(row)) == (True, [])


def test_the_shells_events_pass_by_a_second_registration(home: Home, repo: Repo) -> None:
    _without_shell(home, "PreToolUse")
    home.cwd = repo.root
    repo.write(SETTINGS, settings())
    row = verdict(home, code=0)
    assert (row["shell"], codes(row)) == (True, ["incomplete", "installed-twice"])


def test_a_command_that_drops_the_shells_events(home: Home, repo: Repo) -> None:
    """A wrapper of somebody's own: what is registered looks right, and only the probe tells."""
    text = f"grep -v '\"Bash\"' | {COMMAND}"
    home.write(SETTINGS, settings(text))
    home.cwd = repo.root
    row = verdict(home, code=0)
    assert (row["alive"], row["shell"], codes(row)) == (True, False, ["no-shell"])


def test_when_a_shell_command_was_seen_last(home: Home, repo: Repo) -> None:
    home.ralph("install", "--agent", "claude-code")
    home.cwd = repo.root
    assert verdict(home, code=0)["shell_seen"] is None
    shells.run(repo, "S1", "true")
    seen = verdict(home, code=0)["shell_seen"]
    assert seen
    assert f"last shell command here {seen}" in home.ralph("doctor").text


@pytest.mark.parametrize("word", ["true", "false"])
def test_an_agent_that_is_told_to_work_by_shell(home: Home, repo: Repo, word: str) -> None:
    home.ralph("install", "--agent", "claude-code")
    home.cwd = repo.root
    _told(repo, '{"type":"user"}', f'{{"bashFirst":{word}}}')
    row = verdict(home, code=0)
    assert (row["works_by_shell"], codes(row)) == (word == "true", [])
    assert ("told to work by shell" in home.ralph("doctor").text) == (word == "true")


def test_told_to_work_by_shell_and_its_commands_are_not_recorded(home: Home, repo: Repo) -> None:
    """Then nothing that it does is recorded, although an edit would be."""
    _without_shell(home, "PreToolUse")
    home.cwd = repo.root
    transcript = _told(repo, '{"bashFirst":true}')
    row = verdict(home)
    assert (row["alive"], codes(row)) == (False, ["incomplete", "no-shell"])
    assert row["problem"] == "its shell commands are not recorded, and it was told to work by shell"
    assert home.ralph("doctor", code=1).text.startswith("edits get lost: ")
    os.unlink(transcript)
    row = verdict(home, code=0)
    assert (row["works_by_shell"], row["alive"]) == (None, True)


def test_shell_commands_that_nobody_wants_to_look_at(home: Home, repo: Repo) -> None:
    """A choice, and no fault, unless the agent makes its changes that way."""
    home.ralph("install", "--agent", "claude-code")
    home.cwd = repo.root
    repo.git("config", "ralph.shellEdits", "off")
    assert codes(verdict(home, code=0)) == []
    _told(repo, '{"bashFirst":true}')
    row = verdict(home)
    assert (row["alive"], codes(row)) == (False, ["shell-off"])
    assert row["fix"] == "git config --unset ralph.shellEdits"
    repo.git("config", "--unset", "ralph.shellEdits")
    assert codes(verdict(home, code=0)) == []


# --- one registration that works is enough ---


def _user_and_project(home: Home, repo: Repo) -> Path:
    """Hooks of the user's own settings; returns the project's file beside them."""
    home.cwd = repo.root
    home.ralph("install", "--agent", "claude-code", "--user")
    file = repo.root / SETTINGS
    file.parent.mkdir(exist_ok=True)
    return file


def test_alive_by_the_users_hooks_although_those_of_the_project_were_taken_out(
    home: Home, repo: Repo
) -> None:
    file = _user_and_project(home, repo)
    home.ralph("install", "--agent", "claude-code", "--project")
    file.write_text("{}")
    row = verdict(home, code=0)
    assert (row["alive"], codes(row)) == (True, ["taken-out"])
    assert "alive" in home.ralph("doctor").text.splitlines()[1]


def test_alive_by_the_users_hooks_although_the_projects_file_is_rejected(home: Home, repo: Repo) -> None:
    _user_and_project(home, repo).write_text("{")
    row = verdict(home, code=0)
    assert (row["alive"], codes(row)) == (True, ["settings-rejected"])


def test_alive_by_the_users_hooks_although_the_projects_command_records_nothing(
    home: Home, repo: Repo
) -> None:
    _user_and_project(home, repo).write_text(settings("true # git ralph hook claude-code"))
    row = verdict(home, code=0)
    assert (row["alive"], codes(row)) == (True, ["installed-twice", "no-record"])


def test_dead_where_only_a_file_that_is_not_read_would_work(home: Home, repo: Repo) -> None:
    home.cwd = repo.root
    home.ralph("install", "--agent", "claude-code", "--project")
    home.write(SETTINGS, settings("true # git ralph hook claude-code"))
    assert verdict(home, code=0)["alive"]
    home.cwd = repo.root / "d"
    row = verdict(home)
    assert (row["alive"], "no-record" in codes(row)) == (False, True)


def test_hooks_switched_off_in_the_project_are_off_for_all(home: Home, repo: Repo) -> None:
    _user_and_project(home, repo).write_text('{"disableAllHooks": true}')
    row = verdict(home)
    assert (row["alive"], codes(row)) == (False, ["hooks-disabled"])
