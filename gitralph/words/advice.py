"""A path that is left out, in a line: where, the reason, and why."""

from __future__ import annotations

from collections.abc import Iterable

from gitralph.base.layout import Layout
from gitralph.decide import decision
from gitralph.decide.decision import Left
from gitralph.hook import sessionfile
from gitralph.words import sentences

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
    others = [one for one in left.sessions if one != decision.UNRECORDED and one not in left.why.named]
    names = ", ".join(f"'{sessionfile.called(layout, one)}'" for one in others)
    also = f" (session {names})" if names else ""
    sentence = f"{said(left.reason)}: {sentences.of(layout, left.why)}{also}"
    return sentences.at(sentences.place(left.path, left.lines), sentence)


def not_asked(layout: Layout, left: Left) -> str:
    """Lines that a person is not asked about, in a line."""
    return f"{describe(layout, left)}; not asked"


def headline(layout: Layout, refusals: Iterable[Left]) -> str:
    """What is refused, as the error message."""
    return "\n".join(describe(layout, left) for left in refusals)
