"""Tries what a server can be trusted with: writers race for a ref, and only one may be told that he won.

``git ralph doctor --fleet`` says what came of it.
"""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from gitralph.base.errors import RalphError
from gitralph.git.context import open_context
from gitralph.records.published_name import is_member
from gitralph.setup.doctor.repository import Check
from gitralph.tasks.fleet import claim as form
from gitralph.tasks.fleet import claiming, this_clone, wire
from gitralph.tasks.fleet.claim import Claim
from gitralph.tasks.fleet.this_clone import Fleet
from gitralph.tasks.fleet.wire import NoAtomicError, RefUpdate

_RACERS = 8


@dataclass(frozen=True)
class RaceResult:
    """``told``: how many heard that they had won. ``there``: one of them had. ``left``: a ref that stays."""

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
    """Push all commits to one ref at once. Returns for each whether it was told that it made the ref."""
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


# --- the check of ``git ralph doctor --fleet`` ---


def checks(environ: Mapping[str, str]) -> list[Check]:
    """A race for a probe ref where this repository is in a fleet; nothing elsewhere."""
    try:
        ctx = open_context(environ, create=False)
    except RalphError:
        return []  # said by the checks before
    try:
        if not is_member(ctx.layout):
            return []
        return [_told(race(this_clone.open_fleet(ctx)))]
    except RalphError as error:
        return [Check("fleet", False, error.message, error.hints[0] if error.hints else None, fatal=False)]
    finally:
        ctx.repo.close()


def _told(found: RaceResult) -> Check:
    left = f"; '{found.left}' could not be deleted" if found.left else ""
    if not found.exact:
        detail = f"of {_RACERS} writers that raced for a ref {found.told} were told that they won"
        fix = "claims hold all the same, as they are read back; let a person land, or use another server"
        return Check("fleet", False, detail + left, fix, fatal=False)
    if not found.atomic:
        fix = "claims hold; a person pushes the work, then: git ralph fleet land <bead>"
        return Check("fleet", False, "the server cannot move two refs in one step" + left, fix, fatal=False)
    said = f"one of {_RACERS} racing writers won; work and claim land in one step{left}"
    return Check("fleet", True, said, fatal=False)
