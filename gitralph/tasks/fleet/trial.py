"""What a server can be trusted with: writers race for a probe ref, and one may be told that he won.

A server that takes locks seriously tells one. dulwich 1.2 ignores what its compare-and-set says, and told 4
to 14 of 16; there the read-back still leaves one holder of a claim, but no push fences a landing.
"""

import os
import subprocess
from dataclasses import dataclass

from gitralph.tasks.fleet import claim as form
from gitralph.tasks.fleet import claiming, wire
from gitralph.tasks.fleet.claim import Claim
from gitralph.tasks.fleet.member import Fleet
from gitralph.tasks.fleet.wire import NoAtomicError, RefUpdate

_RACERS = 8


@dataclass(frozen=True)
class RaceResult:
    """``told`` writers heard that they had won; ``there``: one of them had. ``left``: a probe that stays."""

    told: int
    there: bool
    atomic: bool
    left: str | None = None

    @property
    def exact(self) -> bool:
        """True for a server on which a push with a lease means what it says."""
        return self.told == 1 and self.there


def race(fleet: Fleet) -> RaceResult:
    """Race for a probe ref and take it away again. Raises UnansweredError."""
    ref = f"{fleet.namespace}/probe/{os.urandom(6).hex()}"
    oids = [fleet.store.commit(form.message(_entry(fleet))) for _ in range(_RACERS)]
    told = _push_all(fleet, ref, oids)
    now = fleet.look().at(ref)
    atomic = _take_away(fleet, ref, now)
    left = ref if fleet.look().at(ref) is not None else None
    verdict = RaceResult(sum(told.values()), now is not None and told.get(now, False), atomic, left)
    if now is not None:
        fleet.changed(exact=verdict.exact, atomic=atomic)
    return verdict


def _entry(fleet: Fleet) -> Claim:
    return Claim("probe", form.FREE, 0, claiming.token(), fleet.me.writer, 1)


def _push_all(fleet: Fleet, ref: str, oids: list[str]) -> dict[str, bool]:
    """Who of some pushes at once is told that he made the ref."""
    git = fleet.wire.git.at(LC_ALL="C", LANGUAGE="C")
    words = ["push", "--porcelain", "--no-verify", f"--force-with-lease={ref}:", "--", fleet.wire.url]
    pushes = {oid: git.start([*words, f"{oid}:{ref}"], stderr=subprocess.DEVNULL) for oid in oids}
    return {oid: wire.was_taken(child.communicate()[0], ref) for oid, child in pushes.items()}


def _take_away(fleet: Fleet, ref: str, now: str | None) -> bool:
    """Delete the probe; True where the server can move several refs in one step."""
    if now is None:
        return False
    try:
        fleet.wire.push([RefUpdate(ref, now, "")], atomic=True)
    except NoAtomicError:
        fleet.wire.push([RefUpdate(ref, now, "")])
        return False
    return True
