"""Whole days of git: sessions, a human and every verb that moves HEAD, index or files.

`RALPH_FULL=1` plays 200,000 steps. `python -m tests.days --seed N --reduce` makes a small day of a fault;
`found.txt` keeps those that were found.
"""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.days.__main__ import _one, days_of
from tests.days.place import Place
from tests.days.play import Tally, play
from tests.days.steps import Day, draw, parse, with_own_commits, with_work_again
from tests.support.runner import Done
from tests.support.size import FULL

FIRST_SEED = 7_000_002
DAYS = range(FIRST_SEED, FIRST_SEED + 2)
FULL_SEED, FULL_STEPS = 1_500_000, 200_000
FOUND = days_of((Path(__file__).parent / "found.txt").read_text())


def _played() -> Tally:
    total = Tally()
    jobs = ((seed, (False, False, False), frozenset[str]()) for seed in range(FULL_SEED, 1 << 30))
    with multiprocessing.get_context("spawn").Pool(os.cpu_count(), maxtasksperchild=50) as pool:
        for found in pool.imap_unordered(_one, jobs):
            total.add(found)
            if total.steps >= FULL_STEPS:
                pool.terminate()
                break
    return total


@pytest.mark.parametrize("seed", DAYS)
def test_no_commit_of_a_drawn_day_is_wrong(seed: int) -> None:
    """0 revived, 0 foreign, 0 forgotten, 0 staged diffs changed, in days that are the same each time."""
    total = play(draw(seed))
    assert total.faults == [], "\n".join(f"step {n}: {fault}" for _, n, fault in total.faults)
    assert total.committed > 0


@pytest.mark.parametrize("seed", DAYS)
def test_no_commit_of_a_persons_own_lines_is_wrong(seed: int) -> None:
    """No session's line comes, and none goes that a session took away, in days with `commit --mine`."""
    total = play(with_own_commits(draw(seed)))
    assert total.faults == [], "\n".join(f"step {n}: {fault}" for _, n, fault in total.faults)


@pytest.mark.parametrize("seed", DAYS)
def test_no_commit_of_work_that_was_done_again_is_wrong(seed: int) -> None:
    """Who does again what was taken back is its maker, in days in which the same lines come again."""
    total = play(with_work_again(draw(seed)))
    assert total.faults == [], "\n".join(f"step {n}: {fault}" for _, n, fault in total.faults)
    assert total.committed > 0


@pytest.mark.slow
@pytest.mark.skipif(not FULL, reason="200,000 steps take half an hour: RALPH_FULL=1 plays them")
def test_no_commit_of_many_random_days_is_wrong_and_few_are_refused_needlessly() -> None:
    """The same over days that nobody had looked at before, and needless refusals below 1 %."""
    total = _played()
    print(total)
    assert total.faults == [], "\n".join(f"seed {s} step {n}: {fault}" for s, n, fault in total.faults)
    assert total.committed > total.days
    assert total.needless < 0.01 * (total.committed + total.refused), total


WRONG = {
    # what nobody recorded at a path was asked for; whose it was is known at another path
    "a file of a session's that a person moved, included as nobody's": "FOREIGN (a session's added)",
    # HEAD has what replaced it, but by a detour
    "a person's word that a session had replaced and brought back before its next edit": (
        "FOREIGN (the human's added)"
    ),
}
"""Days that are wrong today."""


@pytest.mark.parametrize("title", FOUND)
def test_a_day_that_was_wrong_once_is_right(title: str) -> None:
    """Each day was reduced from a random one whose commit was wrong or refused needlessly.

    Where the title says so it is refused today, which git's own merge would not need.
    """
    assert FOUND[title].steps
    found = play(FOUND[title], tell=print)
    names = {fault.name for _, _, fault in found.faults} | {fault.kind for _, _, fault in found.needless_at}
    expected = "NEEDLESS" if title.startswith("refused: ") else WRONG.get(title)
    assert names == ({expected} if expected else set())


def _day(steps: str) -> Day:
    return Day(1, parse(steps), lines=(8, 4, 4, 4), noise=0)


def _told(status: str, *left: dict[str, object], notes: tuple[str, ...] = ()) -> Done:
    document = {"status": status, "paths": [], "left": left, "notes": notes}
    return Done(4 if status == "refused" else 0, json.dumps(document).encode(), b"")


def _sweep(place: Place) -> Done:
    """Commits whatever it finds."""
    place.git("add", "-A")
    return _told("nothing" if place.git("commit", "-q", "-m", "sweep") else "committed")


def _careless(place: Place) -> Done:
    """Forgets what was staged."""
    place.git("reset", "-q")
    place.git("commit", "-q", "-m", "careless", "--", "a")
    return _told("committed")


def _lazy(_place: Place) -> Done:
    """Never finds anything."""
    return _told("nothing")


def _including(place: Place) -> Done:
    """Commits one file, and says that lines of s2 went along there."""
    place.git("commit", "-q", "-m", "a\n\nRalph-Includes: s2", "--", "a")
    return _told("committed")


def _tired(place: Place) -> Done:
    """Never finds anything, and tells of it once."""
    first = place.git("config", "--get", "days.told")
    place.git("config", "days.told", "yes")
    return _told("nothing", notes=("'a' line 1: stays out",) if first else ())


def _stubborn(_place: Place) -> Done:
    """Refuses everything."""
    return _told("refused", {"path": "a", "reason": "stale", "detail": "no", "lines": None})


def _reviving(place: Place) -> Done:
    """Commits what the session wrote, although another has taken it away since; the file stays as it is."""
    if place.git("read-tree", "ORIG_HEAD~1"):  # which a reset leaves
        place.git("read-tree", "HEAD~1")
    place.git("commit", "-q", "-m", "again")
    return _told("committed")


MINE = "1 s1 insert at=1 new=1 flag=1\n"
YOURS = "2 s2 insert at=6 new=1 flag=1\n"
HUMANS = "2 h insert at=6 new=1 flag=1\n"
MOVED = "3 s2 rename file=n1 at=1 gone=1 new=1 flag=1\n"
IN_B = "1 s1 insert file=b at=1 new=1\n"
COMMITTED = "2 h commit-all\n"
REMOVED = "1 s1 insert at=1 new=3 flag=1\n2 h commit-all\n3 s2 delete at=1 gone=1\n4 h commit-all\n"
DONE_AGAIN = "2 h checkout-file flag=1\n3 s2 again at=1 flag=1\n"
ASK = "9 s1 ralph flag=1"


@pytest.mark.parametrize(
    ("tool", "steps", "name"),
    [
        (_sweep, MINE + YOURS + ASK, "FOREIGN (a session's added)"),
        (_sweep, MINE + HUMANS + ASK, "FOREIGN (the human's added)"),
        (_sweep, MINE + "2 s2 delete at=6 gone=1\n" + ASK, "FOREIGN (removed a line others took away)"),
        (_sweep, MINE + "2 h indent flag=1\n" + ASK, "FOREIGN (others' form of a line added)"),
        (_sweep, MINE + MOVED + "9 s2 ralph flag=1", "FOREIGN (a session's added)"),
        (_sweep, MINE + DONE_AGAIN + ASK, "FOREIGN (a session's added)"),
        (_lazy, MINE + DONE_AGAIN + ASK, None),
        (_lazy, MINE + DONE_AGAIN + "9 s2 ralph", "FORGOTTEN (its line on disk stays out)"),
        (_lazy, MINE + ASK, "FORGOTTEN (its line on disk stays out)"),
        (_lazy, "1 s1 delete at=1 gone=1\n" + ASK, "FORGOTTEN (a line it removed stays in)"),
        (_lazy, MINE + COMMITTED + ASK, None),
        (_lazy, MINE + "2 h stash\n" + ASK, None),
        (_lazy, IN_B + COMMITTED + MOVED + ASK, None),
        (_lazy, IN_B + MOVED + ASK, "FORGOTTEN (its line on disk stays out)"),
        (_including, IN_B + COMMITTED + MOVED + YOURS + ASK, None),
        (_tired, MINE + ASK + "\n10 s1 ralph flag=1", None),
        (_tired, MINE + ASK + "\n10 s1 insert at=6 new=1\n11 s1 ralph flag=1", "FORGOTTEN (its line on disk"),
        (_reviving, REMOVED + ASK, "REVIVED (somebody had taken it away, and HEAD agrees)"),
        (_reviving, REMOVED + "5 h reset-mixed flag=1\n" + ASK, None),
        (_careless, "1 h insert file=b at=1 new=1\n2 h add file=b\n3 " + MINE[2:] + ASK, "STAGED"),
        (_stubborn, MINE + YOURS + ASK, "NEEDLESS (stale: no)"),
        (_stubborn, "1 s2 insert at=1 new=3\n2 s1 tweak at=2\n" + ASK, None),
    ],
)
def test_the_judge_sees_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch, tool: Callable[[Place], Done], steps: str, name: str | None
) -> None:
    """A judge that finds nothing would pass any tool: tools that sweep, find nothing, refuse all."""

    def ralph(place: Place, *args: str, stdin: bytes = b"") -> Done:
        return tool(place) if args[0] == "commit" else real(place, *args, stdin=stdin)

    real = Place.ralph
    monkeypatch.setattr(Place, "ralph", ralph)
    found = play(_day(steps), tell=print, passed=["FOREIGN", "STAGED"])
    names = [fault.name for _, _, fault in (*found.faults, *found.needless_at)]
    if name is None:
        assert names == []
    else:
        assert any(one.startswith(name) for one in names), names
