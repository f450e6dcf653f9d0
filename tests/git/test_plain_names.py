"""A plain name on the command line means to us what it means to git, and costs no process."""

import random
from pathlib import Path

import pytest

from gitralph.git import pathspec
from gitralph.git.run import Git
from tests.support.repo import Repo
from tests.support.texts import changed

ODD = [
    "",
    "/a",
    "a/",
    "a//b",
    ".",
    "..",
    "a/../b",
    "./a",
    "*",
    "a?",
    "[a]",
    ":a",
    ":(icase)a",
    "a\\b",
    "é",
    "a b",
]


@pytest.mark.parametrize("spec", ODD)
def test_what_git_may_read_otherwise_is_not_plain(spec: str) -> None:
    assert not pathspec.is_plain(spec)


@pytest.mark.parametrize("prefix", ["", "a/", "a/b/"])
def test_a_plain_name_matches_what_it_matches_for_git(empty_repo: Repo, tmp_path: Path, prefix: str) -> None:
    """The path itself and all below it, from the folder one stands in; never a longer name."""
    rng = random.Random(prefix)
    folder = empty_repo.root / prefix
    folder.mkdir(parents=True, exist_ok=True)
    git = Git.find(empty_repo.env).at(str(folder))
    for number in range(25):
        names = ["a", "b", "ab", "a.b", "A", "-a", "a-b", ".a"]
        paths = {"/".join(rng.choices(names, k=rng.randint(1, 4))).encode() for _ in range(12)}
        specs = ["/".join(rng.choices(names, k=rng.randint(1, 2))) for _ in range(rng.randint(1, 3))]
        assert all(map(pathspec.is_plain, specs))
        (tmp_path / str(number)).mkdir()
        theirs = pathspec.matching(git, str(tmp_path / str(number)), specs, paths)
        assert pathspec.below(prefix.encode(), specs, paths) == theirs


def test_a_named_file_costs_no_process(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.edit("S1", "a", changed())
    asked: list[str] = []

    def note(*_rest: object) -> list[str]:
        asked.append("git")
        return []

    monkeypatch.setattr(pathspec, "matching", note)
    monkeypatch.setattr(pathspec, "unmatched", note)
    repo.ralph("commit", "--session", "S1", "-m", "x", "--", "a")
    assert asked == []
    assert repo.git("show", "--format=", "--name-only") == "a"
