"""What other commands ask of the fleet. Where the repository is in no fleet, nothing happens."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from gitralph.base.errors import Busy, RalphError
from gitralph.git.context import Context
from gitralph.hook import beat
from gitralph.records.published_name import is_member
from gitralph.tasks.fleet import claiming, kept_state, landing, own_log, sync, this_clone, wire
from gitralph.tasks.fleet.claim import DONE, HELD, TENTATIVE
from gitralph.tasks.fleet.kept_state import LOST
from gitralph.tasks.fleet.this_clone import Fleet

# --- before and while somebody works on a bead ---


@contextmanager
def claimed(ctx: Context, bead: str) -> Iterator[None]:
    """Claim a bead for a block. Where the block fails, a bead that was not ours before is given back.

    Raises ForeignError naming who has it, StuckError, Busy. Offline the claim is tentative, with a warning;
    it is not given back.
    """
    fresh = begin(ctx, bead)
    try:
        yield
    except RalphError:
        if fresh:
            give_back(ctx, bead)
        raise


def begin(ctx: Context, bead: str) -> bool:
    """Claim a bead unless it is ours; True when the server gave it to us now. Raises as :func:`claimed`.

    False where the repository is in no fleet: a run works on beads with or without one.
    """
    if not is_member(ctx.layout):
        return False
    fleet = this_clone.open_fleet(ctx)
    with landing.hold(fleet):
        if _is_ours(fleet, bead):
            return False
        return claiming.claim(fleet, bead).status == "claimed"


def _is_ours(fleet: Fleet, bead: str) -> bool:
    """True for a bead that nobody can have taken over: it is held, and a beat was seen within the lease."""
    ours = kept_state.claims(fleet.ctx.layout).get(bead)
    return ours is not None and ours.state == HELD and own_log.may_start(fleet)


def held(ctx: Context) -> set[str]:
    """The beads that this clone has, or wants, by its own record."""
    if not is_member(ctx.layout):
        return set()
    return {one.bead for one in kept_state.claims(ctx.layout).values() if one.state not in (DONE, LOST)}


def give_back(ctx: Context, bead: str) -> bool:
    """Release a bead; False, with a warning, where that did not work."""
    fleet = this_clone.open_fleet(ctx)
    try:
        with landing.hold(fleet):
            claiming.release(fleet, bead)
    except RalphError as error:
        ctx.warn(f"the claim on '{bead}' is kept: {error.message}")
        return False
    return True


def note(ctx: Context, bead: str) -> None:
    """Claim a bead tentatively without asking the server, for a hook: the next beat settles it.

    Raises ForeignError where the last look showed it as another's.
    """
    if is_member(ctx.layout):
        fleet = this_clone.open_fleet(ctx)
        try:
            # A short wait, since the agent waits for its hook.
            with landing.hold(fleet, wait=0.5):
                if not _is_ours(fleet, bead):
                    claiming.claim_unasked(fleet, bead)
        except Busy as error:
            ctx.warn(f"bead '{bead}' is not claimed in the fleet: {error.message}")
        own_log.make_due(fleet)


def go_on(ctx: Context, bead: str) -> None:
    """Raise Busy where a holder may start nothing new: no beat was acknowledged within the lease.

    A beat that is due is sent first. A tentative claim may go on: its work stays on its branch.
    """
    if not is_member(ctx.layout):
        return

    fleet = this_clone.open_fleet(ctx)
    with landing.hold(fleet):
        if own_log.is_due(fleet):
            try:
                fleet = sync.beat(fleet)
            except wire.UnansweredError as error:
                ctx.warn(error.message)
        ours = kept_state.claims(ctx.layout).get(bead)
        if ours is not None and ours.state == TENTATIVE:
            return
        if not own_log.may_start(fleet):
            raise Busy(
                f"bead '{bead}' may have been taken over: the server acknowledged nothing for a lease",
                "git ralph fleet sync",
            )


def beat_if_due(ctx: Context) -> None:
    """Start a beat in the background where one is due. Where none is, this costs one ``stat``."""
    beat.start_if_due(ctx.layout, ctx.repo.root, dict(ctx.environ))


# --- for ``git ralph gc``: the object folder, once many loose objects are there ---


# Each look at a claim or a log leaves a few. git itself begins to pack at 6,700 (gc.auto, git-config(1)).
MANY = 5000


def _count(folder: str) -> tuple[int, int]:
    """How many files there are below a folder, and their bytes."""
    found = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]
    return len(found), sum(os.lstat(path).st_size for path in found)


def drop_objects(ctx: Context, dry: bool) -> int | None:
    """Remove the fleet's object folder where it has grown; its bytes, None where it stays.

    It stays while it may have the only copy of a claim of ours, and while somebody works with it.
    """
    if not is_member(ctx.layout):
        return None
    folder = ctx.layout.fleet_objects
    count, size = _count(folder)
    if count < MANY:
        return None
    fleet = this_clone.open_fleet(ctx)
    try:
        with landing.hold(fleet, wait=0):
            if own_log.pending(fleet):
                return None
            if not dry:
                shutil.rmtree(folder)
            return size
    except Busy:
        return None
