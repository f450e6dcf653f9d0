"""The same over every kind of server, and what doctor says of each."""

import threading
from pathlib import Path

import pytest

from tests.support.repo import Repo
from tests.tasks.fleet.test_claims import work
from tests.tasks.fleet.test_crowd import SERVERS
from tests.tasks.fleet.world import World, row


@pytest.mark.parametrize("kind", sorted(SERVERS))
def test_a_day_of_two_members(world: World, kind: str) -> None:
    """Join, claim, lose, land, release, read each other's log."""
    with SERVERS[kind](world) as url:
        world.url = url
        one, two = world.member("one"), world.member("two")
        one.edit("S1", "a", "one\ntwo\nthree\nfour\n")
        commit = one.commit("S1").commit
        one.git("push", "-q", "origin", "HEAD:main")
        one.ralph("fleet", "claim", "bd-1")
        two.ralph("fleet", "claim", "bd-1", code=4)
        two.ralph("fleet", "claim", "bd-2")
        one.git("fetch", "-q", "origin")
        tip = work(one, "bd-1", path="b")
        assert row(one.ralph("fleet", "land", "bd-1", "--json"))["commit"] == tip
        two.ralph("fleet", "release", "bd-2")
        one.ralph("fleet", "sync")
        two.ralph("fleet", "sync")
        logs = [path.read_text() for path in (two.state / "fleet").glob("*.jsonl")]
        assert [f'"{commit}"' in text for text in logs if text] == [True]
        assert world.landings()[0] == "work on bd-1"


def race(world: World, count: int) -> list[int]:
    """How many clones end with 0 when all claim one bead at once."""
    clones = [world.member(f"r{number}") for number in range(count)]
    codes: list[int] = []

    def one(repo: Repo) -> None:
        codes.append(repo.run("fleet", "claim", "bd-1", process=True).code)

    threads = [threading.Thread(target=one, args=(repo,)) for repo in clones]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(codes)


@pytest.mark.parametrize("kind", ["path", "liar"])
def test_of_many_at_once_one_has_it(world: World, kind: str) -> None:
    """Also where the server tells several of them that they won."""
    with SERVERS[kind](world) as url:
        world.url = url
        assert race(world, 3) == [0, 4, 4]


def doctor(repo: Repo) -> dict[str, object]:
    """What doctor says of the fleet."""
    checks = {row["check"]: row for row in repo.run("doctor", "--json").json()["checks"]}
    found: dict[str, object] = checks["fleet"]
    return found


def test_doctor_trusts_a_server_that_keeps_its_locks(world: World) -> None:
    one = world.member("one")
    found = doctor(one)
    assert found["ok"] is True, found
    assert not [ref for ref in world.refs() if "probe" in ref]


def test_doctor_says_where_a_person_has_to_land(world: World) -> None:
    world.git("config", "receive.advertiseAtomic", "false")
    found = doctor(world.member("one"))
    assert (found["ok"], found["detail"]) == (False, "the server cannot move two refs in one step")


def test_doctor_finds_the_liar_and_nothing_lands_unattended(world: World) -> None:
    """Raced until it is caught: each race alone has its luck."""
    with SERVERS["liar"](world) as url:
        world.url = url
        one = world.member("one")
        one.ralph("fleet", "claim", "bd-1")
        work(one, "bd-1")
        assert not all(doctor(one)["ok"] for _ in range(20))
        done = one.ralph("fleet", "land", "bd-1", code=4)
        assert "a person lands here" in done.said
        assert world.landings() == ["base"]


def test_doctor_says_when_the_server_does_not_answer(world: World, tmp_path: Path) -> None:
    one = world.member("one")
    world.path.rename(tmp_path / "away.git")
    assert doctor(one)["ok"] is False
