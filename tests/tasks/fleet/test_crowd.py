"""S2: many clones drain many beads through one server; each bead lands exactly once, whatever is killed."""

import contextlib
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from tests.support.runner import PATIENCE, wait_for
from tests.support.size import FULL
from tests.tasks.fleet import world as servers
from tests.tasks.fleet.crowd import Crowd, beads
from tests.tasks.fleet.test_failures import hook
from tests.tasks.fleet.world import World

# another size for a machine that has little time: RALPH_CROWD=12,40
_SIZE = os.environ.get("RALPH_CROWD", "50,200" if FULL else "4,6")
CLONES, BEADS = map(int, _SIZE.split(","))
Serve = Callable[[World], AbstractContextManager[str]]


@contextlib.contextmanager
def by_path(world: World) -> Iterator[str]:
    """No server at all: a path."""
    yield str(world.path)


SERVERS = {"path": by_path, "daemon": servers.daemon, "http": servers.http_backend, "liar": servers.liar}


def joined(world: World, count: int, lease: int) -> Crowd:
    """Clones that have joined, to work on the beads."""
    clones = [world.member(f"c{number}", **{"ralph.lease": str(lease)}) for number in range(count)]
    return Crowd(clones, beads(BEADS))


def landed_once(world: World, crowd: Crowd) -> None:
    """Every bead is done; its work is in main once, and nothing else is."""
    subjects = [s for s in world.landings() if not s.startswith(("Merge ", "base"))]
    assert sorted(subjects) == sorted(f"work on {bead}" for bead in crowd.wanted)
    assert {world.claim_state(bead) for bead in crowd.wanted} == {"done"}
    main = set(world.git("rev-list", "main").split())
    for bead in crowd.wanted:
        ref = f"refs/ralph/claims/{bead}"
        result = world.git("log", "-1", "--format=%(trailers:key=Ralph-Result,valueonly)", ref).strip()
        assert result in main
    world.git("fsck", "--strict", "--no-dangling")
    for repo in crowd.clones:
        assert [p for p in repo.common.rglob("*.lock") if "ralph-sessions/locks" not in str(p)] == []
        assert "ralph/" not in repo.git("for-each-ref", "refs/ralph", "refs/remotes")


@pytest.mark.skipif(not FULL, reason="the crowd of each server is for RALPH_FULL=1")
@pytest.mark.parametrize("kind", ["daemon", "http", "liar"])
def test_each_bead_lands_once(world: World, kind: str) -> None:
    with SERVERS[kind](world) as url:
        world.url = url
        crowd = joined(world, CLONES, lease=1800)
        crowd.start_all()
        assert crowd.wait() == []
    landed_once(world, crowd)


def test_each_bead_lands_once_whatever_is_killed(world: World) -> None:
    """A fifth killed, a tenth asleep for longer than two leases, clocks a day off, receive-pack killed."""
    lease = 30 if FULL else 2
    with servers.daemon(world) as url:
        world.url = url
        crowd = joined(world, CLONES, lease)
        killed, asleep = max(1, CLONES // 5), max(1, CLONES // 10)
        day = int(time.time())
        crowd.skews = {n: f"{day + (86400 if n % 2 else -86400)} +0000" for n in range(0, CLONES, 3)}
        kills = _kill_at("committed", world, "claims/bd-00[135]") + _kill_at(
            "prepared", world, "claims/bd-00[024]"
        )
        hook(world, "reference-transaction", f"#!/bin/sh\ngiven=$(cat)\n{kills}exit 0\n")
        over = threading.Event()
        admin = threading.Thread(target=_remove_stuck_locks, args=(world, over), daemon=True)
        admin.start()
        crowd.start_all()
        chance = random.Random(7)
        assert wait_for(
            lambda: len([s for s in world.landings() if s.startswith("work on")]) >= BEADS // 4, PATIENCE
        )
        victims = chance.sample(range(CLONES), killed + asleep)
        for number in victims[:killed]:
            crowd.kill(number)
        for number in victims[killed:]:
            crowd.stop(number)
        time.sleep(2 * lease + 1)
        for number in victims[killed:]:
            crowd.wake(number)
        assert crowd.wait() == []
        over.set()
        admin.join()
    landed_once(world, crowd)
    assert len(list(world.path.glob("killed-*"))) >= 2
    for repo in crowd.clones:
        repo.git("config", "remote.origin.url", str(world.path))
        assert repo.run("fleet", "sync").code in (0, 4)  # 4 says once what was taken over from a killed one
        repo.ralph("fleet", "sync")


def _remove_stuck_locks(world: World, over: threading.Event) -> None:
    """The server's admin, who does what the message says: removes the lock of a push that was killed."""
    # By the age of the file: many pushes make a lock of the same name, and to remove one that is held would
    # let the server move one ref of a push without the other.
    patience = 20 if FULL else 5
    while not over.wait(0.2):
        for path in world.path.glob("refs/**/*.lock"):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > patience:
                    path.unlink()


def _kill_at(state: str, world: World, pattern: str) -> str:
    """Lines of a hook: the receive-pack of the first push of each such ref is killed at a state."""
    return (
        f'if [ "$1" = {state} ]; then\n  ref=$(echo "$given" | grep -o "{pattern}" | head -1 | tr / -)\n'
        f'  [ -n "$ref" ] && mkdir "{world.path}/killed-$ref" 2>/dev/null && kill -9 $PPID\nfi\n'
    )
