"""What this clone keeps of a fleet below ``ralph-sessions/fleet/``: who it is, what it holds, what it saw.

``fleet.json``: who and where. ``claims.json``: our own claims. ``seen.json``: what the last look showed, and
since when a claim has not changed. ``beat.json``: the log as it was pushed last. ``tips.json``: which logs of
others were read. Each is written whole, under the lock ``fleet``. A damaged file counts as absent, except the
first.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, TypeVar

from gitralph.base import files
from gitralph.base.errors import Fatal
from gitralph.base.layout import Layout

# In bytes. This bounds memory, not use: a claim takes some hundred bytes.
_LIMIT = 32 << 20
PUSHING, LOST = "pushing", "lost"
One = TypeVar("One")
# So many earlier commits of a claim are kept. Each was missing in some answer of the server and may be in the
# next; no server shows an older one.
_PAST = 8


@dataclass(frozen=True)
class Membership:
    """``remote`` is a remote's name or a URL; ``folder`` tells a copied clone from its original.

    ``exact`` and ``atomic`` say what ``doctor`` or a landing found out about the server, None while unknown.
    """

    remote: str
    namespace: str
    writer: str
    lease: int
    joined: str
    part: int = 1
    folder: str = ""
    exact: bool | None = None
    atomic: bool | None = None


@dataclass(frozen=True)
class Own:
    """A claim of ours: ``oid`` is the commit that was pushed over ``old``.

    ``state`` is held, tentative, pushing, done or lost. ``next`` was pushed over it by a landing whose end
    was not seen. ``past`` are our commits before it. ``work`` is what the claim says is about to land. A lost
    claim was missing in one answer of the server; it is ours again if another answer has it.
    """

    bead: str
    oid: str
    state: str
    epoch: int
    old: str | None = None
    next: str | None = None
    past: tuple[str, ...] = ()
    work: str | None = None

    def is_at(self, oid: str | None) -> bool:
        """True when ``oid`` is what we made of the claim."""
        return oid is not None and oid in (self.oid, self.next, *self.past)


@dataclass(frozen=True)
class SeenClaim:
    """A foreign claim as every look since ``first`` showed it; ``log`` are its writer's tips.

    ``first`` and ``last`` are seconds since the boot whose id is ``boot``.
    """

    claim: str
    log: str
    boot: str
    first: float
    last: float
    reads: int = 1


@dataclass(frozen=True)
class LastLook:
    """The last look at the remote: the claims' oids by bead, and its time by the wall clock, for people."""

    at: str = ""
    claims: dict[str, str] = field(default_factory=dict)
    seen: dict[str, SeenClaim] = field(default_factory=dict)


@dataclass(frozen=True)
class Beat:
    """Our own log: ``tip`` is what the server has, ``pushing`` what it may have.

    ``start`` is the byte of our ``<writer>.jsonl`` where the current ``log.jsonl`` begins. ``acked`` is the
    byte up to which the server has it. ``sealed`` are the earlier parts as name and oid. ``boot`` and
    ``clock`` tell when the last beat was acknowledged. ``scanned`` are the tips of the remote's branches
    whose commits are on record.
    """

    tip: str | None = None
    pushing: str | None = None
    start: int = 0
    acked: int = 0
    sealed: tuple[tuple[str, str], ...] = ()
    boot: str = ""
    clock: float = -1.0
    at: str = ""
    scanned: tuple[str, ...] = ()


def _read(layout: Layout, name: str) -> dict[str, Any] | None:
    try:
        found = json.loads(files.read_bytes(layout.fleet_file(name), _LIMIT))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _write(layout: Layout, name: str, document: Mapping[str, Any]) -> None:
    files.make_folder(layout.fleet)
    text = json.dumps(document, indent=1) + "\n"
    files.write_whole(layout.fleet_file(name), text.encode(), sync=True)


def _made(kind: type[One], found: object) -> One | None:
    """A record of a file's content, None where a field is missing or of another type."""
    if not isinstance(found, dict):
        return None
    given = {one.name: found[one.name] for one in fields(kind) if one.name in found}  # type: ignore[arg-type]
    try:
        made = kind(**given)
    except TypeError:
        return None
    for one in fields(kind):  # type: ignore[arg-type]
        value, plain = getattr(made, one.name), str(one.type).split(" |")[0]
        wanted = {"str": str, "int": int, "float": int | float, "bool": bool, "dict": dict}.get(
            plain.split("[")[0]
        )
        if wanted is None or (value is None and "None" in str(one.type)):
            continue
        if not isinstance(value, wanted):
            return None
    return made


def membership(layout: Layout) -> Membership | None:
    """This clone's membership, None where it is in no fleet. Raises Fatal for a damaged record."""
    if not os.path.lexists(layout.fleet_record):
        return None
    found = _made(Membership, _read(layout, "fleet"))
    if found is None:
        raise Fatal(f"'{layout.fleet_record}' is damaged", "move it away, then git ralph fleet join <remote>")
    return found


def write_membership(layout: Layout, found: Membership) -> None:
    """Keep who this clone is."""
    _write(layout, "fleet", {"v": 1, **asdict(found)})


def folder_identity(layout: Layout) -> str:
    """Device and inode of the fleet's folder: `cp -r` changes these and a rename does not."""
    found = os.stat(layout.fleet)
    return f"{found.st_dev}:{found.st_ino}"


def claims(layout: Layout) -> dict[str, Own]:
    """The own claims by bead."""
    rows = (_read(layout, "claims") or {}).get("claims")
    found = [_made(Own, row) for row in rows] if isinstance(rows, list) else []
    return {one.bead: replace(one, past=_strings(one.past)) for one in found if one is not None}


def _strings(found: object) -> tuple[str, ...]:
    return tuple(map(str, found)) if isinstance(found, list | tuple) else ()


def keep_claim(layout: Layout, claim: Own) -> Own:
    """Note a claim of ours before it is pushed, so that a kill leaves no claim that nobody knows.

    Returns the claim as it was kept: its earlier state is added to ``past``.
    """
    known = claims(layout)
    before = known.get(claim.bead)
    if before is not None:
        now = (claim.oid, claim.next)
        past = dict.fromkeys(oid for oid in (*before.past, before.oid, before.next) if oid and oid not in now)
        claim = replace(claim, past=tuple(past)[-_PAST:])
    _write_claims(layout, {**known, claim.bead: claim})
    return claim


def lose_claim(layout: Layout, bead: str) -> None:
    """Mark a claim as lost, as far as this answer of the server goes.

    A server may leave a ref out of one answer (dulwich 1.2 does when it runs out of file descriptors). If the
    claim were forgotten, its holder would not know it, everybody else would see it held, and the bead would
    wait for two leases.
    """
    now = claims(layout)
    if bead in now and now[bead].state != LOST:
        _write_claims(layout, {**now, bead: replace(now[bead], state=LOST)})


def forget_claim(layout: Layout, bead: str) -> None:
    """Forget a claim that belongs to another folder."""
    now = claims(layout)
    if now.pop(bead, None) is not None:
        _write_claims(layout, now)


def _write_claims(layout: Layout, now: Mapping[str, Own]) -> None:
    _write(layout, "claims", {"v": 1, "claims": [asdict(one) for one in now.values()]})


def last_look(layout: Layout) -> LastLook:
    """What the last look showed."""
    found = _made(LastLook, _read(layout, "seen")) or LastLook()
    seen = {bead: one for bead, row in found.seen.items() if (one := _made(SeenClaim, row)) is not None}
    known = {bead: oid for bead, oid in found.claims.items() if isinstance(oid, str)}
    return LastLook(found.at, known, seen)


def keep_look(layout: Layout, look: LastLook) -> None:
    """Note what a look showed."""
    _write(layout, "seen", {"v": 1, **asdict(look)})


def beat(layout: Layout) -> Beat:
    """Our own log as it was pushed last."""
    found = _made(Beat, _read(layout, "beat")) or Beat()
    sealed = tuple((str(row[0]), str(row[1])) for row in found.sealed if len(row) == 2)
    return Beat(**{**asdict(found), "sealed": sealed, "scanned": tuple(map(str, found.scanned))})


def keep_beat(layout: Layout, found: Beat) -> None:
    """Note how the own log stands."""
    _write(layout, "beat", asdict(found))


def tips(layout: Layout) -> dict[str, str]:
    """The refs of other members' logs as they were read last."""
    found = _read(layout, "tips") or {}
    return {ref: oid for ref, oid in found.items() if isinstance(oid, str)}


def keep_tips(layout: Layout, found: Mapping[str, str]) -> None:
    """Note which logs were read."""
    _write(layout, "tips", dict(found))
