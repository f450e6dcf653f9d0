"""Where the session of a command comes from: option, variables, agent, task, the only one."""

import json

import pytest

from gitralph.base import process
from gitralph.commit import guard_script
from gitralph.hook import variables
from tests.support import payloads
from tests.support.repo import Repo

TEN = "".join(f"line {n}\n" for n in range(1, 11))
MINE = TEN.replace("line 9\n", "line nine\n")


def _two(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    repo.edit("S2", "b", MINE)


def test_several_candidates_are_refused_and_listed(repo: Repo) -> None:
    """Without an id commit does not choose."""
    _two(repo)
    answer = repo.commit(None, code=4)
    assert f"'{repo.called('S1')}'" in answer.said
    assert f"'{repo.called('S2')}'" in answer.said
    assert repo.ralph("ls-files", "-z").text == "a\0b\0"
    assert repo.owners() == {"a": "other", "b": "other"}
    patch = repo.ralph("diff").text
    assert "b/a\n" in patch
    assert "b/b\n" in patch


@pytest.mark.parametrize("command", [["track", "--", "u"], ["commit", "-m", "x"]])
def test_every_command_that_writes_refuses_several_candidates(repo: Repo, command: list[str]) -> None:
    _two(repo)
    repo.ralph(*command, code=4)


def test_nothing_pending_at_all(repo: Repo) -> None:
    assert repo.commit(None).status == "nothing"


def test_the_option_beats_the_environment(repo: Repo) -> None:
    _two(repo)
    repo.ralph("commit", "--session", "S2", "-m", "x", env={"RALPH_SESSION": "S1"})
    assert repo.changes() == {"b": "M"}


def test_ralph_session_beats_the_only_live_one(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    repo.start("S2")
    done = repo.ralph("commit", "-m", "x", "--json", env={"RALPH_SESSION": "S2"})
    assert done.json()["status"] == "nothing"
    assert done.json()["session"] == "S2"


@pytest.mark.parametrize("name", variables.PUBLISHED)
def test_an_agents_published_id_that_we_know_counts(repo: Repo, name: str) -> None:
    _two(repo)
    repo.ralph("commit", "-m", "x", env={name: "S1"})
    assert repo.changes() == {"a": "M"}


def test_a_published_id_that_nobody_knows_is_not_nobody(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    env = {"CODEX_THREAD_ID": "unknown", "PI_SESSION_ID": "../S1"}
    said = repo.ralph("commit", "-m", "x", env=env, code=4).said
    assert "this agent ('unknown', '../S1') has recorded nothing here" in said
    assert repo.pending("S1") == ["a"]


def test_the_only_session_with_pending_work_live_or_ended(repo: Repo) -> None:
    _two(repo)
    repo.ralph("session", "end", "S2")
    repo.start("S3")  # live, but nothing pending
    repo.commit(None, code=4)
    repo.commit("S1")
    repo.commit(None)
    assert repo.changes() == {"b": "M"}


def test_ralph_session_does_not_count_without_tracking(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    repo.start("S2")
    repo.ralph("commit", "-m", "x", env={"RALPH_SESSION": "S2", "RALPH_TRACKING": "0"})
    assert repo.changes() == {"a": "M"}


@pytest.mark.parametrize("given", ["../x", "a/b", "x" * 121, "-x", "a..b", "", "a b"])
def test_an_id_that_is_not_allowed_is_refused(repo: Repo, given: str) -> None:
    repo.ralph("commit", f"--session={given}", "-m", "x", code=129)
    if given:
        repo.ralph("commit", "-m", "x", env={"RALPH_SESSION": given}, code=129)


def test_under_ralph_session_an_agents_own_id_is_an_alias(repo: Repo) -> None:
    repo.start("S1")
    env = {"RALPH_TRACKING": "1", "RALPH_SESSION": "S1"}
    repo.write("a", MINE)
    repo.hook(
        "claude-code",
        payloads.claude_write("own-id", str(repo.root), str(repo.file("a")), TEN, MINE),
        env=env,
    )
    assert json.loads((repo.state / "S1.json").read_text())["aliases"] == ["own-id"]
    assert [row["id"] for row in repo.ralph("session", "list", "--json").json()] == ["S1"]
    # the agent's shell has both: they are the same session
    repo.ralph("commit", "-m", "x", env={**env, "CLAUDE_CODE_SESSION_ID": "own-id"})
    assert repo.changes() == {"a": "M"}


def test_two_sources_that_name_two_known_sessions_are_refused(repo: Repo) -> None:
    _two(repo)
    env = {"RALPH_SESSION": "S1", "CLAUDE_CODE_SESSION_ID": "S2"}
    done = repo.ralph("commit", "-m", "x", env=env, code=4)
    assert f"'{repo.called('S1')}'" in done.said
    assert f"'{repo.called('S2')}'" in done.said
    repo.ralph("track", "--", "u", env=env, code=4)
    repo.ralph("commit", "--session", "S1", "-m", "x", env=env)
    assert repo.changes() == {"a": "M"}


def test_reading_commands_show_all_where_two_could_be_meant(repo: Repo) -> None:
    _two(repo)
    env = {"RALPH_SESSION": "S1", "CLAUDE_CODE_SESSION_ID": "S2"}
    assert repo.ralph("ls-files", "-z", env=env).text == "a\0b\0"
    assert len(repo.ralph("status", "--json", env=env).json()["paths"]) == 2
    assert repo.ralph("diff", "--stat", env=env).out


def test_two_agents_that_publish_an_id_each_are_refused(repo: Repo) -> None:
    _two(repo)
    repo.ralph("commit", "-m", "x", env={"CODEX_THREAD_ID": "S1", "PI_SESSION_ID": "S2"}, code=4)


def test_an_inner_agent_without_an_id_is_refused(repo: Repo) -> None:
    """The outer id is there, the inner session has work too: both could be meant, unless one is named."""
    repo.edit("S1", "a", MINE)
    repo.edit("inner", "b", MINE)
    repo.ralph("commit", "-m", "x", env={"CLAUDE_CODE_SESSION_ID": "S1"})
    assert repo.changes() == {"a": "M"}
    assert repo.pending("inner") == ["b"]


def _task(repo: Repo, session: str, plan: str, task: str, path: str) -> None:
    repo.start(session, "--plan", plan, "--task", task)
    repo.edit(session, path, MINE)


def test_session_is_found_by_task(repo: Repo) -> None:
    """Plan and task number name the session that has them."""
    _task(repo, "S1", "p.md", "3", "a")
    _task(repo, "S2", "p.md", "4", "b")
    repo.ralph("commit", "--plan", "p.md", "--task", "3", "-m", "x")
    assert repo.changes() == {"a": "M"}


def test_two_sessions_of_one_task_are_refused(repo: Repo) -> None:
    _task(repo, "S1", "p.md", "3", "a")
    _task(repo, "S2", "p.md", "3", "b")
    done = repo.ralph("commit", "--plan", "p.md", "--task", "3", "-m", "x", code=4)
    assert f"'{repo.called('S1')}'" in done.said
    assert f"'{repo.called('S2')}'" in done.said
    assert repo.pending("S1") == ["a"]


def test_no_such_task_is_refused(repo: Repo) -> None:
    repo.ralph("commit", "--plan", "p.md", "--task", "9", "-m", "x", code=128)
    repo.ralph("commit", "--plan", "p.md", "-m", "x", code=129)


def test_a_session_whose_process_is_gone_is_a_candidate_all_the_same(repo: Repo) -> None:
    """Its edits are pending like those of a live one: to pass it over would be a guess."""
    _two(repo)
    path = repo.state / "S2.json"
    record = json.loads(path.read_text())
    record["process"] = {**(process.ancestor() or {}), "pid": 2**22 + 1}
    path.write_text(json.dumps(record))
    assert {row["id"]: row["state"] for row in repo.ralph("session", "list", "--json").json()} == {
        "S1": "live",
        "S2": "stale",
    }
    repo.commit(None, code=4)


@pytest.mark.parametrize("name", variables.MARKS)
def test_every_mark_of_an_agent_is_one_for_all_who_ask(name: str) -> None:
    """The guard's hooks and the commands: Gemini CLI names no session, and was a person to the commands."""
    assert variables.is_agent({name: "1"})
    assert f"${{{name}-}}" in guard_script.AGENT
