"""The promise loop: the owner of an active bead goes on at each stop, until its promise or a limit."""

from collections.abc import Mapping
from contextlib import closing

from gitralph.base import gitdir
from gitralph.base.errors import RalphError
from gitralph.base.layout import Layout
from gitralph.base.quote import shown
from gitralph.decide import pending_paths
from gitralph.git.context import Context, in_worktree
from gitralph.guard.reply import NOT_TOLD, Reply, again
from gitralph.guard.reply import word as tell
from gitralph.hook import event_log
from gitralph.hook.agents.launching import plain_type
from gitralph.hook.event import Event, Stop, owner_of
from gitralph.records import bead as beads
from gitralph.records import word
from gitralph.records.bead import Bead, DamagedBeadError
from gitralph.tasks import promise
from gitralph.tasks.policy import event_repository, wording
from gitralph.tasks.tracker import Tracker
from gitralph.tasks.worktree import on_creation, where

# --- facts that a promise is checked against, where configured ---


def _commits(ctx: Context, record: Bead) -> str | None:
    if not ctx.config.boolean("ralph.loop.requirecommit") or not record.base_oid:
        return None
    done = ctx.git.try_run("rev-list", "--count", f"{record.base_oid}..{record.branch}", "--")
    if done.returncode == 0 and done.stdout.strip() != b"0":
        return None
    return f"there is no commit on '{where.short(record.branch)}' since its base"


def _clean(ctx: Context, record: Bead) -> str | None:
    if not ctx.config.boolean("ralph.loop.requireclean") or gitdir.discover(record.path) is None:
        return None
    there = in_worktree(ctx, record.path)
    with closing(there.repo):
        left = {
            path for works in pending_paths.everyone(there).values() for path in pending_paths.counted(works)
        }
    if not left:
        return None
    return "not committed: " + ", ".join(f"'{shown(path)}'" for path in sorted(left)[:20])


def _verify(ctx: Context, record: Bead) -> list[str]:
    seconds = float(ctx.config.get("ralph.loop.verifytimeout") or "600")
    for command in ctx.config.all("ralph.loop.verify"):
        env = on_creation.contract(record.bead, record.path, record.owner)
        ran = on_creation.run_shell(where.open_trees(ctx), command, record.path, env, seconds)
        if ran.code:
            return [f"'{command}' ended with {ran.code}:\n{ran.said}"]
    return []


def _missing(ctx: Context, record: Bead) -> list[str]:
    """What speaks against accepting the promise, a sentence each."""
    facts = [one for one in (_commits(ctx, record), _clean(ctx, record)) if one]
    # The cheap checks come first: a command may run for minutes, for a promise that is refused anyway.
    return facts or _verify(ctx, record)


# --- the stop ---


MOST_BLOCKS = 7


def stopped(agent: str, event: Event, environ: Mapping[str, str]) -> Reply:
    """Answer one stop. A person's word for the agent is added, or is the answer."""
    reply = _for_bead(agent, event, environ)
    session = owner_of(event, environ)
    main = event.kind == "stop" and event.agent_id is None and event.parent is None
    # Something goes on in the background, and its end will be a stop too.
    if session is None or not main or event.stop is None or event.stop.running or agent in NOT_TOLD:
        return reply
    for _, lay in event_repository.states(event, environ):
        said = word.take(lay, session)
        if said is not None:
            reply.out = again(agent, f"{said}\n\n{reply.reason}") if reply.out else tell(agent, said)
            break
    return reply


def _for_bead(agent: str, event: Event, environ: Mapping[str, str]) -> Reply:
    reply = Reply()
    assert event.stop is not None
    session = owner_of(event, environ)
    for folder, layout in event_repository.layouts_of(event, environ):
        record = _bead_of(layout, event, session, reply)
        if record is None:
            continue
        # Something goes on in the background, and its end will be a stop too.
        if event.stop.running:
            return reply
        ctx = event_repository.context(event, environ, reply, folder)
        return _answer(agent, ctx, record, event.stop, reply)
    return reply


def _last_message(stop: Stop) -> str | None:
    if stop.said is None and stop.transcript:
        return promise.said_in(stop.transcript, of_subagent=stop.own)
    return stop.said


def _active(layout: Layout, session: str | None, reply: Reply) -> list[Bead]:
    found = []
    for one in beads.records(layout):
        if isinstance(one, DamagedBeadError):
            reply.said.append(f"warning: {one}; the loop lets go")
        # without a prompt nobody launched it: `worktree add` alone sends nobody on
        elif session and one.owner == session and one.active and one.prompt is not None:
            found.append(one)
    return found


def _bead_of(layout: Layout, event: Event, session: str | None, reply: Reply) -> Bead | None:
    """The bead of the stopping agent; a subagent's by its own prompt, by its id, or as the only one left."""
    mine = _active(layout, session, reply)
    # The main agent answers for beads on which it works itself. A bead with an agent's id is a subagent's.
    if event.kind != "subagent-stop" and not event.agent_id:
        return next((one for one in mine if one.agent_id is None), None)
    stop = event.stop
    asked = promise.asked_in(stop.transcript) if stop and stop.own and stop.transcript else ""
    if asked.startswith(wording.MARK):
        named = {f"bead: {one.bead}": one for one in mine}
        return next((named[row] for row in asked.split("\n")[:3] if row in named), None)
    bound = next((one for one in mine if event.agent_id and one.agent_id == event.agent_id), None)
    kind = plain_type(event.agent_type)
    waiting = [one for one in mine if one.agent_id is None and kind and one.agent_type == kind]
    # Two unbound beads of one type cannot be told apart. To hold the wrong agent would keep it for ever.
    return bound or (waiting[0] if len(waiting) == 1 else None)


def _answer(agent: str, ctx: Context, record: Bead, stop: Stop, reply: Reply) -> Reply:
    record.path = where.open_trees(ctx).path(record.bead)  # the path in the record may be out of date
    promised = promise.is_kept(_last_message(stop), record.completion_promise)
    try:
        missing = _missing(ctx, record) if promised else []
    except RalphError as error:
        missing = [error.message]
    # The checks took their time without the lock, so whoever took the bead over meanwhile decides.
    with beads.hold(ctx.layout, record.bead):
        now = beads.read(ctx.layout, record.bead)
        if now is None or not now.active or now.owner != record.owner:
            return reply
        if promised and not missing:
            _end(ctx, now, beads.COMPLETED, "bead.completed")
        elif _decide(ctx, now, stop, reply):
            now.path = record.path
            why = "not accepted yet: " + "\n".join(missing) if missing else "the promise is not there yet"
            reply.reason = wording.go_on(now, why)
            reply.out = again(agent, reply.reason)
    if promised and not missing and ctx.config.boolean("ralph.beads.close"):
        Tracker.of(ctx, where.open_trees(ctx).root, ctx.warn, named=True).close(record.bead)
    return reply


def _end(ctx: Context, record: Bead, status: str, topic: str) -> None:
    record.status, record.blocks = status, 0
    beads.write(ctx.layout, record)
    facts = {"bead": record.bead, "session": record.owner, "iteration": record.iteration}
    for warning in event_log.announce(ctx.layout, ctx.environ, topic, facts):
        ctx.warn(warning)


def _most(ctx: Context) -> int:
    said = ctx.config.get("ralph.loop.maxblocks") or ""
    return int(said) if said.isdigit() and int(said) else MOST_BLOCKS


def _decide(ctx: Context, record: Bead, stop: Stop, reply: Reply) -> bool:
    """Count one more iteration, under the bead's lock; False where the agent may stop all the same."""
    if record.max_iterations and record.iteration >= record.max_iterations:
        _end(ctx, record, beads.FAILED, "bead.failed")
        reply.said.append(
            f"warning: bead '{record.bead}' is not done after {record.iteration} iterations: given up"
        )
        return False
    # The agent says that nobody sent it on, so a person did, and the series is broken.
    if stop.again is False:
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
