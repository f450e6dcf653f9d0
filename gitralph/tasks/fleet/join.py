"""``git ralph fleet join``: this clone becomes a member, with refs of a form that the server accepts."""

import os
import shlex
from dataclasses import replace

from gitralph.base import files
from gitralph.base.errors import Fatal, Refused
from gitralph.git.context import Context
from gitralph.hook.sessionfile import now
from gitralph.tasks.fleet import claim as form
from gitralph.tasks.fleet import kept_state, own_log, ref_names, this_clone, wire
from gitralph.tasks.fleet.claiming import bring
from gitralph.tasks.fleet.kept_state import Membership
from gitralph.tasks.fleet.store import COMMIT_LIMIT
from gitralph.tasks.fleet.this_clone import Fleet
from gitralph.tasks.fleet.wire import RefUpdate, RemoteRefs

# A turn is lost to somebody who founds the fleet at the same moment; then there is one to read.
_TURNS = 6


class NotTakenError(Fatal):
    """The server takes no refs of this form."""


def join(ctx: Context, given: str, branch_form: bool, seconds: float | None) -> Fleet:
    """Join the fleet of a remote, or found it. To join again changes nothing.

    Raises Refused while this clone holds a bead in another fleet, Fatal where the server takes nothing,
    UnansweredError.
    """
    # a path, as it was typed here, must work from anywhere
    is_path = f"remote.{given}.url" not in ctx.config.values and os.path.isdir(given)
    remote = this_clone.remote_of(ctx, os.path.abspath(given) if is_path else given)
    if remote != given and ctx.config.get("ralph.remote"):
        ctx.say(f"'ralph.remote' names '{remote}': claims and logs go there")
    before = kept_state.membership(ctx.layout)
    kept = given if ctx.config.get("ralph.remote") else remote
    if before is not None and before.remote != kept:
        held = [
            one.bead
            for one in kept_state.claims(ctx.layout).values()
            if one.state not in (form.DONE, kept_state.LOST)
        ]
        if held:
            way, old = f"git ralph fleet release {held[0]}", before.remote
            if this_clone.is_renamed(ctx, old):  # nothing can be released there
                way = f"git config ralph.remote {shlex.quote(kept)}  # what '{old}' is called now"
            raise Refused(f"this clone holds '{held[0]}' in the fleet of '{old}'", way)
    files.make_folder(ctx.layout.fleet)
    writer = before.writer if before and before.remote == kept else own_log.new_writer()
    me = Membership(
        kept,
        ref_names.CUSTOM,
        writer,
        form.DEFAULT_LEASE,
        now(),
        folder=kept_state.folder_identity(ctx.layout),
    )
    fleet = this_clone.assemble(ctx, me, seconds)
    view = fleet.wire.look(f"{ref_names.CUSTOM}/*", f"{ref_names.BRANCHES}/*")
    fleet = _in_a_form(fleet, view, branch_form)
    if before is not None and before.remote == kept and before.namespace == fleet.namespace:
        fleet = replace(fleet, me=replace(before, lease=fleet.me.lease))
    else:
        kept_state.keep_beat(ctx.layout, kept_state.Beat())
    kept_state.write_membership(ctx.layout, fleet.me)
    try:
        return own_log.start(fleet) if before is None or before.remote != kept else fleet
    except BaseException:
        if before is None:
            # A member whose sign of life never got through is no member: the next join begins anew.
            os.unlink(ctx.layout.fleet_record)
        raise


def _in_a_form(fleet: Fleet, view: RemoteRefs, branch_form: bool) -> Fleet:
    both = ref_names.fleet_ref(ref_names.BRANCHES) in view.refs
    plain = ref_names.fleet_ref(ref_names.CUSTOM) in view.refs
    if both and plain:
        fleet.ctx.say("both forms of the fleet are there; the one in branches counts")
    # Members use branches only where they must, so the other form does not work for all.
    if both or branch_form:
        if plain and not both:
            fleet.ctx.warn(
                f"members that joined before use '{ref_names.CUSTOM}': from now on the branches count, "
                "and they have to join again"
            )
        return _found(_as(fleet, ref_names.BRANCHES), view)
    try:
        return _found(fleet, view)
    except NotTakenError as error:
        fleet.ctx.say(f"{error.message}; branches below 'ralph-fleet/' are used instead")
    try:
        return _found(_as(fleet, ref_names.BRANCHES), view)
    except NotTakenError as error:
        raise Fatal(
            f"'{fleet.me.remote}' takes neither refs nor branches of the fleet: {error.message}",
            "git config ralph.remote <url>: another repository, that you can write",
        ) from None


def _as(fleet: Fleet, namespace: str) -> Fleet:
    return replace(fleet, me=replace(fleet.me, namespace=namespace))


def _found(fleet: Fleet, view: RemoteRefs) -> Fleet:
    """Read what the fleet says, or found it. Raises Fatal where the server refuses."""
    ref = ref_names.fleet_ref(fleet.namespace)
    lease = this_clone.lease_of(fleet.ctx, form.DEFAULT_LEASE)
    for turn in range(_TURNS):
        oid = view.at(ref)
        if oid is not None:
            return _read(fleet, oid)
        made = fleet.store.commit(form.fleet_message(lease, fleet.namespace))
        said = fleet.wire.push([RefUpdate(ref, None, made)])
        if said.refusal:
            raise NotTakenError(f"the server takes no '{ref}': {said.refusal}")
        view = fleet.look()
        wire.pause(turn)
    if view.at(ref) is not None:
        return _read(fleet, view.refs[ref])
    raise NotTakenError(f"the server takes no '{ref}': {wire.gist(said.said)}")


def _read(fleet: Fleet, oid: str) -> Fleet:
    bring(fleet, [oid])
    raw = fleet.store.read([oid], "commit", COMMIT_LIMIT).get(oid)
    said = form.trailers(raw) if raw is not None else None
    if said is None:
        raise Fatal(f"'{ref_names.fleet_ref(fleet.namespace)}' of the remote is not what a fleet writes")
    if said.get("Ralph-Format") != form.FORMAT:
        raise Fatal(
            f"the fleet's format is '{said.get('Ralph-Format', '')}', this version knows '{form.FORMAT}'",
            "use a newer git ralph",
        )
    me = replace(fleet.me, lease=form.lease_of(said.get("Ralph-Lease")))
    return replace(fleet, me=me, lease=this_clone.lease_of(fleet.ctx, me.lease))
