"""Draws sessions as lanes over time, as SVG: edits gathered by column so that many stay readable; pure."""

import time
from collections.abc import Callable

from gitralph.report.facts import Edit, Facts, Lane

WIDTH, LEFT, ROW, TOP = 1140, 240, 26, 30
_COLUMN = 4
_NAMED = 5
_TICKS = 6
Text = Callable[[object], str]


class _Scale:
    """Seconds to pixels."""

    def __init__(self, facts: Facts) -> None:
        times = [edit.time for edit in facts.edits] + [one.time for one in facts.commits]
        times += [t for lane in facts.lanes for t in (lane.begin, lane.end) if t is not None]
        times += [one.time for one in facts.refusals if one.time is not None]
        self.first = min(times, default=0.0)
        self.last = max(times, default=1.0)
        self.span = max(self.last - self.first, 1.0)

    def x(self, when: float) -> float:
        return LEFT + (when - self.first) / self.span * (WIDTH - LEFT - 16)


def draw(facts: Facts, text: Text) -> str:
    """The timeline. ``text`` makes text of a name."""
    if not facts.lanes:
        return "<p>no session has been recorded</p>"
    scale, height = _Scale(facts), TOP + ROW * len(facts.lanes) + 8
    parts = [f'<svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">']
    parts += _axis(scale, height)
    at = {lane.session: TOP + ROW * row for row, lane in enumerate(facts.lanes)}
    for lane in facts.lanes:
        parts += _lane(lane, at[lane.session], scale, text)
    parts += _edits(facts, at, scale, text)
    for one in facts.commits:
        if one.session in at:
            label = f"{one.oid[:10]} {one.subject}"
            parts.append(_mark("commit", scale.x(one.time), at[one.session], text(label)))
    for refusal in facts.refusals:
        if refusal.session in at and refusal.time is not None:
            parts.append(_mark("refusal", scale.x(refusal.time), at[refusal.session], text(refusal.reason)))
    return "\n".join([*parts, "</svg>"])


def _axis(scale: _Scale, height: int) -> list[str]:
    out = []
    form = "%H:%M:%S" if scale.span < 86400 else "%m-%d %H:%M"
    for tick in range(_TICKS + 1):
        when = scale.first + scale.span * tick / _TICKS
        x = scale.x(when)
        anchor = "end" if tick == _TICKS else "middle" if tick else "start"
        label = time.strftime(form, time.gmtime(when))
        out.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 8}" y2="{height}"/>')
        out.append(f'<text x="{x:.1f}" y="{TOP - 14}" text-anchor="{anchor}">{label}</text>')
    return out


def _lane(lane: Lane, y: int, scale: _Scale, text: Text) -> list[str]:
    name = lane.session if len(lane.session) <= 32 else lane.session[:15] + "..." + lane.session[-14:]
    begin = scale.x(lane.begin if lane.begin is not None else scale.first)
    end = scale.x(lane.end if lane.end is not None else scale.last)
    title = f"<title>{text(f'{lane.session} {lane.label} ({lane.state})')}</title>"
    return [
        f'<text x="4" y="{y + 14}">{text(name)}{title}</text>',
        f'<rect class="life" x="{begin:.1f}" y="{y + 3}" width="{max(end - begin, 2):.1f}"'
        f' height="{ROW - 8}">{title}</rect>',
    ]


def _edits(facts: Facts, at: dict[str, int], scale: _Scale, text: Text) -> list[str]:
    """A bar per lane and column, higher for more edits, with the first few named."""
    columns: dict[tuple[str, int], list[Edit]] = {}
    for edit in facts.edits:
        if edit.session in at:
            columns.setdefault((edit.session, int(scale.x(edit.time) // _COLUMN)), []).append(edit)
    out = []
    for (session, column), found in columns.items():
        height = min(4 + 2 * len(found), ROW - 8)
        y = at[session] + ROW - 5 - height
        names = [f"{edit.op} {edit.path}" for edit in found[:_NAMED]]
        if len(found) > _NAMED:
            names.append(f"and {len(found) - _NAMED} more")
        out.append(
            f'<rect class="edit" x="{column * _COLUMN}" y="{y}" width="{_COLUMN - 1}" height="{height}">'
            f"<title>{text(f'{len(found)} edits: ' + '; '.join(names))}</title></rect>"
        )
    return out


def _mark(kind: str, x: float, y: int, title: str) -> str:
    return (
        f'<circle class="{kind}" cx="{x:.1f}" cy="{y + ROW // 2 - 1}" r="5"><title>{title}</title></circle>'
    )
