"""``git ralph session``: start, list, show, rename, end."""

import os
import shlex
from typing import Any

import click

from gitralph.ask import everywhere
from gitralph.base.quote import shown
from gitralph.cli.terminal import all_worktrees, columns, options, output
from gitralph.decide import pending_paths
from gitralph.hook import sessionfile
from gitralph.records import sessions
from gitralph.sessions import gc_in_background, lifecycle, session_choice, spending
from gitralph.sessions.spending import Spending
from gitralph.tasks.worktree import bead_worktrees
from gitralph.words import advice


@click.group("session", cls=options.Group)
def session() -> None:
    """Start, list, show, rename and end sessions."""


@session.command("start")
@click.option("--id", "session", metavar="<id>", help="Use this id.")
@click.option("--agent", metavar="<a>", help="The agent that will work.")
@click.option("--plan", metavar="<p>", help="The plan it works on.")
@click.option("--task", metavar="<n>", help="The task of that plan.")
@click.option("--bead", metavar="<b>", help="The work item it works on.")
@click.option("--parent", metavar="<id>", help="The session whose commits include this one's edits.")
@click.option("--continue", "again", is_flag=True, help="Go on with the session of that id or task.")
@click.option("--env", "form", type=click.Choice(["sh", "json"]), help="Print the environment.")
def start(session: str | None, form: str | None, **typed: Any) -> None:
    """Start a session; prints its id or environment."""
    asked = lifecycle.NewSession(**typed)
    ctx = options.context()
    if session is not None:
        session_choice.checked(session)
    if asked.parent is not None:
        asked = asked._replace(parent=session_choice.resolve_or_new(ctx.layout, asked.parent))
    made = lifecycle.start(ctx, session, asked)
    if form is None:
        output.content(made)
        return
    env = lifecycle.contract(ctx, made)
    if form == "json":
        output.as_json(env)
        return
    for key, value in env.items():
        # Quoted for a shell that evaluates it; a path may hold a quote.
        output.raw(f"export {key}={shlex.quote(value)}\n".encode("utf-8", "surrogateescape"))


@session.command("list")
@click.option("--all", "every", is_flag=True, help="Also those that gc has put away.")
@click.option("--worktrees", "wanted_wide", is_flag=True, help="By worktree, and what would collide.")
@options.as_json
def list_sessions(every: bool, wanted_wide: bool, as_json: bool) -> None:
    """List the sessions of the repository."""
    ctx = options.context(create=False)
    if wanted_wide:
        view = everywhere.look(ctx)
        if as_json:
            output.as_json(all_worktrees.document(ctx, view))
        else:
            all_worktrees.show(ctx, view)
        return
    found = lifecycle.listing(ctx, pending_paths.everyone(ctx), every)
    if as_json:
        output.as_json(found)
        return
    room = output.room()
    output.table((_row(one, room is None or room >= columns.ROOMY) for one in found), soft=(0, 3, 4))
    if not every and sessions.any_finished(ctx.layout):
        output.hint("git ralph session list --all  # with those that were over for a day and put away")


def _row(one: dict[str, object], roomy: bool) -> list[str]:
    """A session in cells; in a narrow terminal only its name tells the agent."""
    work = " ".join(str(one[key]) for key in ("plan", "task", "bead") if one[key] is not None)
    return [
        str(one["name"]),
        sessions.said(str(one["state"])),
        f"{one['pending']} pending",
        str(one["agent"] or "-") if roomy else "",
        work,
    ]


@session.command("show")
@click.argument("session_id", metavar="<session>")
@click.option("--tokens", "counted", is_flag=True, help="Also the tokens it took, from its transcript.")
@options.as_json
def show(session_id: str, counted: bool, as_json: bool) -> None:
    """Show one session and its pending paths."""
    ctx = options.context(create=False)
    found = session_choice.resolve(ctx.layout, session_id)
    record = sessionfile.read(ctx.layout, found) or sessionfile.new_record(ctx.layout, found, started=None)
    works = {ctx.repo.root: pending_paths.of(ctx, found), **lifecycle.works_elsewhere(ctx, found)}
    facts = lifecycle.describe(ctx.layout, record, {})
    facts["bead"] = facts["bead"] or bead_worktrees.bead_at(ctx, record.get("worktree"))
    facts["pending"] = sum(len(pending_paths.counted(one)) for one in works.values())
    ledger = spending.of(ctx, found) if counted else None
    if as_json:
        names = [output.text(path) for one in works.values() for path in pending_paths.counted(one)]
        more = {} if ledger is None else _taken(ledger)
        output.as_json({**facts, "paths": names, "branch": record.get("branch"), **more})
        return
    for key, value in facts.items():
        if value is not None:
            output.say(f"{key}: {sessions.said(str(value)) if key == 'state' else value}")
    for root, found_there in works.items():
        where = "" if root == ctx.repo.root else f" in '{shown(os.fsencode(root))}'"
        for path, work in sorted(found_there.items()):
            reason = f" ({advice.said(work.reason)})" if work.reason else ""
            output.say(f"  {shown(path)}{where}{reason}")
    if ledger is not None:
        output.say(f"tokens: {ledger.total().sentence()}")
        for oid, spent in ledger.by_commit().items():
            output.say(f"  commit {oid[:12]}: {spent.sentence()}")


def _taken(ledger: Spending) -> dict[str, object]:
    """What a session took, as JSON tells it."""
    commits = [{"commit": oid, **spent.document()} for oid, spent in ledger.by_commit().items()]
    return {"tokens": {**ledger.total().document(), "commits": commits}}


@session.command("rename")
@click.argument("session_id", metavar="<session>")
@click.argument("name", metavar="<name>")
def rename(session_id: str, name: str) -> None:
    """Call a session by another name."""
    ctx = options.context()
    lifecycle.rename(ctx, session_choice.resolve(ctx.layout, session_id), name)


@session.command("end")
@click.argument("session_id", metavar="<session>")
def end(session_id: str) -> None:
    """Mark a session as over; its pending paths stay."""
    ctx = options.context(create=False)
    lifecycle.end(ctx, session_choice.resolve(ctx.layout, session_id))
    gc_in_background.put_away_if_due(ctx)
