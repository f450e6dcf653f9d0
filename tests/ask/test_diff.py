"""``diff``: a header a session, what nobody recorded, names only, and a pager as git starts one."""

import pytest

from tests.support import terminal
from tests.support.repo import Repo
from tests.support.texts import TEN, changed


@pytest.fixture
def day(repo: Repo) -> Repo:
    """Two sessions and a person in one file; the person in others too."""
    repo.edit("S1", "a", changed(2, "two"))
    repo.edit("S2", "a", changed(9, "nine", changed(2, "two")))
    repo.write("a", changed(5, "five", changed(9, "nine", changed(2, "two"))))
    repo.write("b", changed())
    repo.write("u", "new\n")
    repo.remove("d/a")
    return repo


def test_several_sessions_have_a_header_each_and_one_has_none(day: Repo) -> None:
    rows = day.ralph("diff").text.splitlines()
    assert [row for row in rows if row.startswith("#")] == [
        "# session generic-1 (generic)",
        "# session generic-2 (generic)",
    ]
    assert day.ralph("diff", "--session", "S1").text.startswith("diff --git a/a b/a\n")
    assert day.ralph("diff", "--name-only", "--session", "S1").text == "a\n"


def test_the_patches_of_all_sessions_and_nobody_s_make_the_files(day: Repo) -> None:
    """Each line is in one of them; git apply passes over the headers."""
    patches = [day.ralph("diff", "--session", one).out for one in ("S1", "S2")]
    patches.append(day.ralph("diff", "--nobody").out)
    there = {path: day.read(path) for path in ("a", "b", "u", "d/a")}
    day.git("stash", "-u", "-q")
    for patch in patches:
        day.git("apply", stdin=patch)
    assert {path: day.read(path) for path in there} == there


@pytest.mark.parametrize("words", [["--nobody"], ["--session", "nobody"], ["--", "nobody"]])
def test_what_nobody_recorded_is_asked_for_in_three_ways(day: Repo, words: list[str]) -> None:
    patch = day.ralph("diff", *words).text
    added = [row for row in patch.splitlines() if row.startswith("+") and not row.startswith("+++")]
    assert added == ["+five", "+changed", "+new"]
    assert "deleted file" in patch


def test_a_file_of_that_name_is_a_file(day: Repo) -> None:
    day.write("nobody", "x\n")
    assert day.ralph("diff", "--", "nobody").text == ""


def test_pathspecs_narrow_what_nobody_recorded(day: Repo) -> None:
    assert day.ralph("diff", "--nobody", "--name-only", "--", "b", "u").text == "b\nu\n"
    day.ralph("diff", "--nobody", "--", "nosuch", code=128)
    day.ralph("diff", "--nobody", "--session", "S1", code=129)
    day.ralph("diff", "--stat", "--name-only", code=129)


def test_without_sessions_it_is_what_git_shows(repo: Repo) -> None:
    repo.write("a", changed())
    assert repo.ralph("diff", "--nobody").text == repo.git("diff") + "\n"


def test_nothing_is_written(day: Repo) -> None:
    objects = day.git("count-objects")
    day.ralph("diff", "--nobody")
    day.ralph("diff")
    assert day.git("count-objects") == objects


def test_a_pager_runs_on_a_terminal_alone(day: Repo) -> None:
    env = {"GIT_PAGER": "sed s/^/paged:/"}
    assert "paged:diff" in terminal.git_ralph(day, "-c", "color.ui=never", "diff", "--session", "S1", env=env)
    assert "paged:" not in day.ralph("diff", env=env).text
    off = terminal.git_ralph(day, "-c", "pager.diff=false", "-c", "color.ui=never", "diff", env=env)
    assert "paged:" not in off
    assert "+two" in off


def test_a_pager_that_is_left_early_is_no_fault(repo: Repo) -> None:
    repo.edit("S1", "big", "".join(f"{number}\n" for number in range(60000)))
    said = terminal.git_ralph(repo, "diff", env={"GIT_PAGER": "head -n 1"})
    assert "Traceback" not in said
    assert "fatal" not in said
    assert repo.read("a") == TEN.encode()


def test_a_session_that_would_be_refused_is_named_with_that(repo: Repo) -> None:
    """Its lines are in no patch, but a reader must see that it has some."""
    lines = (repo.root / "a").read_text().splitlines(keepends=True)
    repo.edit("S1", "a", "".join([*lines[:2], "one\n", *lines[3:]]))
    repo.edit("S2", "a", "".join([*lines[:2], "one two\n", *lines[3:]]))
    said = repo.ralph("diff").text
    assert "# session generic-2 (generic): commit would refuse 1 path\n" in said
    assert "one two" not in said
