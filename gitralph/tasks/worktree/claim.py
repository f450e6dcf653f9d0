"""Whose a bead is: a live owner keeps it, a dead one's is taken over only when asked for."""

from gitralph.base import process
from gitralph.base.errors import Refused
from gitralph.git.context import Context
from gitralph.hook import sessionfile
from gitralph.records import sessions
from gitralph.records.bead import Bead

# Whose session ends is for a person to say.
_SHOWS = "git ralph worktree list  # which are free"


def claim(ctx: Context, record: Bead | None, session: str | None, take_over: bool) -> str | None:
    """Check that ``session`` may have the bead; the owner it is taken from, None when it is nobody's.

    Raises Refused while another session has it in progress.
    """
    if record is None or not record.active or record.owner in (None, session):
        return None
    owner = str(record.owner)
    state, called = sessions.state_of(ctx.layout, owner), ctx.called(owner)
    taking = f"git ralph worktree add {record.bead} --take-over"
    if state == "live":
        raise Refused(
            f"bead '{record.bead}' is in progress: session '{called}' has it and is live",
            _SHOWS if ctx.is_agent else f"git ralph session end {called} && {taking}",
        )
    if not take_over:
        raise Refused(
            f"bead '{record.bead}' is in progress: session '{called}' has it, though it is {state}",
            _SHOWS if ctx.is_agent and state != "ended" else taking,
        )
    return owner


def enlist(ctx: Context, session: str | None, bead: str) -> None:
    """Make sure the owner has a session record that names the bead."""
    if session is None:
        return
    kept = sessionfile.read(ctx.layout, session)
    if kept is None:
        sessionfile.ensure(ctx.layout, session, ctx.repo.place, bead=bead)
        sessionfile.update(ctx.layout, session, process=process.ancestor())
    elif kept.get("bead") is None:
        sessionfile.update(ctx.layout, session, bead=bead)
