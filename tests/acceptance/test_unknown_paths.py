"""A path or pathspec that nobody knows is said to be none, as git says it; all are read where one stands."""

import pytest

from tests.support.repo import Repo
from tests.support.texts import changed


def _said(repo: Repo, *args: str, cwd: str = ".") -> str:
    return repo.ralph(*args, code=128, cwd=cwd).said


@pytest.mark.parametrize(
    "command", [["commit", "--session", "S1", "-m", "x"], ["commit", "-m", "x"], ["diff"]]
)
@pytest.mark.parametrize("spec", ["nosuch", "*.nosuch", "d/nosuch", ":(top)nosuch", "nosuch/"])
def test_a_pathspec_that_nobody_knows_is_fatal(repo: Repo, command: list[str], spec: str) -> None:
    """Neither in HEAD, index, worktree nor records: 128, as git says it. Never exit 0 for a typo."""
    repo.edit("S1", "a", changed())
    said = _said(repo, *command, "--", "a", spec)
    assert said.startswith(f"fatal: pathspec '{spec}' did not match any file(s) known to git\n")
    assert repo.pending("S1") == ["a"]


def test_without_anything_pending_too(repo: Repo) -> None:
    assert "did not match" in _said(repo, "commit", "-m", "x", "--", "nosuch")


@pytest.mark.parametrize("typed", ["nosuch", "nosuch:3", "d/nosuch"])
def test_why_says_so_as_well(repo: Repo, typed: str) -> None:
    repo.edit("S1", "a", changed())
    path = typed.partition(":")[0]
    assert f"fatal: pathspec '{path}' did not match any file(s) known to git\n" == _said(repo, "why", typed)


def test_what_is_known_anywhere_is_no_typo(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.edit("S1", "thrown-away", "text\n")  # in the records alone
    repo.remove("thrown-away")
    repo.write("untracked", "text\n")
    repo.write("x.log", "text\n")
    repo.write(".git/info/exclude", "*.log\n")
    repo.git("rm", "-q", "--cached", "b")
    repo.remove("b")  # in HEAD alone
    repo.write("staged", "text\n")
    repo.git("add", "staged")
    repo.remove("staged")  # in the index alone
    repo.file("empty").mkdir()
    for path in ("thrown-away", "untracked", "x.log", "b", "staged", "empty", "d", ".", "*", ":!a"):
        answer = repo.commit("S1", "--dry-run", "--", path, checked=False)
        assert answer.status == ("dry-run" if path in (".", "*") else "nothing"), path  # these hold `a`
        repo.ralph("diff", "--", path)
    for path in ("thrown-away", "untracked", "x.log", "b", "staged", "d"):
        repo.ralph("why", path)


def test_outside_and_bad_magic_are_fatal_as_in_git(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    assert "is outside repository" in _said(repo, "commit", "-m", "x", "--", "../outside")
    assert "Invalid pathspec magic" in _said(repo, "commit", "-m", "x", "--", ":(nosuch)a")


def test_a_pathspec_is_read_from_where_one_stands(repo: Repo) -> None:
    repo.edit("S1", "d/a", changed())
    assert "pathspec 'd/a' did not match" in _said(repo, "commit", "-m", "x", "--", "d/a", cwd="d")
    assert "pathspec 'b' did not match" in _said(repo, "diff", "--", "b", cwd="d")
    repo.ralph("commit", "-m", "x", "--", "a", cwd="d")
    assert repo.changes() == {"d/a": "M"}


# --- status ---


def _rows(text: str) -> list[str]:
    return [row.split()[-1] for row in text.splitlines() if row.startswith(" ")]


def test_status_prints_paths_as_the_commands_take_them(repo: Repo) -> None:
    """From a subdirectory too: relative to where one stands, as git prints them."""
    repo.edit("S1", "d/a", changed())
    repo.edit("S1", "e/b", changed())
    repo.edit("S1", "a", changed())
    listed = _rows(repo.ralph("status", cwd="d").text)
    assert listed == ["../a", "a", "../e/b"]
    for path in listed:
        repo.ralph("commit", "-m", "x", "--", path, cwd="d")
    assert repo.owners() == {}
    assert repo.count() == 4


def test_status_honours_relative_paths_off(repo: Repo) -> None:
    repo.git("config", "status.relativePaths", "false")
    repo.edit("S1", "d/a", changed())
    assert _rows(repo.ralph("status", cwd="d").text) == ["d/a"]


def test_for_programs_paths_are_those_of_the_root(repo: Repo) -> None:
    repo.edit("S1", "d/a", changed())
    assert repo.ralph("status", "--porcelain", cwd="d").text == "other S1 d/a\n"
    assert repo.ralph("status", "--json", cwd="d").json()["paths"][0]["path"] == "d/a"


def test_status_takes_pathspecs(repo: Repo) -> None:
    repo.edit("S1", "d/a", changed())
    repo.edit("S1", "a", changed())
    assert _rows(repo.ralph("status", "--", "d").text) == ["d/a"]
    assert _rows(repo.ralph("status", ".", cwd="d").text) == ["a"]
    assert [r["path"] for r in repo.ralph("status", "--json", ":!d").json()["paths"]] == ["a"]
    assert repo.ralph("status", "-z", "*a").text == "other S1 a\0other S1 d/a\0"


def test_a_pathspec_of_status_that_matches_nothing_is_no_error(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    assert repo.ralph("status", "--", "nosuch").text == "nothing uncommitted\n"
    assert repo.ralph("status", "--json", "nosuch").json()["paths"] == []
