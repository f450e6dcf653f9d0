"""Draws what is uncommitted, by session, as lines for people: for ``status`` and for the live screen."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence

import click

from gitralph.ask.status import LOOP, NOBODY, YOURS, PathRow, SessionRows, by_name
from gitralph.base.quote import printable, shown
from gitralph.cli.terminal import columns
from gitralph.decide import decision
from gitralph.git.context import Context
from gitralph.records import sessions
from gitralph.words import advice

# A path keeps so many columns before the words behind it are cut too.
_LEAST_PATH = 16


class Here:
    """Shows paths as git's status prints them for people: from the present folder."""

    def __init__(self, ctx: Context) -> None:
        relative = ctx.config.boolean("status.relativepaths", default=True)
        self.folder = ctx.repo.prefix if relative else b""

    def shown(self, path: bytes) -> str:
        """A path for a terminal."""
        return shown(os.path.relpath(path, self.folder) if self.folder else path)


class Paper:
    """Where it is printed: how wide (None for a pipe, where nothing is cut), and whether in colour."""

    def __init__(self, here: Here, called: Callable[[str], str], width: int | None, color: bool) -> None:
        self.here = here
        self.called = called
        self.width = width
        self.color = color

    def paint(self, text: str, color: str | None = None, bold: bool = False) -> str:
        """A text in a colour, where colours are wanted."""
        wanted = self.color and text and (color or bold)
        return click.style(text, fg=color, bold=bold or None) if wanted else text


def ago(when: float | None, short: bool = False) -> str:
    """How long ago something was, in words; ``short`` for a narrow terminal: ``3m``."""
    if not when:
        return ""
    seconds = max(0.0, time.time() - when)
    for unit, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= unit:
            count = int(seconds // unit)
            return f"{count}{name[0]}" if short else f"{count} {name}{'s' * (count != 1)} ago"
    return "now" if short else "just now"


def lines(groups: Sequence[SessionRows], own: Iterable[str], paper: Paper) -> list[str]:
    """Each group under its heading, with a blank line between groups."""
    out: list[str] = []
    mine = set(own)
    rows = [row for group in groups for row in group.rows]
    wide = [max((len(_number(sign, row.counts[at])) for row in rows), default=0) for at, sign in _SIGNS]
    for group in groups:
        out += [""] if out else []
        out.append(_heading(group, group.session in mine, paper))
        out += [_line(row, group, wide, paper) for row in group.rows]
    return out


_SIGNS = ((0, "+"), (1, "-"))


def _number(sign: str, count: int | None) -> str:
    return f"{sign}{count}" if count else ""


def _heading(group: SessionRows, mine: bool, paper: Paper) -> str:
    if group.session is None:
        return paper.paint(group.name, bold=True)
    agent, own = group.agent or group.task or "no agent", "this session" if mine else ""
    forms = [[agent, sessions.said(group.state), ago(group.last), own]]
    # where that is too long: the name tells the agent, and a letter the unit
    forms += [
        [sessions.said(group.state), ago(group.last, short=True), own],
        [own or ago(group.last, short=True)],
    ]
    name = printable(group.name)
    told = [printable(", ".join(fact for fact in facts if fact)) for facts in forms]
    rest = told[0]
    if paper.width is not None:
        room = max(paper.width - columns.width(name) - 2, 1)
        rest = next((text for text in told if columns.width(text) <= room), columns.cut(told[-1], room))
    return paper.paint(name, "green" if mine else "cyan", bold=True) + "  " + rest


def _line(row: PathRow, group: SessionRows, wide: list[int], paper: Paper) -> str:
    numbers = [_number(sign, row.counts[at]) for at, sign in _SIGNS]
    path = paper.here.shown(row.path)
    if row.source is not None:
        path = f"{paper.here.shown(row.source)} -> {path}"
    note, refuses = _note(row, group, paper), row.reason in decision.REFUSING
    if paper.width is not None:
        left = paper.width - 9 - sum(wide)
        room = left - (columns.width(note) + 2 if note else 0)
        path = columns.cut(path, max(room, min(_LEAST_PATH, left)), keep_end=True)
        note = columns.cut(note, max(left - columns.width(path) - 2, 1)) if note else ""
    is_loose = group.session is None and group.name in (NOBODY, YOURS)
    color = "red" if refuses else "yellow" if is_loose else "green"
    cells = [
        "  " + paper.paint(row.letter, color),
        " "
        + paper.paint(columns.pad(numbers[0], wide[0], right=True), "green")
        + " "
        + paper.paint(columns.pad(numbers[1], wide[1], right=True), "red"),
        path,
    ]
    cells += [paper.paint(note, "red" if refuses else "cyan")] if note else []
    return "  ".join(cells).rstrip()


def _note(row: PathRow, group: SessionRows, paper: Paper) -> str:
    """Why a commit would refuse the path, and who else has lines in it."""
    others = ", ".join(sorted(map(paper.called, row.others), key=by_name))
    if group.session is None and group.name == LOOP:
        return "tasks it ticked"
    if group.session is None:
        told = f"beside {others}" if others else ""
        names = [(paper.called(one.session), one.tool) for one in row.likely]
        made = " or ".join(dict.fromkeys(f"{name}'s {tool}" if tool else name for name, tool in names))
        return printable(" ".join(part for part in (told, f"likely {made}" if made else "") if part))
    if row.unrecorded:
        others += (" and " if others else "") + "unrecorded lines"
    word = "" if row.reason is None else advice.said_alone(row.reason)
    if row.reason in decision.UNSURE and not row.others:
        return word  # nobody knows whose the other lines are
    return printable(" ".join(part for part in (word, f"with {others}" if others else "") if part))


def short(groups: Sequence[SessionRows], paper: Paper) -> list[str]:
    """One line for each path: its letter, a mark, the path, its sessions.

    The mark is ``!`` where a commit would be refused, ``?`` for nobody's, ``&`` for several owners'.
    """
    owners: dict[bytes, list[str]] = {}
    found: dict[bytes, tuple[PathRow, bool]] = {}
    for group in groups:
        for row in group.rows:
            owners.setdefault(row.path, []).append(group.name)
            refused = row.reason in decision.REFUSING
            found[row.path] = (
                (found[row.path][0], found[row.path][1] or refused) if row.path in found else (row, refused)
            )
    out = []
    for path, (row, refused) in sorted(found.items()):
        names = owners[path]
        is_loose = row.letter and names in ([NOBODY], [YOURS])
        mark = "!" if refused else "&" if len(names) > 1 else "?" if is_loose else " "
        color = {"!": "red", "?": "yellow"}.get(mark, "green")
        whose = printable(", ".join(names))
        out.append(f"{paper.paint(row.letter + mark, color)} {paper.here.shown(path)}  {whose}")
    return out
