"""Where an agent works: a worktree of the task's own, its merge, and the guard on the agent's git."""

import os
import shlex
import sys
import time
from collections.abc import Mapping

from gitralph.base import files, programs
from gitralph.base.errors import Busy, RalphError, Refused
from gitralph.commit import guard_script
from gitralph.git.context import Context
from gitralph.records import checklist as plans
from gitralph.setup.install import githook
from gitralph.tasks.loop.ledger import LANDED, Job, Ledger
from gitralph.tasks.loop.plan_tasks import committed_text
from gitralph.tasks.worktree import add as adding
from gitralph.tasks.worktree import bead_merge as merging
from gitralph.tasks.worktree import remove as removing
from gitralph.tasks.worktree.bead_merge import ConflictError
from gitralph.tasks.worktree.where import short

# --- a worktree of its own: what ``git ralph worktree`` does, for the loop ---


# Between the tries are waits of 0.1 to 0.7 s, for jobs of the same run that merge into the same branch.
_TRIES = 8


def worktree_name(job: Job) -> str:
    """The name that stands for a job's worktree: its bead, or its session."""
    return job.bead or job.session


def add_worktree(ctx: Context, job: Job) -> tuple[str, str]:
    """The worktree of a job, made at the caller's HEAD or found again; returns its root and branch.

    The beads' records name nobody for it: the loop holds the plan's lock, and its own record names the
    session.
    """
    found = adding.add(ctx, worktree_name(job))
    if found.failed is not None:
        raise found.failed
    return found.record.path, short(found.record.branch)


def merge_home(ctx: Context, ledger: Ledger, job: Job, plan: str | None) -> None:
    """Merge a job's branch into the one where it started. Raises Refused with everything unchanged.

    What a killed loop left is finished first; another git at work makes the merge wait. Where only ticks in
    the plan stand in the way, they are taken out for the merge, whoever made them, and put in again.
    """
    try:
        _merge(ctx, job)
    except ConflictError:
        raise
    except Refused:
        ticked = _taken_out(ctx, plan) if plan is not None else None
        if plan is None or ticked is None:
            raise
        try:
            _merge(ctx, job)
        finally:
            for one in ledger.jobs:
                if one.outcome in LANDED:
                    plans.tick(ctx.layout, plan, one.key)
            for key in {*ledger.ticked, *ticked}:
                plans.tick(ctx.layout, plan, key)


def _merge(ctx: Context, job: Job) -> None:
    for attempt in range(_TRIES):
        try:
            merging.merge_bead(ctx, worktree_name(job), None, forward=True)
            return
        except Busy:
            if attempt == _TRIES - 1:
                raise
            time.sleep(0.1 * (attempt + 1))


def _taken_out(ctx: Context, plan: str) -> list[tuple[str, int]] | None:
    """Take the ticks out of a plan that differs from HEAD by them alone, and return their tasks.

    None for any other plan.
    """
    then = committed_text(ctx, plan)
    if then is None:
        return None
    now, were = plans.tasks_of(plan), {task.key: task.done for task in plans.parse(then)}
    ticked = [task for task in now if task.done and were.get(task.key) is False]
    bare = bytearray(plans.read(plan))
    for task in ticked:
        bare[task.box : task.box + 1] = b" "
    # Any other byte is somebody's edit of the plan: it stays, and the merge is refused.
    if bytes(bare) != then:
        return None
    return [task.key for task in ticked if plans.tick(ctx.layout, plan, task.key, done=False)]


def leave_worktree(ctx: Context, job: Job) -> str | None:
    """Remove a landed job's worktree by the rules of ``git ralph worktree remove``; returns why it stays.

    A bead's own worktree stays: that work item may go on.
    """
    if job.bead is not None:
        return None
    try:
        removing.remove(ctx, worktree_name(job), False, None, ctx.repo.root)
    except RalphError as error:
        return error.message
    return None


# --- the guard: a plain ``git commit`` of a run's agents takes their own lines only ---
#
# Where ``git ralph install --guard`` put the hooks, the environment asks them to narrow. Elsewhere the run
# has a folder of hooks of its own, named to the agents' git by the environment: the guard's, with the
# repository's behind them. An agent may commit in other repositories too, in a test say; there each hook
# gives way to that repository's own.


# The names that a folder of hooks must serve, since git looks in one folder only (githooks(5), git 2.39).
_NAMES = (
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-prepare-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "post-index-change",
    "reference-transaction",
    "push-to-checkout",
)

# git calls these for each ref, or each time an index is written: too often to pass through.
_OFTEN = frozenset(["reference-transaction", "post-index-change", "fsmonitor-watchman"])


def guard_environment(ctx: Context, run: str) -> dict[str, str]:
    """The variables that narrow the plain commits of a run's agents."""
    found = {"RALPH_GUARD": guard_script.NARROW, **_own_folder(ctx.environ)}
    if not githook.missing(ctx.repo.hooks_dir):
        return found
    folder = f"{ctx.layout.run_folder(run)}/hooks"
    _write_hooks(ctx, folder)
    return {**found, **_configured(ctx.environ, "core.hooksPath", folder)}


def _own_folder(environ: Mapping[str, str]) -> dict[str, str]:
    """Where the hooks find our program when an agent's shell has another PATH than we have."""
    beside = os.path.join(os.path.dirname(sys.executable), "git-ralph")
    program = beside if os.path.exists(beside) else programs.find("git-ralph", environ)
    return {} if program is None else {"RALPH_PROGRAMS": os.path.dirname(program)}


def _configured(environ: Mapping[str, str], key: str, value: str) -> dict[str, str]:
    """A setting for every git below, added to those in the environment."""
    given = environ.get("GIT_CONFIG_COUNT", "")
    count = int(given) if given.isdigit() else 0
    return {
        "GIT_CONFIG_COUNT": str(count + 1),
        f"GIT_CONFIG_KEY_{count}": key,
        f"GIT_CONFIG_VALUE_{count}": value,
    }


def _write_hooks(ctx: Context, folder: str) -> None:
    files.make_folder(folder)
    for name in _NAMES:
        theirs = f"{ctx.repo.hooks_dir}/{name}"
        passing = f'#!/bin/sh\n[ ! -x {shlex.quote(theirs)} ] || exec {shlex.quote(theirs)} "$@"\n'
        if name in guard_script.HOOKS:
            own = guard_script.own(name, False).decode()
            _put(f"{folder}/{guard_script.aside(name)}", passing)
        elif name in _OFTEN and not os.access(theirs, os.X_OK):
            continue
        else:
            own = passing
        _put(f"{folder}/{name}", _elsewhere(ctx, name) + own.partition("\n")[2])


def _elsewhere(ctx: Context, name: str) -> str:
    """The lines that give way to another repository's own hook."""
    return f"""\
#!/bin/sh
ralph_here=$(cd "$(git rev-parse --git-common-dir)" 2>/dev/null && pwd -P)
if [ "$ralph_here" != {shlex.quote(ctx.repo.common_dir)} ]; then
	ralph_hooks=$(git config --local --get core.hooksPath || echo "$ralph_here/hooks")
	[ ! -x "$ralph_hooks/{name}" ] || exec "$ralph_hooks/{name}" "$@"
	exit 0
fi
"""


def _put(path: str, text: str) -> None:
    files.write_whole(path, text.encode("utf-8", "surrogateescape"))
    os.chmod(path, 0o700)
