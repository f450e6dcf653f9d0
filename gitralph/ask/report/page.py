"""Makes the page of a report; pure.

The page is one HTML file. It loads nothing, holds no script and shows every name as text.
"""

import html
import time

from gitralph.ask.every_line import age
from gitralph.ask.report import timeline
from gitralph.ask.report.facts import PERSON, Facts, SessionCommit
from gitralph.base.quote import printable
from gitralph.hook.sessionfile import seconds
from gitralph.sessions.spending import UNKNOWN

_ROWS = 500
_STYLE = """
:root { color-scheme: light dark; --bg: #fff; --fg: #1b1f24; --dim: #59636e; --line: #d1d9e0; --soft: #f2f5f8;
  --edit: #2563eb; --life: #dbe4f0; --commit: #15803d; --bad: #c4231c; --gone: #8a6100; }
@media (prefers-color-scheme: dark) {
  :root { --bg: #0f1318; --fg: #e6e9ed; --dim: #9aa4b0; --line: #333c47; --soft: #181e26;
    --edit: #6ea8ff; --life: #253246; --commit: #4ade80; --bad: #ff8078; --gone: #e0b54a; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--fg); background: var(--bg); margin: 0 auto;
  padding: 1.2rem clamp(.8rem, 3vw, 3rem) 4rem; max-width: 1840px; hyphens: none; }
h1 { font-size: 1.5rem; margin: .2rem 0; } h2 { font-size: 1.1rem; margin: 2.2rem 0 .6rem; }
p { margin: .3rem 0; } .dim, small { color: var(--dim); }
code, td.n { font-family: ui-monospace, monospace; font-size: .92em; }
.lanes { border: 1px solid var(--line); border-radius: 8px; padding: .5rem .8rem; overflow: hidden; }
.lane, .axis { display: grid; grid-template-columns: minmax(11rem, 17rem) 1fr; column-gap: 1rem;
  align-items: center; }
.lane { padding: .35rem 0; border-top: 1px solid var(--line); }
.who b, .who small { display: block; } .who small { line-height: 1.3; }
.axis { font-size: .8rem; color: var(--dim); } .axis div { position: relative; height: 1.5rem; }
.tick { position: absolute; white-space: nowrap; padding-left: .25rem; border-left: 1px solid var(--line); }
svg { display: block; overflow: visible; }
.life { fill: var(--life); } .edit { fill: var(--edit); } .pause { fill: var(--soft); }
.commit { fill: var(--commit); stroke: var(--bg); stroke-width: 1.5; }
.gone { fill: var(--bg); stroke: var(--gone); stroke-width: 2; } .refusal { fill: var(--bad); }
.committed, .no-op, .good { color: var(--commit); } .failed, .entangled { color: var(--bad); }
.fate { color: var(--gone); white-space: nowrap; }
.key span { display: inline-block; white-space: nowrap; margin-right: 1.2em; }
.key i { display: inline-block; width: .75em; height: .75em; border-radius: 50%; margin-right: .4em; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { font-weight: 600; color: var(--dim); font-size: .85rem; } td.n, th.n { text-align: right; }
td.w { white-space: nowrap; } summary { cursor: pointer; padding: .5rem 0; color: var(--dim); }
@media (max-width: 700px) {
  .lane { display: block; } .axis { display: block; } .axis > span { display: none; }
  .who b { display: inline-block; margin-right: .6em; } .who small { display: inline; }
  .tick:not(.always) { display: none; }
  thead { display: none; } tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  td { display: block; border: 0; padding: .05rem 0; } td:empty { display: none; }
  td.w, td.n { display: inline-block; margin-right: .9em; white-space: normal; }
  td.n[data-head]::before { content: attr(data-head) " "; color: var(--dim); font-size: .85rem; }
}
"""


def text(value: object) -> str:
    """A value escaped for HTML, whatever it holds."""
    return html.escape(printable(str(value)))


def _path(value: str) -> str:
    """A path as HTML that may go on in the next line behind a slash.

    A name may be longer than a telephone is wide, so it has to break as well. It breaks behind a dot, a dash
    or an underscore from its ninth character on, else after 24 characters.
    """
    parts = []
    run = 0
    for char in printable(value):
        parts.append(html.escape(char))
        run += 1
        if char == "/" or run >= 24 or (run > 8 and char in "._-"):
            parts.append("<wbr>")
            run = 0
    return f"<code>{''.join(parts)}</code>"


def _words(value: object) -> str:
    """Text as HTML. Only a word of more than 24 characters may break inside."""
    rows = []
    for word in printable(str(value)).split(" "):
        pieces = [word[at : at + 24] for at in range(0, len(word), 24)] or [""]
        rows.append("<wbr>".join(html.escape(piece) for piece in pieces))
    return " ".join(rows)


Column = tuple[str, str]
"""A heading and the class of its cells: ``w`` stays on a line, ``n`` is a number."""


def _table(head: list[Column], rows: list[list[str]]) -> str:
    """A table of cells that are HTML already. Rows beyond ``_ROWS`` are folded away."""
    if not rows:
        return '<p class="dim">none</p>'
    top = "<thead><tr>" + "".join(f'<th class="{kind}">{name}</th>' for name, kind in head) + "</tr></thead>"
    lines = []
    for row in rows:
        cells = zip(head, row, strict=True)
        told = [f'<td class="{kind}"{_headed(name, cell)}>{cell}</td>' for (name, kind), cell in cells]
        lines.append(f"<tr>{''.join(told)}</tr>")
    first = f"<table>{top}<tbody>{''.join(lines[:_ROWS])}</tbody></table>"
    if len(lines) <= _ROWS:
        return first
    more = f"<table>{top}<tbody>{''.join(lines[_ROWS:])}</tbody></table>"
    return f"{first}<details><summary>{len(lines) - _ROWS:,} more</summary>{more}</details>"


def _headed(name: str, cell: str) -> str:
    """The attribute that names a cell: on a narrow screen it is shown without the head of the table."""
    return f' data-head="{name}"' if name and cell else ""


def _clock(when: float | None) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(when)) if when is not None else "-"


def _tasks(facts: Facts) -> str:
    several = len({task.run for task in facts.tasks}) > 1
    counted = facts.spent is not None
    rows = [
        [
            *([f"<code>{text(task.run)}</code>"] if several else []),
            _words(task.name),
            f'<span class="{text(task.outcome)}">{text(task.outcome)}</span>',
            _words(facts.called(task.session)) if task.session else "",
            f"<code>{text(task.commit[:8])}</code>" if task.commit else "",
            str(task.files),
            _seconds(task.seconds),
            *([text(spent.sentence() if (spent := facts.of_task(task)) else "")] if counted else []),
            _words(task.detail.split("\n")[0]),
        ]
        for task in facts.tasks
    ]
    head = [
        ("task", ""),
        ("outcome", "w"),
        ("session", "w"),
        ("commit", "w"),
        ("files", "n"),
        ("time", "n"),
        *([("tokens", "")] if counted else []),
        ("", ""),
    ]
    return _table([*([("run", "w")] if several else []), *head], rows)


def _seconds(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _files(facts: Facts) -> str:
    rows = []
    for path, who in facts.files().items():
        names = ", ".join(
            f"{_words(facts.called(session))} ({count})" for session, count in sorted(who.items())
        )
        rows.append([_path(path), str(sum(who.values())), str(len(who)), names])
    return _table([("file", ""), ("edits", "n"), ("sessions", "n"), ("by", "")], rows)


def _contested(facts: Facts) -> str:
    rows = [[_path(path), text(who)] for path, who in facts.contested]
    return _table([("contested now", ""), ("by", "")], rows)


def _refusals(facts: Facts) -> str:
    rows = [
        [_clock(one.time), _words(facts.called(one.session)), _words(one.reason)]
        for one in sorted(facts.refusals, key=lambda one: one.time or 0.0)
    ]
    return _table([("when (UTC)", "w"), ("session", "w"), ("why nothing was committed", "")], rows)


def _spent_on(facts: Facts, one: SessionCommit) -> str:
    if facts.spent is None or one.session not in facts.spent:  # the commit of a person
        return ""
    return facts.spent_on.get((one.session, one.oid), UNKNOWN).sentence()


def _spent(facts: Facts) -> str:
    rows = [
        [_words(facts.called(session)), text(spent.sentence())]
        for session, spent in (facts.spent or {}).items()
    ]
    return _table([("session", "w"), ("tokens", "")], rows)


def _commits(facts: Facts) -> str:
    counted = facts.spent is not None
    rows = [
        [
            _clock(one.time),
            f"<code>{text(one.oid[:8])}</code>",
            _words(facts.called(one.session)),
            _words(one.subject) + (f' <span class="fate">{text(one.fate)}</span>' if one.fate else ""),
            *([text(_spent_on(facts, one))] if counted else []),
        ]
        for one in sorted(facts.commits, key=lambda one: one.time)
    ]
    head = [("when (UTC)", "w"), ("commit", "w"), ("session", "w"), ("subject", "")]
    return _table([*head, *([("tokens", "")] if counted else [])], rows)


def _elsewhere(facts: Facts) -> str:
    rows = [
        [
            _clock(seconds(one.time) or 0.0),
            f"<code>{text(one.commit[:8])}</code>",
            f"<code>{text(one.session)}</code>",
            text(" ".join(part for part in (one.agent, one.model) if part)),
            str(one.files),
            str(one.lines),
            f"log of <code>{text(one.writer)}</code>, read {text(age(one.synced))}",
        ]
        for one in facts.elsewhere
    ]
    head = [
        ("when (UTC)", "w"),
        ("commit", "w"),
        ("session", "w"),
        ("agent", ""),
        ("files", "n"),
        ("lines", "n"),
        ("known from the", ""),
    ]
    return _table(head, rows)


_KEY = (
    ("edit", "edits"),
    ("commit", "commit"),
    ("gone", "amended or taken back"),
    ("bad", "refused or failed"),
)


def _key() -> str:
    """The legend: what the marks of the timeline mean."""
    said = []
    for name, words in _KEY:
        filled = f"background:var(--{name})"
        style = "background:var(--bg);border:2px solid var(--gone)" if name == "gone" else filled
        said.append(f'<span><i style="{style}"></i>{words}</span>')
    return f'<p class="key dim">{"".join(said)}</p>'


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _moment(stamp: str) -> str:
    """A time in the tables' form, kept on one line: a browser would break it behind a hyphen."""
    return f'<span style="white-space:nowrap">{text(stamp.replace("T", " ").removesuffix("Z"))}</span>'


def render(facts: Facts) -> str:
    """The whole page."""
    title = text(facts.title)
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    counts = [
        _count(sum(not lane.session.startswith(PERSON) for lane in facts.lanes), "session"),
        _count(len(facts.edits), "edit"),
        _count(len(facts.commits), "commit"),
    ]
    cut = f" ({facts.cut:,} older edits are not shown)" if facts.cut else ""
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<link rel="icon" href="data:,">',
        f"<title>{title}: git ralph report</title><style>{_STYLE}</style></head><body>",
        f"<h1>{_words(facts.title)}</h1>",
        f'<p class="dim">{" · ".join(counts)}{cut} · made {_moment(facts.made)}, all times in UTC</p>',
        f"<h2>Sessions over time</h2>{_key()}{timeline.draw(facts, text)}",
    ]
    if facts.tasks:
        parts.append(f"<h2>Tasks</h2>{_tasks(facts)}")
    parts.append(f"<h2>Commits</h2>{_commits(facts)}")
    if facts.spent is not None:
        parts.append(f"<h2>Tokens</h2>{_spent(facts)}")
    if facts.contested:
        parts.append(f"<h2>Contested</h2>{_contested(facts)}")
    if facts.branches:
        parts.append(f"<h2>Branches</h2>{_table([('branch', '')], [[text(one)] for one in facts.branches])}")
    if facts.refusals:
        parts.append(f"<h2>Not committed</h2>{_refusals(facts)}")
    if facts.elsewhere:
        parts.append(f"<h2>Elsewhere in the fleet</h2>{_elsewhere(facts)}")
    parts += [f"<h2>Files</h2>{_files(facts)}", "</body></html>"]
    return "\n".join(parts) + "\n"
