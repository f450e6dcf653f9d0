"""What an agent is told before it edits near another live session's lines: whose, which ones, since when.

A hook loads this module only where such a session has records of the path. It only informs: the edit goes on.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import NamedTuple

from gitralph.ask.every_line import age
from gitralph.base.ids import digest
from gitralph.base.quote import printable, shown
from gitralph.decide import by_pieces, open_lines
from gitralph.decide.open_lines import OpenLine, OpenPath
from gitralph.git.context import Context, in_worktree, open_context, root_with
from gitralph.git.texts import with_line_feeds
from gitralph.git.typed import as_name
from gitralph.hook import entry, others, record, sessionfile
from gitralph.hook.agents import writing
from gitralph.hook.entry import Found
from gitralph.hook.event import Change, Event, session_of
from gitralph.hook.journal import full_lines
from gitralph.hook.locate import Target
from gitralph.hook.others import Company
from gitralph.hook.reconcile import normal
from gitralph.lines.linediff import Range, ranges
from gitralph.records import path_records

NOTE, OFF = "note", "off"
# Lines this close are read together, and a change of one is likely to touch the other.
NEAR = 5
# Nobody reads a longer list. Whose the first lines are, and where, is enough.
_SPANS = 4


class _Theirs(NamedTuple):
    """What one session has uncommitted in a path: its lines in its own file, and their places in ours."""

    session: str
    company: Company
    root: str
    lines: tuple[OpenLine, ...]
    places: tuple[Range, ...]


def told(event: Event, found: Sequence[Found], environ: Mapping[str, str]) -> str | None:
    """The one line to tell; None where no such lines are near, or where it was told already."""
    session = session_of(event, environ)
    if session is None:
        return None
    out = []
    for change, target, companies, seen in found:
        os.chdir(target.place.root)
        ctx = open_context(environ, create=False)
        with closing(ctx.repo):
            if _is_off(ctx):
                return None
            said = _of_path(ctx, event, session, change, target, companies, seen)
        out += [said] if said else []
    return "; ".join(out) or None


def _is_off(ctx: Context) -> bool:
    value = ctx.config.get("ralph.headsup") or NOTE
    if value not in (NOTE, OFF):
        entry.log(ctx.layout, f"bad value '{printable(value)}' for 'ralph.headsUp', taken for '{NOTE}'")
    return value == OFF


def _of_path(
    ctx: Context,
    event: Event,
    session: str,
    change: Change,
    target: Target,
    companies: Iterable[Company],
    seen: str,
) -> str | None:
    own = set(path_records.family(ctx.layout, session))
    disk = record.look(target.file).text
    theirs = [one for company in companies for one in _theirs(ctx, company, target, own, disk)]
    state = _state(theirs)
    if not theirs or others.told(ctx.layout, session, target.path).get("lines") == state:
        others.note(ctx.layout, session, target.path, seen, state)
        return None
    places = _places(event, change, disk)
    if not any(_is_near(one, places) for one in theirs):
        return None
    others.note(ctx.layout, session, target.path, seen, state)
    return "; ".join(_sentence(ctx, event, one, target) for one in theirs if _is_near(one, places))


def _theirs(
    ctx: Context, company: Company, target: Target, own: set[str], disk: bytes | None
) -> list[_Theirs]:
    root = root_with(ctx, company.layout)
    if root is None or not os.path.isdir(root):
        return []
    there = ctx if root == ctx.repo.root else in_worktree(ctx, root)
    found = dict(open_lines.read(there, [target.path])).get(target.path, OpenPath())
    shift = _mapped(disk, found.disk) if there is not ctx else None
    out = []
    for session in company.sessions:
        family = set(path_records.family(ctx.layout, session)) - own
        lines = tuple(line for line in found.lines if line.owner in family)
        if session not in own and (lines or not family.isdisjoint(found.whole - {None})):
            places = tuple(_place(line, shift) for line in lines)
            out.append(_Theirs(session, company, root, lines, places))
    return out


def _mapped(here: bytes | None, there: bytes | None) -> list[Range]:
    return ranges(full_lines(with_line_feeds(here or b"")), full_lines(with_line_feeds(there or b"")))


def _place(line: OpenLine, shift: Sequence[Range] | None) -> Range:
    """A line's place in the file here, as a range from 0; the last two values are not used."""
    at, moved = line.number - 1, 0
    for first, last, theirs, end in shift or ():
        if theirs <= at < end:
            return first, last, 0, 0
        if end <= at:
            moved = last - end
    at += moved
    return at, at + (not line.removed), 0, 0


def _places(event: Event, change: Change, disk: bytes | None) -> list[Range] | None:
    """The lines of the file that the call is about to change, None where nobody can tell."""
    if change.op != "edit" or disk is None:
        return None
    before = normal(disk)
    after = writing.intended(event, change, before)
    if after is None:
        return None
    return ranges(before.encode().splitlines(True), after.encode("utf-8", "replace").splitlines(True))


def _is_near(one: _Theirs, places: Sequence[Range] | None) -> bool:
    if places is None or not one.lines:
        return True
    return any(
        first - NEAR <= max(end - 1, start) and start <= max(last - 1, first) + NEAR
        for first, last, _, _ in places
        for start, end, _, _ in one.places
    )


def _state(theirs: Iterable[_Theirs]) -> str:
    """A value that changes when the session gets a new line.

    Places do not count, since the agent's own edits move them.
    """
    rows = [
        (one.company.layout.token, one.session, *sorted((line.removed, line.text) for line in one.lines))
        for one in theirs
    ]
    return digest(repr(sorted(rows, key=repr)).encode())[:16]


def _spans(lines: Sequence[OpenLine]) -> str:
    """Line numbers as people write them: ``lines 3-5 and 9``."""
    spans = by_pieces.ranges(line.number for line in lines if not line.removed)
    said = [str(a) if a == b else f"{a}-{b}" for a, b in spans[:_SPANS]]
    said += ["more"] if len(spans) > _SPANS else []
    words = "lines" if len(said) > 1 or "-" in said[0] else "line"
    return f"{words} {', '.join(said[:-1])}{' and ' if len(said) > 1 else ''}{said[-1]}"


def _what(lines: Sequence[OpenLine], path: bytes) -> str:
    where = f"'{shown(path)}'"
    if not lines:
        return f"uncommitted changes in {where}"
    removed = [line for line in lines if line.removed]
    if len(removed) == len(lines):
        return f"uncommitted removals in {where} before line {removed[0].number}"
    return f"uncommitted {_spans(lines)} in {where}"


def _sentence(ctx: Context, event: Event, one: _Theirs, target: Target) -> str:
    kept = sessionfile.read(ctx.layout, one.session) or {}
    agent = kept.get("agent")
    called = ctx.called(one.session)
    who = f"session '{called}'" + (f" ({printable(agent)})" if isinstance(agent, str) and agent else "")
    since = min((line.since for line in one.lines if line.since), default="")
    when = f", since {printable(since)} ({age(sessionfile.seconds(since))})" if since else ""
    elsewhere = one.root != ctx.repo.root
    where = f", in worktree '{shown(os.fsencode(one.root))}'" if elsewhere else ""
    at_root = not elsewhere and event.cwd is not None and os.path.realpath(event.cwd) == one.root
    git = "git ralph" if at_root else f"git -C {shlex.quote(one.root)} ralph"
    name = as_name(ctx, target.path)
    if any(not line.removed for line in one.lines):
        look = f"{git} blame {name}"
    else:
        look = f"{git} diff --session {shlex.quote(called)} -- {name}"
    return f"{who} has {_what(one.lines, target.path)}{when}{where}; see them: {look}"
