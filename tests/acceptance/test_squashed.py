"""After a squash, a rebase or an amend every reader says the same of each line; nothing is guessed.

``f`` holds "line 1" to "line 10" and is committed.
"""

import json
from typing import Any

import pytest

from gitralph.base.ids import hashed
from tests.acceptance.test_branch import made
from tests.acceptance.test_head_moved import day as day
from tests.acceptance.test_head_moved import swap
from tests.support.repo import Repo

BOTH = {3: "S1", 5: "S2"}


def cloned(repo: Repo) -> Repo:
    """A clone without records."""
    root = repo.root.parent / "clone"
    repo.git("clone", "-q", str(repo.root), str(root))
    return Repo(root, dict(repo.env))


def two(repo: Repo) -> None:
    made(repo, "S1", "line 3\n", "the third line\n", "first")
    made(repo, "S2", "line 5\n", "the fifth line\n", "second")


def squash(repo: Repo, how: str) -> None:
    """Make one commit of the last two as a server or a person does."""
    rows = repo.git("log", "--reverse", "--format=%H", "-2").split()
    bodies = [repo.git("log", "-1", "--format=%B", oid) for oid in rows]
    if how == "rebase":
        env = {"GIT_SEQUENCE_EDITOR": "sed -i '2s/^pick/squash/'", "GIT_EDITOR": "true"}
        repo.git("rebase", "-q", "-i", "HEAD~2", env=env)
        return
    repo.git("reset", "-q", "--soft", "HEAD~2")
    text = {"title": "Squashed (#1)", "all": "Squashed (#1)\n\n" + "\n\n".join("* " + b for b in bodies)}
    repo.git("commit", "-q", "-m", text[how])


def blamed(repo: Repo) -> dict[int, str | None]:
    rows = repo.ralph("blame", "--json", "f").json()["lines"]
    return {row["line"]: row["session"] for row in rows if row["session"] is not None}


def exported(repo: Repo) -> dict[int, str]:
    names = {hashed(name): name for name in ("S1", "S2")}
    found: dict[int, str] = {}
    for row in repo.ralph("export", "--format", "agent-trace", "HEAD").text.splitlines():
        for file in json.loads(row)["files"]:
            for one in file["conversations"]:
                for span in one["ranges"] if "url" in one else ():
                    for number in range(span["start_line"], span["end_line"] + 1):
                        found[number] = names[one["url"].removeprefix("urn:ralph:")]
    return found


@pytest.mark.parametrize("how", ["title", "all", "rebase"])
def test_after_a_squash_all_agree_by_content(day: Repo, how: str) -> None:
    two(day)
    squash(day, how)
    assert day.count() == 2
    assert blamed(day) == BOTH
    assert exported(day) == BOTH
    whys = {n: day.ralph("why", "--json", f"f:{n}").json()["findings"][0] for n in (3, 5)}
    assert {n: one["session"] for n, one in whys.items()} == BOTH
    assert {one["commit"] for one in whys.values()} == {day.head()}


@pytest.mark.parametrize("how", ["title", "all", "rebase"])
def test_log_tells_a_squash_with_each_session_that_it_names(day: Repo, how: str) -> None:
    two(day)
    squash(day, how)
    rows = day.ralph("log", "--json").text.splitlines()
    told: list[Any] = (
        json.loads("\n".join(rows)) if rows[0].startswith("[") else [json.loads(r) for r in rows]
    )
    there = {row["session"] for row in told if row["kind"] == "commit" and row["commit"] == day.head()}
    assert there == {"S1", "S2"}
    only = day.ralph("log", "--json", "--session", "S1").json()
    assert [row["session"] for row in only if row["kind"] == "commit" and row["in_head"]] == ["S1"]
    page = day.ralph("report", "--json").json()
    assert {row["session"] for row in page["commits"] if row["commit"] == day.head()} == {"S1", "S2"}


def test_log_tells_what_a_person_added_to_a_squash_as_the_persons_too(day: Repo) -> None:
    two(day)
    day.git("reset", "-q", "--soft", "HEAD~2")
    day.write("by-hand", "one\n")
    day.git("add", "by-hand")
    day.git("commit", "-q", "-m", "Squashed (#1)")
    day.write("f", (day.read("f") or b"") + b"typed\n")
    day.commit_all("a person's own, in a file of theirs")
    rows = [row for row in day.ralph("log", "--json").json() if row["kind"] == "commit" and row["in_head"]]
    there = [row["session"] for row in rows if row["subject"] == "Squashed (#1)"]
    assert set(there) == {None, "S1", "S2"}
    assert [row["session"] for row in rows if row["subject"].startswith("a person")] == [None]


def test_an_amended_message_loses_nobody(day: Repo) -> None:
    made(day, "S1", "line 3\n", "the third line\n")
    day.git("commit", "-q", "--amend", "-m", "another message")
    assert blamed(day) == {3: "S1"}
    assert exported(day) == {3: "S1"}


def test_a_persons_equal_line_elsewhere_is_the_persons(day: Repo) -> None:
    made(day, "S1", "line 3\n", "the third line\n")
    day.write("f", (day.read("f") or b"") + b"the third line\n")
    day.commit_all("by hand")
    assert exported(day) == {}
    assert blamed(day) == {3: "S1"}


@pytest.mark.parametrize("how", ["all", "rebase"])
def test_where_only_trailers_are_left_it_is_one_of_them(day: Repo, how: str) -> None:
    two(day)
    squash(day, how)
    day.git("clone", "-q", str(day.root), str(day.root.parent / "clone"))
    clone = Repo(day.root.parent / "clone", dict(day.env))
    found = clone.ralph("why", "--json", "f:3").json()["findings"][0]
    assert (found["session"], found["one_of"], found["source"]) == (None, ["S1", "S2"], "message")
    assert "one of the sessions 'S1', 'S2'" in clone.ralph("why", "f:3").text
    assert "one of S1, S2" in clone.ralph("blame", "f").text
    assert blamed(clone) == {}


def test_where_one_took_anothers_lines_along_trailers_say_one_of_them(day: Repo) -> None:
    """In the repository itself the records tell the two apart."""
    swap(day, "S2", "line 3\n", "three\nalso S2\n")
    swap(day, "S1", "also S2\n", "also S2, mended\n")
    swap(day, "S1", "line 9\n", "nine\n")
    day.commit("S1", "--include-entangled")
    assert "Ralph-Includes: S2" in day.trailers()
    assert blamed(day) == {3: "S2", 4: "S1", 10: "S1"}
    own = day.ralph("export", "--format", "markdown", "HEAD~1..").text
    assert "one of" not in own
    clone = cloned(day)
    found = clone.ralph("why", "--json", "f:10").json()["findings"][0]
    assert (found["session"], found["one_of"], found["source"]) == (None, ["S1", "S2"], "message")
    (whole,) = clone.ralph("why", "--json", "f").json()["findings"]
    assert whole["one_of"] == ["S1", "S2"]
    assert "one of S1, S2" in clone.ralph("blame", "f").text
    assert blamed(clone) == {}
    summary = clone.ralph("export", "--format", "markdown", "HEAD~1..").text
    assert "| one of session-1, session-2 |" in summary
    assert clone.ralph("export", "--format", "git-ai").text == ""


def test_one_session_alone_is_named_in_a_clone(day: Repo) -> None:
    made(day, "S1", "line 3\n", "the third line\n")
    made(day, "S1", "line 5\n", "the fifth line\n")
    squash(day, "all")
    day.git("clone", "-q", str(day.root), str(day.root.parent / "clone"))
    clone = Repo(day.root.parent / "clone", dict(day.env))
    assert blamed(clone) == {3: "S1", 5: "S1"}


def test_a_fixup_that_keeps_one_message_alone(day: Repo) -> None:
    """Also in a file that only the session touched whose message is gone: the other is not taken for it."""
    made(day, "S1", "line 3\n", "the third line\n", "first")
    day.edit("S2", "g", "another file\n")
    swap(day, "S2", "line 5\n", "the fifth line\n")
    day.commit("S2", "-m", "second")
    env = {"GIT_SEQUENCE_EDITOR": "sed -i '2s/^pick/fixup/'", "GIT_EDITOR": "true"}
    day.git("rebase", "-q", "-i", "HEAD~2", env=env)
    assert "S2" not in day.git("log", "-1", "--format=%B")
    assert blamed(day) == BOTH
    assert exported(day) == BOTH | {1: "S2"}  # of g
    rows = day.ralph("blame", "--json", "g").json()["lines"]
    assert [row["session"] for row in rows] == ["S2"]
    assert day.ralph("why", "--json", "g:1").json()["findings"][0]["session"] == "S2"
