"""Claims a bead, releases it, and shows who has which.

Each turn looks at the remote's refs, judges, pushes with ``--force-with-lease`` on what it saw, and looks
again. The server's answer to the push decides nothing: it may be lost, and a server may lie. Our claim is
noted before it is pushed, so a kill at any point leaves one that ``sync`` settles.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace

from gitralph.base.errors import Busy, Fatal, RalphError, Refused
from gitralph.git import merge
from gitralph.hook.sessionfile import now as wall_clock
from gitralph.tasks.fleet import claim as form
from gitralph.tasks.fleet import clock, kept_state, ref_names, wire
from gitralph.tasks.fleet.claim import DONE, FREE, HELD, TENTATIVE, Claim
from gitralph.tasks.fleet.kept_state import PUSHING, LastLook, Own, SeenClaim
from gitralph.tasks.fleet.store import COMMIT_LIMIT
from gitralph.tasks.fleet.this_clone import Fleet
from gitralph.tasks.fleet.wire import RefUpdate, RemoteRefs, UnansweredError

# A turn is lost to another member's push of the same ref, so somebody always gets on.
TURNS = 12
# A living receive-pack releases its lock within milliseconds; so many turns take some seconds.
_STUCK_AFTER = 6
# A holder is given up when its ref stood still for two whole leases by our own clock: one lease may have been
# lost to a server that did not answer. At least three looks are needed, since one long sleep of this machine
# proves nothing.
_LEASES = 2
_READS = 3


@dataclass(frozen=True)
class ClaimRow:
    """One line of ``claims --json``. ``user`` is for messages; ``oid`` the claim's commit."""

    bead: str
    state: str
    writer: str
    mine: bool
    epoch: int
    user: str = ""
    oid: str | None = None
    result: str | None = None

    def document(self, status: str | None = None, **more: object) -> dict[str, object]:
        """As JSON has it."""
        row: dict[str, object] = {
            "bead": self.bead,
            "state": self.state,
            "writer": self.writer,
            "mine": self.mine,
            "epoch": self.epoch,
        }
        return row | ({} if status is None else {"status": status}) | more


class ForeignError(Refused):
    """Somebody else has the bead, or it is done. ``row`` is the claim."""

    def __init__(self, row: ClaimRow, message: str, *hints: str) -> None:
        super().__init__(message, *hints)
        self.row = row


class StuckError(Busy):
    """A lock file that a killed server process left blocks one bead."""


@dataclass(frozen=True)
class Answer:
    """What a claim came to: ``claimed``, ``already`` or ``tentative``."""

    row: ClaimRow
    status: str


def token() -> str:
    """A nonce. Without it two clones may push the same object, and both be told that they have the bead."""
    return os.urandom(16).hex()


def read_claims(fleet: Fleet, view: RemoteRefs, beads: Iterable[str]) -> dict[str, Claim | None]:
    """The claims on some beads, None for an unreadable one; beads without a ref are left out."""
    wanted = {bead: oid for bead in beads if (oid := view.at(ref_names.claim_ref(fleet.namespace, bead)))}
    bring(fleet, wanted.values())
    found = fleet.store.read(wanted.values(), "commit", COMMIT_LIMIT)
    return {bead: form.parse(oid, found.get(oid, b""), bead) for bead, oid in wanted.items()}


def bring(fleet: Fleet, oids: Iterable[str]) -> None:
    """Fetch objects that are missing here; in halves where the server does not give all at once."""
    wanted = set(oids)
    absent = sorted(wanted - fleet.store.holds(wanted))
    if absent:
        _fetch(fleet, absent)


def _fetch(fleet: Fleet, oids: list[str]) -> None:
    # Many servers give any object by its id (uploadpack.allowAnySHA1InWant), others only tips of refs. There
    # one id that is no tip any more fails the whole request. Among 26 claims, halves cost 10 requests more to
    # find it, not 26.
    if not fleet.wire.fetch(oids) and len(oids) > 1:
        half = len(oids) // 2
        _fetch(fleet, oids[:half])
        _fetch(fleet, oids[half:])


def _logs(fleet: Fleet, view: RemoteRefs, writer: str) -> str:
    """The tips of a writer's log, in one text that changes with every beat."""
    rows = sorted(view.refs.items())
    named = ((ref_names.writer_of(fleet.namespace, ref), oid) for ref, oid in rows)
    return " ".join(oid for found, oid in named if found and found[0] == writer)


def observe(fleet: Fleet, view: RemoteRefs, found: dict[str, Claim | None], everything: bool) -> LastLook:
    """Note what a look showed of foreign claims, and return it. ``everything``: it showed all there are."""
    before, ours = kept_state.last_look(fleet.ctx.layout), kept_state.claims(fleet.ctx.layout)
    claims = {} if everything else dict(before.claims)
    seen = {} if everything else dict(before.seen)
    boot, now = clock.boot(), clock.now()
    for bead, one in found.items():
        oid = view.refs[ref_names.claim_ref(fleet.namespace, bead)]
        claims[bead] = oid
        seen.pop(bead, None)
        # Our own claim needs no watching: we know whether we live.
        if bead in ours and ours[bead].is_at(oid):
            continue
        if one is None or one.state == HELD:
            log = "" if one is None else _logs(fleet, view, one.writer)
            old = before.seen.get(bead)
            # Time counts only while claim, log and boot of this machine stay the same. After a reboot or any
            # sign of life, counting begins again.
            if old is not None and (old.claim, old.log, old.boot) == (oid, log, boot) and old.last <= now:
                seen[bead] = replace(old, last=now, reads=old.reads + 1)
            else:
                seen[bead] = SeenClaim(oid, log, boot, now, now)
    look = LastLook(wall_clock(), claims, seen)
    kept_state.keep_look(fleet.ctx.layout, look)
    return look


def is_over(fleet: Fleet, look: LastLook, bead: str, one: Claim | None) -> bool:
    """True when claim and holder's log stood still for two leases of our clock, in three looks or more.

    The longest lease that holder or fleet publishes counts.
    """
    seen = look.seen.get(bead)
    if seen is None:
        return False
    # A holder may have asked for longer than we do, and a claim of zero seconds must not be free at once.
    lease = max(fleet.me.lease, one.lease if one else 0, 1)
    return seen.reads >= _READS and seen.last - seen.first >= _LEASES * lease


def row_of(bead: str, oid: str, one: Claim | None, ours: Own | None) -> ClaimRow:
    """A claim as it is shown."""
    mine = ours is not None and ours.is_at(oid)
    if one is None:
        return ClaimRow(bead=bead, state=HELD, writer="", mine=mine, epoch=0, user="somebody", oid=oid)
    return ClaimRow(
        bead=bead,
        state=one.state,
        writer=one.writer,
        mine=mine,
        epoch=one.epoch,
        user=one.user,
        oid=oid,
        result=one.result,
    )


def make(
    fleet: Fleet,
    bead: str,
    state: str,
    epoch: int,
    old: str | None,
    result: str | None = None,
    work: tuple[str, str] | None = None,
    writer: str | None = None,
) -> Own:
    """Make the commit of a claim, in this clone only: it is not noted or pushed yet.

    Its parent is the claim that it follows, so that a server which lets nobody replace history takes it.
    """
    made = Claim(
        bead=bead,
        state=state,
        epoch=epoch,
        token=token(),
        writer=writer or fleet.me.writer,
        lease=fleet.lease,
        result=result,
        work=work[0] if work else None,
        into=work[1] if work else None,
    )
    if old is not None and not fleet.store.is_whole(old):
        bring(fleet, [old])
    parents = [old] if old is not None and fleet.store.is_whole(old) else []
    oid = fleet.store.commit(form.message(made), parents=parents)
    return Own(bead, oid, PUSHING, epoch, old, work=made.work)


def _by(row: ClaimRow) -> str:
    return f"'{row.user}' (writer {row.writer})" if row.writer else "somebody whose claim cannot be read"


def refuse(row: ClaimRow) -> ForeignError:
    """The refusal that names who has a bead."""
    if row.state == DONE:
        landed = f" as {row.result[:10]}" if row.result else ""
        return ForeignError(
            row, f"bead '{row.bead}' is done{landed}, by {_by(row)}", "git ralph fleet claims"
        )
    return ForeignError(
        row,
        f"bead '{row.bead}' is held by {_by(row)}",
        "git ralph fleet claims",
    )


def gone(bead: str) -> ForeignError:
    """The error for a claim of ours that the remote does not have any more."""
    row = ClaimRow(bead, FREE, "", False, 0)
    said = f"the claim on '{bead}' is gone from the remote"
    return ForeignError(row, said, f"git ralph fleet claim {bead}")


def stuck(fleet: Fleet, bead: str) -> StuckError:
    """The error for a lock that a dead server process left, with the command for who looks after it."""
    ref = ref_names.claim_ref(fleet.namespace, bead)
    return StuckError(
        f"bead '{bead}' is stuck: on the server '{ref}' is locked, by a push that was killed there",
        f"where the server keeps the repository: rm {ref}.lock",
    )


def claim(fleet: Fleet, bead: str) -> Answer:
    """Get a bead, or keep it. Raises ForeignError naming who has it, StuckError, Busy, Fatal.

    Without an answer from the server the claim is tentative, and a warning says so.
    """
    layout = fleet.ctx.layout
    ours = kept_state.claims(layout).get(bead)
    if ours is not None and ours.state == DONE:
        ours = None
    try:
        return _claim(fleet, bead, ours)
    except UnansweredError as error:
        return _tentatively(fleet, bead, error)


def _tentatively(fleet: Fleet, bead: str, error: UnansweredError) -> Answer:
    ours = kept_state.claims(fleet.ctx.layout).get(bead)
    if ours is not None and ours.state == HELD:
        fleet.ctx.warn(f"{error.message}; bead '{bead}' was yours when it last did")
        return Answer(ClaimRow(bead, HELD, fleet.me.writer, True, ours.epoch, oid=ours.oid), "already")
    answer = claim_unasked(fleet, bead)
    fleet.ctx.warn(
        f"{error.message}; the claim on '{bead}' is tentative: git ralph fleet sync makes it real, "
        "or says who won"
    )
    return answer


def claim_unasked(fleet: Fleet, bead: str) -> Answer:
    """A tentative claim, by what the last look showed. Raises ForeignError where that was another's."""
    layout = fleet.ctx.layout
    ours = kept_state.claims(layout).get(bead)
    if ours is None or ours.state not in (PUSHING, TENTATIVE):
        look = kept_state.last_look(layout)
        known = look.claims.get(bead)
        if known is not None:
            found = fleet.store.read([known], "commit", COMMIT_LIMIT)
            one = form.parse(known, found.get(known, b""), bead)
            if one is None or one.state != FREE:
                error_ = refuse(row_of(bead, known, one, None))
                raise ForeignError(error_.row, f"{error_.message}, as of {look.at}", *error_.hints)
            ours = make(fleet, bead, HELD, one.epoch + 1, known)
        else:
            ours = make(fleet, bead, HELD, 1, None)
    kept_state.keep_claim(layout, replace(ours, state=TENTATIVE))
    return Answer(ClaimRow(bead, TENTATIVE, fleet.me.writer, True, ours.epoch, oid=ours.oid), TENTATIVE)


def _claim(fleet: Fleet, bead: str, ours: Own | None) -> Answer:
    layout, ref = fleet.ctx.layout, ref_names.claim_ref(fleet.namespace, bead)
    was_held = ours is not None and ours.state == HELD
    # A bead that the last look did not show is most likely nobody's: push at once, the look after it judges.
    view = (
        RemoteRefs({}) if ours is None and bead not in kept_state.last_look(layout).claims else fleet.look()
    )
    said = wire.Pushed()
    for turn in range(TURNS):
        oid = view.at(ref)
        if ours is not None and ours.is_at(oid) and not _is_cut_short(ours, oid):
            ours = found_again(fleet, view, ours)
            if oid == ours.next:
                raise Refused(
                    f"bead '{bead}' is done by this clone, which did not see the end of its landing",
                    f"git ralph fleet land {bead}",
                )
            return _won(fleet, view, ours, "already" if was_held else "claimed")
        if turn and said.refusal:
            kept_state.lose_claim(layout, bead)
            raise Fatal(f"the server takes no claim on '{bead}': {said.refusal}", "git ralph doctor")
        before, ours = ours, _next(fleet, view, bead, ours)
        if turn > 1:
            wire.pause(turn)
        is_new = ours is not before
        ours = kept_state.keep_claim(layout, ours)
        said = fleet.wire.push([RefUpdate(ref, ours.old, ours.oid)])
        if said.is_lost and is_new:
            kept_state.lose_claim(layout, bead)  # or the next sync would take a bead that was refused here
        view = fleet.look()
        if said.locked and turn >= _STUCK_AFTER and view.at(ref) == ours.old:
            kept_state.lose_claim(layout, bead)
            raise stuck(fleet, bead)
    kept_state.lose_claim(layout, bead)
    raise Busy(f"bead '{bead}' changed hands {TURNS} times meanwhile", f"git ralph fleet claim {bead}")


def _next(fleet: Fleet, view: RemoteRefs, bead: str, ours: Own | None) -> Own:
    """The claim to push now that the bead is as ``view`` shows it. Raises ForeignError."""
    layout = fleet.ctx.layout
    oid = view.at(ref_names.claim_ref(fleet.namespace, bead))
    if ours is not None and _is_cut_short(ours, oid):
        return ours  # the same object again: if the first push did arrive, the server says `=`, up to date
    if oid is None:
        return make(fleet, bead, HELD, 1, None)
    one = read_claims(fleet, view, [bead])[bead]
    look = observe(fleet, view, {bead: one}, everything=False)
    if one is not None and one.state == FREE:
        return make(fleet, bead, HELD, one.epoch + 1, oid)
    if (one is None or one.state == HELD) and is_over(fleet, look, bead, one):
        if one is not None and _has_landed(fleet, one):
            raise _done_for(fleet, one)
        fleet.ctx.warn(f"bead '{bead}' is taken over: its holder has given no sign for two leases")
        return make(fleet, bead, HELD, (one.epoch if one else 0) + 1, oid)
    kept_state.lose_claim(layout, bead)
    raise refuse(row_of(bead, oid, one, None))


def _has_landed(fleet: Fleet, one: Claim) -> bool:
    """True where the branch has what the holder was about to land: a server can die before the claim moves.

    Raises UnansweredError.
    """
    if one.work is None or one.into is None:
        return False
    tip = fleet.look(one.into).at(one.into)
    if tip is None:
        return False
    bring(fleet, [tip])
    if not fleet.store.is_whole(tip):
        raise UnansweredError(fleet.wire.url, f"it does not give '{one.into}'")
    return merge.is_ancestor(fleet.store.git, one.work, tip)


def _done_for(fleet: Fleet, one: Claim) -> RalphError:
    """Mark a bead done for a holder who is gone. Returns the error to raise, Busy if somebody was faster."""
    ref = ref_names.claim_ref(fleet.namespace, one.bead)
    made = make(fleet, one.bead, DONE, one.epoch, one.oid, one.work, writer=one.writer)
    fleet.wire.push([RefUpdate(ref, one.oid, made.oid)])
    view = fleet.look()
    if view.at(ref) != made.oid:
        return Busy(f"bead '{one.bead}' changed meanwhile", f"git ralph fleet claim {one.bead}")
    kept_state.lose_claim(fleet.ctx.layout, one.bead)
    return refuse(row_of(one.bead, made.oid, read_claims(fleet, view, [one.bead])[one.bead], None))


def _is_cut_short(ours: Own, oid: str | None) -> bool:
    """True while the remote still shows what our last push was to replace."""
    return ours.old == oid and ours.state in (PUSHING, TENTATIVE)


def found_again(fleet: Fleet, view: RemoteRefs, ours: Own) -> Own:
    """Keep and return our claim as a look shows it, also where that is an older commit of ours.

    A commit that says done is kept as ``next``. Whether the branch got the work too, only a landing finds
    out: a server may move one of the two alone.
    """
    oid = view.refs[ref_names.claim_ref(fleet.namespace, ours.bead)]
    if oid != ours.oid:
        one = read_claims(fleet, view, [ours.bead])[ours.bead]
        epoch = one.epoch if one else ours.epoch
        done = one is not None and one.state == DONE
        ours = replace(ours, next=oid) if done else replace(ours, oid=oid, next=None, epoch=epoch, work=None)
    return kept_state.keep_claim(fleet.ctx.layout, replace(ours, state=HELD))


def _won(fleet: Fleet, view: RemoteRefs, ours: Own, status: str) -> Answer:
    layout = fleet.ctx.layout
    look = kept_state.last_look(layout)
    seen = {bead: one for bead, one in look.seen.items() if bead != ours.bead}
    kept_state.keep_look(layout, replace(look, claims={**look.claims, ours.bead: ours.oid}, seen=seen))
    return Answer(ClaimRow(ours.bead, HELD, fleet.me.writer, True, ours.epoch, oid=ours.oid), status)


def release(fleet: Fleet, bead: str) -> ClaimRow | None:
    """Give a bead back; None where nobody has it. Raises ForeignError, StuckError, Busy.

    One that is done stays done, also for whoever landed it: nobody shall do it a second time.
    """
    layout, ref = fleet.ctx.layout, ref_names.claim_ref(fleet.namespace, bead)
    ours = kept_state.claims(layout).get(bead)
    if ours is not None and ours.state == TENTATIVE:
        kept_state.lose_claim(layout, bead)  # a push that went through after all is judged below
    try:
        view = fleet.look()
    except UnansweredError:
        if ours is not None and ours.state == TENTATIVE:
            return None
        raise
    freeing: Own | None = None
    for turn in range(TURNS):
        oid = view.at(ref)
        if freeing is not None and oid == freeing.oid:
            kept_state.lose_claim(layout, bead)
            return ClaimRow(bead, FREE, fleet.me.writer, False, freeing.epoch, oid=oid)
        if oid is None:
            kept_state.lose_claim(layout, bead)
            return None
        one = read_claims(fleet, view, [bead])[bead]
        if ours is not None and ours.is_at(oid) and one is not None and one.state == DONE:
            raise refuse(row_of(bead, oid, one, ours))
        if ours is None or oid != ours.oid:
            if ours is not None and one is not None and one.state == HELD and ours.is_at(oid):
                ours = replace(ours, oid=oid, epoch=one.epoch, work=None)
                continue
            kept_state.lose_claim(layout, bead)
            if one is not None and one.state == FREE:
                return None
            raise refuse(row_of(bead, oid, one, None))
        freeing = freeing or make(fleet, bead, FREE, ours.epoch, oid)
        if turn > 1:
            wire.pause(turn)
        said = fleet.wire.push([RefUpdate(ref, oid, freeing.oid)])
        view = fleet.look()
        if said.locked and turn >= _STUCK_AFTER and view.at(ref) == oid:
            raise stuck(fleet, bead)
    raise Busy(f"the server did not give bead '{bead}' free", f"git ralph fleet release {bead}")


def all_claims(fleet: Fleet, view: RemoteRefs) -> dict[str, tuple[str, Claim | None]]:
    """Every claim that a look shows, by bead: its oid and what it says. A ref whose name is wrong is none."""
    head = f"{fleet.namespace}/claims/"
    refs = {ref: oid for ref, oid in view.refs.items() if ref.startswith(head)}
    bring(fleet, refs.values())
    found = fleet.store.read(refs.values(), "commit", COMMIT_LIMIT)
    known = {ref_names.claim_ref(fleet.namespace, bead): bead for bead in kept_state.claims(fleet.ctx.layout)}
    rows: dict[str, tuple[str, Claim | None]] = {}
    for ref, oid in sorted(refs.items()):
        bead = known.get(ref) or form.bead_of(found.get(oid, b""))
        if bead is not None and ref_names.claim_ref(fleet.namespace, bead) == ref:
            rows[bead] = (oid, form.parse(oid, found.get(oid, b""), bead))
    return rows


def rows(fleet: Fleet, view: RemoteRefs) -> list[ClaimRow]:
    """Every claim, our tentative ones too. For the leases this counts as one look at each."""
    found = all_claims(fleet, view)
    observe(fleet, view, {bead: one for bead, (_, one) in found.items()}, everything=True)
    ours = kept_state.claims(fleet.ctx.layout)
    out = {bead: row_of(bead, oid, one, ours.get(bead)) for bead, (oid, one) in found.items()}
    return sorted({**out, **_tentative(fleet, set(out))}.values(), key=lambda row: row.bead)


def _tentative(fleet: Fleet, known: set[str]) -> dict[str, ClaimRow]:
    return {
        one.bead: ClaimRow(one.bead, TENTATIVE, fleet.me.writer, True, one.epoch, oid=one.oid)
        for one in kept_state.claims(fleet.ctx.layout).values()
        if one.state in (TENTATIVE, PUSHING) and one.bead not in known
    }


def rows_offline(fleet: Fleet) -> tuple[list[ClaimRow], str]:
    """What the last look showed, and when that was; empty where there was none."""
    look, ours = kept_state.last_look(fleet.ctx.layout), kept_state.claims(fleet.ctx.layout)
    found = fleet.store.read(look.claims.values(), "commit", COMMIT_LIMIT)
    out = {
        bead: row_of(bead, oid, form.parse(oid, found.get(oid, b""), bead), ours.get(bead))
        for bead, oid in look.claims.items()
    }
    return sorted({**out, **_tentative(fleet, set(out))}.values(), key=lambda row: row.bead), look.at
