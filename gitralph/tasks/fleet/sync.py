"""``git ralph fleet sync``: sends a beat, settles our own claims, and reads what others published.

One look after the push of the log reads it back, and shows everything else as well.
"""

from dataclasses import dataclass, field, replace

from gitralph.base.errors import Busy
from gitralph.tasks.fleet import claiming, kept_state, own_log, publish, received_logs, ref_names
from gitralph.tasks.fleet.claim import DONE, HELD, TENTATIVE
from gitralph.tasks.fleet.claiming import ClaimRow, ForeignError
from gitralph.tasks.fleet.kept_state import LOST, PUSHING
from gitralph.tasks.fleet.this_clone import Fleet


@dataclass
class Synced:
    """What a sync came to. ``status`` by bead: claimed, lost, tentative, stuck, or as the claim stands."""

    rows: list[ClaimRow]
    status: dict[str, str] = field(default_factory=dict)
    lost: list[ForeignError] = field(default_factory=list)
    busy: list[Busy] = field(default_factory=list)
    records: int = 0
    members: int = 0


def beat(fleet: Fleet) -> Fleet:
    """Publish what is new and show that this machine lives. Raises UnansweredError."""
    publish.gather(fleet)
    sent = own_log.push(fleet)
    fleet = own_log.judge_push(fleet, fleet.look(), sent)
    for one in kept_state.claims(fleet.ctx.layout).values():
        if one.state in (PUSHING, TENTATIVE):
            # A beat in the background can tell nobody what came of it; the next command that asks does.
            _claim_again(fleet, one.bead, Synced([]))
    return fleet


def sync(fleet: Fleet) -> Synced:
    """Beat, settle and read. Raises UnansweredError where the server does not answer."""
    is_named = fleet.me.remote in fleet.ctx.config.names("remote", "url")
    view = None if is_named else fleet.look("refs/heads/*")
    added = publish.gather(fleet, view)
    while not publish.is_done(fleet, view):  # a person waits: all of it
        added += publish.gather(fleet, view)
    sent = own_log.push(fleet)
    view = fleet.look()
    judged = own_log.judge_push(fleet, view, sent)
    if judged.me != fleet.me:  # a new name, or a new part: its first beat
        sent = own_log.push(judged)
        view = judged.look()
        fleet = own_log.judge_push(judged, view, sent)
    found = Synced([], records=added)
    found.members = received_logs.read(fleet, view)
    for one in kept_state.claims(fleet.ctx.layout).values():
        shows = view.at(ref_names.claim_ref(fleet.namespace, one.bead))
        if one.state in (PUSHING, TENTATIVE) or (one.state == LOST and shows == one.oid):
            _claim_again(fleet, one.bead, found)
            view = fleet.look()
    held = {one.bead for one in kept_state.claims(fleet.ctx.layout).values() if one.state == HELD}
    found.rows = claiming.rows(fleet, view)
    shown = {row.bead: row for row in found.rows}
    for bead in held:
        row = shown.get(bead)
        # a landing that was killed before it saw its end
        if row is not None and row.mine and row.state == DONE:
            kept = kept_state.claims(fleet.ctx.layout)[bead]
            done = replace(kept, oid=row.oid or kept.oid, next=None, state=DONE)
            kept_state.keep_claim(fleet.ctx.layout, done)
        elif row is None or not row.mine:
            kept_state.lose_claim(fleet.ctx.layout, bead)
            found.status[bead] = "lost"
            found.lost.append(_lost(bead, row))
    for row in found.rows:
        found.status.setdefault(row.bead, row.state)
    return found


def _lost(bead: str, row: ClaimRow | None) -> ForeignError:
    if row is None:
        return claiming.gone(bead)
    error = claiming.refuse(row)
    if row.state == DONE:
        return error
    return ForeignError(row, f"{error.message}, who took it over", *error.hints)


def _claim_again(fleet: Fleet, bead: str, found: Synced) -> None:
    try:
        claiming.claim(fleet, bead)
        found.status[bead] = "claimed"
    except ForeignError as error:
        found.status[bead] = "lost"
        found.lost.append(error)
    except claiming.StuckError as error:
        found.status[bead] = "stuck"
        found.busy.append(error)
