"""``WorktreeCreate`` and ``WorktreeRemove``: an agent's own worktrees, made and removed by our rules."""

import os
from collections.abc import Mapping

from gitralph.base import ids, lost_worktree
from gitralph.base.errors import RalphError
from gitralph.guard.reply import Reply, blocked
from gitralph.hook.event import Event, owner_of
from gitralph.tasks.policy import event_repository
from gitralph.tasks.worktree import add as adding
from gitralph.tasks.worktree import remove as removing


def create(event: Event, environ: Mapping[str, str]) -> Reply:
    """Make the worktree that is asked for; stdout is its path and a newline."""
    name, _ = event.worktree
    if not ids.is_bead(name):
        return blocked(f"a worktree needs a name that can be a bead's: {name!r}"[:200], ids.BEAD_RULE)
    reply = Reply()
    try:
        ctx = event_repository.context(event, environ, reply)
        found = adding.add(ctx, str(name), None, owner_of(event, environ))
    except RalphError as error:
        return blocked(error.message, *error.hints)
    if found.failed is not None:
        return blocked(found.failed.message, *found.failed.hints)
    reply.out = os.fsencode(found.record.path) + b"\n"
    return reply


def _named(event: Event) -> tuple[str | None, str | None]:
    """The bead and the path that an event means."""
    name, path = event.worktree
    if path is not None:
        last = os.path.basename(path.rstrip("/"))
        if last.startswith(lost_worktree.PREFIX):
            return last[len(lost_worktree.PREFIX) :], path
    return name, path


def remove(event: Event, environ: Mapping[str, str]) -> Reply:
    """Remove a worktree where nothing would be lost; where something would, keep it and say so."""
    bead, path = _named(event)
    if bead is None:
        return Reply(said=["warning: nothing removed: the event names no worktree of a bead"])
    reply = Reply()
    home = os.path.dirname(os.path.dirname(path.rstrip("/"))) if path and path[0] == "/" else None
    try:
        usable = home if home and os.path.isdir(home) else None
        ctx = event_repository.context(event, environ, reply, usable)
        removing.remove(ctx, bead, False, owner_of(event, environ), os.getcwd())
    except RalphError as error:
        return Reply(said=[*reply.said, f"warning: {error.message}"])
    return reply
