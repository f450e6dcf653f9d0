"""The fast lane of ``git ralph emit``: the plain forms, without click and without git.

Whatever is unusual, also an error, is left to the command of the same name, which reports it properly. So
this lane answers only when the event was written.
"""

import os

from gitralph.base import gitdir, layout
from gitralph.base.errors import RalphError
from gitralph.base.ids import is_valid
from gitralph.base.layout import Layout
from gitralph.hook import event_log

_VALUED = ("--run", "--file")


class _UnusualError(Exception):
    """Not for this lane."""


def parse(args: list[str]) -> tuple[list[str], dict[str, str], bool] | None:
    """Words, options with a value, and ``--json``; None for what this lane leaves to click."""
    words: list[str] = []
    valued: dict[str, str] = {}
    as_json = False
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word == "--":
            words += rest
            break
        if word == "--json":
            as_json = True
        elif word in _VALUED and rest:
            valued[word] = rest.pop(0)
        elif word[:1] == "-":
            return None
        else:
            words.append(word)
    return (words, valued, as_json) if 1 <= len(words) <= 2 else None


def _state() -> Layout:
    place = gitdir.discover(os.path.realpath(os.getcwd()))
    if place is None:
        raise _UnusualError
    return layout.for_place(place)


def session_of(environ: dict[str, str]) -> str | None:
    """The session that marks an event: the launcher's, where it is a valid id."""
    given = environ.get("RALPH_SESSION", "")
    return given if is_valid(given) else None


def main(args: list[str]) -> int | None:
    """Write the event; None when the slow lane should answer instead."""
    parsed = parse(args)
    environ = dict(os.environ)
    if parsed is None or (environ.get("GIT_DIR") and not environ.get("RALPH_EVENTS_FILE")):
        return None
    words, valued, as_json = parsed
    try:
        line = event_log.encode(words[0], words[1] if words[1:] else None, as_json, session_of(environ))
        target = event_log.chosen(environ, _state, valued.get("--run"), valued.get("--file"))
        if target.warnings:
            return None
        event_log.append(target, line)
    except (RalphError, OSError, layout.StateError, _UnusualError):
        return None
    return 0
