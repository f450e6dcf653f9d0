"""Sentences for refusals: what and why."""

from __future__ import annotations

from collections.abc import Iterable

from gitralph.base.layout import Layout
from gitralph.base.quote import shown
from gitralph.decide import decision
from gitralph.decide.decision import Left
from gitralph.hook import sessionfile

# What people read in place of the reasons whose names only their makers know; `--json` has the names.
_SAID = {
    decision.UNANCHORED: "lines of unknown owner",
    decision.STALE: "out of date",
    decision.TOO_LARGE: "too large",
}


# Where no sentence follows, as in a list of paths, these say more than their names.
_SAID_ALONE = {
    decision.SHELL: "changed by a shell command",
    decision.WAITING: "waits for uncommitted lines of others",
}


def said_alone(reason: str) -> str:
    """A reason in words for people, where it is all that is said of a path."""
    return _SAID_ALONE.get(reason, said(reason))


def said(reason: str) -> str:
    """A reason in words for people."""
    return _SAID.get(reason, reason)


def describe(layout: Layout, left: Left) -> str:
    """One path left out, in a line."""
    where = f"'{shown(left.path)}'"
    if left.lines:
        first, last = left.lines
        where += f" line {first}" if first == last else f" lines {first}-{last}"
    others = [session for session in left.sessions if session != decision.UNRECORDED]
    missing = [sessionfile.called(layout, one) for one in others if f"'{one}'" not in left.detail]
    also = f" (session {', '.join(map(repr, missing))})" if missing else ""
    return f"{where}: {said(left.reason)}: {decision.named(layout, left.detail, others)}{also}"


def headline(layout: Layout, refusals: Iterable[Left]) -> str:
    """What is refused, as the error message."""
    return "\n".join(describe(layout, left) for left in refusals)
