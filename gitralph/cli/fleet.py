"""``git ralph fleet``: many clones, one remote: claim beads, land them once, read what others made."""

import sys
from collections.abc import Callable
from typing import Any

import click

from gitralph.base.errors import BUSY, OK, REFUSED, RalphError, UsageError
from gitralph.cli.terminal import environ, options, output, proving, signals
from gitralph.tasks.fleet import (
    at_work,
    claiming,
    kept_state,
    landing,
    own_log,
    received_logs,
    this_clone,
    wire,
)
from gitralph.tasks.fleet import join as joining
from gitralph.tasks.fleet import sync as syncing
from gitralph.tasks.fleet.claim import HELD
from gitralph.tasks.fleet.claiming import ClaimRow, ForeignError
from gitralph.tasks.fleet.landing import hold
from gitralph.tasks.fleet.this_clone import Fleet
from gitralph.tasks.worktree import where

_bead = click.argument("bead", metavar="<bead>")


@click.group("fleet", cls=options.Group)
def fleet() -> None:
    """Several clones of one remote: claim work items (beads), land each once, share who wrote what."""


def _patience() -> float | None:
    """How long a server may take: a person at a terminal may be typing a password."""
    return None if environ.is_terminal(sys.stdin) else wire.PATIENCE


def _open() -> Fleet:
    """The fleet.

    A sign of life that is due waits for the end of the command, since it needs the same lock.
    """
    found = this_clone.open_fleet(options.context(beats=False), _patience())
    # Under the lock of this command the sign of life would wait for itself.
    click.get_current_context().call_on_close(lambda: at_work.beat_if_due(found.ctx))
    return found


def _telling(found: Fleet, as_json: bool, bead: str, work: Callable[[], Any]) -> Any:
    """Run the block; where it fails, print the document that says why."""
    try:
        return work()
    except ForeignError as error:
        if as_json:
            output.as_json(error.row.document("refused", reason=error.message))
        raise
    except RalphError as error:
        if as_json:
            ours, row = kept_state.claims(found.ctx.layout).get(bead), ClaimRow(bead, "unknown", "", False, 0)
            if ours is not None and ours.state == HELD:
                row = ClaimRow(bead, HELD, found.me.writer, True, ours.epoch)
            status = {REFUSED: "refused", BUSY: "busy"}.get(error.exit_code, "failed")
            output.as_json(row.document(status, reason=error.message))
        raise


@fleet.command("join")
@click.argument("remote", metavar="<remote>")
@click.option("--branch-form", is_flag=True, help="Keep claims and logs as branches below ralph-fleet/.")
def join(remote: str, branch_form: bool) -> None:
    """Become a member; the first one begins it."""
    ctx = options.context()
    found = joining.join(ctx, remote, branch_form, _patience())
    place = "branches" if found.namespace.startswith("refs/heads/") else "refs"
    output.say(
        f"joined the fleet of '{found.me.remote}' as writer {found.me.writer} "
        f"({place} below '{found.namespace}', lease {found.lease} s)"
    )
    output.hint("git ralph fleet claim <bead>  # a bead is a piece of work by its id, any such as bd-1")
    output.hint("git ralph fleet land <bead>  # pushes its branch once it is done")


@fleet.command("claim")
@_bead
@options.as_json
def claim(bead: str, as_json: bool) -> None:
    """Get a bead, or keep one."""
    where.checked(bead)
    found = _open()
    with hold(found):
        answer = _telling(found, as_json, bead, lambda: claiming.claim(found, bead))
    if as_json:
        output.as_json(answer.row.document(answer.status))
    else:
        words = {"claimed": "is yours", "already": "is yours already", "tentative": "is tentatively yours"}
        output.say(f"'{bead}' {words[answer.status]}, epoch {answer.row.epoch}")
        if answer.status == "claimed":
            output.hint(f"git ralph worktree add {bead}  # makes a checkout on branch 'ralph/{bead}'")


@fleet.command("claims")
@options.as_json
def claims(as_json: bool) -> None:
    """List who works on which bead."""
    found = _open()
    with hold(found):
        try:
            rows = claiming.rows(found, found.look())
        except wire.UnansweredError as error:
            rows, when = claiming.rows_offline(found)
            known = f"this is as of {when}" if when else "only its own claims are known here"
            output.warn(f"{error.message}; {known}")
    if as_json:
        output.as_json([row.document() for row in rows])
        return
    output.table((_cells(row) for row in rows), soft=(0, 2))


def _cells(row: ClaimRow) -> list[str]:
    who = "you" if row.mine else f"{row.user} ({row.writer or 'unreadable'})" if row.state != "free" else ""
    return [row.bead, row.state, who, f"as {row.result[:10]}" if row.result else ""]


@fleet.command("release")
@_bead
def release(bead: str) -> None:
    """Give a bead back."""
    where.checked(bead)
    found = _open()
    with hold(found):
        row = claiming.release(found, bead)
    output.note(f"'{bead}' is free" if row is not None else f"nobody has '{bead}'")


@fleet.command("sync")
@options.as_json
@click.option("--beat", is_flag=True, help="Only show that this machine lives, and only where that is due.")
def sync(as_json: bool, beat: bool) -> int:
    """Publish, settle claims, read what others made."""
    if beat:
        return _beat()
    found = _open()
    with hold(found):
        done = _telling(found, as_json, "", lambda: syncing.sync(found))
    if as_json:
        output.as_json([row.document(done.status[row.bead]) for row in done.rows])
    else:
        counts = {"record": done.records, "member": done.members, "claim": len(done.rows)}
        words = [f"{count} {name}{'s' * (count != 1)}" for name, count in counts.items()]
        output.say(f"published {words[0]}, read {words[1]}, {words[2]}")
    for error in (*done.lost, *done.busy):
        output.report(error)
    return REFUSED if done.lost else BUSY if done.busy else OK


def _beat() -> int:
    """Send the sign of life that a hook or a command asked for: quietly, and not while one is under way."""
    ctx = options.context(create=False, beats=False)
    if kept_state.membership(ctx.layout) is None:
        return OK
    found = this_clone.open_fleet(ctx)
    with hold(found, wait=0):
        if own_log.is_due(found) or own_log.pending(found):
            syncing.beat(found)
    return OK


@fleet.command("land")
@_bead
@click.option("--into", metavar="<branch>", help="This branch of the remote, not its default one.")
@proving.option
@options.as_json
def land(bead: str, into: str | None, prove: str | None, as_json: bool) -> None:
    """Push a bead's work and its claim in one step."""
    where.checked(bead)
    found = _open()
    attended = environ.is_terminal(sys.stdin)
    judge = proving.merge_judge(found.ctx, prove)
    with hold(found), signals.stopped_like_by_hand():
        done = _telling(found, as_json, bead, lambda: landing.land(found, bead, into, attended, judge))
    if as_json:
        output.as_json(done.row.document("landed", commit=done.commit, into=done.into))
    else:
        output.say(f"'{bead}' landed in '{done.into}' as {done.commit[:10]}")


@fleet.command("status")
@options.as_json
def status(as_json: bool) -> None:
    """Show this clone's membership."""
    found = _open()
    layout = found.ctx.layout
    beat, look = kept_state.beat(layout), kept_state.last_look(layout)
    ours = sorted(
        (one for one in kept_state.claims(layout).values() if one.state != kept_state.LOST),
        key=lambda one: one.bead,
    )
    others = [one for one in received_logs.writers(found) if one != found.me.writer]
    document = {
        "remote": found.me.remote,
        "url": found.wire.url,
        "namespace": found.namespace,
        "writer": found.me.writer,
        "lease": found.lease,
        "beat": beat.at or None,
        "looked": look.at or None,
        "due": own_log.is_due(found),
        "exact": found.me.exact,
        "atomic": found.me.atomic,
        "members": others,
        "claims": [{"bead": one.bead, "state": one.state, "epoch": one.epoch} for one in ours],
    }
    if as_json:
        output.as_json(document)
        return
    output.table(
        [
            ("remote", f"{found.me.remote}  {found.wire.url}"),
            ("refs", found.namespace),
            ("writer", f"{found.me.writer}  lease {found.lease} s"),
            ("beat", f"{beat.at or 'never'}{' (due)' if own_log.is_due(found) else ''}"),
            ("looked", f"{look.at or 'never'}"),
            ("others", f"{len(others)} whose log is here"),
            *(("claim", f"{one.bead}  {one.state}") for one in ours),
        ],
        soft=(1,),
    )


@fleet.command("setup")
@click.option("--refspec", is_flag=True, help="Let git fetch the fleet's refs as well.")
def setup(refspec: bool) -> None:
    """Let git fetch the fleet's refs too."""
    found = _open()
    if not refspec:
        raise UsageError("say what to set up: --refspec")
    remote = found.me.remote
    if f"remote.{remote}.url" not in found.ctx.config.values:
        raise UsageError(f"'{remote}' is no configured remote")
    spec = f"+{found.namespace}/*:refs/ralph-fleet/{remote}/*"
    if spec not in found.ctx.config.all(f"remote.{remote}.fetch"):
        found.ctx.git.run("config", "--add", f"remote.{remote}.fetch", spec)
    output.say(f"git fetch {remote} brings '{found.namespace}/*' to 'refs/ralph-fleet/{remote}/*'")
