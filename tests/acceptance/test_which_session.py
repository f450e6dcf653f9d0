"""Which session a command means: ids that nobody knows, parts of an id, and the only one with work."""

import shlex

import pytest

from tests.support import payloads
from tests.support.repo import Env, Repo
from tests.support.texts import TEN, changed

PUBLISHED = (
    "CLAUDE_CODE_SESSION_ID",
    "CODEX_THREAD_ID",
    "CODEX_SESSION_ID",
    "QWEN_CODE_SESSION_ID",
    "COPILOT_AGENT_SESSION_ID",
    "PI_SESSION_ID",
    "OPENCODE_SESSION_ID",
)
LONG = "0f3c9a52-7d1e-4b7e-9c55-2f7d1b8e6a01"


def _refused_unknown(repo: Repo, command: list[str], env: Env) -> None:
    """Refused (4) with the agent named and the way to look; nothing moved, nothing recorded."""
    head, owners = repo.head(), repo.owners()
    done = repo.ralph(*command, env=env, code=4)
    name = next(iter(env.values()))
    assert f"this agent ('{name}') has recorded nothing here; its hooks may not be loaded" in done.said
    assert "hint: git ralph doctor" in done.said
    assert (repo.head(), repo.owners()) == (head, owners)


# --- an agent that we do not know ---


@pytest.mark.parametrize("name", PUBLISHED)
def test_an_agent_that_recorded_nothing_never_commits_the_work_of_the_only_session(
    repo: Repo, name: str
) -> None:
    """Seen: the other session's half-done line was committed under the wrong name."""
    repo.edit("S1", "a", changed())
    _refused_unknown(repo, ["commit", "-m", "x"], {name: "unknown-agent"})


@pytest.mark.parametrize(
    "command",
    [
        ["commit", "-m", "x"],
        ["commit", "--dry-run"],
        ["commit", "--amend"],
        ["track", "--", "u"],
        ["track", "--from-transcript"],
        ["track", "--release", "a"],
        ["undo"],
        ["undo", "--dry-run"],
        ["undo", "--redo"],
        ["restore"],
        ["uncommit"],
    ],
)
def test_every_command_that_writes_refuses_an_agent_that_recorded_nothing(
    repo: Repo, command: list[str]
) -> None:
    repo.edit("S1", "a", changed())
    _refused_unknown(repo, command, {"CLAUDE_CODE_SESSION_ID": LONG})
    assert repo.pending("S1") == ["a"]


def test_an_agent_that_recorded_nothing_is_refused_where_nothing_is_pending_at_all(repo: Repo) -> None:
    _refused_unknown(repo, ["commit", "-m", "x"], {"PI_SESSION_ID": LONG})


def test_commands_that_read_show_an_unknown_agent_everything(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    env = {"CLAUDE_CODE_SESSION_ID": LONG}
    assert repo.ralph("ls-files", env=env).text == "a\n"
    assert repo.ralph("status", "--json", env=env).json()["session"] is None
    assert "line" in repo.ralph("diff", env=env).text


def test_an_unknown_agent_may_say_whom_it_means(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.ralph("commit", "--session", "S1", "-m", "x", env={"CLAUDE_CODE_SESSION_ID": LONG})
    assert repo.changes() == {"a": "M"}


def test_an_unknown_agent_inside_a_known_one_is_refused(repo: Repo) -> None:
    """The inner agent inherits the outer one's variable: nobody can tell which of them types."""
    repo.edit("S1", "a", changed())
    env = {"CLAUDE_CODE_SESSION_ID": "S1", "PI_SESSION_ID": LONG}
    done = repo.ralph("commit", "-m", "x", env=env, code=4)
    assert f"this agent ('{LONG}') has recorded nothing here" in done.said
    assert f"git ralph commit --session {repo.called('S1')}" in done.said


def test_one_agent_may_publish_two_ids_of_which_we_know_one(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.ralph("commit", "-m", "x", env={"CODEX_THREAD_ID": "S1", "CODEX_SESSION_ID": LONG})
    assert repo.changes() == {"a": "M"}


def test_an_agent_whose_start_was_recorded_is_known(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.hook("claude-code", payloads.claude_life("SessionStart", LONG, str(repo.root)))
    done = repo.ralph("commit", "-m", "x", "--json", env={"CLAUDE_CODE_SESSION_ID": LONG})
    assert (done.json()["status"], done.json()["session"]) == ("nothing", LONG)


def test_a_published_id_that_hooks_had_to_map_is_found_under_its_safe_form(repo: Repo) -> None:
    repo.hook("generic", payloads.edit("my/agent", str(repo.root), "a", repo.read("a"), changed()))
    repo.write("a", changed())
    repo.ralph("commit", "-m", "x", env={"PI_SESSION_ID": "my/agent"})
    assert repo.changes() == {"a": "M"}
    _refused_unknown(repo, ["commit", "-m", "x"], {"PI_SESSION_ID": "../S1"})


def test_a_subagents_published_id_means_the_parent_it_was_recorded_under(repo: Repo) -> None:
    """A subagent's edits belong to its parent session."""
    repo.start("S1")
    repo.write("a", changed())
    event = payloads.claude_write("child-id", str(repo.root), str(repo.file("a")), TEN, changed())
    repo.hook("claude-code", event, env={"RALPH_TRACKING": "1", "RALPH_SESSION": "S1"})
    repo.ralph("commit", "-m", "x", env={"CLAUDE_CODE_SESSION_ID": "child-id"})
    assert repo.trailers().startswith("Ralph-Session: S1")


# --- the only session ---


@pytest.mark.parametrize("ended", [True, False])
def test_exactly_one_session_with_pending_work_is_taken_live_or_ended(repo: Repo, ended: bool) -> None:
    """When exactly one session has pending work, ended or not, commit takes it."""
    repo.edit("S1", "a", changed())
    repo.start("S2")
    if ended:
        repo.ralph("session", "end", "S1")
    repo.commit(None)
    assert repo.changes() == {"a": "M"}


def test_the_message_never_says_more_than_one_and_lists_one(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.edit("S2", "b", changed())
    repo.ralph("session", "end", "S2")
    done = repo.ralph("commit", "-m", "x", code=4)
    assert "more than one session could be meant: 'generic-1', 'generic-2'" in done.said
    repo.commit("S2")
    assert repo.commit(None).document["session"] == "S1"


def test_a_child_is_no_rival_of_its_parent(repo: Repo) -> None:
    """The parent's commit takes both."""
    repo.start("P")
    repo.start("C", "--parent", "P")
    repo.edit("P", "a", changed())
    repo.edit("C", "b", changed())
    repo.commit(None)
    assert repo.changes() == {"a": "M", "b": "M"}


def test_the_hint_is_the_command_with_a_session(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.edit("S2", "b", changed())
    repo.write("x {} y", "text\n")
    said = repo.ralph("track", "--", "x {} y", code=4).said
    hint = next(row for row in said.splitlines() if row.startswith("hint: ")).removeprefix("hint: git ralph ")
    assert hint == "track --session generic-1 -- 'x {} y'"
    repo.ralph(*shlex.split(hint))
    assert repo.pending("S1") == ["a", "x {} y"]


# --- nobody's id ---

TAKE_AN_ID = (
    ["commit", "-m", "x"],
    ["commit", "--dry-run"],
    ["commit", "--amend"],
    ["ls-files"],
    ["status"],
    ["status", "--short"],
    ["diff"],
    ["log"],
    ["undo"],
    ["undo", "--redo"],
    ["restore"],
    ["uncommit"],
    ["track", "--release", "a"],
    ["worktree", "remove", "bd-1"],
)


@pytest.mark.parametrize("command", TAKE_AN_ID)
def test_an_unknown_session_is_fatal_in_every_command(repo: Repo, command: list[str]) -> None:
    """`--session nosuch` in any command: 128, "no session 'nosuch'", the likely ones named."""
    repo.edit("session-one", "a", changed())
    done = repo.ralph(*command, "--session", "sesion-one", code=128)
    assert "fatal: no session 'sesion-one'" in done.said
    assert "'session-one'" in done.said
    assert "no session 'nosuch'" in repo.ralph(*command, "--session", "nosuch", code=128).said


@pytest.mark.parametrize(
    "command",
    [
        ["session", "show", "{}"],
        ["session", "end", "{}"],
        ["session", "rename", "{}", "other"],
        ["assign", "--to", "{}", "--", "b"],
    ],
    ids=" ".join,
)
def test_an_unknown_session_is_fatal_where_the_id_is_an_argument(repo: Repo, command: list[str]) -> None:
    repo.edit("session-one", "a", changed())
    said = repo.ralph(*[word.replace("{}", "sesion-one") for word in command], code=128).said
    assert "fatal: no session 'sesion-one'" in said
    assert "'session-one'" in said


@pytest.mark.parametrize("command", [["commit", "-m", "x"], ["ls-files"], ["status"], ["diff"]])
def test_an_unknown_ralph_session_is_fatal_too(repo: Repo, command: list[str]) -> None:
    repo.edit("S1", "a", changed())
    said = repo.ralph(*command, env={"RALPH_SESSION": "nosuch"}, code=128).said
    assert "fatal: no session 'nosuch'" in said


def test_in_json_the_document_says_it_too(repo: Repo) -> None:
    done = repo.ralph("commit", "--session", "nosuch", "-m", "x", "--json", code=128)
    assert done.json()["status"] == "refused"
    assert "no session 'nosuch'" in done.json()["notes"][0]


def test_track_hook_and_session_start_create_the_session(repo: Repo) -> None:
    """`track`, `hook` and `session start` create."""
    repo.write("a", changed())
    repo.ralph("track", "--session", "by-track", "--", "a")
    repo.write("b", changed())
    repo.ralph("track", "--", "b", env={"RALPH_SESSION": "by-environment"})
    repo.edit("by-hook", "u", changed(), env={"RALPH_SESSION": "by-launcher", "RALPH_TRACKING": "1"})
    repo.start("by-start")
    found = {row["id"]: row["pending"] for row in repo.ralph("session", "list", "--json").json()}
    assert found == {"by-track": 1, "by-environment": 1, "by-launcher": 1, "by-start": 0}


# --- a part of an id ---


@pytest.mark.parametrize("part", ["0f3c", "0f3c9a52-7d1e", "6a01", "-2f7d1b8e6a01"])
def test_a_beginning_or_end_of_an_id_serves(repo: Repo, part: str) -> None:
    """A beginning or end of the id of at least four characters that fits one session."""
    repo.edit(LONG, "a", changed())
    repo.edit("S2", "b", changed())
    assert repo.ralph("ls-files", f"--session={part}").text == "a\n"
    assert repo.ralph("status", "--json", f"--session={part}").json()["session"] == LONG
    assert repo.ralph("session", "show", "--json", "--", part).json()["id"] == LONG
    repo.ralph("commit", f"--session={part}", "-m", "x")
    assert repo.trailers().startswith(f"Ralph-Session: {LONG}")
    repo.write("u", changed())
    repo.ralph("track", f"--session={part}", "--", "u")
    assert repo.pending(LONG) == ["u"]
    repo.ralph("session", "end", "--", part)
    assert repo.ralph("session", "show", "--json", LONG).json()["state"] == "ended"


@pytest.mark.parametrize("part", ["0f3", "a01", "9a52"])
def test_less_than_four_characters_or_a_middle_serves_nobody(repo: Repo, part: str) -> None:
    repo.edit(LONG, "a", changed())
    assert f"no session '{part}'" in repo.ralph("commit", "--session", part, "-m", "x", code=128).said


@pytest.mark.parametrize("command", [*TAKE_AN_ID, ["track", "u"]])
def test_two_that_fit_are_refused_and_listed(repo: Repo, command: list[str]) -> None:
    repo.edit("agent-one", "a", changed())
    repo.edit("agent-two", "b", changed())
    said = repo.ralph(*command, "--session", "agent", code=4).said
    assert "'agent' fits more than one session: 'agent-one' (generic-1), 'agent-two' (generic-2)" in said


def test_an_id_wins_over_the_ids_it_begins(repo: Repo) -> None:
    repo.edit("agent-1", "a", changed())
    repo.edit("agent-10", "b", changed())
    repo.commit("agent-1")
    assert repo.changes() == {"a": "M"}


def test_a_part_in_ralph_session_is_no_part(repo: Repo) -> None:
    """Hooks record under the very text: a command that read it otherwise would take another's work."""
    repo.edit(LONG, "a", changed())
    repo.ralph("commit", "-m", "x", env={"RALPH_SESSION": "0f3c9a52"}, code=128)
