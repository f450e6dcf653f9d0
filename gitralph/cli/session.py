"""``git ralph session``: start, list, show, end."""

import shlex

import click

from gitralph.base.quote import shown
from gitralph.cli import options, output
from gitralph.commit import pending_paths
from gitralph.hook import sessionfile
from gitralph.session import session_choice, sessions


@click.group("session", context_settings=options.CONTEXT)
def session() -> None:
    """Start, list, show and end sessions."""


@session.command("start", context_settings=options.CONTEXT)
@click.option("--id", "session_id", metavar="<id>", help="Use this id.")
@click.option("--agent", metavar="<a>", help="The agent that will work.")
@click.option("--plan", metavar="<p>", help="The plan it works on.")
@click.option("--task", metavar="<n>", help="The task of that plan.")
@click.option("--bead", metavar="<b>", help="The work item it works on.")
@click.option("--parent", metavar="<id>", help="The session whose commits include this one's edits.")
@click.option("--continue", "again", is_flag=True, help="Go on with the session of that id or task.")
@click.option("--env", "form", type=click.Choice(["sh", "json"]), help="Print the environment.")
def start(
    session_id: str | None,
    agent: str | None,
    plan: str | None,
    task: str | None,
    bead: str | None,
    parent: str | None,
    again: bool,
    form: str | None,
) -> None:
    """Start a session; prints its id, or the environment a launcher exports."""
    ctx = options.context()
    if session_id is not None:
        session_choice.checked(session_id)
    if parent is not None:
        parent = session_choice.resolve_or_new(ctx.layout, parent)
    made = sessions.start(
        ctx, session_id, again=again, agent=agent, plan=plan, task=task, bead=bead, parent=parent
    )
    if form is None:
        output.say(made)
        return
    env = sessions.contract(ctx, made)
    if form == "json":
        output.as_json(env)
        return
    for key, value in env.items():
        output.raw(f"export {key}={shlex.quote(value)}\n".encode("utf-8", "surrogateescape"))


@session.command("list", context_settings=options.CONTEXT)
@options.as_json
def list_sessions(as_json: bool) -> None:
    """List all sessions of the repository."""
    ctx = options.context(create=False)
    found = sessions.listing(ctx, pending_paths.everyone(ctx))
    if as_json:
        output.as_json(found)
        return
    for one in found:
        work = " ".join(str(one[key]) for key in ("plan", "task", "bead") if one[key] is not None)
        row = f"{one['id']}\t{one['state']}\t{one['pending']} pending\t{one['agent'] or '-'}\t{work}"
        output.say(row.rstrip())


@session.command("show", context_settings=options.CONTEXT)
@click.argument("session_id", metavar="<id>")
@options.as_json
def show(session_id: str, as_json: bool) -> None:
    """Show one session and its pending paths."""
    ctx = options.context(create=False)
    found = session_choice.resolve(ctx.layout, session_id)
    record = sessionfile.read(ctx.layout, found) or sessionfile.new_record(ctx.layout, found, started=None)
    works = pending_paths.of(ctx, found)
    facts = sessions.describe(ctx.layout, record, works)
    if as_json:
        names = [output.text(path) for path in pending_paths.counted(works)]
        output.as_json({**facts, "paths": names, "branch": record.get("branch")})
        return
    for key, value in facts.items():
        output.say(f"{key}: {'-' if value is None else value}")
    for path, work in sorted(works.items()):
        output.say(f"  {shown(path)}" + (f" ({work.reason})" if work.reason else ""))


@session.command("end", context_settings=options.CONTEXT)
@click.argument("session_id", metavar="<id>")
def end(session_id: str) -> None:
    """Mark a session as over; its pending paths stay."""
    ctx = options.context(create=False)
    sessions.end(ctx, session_choice.resolve(ctx.layout, session_id))
