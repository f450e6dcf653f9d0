"""What earlier commits took is a log and decides nothing (U2).

Each history is played, the repository copied, and everything taken out of the copy that says what commits
took. Whoever asks then hears the same.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import shells
from tests.support.repo import Repo
from tests.support.size import FULL
from tests.support.texts import TEN

SESSIONS = ("S1", "S2", "S3")


@pytest.fixture
def day(empty_repo: Repo) -> Repo:
    """A repository with ``f`` and ``g``."""
    empty_repo.write("f", TEN)
    empty_repo.write("g", TEN)
    empty_repo.commit_all("base")
    return empty_repo


def swap(repo: Repo, session: str | None, old: str, new: str, path: str = "f") -> None:
    """Replace a piece of the file that occurs once; None is a person, whom no hook sees."""
    before = (repo.read(path) or b"").decode()
    assert before.count(old) == 1, (old, before)
    after = before.replace(old, new)
    if session is None:
        repo.write(path, after)
    else:
        repo.edit(session, path, after)


# --- histories ---


def one_of_two_committed(repo: Repo) -> None:
    swap(repo, "S1", "line 2\n", "two by one\n")
    swap(repo, "S2", "line 8\n", "eight by two\n")
    repo.commit("S1")


def both_committed(repo: Repo) -> None:
    one_of_two_committed(repo)
    repo.commit("S2")


def went_on(repo: Repo) -> None:
    one_of_two_committed(repo)
    swap(repo, "S1", "line 5\n", "five by one\n")
    swap(repo, "S3", "line 10\n", "ten by three\n")


def amended(repo: Repo) -> None:
    one_of_two_committed(repo)
    swap(repo, "S1", "line 4\n", "four by one\n")
    repo.git("commit", "-q", "--amend", "-m", "another message")


def reset_soft(repo: Repo) -> None:
    one_of_two_committed(repo)
    repo.git("reset", "-q", "--soft", "HEAD~1")


def reset_mixed_after_both(repo: Repo) -> None:
    both_committed(repo)
    repo.git("reset", "-q", "HEAD~2")


def reset_hard(repo: Repo) -> None:
    both_committed(repo)
    repo.git("reset", "-q", "--hard", "HEAD~1")


def stashed(repo: Repo) -> None:
    one_of_two_committed(repo)
    repo.git("stash", "-q")


def asked_while_stashed(repo: Repo) -> None:
    stashed(repo)
    repo.commit("S2", checked=False)
    repo.git("stash", "pop", "-q")


def popped(repo: Repo) -> None:
    went_on(repo)
    repo.git("stash", "-q")
    repo.git("stash", "pop", "-q")


def taken_back(repo: Repo) -> None:
    both_committed(repo)
    swap(repo, "S1", "eight by two\n", "line 8\n")


def built_on(repo: Repo) -> None:
    swap(repo, "S1", "line 5\n", "five as it is by one\n")
    repo.commit("S1")
    swap(repo, "S2", "five as it is by one\n", "five as it is by two\n")
    swap(repo, "S1", "five as it is by two\n", "five as it is by one again\n")


def by_hand(repo: Repo) -> None:
    one_of_two_committed(repo)
    repo.git("commit", "-qam", "all of it")
    swap(repo, None, "line 6\n", "six by nobody\n")
    swap(repo, "S2", "line 3\n", "three by two\n")


def corrected(repo: Repo) -> None:
    one_of_two_committed(repo)
    swap(repo, None, "eight by two\n", "eight was by two\n")


def made_and_moved(repo: Repo) -> None:
    repo.edit("S1", "new", "one\ntwo\nthree\n", None)
    repo.commit("S1")
    repo.rename("S2", "new", "newer")
    swap(repo, "S1", "line 2\n", "two by one\n", "g")


def deleted(repo: Repo) -> None:
    swap(repo, "S1", "line 2\n", "two by one\n")
    repo.commit("S1")
    repo.delete("S2", "f")


def committed_by_the_other_branch(repo: Repo) -> None:
    repo.git("branch", "old")
    both_committed(repo)
    swap(repo, "S3", "line 1\n", "one by three\n", "g")
    repo.git("checkout", "-q", "old")


def reverted(repo: Repo) -> None:
    one_of_two_committed(repo)
    repo.git("stash", "-q")
    repo.git("revert", "--no-edit", "HEAD")
    repo.git("stash", "pop", "-q")


def by_shell(repo: Repo) -> None:
    """What the command did is offered: of the other nothing waits there any more."""
    swap(repo, "S2", "line 8\n", "eight by two\n")
    swap(repo, "S1", "line 1\n", "one by one\n", "g")
    repo.commit("S2")
    repo.commit("S1")
    shells.run(repo, "S1", "sed -i 's/line 2$/two by one/' f")


HISTORIES = (
    one_of_two_committed,
    both_committed,
    went_on,
    amended,
    reset_soft,
    reset_mixed_after_both,
    reset_hard,
    stashed,
    asked_while_stashed,
    popped,
    taken_back,
    built_on,
    by_hand,
    corrected,
    made_and_moved,
    deleted,
    committed_by_the_other_branch,
    reverted,
    by_shell,
)


# --- the question ---


def strip(state: Path) -> int:
    """Take out what says what commits took; how many lines of journals and files that was."""
    count = 0
    for name in state.rglob("*.commits"):
        name.unlink()
        count += 1
    for name in state.rglob("edits/*.jsonl"):
        lines = name.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if "upto" not in json.loads(line)]
        name.write_bytes(b"".join(kept))
        count += len(lines) - len(kept)
    return count


def sessions(repo: Repo) -> list[str]:
    return [name for name in ("S1", "S2", "S3") if (repo.state / f"{name}.json").exists()]


def drafted(repo: Repo, session: str) -> dict[str, Any]:
    asked = repo.run("commit", "--dry-run", "--json", "--session", session, "-m", "x")
    return {"code": asked.code, **asked.json()}


def answers(repo: Repo) -> dict[str, Any]:
    """What commit, status and diff say, for every session; without what is said once and then known."""
    found: dict[str, Any] = {"status": repo.ralph("status", "--json").json()}
    for session in sessions(repo):
        draft = drafted(repo, session)
        left = [one for one in draft["left"] if one["reason"] != "unchanged"]
        found[f"commit {session}"] = {**draft, "left": left, "notes": None}
        shown = repo.run("diff", "--session", session)
        found[f"diff {session}"] = shown.code, shown.text
        found[f"status {session}"] = repo.ralph("status", "--json", "--session", session).json()
    return found


def without_log(repo: Repo, folder: Path) -> Repo:
    """A copy of a repository that does not know what its commits took."""
    shutil.copytree(repo.root, folder, symlinks=True)
    bare = Repo(folder, repo.env)
    assert strip(bare.state) > 0
    return bare


@pytest.mark.parametrize("history", HISTORIES[:: 1 if FULL else 2], ids=lambda one: one.__name__)
def test_without_the_log_everybody_answers_as_before(
    day: Repo, tmp_path: Path, history: Callable[[Repo], None]
) -> None:
    history(day)
    bare = without_log(day, tmp_path / "copy")
    one, two = answers(bare), answers(day)
    assert {asked: (one[asked], two[asked]) for asked in two if one[asked] != two[asked]} == {}
