"""A line that a session brings back as HEAD has it stays whose it was: it made none of the commit it is in.

``f`` holds "line 1" to "line 10" and is committed by a person.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from gitralph.base.ids import hashed
from tests.acceptance.test_branch import made
from tests.acceptance.test_head_moved import day as day
from tests.acceptance.test_head_moved import head, swap, text
from tests.support.repo import Repo
from tests.support.texts import TEN


def found(repo: Repo, line: int) -> dict[str, Any]:
    rows: list[dict[str, Any]] = repo.ralph("why", "--json", f"f:{line}").json()["findings"]
    return rows[0]


def exported(repo: Repo) -> dict[tuple[str, int], str]:
    """Commit and line to session, of all commits."""
    names = {f"urn:ralph:{hashed(name)}": name for name in ("S1", "S2")}
    return {
        (row["vcs"]["revision"], number): names[one["url"]]
        for row in map(json.loads, repo.ralph("export", "--format", "agent-trace").text.splitlines())
        for file in row["files"]
        for one in file["conversations"]
        for span in (one["ranges"] if "url" in one else ())
        for number in range(span["start_line"], span["end_line"] + 1)
    }


def told(repo: Repo) -> dict[int, str]:
    """Line to session, as every reader tells it; no commit here moves a line."""
    rows = repo.ralph("blame", "--json", "f").json()["lines"]
    said = exported(repo)
    assert [row["session"] for row in rows] == [said.get((row["commit"], row["line"])) for row in rows]
    for line in (3, 5):
        assert found(repo, line)["session"] == rows[line - 1]["session"], line
    return {row["line"]: row["session"] for row in rows if row["session"] is not None}


def there_and_back(repo: Repo, session: str = "S1", old: str = "line 3\n") -> None:
    swap(repo, session, old, "other words\n")
    swap(repo, session, "other words\n", old)


def removed_and_back(repo: Repo, session: str = "S1") -> None:
    swap(repo, session, "line 3\n", "")
    swap(repo, session, "line 4\n", "line 3\nline 4\n")


def by_two(repo: Repo) -> None:
    there_and_back(repo)
    removed_and_back(repo, "S2")


def by_one_and_the_other(repo: Repo) -> None:
    swap(repo, "S1", "line 3\n", "other words\n")
    swap(repo, "S2", "other words\n", "line 3\n")


def by_restore(repo: Repo) -> None:
    swap(repo, "S1", "line 3\n", "other words\n")
    repo.git("checkout", "--", "f")
    repo.ralph("restore", "--session", "S1", "f")
    swap(repo, "S1", "other words\n", "line 3\n")


def by_undo(repo: Repo) -> None:
    swap(repo, "S1", "line 3\n", "other words\n")
    repo.ralph("undo", "--session", "S1")


def by_stash(repo: Repo) -> None:
    swap(repo, "S1", "line 3\n", "other words\n")
    repo.git("stash", "-q")
    repo.git("stash", "pop", "-q")
    swap(repo, "S1", "other words\n", "line 3\n")


def by_checkout(repo: Repo) -> None:
    swap(repo, None, "line 3\n", "of a person\n")
    repo.commit_all("later")
    repo.git("checkout", "-q", "HEAD~1")
    there_and_back(repo)
    repo.git("checkout", "-q", "main")
    swap(repo, "S2", "of a person\n", "line 3\n")
    swap(repo, "S2", "line 3\n", "of a person\n")


def by_reset(repo: Repo) -> None:
    """The session brings back what HEAD lacks, and then HEAD goes back as well."""
    swap(repo, None, "line 3\n", "of a person\n")
    repo.commit_all("later")
    swap(repo, "S1", "of a person\n", "line 3\n")
    repo.git("reset", "-q", "--hard", "HEAD~1")


def by_move(repo: Repo) -> None:
    """Which of two lines moved is a matter of opinion: git's says which commit each is of."""
    swap(repo, "S1", "line 3\nline 4\n", "line 4\nline 3\n")
    swap(repo, "S1", "line 4\nline 3\n", "line 3\nline 4\n")


WAYS = [
    there_and_back,
    removed_and_back,
    by_two,
    by_one_and_the_other,
    by_restore,
    by_undo,
    by_stash,
    by_checkout,
    by_reset,
    by_move,
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_persons_line_stays_the_persons(way: Callable[[Repo], None], day: Repo) -> None:
    way(day)
    assert told(day) == {}
    assert [row["state"] for row in day.ralph("why", "--json", "f").json()["findings"]] != []
    assert all(row["commit"] is None for row in day.ralph("why", "--json", "f").json()["findings"])


@pytest.mark.parametrize("is_plain", [False, True], ids=["its own commit", "a person's commit"])
def test_a_sessions_line_stays_its_own(is_plain: bool, day: Repo) -> None:
    day.edit("S1", "f", TEN.replace("line 3\n", "three\n"), fields={"call": "the first"})
    if is_plain:
        day.commit_all("by hand")
    else:
        day.commit("S1")
    there_and_back(day, "S2", "three\n")
    assert told(day) == {3: "S1"}
    there_and_back(day, "S1", "three\n")
    assert told(day) == {3: "S1"}
    assert found(day, 3)["call"] == "the first"


@pytest.mark.parametrize("how", ["amended", "reworded", "rebased"])
def test_it_stays_so_when_git_rewrites_the_commit(how: str, day: Repo) -> None:
    """Then the record is from before the commit that has the line."""
    swap(day, None, "line 3\n", "of a person\n")
    day.commit_all("by hand")
    there_and_back(day, "S1", "of a person\n")
    rewrite(day, how)
    assert told(day) == {}


def rewrite(repo: Repo, how: str) -> None:
    repo.tick()
    if how == "amended":
        repo.git("commit", "-q", "--amend", "--no-edit", "--date=2001-01-01T00:00:00Z")
        return
    if how == "reworded":
        repo.git("commit", "-q", "--amend", "-m", "another message")
        return
    repo.git("checkout", "-q", "-b", "upstream", "HEAD~1")
    repo.write("g", "g\n")
    repo.commit_all("meanwhile")
    repo.git("rebase", "-q", "upstream", "main")


@pytest.mark.parametrize("how", ["amended", "reworded", "rebased"])
def test_a_persons_line_in_a_sessions_rewritten_commit_is_still_the_persons(how: str, day: Repo) -> None:
    swap(day, "S1", "line 5\n", "five\n")
    swap(day, None, "line 3\n", "of a person\n")
    day.commit("S1", "--whole-file", "--", "f")
    there_and_back(day, "S1", "of a person\n")
    assert told(day) == {5: "S1"}
    rewrite(day, how)
    assert told(day) == {5: "S1"}


@pytest.mark.parametrize("how", ["amended", "reworded", "rebased"])
def test_a_persons_line_between_two_of_one_call_stays_the_persons(how: str, day: Repo) -> None:
    swap(day, None, "line 5\n", "of a person\n")
    day.edit("S1", "f", text(day).replace("line 3\n", "three\n").replace("line 7\n", "seven\n"))
    day.commit("S1", "--whole-file", "--", "f")
    assert told(day) == {3: "S1", 7: "S1"}
    rewrite(day, how)
    assert told(day) == {3: "S1", 7: "S1"}


def test_a_line_that_a_session_brings_back_to_head_is_its_own(day: Repo) -> None:
    """The commit that has it now is the session's, or has what the session did."""
    swap(day, None, "line 3\n", "")
    swap(day, None, "line 5\n", "")
    day.commit_all("without")
    swap(day, "S1", "line 4\n", "line 3\nline 4\n")
    day.commit("S1")
    swap(day, "S2", "line 6\n", "line 5\nline 6\n")
    day.commit_all("by hand")
    assert told(day) == {3: "S1", 5: "S2"}


def test_a_revert_by_a_person_is_the_persons(day: Repo) -> None:
    oid = made(day, "S1", "line 3\n", "three\n")
    there_and_back(day, "S2", "three\n")
    day.git("revert", "--no-edit", oid)
    assert text(day) == TEN == head(day)
    assert told(day) == {}


def test_a_session_that_changes_it_after_the_revert_has_none_of_it(day: Repo) -> None:
    day.git("revert", "--no-edit", made(day, "S1", "line 3\n", "three\n"))
    there_and_back(day, "S1")
    there_and_back(day, "S2")
    assert told(day) == {}
