"""``git ralph why``."""

import os

import click

from gitralph.ask import every_line, prompts
from gitralph.ask import why as explaining
from gitralph.ask.every_line import Finding
from gitralph.ask.prompts import Asked
from gitralph.ask.trace import kept_notes
from gitralph.cli.terminal import history_end, options, output
from gitralph.decide import reading
from gitralph.git.context import Context


def _source(found: Finding) -> str | None:
    """The source of a finding for a person; None for this clone's records, which need no word."""
    if found.source in (every_line.FLEET, every_line.FLEET_CONTENT):
        by = "by content, " if found.source == every_line.FLEET_CONTENT else ""
        return f"{by}fleet log of member {found.writer}, synced {every_line.age(found.synced)}"
    return {
        every_line.CONTENT: "by content",
        every_line.MESSAGE: "by the commit's message",
        every_line.NOTE: "by git-ai's note",
    }.get(found.source or "")


def _split(typed: str) -> tuple[str, int | None]:
    """Split ``path:line``; an existing path of that whole name comes before a line number."""
    path, colon, line = typed.rpartition(":")
    if colon and path and line.isdigit() and not os.path.lexists(typed):
        return path, int(line)
    return typed, None


@click.command("why", cls=options.Command)
@click.argument("place", metavar="<path>[:<line>]")
@click.option("--prompt", "asks", is_flag=True, help="Also what was asked, from the agent's own transcript.")
@options.as_json
def why(place: str, asks: bool, as_json: bool) -> None:
    """Show the recorded evidence for a path or a line: who, by what tool, when, in which commit."""
    ctx = options.context(create=False)
    typed, line = _split(place)
    kept_notes.write_new_notes(ctx)
    path = reading.tree_path(ctx, typed)
    if line is None:
        found = explaining.records(ctx, path)
    else:
        found = [explaining.line_of(ctx, path, line)]
    asked: list[Asked | None] = [*prompts.behind(ctx, found)] if asks else [None] * len(found)
    told = list(zip(found, asked, strict=True))
    if as_json:
        rows = [_document(ctx, one, prompt) for one, prompt in told]
        output.as_json({"path": output.text(path), "findings": rows})
        return
    if not found:
        output.say("nobody recorded anything for this path")
    before = None
    for one, prompt in told:
        output.say(_sentence(ctx, one))
        if prompt is not None:
            _show_prompt(prompt, prompt == before)
        before = prompt
    history_end.tell(ctx, found)


def _document(ctx: Context, one: Finding, prompt: Asked | None) -> dict[str, object]:
    more = {"prompt": prompt._asdict()} if prompt is not None else {}
    return {**one._asdict(), "name": ctx.called(one.session) if one.session else None, **more}


def _show_prompt(prompt: Asked, again: bool) -> None:
    """Print the words of a person or an agent, each line marked as quoted."""
    if prompt.text is None:
        gone = "gone: the agent keeps its transcript no more"
        output.say(f"  prompt: {gone if prompt.state == prompts.GONE else 'unknown'}")
        return
    if again and prompt.text.count("\n"):
        output.say("  prompt: the same")
        return
    output.say("  prompt:")
    for row in prompt.text.rstrip().split("\n"):
        output.content(f"  > {row}")
    if prompt.more:
        output.say(f"  ({prompt.more:,} more characters)")


def _sentence(ctx: Context, one: Finding) -> str:
    where = f"line {one.line}: " if one.line is not None else f"{one.time or '-'}  "
    if one.state == every_line.NOBODY:
        names = " or ".join(f"'{ctx.called(name)}'" for name in one.one_of)
        may = f"; a shell command of {names} may have made it" if names else ""
        return f"{where}nobody recorded it; uncommitted{may}"
    state = f"commit {one.commit[:12]}" if one.commit else _STATES.get(one.state, one.state)
    if one.one_of:
        names = ", ".join(f"'{ctx.called(name)}'" for name in one.one_of)
        return f"{where}{state}, one of the sessions {names}"
    if one.boundary:
        return f"{where}{state}, where the history of this clone ends: not known whose it is"
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


# A state in words for people; ``--json`` has the machine's word.
_STATES = {every_line.VOID: "nothing left to commit"}

# How exactly an edit is known, in words for people; ``--json`` has the record's word.
_KNOWN = {
    "payload": "recorded as the agent told them",
    "window": "recorded as they were before and after",
    "shell": "recorded from its shell command",
    "none": "not recorded",
}
