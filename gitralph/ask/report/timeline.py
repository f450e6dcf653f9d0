"""Draws the timeline of a report, one lane for each session; pure.

Places are in per cent of the width, so that the page may have any width. Edits are gathered by column, so
that a thousand stay readable. A long pause in which nothing happened is drawn as a short gap: agents work for
minutes and rest for nights.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from gitralph.ask.report.facts import Edit, Facts, Lane

ROW = 28
_COLUMNS = 200
"""The most bars of a lane. On a telephone 360 pixels wide, a bar is more than a pixel wide."""
_NAMED = 5
_PAUSE, _SHARE = 1800.0, 0.08
"""A pause is cut out when it is longer than both: so many seconds, and such a share of the whole."""
_GAP, _LEAST = 2.5, 4.0
"""In per cent: the width of a pause that was cut out, and the least width of a stretch of work."""
_APART, _APART_NARROW = 11.0, 34.0
"""In per cent: labels of the axis that are closer are left out, on wide and on narrow screens."""
Text = Callable[[object], str]


@dataclass(frozen=True)
class _Stretch:
    """A time without a long pause, and where it is drawn, in per cent."""

    first: float
    last: float
    left: float
    right: float


class Scale:
    """Turns times into per cent of the width, with long pauses cut out."""

    def __init__(self, times: list[float]) -> None:
        known = sorted(set(times)) or [0.0]
        whole = known[-1] - known[0]
        # A run of minutes stays whole. Of two days, a pause above 3.8 hours is cut out, so the night is.
        pause = max(_PAUSE, whole * _SHARE)
        runs = [[known[0], known[0]]]
        for when in known[1:]:
            if when - runs[-1][1] > pause:
                runs.append([when, when])
            runs[-1][1] = when
        # With so many stretches, each would be too narrow to read. Then nothing is cut out.
        if len(runs) * (_GAP + _LEAST) > 100:
            runs = [[known[0], known[-1]]]
        room = 100.0 - _GAP * (len(runs) - 1) - _LEAST * len(runs)
        work = sum(last - first for first, last in runs) or 1.0
        self.stretches: list[_Stretch] = []
        at = 0.0
        for first, last in runs:
            end = at + _LEAST + room * (last - first) / work
            self.stretches.append(_Stretch(first, last, at, end))
            at = end + _GAP

    def x(self, when: float) -> float:
        """Where a time is drawn, in per cent from the left."""
        for one in self.stretches:
            if when <= one.last or one is self.stretches[-1]:
                span = one.last - one.first
                # A stretch of one moment is drawn in its middle.
                part = (when - one.first) / span if span else 0.5
                return one.left + min(max(part, 0.0), 1.0) * (one.right - one.left)
        return 100.0


def times(facts: Facts) -> list[float]:
    """Every time that has a mark on the page."""
    found = [edit.time for edit in facts.edits] + [one.time for one in facts.commits]
    found += [one.time for one in facts.refusals if one.time is not None]
    return found or [t for lane in facts.lanes for t in (lane.begin, lane.end) if t is not None]


def draw(facts: Facts, text: Text) -> str:
    """The timeline as HTML. ``text`` escapes a name for it."""
    if not facts.lanes:
        return "<p>no session has been recorded</p>"
    scale = Scale(times(facts))
    lanes = "\n".join(_lane(facts, lane, scale, text) for lane in facts.lanes)
    return f'<div class="lanes">\n{time_axis(scale)}\n{lanes}\n</div>'


def time_axis(scale: Scale) -> str:
    """The times above the lanes, in UTC.

    The day stands only where it changes. No label comes twice in a row, or too near another.
    """
    marks = [(one.left, one.first) for one in scale.stretches]
    for one in scale.stretches:
        span = one.right - one.left
        for part in range(1, int(span // (_APART * 1.6)) + 1):
            share = part / (int(span // (_APART * 1.6)) + 1)
            marks.append((one.left + span * share, one.first + (one.last - one.first) * share))
    minutes = [int(when // 60) for _, when in sorted(marks)]
    form = "%H:%M" if len(set(minutes)) == len(minutes) else "%H:%M:%S"
    out, day, last, free, narrow = [], "", "", 0.0, -100.0
    for x, when in sorted(marks):
        stamp = time.gmtime(when)
        today, clock = time.strftime("%d %b", stamp), time.strftime(form, stamp)
        if x < free or x > 92 or (today, clock) == (day, last):
            continue
        # A label with seconds or a day takes more room.
        free = x + _APART * len(f"{clock} {'' if today == day else today}") / len("12:00 ")
        last = clock
        kind = "tick"
        if x - narrow >= _APART_NARROW:
            narrow = x
            kind = "tick always"
        label = f"<b>{today}</b> {clock}" if today != day else clock
        day = today
        out.append(f'<span class="{kind}" style="left:{x:.2f}%">{label}</span>')
    return f'<div class="axis"><span></span><div>{"".join(out)}</div></div>'


def _lane(facts: Facts, lane: Lane, scale: Scale, text: Text) -> str:
    edits = [edit for edit in facts.edits if edit.session == lane.session]
    mine = [one for one in facts.commits if one.session == lane.session]
    counts = f"{_number(len(edits), 'edit')}, {_number(len(mine), 'commit')}"
    about = " · ".join(part for part in (lane.label, lane.state, counts) if part)
    parts = [*_pauses(scale), _life(lane, edits, scale, text), *_edits(edits, scale, text)]
    for one in mine:
        label = f"commit {one.oid[:8]} {one.subject}" + (f" ({one.fate})" if one.fate else "")
        parts.append(_mark("commit gone" if one.fate else "commit", scale.x(one.time), text(label)))
    for refusal in facts.refusals:
        if refusal.session == lane.session and refusal.time is not None:
            parts.append(_mark("refusal", scale.x(refusal.time), text(refusal.reason)))
    said = text(f"{lane.called}: {about}")
    return (
        f'<div class="lane"><div class="who" title="{text(lane.session)}"><b>{text(lane.called)}</b>'
        f"<small>{text(about)}</small></div>"
        f'<svg width="100%" height="{ROW}" role="img" aria-label="{said}">'
        f"{''.join(parts)}</svg></div>"
    )


def _number(count: int, word: str) -> str:
    return f"{count:,}\N{NO-BREAK SPACE}{word}{'' if count == 1 else 's'}"


def _pauses(scale: Scale) -> list[str]:
    pairs = zip(scale.stretches, scale.stretches[1:], strict=False)
    return [
        f'<rect class="pause" x="{a.right:.2f}%" width="{b.left - a.right:.2f}%" y="0" height="{ROW}">'
        f"<title>nothing for {_duration(b.first - a.last)}</title></rect>"
        for a, b in pairs
    ]


def _duration(seconds: float) -> str:
    for unit, word in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= unit:
            return _number(int(seconds // unit), word)
    return _number(int(seconds), "second")


def _life(lane: Lane, edits: list[Edit], scale: Scale, text: Text) -> str:
    began = lane.begin if lane.begin is not None else min((edit.time for edit in edits), default=None)
    if began is None:
        return ""
    left = scale.x(began)
    right = scale.x(lane.end) if lane.end is not None else 100.0
    title = text(f"{lane.called} {lane.label} ({lane.state})")
    return (
        f'<rect class="life" x="{left:.2f}%" width="{max(right - left, 0.4):.2f}%" y="5"'
        f' height="{ROW - 10}" rx="3"><title>{title}</title></rect>'
    )


def _edits(edits: list[Edit], scale: Scale, text: Text) -> list[str]:
    """A bar for each column that has edits: the more, the higher. Its title names the first few."""
    columns: dict[int, list[Edit]] = {}
    for edit in edits:
        columns.setdefault(min(int(scale.x(edit.time) * _COLUMNS / 100), _COLUMNS - 1), []).append(edit)
    out = []
    for column, found in columns.items():
        height = min(6 + 2 * len(found), ROW - 6)
        names = [f"{edit.op} {edit.path}" for edit in found[:_NAMED]]
        if len(found) > _NAMED:
            names.append(f"and {len(found) - _NAMED} more")
        title = text(_number(len(found), "edit") + ": " + "; ".join(names))
        out.append(
            f'<rect class="edit" x="{column * 100 / _COLUMNS:.2f}%" y="{ROW - 3 - height}"'
            f' width="{100 / _COLUMNS:.2f}%" height="{height}">'
            f"<title>{title}</title></rect>"
        )
    return out


def _mark(kind: str, x: float, title: str) -> str:
    # Kept off both ends, so that the first and the last circle are seen whole.
    return (
        f'<circle class="{kind}" cx="{min(max(x, 0.6), 99.4):.2f}%" cy="{ROW // 2}" r="5">'
        f"<title>{title}</title></circle>"
    )
