"""Worktrees, runs and hooks in a fleet: who begins with a bead has claimed it, and who works shows it."""

import itertools
import json
import os
import shlex
import time
from pathlib import Path

import pytest

from gitralph.tasks.fleet import publish, wire
from tests.support.looping import Loop
from tests.support.repo import Repo
from tests.support.runner import PATIENCE, wait_for
from tests.tasks.fleet.conftest import Clock
from tests.tasks.fleet.test_failures import reachable, unreachable
from tests.tasks.fleet.world import World, row


def tip(world: World, repo: Repo) -> str | None:
    """The log of a member on the server."""
    writer = json.loads((repo.state / "fleet/fleet.json").read_text())["writer"]
    return world.refs().get(f"refs/ralph/log/{writer}")


def test_a_worktree_is_claimed_before_it_is_made(world: World) -> None:
    one, two = world.member("one"), world.member("two")
    one.ralph("worktree", "add", "bd-1")
    assert world.claim_state("bd-1") == "held"
    assert "held by 'User one" in two.ralph("worktree", "add", "bd-1", code=4).said
    assert not (two.root / ".worktrees").exists()
    one.ralph("worktree", "add", "bd-1")


def test_a_worktree_that_cannot_be_made_gives_the_bead_back(world: World) -> None:
    one = world.member("one")
    one.ralph("worktree", "add", "bd-1", "--base", "nothing", code=128)
    assert world.claim_state("bd-1") == "free"
    one.ralph("fleet", "claim", "bd-2")
    one.ralph("worktree", "add", "bd-2", "--base", "nothing", code=128)
    assert world.claim_state("bd-2") == "held"


def test_outside_a_fleet_no_server_is_asked(repo: Repo) -> None:
    repo.ralph("worktree", "add", "bd-1")
    assert not (repo.state / "fleet").exists()


def loop_of(repo: Repo, folder: Path) -> Loop:
    """A loop in a clone."""
    return Loop.make(repo, folder)


def loop_of_two_beads(repo: Repo, folder: Path) -> Loop:
    """A plan of bd-1, which writes one.txt, and bd-2, which writes two.txt."""
    loop = loop_of(repo, folder)
    loop.plan("first (bead bd-1)", "second (bead bd-2)")
    loop.script(
        {
            "first (bead bd-1)": [["write", "one.txt", "1\n"]],
            "second (bead bd-2)": [["write", "two.txt", "2\n"]],
        }
    )
    return loop


def test_a_run_leaves_alone_what_another_has(world: World, tmp_path: Path) -> None:
    """The plan goes on with the rest, its box stays open; a run of that bead alone ends with 4."""
    one, two = world.member("one"), world.member("two")
    two.ralph("fleet", "claim", "bd-1")
    loop = loop_of_two_beads(one, tmp_path / "aside")
    done = loop.run()
    assert "left alone: bead 'bd-1' is held by 'User two" in done.said
    assert (one.read("one.txt"), one.read("two.txt")) == (None, b"2\n")
    assert "- [ ] first" in (one.read("plan.md") or b"").decode()
    assert world.claim_state("bd-2") == "held"
    one.ralph("run", "--bead", "bd-1", "--", "true", code=4)


def test_a_run_says_how_what_it_made_lands(world: World, tmp_path: Path) -> None:
    """Two beads on one branch: the first landing takes the work of both along, each claim ends as done."""
    one = world.member("one")
    one.git("config", "trailer.separators", "#")  # the user's, for his own trailers
    loop = loop_of_two_beads(one, tmp_path / "aside")
    done = loop.run()
    assert [world.claim_state("bd-1"), world.claim_state("bd-2")] == ["held", "held"]
    for bead in ("bd-1", "bd-2"):
        hint = f"hint: git ralph fleet land {bead}  # publishes it; claimed until then\n"
        assert hint in done.said
        one.ralph(*shlex.split(hint.removeprefix("hint: git ralph"), comments=True))
    assert [world.claim_state("bd-1"), world.claim_state("bd-2")] == ["done", "done"]
    assert len(world.landings()) == 3
    one.ralph("fleet", "claim", "bd-3")
    assert "nothing to land" in one.ralph("fleet", "land", "bd-3", code=4).said


@pytest.mark.parametrize("edits", [False, True])
def test_a_claim_under_which_a_run_made_nothing_is_given_back(
    world: World, tmp_path: Path, edits: bool
) -> None:
    """What it left in the working tree keeps the claim, and the run says how to give it up."""
    one, two = world.member("one"), world.member("two")
    loop = loop_of(one, tmp_path / "aside")
    loop.plan("first (bead bd-1)")
    loop.script({"first (bead bd-1)": [*([["write", "x", "1\n"]] if edits else []), ["exit", "3"]]})
    done = loop.run(code=1)
    hint = "hint: git ralph fleet release bd-1  # lets another clone have it\n"
    assert (hint in done.said) is edits
    assert ("the claim on 'bd-1' is given back" in done.said) is not edits
    assert world.claim_state("bd-1") == ("held" if edits else "free")
    if edits:
        one.ralph("fleet", "release", "bd-1")
    two.ralph("fleet", "claim", "bd-1")


def test_a_claim_from_before_a_run_is_not_its_own_to_give_back(world: World, tmp_path: Path) -> None:
    one = world.member("one")
    one.ralph("fleet", "claim", "bd-1")
    loop = loop_of(one, tmp_path / "aside")
    loop.plan("first (bead bd-1)")
    loop.script({"first (bead bd-1)": [["exit", "3"]]})
    assert "git ralph fleet release bd-1" in loop.run(code=1).said
    assert world.claim_state("bd-1") == "held"


def test_a_holder_without_an_acknowledged_beat_starts_nothing(world: World, hands: Clock) -> None:
    """Its own clock says so, whatever the time of day is."""
    one = world.member("one")
    one.ralph("fleet", "claim", "bd-1")
    unreachable(one)
    one.ralph("run", "--bead", "bd-1", "--", "true")
    hands.sleep(1800)
    done = one.ralph("run", "--bead", "bd-1", "--", "true", code=75)
    assert "may have been taken over" in done.said
    reachable(one, world)
    one.ralph("run", "--bead", "bd-1", "--", "true")


def test_a_tentative_holder_works_on(world: World) -> None:
    one = world.member("one")
    unreachable(one)
    one.ralph("run", "--bead", "bd-1", "--", "true")
    assert one.ralph("fleet", "claims", "--json").json()[0]["state"] == "tentative"


def test_a_launch_in_a_hook_claims_without_the_network(world: World) -> None:
    """Tentatively; a beat in the background settles it; what another is known to have is blocked."""
    one, two = world.member("one"), world.member("two")
    two.ralph("fleet", "claim", "bd-2")
    one.ralph("fleet", "claims")
    unreachable(one)

    def launch(bead: str, code: int) -> str:
        given = {"worktree_policy": "required", "bead_id": bead, "prompt": "p"}
        event = {
            "session_id": "S1",
            "cwd": str(one.root),
            "hook_event_name": "PreToolUse",
            "tool_name": "Agent",
            "tool_input": given,
        }
        done = one.ralph("hook", "claude-code", stdin=json.dumps(event).encode(), code=code)
        return done.said

    launch("bd-1", 0)
    assert "held by 'User two" in launch("bd-2", 2)
    reachable(one, world)
    one.ralph("fleet", "sync", "--beat")
    assert world.claim_state("bd-1") == "held"


def test_more_commits_than_a_beat_takes_are_told_of_bit_by_bit(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where most of them are others', or such that there is nothing to tell of."""
    monkeypatch.setattr(publish.gather, "__defaults__", (None, 2))
    one = world.member("one")
    one.edit("S1", "own", "x\n")
    for number in range(5):
        one.git("commit", "-q", "--allow-empty", "-m", f"x\n\nRalph-Session: {'S1' if number % 2 else 'S9'}")
    one.commit("S1")
    one.git("push", "-q", "origin", "HEAD:main")
    for _ in range(3):
        one.ralph("fleet", "sync", "--beat")
        (one.state / "fleet/beat.json").write_text(
            (one.state / "fleet/beat.json").read_text().replace('"clock": ', '"clock": -')
        )
    texts = [path.read_text() for path in (one.state / "fleet").glob("*.jsonl")]
    assert sum(text.count("\n") for text in texts if '"path":"own"' in text) == 1
    one.edit("S1", "own", "y\n")
    one.commit("S1")
    one.git("push", "-q", "origin", "HEAD:main")
    assert "published 1 record," in one.ralph("fleet", "sync").text


@pytest.mark.parametrize("how", ["hook", "command"])
def test_a_beat_that_is_due_is_started_in_the_background(world: World, how: str) -> None:
    """By any hook and any command; what is not due is one look at a file's time."""
    one = world.member("one", **{"ralph.lease": "1800"})
    before, due = tip(world, one), one.state / "fleet/due"

    def act(number: int) -> None:
        if how == "hook":
            one.edit("S1", "a", f"one\n{number}\nthree\n", process=True)
        else:
            one.ralph("status")

    act(1)
    assert due.stat().st_mtime > time.time() + 500
    os.utime(due, (0, 0))
    act(2)
    assert due.stat().st_mtime > time.time()  # nobody else starts one meanwhile
    # The beat of the second act may still be under way: it writes the clock anew, or holds the fleet's lock.
    end = time.monotonic() + PATIENCE
    for number in itertools.count(3):
        (one.state / "fleet/beat.json").write_text(
            (one.state / "fleet/beat.json").read_text().replace('"clock": ', '"clock": -')
        )
        os.utime(due, (0, 0))
        act(number)
        if wait_for(lambda: tip(world, one) != before, 2):
            break
        assert time.monotonic() < end


def test_a_clock_set_back_by_a_day_stops_no_beat(world: World) -> None:
    one = world.member("one")
    due = one.state / "fleet/due"
    os.utime(due, (time.time() + 86400,) * 2)
    one.ralph("status")
    assert due.stat().st_mtime < time.time() + 3600


def test_beats_are_three_a_lease_and_at_most_six_an_hour_each(
    world: World, hands: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fifty machines with the default lease push five times a minute."""
    one = world.member("one")
    pushes: list[object] = []
    push = wire.Wire.push

    def counted(self: wire.Wire, steps: list[wire.RefUpdate], *how: bool) -> wire.Pushed:
        pushes.append(steps)
        return push(self, steps, *how)

    monkeypatch.setattr(wire.Wire, "push", counted)
    one.ralph("fleet", "sync")
    pushes.clear()
    for _ in range(36):  # an hour, asked every hundred seconds
        hands.sleep(100)
        one.ralph("fleet", "sync", "--beat")
    assert len(pushes) == 6


def test_a_lease_is_judged_by_three_looks_and_two_leases_of_the_own_clock(world: World, hands: Clock) -> None:
    one, two = world.member("one"), world.member("two")
    one.ralph("fleet", "claim", "bd-1")
    two.ralph("fleet", "claim", "bd-1", code=4)
    hands.sleep(10_000)
    two.ralph("fleet", "claim", "bd-1", code=4)  # two looks are not three
    old = tip(world, one)
    one.ralph("fleet", "sync", "--beat")
    assert tip(world, one) != old
    two.ralph("fleet", "claims")  # the beat began it anew
    hands.sleep(3599)
    two.ralph("fleet", "claims")
    two.ralph("fleet", "claim", "bd-1", code=4)
    hands.sleep(1)
    found = row(two.ralph("fleet", "claim", "bd-1", "--json"))
    assert (found["status"], found["epoch"]) == ("claimed", 2)
    assert one.ralph("fleet", "sync", "--json", code=4).json()[0]["status"] == "lost"


def test_the_longest_lease_that_is_published_counts(world: World, hands: Clock) -> None:
    one, two = world.member("one", **{"ralph.lease": "7200"}), world.member("two", **{"ralph.lease": "1"})
    one.ralph("fleet", "claim", "bd-1")
    for seconds in (0, 3601, 3601, 7197):
        hands.sleep(seconds)
        two.ralph("fleet", "claim", "bd-1", code=4)
    hands.sleep(1)
    two.ralph("fleet", "claim", "bd-1")


def test_another_boot_begins_to_count_anew(world: World, hands: Clock) -> None:
    one, two = world.member("one"), world.member("two")
    one.ralph("fleet", "claim", "bd-1")
    for _ in range(3):
        two.ralph("fleet", "claim", "bd-1", code=4)
    hands.boot = "another"
    hands.sleep(10_000)
    two.ralph("fleet", "claim", "bd-1", code=4)


def test_a_holder_that_beats_is_never_taken_over(world: World, hands: Clock) -> None:
    one, two = world.member("one"), world.member("two")
    one.ralph("fleet", "claim", "bd-1")
    for _ in range(8):
        two.ralph("fleet", "claim", "bd-1", code=4)
        hands.sleep(1000)
        one.ralph("fleet", "sync", "--beat")
