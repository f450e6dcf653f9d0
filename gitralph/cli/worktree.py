"""``git ralph worktree``: a checkout for each bead, made, found, merged and removed by rule."""

import os

import click

from gitralph.base.errors import OK
from gitralph.base.quote import few, shown
from gitralph.cli.terminal import columns, options, output, proving, signals
from gitralph.git.context import Context
from gitralph.sessions import session_choice
from gitralph.tasks.fleet import at_work
from gitralph.tasks.prove.judge import NotProvenError
from gitralph.tasks.worktree import add as adding
from gitralph.tasks.worktree import bead_merge as merging
from gitralph.tasks.worktree import bead_worktrees, removable, spawn, trash, where
from gitralph.tasks.worktree import remove as removing

_force = click.option("--force", "-f", is_flag=True, help="Save everything, then remove.")


@click.group("worktree", cls=options.Group)
def worktree() -> None:
    """A checkout for each work item (bead, any id such as bd-1): add, list, merge, remove, restore."""


def _json_path(path: str) -> str:
    return output.text(os.fsencode(path))


@worktree.command("add")
@click.argument("bead", metavar="<bead>")
@click.option("--base", metavar="<commit-ish>", help="Start from this branch, tag or commit, not HEAD.")
@options.session
@click.option("--take-over", is_flag=True, help="Take it from a session that is not live any more.")
@options.as_json
def add(bead: str, base: str | None, session: str | None, take_over: bool, as_json: bool) -> int:
    """Make or find a bead's worktree; prints its absolute path alone."""
    ctx = options.context()
    owner = session_choice.named(ctx, session, f"git ralph worktree add {bead} --session {{}}", creates=True)
    where.checked(bead)
    with at_work.claimed(ctx, bead):
        found = adding.add(ctx, bead, base, owner, take_over)
    for note in found.notes:
        output.note(note)
    if found.taken_from:
        output.note(f"taken over from session '{ctx.called(found.taken_from)}'")
    if as_json:
        output.as_json(_added(found))
    elif found.failed is None:
        _say_path(found.record.path)
    if found.failed is not None:
        output.report(found.failed)
        return found.failed.exit_code
    return OK


def _say_path(path: str) -> None:
    """Print the path unquoted, for ``cd "$(…)"``."""
    output.raw(os.fsencode(path) + b"\n")


def _added(found: adding.Added) -> dict[str, object]:
    record = found.record
    return {
        "bead": record.bead,
        "path": _json_path(record.path),
        "branch": record.branch.removeprefix("refs/heads/"),
        "base_ref": record.base_ref,
        "base_oid": record.base_oid,
        "reused": found.reused,
        "opened": found.opened,
        "owner": record.owner,
        "taken_from": found.taken_from,
        "status": record.status,
        "notes": found.notes,
    }


@worktree.command("list")
@options.as_json
@click.option("--porcelain", is_flag=True, help="Print stable lines.")
@options.zero
def list_worktrees(as_json: bool, porcelain: bool, zero: bool) -> None:
    """List the worktrees of all beads and the state they are in."""
    ctx = options.context(create=False)
    rows = bead_worktrees.rows(ctx)
    if as_json:
        output.as_json([{**row.document(), "path": _json_path(row.path)} for row in rows])
    elif porcelain or zero:
        _porcelain(rows, zero)
    elif output.room() is None:
        for row in rows:
            output.say("\t".join(_facts(ctx, row)))
    else:
        _on_terminal(ctx, rows)


def _on_terminal(ctx: Context, rows: list[bead_worktrees.BeadWorktree]) -> None:
    """Facts in columns, with the place on a line below: both in one line are wider than any terminal."""
    room = output.room() or columns.USUAL
    facts = [_facts(ctx, row) for row in rows]
    for line, (*_, last, place) in zip(
        columns.fitted((one[:6] for one in facts), room, (2, 0)), facts, strict=True
    ):
        output.content(line)
        if last:
            output.content("  " + columns.cut(last, room - 2))
        output.content("  " + columns.cut(place, room - 2, keep_end=True))


def _porcelain(rows: list[bead_worktrees.BeadWorktree], zero: bool) -> None:
    end = b"\0" if zero else b"\n"
    keys = ("bead", "path", "state", "status", "branch", "head", "owner", "base_ref", "ahead", "behind")
    for row in rows:
        facts = row.document()
        for key in keys:
            value = facts[key]
            if value is not None:
                # With -z the value is unquoted, else quoted as git lists paths: a newline in a path must not
                # end the line.
                text = str(value) if zero else shown(os.fsencode(str(value)))
                output.raw(f"{key} ".encode() + os.fsencode(text) + end)
        for session in row.sessions:
            output.raw(b"session " + os.fsencode(session if zero else shown(os.fsencode(session))) + end)
        output.raw(f"iteration {row.record.iteration}".encode() + end)
        output.raw(f"dirty {len(row.dirt.changed)}".encode() + end)
        output.raw(end)


def _facts(ctx: Context, row: bead_worktrees.BeadWorktree) -> list[str]:
    """What is told of a worktree; empty where there is nothing to say."""
    record, facts = row.record, row.document()
    names = dict.fromkeys([*([record.owner] if record.owner else []), *row.sessions])
    return [
        row.bead,
        row.state,
        str(facts["branch"] or "a detached HEAD"),
        f"+{row.ahead} -{row.behind}" if row.ahead is not None else "",
        f"{len(row.dirt.changed)} dirty"
        + (f", iteration {record.iteration}/{record.max_iterations}" if record.iteration else ""),
        f"session {', '.join(map(ctx.called, names))}" if names else "",
        f"{row.last[0][:9]} {row.last[1]}" if row.last else "",
        shown(os.fsencode(row.path)),
    ]


@worktree.command("path")
@click.argument("bead", metavar="<bead>")
def path(bead: str) -> None:
    """Print the path of a bead's worktree."""
    _say_path(bead_worktrees.path_of(options.context(create=False), bead))


@worktree.command("lock")
@click.argument("bead", metavar="<bead>")
@click.option("--reason", metavar="<text>", help="Why it must stay.")
def lock(bead: str, reason: str | None) -> None:
    """Lock a bead's worktree: nothing removes it until it is unlocked."""
    removable.lock(options.context(), bead, reason)


@worktree.command("unlock")
@click.argument("bead", metavar="<bead>")
def unlock(bead: str) -> None:
    """Unlock a bead's worktree."""
    removable.unlock(options.context(), bead)


@worktree.command("merge")
@click.argument("bead", metavar="<bead>")
@click.option("--into", metavar="<branch>", help="Merge into this branch, not into the recorded base.")
@click.option("--no-ff", is_flag=True, help="Make a merge commit also where a fast-forward would do.")
@proving.option
@options.as_json
def merge(bead: str, into: str | None, no_ff: bool, prove: str | None, as_json: bool) -> int:
    """Merge a bead's branch into its base without a checkout."""
    ctx = options.context()
    try:
        with signals.stopped_like_by_hand():
            done = merging.merge_bead(ctx, bead, into, not no_ff, proving.merge_judge(ctx, prove))
    except NotProvenError as error:
        if as_json:
            output.as_json(_refusal(bead, proof=error.proof))
        raise
    except merging.ConflictError as error:
        if as_json:
            names = [output.text(one) for one in error.paths]
            output.as_json(_refusal(bead, conflicts=names, messages=list(error.said)))
        output.report(error)
        return error.exit_code
    if as_json:
        output.as_json(
            {"status": "merged" if done.how != merging.ALREADY else "already", **vars(done), "conflicts": []}
        )
    elif done.how == merging.ALREADY:
        output.say(f"'{done.branch}' is in '{done.target}' already")
    else:
        output.say(f"{done.target} {done.before[:9]}..{done.commit[:9]} ({done.how} of {done.branch})")
    return OK


def _refusal(bead: str, **more: object) -> dict[str, object]:
    return {"status": "refused", "bead": bead, "commit": None, "conflicts": [], "messages": [], **more}


@worktree.command("remove")
@click.argument("bead", metavar="<bead>")
@_force
@options.session
@options.as_json
def remove(bead: str, force: bool, session: str | None, as_json: bool) -> None:
    """Remove a bead's worktree; refuses what would lose work."""
    ctx: Context = options.context()
    caller = session_choice.named(ctx, session, f"git ralph worktree remove {bead} --session {{}}")
    done = removing.remove(ctx, bead, force, caller, os.getcwd())
    for note in done.notes:
        output.note(note)
    ignored = [output.text(one) for one in done.ignored]
    if as_json:
        output.as_json(
            {
                "status": "removed",
                "bead": bead,
                "path": _json_path(done.path),
                "saved": done.saved,
                "kept": done.kept,
                "ignored": ignored,
            }
        )
        return
    if done.saved:
        output.say(f"saved as {done.saved}")
        output.hint(f"git ralph worktree restore {bead}")
    if done.ignored:
        output.note(f"ignored files went with it: {few(done.ignored, 10)}")
    output.say(f"removed {shown(os.fsencode(done.path))}")


@worktree.command("restore")
@click.argument("bead", metavar="<bead>")
@click.argument("stamp", metavar="[<stamp>]", required=False)
@options.as_json
def restore(bead: str, stamp: str | None, as_json: bool) -> None:
    """Bring a removed worktree back from its save.

    From the newest one unless a stamp is given.
    """
    done = trash.restore(options.context(), bead, stamp)
    if as_json:
        output.as_json(
            {"status": "restored", "path": _json_path(done.path), "saved": done.saved, "files": done.files}
        )
        return
    output.note(f"restored from {done.saved}")
    _say_path(done.path)


@worktree.command("spawn")
@click.argument("bead", metavar="<bead>")
@click.option(
    "--policy", type=click.Choice(spawn.POLICIES), default="required", help="What the launch must have."
)
@click.option("--agent-type", metavar="<type>", help="Only for a launch of this type.")
@click.option("--max-iterations", type=click.IntRange(0), metavar="<n>", help="Limit of the loop; 0 is none.")
@click.option("--promise", metavar="<text>", help="What the last message must promise.")
@click.option("--restart", is_flag=True, help="Count iterations from 0 again.")
@options.session
def spawn_record(
    bead: str,
    policy: str,
    agent_type: str | None,
    max_iterations: int | None,
    promise: str | None,
    restart: bool,
    session: str | None,
) -> None:
    """Note what the next launch of a subagent shall get."""
    ctx = options.context()
    owner = session_choice.named(
        ctx, session, f"git ralph worktree spawn {bead} --session {{}}", creates=True
    )
    mode = "restart" if restart else None
    spawn.spawn(
        ctx,
        spawn.Spawn(
            bead=bead,
            policy=policy,
            agent_type=agent_type,
            session=owner,
            spawn_mode=mode,
            max_iterations=max_iterations,
            completion_promise=promise,
        ),
    )
