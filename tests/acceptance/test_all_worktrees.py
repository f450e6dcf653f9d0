"""``--worktrees``: one view over all worktrees, and what would collide on merging, marked on both sides.

``f`` holds "line 1" to "line 10" and is committed.
"""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.test_head_moved import day as day
from tests.acceptance.test_head_moved import swap
from tests.support.repo import Repo


def view(repo: Repo, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = repo.ralph(*(words or ("status",)), "--worktrees", "--json").json()
    return found


def rows(found: dict[str, Any]) -> set[tuple[str, str]]:
    return {(row["id"], row["worktree"]) for row in found["sessions"]}


@pytest.mark.parametrize("words", [("status",), ("session", "list")])
def test_sessions_of_every_worktree_are_in_one_view(day: Repo, words: tuple[str, ...]) -> None:
    side = day.worktree("side")
    swap(day, "S1", "line 3\n", "three\n")
    swap(side, "S2", "line 8\n", "eight\n")
    for place in (day, side):
        found = view(place, *words)
        assert rows(found) == {("S1", str(day.root)), ("S2", str(side.root))}
        assert all(row["files"] == ["f"] and row["pending"] == 1 for row in found["sessions"])
        assert found["collisions"] == []


def test_what_was_uncommitted_again_counts(day: Repo) -> None:
    side = day.worktree("side")
    swap(side, "S1", "line 3\n", "three\n")
    side.commit("S1")
    side.ralph("uncommit", "--session", "S1")
    (row,) = view(day)["sessions"]
    assert (row["id"], row["worktree"], row["files"]) == ("S1", str(side.root), ["f"])
    side.commit("S1")
    side.git("commit", "-q", "--amend", "-m", "other words")
    side.write("f", (side.read("f") or b"") + b"a person's\n")
    assert [row["files"] for row in view(day)["sessions"]] == [[]]


def test_a_worktree_of_ours_is_nobodys_place(day: Repo) -> None:
    """Hooks ran in one, beside others' changes: it holds an old HEAD with the lines of that commit."""
    hook = day.common / "hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)
    swap(day, "S2", "line 8\n", "eight\n")
    swap(day, "S1", "line 3\n", "three\n")
    day.commit("S1")
    assert "scratch" not in day.git("worktree", "list")
    swap(day, "S1", "three\n", "drei\n")
    assert view(day)["collisions"] == []
    assert "scratch" not in day.ralph("status", "--worktrees").text


@pytest.mark.parametrize("committed", [(), ("S1",), ("S1", "S2")])
def test_the_same_lines_in_two_worktrees_collide(day: Repo, committed: tuple[str, ...]) -> None:
    side = day.worktree("side")
    swap(day, "S1", "line 3\n", "three\n")
    swap(side, "S2", "line 3\n", "drei\n")
    for session, place in (("S1", day), ("S2", side)):
        if session in committed:
            place.commit(session)
    (one,) = view(day)["collisions"]
    assert one == {"path": "f", "sessions": ["S1", "S2"], "worktrees": [str(day.root), str(side.root)]}
    text = day.ralph("status", "--worktrees").text
    assert f"! 'f' collides with {side.root}" in text
    assert f"! 'f' collides with {day.root}" in text


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (("line 3\n", "three\n"), ("line 3\n", "three\n")),  # the same change
        (("line 3\n", "three\n"), ("line 8\n", "eight\n")),
        (("line 3\n", "three\nmore\n"), ("line 10\n", "line 10\nend\n")),
    ],
)
def test_what_merges_does_not_collide(day: Repo, mine: tuple[str, str], theirs: tuple[str, str]) -> None:
    side = day.worktree("side")
    swap(day, "S1", *mine)
    swap(side, "S2", *theirs)
    assert view(day)["collisions"] == []


def test_what_was_merged_already_does_not_collide(day: Repo) -> None:
    side = day.worktree("side")
    swap(side, "S2", "line 3\n", "drei\n")
    side.commit("S2")
    day.git("merge", "-q", "side")
    swap(day, "S1", "drei\n", "three\n")
    assert view(day)["collisions"] == []


def test_a_deletion_and_a_change_collide_and_so_do_binaries(day: Repo) -> None:
    day.write("bin", b"\0")
    day.commit_all("bin")
    side = day.worktree("side")
    day.delete("S1", "f")
    swap(side, "S2", "line 3\n", "drei\n")
    day.edit("S1", "bin", b"\0\1")
    side.edit("S2", "bin", b"\0\2")
    assert [row["path"] for row in view(day)["collisions"]] == ["bin", "f"]


def test_a_sessions_bead_and_task_are_its_title(day: Repo) -> None:
    day.write("plan.md", "- [ ] first\n- [ ] mend  the \x1b[31mdoor\n")
    day.start("S1", "--plan", "plan.md", "--task", "2")
    swap(day, "S1", "line 3\n", "three\n")
    day.ralph("worktree", "add", "bd-1")
    there = Repo(day.root / ".worktrees/ralph-bd-1", dict(day.env))
    there.start("S2", "--bead", "bd-1")
    swap(there, "S2", "line 8\n", "eight\n")
    swap(there, "S3", "line 2\n", "two\n")  # whoever works in the worktree of a bead works on it
    told = {row["id"]: row for row in view(day)["sessions"]}
    assert (told["S3"]["bead"], told["S1"]["bead"]) == ("bd-1", None)
    assert told["S1"]["title"] == "mend the \x1b[31mdoor"
    assert (told["S2"]["bead"], told["S2"]["worktree"]) == ("bd-1", str(there.root))
    text = day.ralph("status", "--worktrees").text
    assert "\x1b" not in text
    assert "bd-1" in text


def test_a_session_without_a_task_is_titled_by_what_it_was_asked_first(day: Repo, tmp_path: Path) -> None:
    transcript = tmp_path / "S1.jsonl"
    asked = ["Make the lexer\nfaster \x1b[31mplease", "and then the parser"]
    rows = [{"type": "user", "message": {"role": "user", "content": text}} for text in asked]
    transcript.write_text("".join(json.dumps(row) + "\n" for row in rows))
    event = {"session_id": "S1", "cwd": str(day.root), "transcript_path": str(transcript)}
    day.hook("claude-code", {**event, "hook_event_name": "SessionStart", "source": "startup"})
    swap(day, "S1", "line 3\n", "three\n")
    (told,) = view(day)["sessions"]
    assert told["title"] == "Make the lexer faster \x1b[31mplease"
    text = day.ralph("session", "list", "--worktrees").text
    assert "Make the lexer faster" in text
    assert "\x1b" not in text
    assert "lexer" not in "".join(p.read_text("latin-1") for p in day.state.rglob("*") if p.is_file())


def test_who_is_at_work_in_a_bead(day: Repo) -> None:
    day.ralph("worktree", "add", "bd-1")
    there = Repo(day.root / ".worktrees/ralph-bd-1", dict(day.env))
    (row,) = day.ralph("worktree", "list", "--json").json()
    assert (row["owner"], row["sessions"], row["state"]) == (None, [], "idle")
    there.start("S2")
    swap(there, "S3", "line 2\n", "two\n")
    day.start("S4", "--bead", "bd-1")
    day.start("S5")
    day.ralph("session", "end", "S4")
    (row,) = day.ralph("worktree", "list", "--json").json()
    assert sorted(row["sessions"]) == ["S2", "S3"]
    assert row["state"] == "live"
    said = day.ralph("worktree", "list").text
    assert f"{day.called('S2')}" in said
    assert f"{day.called('S3')}" in said
    assert "session S3\n" in day.ralph("worktree", "list", "--porcelain").text
    for name, bead in {"S2": "bd-1", "S3": "bd-1", "S5": None}.items():
        assert day.ralph("session", "show", name, "--json").json()["bead"] == bead
    assert "bead: bd-1" in day.ralph("session", "show", "S3").text


def test_a_worktree_that_is_gone_is_passed_over(day: Repo) -> None:
    side = day.worktree("side")
    swap(day, "S1", "line 3\n", "three\n")
    (side.root / ".git").unlink()
    assert rows(view(day)) == {("S1", str(day.root))}


def test_fifty_worktrees_take_one_status_each(day: Repo) -> None:
    places = [day.worktree(f"w{number}") for number in range(50)]
    for number, place in enumerate(places):
        place.write("f", f"{number}\n")
    began = time.monotonic()
    found = view(day)
    took = time.monotonic() - began
    (one,) = found["collisions"]
    assert len(one["worktrees"]) == 50
    assert took < 12, took  # 3 s on a machine that does nothing else


def test_it_stands_alone(day: Repo) -> None:
    for words in (("--short",), ("--porcelain",), ("--session", "S1"), ("f",)):
        day.ralph("status", "--worktrees", *words, code=129)
