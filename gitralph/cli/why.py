"""``git ralph why``."""

import os

import click

from gitralph.ask import every_line
from gitralph.ask import why as explaining
from gitralph.ask.every_line import Finding
from gitralph.ask.trace import kept_notes
from gitralph.cli.terminal import options, output
from gitralph.decide import reading
from gitralph.git.context import Context


def _source(found: Finding) -> str | None:
    """The source of a finding for a person; None for the records of this clone, which need no word."""
    if found.source in (every_line.FLEET, every_line.FLEET_CONTENT):
        by = "by content, " if found.source == every_line.FLEET_CONTENT else ""
        return f"{by}fleet log of member {found.writer}, synced {every_line.age(found.synced)}"
    return {
        every_line.CONTENT: "by content",
        every_line.MESSAGE: "by the commit's message",
        every_line.NOTE: "by git-ai's note",
    }.get(found.source or "")


def _split(typed: str) -> tuple[str, int | None]:
    """``path:line`` in its parts; a path that exists wins over a line number."""
    path, colon, line = typed.rpartition(":")
    if colon and path and line.isdigit() and not os.path.lexists(typed):
        return path, int(line)
    return typed, None


@click.command("why", cls=options.Command)
@click.argument("place", metavar="<path>[:<line>]")
@options.as_json
def why(place: str, as_json: bool) -> None:
    """Show the recorded evidence for a path or a line: who, by what tool, when, in which commit."""
    ctx = options.context(create=False)
    typed, line = _split(place)
    kept_notes.write_new_notes(ctx)
    path = reading.tree_path(ctx, typed)
    if line is None:
        found = explaining.records(ctx, path)
    else:
        found = [explaining.line_of(ctx, path, line)]
    if as_json:
        output.as_json({"path": output.text(path), "findings": [_document(ctx, one) for one in found]})
        return
    if not found:
        output.say("nobody recorded anything for this path")
    for one in found:
        output.say(_sentence(ctx, one))


def _document(ctx: Context, one: Finding) -> dict[str, object]:
    return {**one._asdict(), "name": ctx.called(one.session) if one.session else None}


def _sentence(ctx: Context, one: Finding) -> str:
    where = f"line {one.line}: " if one.line is not None else f"{one.time or '-'}  "
    if one.state == every_line.NOBODY:
        return f"{where}nobody recorded it; uncommitted"
    state = f"commit {one.commit[:12]}" if one.commit else one.state
    if one.one_of:
        names = ", ".join(f"'{ctx.called(name)}'" for name in one.one_of)
        return f"{where}{state}, one of the sessions {names}"
    if one.session is None and one.agent is None:
        return f"{where}{state}, no session"
    facts = [f"session '{ctx.called(one.session)}'"] if one.session else []
    facts += [f"{name} {value}" for name, value in _facts(one) if value]
    known = _source(one)
    return f"{where}{state}, " + ", ".join(facts) + (f" ({known})" if known else "")


def _facts(one: Finding) -> list[tuple[str, str | None]]:
    return [
        ("agent", one.agent),
        ("agent id", one.agent_id),
        ("model", one.model),
        ("tool", one.tool),
        ("call", one.call),
        ("at", one.time if one.line is not None else None),
        ("op", one.op if one.line is None else None),
        ("lines", _KNOWN.get(one.exact or "") if one.line is None else None),
    ]


# How exactly an edit is known, for people; ``--json`` has the word of the record.
_KNOWN = {
    "payload": "recorded as the agent told them",
    "window": "recorded as they were before and after",
    "shell": "recorded from its shell command",
    "none": "not recorded",
}
