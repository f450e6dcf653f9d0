"""``git ralph run <plan>``: from what the user typed to a finished loop, new or resumed."""

import contextlib
import os
import shlex
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

from gitralph.base import files, gitdir, locks, process
from gitralph.base.errors import Busy, Fatal, RalphError, Refused, UsageError
from gitralph.base.quote import shown
from gitralph.decide import pending_paths
from gitralph.git.context import Context, refuse_operation
from gitralph.records import checklist as plans
from gitralph.records import run_record as runs
from gitralph.setup.doctor import found
from gitralph.setup.doctor.verdict import judge
from gitralph.setup.install.table import AGENTS
from gitralph.tasks.children import Children
from gitralph.tasks.fleet import at_work
from gitralph.tasks.loop import launch, summary, task_landing
from gitralph.tasks.loop import runs as running
from gitralph.tasks.loop.ledger import Job, Ledger, Options, Say
from gitralph.tasks.loop.plan_tasks import Queue, repair_boxes, take_over, task_named
from gitralph.tasks.loop.runs import View
from gitralph.tasks.loop.schedule import Crew, Schedule, mark_end
from gitralph.tasks.loop.summary import Summary
from gitralph.tasks.loop.work import InterruptedLoop, Worker

# --- before the first agent starts: said, so that nobody finds it out an hour later ---


def say_obstacles(worker: Worker) -> None:
    """Tell what stands in the way: hooks that do not answer, and what is staged already."""
    ctx, agent = worker.ctx, worker.options.agent
    if agent in AGENTS:
        verdict = judge(AGENTS[agent], found.where(ctx.repo.root, ctx.repo), ctx.environ)
        if verdict.first is not None and (verdict.is_broken or not verdict.installed):
            worker.warn_once(f"{agent}: {verdict.first.text}; its edits may not be recorded")
            worker.say(f"hint: {verdict.first.fix}")
    if ctx.git.at(ctx.repo.root).try_run("diff", "--cached", "--quiet").returncode == 1:
        worker.say("note: something is staged; it stays staged, and is in no task's commit")


# --- the fleet's claims of a run that is over ---
#
# A claim says "this clone works on it". It is over with the landing, which is the user's word to give; where
# the run leaves nothing that could land, others need not wait for two leases to find that out.


_MOST_CLAIMS = 5


def give_back_claims(ctx: Context, ledger: Ledger, say: Say) -> list[str]:
    """Give back what this run claimed in vain; returns the next command for every claim that stays."""
    held = at_work.held(ctx)
    steps = []
    for job in ledger.jobs:
        # Without an outcome the task was interrupted, and a resumed run continues it.
        if job.bead not in held or job.outcome is None:
            continue
        held.discard(job.bead)
        if job.claimed and not _left_something(ctx, job):
            if at_work.give_back(ctx, job.bead):
                job.claimed = False
                note = f"the claim on '{job.bead}' is given back: nothing came of it here"
                job.notes.append(note)
                say(f"{job.name}: {note}")
            continue
        verb = "land" if job.commit else "release"
        why = "publishes it; claimed until then" if job.commit else "lets another clone have it"
        steps.append(f"git ralph fleet {verb} {shlex.quote(job.bead)}  # {why}")
    ledger.save()
    if len(steps) > _MOST_CLAIMS:
        return [*steps[:_MOST_CLAIMS], f"git ralph fleet status  # lists these {len(steps)} claims"]
    return steps


def _left_something(ctx: Context, job: Job) -> bool:
    """True where a commit, a worktree or pending edits of a job are left."""
    if job.commit or job.unlanded or (job.root and os.path.isdir(job.root)):
        return True
    return bool(pending_paths.counted(pending_paths.of(ctx, job.session)))


# --- the loop ---


_OVER = frozenset(["done", "ended"])
# These events stand in the prompt of each task; the last few tell the state of things.
_NEWS = 20


@dataclass
class Prepared:
    """A loop that may start: its options, and the run that it continues, if any."""

    options: Options
    record: runs.Record | None = None


def with_plan(ctx: Context, options: Options) -> Options:
    """The options with the plan in use filled in. Raises UsageError when there is nothing to work on."""
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
        # A run by hand has no options, so no loop can continue it.
        if record.get("worktree") != ctx.layout.token or not isinstance(record.get("options"), dict):
            continue
        if name is None or record.get("plan") == name:
            return record
    return None


def interrupted(ctx: Context, options: Options) -> runs.Record | None:
    """The run that ``--resume`` would continue, None when there is none."""
    record = _latest(ctx, options)
    return None if record is None or record.get("outcome") in _OVER else record


def resumed(ctx: Context, options: Options) -> Prepared:
    """The options of the interrupted run, overlaid with those given now. Raises Fatal without such a run."""
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
    # A program and an agent exclude each other: the new word replaces either.
    if "agent" in given or "command" in given:
        kept = replace(kept, agent=None, command=())
    return Prepared(replace(kept, **given), record)


_NUMBERS = frozenset(["max_time", "task_timeout", "check_timeout"])
_COUNTS = frozenset(["max_iterations", "max_tasks"])


def _options(kept: dict[str, object]) -> Options:
    """The options in a run's record. Raises Fatal where no run of ours has written them."""
    # A later version may have had more options.
    known = {f.name for f in fields(Options)}
    values = {key: tuple(v) if isinstance(v, list) else v for key, v in kept.items() if key in known}
    empty = vars(Options())
    for key, value in values.items():
        # A default value needs no check.
        if value != empty[key] and not _is_option(key, empty[key], value):
            raise Fatal(f"the record of the run has no sound '{key}'", "git ralph run list")
    return Options(**values)  # type: ignore[arg-type]


def _is_option(key: str, empty: object, value: object) -> bool:
    if isinstance(empty, tuple):
        return isinstance(value, tuple) and all(isinstance(one, str) for one in value)
    if key == "prove" or isinstance(empty, bool):
        return isinstance(value, bool)
    if key in _COUNTS or isinstance(empty, int):
        return type(value) is int
    return type(value) in (int, float) if key in _NUMBERS else isinstance(value, str)


@contextlib.contextmanager
def _only_one(ctx: Context, options: Options) -> Iterator[None]:
    """Allow one loop for each plan. Raises Refused with the pid of the other loop."""
    if options.plan is None:
        yield
        return
    name = locks.PLAN + plans.key_of(options.plan)
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


def run(ctx: Context, prepared: Prepared, say: Say, view: View, cwd: str, crew: Crew) -> Summary:
    """Work through the plan. Raises UsageError, Refused or Fatal before anything is done.

    Raises InterruptedLoop where it was asked to stop and its work failed for that reason.
    """
    try:
        return _run(ctx, prepared, say, view, cwd, crew)
    except (RalphError, OSError) as error:
        if not crew.asked:
            raise
        # A terminal sends its signals to the whole group, so the git that we had started died of it.
        again = summary.again(_typed(prepared.options.plan, cwd))
        raise InterruptedLoop("interrupted", *([again] if view.run else [])) from error


def _typed(plan: str | None, cwd: str) -> str | None:
    """A plan as a person in ``cwd`` types it."""
    return None if plan is None else os.path.relpath(plan, cwd)


def _run(ctx: Context, prepared: Prepared, say: Say, view: View, cwd: str, crew: Crew) -> Summary:
    options = prepared.options
    # What was typed is checked in order: a missing plan before a missing agent.
    if options.plan is not None:
        tasks = plans.tasks_of(options.plan)
        if options.from_task is not None:
            task_named(tasks, options.from_task)
    command = launch.command_of(options, ctx.config, ctx.environ, cwd)
    if options.subject is not None:
        task_landing.checked_subject(options.subject)
    branch = _branch(ctx, prepared)
    if not options.worktree:
        refuse_operation(ctx, "committed")  # better refused now than after the first agent has done its work
    begun = time.monotonic()
    with _only_one(ctx, options):
        ledger, news = _open(ctx, prepared, say)
        view.run = ledger.run
        children = Children(ctx.layout.tmp)
        name = plans.relative(ctx, options.plan) if options.plan else None
        worker = Worker(
            ctx=ctx,
            options=options,
            command=command,
            ledger=ledger,
            children=children,
            say=say,
            plan=name,
            news=news,
            branch=branch,
        )
        say_obstacles(worker)
        if options.plan is not None:
            if prepared.record is None:
                take_over(ctx, ledger, options.plan, options.from_task, say)
            repair_boxes(ledger, options.plan, say)
        schedule = Schedule(worker, Queue(options, ledger, say), view, crew)
        outcome, code = schedule.run()
        if options.plan is not None:
            repair_boxes(ledger, options.plan, say)
        mark_end(ledger, outcome)
        hints = [*schedule.hints, *give_back_claims(ctx, ledger, say)]
        found = Summary(
            run=ledger.run,
            plan=name,
            jobs=list(ledger.jobs),
            outcome=outcome,
            code=code,
            seconds=time.monotonic() - begun,
            hints=hints,
        )
        if code:
            typed = _typed(options.plan, cwd)
            found.hints += summary.next_steps(found, ctx.called, typed, lambda job: _keeps(ctx, job))
        told = summary.markdown(found).encode("utf-8", "replace")
        files.write_whole(ctx.layout.run_summary(ledger.run), told)
        return found


def _keeps(ctx: Context, job: Job) -> bool:
    """True where a task left something for a commit; a worktree of its own is not examined."""
    if job.root is not None:
        return job.commit is None  # a commit that waits for its merge shows in no diff
    return bool(pending_paths.counted(pending_paths.of(ctx, job.session)))


def _branch(ctx: Context, prepared: Prepared) -> str | None:
    """The branch of the run, fixed at its start. Raises Refused where HEAD has left it since."""
    now = gitdir.head_branch(ctx.repo.place)
    if prepared.record is None or "branch" not in prepared.record or prepared.options.worktree:
        return now
    was = prepared.record["branch"]
    if was != now:
        then = "a detached HEAD" if was is None else str(was).removeprefix("refs/heads/")
        here = "a detached HEAD" if now is None else now.removeprefix("refs/heads/")
        hint = [f"git switch {then}"] if was is not None else []
        raise Refused(f"the run began on '{then}', and HEAD is on '{here}' now", *hint)
    return now


def _open(ctx: Context, prepared: Prepared, say: Say) -> tuple[Ledger, list[str]]:
    options, news = prepared.options, list[str]()
    me = process.identity(os.getpid())
    if prepared.record is None:
        plan = plans.relative(ctx, options.plan) if options.plan else None
        record = runs.create(
            ctx.layout,
            ctx.repo.root,
            plan=plan,
            agent=options.agent,
            process=me,
            options=options.kept(),
            branch=gitdir.head_branch(ctx.repo.place),
        )
    else:
        record = prepared.record
        # A loop that came to its end has put the boxes right: what was ticked since, a person ticked.
        if record.get("ended"):
            record["open"] = []
        record.update(process=me, options=options.kept(), agent=options.agent)
        found = running.reopen(ctx, record)
        news = [row.raw.decode("utf-8", "replace")[:500] for row in found.news[-_NEWS:]]
    ledger = Ledger(ctx, record)
    say(f"run {ledger.run}" + (" goes on" if prepared.record else ""))
    ledger.tell("loop.started", plan=record.get("plan"), jobs=options.jobs)
    return ledger, news
