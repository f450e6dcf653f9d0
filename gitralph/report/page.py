"""Makes the page: one HTML file with nothing from elsewhere and no script, every name as text; pure."""

import html
import time

from gitralph.base.quote import printable
from gitralph.report import timeline
from gitralph.report.facts import Facts

_ROWS = 500
_STYLE = """
:root { color-scheme: light dark; --line: #8884; --edit: #2563eb; --commit: #16a34a; --bad: #dc2626; }
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 1180px; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .2rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top;
  overflow-wrap: anywhere; }
td.n { text-align: right; } code { font: 12px ui-monospace, monospace; }
.scroll { overflow-x: auto; } svg text { font: 11px system-ui, sans-serif; fill: currentColor; }
.life { fill: #8883; } .edit { fill: var(--edit); } .axis { stroke: var(--line); }
.commit { fill: var(--commit); } .refusal { fill: var(--bad); }
.committed, .no-op { color: var(--commit); } .failed, .entangled { color: var(--bad); }
.key i { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 1em; }
"""


def text(value: object) -> str:
    """A value as text in HTML, whatever it holds."""
    return html.escape(printable(str(value)))


def _table(head: list[str], rows: list[list[str]]) -> str:
    """A table of cells that are HTML already; what is too long for a page is folded away."""
    if not rows:
        return "<p>none</p>"
    top = "<tr>" + "".join(f"<th>{cell}</th>" for cell in head) + "</tr>"
    lines = ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows]
    first = f"<div class=scroll><table>{top}{''.join(lines[:_ROWS])}</table></div>"
    if len(lines) <= _ROWS:
        return first
    more = f"<div class=scroll><table>{top}{''.join(lines[_ROWS:])}</table></div>"
    return f"{first}<details><summary>{len(lines) - _ROWS} more</summary>{more}</details>"


def _clock(when: float | None) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(when)) if when is not None else "-"


def _tasks(facts: Facts) -> str:
    rows = [
        [
            text(task.run), text(task.name),
            f'<span class="{text(task.outcome)}">{text(task.outcome)}</span>',
            f"<code>{text(task.commit[:10])}</code>", str(task.files), f"{task.seconds:.0f} s",
            text(task.detail.split("\n")[0]),
        ]
        for task in facts.tasks
    ]  # fmt: skip
    return _table(["run", "task", "outcome", "commit", "files", "time", ""], rows)


def _files(facts: Facts) -> str:
    rows = []
    for path, who in facts.files().items():
        names = ", ".join(f"{text(session)} ({count})" for session, count in sorted(who.items()))
        rows.append([f"<code>{text(path)}</code>", str(sum(who.values())), str(len(who)), names])
    return _table(["file", "edits", "sessions", "by"], rows)


def _contested(facts: Facts) -> str:
    rows = [[f"<code>{text(path)}</code>", text(who)] for path, who in facts.contested]
    return _table(["contested now", "by"], rows)


def _refusals(facts: Facts) -> str:
    rows = [[_clock(one.time), text(one.session), text(one.reason)] for one in facts.refusals]
    return _table(["when (UTC)", "session", "why nothing was committed"], rows)


def _commits(facts: Facts) -> str:
    rows = [
        [_clock(one.time), f"<code>{text(one.oid[:10])}</code>", text(one.session), text(one.subject)]
        for one in facts.commits
    ]
    return _table(["when (UTC)", "commit", "session", "subject"], rows)


def render(facts: Facts) -> str:
    """The whole page."""
    title = text(facts.title)
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    counts = f"{len(facts.lanes)} sessions, {len(facts.edits)} edits, {len(facts.commits)} commits"
    cut = f" ({facts.cut} more edits are not shown)" if facts.cut else ""
    key = (
        '<p class=key><i style="background:var(--edit)"></i>edits<i style="background:var(--commit)"></i>'
        'commit<i style="background:var(--bad)"></i>refused or failed</p>'
    )
    parts = [
        "<!doctype html>", '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width">', '<link rel="icon" href="data:,">',
        f"<title>{title}: git ralph report</title><style>{_STYLE}</style></head><body>",
        f"<h1>{title}</h1><p>{counts}{cut}. Made {text(facts.made)}.</p>",
        f"<h2>Sessions over time</h2>{key}<div class=scroll>{timeline.draw(facts, text)}</div>",
        f"<h2>Tasks</h2>{_tasks(facts)}",
        f"<h2>Contested and refused</h2>{_contested(facts)}{_refusals(facts)}",
        f"<h2>Commits</h2>{_commits(facts)}", f"<h2>Files</h2>{_files(facts)}", "</body></html>",
    ]  # fmt: skip
    return "\n".join(parts) + "\n"
