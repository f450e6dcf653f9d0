"""The promise loop: when the owner of an active bead stops, it goes on until its promise, or a limit.

Whoever owns no bead here is none of its business. What cannot be read lets go, with a warning.
"""

from collections.abc import Mapping

from gitralph import eventfile, promise
from gitralph.errors import RalphError
from gitralph.event import list_of, object_of, text_of
from gitralph.layout import Layout
from gitralph.porcelain.context import Context
from gitralph.porcelain.policy import gates, message, place, wording
from gitralph.porcelain.policy.launch_input import plain_type
from gitralph.porcelain.policy.reply import Reply, again
from gitralph.porcelain.worktree import where
from gitralph.state import bead as beads
from gitralph.state.bead import Bead, DamagedError
from gitralph.tracker import Tracker

MOST_BLOCKS = 7
_SUBAGENT = ("SubagentStop", "subagentStop")


def stopped(agent: str, payload: dict[str, object], environ: Mapping[str, str]) -> Reply:
    """Answer one stop."""
    reply = Reply()
    session = place.session_of(payload, environ)
    for folder, layout in place.layouts_of(payload, environ):
        record = _bead_of(layout, payload, session, reply)
        if record is None:
            continue
        if _runs_on(payload):
            return reply
        ctx = place.context(payload, environ, reply, folder)
        return _answer(agent, ctx, record, payload, reply)
    return reply


def _runs_on(payload: dict[str, object]) -> bool:
    """True while something started in the background still works: this stop is not the end."""
    tasks = [object_of({"t": one}, "t") for one in list_of(payload, "background_tasks")]
    return any(one.get("status") in ("running", "pending", "queued", "in_progress") for one in tasks)


def _active(layout: Layout, session: str | None, reply: Reply) -> list[Bead]:
    found = []
    for one in beads.records(layout):
        if isinstance(one, DamagedError):
            reply.said.append(f"warning: {one}; the loop lets go")
        elif session and one.owner == session and one.active:
            found.append(one)
    return found


def _bead_of(layout: Layout, payload: dict[str, object], session: str | None, reply: Reply) -> Bead | None:
    """The bead of whoever stops; a subagent's by its own prompt, by its id, or as the only one left."""
    mine = _active(layout, session, reply)
    agent_id = text_of(payload, "agent_id")
    if text_of(payload, "hook_event_name") not in _SUBAGENT and not agent_id:
        return next((one for one in mine if one.agent_id is None), None)
    path = text_of(payload, "agent_transcript_path")
    prompt = promise.asked_in(path) if path else ""
    if prompt.startswith(wording.MARK):
        named = {f"bead: {one.bead}": one for one in mine}
        return next((named[row] for row in prompt.split("\n")[:3] if row in named), None)
    bound = next((one for one in mine if agent_id and one.agent_id == agent_id), None)
    kind = plain_type(text_of(payload, "agent_type"))
    waiting = [one for one in mine if one.agent_id is None and kind and one.agent_type == kind]
    return bound or (waiting[0] if len(waiting) == 1 else None)


def _answer(agent: str, ctx: Context, record: Bead, payload: dict[str, object], reply: Reply) -> Reply:
    record.path = where.open_trees(ctx).path(record.bead)  # what the record says may be of yesterday
    promised = promise.is_kept(message.last_message(payload), record.completion_promise)
    try:
        missing = gates.missing(ctx, record) if promised else []
    except RalphError as error:
        missing = [error.message]
    with beads.hold(ctx.layout, record.bead):
        now = beads.read(ctx.layout, record.bead)
        if now is None or not now.active or now.owner != record.owner:
            return reply
        if promised and not missing:
            _end(ctx, now, beads.COMPLETED, "bead.completed")
        elif _decide(ctx, now, payload, reply):
            now.path = record.path
            why = "not accepted yet: " + "\n".join(missing) if missing else "the promise is not there yet"
            reply.out = again(agent, wording.go_on(now, why))
    if promised and not missing and ctx.config.boolean("ralph.beads.close"):
        Tracker.of(ctx, where.open_trees(ctx).root, ctx.warn, named=True).close(record.bead)
    return reply


def _end(ctx: Context, record: Bead, status: str, topic: str) -> None:
    record.status, record.blocks = status, 0
    beads.write(ctx.layout, record)
    facts = {"bead": record.bead, "session": record.owner, "iteration": record.iteration}
    for warning in eventfile.announce(ctx.layout, ctx.environ, topic, facts):
        ctx.warn(warning)


def _most(ctx: Context) -> int:
    said = ctx.config.get("ralph.loop.maxblocks") or ""
    return int(said) if said.isdigit() and int(said) else MOST_BLOCKS


def _decide(ctx: Context, record: Bead, payload: dict[str, object], reply: Reply) -> bool:
    """Count one more iteration, under the bead's lock; False where the agent may stop all the same."""
    if record.max_iterations and record.iteration >= record.max_iterations:
        _end(ctx, record, beads.FAILED, "bead.failed")
        reply.said.append(
            f"warning: bead '{record.bead}' is not done after {record.iteration} iterations: given up"
        )
        return False
    if payload.get("stop_hook_active") is False:
        record.blocks = 0
    if record.blocks >= _most(ctx):
        blocks, record.blocks = record.blocks, 0
        beads.write(ctx.layout, record)
        reply.said.append(
            f"warning: bead '{record.bead}' is not done; let go after {blocks} stops in a row, to be resumed"
        )
        return False
    record.iteration += 1
    record.blocks += 1
    beads.write(ctx.layout, record)
    return True
