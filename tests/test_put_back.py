"""Whether git may have put files back since a record: what each command of git leaves behind."""

import os
from collections.abc import Callable

import pytest

from gitralph.git import put_back
from gitralph.git.repository import open_repository
from gitralph.git.run import Git
from tests.support.repo import Repo


@pytest.fixture
def since(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], bool]:
    """Ask for a record that found HEAD where it is at first, made at so many nanoseconds of the clock."""
    monkeypatch.chdir(repo.root)
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    found = open_repository(Git.find(os.environ))
    head = repo.head()
    return lambda mtime: put_back.read(found).since(head, mtime)


def edited(repo: Repo) -> int:
    """Edit a file as a session does, and return when."""
    repo.tick()
    repo.write("edited", "text\n")
    return repo.file("edited").stat().st_mtime_ns


def test_a_commit_puts_nothing_back(repo: Repo, since: Callable[[int], bool]) -> None:
    mtime = edited(repo)
    assert not since(mtime)
    repo.commit_all("another")
    assert not since(mtime)


@pytest.mark.parametrize("command", ["reset --hard", "stash --include-untracked", "rebase --force HEAD~1"])
def test_what_puts_files_back_is_seen_until_an_edit_comes_after_it(
    repo: Repo, since: Callable[[int], bool], command: str
) -> None:
    repo.write("committed", "text\n")
    repo.commit_all("another")
    mtime = edited(repo)
    if "stash" not in command:
        repo.remove("edited")
    repo.tick()
    repo.git(*command.split())
    assert since(mtime)
    later = edited(repo)
    assert not since(later)


def test_a_switch_to_the_branch_that_is_checked_out_puts_nothing_back(
    repo: Repo, since: Callable[[int], bool]
) -> None:
    mtime = edited(repo)
    repo.git("checkout", "-q", repo.git("symbolic-ref", "--short", "HEAD").strip())
    assert not since(mtime)
    repo.git("switch", "-q", "-c", "other", "HEAD")
    assert not since(mtime)


def test_a_branch_that_is_renamed_puts_nothing_back(repo: Repo, since: Callable[[int], bool]) -> None:
    repo.git("branch", "-M", "renamed")
    mtime = edited(repo)
    repo.commit_all("another")
    assert not since(mtime)


def test_where_no_reflog_is_kept_nothing_is_sure(repo: Repo, since: Callable[[int], bool]) -> None:
    mtime = edited(repo)
    assert not since(mtime)
    os.remove(repo.file(".git/logs/HEAD"))
    assert since(mtime)
