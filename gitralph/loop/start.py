"""``git ralph run <plan>``: from what the user typed to a finished loop, new or resumed."""

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

from gitralph import checklist as plans
from gitralph.base import locks, process
from gitralph.base.errors import Busy, Fatal, Refused, UsageError
from gitralph.base.quote import shown
from gitralph.commit.commit import refuse_operation
from gitralph.context import Context
from gitralph.journal import run as runs
from gitralph.loop import launch, summary
from gitralph.loop import runs as running
from gitralph.loop.child import Children
from gitralph.loop.ledger import Ledger
from gitralph.loop.model import Options, Say, Summary, View
from gitralph.loop.queue import Queue
from gitralph.loop.schedule import Schedule, mark_end
from gitralph.loop.work import Worker

_OVER = frozenset(["done", "ended"])
_NEWS = 20


@dataclass
class Prepared:
    """A loop that may start: its options, and the run it goes on with, if any."""

    options: Options
    record: runs.Record | None = None


def with_plan(ctx: Context, options: Options) -> Options:
    """The options with the plan in use filled in. Raises UsageError when nothing says what to do."""
    if options.plan or options.prompt or options.bead:
        return replace(options, plan=os.path.abspath(options.plan) if options.plan else None)
    plan = plans.current(ctx)
    if plan is None:
        raise UsageError(
            "no plan is given and none is in use", "git ralph run <plan.md>", "git ralph plan use <plan.md>"
        )
    return replace(options, plan=plan)


def _latest(ctx: Context, options: Options) -> runs.Record | None:
    """The last loop of this worktree, of the given plan where one is given."""
    name = plans.relative(ctx, options.plan) if options.plan else None
    for run in reversed(runs.all_ids(ctx.layout)):
        record = runs.read(ctx.layout, run)
        if record.get("worktree") != ctx.layout.token or not isinstance(record.get("options"), dict):
            continue
        if name is None or record.get("plan") == name:
            return record
    return None


def interrupted(ctx: Context, options: Options) -> runs.Record | None:
    """The run that ``--resume`` would go on with, None when there is none."""
    record = _latest(ctx, options)
    return None if record is None or record.get("outcome") in _OVER else record


def resumed(ctx: Context, options: Options) -> Prepared:
    """The options of the interrupted run, with what was given now on top. Raises Fatal without one."""
    if options.plan:
        options = with_plan(ctx, options)
    record = interrupted(ctx, options)
    if record is None:
        raise Fatal("there is no interrupted run to resume", "git ralph run list")
    running.refuse_live(record, "resumed")
    plan = record.get("plan")
    kept = _options(record["options"])
    kept = replace(kept, plan=os.path.normpath(os.path.join(ctx.repo.root, plan)) if plan else None)
    now, empty = vars(options), vars(Options())
    given = {name: value for name, value in now.items() if value != empty[name] and name != "plan"}
    if "agent" in given or "command" in given:
        kept = replace(kept, agent=None, command=())
    return Prepared(replace(kept, **given), record)


def _options(kept: dict[str, object]) -> Options:
    known = {f.name for f in fields(Options)}
    values = {key: tuple(v) if isinstance(v, list) else v for key, v in kept.items() if key in known}
    return Options(**values)  # type: ignore[arg-type]


@contextlib.contextmanager
def _only_one(ctx: Context, options: Options) -> Iterator[None]:
    """One loop a plan. Raises Refused with the pid of the other."""
    if options.plan is None:
        yield
        return
    name = f"plan-{plans.key_of(options.plan)}"
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locks.hold(ctx.layout, name, wait=0))
        except Busy:
            what = shown(os.fsencode(plans.relative(ctx, options.plan)))
            raise Refused(
                f"another git ralph run works on '{what}'{locks.holder(ctx.layout, name)}",
                "git ralph run list",
            ) from None
        yield


def run(ctx: Context, prepared: Prepared, say: Say, view: View, cwd: str) -> Summary:
    """Work through the plan. Raises UsageError, Refused or Fatal before anything is done."""
    options = prepared.options
    command = launch.command_of(options, ctx.config, ctx.environ, cwd)
    if options.plan is not None:
        plans.read(options.plan)
    if not options.worktree:
        refuse_operation(ctx)  # better now than when the first agent has done its work
    begun = time.monotonic()
    with _only_one(ctx, options):
        ledger, news = _open(ctx, prepared, say)
        view.run = ledger.run
        children = Children(ctx.layout.tmp)
        name = plans.relative(ctx, options.plan) if options.plan else None
        worker = Worker(ctx, options, command, ledger, children, say, name, news)
        schedule = Schedule(worker, Queue(options, ledger, say), view)
        outcome, code = schedule.run()
        mark_end(ledger, outcome)
        found = summary.make(ledger, name, outcome, code, time.monotonic() - begun, schedule.hints)
        running.write_summary(ctx.layout, ledger.run, summary.markdown(found))
        return found


def _open(ctx: Context, prepared: Prepared, say: Say) -> tuple[Ledger, list[str]]:
    options, news = prepared.options, list[str]()
    me = process.identity(os.getpid())
    if prepared.record is None:
        plan = plans.relative(ctx, options.plan) if options.plan else None
        record = runs.create(
            ctx.layout, ctx.repo.root, plan=plan, agent=options.agent, process=me, options=options.kept()
        )
    else:
        record = prepared.record
        record.update(process=me, options=options.kept(), agent=options.agent)
        found = running.reopen(ctx, record)
        news = [row.raw.decode("utf-8", "replace")[:500] for row in found.news[-_NEWS:]]
    ledger = Ledger(ctx, record)
    say(f"run {ledger.run}" + (" goes on" if prepared.record else ""))
    ledger.tell("loop.started", plan=record.get("plan"), jobs=options.jobs)
    return ledger, news
