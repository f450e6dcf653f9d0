"""``git ralph env``: one paste for a bug report, and no secret in it."""

from gitralph import __version__
from tests.support.home import Home
from tests.support.repo import Repo


def facts(home: Home, **env: str) -> dict[str, str]:
    rows = home.ralph("env", env=env).text.splitlines()
    return {name: value for name, _, value in (row.partition(": ") for row in rows)}


def test_outside_a_repository(home: Home) -> None:
    found = facts(home)
    assert list(found)[:6] == ["git-ralph", "python", "git", "dulwich", "click", "os"]
    assert found["git-ralph"] == __version__
    assert found["repository"].startswith("none (not a git repository")
    assert found["claude-code"] == "not installed"


def test_in_a_linked_worktree(home: Home, repo: Repo) -> None:
    other = repo.worktree("w1")
    other.edit("S1", "a", "x\n")
    home.cwd = other.root
    found = facts(home)
    assert found["git dir"] == f"{repo.root}/.git/worktrees/w1"
    assert found["common dir"] == f"{repo.root}/.git"
    assert found["worktree"] == str(other.root)
    assert found["state dir"] == f"{repo.root}/.git/ralph-sessions"


def test_the_session_that_would_be_meant(home: Home, repo: Repo) -> None:
    home.cwd = repo.root
    assert facts(home)["session"] == "none"
    assert not repo.state.exists()
    repo.edit("S1", "a", "x\n")
    assert facts(home)["session"] == "S1 (generic-1)"
    repo.edit("S2", "b", "x\n")
    assert facts(home)["session"] == "none (more than one session could be meant: 'generic-1', 'generic-2')"
    assert facts(home, RALPH_SESSION="S2")["session"] == "S2 (generic-2)"


def test_a_state_of_a_newer_version_does_not_stop_it(home: Home, repo: Repo) -> None:
    repo.edit("S1", "a", "x\n")
    (repo.state / "format").write_text("99\n")
    home.cwd = repo.root
    assert "state format '99' is not known" in facts(home)["session"]


def test_our_configuration_is_told_and_nothing_else(home: Home, repo: Repo) -> None:
    repo.git("config", "ralph.gcExpire", "2.weeks")
    repo.git("config", "http.extraHeader", "Authorization: secret")
    home.cwd = repo.root
    text = home.ralph("env").text
    assert "ralph.gcexpire: 2.weeks\n" in text
    assert "secret" not in text


def test_variables_by_name_only(home: Home) -> None:
    given = {
        "RALPH_SESSION": "s1",
        "RALPH_TRACKING": "1",
        "RALPH_PLAN": "secret-plan",
        "CLAUDE_CODE_SESSION_ID": "secret-id",
        "ANTHROPIC_API_KEY": "secret-key",
    }
    found = facts(home, **given)
    assert (found["RALPH_SESSION"], found["RALPH_TRACKING"]) == ("s1", "1")
    assert {"RALPH_PLAN", "CLAUDE_CODE_SESSION_ID"} <= set(found["set"].split())
    assert "secret" not in home.ralph("env", env=given).text


def test_installed_agents_are_listed(home: Home) -> None:
    home.ralph("install", "--agent", "pi")
    assert facts(home)["pi"] == f"user '{home.root}/.pi/agent/extensions/gitralph.ts'"


def test_values_cannot_command_a_terminal(home: Home) -> None:
    assert "\033" not in home.ralph("env", env={"RALPH_SESSION": "\033[31mred"}).text
