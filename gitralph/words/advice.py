"""One line for a path that is left out: the path, the reason, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitralph.base.layout import Layout
from gitralph.decide import decision
from gitralph.decide.decision import Left
from gitralph.hook import sessionfile
from gitralph.words import sentences

# A formatter may change thousands of places. Nobody reads more of them than these.
_MOST = 3
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


def described(layout: Layout, left: Iterable[Left]) -> Iterator[str]:
    """One line for each path and reason, with the first of the places where lines are left out."""
    places = dict[Left, list[tuple[int, int]]]()
    for one in left:
        places.setdefault(one._replace(lines=None), []).extend([one.lines] if one.lines else [])
    for one, lines in places.items():
        named = lines[:_MOST] if len(lines) > _MOST + 1 else lines
        place = sentences.place(one.path, *named, more=len(lines) - len(named))
        yield sentences.at(place, _why(layout, one))


def describe(layout: Layout, left: Left) -> str:
    """The one line for a path, or for one place in it, that is left out."""
    return next(described(layout, [left]))


def _why(layout: Layout, left: Left) -> str:
    others = [one for one in left.sessions if one != decision.UNRECORDED and one not in left.why.named]
    names = ", ".join(f"'{sessionfile.called(layout, one)}'" for one in others)
    also = f" (session {names})" if names else ""
    return f"{said(left.reason)}: {sentences.of(layout, left.why)}{also}"


def not_asked(layout: Layout, left: Left) -> str:
    """One line for lines that a person is not asked about."""
    return f"{describe(layout, left)}; not asked"


def headline(layout: Layout, refusals: Iterable[Left]) -> str:
    """The error message for everything that is refused."""
    return "\n".join(described(layout, refusals))
