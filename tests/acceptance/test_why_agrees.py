"""``why <path>`` and ``why <path>:<line>`` ask one question: HEAD and the file decide, not old notes."""

import pytest

from tests.acceptance.test_head_moved import swap
from tests.support import shells
from tests.support.repo import Repo
from tests.support.texts import TEN


@pytest.fixture
def day(empty_repo: Repo) -> Repo:
    """A repository whose only file is ``f``."""
    empty_repo.write("f", TEN)
    empty_repo.commit_all("base")
    return empty_repo


def line(repo: Repo, number: int) -> tuple[str, str | None, str | None]:
    one = repo.ralph("why", "--json", f"f:{number}").json()["findings"][0]
    return one["state"], one["session"], one["commit"]


def listed(repo: Repo) -> list[tuple[str, str | None, str | None]]:
    rows = repo.ralph("why", "--json", "f").json()["findings"]
    return [(one["state"], one["session"], one["commit"]) for one in rows]


def test_a_plain_commit_and_its_amend_are_followed(day: Repo) -> None:
    """The user commits S1's line with plain git, and amends: both forms name S1 and the commit of now."""
    swap(day, "S1", "line 3\n", "three\n")
    day.git("commit", "-qam", "user")
    assert line(day, 3) == ("committed", "S1", day.head())
    day.git("commit", "-q", "--amend", "-m", "amended")
    assert line(day, 3) == ("committed", "S1", day.head())
    assert listed(day) == [line(day, 3)]


def test_an_amend_of_a_commit_of_ours_is_followed(day: Repo) -> None:
    swap(day, "S1", "line 4\n", "four\n")
    day.commit("S1")
    day.git("commit", "-q", "--amend", "-m", "without trailers")
    assert line(day, 4) == ("committed", "S1", day.head())
    assert listed(day) == [line(day, 4)]


def test_what_a_shell_command_changed_is_listed_by_its_commit(day: Repo) -> None:
    swap(day, "S1", "line 4\n", "four\n")
    shells.run(day, "S1", "sed -i s/line.6/six/ f")
    day.commit("S1", "--with-shell")
    assert line(day, 6) == ("committed", "S1", day.head())
    assert set(listed(day)) == {("committed", "S1", day.head())}


def test_a_discarded_edit_is_not_pending(day: Repo) -> None:
    swap(day, "S1", "line 8\n", "eight\n")
    assert listed(day) == [("pending", "S1", None)] == [line(day, 8)]
    day.git("checkout", "-q", "f")
    assert listed(day) == [("consumed", "S1", None)]
    assert line(day, 8)[1] is None


def test_nobody_else_contests_after_a_pull_with_autostash(day: Repo, make_repo: object) -> None:
    """``pull --rebase --autostash`` puts S1's line back over a new HEAD: it is S1's alone."""
    day.git("clone", "-q", "--bare", str(day.root), str(day.root.parent / "hub.git"))
    day.git("remote", "add", "origin", str(day.root.parent / "hub.git"))
    day.git("fetch", "-q", "origin")
    day.git("branch", "-q", "--set-upstream-to=origin/main")
    day.git("clone", "-q", str(day.root.parent / "hub.git"), str(day.root.parent / "other"))
    other = Repo(day.root.parent / "other", day.env)
    swap(other, None, "line 10\n", "ten\n")
    other.commit_all("other")
    other.git("push", "-q", "origin", "main")
    swap(day, "S1", "line 3\n", "three\n")
    day.git("pull", "-q", "--rebase", "--autostash")
    assert day.owners("S1") == {"f": "mine"}
    assert day.commit("S1").paths == {"f": "M"}


def test_an_executable_bit_is_pending_as_a_line_is(day: Repo) -> None:
    shells.run(day, "S1", "chmod +x f")
    assert listed(day) == [("pending", "S1", None)]
    day.commit("S1", "--with-shell")
    assert [row[:2] for row in listed(day)] == [("committed", "S1")]


def test_a_person_s_executable_bit_is_no_session_s(day: Repo) -> None:
    swap(day, "S1", "line 8\n", "eight\n")
    day.commit("S1")
    (day.root / "f").chmod(0o755)
    assert listed(day) == [("committed", "S1", day.head())]
