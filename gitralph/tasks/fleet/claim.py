"""A claim: a commit with the empty tree, whose trailers tell who works on a bead.

Its epoch goes up by one whenever a member gets the bead. Some members write claims with other programs, and
some are hostile. A commit of another form is an unreadable claim, which counts as held by somebody.
"""

import re
from dataclasses import dataclass

from gitralph.base import ids
from gitralph.base.quote import printable
from gitralph.tasks.fleet import ref_names

HELD, FREE, DONE, TENTATIVE = "held", "free", "done", "tentative"
FORMAT = "1"
# In seconds. With a lease of years nobody could ever take a bead over. No machine sleeps unnoticed for a
# week.
LONGEST_LEASE = 7 * 86400
DEFAULT_LEASE = 1800
_NUMBER = re.compile(r"[0-9]{1,9}")
_TOKEN = re.compile(r"[0-9a-f]{32}")
_TRAILER = re.compile(r"(Ralph-[A-Z][a-z]{2,20}): ([ -~]{1,200})")
_AUTHOR = re.compile(rb"^author (.{0,400}?) [0-9]+ [+-][0-9]{4}$", re.M)


@dataclass(frozen=True)
class Claim:
    """What a claim says. ``user`` is its author, escaped and cut for a message; ``lease`` is in seconds.

    ``work`` is the commit that its holder is about to land, ``into`` the branch.
    """

    bead: str
    state: str
    epoch: int
    token: str
    writer: str
    lease: int = DEFAULT_LEASE
    result: str | None = None
    oid: str = ""
    user: str = ""
    work: str | None = None
    into: str | None = None


def message(claim: Claim) -> str:
    """The commit's message. Its token makes two claims of the same second two different objects."""
    rows = [
        f"chore: claim {claim.bead}",
        "",
        f"Ralph-Bead: {claim.bead}",
        f"Ralph-State: {claim.state}",
        f"Ralph-Epoch: {claim.epoch}",
        f"Ralph-Token: {claim.token}",
        f"Ralph-Writer: {claim.writer}",
        f"Ralph-Lease: {claim.lease}",
    ]
    if claim.result is not None:
        rows.append(f"Ralph-Result: {claim.result}")
    if claim.work is not None:
        rows += [f"Ralph-Work: {claim.work}", f"Ralph-Into: {claim.into}"]
    return "\n".join(rows) + "\n"


def fleet_message(lease: int, namespace: str) -> str:
    """The message of the commit that the fleet's own ref points at."""
    return (
        f"chore: start fleet\n\nRalph-Format: {FORMAT}\nRalph-Lease: {lease}\nRalph-Namespace: {namespace}\n"
    )


def trailers(raw: bytes) -> dict[str, str] | None:
    """The trailers of a commit's last paragraph; None where one comes twice or has another form."""
    text = raw.partition(b"\n\n")[2].decode("utf-8", "replace").rstrip("\n")
    found: dict[str, str] = {}
    for row in text.rpartition("\n\n")[2].split("\n"):
        match = _TRAILER.fullmatch(row)
        if match is None or match[1] in found:
            return None
        found[match[1]] = match[2]
    return found


def author(raw: bytes) -> str:
    """The author of a commit, in a form that is safe to show."""
    match = _AUTHOR.search(raw.partition(b"\n\n")[0])
    return printable(match[1].decode("utf-8", "replace"))[:120] if match else "somebody"


def lease_of(text: str | None) -> int:
    """A published lease in seconds, within reasonable limits."""
    if text is None or not _NUMBER.fullmatch(text):
        return DEFAULT_LEASE
    return max(1, min(int(text), LONGEST_LEASE))


def parse(oid: str, raw: bytes, bead: str) -> Claim | None:
    """The claim that a commit makes on ``bead``, None for a commit of another form."""
    said = trailers(raw)
    if said is None or said.get("Ralph-Bead") != bead or not ids.is_bead(bead):
        return None
    state, epoch, token = (said.get(f"Ralph-{key}", "") for key in ("State", "Epoch", "Token"))
    writer, result = said.get("Ralph-Writer", ""), said.get("Ralph-Result")
    if state not in (HELD, FREE, DONE) or not _NUMBER.fullmatch(epoch) or not _TOKEN.fullmatch(token):
        return None
    if not ref_names.is_writer(writer) or (result is not None and not ref_names.is_oid(result)):
        return None
    lease = lease_of(said.get("Ralph-Lease"))
    work, into = said.get("Ralph-Work"), said.get("Ralph-Into")
    if not ref_names.is_oid(work or "") or not (into or "").startswith("refs/heads/"):
        work = into = None
    return Claim(
        bead=bead,
        state=state,
        epoch=int(epoch),
        token=token,
        writer=writer,
        lease=lease,
        result=result,
        oid=oid,
        user=author(raw),
        work=work,
        into=into,
    )


def can_name(branch: str) -> bool:
    """True for a branch that a trailer can hold."""
    return _TRAILER.fullmatch(f"Ralph-Into: {branch}") is not None and branch.startswith("refs/heads/")


def bead_of(raw: bytes) -> str | None:
    """The bead that a claim names, None where it names none."""
    bead = (trailers(raw) or {}).get("Ralph-Bead")
    return bead if ids.is_bead(bead) else None
