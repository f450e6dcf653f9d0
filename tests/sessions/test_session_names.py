"""Short names of sessions: given once, shown to people, taken wherever a session is asked for."""

import os
import shlex
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitralph.hook import names
from tests.support import keep, payloads, runner
from tests.support.repo import Repo
from tests.support.texts import changed

UUID = "0f3c9a52-7d1e-4b7e-9c55-2f7d1b8e6a01"
OTHER = "0f3c9a99-7d1e-4b7e-9c55-2f7d1b8effff"


def _claude(repo: Repo, session: str, path: str = "a") -> None:
    before = (repo.read(path) or b"").decode()
    repo.write(path, changed())
    event = payloads.claude_write(session, str(repo.root), str(repo.file(path)), before, changed())
    repo.hook("claude-code", event)


def _names(repo: Repo) -> dict[str, str]:
    return {row["id"]: row["name"] for row in repo.ralph("session", "list", "--json").json()}


def _told(repo: Repo, **fields: object) -> None:
    event = {"cwd": str(repo.root), "event": "edit", "path": "a", "before": (repo.read("a") or b"").decode()}
    repo.write("a", changed())
    repo.hook("generic", {**event, "after": changed(), **fields})


def test_a_program_says_the_name_of_its_agent(repo: Repo) -> None:
    _told(repo, session="S1", agent="orchestra")
    row = repo.ralph("session", "list", "--json").json()[0]
    assert (row["agent"], row["name"]) == ("orchestra", "orchestra-1")
    repo.commit("S1")
    assert repo.git("log", "-1", "--format=%B").endswith("Ralph-Agent: orchestra")


@pytest.mark.parametrize("agent", ["two\nlines", "\x1b[31m", "x" * 300, "", 7, None, "../up"])
def test_a_name_of_an_agent_that_is_none_does_no_harm(repo: Repo, agent: object) -> None:
    _told(repo, session="S1", agent=agent)
    repo.commit("S1")
    told = [row for row in repo.git("log", "-1", "--format=%B").split("\n") if row.startswith("Ralph-")]
    assert len(told) == 2
    assert all(row.isprintable() and len(row) < 200 for row in told)


@pytest.mark.parametrize("own", ["my worker 1", "w\u00f6rker", "x" * 200])
def test_an_agents_own_id_means_its_session_although_no_record_can_have_it(repo: Repo, own: str) -> None:
    _told(repo, session=own)
    done = repo.run("commit", "--session", own, "-m", "x")
    assert (done.code, "is session 'generic-1'" in done.said) == (0, True), done.said
    assert repo.run("commit", "--session", own + "y", "-m", "x").code == 129


def test_a_session_is_named_after_its_agent_when_it_is_first_recorded(repo: Repo) -> None:
    """Counted per agent and repository; other agents go by their own name."""
    _claude(repo, UUID)
    repo.edit("S2", "b", changed())
    _claude(repo, "S3", "d/c")
    _claude(repo, UUID)
    repo.start("S4", "--agent", "codex")
    repo.start("S5")
    assert _names(repo) == {
        UUID: "claude-1",
        "S2": "generic-1",
        "S3": "claude-2",
        "S4": "codex-1",
        "S5": "session-1",
    }


def test_linked_worktrees_count_together(repo: Repo) -> None:
    _claude(repo, UUID)
    _claude(repo.worktree("w1"), OTHER)
    assert sorted(_names(repo).values()) == ["claude-1", "claude-2"]


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("Claude Code!", "claude-code-1"),
        ("../x", "x-1"),
        ("7z", "session-1"),
        ("", "session-1"),
        ("a" * 50, "a" * 20 + "-1"),
        ("漢字", "session-1"),
    ],
)
def test_whatever_an_agent_calls_itself_the_name_is_a_name(repo: Repo, agent: str, name: str) -> None:
    repo.start("S1", "--agent", agent)
    assert _names(repo) == {"S1": name}
    assert repo.ralph("ls-files", "--session", name).text == ""


def test_many_processes_never_get_one_name_twice(repo: Repo) -> None:
    def first(number: int) -> None:
        event = payloads.edit(f"S{number // 2}", str(repo.root), f"n{number}", None, "x\n")
        done = runner.as_process(
            ["hook", "generic"], cwd=str(repo.root), env=repo.env, stdin=payloads.encode(event)
        )
        assert done.code == 0

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(first, range(24)))
    found = _names(repo)
    assert len(found) == 12
    assert len(set(found.values())) == 12
    # one that lost the race for the record let its name go
    assert sorted(names.everyone(keep.state(repo))) == sorted(found.values())


@pytest.mark.parametrize("hint", [None, b"", b"-3\n", b"x", b"1", b"9" * 40, b"\xff"])
def test_a_lost_or_damaged_hint_costs_no_name(repo: Repo, hint: bytes | None) -> None:
    for number in range(3):
        repo.edit(f"S{number}", "a", changed())
    path = Path(keep.state(repo).last_number("generic"))
    path.unlink() if hint is None else path.write_bytes(hint)
    repo.edit("S9", "a", changed())
    assert _names(repo)["S9"] == "generic-4"


def test_a_name_is_not_given_again_while_its_session_has_a_record(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.edit("S2", "b", changed())
    os.unlink(keep.state(repo).last_number("generic"))
    os.unlink(keep.state(repo).name("generic-1"))  # as a person might
    repo.ralph("session", "end", "S2")
    repo.edit("S3", "d/c", changed())
    assert _names(repo) == {"S1": "S1", "S2": "generic-2", "S3": "generic-1"}


def test_a_session_of_an_older_version_is_named_when_its_record_is_next_written(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    record = Path(keep.state(repo).record("S1"))
    record.write_text("\n".join(r for r in record.read_text().split("\n") if '"name"' not in r))
    shutil.rmtree(keep.state(repo).names)
    assert _names(repo) == {"S1": "S1"}
    repo.ralph("session", "end", "S1")
    assert _names(repo) == {"S1": "generic-1"}


@pytest.mark.parametrize("broken", ["file", "link", "read-only"])
def test_a_hook_records_where_no_name_can_be_written(repo: Repo, broken: str, tmp_path: Path) -> None:
    repo.start("S1")
    folder = Path(keep.state(repo).names)
    if broken == "read-only" and os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    if broken == "read-only":
        folder.chmod(0o500)
    else:
        shutil.rmtree(folder)
        folder.write_text("x") if broken == "file" else folder.symlink_to(tmp_path)
    repo.edit("S2", "a", changed())
    assert repo.commit("S2").paths == {"a": "M"}
    assert list(tmp_path.glob("generic*")) == []


def test_a_record_that_claims_another_sessions_name_is_shown_by_its_id(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.edit("S2", "b", changed())
    record = Path(keep.state(repo).record("S2"))
    record.write_text(record.read_text().replace("generic-2", "generic-1"))
    assert _names(repo) == {"S1": "generic-1", "S2": "S2"}


# --- shown everywhere, taken everywhere ---


def test_people_see_the_name_and_json_has_both(repo: Repo) -> None:
    _claude(repo, UUID)
    repo.edit(OTHER, "b", changed())
    seen = [
        repo.ralph("status").text,
        repo.ralph("session", "list").text,
        repo.ralph("why", "a").text,
        repo.ralph("session", "show", UUID).text.replace(f"id: {UUID}", ""),
        repo.ralph("commit", "-m", "x", code=4).said,
        repo.ralph("commit", "--session", "claude-1", "--dry-run").text,
        repo.ralph("undo", "--session", "claude-1", "--dry-run").said,
    ]
    assert not [text for text in seen if UUID in text or OTHER in text]
    assert all("claude-1" in text for text in seen[:-1])
    document = repo.ralph("commit", "--session", "claude-1", "-m", "x", "--json").json()
    assert (document["session"], document["name"]) == (UUID, "claude-1")
    assert repo.trailers().startswith(f"Ralph-Session: {UUID}")
    undone = repo.ralph("undo", "--session", "generic-1", "--json").json()
    assert (undone["session"], undone["name"]) == (OTHER, "generic-1")
    found = repo.ralph("why", "a", "--json").json()["findings"]
    assert {(one["session"], one["name"]) for one in found} == {(UUID, "claude-1")}


def test_a_refusal_names_the_other_and_its_hint_works_as_typed(repo: Repo) -> None:
    repo.edit(UUID, "a", changed(2, "x\ny"))
    repo.edit(OTHER, "a", changed(2, "x\nbetween\ny"))
    done = repo.ralph("commit", "--session", "generic-2", "-m", "x", code=4)
    assert "session 'generic-1'" in done.said
    assert UUID not in done.said
    hint = next(row for row in done.said.splitlines() if row.startswith("hint: git ralph commit --session"))
    assert "generic-1" in hint
    document = repo.commit("generic-2", code=4).document
    assert document["left"][0]["sessions"] == [UUID]
    assert document["left"][0]["names"] == ["generic-1"]


@pytest.mark.parametrize("typed", [UUID, "claude-1", "0f3c9a52", "8e6a01"])
def test_an_id_a_name_or_a_part_of_the_id_will_do(repo: Repo, typed: str) -> None:
    _claude(repo, UUID)
    _claude(repo, OTHER, "b")
    repo.ralph("commit", "--session", typed, "-m", "x")
    assert repo.changes() == {"a": "M"}


@pytest.mark.parametrize(
    "command",
    [
        ["ls-files", "--session"],
        ["status", "--session"],
        ["diff", "--session"],
        ["session", "show"],
        ["session", "end"],
        ["track", "--session", "{}", "--", "b"],
        ["assign", "--to", "{}", "--", "b"],
        ["undo", "--dry-run", "--session"],
        ["restore", "--dry-run", "--session"],
        ["log", "--session"],
        ["track", "--release", "--session", "{}", "--", "b"],
        ["session", "rename", "{}", "other"],
    ],
    ids=" ".join,
)
def test_every_command_that_asks_for_a_session_takes_its_name(repo: Repo, command: list[str]) -> None:
    _claude(repo, UUID)
    repo.write("b", changed())
    words = [word.replace("{}", "claude-1") for word in command]
    repo.ralph(*words, *([] if "{}" in command else ["claude-1"]))
    assert set(_names(repo)) == {UUID}


def test_two_that_fit_are_refused_and_listed(repo: Repo) -> None:
    _claude(repo, UUID)
    _claude(repo, OTHER, "b")
    said = repo.ralph("commit", "--session", "0f3c9a", "-m", "x", code=4).said
    assert f"'0f3c9a' fits more than one session: '{UUID}' (claude-1), '{OTHER}' (claude-2)" in said
    assert "no session '0f3'" in repo.ralph("commit", "--session", "0f3", "-m", "x", code=128).said


def test_what_is_one_sessions_name_and_anothers_id_is_refused_and_listed(repo: Repo) -> None:
    """An agent that chose such an id gets nobody's work committed by a name that was meant otherwise."""
    _claude(repo, UUID)
    repo.edit("claude-1", "b", changed())
    said = repo.ralph("commit", "--session", "claude-1", "-m", "x", code=4).said
    assert UUID in said
    assert "generic-1" in said
    repo.ralph("commit", "--session", "generic-1", "-m", "x")
    assert repo.changes() == {"b": "M"}


def test_no_name_is_given_that_is_a_sessions_id(repo: Repo) -> None:
    repo.edit("claude-1", "b", changed())
    _claude(repo, UUID)
    assert _names(repo)[UUID] == "claude-2"


def test_a_name_that_a_person_exported_is_understood(repo: Repo) -> None:
    _claude(repo, UUID)
    repo.ralph("commit", "-m", "x", env={"RALPH_SESSION": "claude-1"})
    assert repo.changes() == {"a": "M"}


@pytest.mark.parametrize("command", ["commit", "ls-files", "status", "diff", "undo", "restore", "uncommit"])
def test_an_unknown_session_is_fatal_with_the_likely_ones_named(repo: Repo, command: str) -> None:
    _claude(repo, UUID)
    assert (
        "no session 'cloude-1'; did you mean 'claude-1'?"
        in repo.ralph(command, "--session", "cloude-1", code=128).said
    )
    said = repo.ralph(command, "--session", "nosuch", code=128).said
    assert "no session 'nosuch'; the latest: 'claude-1'" in said


# --- rename ---


def test_a_session_is_renamed_and_found_by_its_new_name_alone(repo: Repo) -> None:
    _claude(repo, UUID)
    repo.ralph("session", "rename", "claude-1", "parser")
    assert _names(repo) == {UUID: "parser"}
    assert "no session 'claude-1'" in repo.ralph("ls-files", "--session", "claude-1", code=128).said
    assert repo.ralph("ls-files", "--session", "parser").text == "a\n"
    repo.ralph("session", "rename", "parser", "parser")
    assert _names(repo) == {UUID: "parser"}
    _claude(repo, OTHER, "b")
    assert _names(repo)[OTHER] == "claude-2"


def test_a_taken_or_malformed_name_is_a_usage_error(repo: Repo) -> None:
    _claude(repo, UUID)
    repo.edit("alice", "b", changed())
    for name in (
        "generic-1",
        "alice",
        "Parser",
        "-x",
        "x-",
        "a--b",
        "1a",
        "a b",
        "a.b",
        "",
        "a" * 33,
        "../x",
        "nobody",
        "a\n",
        "é",
    ):
        repo.ralph("session", "rename", "--", "claude-1", name, code=129)
    assert _names(repo) == {UUID: "claude-1", "alice": "generic-1"}
    repo.ralph("session", "rename", "nosuch", "parser", code=128)


def test_a_new_session_cannot_take_anothers_name_for_its_id(repo: Repo) -> None:
    _claude(repo, UUID)
    repo.ralph("session", "start", "--id", "claude-1", code=129)
    repo.ralph("session", "start", "--id", "claude-1", "--continue", code=129)


def test_gc_lets_names_go_that_no_record_tells(repo: Repo) -> None:
    repo.start("S1")
    repo.edit("S2", "a", changed())
    state = keep.state(repo)
    assert names.take(state, "left-by-a-kill", "S2")
    assert names.take(state, "orphan", "S9")
    repo.ralph("gc")
    assert len(names.everyone(state)) == 4  # too young: a record may be about to tell it
    for name in names.everyone(state):
        os.utime(state.name(name), (1, 1))
    repo.ralph("gc")
    assert names.everyone(state) == ["generic-1", "session-1"]


@given(st.text(max_size=40))
def test_a_valid_name_is_safe_as_a_file_and_in_a_shell(text: str) -> None:
    if names.is_valid(text):
        assert text.isascii()
        assert text == text.lower()
        assert "/" not in text
        assert "." not in text
        assert shlex.quote(text) == text


def test_the_first_record_of_a_session_costs_no_more_after_many_others(repo: Repo) -> None:
    """Counted in system calls that look at names, not in time."""
    state = keep.state(repo)
    for number in range(300):
        names.give(state, f"S{number}", "generic")
    looked: list[str] = []
    real = os.path.lexists
    with pytest.MonkeyPatch.context() as patch:

        def look(path: str) -> bool:
            looked.append(path)
            return real(path)

        patch.setattr(os.path, "lexists", look)
        assert names.give(state, "S-new", "generic") == "generic-301"
    assert len(looked) == 2


@pytest.mark.parametrize("why", ["bead", "damage"])
def test_a_session_learns_its_agent_from_its_first_event(repo: Repo, why: str) -> None:
    """Recorded before that, by `worktree add`, it had none for good, nor had its commits."""
    _claude(repo, UUID)
    if why == "bead":
        repo.ralph("worktree", "add", "bd-1", "--session", OTHER)
        session = OTHER
    else:
        (repo.state / f"{UUID}.json").write_bytes(b"")
        session = UUID
    repo.hook("claude-code", payloads.claude_life("SessionStart", session, str(repo.root)))
    rows = {row["id"]: row for row in repo.ralph("session", "list", "--json", "--all").json()}
    assert rows[session]["agent"] == "claude-code"
