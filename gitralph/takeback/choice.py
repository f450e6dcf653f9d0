"""Which session is meant where nothing of it is pending: one that has something to bring back."""

from __future__ import annotations

from collections.abc import Callable

from gitralph.git.context import Context
from gitralph.sessions import session_choice
from gitralph.takeback import redo, restore
from gitralph.takeback.survey import survey


def of_undone(ctx: Context, given: str | None, usage: str) -> str | None:
    """The session whose undo is to be brought back. Raises Refused for several."""
    return one_of(ctx, given, usage, has_undone)


def has_undone(ctx: Context, session: str) -> bool:
    """True when a session took something back and has not brought it back."""
    with survey(ctx, session, None, redo.has_undo) as found:
        return bool(redo.waiting(found))


def of_lost(ctx: Context, given: str | None, usage: str) -> str | None:
    """The session that lost something. Raises Refused for several."""
    return one_of(ctx, given, usage, restore.has_lost)


def one_of(ctx: Context, given: str | None, usage: str, has: Callable[[Context, str], bool]) -> str | None:
    """The named session, else the only one of which ``has`` is true; None where there is none."""
    named = session_choice.named_for_writing(ctx, given, usage)
    if named is not None:
        return named
    found = [name for name in session_choice.all_here(ctx.layout) if has(ctx, name)]
    if len(found) > 1:
        raise session_choice.ambiguous(ctx.layout, found, usage)
    return found[0] if found else None
