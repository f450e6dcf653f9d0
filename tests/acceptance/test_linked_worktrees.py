"""Linked worktrees are kept apart, and a git hook leaks nothing."""

import os
import shutil
from pathlib import Path

import pytest

from tests.support.repo import Repo

TEN = "".join(f"line {n}\n" for n in range(1, 11))
MINE = TEN.replace("line 9\n", "line nine\n")
THEIRS = TEN.replace("line 2\n", "line two\n")


def test_same_path_in_two_linked_worktrees_is_kept_apart(repo: Repo) -> None:
    one, two = repo.worktree("one"), repo.worktree("two")
    one.edit("S1", "a", MINE)
    two.edit("S2", "a", THEIRS)
    repo.edit("S3", "a", TEN + "main\n")
    assert one.owners("S1") == {"a": "mine"}
    assert two.owners("S2") == {"a": "mine"}
    one.commit("S1")
    assert one.changes() == {"a": "M"}
    assert one.blob("a") == MINE.encode()
    assert two.pending("S2") == ["a"]
    two.commit("S2")
    repo.commit("S3")
    assert two.blob("a") == THEIRS.encode()
    assert repo.blob("a") == (TEN + "main\n").encode()


def test_one_session_in_two_worktrees_is_kept_apart(repo: Repo) -> None:
    one = repo.worktree("one")
    one.edit("S1", "a", MINE)
    repo.edit("S1", "b", MINE)
    main = repo.head()
    one.commit("S1")
    assert one.changes() == {"a": "M"}
    assert repo.head() == main
    assert repo.pending("S1") == ["b"]
    repo.commit("S1")
    assert repo.changes() == {"b": "M"}


def test_record_belongs_to_the_worktree_that_was_written(repo: Repo) -> None:
    one = repo.worktree("one")
    one.write("a", MINE)
    event = {
        "session": "S1",
        "cwd": str(repo.root),
        "event": "edit",
        "path": str(one.file("a")),
        "before": TEN,
        "after": MINE,
    }
    repo.hook("generic", event)
    assert repo.pending("S1") == []
    assert one.pending("S1") == ["a"]
    main = repo.head()
    assert repo.commit("S1").status == "nothing"
    one.commit("S1")
    assert one.changes() == {"a": "M"}
    assert repo.head() == main


def test_a_worktree_inside_the_main_one(repo: Repo) -> None:
    repo.git("worktree", "add", "-q", ".worktrees/x", "-b", "x")
    inner = Repo(repo.root / ".worktrees/x", repo.env, False, repo._clock)
    inner.write("a", MINE)
    event = {
        "session": "S1",
        "cwd": str(repo.root),
        "event": "edit",
        "path": ".worktrees/x/a",
        "before": TEN,
        "after": MINE,
    }
    repo.hook("generic", event)
    assert repo.pending("S1") == []
    assert inner.pending("S1") == ["a"]


def test_a_worktree_that_was_moved_keeps_its_records(repo: Repo, tmp_path: Path) -> None:
    one = repo.worktree("one")
    one.edit("S1", "a", MINE)
    repo.git("worktree", "move", str(one.root), str(tmp_path / "moved"))
    moved = Repo(tmp_path / "moved", one.env, False, one._clock)
    assert moved.pending("S1") == ["a"]
    moved.commit("S1")
    assert moved.changes() == {"a": "M"}


@pytest.mark.parametrize("how", ["removed", "by hand", "pruned"])
def test_records_of_a_lost_worktree_stay_and_go_nowhere_else(repo: Repo, how: str) -> None:
    one = repo.worktree("one")
    one.edit("S1", "a", MINE)
    (records,) = (repo.state / "worktrees").iterdir()
    if how == "removed":
        repo.git("worktree", "remove", "--force", str(one.root))
    else:
        shutil.rmtree(one.root)
        if how == "pruned":
            repo.git("worktree", "prune")
    assert (records / "S1.files").read_text() == "a\n"
    (found,) = repo.ralph("session", "list", "--json").json()
    assert found["id"] == "S1"
    assert found["worktree"] == records.name
    repo.write("a", MINE)
    assert repo.commit("S1").status == "nothing"
    assert records.name in repo.ralph("gc", "--dry-run").text


def test_a_new_worktree_of_the_same_name_is_another_one(repo: Repo) -> None:
    one = repo.worktree("one")
    one.edit("S1", "a", MINE)
    repo.git("worktree", "remove", "--force", str(one.root))
    repo.git("worktree", "add", "-q", str(one.root), "one")
    one.write("a", MINE)
    assert one.pending("S1") == []
    assert one.commit("S1").status == "nothing"
    assert one.owners("S1") == {"a": "nobody"}


def test_the_folder_of_the_worktree_is_gone(repo: Repo) -> None:
    one = repo.worktree("one")
    one.edit("S1", "a", MINE)
    git_dir = one.git("rev-parse", "--absolute-git-dir")
    shutil.rmtree(one.root)
    done = repo.run(
        "commit", "--session", "S1", "-m", "x", env={"GIT_DIR": git_dir, "GIT_WORK_TREE": str(one.root)}
    )
    assert done.code == 128
    assert repo.git("log", "--format=%s", "one") == "base"


def _in_hook(repo: Repo, hook: str, script: str) -> None:
    path = repo.root / ".git/hooks" / hook
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_inside_a_git_hook_the_right_repository(repo: Repo, tmp_path: Path) -> None:
    """The user's commit runs us in post-commit: git's variables name this repository, not another."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    repo.edit("S1", "a", MINE)
    index = tmp_path / "index"
    shutil.copy(repo.root / ".git/index", index)
    before = index.read_bytes()
    env: dict[str, str | None] = {
        "GIT_DIR": str(repo.root / ".git"),
        "GIT_WORK_TREE": str(repo.root),
        "GIT_INDEX_FILE": str(index),
        "GIT_PREFIX": "",
        "GIT_LITERAL_PATHSPECS": "1",
    }
    repo.ralph("commit", "--session", "S1", "-m", "x", env=env, cwd=elsewhere)
    assert repo.changes() == {"a": "M"}
    assert index.read_bytes() == before
    assert repo.git("diff", "--cached", "--name-only") == ""


def test_relative_variables_as_git_sets_them(repo: Repo) -> None:
    """In a hook GIT_DIR is ``.git`` and GIT_INDEX_FILE ``.git/index``."""
    from tests.support.runner import COMMAND

    command = " ".join(f"'{word}'" for word in COMMAND)
    _in_hook(
        repo,
        "post-commit",
        f'[ -z "$RALPH_INSIDE" ] || exit 0\nexport RALPH_INSIDE=1\n'
        f"{command} commit --session S1 -m inner > inner.log 2>&1",
    )
    repo.edit("S1", "a", MINE)
    repo.write("b", "the user's\n")
    repo.tick()
    repo.git("commit", "-qm", "outer", "b")
    assert repo.git("log", "--format=%s", "-2") == "inner\nouter", (repo.read("inner.log"),)
    assert repo.changes("HEAD") == {"a": "M"}
    assert repo.changes("HEAD^") == {"b": "M"}


def test_in_pre_commit_the_users_index_lock_is_respected(repo: Repo) -> None:
    """A commit from within the user's own commit would meet his index.lock: busy, not broken."""
    from tests.support.runner import COMMAND

    inner = (
        "-c",
        "import sys; from gitralph.commit import land as landing; landing.WAIT = 0.2\n"
        "from gitralph.__main__ import main; sys.exit(main())",
    )
    words = " ".join(f"'{word}'" for word in (COMMAND[0], "-P", *inner))
    _in_hook(
        repo,
        "pre-commit",
        f'[ -z "$RALPH_INSIDE" ] || exit 0\nexport RALPH_INSIDE=1\n'
        f"{words} commit --session S1 -m inner >inner.log 2>&1; echo $? >> inner.log",
    )
    repo.edit("S1", "a", MINE)
    repo.write("b", "the user's\n")
    repo.tick()
    repo.git("commit", "-qm", "outer", "b")
    assert (repo.read("inner.log") or b"").endswith(b"\n75\n")
    assert repo.changes() == {"b": "M"}
    assert repo.pending("S1") == ["a"]


def test_no_variable_leaks_to_a_hook_of_the_repository(repo: Repo, tmp_path: Path) -> None:
    _in_hook(repo, "pre-commit", f"env | grep ^GIT_ | cut -d= -f1 | sort > '{tmp_path}/seen'")
    repo.edit("S1", "a", MINE)
    quarantine = str(tmp_path / "objects")
    os.mkdir(quarantine)
    repo.ralph(
        "commit",
        "--session",
        "S1",
        "-m",
        "x",
        env={
            "GIT_INDEX_FILE": str(tmp_path / "x"),
            "GIT_QUARANTINE_PATH": quarantine,
        },
    )
    seen = (tmp_path / "seen").read_text().split()
    assert "GIT_QUARANTINE_PATH" not in seen
    assert "GIT_INDEX_FILE" in seen  # git's own contract with a hook: ours, not the caller's
    assert not (tmp_path / "x").exists()
