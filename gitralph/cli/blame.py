"""``git ralph blame``."""

import click

from gitralph.ask import annotated as blaming
from gitralph.ask import every_line
from gitralph.ask.annotated import BlameLine
from gitralph.ask.every_line import Finding
from gitralph.ask.trace import kept_notes
from gitralph.base.errors import UsageError
from gitralph.cli.terminal import columns, history_end, options, output
from gitralph.cli.terminal.pager import pager
from gitralph.decide import reading
from gitralph.git.context import Context

_WHO, _WHO_NARROW = 24, 12
_LONG_ID = 20  # as agents give them: a UUID has 36


@click.command("blame", cls=options.Command)
@click.option("--porcelain", is_flag=True, help="Print git blame's own format for programs.")
@options.as_json
@click.argument("path", metavar="[--] <path>", type=click.UNPROCESSED)
def blame(path: str, porcelain: bool, as_json: bool) -> None:
    """Show for every line of a file whose it is: session or author, and the commit, or that it is pending."""
    if porcelain and as_json:
        raise UsageError("--porcelain and --json are two forms of one answer")
    ctx = options.context(create=False)
    kept_notes.write_new_notes(ctx)
    tree_path = reading.tree_path(ctx, path)
    rows = blaming.rows(ctx, tree_path)
    if porcelain:
        output.raw(b"".join(blaming.porcelain(tree_path, row) for row in rows))
    elif as_json:
        told = [_document(ctx, row) for row in rows]
        output.as_json({"path": output.text(tree_path), "lines": told})
    else:
        room = output.room()
        with pager(ctx, "blame"):
            _show(ctx, rows, room is None or room >= columns.ROOMY)
        history_end.tell(ctx, [row.found for row in rows])


def _document(ctx: Context, row: BlameLine) -> dict[str, object]:
    session = row.found.session
    named = ctx.called(session) if session is not None else None
    return {**row.found._asdict(), "name": named, "author": row.author or None}


def _show(ctx: Context, rows: list[BlameLine], roomy: bool) -> None:
    """One row for each line, with the line uncut; in a narrow terminal a row leaves out the day."""
    who = [_who(ctx, row) for row in rows]
    wide = min(max(map(columns.width, who), default=0), _WHO if roomy else _WHO_NARROW)
    digits = len(str(len(rows)))
    for row, name in zip(rows, who, strict=True):
        place = f"{_state(row.found):8} {columns.pad(columns.cut(name, wide), wide)}"
        day = f" {(row.found.time or '')[:10]:10}" if roomy else ""
        text = row.line.text.decode("utf-8", "replace")
        output.content(f"{place}{day} {row.found.line:{digits}}) {text}")


def _state(found: Finding) -> str:
    if found.commit is not None:
        return f"^{found.commit[:7]}" if found.boundary else found.commit[:8]  # as git blame marks it
    return "pending" if found.state == every_line.PENDING else "-"


def _who(ctx: Context, row: BlameLine) -> str:
    """The session's name; without a session the commit's author, or nobody."""
    found = row.found
    if found.session is not None:
        name = ctx.called(found.session)
        if name != found.session:
            return name
        # In a clone no session has a name. A long id is cut as git cuts an oid, so the agent stays in sight.
        short = name if len(name) <= _LONG_ID else name[:8]
        return f"{short} ({found.agent})" if found.agent else short
    if found.one_of:
        given = ", ".join(map(ctx.called, found.one_of))
        return f"one of {given}" if len(found.one_of) > 1 else f"perhaps {given}"
    if found.agent is not None:
        return f"{found.agent} ({found.source})"
    if found.boundary:
        return "not known"
    return row.author if found.commit is not None else "nobody"
