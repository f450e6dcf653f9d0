"""The own log: a ref that only this clone writes. Every push of it is a beat: it shows that the clone lives.

Each beat is a commit on the last one, with ``log.jsonl`` in its tree. One growing file packs better than a
file for each commit: 965 edits are 26 KB, else 50 to 63 KB. Above 4 MB the file is sealed as
``log.<n>.jsonl``, whose bytes are never sent again, and a commit without a parent replaces the history. Where
the server denies that, the log goes on as ``<writer>.2``.

A copied folder has the same writer's name as its original. Whoever finds another's commit in its own log
takes a new name. The claims stay with the folder that was there first.
"""

import os
import time
from dataclasses import dataclass, replace

from gitralph.base import files
from gitralph.base.errors import Fatal, Refused
from gitralph.hook.sessionfile import now as wall_clock
from gitralph.tasks.fleet import claim as form
from gitralph.tasks.fleet import claiming, clock, kept_state, ref_names
from gitralph.tasks.fleet.kept_state import PUSHING, Beat
from gitralph.tasks.fleet.this_clone import Fleet
from gitralph.tasks.fleet.wire import Pushed, RefUpdate, RemoteRefs

SEALED_ABOVE = 4 << 20
# A lease may be hours; others should still see within ten minutes that somebody is at work.
LONGEST = 600.0
_FILE = "log.jsonl"
# Sealed parts that a log keeps, and that a new member reads: 128 MB.
MOST_PARTS = 32
# A bound on memory, not on use: the file is read whole, and nothing of ours comes near it.
_MOST_BYTES = 1 << 30


@dataclass(frozen=True)
class Beaten:
    """A push of the log that was sent: the commit, and the state to keep when a look shows it there.

    ``earlier`` is a push before it that nobody saw arrive, and that may arrive yet.
    """

    tip: str
    then: Beat
    said: Pushed
    earlier: str | None = None


def interval(fleet: Fleet) -> float:
    """The seconds between two beats: many machines share a server that counts pushes."""
    return min(LONGEST, max(fleet.lease, 1) / 3)


def is_due(fleet: Fleet) -> bool:
    """True when the last acknowledged beat is older than the interval."""
    age = since_ack(fleet)
    return age is None or age >= interval(fleet)


def since_ack(fleet: Fleet) -> float | None:
    """The seconds of the own clock since the server last showed our beat, None where it never did."""
    beat = kept_state.beat(fleet.ctx.layout)
    return clock.age(beat.boot, beat.clock)


def may_start(fleet: Fleet) -> bool:
    """True while a holder may start something new: within a lease of an acknowledged beat."""
    age = since_ack(fleet)
    return age is not None and age < fleet.lease


def new_writer() -> str:
    """A writer's name: random, 64 bits."""
    return os.urandom(8).hex()


def append(fleet: Fleet, lines: list[bytes]) -> None:
    """Add records to the own log, here; the next beat publishes them."""
    path = fleet.ctx.layout.fleet_log(fleet.me.writer)
    for line in lines:
        files.append_record(path, line)


def content(fleet: Fleet) -> bytes:
    """The own log as it is here, up to its last whole line."""
    try:
        data = files.read_bytes(fleet.ctx.layout.fleet_log(fleet.me.writer), _MOST_BYTES)
    except FileNotFoundError:
        return b""
    return data[: data.rfind(b"\n") + 1]  # a torn tail waits for its newline


def _commit(fleet: Fleet, beat: Beat, data: bytes, parent: str | None) -> str:
    blob = fleet.store.blob(data[beat.start :])
    tree = fleet.store.tree([(_FILE, blob), *beat.sealed])
    # With a nonce, as in a claim: else a copied folder would push the same object within the same second.
    message = (
        f"chore: log\n\nRalph-Writer: {fleet.me.writer}\nRalph-Lease: {fleet.lease}\n"
        f"Ralph-Token: {claiming.token()}\n"
    )
    return fleet.store.commit(message, tree, [parent] if parent else [])


def _sealed(fleet: Fleet, beat: Beat, data: bytes) -> Beat:
    """The state after the current file is sealed under a name of its own, the oldest part let go."""
    # Counted on from the last name: once a part is let go, the number of those kept would give a name twice.
    last = int(beat.sealed[-1][0].split(".")[1]) if beat.sealed else 0
    name = f"log.{last + 1}.jsonl"
    rows = (*beat.sealed, (name, fleet.store.blob(data[beat.start :])))
    return replace(beat, start=len(data), sealed=rows[-MOST_PARTS:])


def _settled(fleet: Fleet) -> Beat:
    """The state of the log, on top of a push that arrived although a kill or the network hid that."""
    beat = kept_state.beat(fleet.ctx.layout)
    if beat.pushing is not None and fleet.look().at(fleet.own_log) == beat.pushing:
        # What it sealed is not known any more: the part is sealed again, and may be sent twice.
        return replace(beat, tip=beat.pushing, pushing=None)
    return beat


def push(fleet: Fleet) -> Beaten:
    """Send the log as it is; whether the server has it, :func:`judge_push` tells by a look.

    Raises UnansweredError where the end of an earlier push was not seen and the server does not answer.
    """
    settled, data = _settled(fleet), content(fleet)
    beat = settled
    if beat.tip is not None and not fleet.store.is_whole(beat.tip):
        claiming.bring(fleet, [beat.tip])
    parent = beat.tip
    if len(data) - beat.start > SEALED_ABOVE:
        beat = _sealed(fleet, beat, data)
        parent = None
    elif parent is not None and not fleet.store.is_whole(parent):
        parent = None
    tip = _commit(fleet, beat, data, parent)
    kept_state.keep_beat(fleet.ctx.layout, replace(settled, pushing=tip))
    said = fleet.wire.push([RefUpdate(fleet.own_log, beat.tip, tip)])
    return Beaten(tip, replace(beat, tip=tip, acked=len(data)), said, settled.pushing)


def judge_push(fleet: Fleet, view: RemoteRefs, sent: Beaten) -> Fleet:
    """Judge by a look what became of a push of the log; the fleet as it is then.

    Raises Refused where the server takes no log of ours.
    """
    layout, before = fleet.ctx.layout, kept_state.beat(fleet.ctx.layout)
    there = view.at(fleet.own_log)
    if there == sent.tip:
        acked = {"boot": clock.boot(), "clock": clock.now(), "at": wall_clock()}
        then = replace(sent.then, pushing=None, scanned=before.scanned, **acked)  # type: ignore[arg-type]
        kept_state.keep_beat(layout, then)
        if fleet.me.folder != kept_state.folder_identity(layout):
            fleet = fleet.changed(folder=kept_state.folder_identity(layout))
        set_due(fleet)
        return fleet
    if there is not None and there == before.tip:
        return _not_taken(fleet, sent)
    if there is not None and there == sent.earlier:  # it arrived only now, so this push was refused
        kept_state.keep_beat(layout, replace(before, tip=there, pushing=None))
        sent = push(fleet)
        return judge_push(fleet, fleet.look(), sent)
    if there is None and before.tip is None:
        raise Refused(
            f"the server takes no log: {sent.said.refusal or 'it said nothing'}", "git ralph doctor"
        )
    if there is None:  # somebody deleted it: begin again, with everything
        kept_state.keep_beat(layout, replace(before, tip=None, pushing=None, start=0, sealed=()))
        return fleet
    return _renamed(fleet, view)


def _not_taken(fleet: Fleet, sent: Beaten) -> Fleet:
    """The log is as it was: force is denied, or the push got lost; the next beat tries again."""
    layout, before = fleet.ctx.layout, kept_state.beat(fleet.ctx.layout)
    if sent.then.start != before.start and sent.said.is_forced_denied:
        data = content(fleet)
        # the new part begins with what the server does not have
        start = before.acked if before.acked <= len(data) else 0
        kept_state.keep_beat(layout, replace(before, tip=None, pushing=None, start=start, sealed=()))
        return fleet.changed(part=fleet.me.part + 1)
    if sent.said.locked:
        fleet.ctx.warn(
            f"no sign of life got through: on the server '{fleet.own_log}' is locked; "
            f"where a push was killed there: rm {fleet.own_log}.lock"
        )
    elif sent.said.refusal:
        fleet.ctx.warn(f"the server takes no log: {sent.said.refusal}")
    return fleet


def _renamed(fleet: Fleet, view: RemoteRefs) -> Fleet:
    """Take a new name: the log is also written by a copy of this folder, or by its original."""
    layout, beat = fleet.ctx.layout, kept_state.beat(fleet.ctx.layout)
    is_copy = fleet.me.folder != kept_state.folder_identity(layout)
    old, data, writer = fleet.me.writer, content(fleet), new_writer()
    rest = data[beat.acked :]
    if rest:
        files.append_record(layout.fleet_log(writer), rest)
    kept_state.keep_beat(layout, Beat(scanned=beat.scanned))
    fleet = fleet.changed(writer=writer, part=1, folder=kept_state.folder_identity(layout))
    fleet.ctx.warn(
        f"another clone writes the log of '{old}', as a copied folder does; "
        f"this one is '{writer}' from now on"
    )
    ours = kept_state.claims(layout).values()
    for one in ours:
        if one.state == form.DONE:
            continue
        if is_copy:
            kept_state.forget_claim(layout, one.bead)
            if one.state == kept_state.LOST:
                continue
            fleet.ctx.warn(f"the claim on '{one.bead}' stays with the folder that this one was copied from")
        elif view.at(ref_names.claim_ref(fleet.namespace, one.bead)) == one.oid:
            _take_along(fleet, one)
    return fleet


def _take_along(fleet: Fleet, one: kept_state.Own) -> None:
    """Put an own claim under the new name, so that the copy cannot take it for its own."""
    ref = ref_names.claim_ref(fleet.namespace, one.bead)
    made = claiming.make(fleet, one.bead, form.HELD, one.epoch, one.oid)
    fleet.wire.push([RefUpdate(ref, one.oid, made.oid)])
    if fleet.look().at(ref) == made.oid:
        kept_state.keep_claim(fleet.ctx.layout, replace(made, state=form.HELD))


def set_due(fleet: Fleet) -> None:
    """Note when the next beat is due as the time of a file, so that hooks and commands need one stat."""
    path = fleet.ctx.layout.fleet_due
    files.write_whole(path, f"{interval(fleet):.3f}\n".encode())
    due = time.time() + interval(fleet)
    os.utime(path, (due, due))


def make_due(fleet: Fleet) -> None:
    """Let the next hook or command start a beat."""
    if os.path.lexists(fleet.ctx.layout.fleet_due):
        os.utime(fleet.ctx.layout.fleet_due, (0, 0))


def start(fleet: Fleet) -> Fleet:
    """The first beat of a new member. Raises Fatal where the server does not take it."""
    sent = push(fleet)
    view = fleet.look()
    if view.at(fleet.own_log) is None:
        raise Fatal(f"the server takes no log: {sent.said.refusal or 'it said nothing'}")
    return judge_push(fleet, view, sent)


def pending(fleet: Fleet) -> bool:
    """True while something of ours is not settled: a claim that is tentative or was cut short."""
    return any(one.state in (PUSHING, form.TENTATIVE) for one in kept_state.claims(fleet.ctx.layout).values())
