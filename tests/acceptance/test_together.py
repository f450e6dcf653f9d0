"""Several sessions and the user commit, edit and move HEAD at once."""

import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gitralph.base import locks
from gitralph.commit import land as landing
from gitralph.git import refs
from tests.support.repo import Repo
from tests.support.runner import COMMAND, PATIENCE, Done, wait_for
from tests.support.size import FULL

TEN = "".join(f"line {n}\n" for n in range(1, 11))
MINE = TEN.replace("line 9\n", "line nine\n")


def test_many_sessions_commit_at_once(repo: Repo) -> None:
    """Linear commits, one file each, and none fails."""
    count = 20 if FULL else 8
    for n in range(count):
        repo.edit(f"S{n}", f"f{n}", f"by {n}\n")
    base = repo.count()
    env = repo._environment(None)
    with ThreadPoolExecutor(count) as pool:
        done = list(
            pool.map(
                lambda n: subprocess.run(
                    [*COMMAND, "commit", "--session", f"S{n}", "-m", "x"],
                    cwd=repo.root,
                    env=env,
                    capture_output=True,
                    check=False,
                ),
                range(count),
            )
        )
    assert [one.returncode for one in done] == [0] * count, [one.stderr for one in done if one.returncode]
    assert repo.count() == base + count
    assert repo.git("rev-list", "--merges", "HEAD") == ""
    for n in range(count):
        assert repo.blob(f"f{n}") == b"by %d\n" % n
    for commit in repo.git("rev-list", f"-{count}", "HEAD").split():
        assert len(repo.changes(commit)) == 1
    assert repo.git("status", "--porcelain") == ""
    assert repo.git("fsck", "--strict", "--no-dangling") == ""


def _user_commits(repo: Repo, path: str) -> str:
    """The user commits one path with plain git, past the index so that no lock is in the way."""
    blob = repo.git("hash-object", "-w", "--stdin", stdin=b"the user's\n")
    env = {"GIT_INDEX_FILE": str(repo.root / ".git/other-index")}
    repo.git("read-tree", "HEAD", env=env)
    repo.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", env=env)
    tree = repo.git("write-tree", env=env)
    commit = repo.git("commit-tree", tree, "-p", "HEAD", "-m", f"the user's {path}")
    repo.git("update-ref", "-m", "commit: user", "HEAD", commit)
    (repo.root / ".git/other-index").unlink()
    return commit


def test_rebuilt_when_head_moves_while_the_tree_is_built(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.edit("S1", "a", MINE)
    real = landing.land
    moved: list[str] = []

    def land(plan: landing.Landing, *still: refs.Still) -> None:
        if len(moved) < 2:
            moved.append(_user_commits(repo, f"user{len(moved)}"))
        real(plan, *still)

    monkeypatch.setattr(landing, "land", land)
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert len(moved) == 2
    assert repo.git("rev-parse", "HEAD^") == moved[-1]
    assert repo.changes() == {"a": "M"}
    assert repo.blob("user0") == repo.blob("user1") == b"the user's\n"
    assert repo.git("rev-parse", "HEAD@{0}", "main@{0}").split() == [repo.head()] * 2
    assert repo.pending("S1") == []
    assert not list(repo.state.glob("intents/*"))


def test_after_two_lost_races_the_branch_stands_still(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever would win each race waits for HEAD's lock then, and finds that HEAD moved."""
    repo.edit("S1", "a", MINE)
    real = landing.land
    moved: list[str] = []
    held: list[bool] = []

    def land(plan: landing.Landing, *still: refs.Still) -> None:
        held.append(any(still))
        if not any(still):
            moved.append(_user_commits(repo, f"user{len(moved)}"))
        real(plan, *still)

    monkeypatch.setattr(landing, "land", land)
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert held == [False, False, True]
    assert repo.git("rev-parse", "HEAD^") == moved[-1]
    assert repo.changes() == {"a": "M"}


def test_after_the_last_retry_it_is_busy(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """A race that is lost each time: busy (75), nothing lost."""
    repo.edit("S1", "a", MINE)
    before = repo.head()

    def land(plan: landing.Landing, *still: refs.Still) -> None:
        raise refs.LostRaceError

    with monkeypatch.context() as each_time:
        each_time.setattr(landing, "land", land)
        repo.ralph("commit", "--session", "S1", "-m", "x", code=75)
    assert repo.head() == before
    assert repo.pending("S1") == ["a"]
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert repo.changes() == {"a": "M"}


def test_the_branch_is_switched_while_the_tree_is_built(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.git("branch", "other")
    repo.edit("S1", "a", MINE)
    real = landing.land
    done: list[bool] = []

    def land(plan: landing.Landing, *still: refs.Still) -> None:
        if not done:
            done.append(True)
            repo.git("symbolic-ref", "HEAD", "refs/heads/other")
        real(plan, *still)

    monkeypatch.setattr(landing, "land", land)
    main = repo.git("rev-parse", "main")
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert repo.git("rev-parse", "main") == main
    assert repo.git("rev-parse", "other^") == main


def test_user_rewinds_head_and_nothing_is_pending_silently(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    repo.commit("S1")
    undone = repo.head()
    repo.git("reset", "-q", "--hard", "HEAD^")
    answer = repo.commit("S1")
    assert answer.status == "nothing"
    assert undone[:7] in answer.notes
    assert repo.pending("S1") == []


def test_what_comes_after_a_rewind_is_judged_against_the_new_head(repo: Repo) -> None:
    repo.edit("S1", "a", MINE)
    repo.commit("S1")
    repo.git("reset", "-q", "--hard", "HEAD^")
    repo.edit("S1", "a", TEN.replace("line 2\n", "line two\n"))
    repo.commit("S1")
    assert repo.changes() == {"a": "M"}
    assert repo.blob("a") == TEN.replace("line 2\n", "line two\n").encode()


def test_what_a_mixed_reset_takes_out_of_head_is_pending_again_and_said(repo: Repo) -> None:
    """HEAD lacks it and the file has it: it is the session's to commit, not silently."""
    repo.edit("S1", "a", MINE)
    repo.commit("S1")
    undone = repo.head()
    repo.git("reset", "-q", "HEAD^")
    answer = repo.commit("S1")
    assert answer.status == "committed"
    assert undone[:7] in answer.notes
    assert repo.blob("a") == MINE.encode()


def test_an_edit_during_commit_stays_pending(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """One on another path after the records were read: it stays pending for the next commit."""
    repo.edit("S1", "a", MINE)
    real = landing.land
    done: list[bool] = []

    def land(plan: landing.Landing, *still: refs.Still) -> None:
        if not done:
            done.append(True)
            repo.edit("S1", "b", MINE, process=True)
            repo.edit("S1", "a", MINE + "more\n", process=True)
        real(plan, *still)

    monkeypatch.setattr(landing, "land", land)
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert repo.changes() == {"a": "M"}
    assert repo.blob("a") == MINE.encode()
    assert repo.pending("S1") == ["a", "b"]
    repo.commit("S1")
    assert repo.changes() == {"a": "M", "b": "M"}
    assert repo.blob("a") == (MINE + "more\n").encode()


def _while_read(repo: Repo, monkeypatch: pytest.MonkeyPatch, happens: Callable[[int], None]) -> Done:
    """A commit of S1; each time after it read the records, and before the files, something happens."""
    from gitralph.decide import inputs

    real, count = inputs.look, itertools.count(1)

    def look(*args: Any) -> inputs.Scene:
        happens(next(count))
        return real(*args)

    with monkeypatch.context() as at_work:
        at_work.setattr(inputs, "look", look)
        return repo.run("commit", "--session", "S1", "-m", "x")


def test_an_edit_that_arrives_between_reading_the_records_and_the_file_is_committed(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.edit("S1", "a", MINE)
    done = _while_read(repo, monkeypatch, lambda n: repo.edit("S1", "a", MINE + "more\n" * n, process=True))
    assert done.code == 0, done.said
    assert repo.blob("a") == repo.read("a") == (MINE + "more\n").encode()
    assert repo.pending("S1") == []


def test_a_path_that_will_not_keep_still_is_refused_and_never_taken_half(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each reading there is a record more, and the file holds what no record left."""

    def edit_and_write(number: int) -> None:
        repo.edit("S1", "a", MINE + "more\n" * number, process=True)
        repo.write("a", MINE + "half a li")

    repo.edit("S1", "a", MINE)
    before = repo.head()
    done = _while_read(repo, monkeypatch, edit_and_write)
    assert done.code == 4
    assert "out of date: it keeps changing" in done.said
    assert repo.head() == before
    assert repo.pending("S1") == ["a"]


def _hook(repo: Repo, name: str, script: str) -> None:
    path = repo.root / ".git/hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_others_commit_while_a_hook_is_at_work(repo: Repo, tmp_path: Path) -> None:
    """While a hook is at work others commit; its own commit lands after theirs, nothing is stolen."""
    flag, go = tmp_path / "running", tmp_path / "go"
    _hook(
        repo,
        "pre-commit",
        f"case $(git diff --cached --name-only HEAD) in a) touch '{flag}';"
        f" while [ ! -e '{go}' ]; do sleep 0.05; done;; esac",
    )
    repo.edit("S1", "a", MINE)
    repo.edit("S2", "b", MINE)
    slow = subprocess.Popen(
        [*COMMAND, "commit", "--session", "S1", "-m", "slow"],
        cwd=repo.root,
        env=repo._environment(None),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert wait_for(lambda: flag.exists() or slow.poll() is not None)
    repo.ralph("commit", "--session", "S2", "-m", "quick")
    assert repo.changes() == {"b": "M"}
    go.touch()
    _, said = slow.communicate(timeout=PATIENCE)
    assert slow.returncode == 0, said
    assert repo.changes() == {"a": "M"}
    assert repo.git("log", "--format=%s", "-2") == "slow\nquick"


def test_a_live_holder_is_never_robbed(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """However old its lock: waiters end with 75 and name the process."""
    repo.edit("S1", "a", MINE)
    repo.start("none")
    repo.ralph("commit", "--session", "none", "-m", "x")
    path = repo.state / "locks/commit.lock"
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import fcntl,sys,os\nf=open(sys.argv[1],'r+')\nfcntl.flock(f,2)\n"
            "f.write(str(os.getpid())); f.flush()\nprint(flush=True)\nsys.stdin.read()",
            str(path),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    os.utime(path, (0, 0))
    monkeypatch.setattr(locks, "WAIT", 0.3)
    done = repo.ralph("commit", "--session", "S1", "-m", "x", code=75)
    assert str(holder.pid) in done.said
    holder.kill()
    holder.communicate()
    repo.ralph("commit", "--session", "S1", "-m", "x")
    assert repo.changes() == {"a": "M"}
