"""One line for a path that is left out: the path, the reason, and why."""

from __future__ import annotations

from collections.abc import Iterable

from gitralph.base.layout import Layout
from gitralph.decide import decision
from gitralph.decide.decision import Left
from gitralph.hook import sessionfile
from gitralph.words import sentences

# Some reasons have names that only their makers understand. People read these words instead; `--json` has the
# names.
_SAID = {
    decision.UNANCHORED: "lines of unknown owner",
    decision.STALE: "out of date",
    decision.TOO_LARGE: "too large",
}


# These words replace a reason where no sentence follows it, as in a list of paths.
_SAID_ALONE = {
    decision.SHELL: "changed by a shell command",
    decision.WAITING: "waits for the commit of another's move",
}


def said_alone(reason: str) -> str:
    """A reason in words for people, where no sentence follows."""
    return _SAID_ALONE.get(reason, said(reason))


def said(reason: str) -> str:
    """A reason in words for people, before a sentence."""
    return _SAID.get(reason, reason)


def describe(layout: Layout, left: Left) -> str:
    """One line for a path that is left out."""
    others = [one for one in left.sessions if one != decision.UNRECORDED and one not in left.why.named]
    names = ", ".join(f"'{sessionfile.called(layout, one)}'" for one in others)
    also = f" (session {names})" if names else ""
    sentence = f"{said(left.reason)}: {sentences.of(layout, left.why)}{also}"
    return sentences.at(sentences.place(left.path, left.lines), sentence)


def not_asked(layout: Layout, left: Left) -> str:
    """One line for lines that a person is not asked about."""
    return f"{describe(layout, left)}; not asked"


def headline(layout: Layout, refusals: Iterable[Left]) -> str:
    """The error message for everything that is refused, one line each."""
    return "\n".join(describe(layout, left) for left in refusals)
