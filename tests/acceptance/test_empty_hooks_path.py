"""`core.hooksPath` empty means git's default: an agent exports it that way."""

from pathlib import Path

import pytest

from tests.support.repo import Repo
from tests.support.texts import changed

# as one agent's shell has it
EMPTY = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": ""}


@pytest.mark.parametrize(
    "command",
    [
        ["status"],
        ["ls-files"],
        ["diff"],
        ["why", "a"],
        ["session", "list"],
        ["session", "start"],
        ["gc"],
        ["track", "--session", "S1", "u"],
        ["commit", "--dry-run"],
        ["commit", "-m", "x"],
        ["run", "list"],
        ["worktree", "add", "bd-1"],
        ["worktree", "list"],
        ["events", "--file", "none.jsonl"],
        ["guard"],
        ["env"],
        ["emit", "topic"],
        ["install", "--guard"],
        ["report"],
    ],
)
def test_every_command_works(repo: Repo, command: list[str]) -> None:
    repo.edit("S1", "a", changed())
    if command == ["report"]:
        repo.ralph("run", "start", env=EMPTY)
    wanted = repo.run(*command).code if command[0] == "events" else 0
    repo.ralph(*command, env=EMPTY, code=wanted)


def test_in_a_linked_worktree_too(repo: Repo) -> None:
    other = repo.worktree("w1")
    other.edit("S1", "a", changed())
    other.ralph("commit", "-m", "x", env=EMPTY)
    assert other.changes() == {"a": "M"}


def test_the_hooks_of_the_default_folder_run(repo: Repo) -> None:
    hook = repo.file(".git/hooks/pre-commit")
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho no >&2\nexit 1\n")
    hook.chmod(0o755)
    repo.edit("S1", "a", changed())
    repo.ralph("commit", "-m", "x", env=EMPTY, code=1)
    repo.ralph("commit", "-m", "x", "--no-verify", env=EMPTY)
    assert repo.changes() == {"a": "M"}


def test_the_guard_lands_in_the_default_folder(repo: Repo) -> None:
    repo.ralph("install", "--guard", env=EMPTY)
    assert "git-ralph guard" in repo.file(".git/hooks/pre-commit").read_text()


def test_outside_of_a_repository_git_still_says_so(tmp_path: Path, environ: dict[str, str]) -> None:
    nowhere = Repo(tmp_path / "nowhere", environ)
    nowhere.root.mkdir()
    assert "not a git repository" in nowhere.ralph("status", env=EMPTY, code=128).said
    nowhere.git("init", "-q", "--bare", "bare.git")
    assert "bare" in nowhere.ralph("status", env=EMPTY, code=128, cwd="bare.git").said
