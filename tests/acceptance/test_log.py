"""T3: ``git ralph log``: edits and commits over time, by session, agent, path and time."""

from typing import Any

import pytest

from tests.acceptance.test_head_moved import swap
from tests.support.repo import Repo
from tests.support.texts import TEN, changed


@pytest.fixture
def day(repo: Repo) -> Repo:
    """Two sessions of two agents edited ``a`` and ``b``; the first committed."""
    repo.start("S2", "--agent", "codex")
    repo.edit("S1", "a", "one\n" + TEN)
    repo.commit("S1", "-m", "first")
    repo.edit("S2", "b", "two\nthree\n" + TEN)
    return repo


def told(repo: Repo, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = repo.ralph("log", "--json", *words).json()
    return found


def short(repo: Repo, *words: str) -> set[tuple[str, str, str]]:
    return {
        (row["kind"], row["session"], row["path"] if row["kind"] == "edit" else row["subject"])
        for row in told(repo, *words)
    }


ALL = {("edit", "S1", "a"), ("commit", "S1", "first"), ("edit", "S2", "b")}


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ((), ALL),
        (("--session", "S1"), {("edit", "S1", "a"), ("commit", "S1", "first")}),
        (("--session", "codex-1"), {("edit", "S2", "b")}),
        (("--agent", "codex"), {("edit", "S2", "b")}),
        (("--agent", "nosuch"), set()),
        (("--", "a"), {("edit", "S1", "a"), ("commit", "S1", "first")}),
        (("--session", "S2", "--", "a"), set()),
        (("--since", "2020-01-01"), ALL),
        (("--since", "1 hour ago"), {("edit", "S1", "a"), ("edit", "S2", "b")}),
        (("-n", "0"), set()),
    ],
)
def test_filters_leave_what_they_name(day: Repo, words: tuple[str, ...], left: set[Any]) -> None:
    """The commit's own clock stands in 2023."""
    assert short(day, *words) == left


def test_an_edit_and_a_commit_say_what_they_are(day: Repo) -> None:
    edit = next(row for row in told(day) if row["session"] == "S2")
    assert (edit["op"], edit["added"], edit["removed"], edit["name"]) == ("edit", 2, 0, "codex-1")
    commit = next(row for row in told(day) if row["kind"] == "commit")
    assert (commit["commit"], commit["paths"], commit["in_head"]) == (day.head(), ["a"], True)


def test_an_edit_in_two_places_counts_its_own_lines(repo: Repo) -> None:
    """Its record has one hunk over both places, and all that stands between."""
    repo.edit("S1", "a", TEN.replace("line 3\n", "three\n").replace("line 9\n", "nine\n"))
    assert [(row["added"], row["removed"]) for row in told(repo)] == [(2, 2)]


def test_the_latest_comes_first(repo: Repo) -> None:
    for number in range(3):
        repo.edit("S1", "a", f"{number}\n" + TEN)
    assert [row["added"] for row in told(repo, "-n", "2")] == [1, 1]
    times = [row["time"] for row in told(repo)]
    assert times == sorted(times, reverse=True)


def test_for_people_it_is_a_line_each(day: Repo) -> None:
    said = day.ralph("log").text.splitlines()
    ends = [line.split("  ", 1)[1] for line in said]
    assert ends[-1] == f"generic-1  commit  {day.head()[:8]} first"
    assert "codex-1    edit    b  +2 -0" in ends
    assert "generic-1  edit    a  +1 -0" in ends


def test_patch_shows_what_an_edit_and_a_commit_changed(day: Repo) -> None:
    said = day.ralph("log", "--patch").text
    assert "--- a/b\n+++ b/b\n@@ -1,3 +1,5 @@\n+two\n+three\n line 1\n" in said
    assert "diff --git a/a b/a\n" in said
    edit = next(row for row in told(day, "-p") if row["session"] == "S2")
    assert edit["patch"].endswith("@@ -1,3 +1,5 @@\n+two\n+three\n line 1\n line 2\n line 3")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TEN, TEN.replace("line 2\n", "")),
        (TEN, TEN + "x"),
        ("x", "x\n"),
        (None, "a\nb\n"),
        ("a\n", None),
        (TEN, TEN.replace("line 1\n", "1\n").replace("line 9\n", "9\n")),
        ("".join(f"{n}\n" for n in range(3000)), "".join(f"{n}\n" for n in range(3000) if n != 1500)),
    ],
)
def test_a_patch_is_one_that_git_applies(repo: Repo, before: str | None, after: str | None) -> None:
    if before is not None:
        repo.write("p", before)
        repo.commit_all("p")
    if after is None:
        repo.delete("S1", "p")
    else:
        repo.edit("S1", "p", after)
    (row,) = told(repo, "--patch")
    if before is None:
        repo.remove("p")
    else:
        repo.write("p", before)
    repo.git("apply", "-", stdin=(row["patch"] + "\n").encode())
    assert repo.read("p") == (after.encode() if after is not None else None)


def test_an_amended_commit_is_marked_with_what_it_became(day: Repo) -> None:
    old = day.head()
    day.git("commit", "-q", "--amend", "-m", "second\n\nRalph-Session: S1")
    rows = {row["commit"]: row for row in told(day) if row["kind"] == "commit"}
    assert (rows[old]["in_head"], rows[old]["became"]) == (False, day.head())
    assert rows[day.head()]["in_head"] is True
    assert f"first  (now {day.head()[:8]})" in day.ralph("log").text


def test_a_commit_taken_back_is_not_in_head(day: Repo) -> None:
    old = day.head()
    day.ralph("uncommit", "--session", "S1")
    row = next(row for row in told(day) if row["kind"] == "commit")
    assert (row["commit"], row["in_head"], row["became"]) == (old, False, None)
    assert "(not in HEAD)" in day.ralph("log").text


def test_every_worktree_is_in_it(day: Repo) -> None:
    other = day.worktree("w1", "-b", "w1")
    swap_in = other.read("u") or b""
    other.edit("S3", "u", "new\n" + swap_in.decode())
    row = next(row for row in told(day) if row["session"] == "S3")
    assert row["worktree"].startswith("w1-")


def test_an_empty_repository_has_no_log(empty_repo: Repo) -> None:
    assert told(empty_repo) == []
    assert empty_repo.ralph("log").text == ""


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--session", "nosuch"), 128, "no session 'nosuch'"),
        (("--", "nosuch"), 128, "'nosuch' did not match any file(s) known to git"),
        (("-n", "-1"), 129, "-1"),
    ],
)
def test_what_is_typed_wrong_is_said(words: tuple[str, ...], code: int, said: str, day: Repo) -> None:
    assert said in day.ralph("log", *words, code=code).said


def test_a_gap_is_no_edit_of_anybodys(repo: Repo) -> None:
    repo.edit("S1", "a", "one\n" + TEN)
    swap(repo, None, "one\n", "uno\n", "a")
    repo.commit("S1")
    assert {row["session"] for row in told(repo)} == {"S1"}


def test_an_undo_counts_the_lines_that_changed_and_not_what_lies_between(repo: Repo) -> None:
    lines = TEN.splitlines(keepends=True)
    repo.edit("S1", "a", "".join(["first mine\n", *lines[1:9], "last mine\n"]))
    repo.ralph("undo", "--session", "S1")
    row = next(row for row in told(repo) if row["op"] == "undo")
    assert (row["added"], row["removed"]) == (2, 2)


def test_a_commit_taken_back_did_not_become_another_of_the_same_second(repo: Repo) -> None:
    for subject in ("one", "two"):
        repo.edit("S1", "a", f"{subject}\n")
        repo.ralph("commit", "--session", "S1", "-m", subject)  # the clock stands still
    old = repo.head()
    repo.git("reset", "-q", "--soft", "HEAD~")
    rows = {row["commit"]: row for row in told(repo) if row["kind"] == "commit"}
    assert (rows[old]["in_head"], rows[old]["became"]) == (False, None)


def test_a_cherry_picked_commit_is_now_nothing_else(repo: Repo) -> None:
    """Nor is another one of the same second what was picked."""
    base = repo.head()
    for subject, number in (("two", 3), ("ten", 9)):
        old = (repo.read("a") or b"").decode()
        repo.edit("S2", "a", changed(number, subject, old))
        repo.ralph("commit", "--session", "S2", "-m", subject)  # the clock stands still
    repo.git("checkout", "-q", "-b", "other", base)
    repo.git("cherry-pick", "main")
    rows = [row for row in told(repo) if row["kind"] == "commit" and row["session"]]
    assert [(row["subject"], row["in_head"]) for row in rows].count(("ten", True)) == 1
    assert {row["became"] for row in rows} == {None}
    repo.git("branch", "-q", "-D", "main")  # then it is gone, and the copy is what is left of it
    rows = [row for row in told(repo) if row["kind"] == "commit" and not row["in_head"]]
    assert {row["subject"]: row["became"] for row in rows} == {"ten": repo.head(), "two": None}
