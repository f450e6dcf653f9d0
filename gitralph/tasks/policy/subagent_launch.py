"""The launch of a subagent: its worktree first, then the launch, or exit 2 with the reason."""

from collections.abc import Mapping

from gitralph.base import layout as layouts
from gitralph.base.errors import RalphError, Refused
from gitralph.git.context import Context
from gitralph.guard.reply import Reply, blocked, rewritten
from gitralph.hook.agents import launching
from gitralph.hook.agents.launching import Launch
from gitralph.hook.event import Event, owner_of
from gitralph.records import bead as beads
from gitralph.records.bead import Bead
from gitralph.tasks.fleet import at_work
from gitralph.tasks.policy import event_repository, rules, subagents, wording
from gitralph.tasks.policy.rules import BadWishError, LaunchWish
from gitralph.tasks.tracker import Item, Tracker
from gitralph.tasks.worktree import add as adding
from gitralph.tasks.worktree import where


def _no_bead(wish: LaunchWish) -> Reply:
    return blocked(
        f"worktree_policy is required ({wish.source}), but the launch names no bead",
        "put 'worktree_policy: required' and 'bead_id: <bead>' at the very start of the prompt",
        "or type git ralph worktree spawn <bead> before the launch",
    )


def launched(agent: str, event: Event, environ: Mapping[str, str]) -> Reply:
    """Answer one launch."""
    reply = Reply()
    try:
        launch = launching.read(event)
    except ValueError as error:
        if event.required:
            return blocked(f"worktree_policy is required, but {error}")
        return Reply(said=[f"warning: no policy was applied: {error}"])
    try:
        said = rules.stated(launch)
        # A payload may require a worktree although the prompt does not: the stricter one counts.
        if event.required and said.policy is None:
            said = LaunchWish("required", said.bead, said.path, source="the payload")
    except BadWishError as error:
        return blocked(str(error))
    try:
        ctx = event_repository.context(event, environ, reply)
    except RalphError as error:
        return _unusable(said, error)
    return _in_repository(agent, ctx, launch, said, owner_of(event, environ), reply)


def _unusable(said: LaunchWish, error: RalphError) -> Reply:
    """Answer where there is no usable repository: only a launch that needs a worktree is stopped."""
    # A launch that asked for nothing goes on: most launches do not concern us.
    if said.policy == "required" or (said.policy == "optional" and (said.bead or said.path)):
        return blocked(f"worktree_policy is {said.policy}: {error.message}", *error.hints)
    return Reply()


def _in_repository(
    agent: str, ctx: Context, launch: Launch, said: LaunchWish, session: str | None, reply: Reply
) -> Reply:
    try:
        wish = rules.decide(ctx, launch, session, said)
        if wish.policy in (None, "none"):
            return _passed(agent, ctx, launch, said, session)
        bead = rules.bead_of(wish, where.open_trees(ctx).root)
    except BadWishError as error:
        return blocked(str(error))
    except RalphError as error:
        return _unusable(said, error)
    if bead is None:
        return _no_bead(wish) if wish.policy == "required" else Reply()
    try:
        return _with_worktree(agent, ctx, launch, wish, bead, session, reply)
    except RalphError as error:
        return blocked(f"no worktree for bead '{bead}': {error.message}", *error.hints)
    except (beads.DamagedBeadError, layouts.StateError) as error:
        return blocked(f"no worktree for bead '{bead}': {error}")


def _passed(agent: str, ctx: Context, launch: Launch, said: LaunchWish, session: str | None) -> Reply:
    """Let a launch pass without a worktree; a worker's documentation helper is sent to the worker's."""
    home = None if said.policy else subagents.expect(ctx.layout, launch, session)
    if home is None:
        return Reply()
    context = wording.helper_context(home)
    return Reply(out=rewritten(agent, launch.bare, _with_prompt(launch, context), context, _allow(ctx)))


def _allow(ctx: Context) -> bool:
    return ctx.config.boolean("ralph.hook.allow")


def _with_prompt(launch: Launch, context: str) -> dict[str, object]:
    prompt = f"{context}\n\n{launch.prompt}" if launch.prompt else context
    return {**launch.fields, launch.prompt_key: prompt}


def _refuse_locked(ctx: Context, bead: str) -> None:
    trees = where.open_trees(ctx)
    row = trees.at(trees.path(bead))
    if row is not None and row.locked is not None:
        raise Refused(
            f"'{row.path}' is locked" + (f": {row.locked}" if row.locked else ""),
            f"git ralph worktree unlock {bead}",
        )


def _with_worktree(
    agent: str, ctx: Context, launch: Launch, wish: LaunchWish, bead: str, session: str | None, reply: Reply
) -> Reply:
    # git's own lock says that nobody should go in there, but `add` would hand the worktree out.
    _refuse_locked(ctx, bead)
    was = where.record_of(ctx.layout, bead)
    # Read before `add`, which makes any bead active.
    running = was is not None and was.active
    at_work.note(ctx, bead)
    found = adding.add(ctx, bead, wish.base, session, wish.take_over)
    if found.failed is not None:
        return blocked(found.failed.message, *found.failed.hints)
    reply.said += [f"note: {note}" for note in found.notes]
    claims = ctx.config.boolean("ralph.beads.claim")
    tracker = Tracker.of(ctx, where.open_trees(ctx).root, ctx.warn, named=claims)
    record = _note(ctx, launch, wish, bead, tracker.look(bead), fresh=wish.restart or not running)
    if claims:
        tracker.begin(bead)
    context = wording.worker_context(record)
    fields = _with_prompt(launch, context)
    if launch.bare:
        fields["worktree_path"] = record.path
    reply.out = rewritten(agent, launch.bare, fields, context, _allow(ctx))
    return reply


def _note(ctx: Context, launch: Launch, wish: LaunchWish, bead: str, known: Item, fresh: bool) -> Bead:
    """Note the loop's terms: the launch's, else the bead's own, else defaults; a second launch counts on."""
    with beads.hold(ctx.layout, bead):
        record = where.record_of(ctx.layout, bead) or Bead(bead)
        limit = wish.max_iterations if wish.max_iterations is not None else known.max_iterations
        promise = wish.promise or known.promise
        if fresh:
            record.iteration = 0
            limit = beads.DEFAULT_LIMIT if limit is None else limit
            promise = promise or beads.DEFAULT_PROMISE
        record.max_iterations = record.max_iterations if limit is None else limit
        record.completion_promise = promise or record.completion_promise
        # The subagent's id shows only when it first records or stops. Until then its type stands for it.
        record.blocks, record.agent_id, record.agent_type = 0, None, launch.agent_type
        record.prompt = launch.prompt if launch.prompt is not None else record.prompt
        record.title = known.title or record.title
        record.acceptance_criteria = "\n".join(known.criteria) or record.acceptance_criteria
        record.extra["looped"] = True
        beads.write(ctx.layout, record)
    return record
