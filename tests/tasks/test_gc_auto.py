"""``git ralph gc --auto``: what is over is put away in the background, and nobody waits for it."""

import os
import time
from typing import Any

import pytest

from gitralph.base import locks, programs
from gitralph.tasks import gc
from tests.support import payloads
from tests.support.keep import age, names, over, state
from tests.support.repo import Repo

Started = list[list[str]]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    """What would have been started in the background."""
    found: Started = []
    monkeypatch.setattr(programs, "detached", lambda words, _env: found.append(words[4:]))
    return found


def finished(repo: Repo, count: int) -> None:
    for number in range(count):
        repo.edit(f"old-{number}", f"{number}", "new\n")
        over(repo, f"old-{number}")
    age(repo, 2)


def put_away(repo: Repo) -> list[str]:
    folder = repo.state / "finished"
    return sorted(path.stem for path in folder.glob("*.json")) if folder.exists() else []


def test_a_commit_among_many_sessions_starts_it_and_it_puts_them_away(repo: Repo, started: Started) -> None:
    repo.git("config", "ralph.gcAuto", "4")
    finished(repo, 3)
    assert started == []
    repo.edit("S1", "a", "new\n")
    repo.commit("S1")
    ((*where, command, option),) = started
    assert where == ["-C", str(repo.root)]
    said = repo.ralph(command, option).text
    assert said == "put 3 finished sessions away; git ralph session list --all shows them\n"
    assert put_away(repo) == ["old-0", "old-1", "old-2"]
    assert {"S1.json", "S1.commits"} < set(names(repo))
    assert repo.ralph(command, option).text == ""


def test_it_starts_once_an_hour(repo: Repo, started: Started) -> None:
    repo.git("config", "ralph.gcAuto", "1")
    for number in range(3):
        repo.edit("S1", "a", f"{number}\n")
        repo.commit("S1")
    assert len(started) == 1
    hour = time.time() - 3700
    os.utime(state(repo).lock(locks.GC), (hour, hour))
    repo.ralph("session", "end", "S1")
    assert len(started) == 2


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("0", ""),
        ("many", "warning: bad value 'many' for 'ralph.gcAuto'"),
        ("²", "warning: bad value '²' for 'ralph.gcAuto'"),  # a digit for str, no number for int
    ],
)
def test_it_can_be_switched_off_and_a_bad_value_stops_no_commit(
    repo: Repo, started: Started, value: str, said: str
) -> None:
    repo.git("config", "ralph.gcAuto", value)
    repo.edit("S1", "a", "new\n")
    done = repo.ralph("commit", "--session", "S1", "-m", "x")
    assert said in done.said
    assert repo.git("log", "-1", "--format=%s").strip() == "x"
    assert started == []


def test_what_only_looks_or_records_starts_nothing(repo: Repo, started: Started) -> None:
    repo.git("config", "ralph.gcAuto", "1")
    repo.edit("S1", "a", "new\n")
    for words in (["status"], ["session", "list"], ["diff"], ["commit", "--session", "S1", "--dry-run"]):
        repo.ralph(*words)
    assert started == []


def test_the_commit_lock_is_free_between_portions(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    finished(repo, 3)
    free = []

    def pause(_seconds: float) -> None:
        with locks.hold(state(repo), locks.COMMIT, wait=0):
            free.append(len(put_away(repo)))

    monkeypatch.setattr(gc, "PORTION", 0.0)
    monkeypatch.setattr(time, "sleep", pause)
    repo.ralph("gc", "--auto")
    assert free == [0, 1, 1, 2, 2, 3]  # one journal or one session at a time


@pytest.mark.parametrize("options", [[], ["--auto"]])
@pytest.mark.parametrize("moment", ["is_finished", "put_away", "forget"])
def test_a_session_that_wakes_up_once_it_is_judged_keeps_its_edit(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, options: list[str], moment: str
) -> None:
    """What came after the judgement was blanked with what was judged, though a hook had taken it."""
    finished(repo, 2)
    real, late = getattr(gc, moment), ["new.txt"]

    def judged(trees: Any, *asked: Any) -> Any:
        found = real(trees, *asked) if moment == "is_finished" else None
        if late:
            repo.write(late[0], "late\n")
            event = payloads.edit("old-1", str(repo.root), late.pop(), None, "late\n")
            repo.hook("generic", event, process=True)
        return found if moment == "is_finished" else real(trees, *asked)

    monkeypatch.setattr(gc, moment, judged)
    monkeypatch.setattr(gc, "known", lambda _trees: ["old-1", "old-0"])
    repo.ralph("gc", *options)
    assert put_away(repo) == ["old-0", "old-1"]  # the copy stays: beside it the session itself counts
    assert repo.pending("old-1") == ["new.txt"]
    assert repo.commit("old-1").how == {"new.txt": "edits"}


def test_one_at_a_time(repo: Repo) -> None:
    finished(repo, 1)
    with locks.hold(state(repo), locks.GC):
        assert "the 'gc' lock is held by another git ralph" in repo.ralph("gc", "--auto", code=75).said
    assert put_away(repo) == []
    repo.ralph("gc", "--auto")
    assert put_away(repo) == ["old-0"]


def test_it_is_no_dry_run(repo: Repo) -> None:
    assert "exclude each other" in repo.ralph("gc", "--auto", "-n", code=129).said
