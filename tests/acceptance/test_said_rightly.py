"""What a first day with the tool found: answers that were wrong, came back, or said nothing."""

import json
import os
from pathlib import Path

import pytest

from tests.support import shells
from tests.support.repo import Repo
from tests.support.texts import changed


@pytest.mark.parametrize(
    "words", [("nope",), ("nope", "1"), ("nope", "1", "2"), ("pre-commit", "x"), ("--nope",)]
)
def test_an_unknown_hook_of_the_guard_is_a_usage_error(repo: Repo, words: tuple[str, ...]) -> None:
    assert repo.ralph("guard", *words, code=129).said.startswith(("error: ", "usage: "))


def test_an_unknown_format_is_shown_on_one_line(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    (repo.state / "format").write_text("2\nfatal: forged\n\x1b[31m")
    said = repo.ralph("status", code=128).said
    assert len(said.splitlines()) == 2
    assert "'2\\nfatal: forged\\n\\x1b[31m'" in said


@pytest.mark.parametrize("linked", [False, True])
def test_a_state_that_is_no_folder_is_not_said_to_be_another_versions(repo: Repo, linked: bool) -> None:
    elsewhere, link = repo.root.parent / "elsewhere", ""
    if linked:
        elsewhere.mkdir()
        repo.state.symlink_to(elsewhere)
        link = ", and no link to one is followed"
    else:
        repo.state.write_text("")
    assert repo.ralph("status", code=128).said == f"fatal: '{repo.state}' is not a folder{link}\n"


@pytest.mark.parametrize("relative", [False, True])
def test_from_outside_the_worktree_by_the_environment(repo: Repo, tmp_path: Path, relative: bool) -> None:
    """git goes to the root of the worktree then, and names are read from there."""
    root = os.path.relpath(repo.root, tmp_path) if relative else str(repo.root)
    env = {"GIT_DIR": f"{root}/.git", "GIT_WORK_TREE": root}
    repo.start("S1")
    repo.ralph("track", "--session", "S1", "--", "a", env=env, cwd=tmp_path)
    assert (repo.state / "S1.files").read_text() == "a\n"
    assert "line 3: " in repo.ralph("why", "a:3", env=env, cwd=tmp_path).text
    assert "line 3: " in repo.ralph("why", f"{repo.root}/a:3", env=env, cwd=tmp_path).text


@pytest.mark.parametrize(
    ("agent", "payload"),
    [
        ("generic", {"session": "S1", "event": "edit", "path": "", "before": "a", "after": "b"}),
        ("generic", {"session": "S1", "event": "edit", "path": "a\0b", "before": "a", "after": "b"}),
        ("claude-code", {"file_path": "", "content": "x"}),
        ("claude-code", {"file_path": "x\0y", "content": "x"}),
    ],
)
def test_an_impossible_path_leaves_a_line_in_the_log(
    repo: Repo, agent: str, payload: dict[str, object]
) -> None:
    repo.start("S1")
    event = {**payload, "cwd": str(repo.root)}
    if agent == "claude-code":
        names = {"session_id": "S1", "hook_event_name": "PostToolUse", "tool_name": "Write"}
        event = {**names, "cwd": str(repo.root), "tool_input": payload}
    repo.hook(agent, event)
    assert len((repo.state / "hooks.log").read_text().splitlines()) == 1


def test_a_squash_is_told_of_once(repo: Repo) -> None:
    """What the session committed is in HEAD under another name: no answer repeats that."""
    base = repo.head()
    for line in (3, 7):
        repo.edit("S1", "a", changed(line, f"{line}!", (repo.read("a") or b"").decode()))
        repo.commit("S1")
    repo.git("reset", "-q", "--soft", base)
    repo.git("commit", "-q", "-m", "squashed")
    told = [repo.commit("S1").notes.count("is not in HEAD any more") for _ in range(3)]
    assert told == [1, 0, 0]
    repo.edit("S1", "b", changed())
    assert "not in HEAD any more" not in repo.commit("S1").notes
    repo.git("commit", "-q", "--amend", "-m", "amended")
    assert "not in HEAD any more" in repo.commit("S1").notes


def test_a_rebase_loses_nothing(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "topic")
    repo.edit("S1", "a", changed(3, "mine"))
    repo.commit("S1")
    repo.git("checkout", "-q", "-")
    repo.write("b", changed(9, "theirs"))
    repo.commit_all("other")
    repo.git("checkout", "-q", "topic")
    repo.git("rebase", "-q", "main" if repo.git("branch", "--list", "main") else "master")
    assert repo.owners() == {}
    assert "nothing uncommitted" in repo.ralph("status").text
    notes = repo.commit("S1").notes
    assert "gone" not in notes
    assert "unrecorded" not in notes
    assert repo.pending("S1") == []


def test_no_answer_says_of_a_path_that_it_goes_and_stays(repo: Repo) -> None:
    """What is left of a path that is committed are lines of it, named."""
    repo.git("config", "ralph.shellEdits", "offer")
    repo.edit("S1", "a", changed(2, "mine"))
    shells.run(repo, "S1", "sed -i 's/line 9/nine/' a")
    found = repo.commit("S1")
    assert found.paths == {"a": "M"}
    both = [row for row in found.document["left"] if row["path"] in found.paths]
    assert all(row["lines"] for row in both), both
    if "line 9\n" in repo.blob("a").decode():
        assert [row["lines"] for row in both] == [[9, 9]]
        assert "'a' line 9: " in found.said


@pytest.fixture
def bead(repo: Repo) -> Repo:
    """A bead's worktree in which a session that lives has edited a file."""
    path = repo.ralph("worktree", "add", "bd-1").text.strip()
    inside = Repo(Path(path), dict(repo.env), repo.process, repo._clock)
    inside.edit("S7", "a", changed())
    return inside


def test_a_session_at_work_in_a_bead_is_seen_from_the_main_worktree(repo: Repo, bead: Repo) -> None:
    row = repo.ralph("worktree", "list", "--json").json()[0]
    assert (row["bead"], row["state"]) == ("bd-1", "live")
    shown = repo.ralph("session", "show", "S7", "--json").json()
    assert (shown["pending"], shown["paths"]) == (1, ["a"])
    said = repo.ralph("session", "show", "S7").text
    assert "pending: 1\n" in said
    assert f"  a in '{bead.root}'" in said
    assert "  a\n" in bead.ralph("session", "show", "S7").text
    bead.commit("S7")
    assert repo.ralph("session", "show", "S7", "--json").json()["pending"] == 0


def test_somebody_else_at_work_in_a_bead_whose_owner_is_gone(repo: Repo, bead: Repo) -> None:
    record = repo.state / "beads/bd-1.json"
    facts = json.loads(record.read_text())
    record.write_text(json.dumps({**facts, "owner": "S9", "status": "active"}))
    repo.start("S9")
    repo.ralph("session", "end", "S9")
    assert repo.ralph("worktree", "list", "--json").json()[0]["state"] == "live"
    bead.ralph("session", "end", "S7")
    assert repo.ralph("worktree", "list", "--json").json()[0]["state"] != "live"
