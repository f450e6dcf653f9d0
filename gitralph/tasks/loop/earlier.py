"""What earlier runs of a plan came to, for a new one: what landed is not done again, what was skipped stays.

A tick lives in the plan only, and a stash or reset of the plan takes it away. Where the plan is again what
HEAD holds, the records decide; a box that somebody opened by hand is work to be done again.
"""

from typing import Any

from gitralph.base.errors import RalphError
from gitralph.base.ids import is_valid
from gitralph.decide import pending_paths
from gitralph.git import merge, refs
from gitralph.git.context import Context
from gitralph.records import checklist as plans
from gitralph.records import run as runs
from gitralph.tasks.loop import committed_plan, skips
from gitralph.tasks.loop import runs as running
from gitralph.tasks.loop.ledger import Ledger
from gitralph.tasks.loop.model import COMMITTED, LANDED, Say


def take_over(ctx: Context, ledger: Ledger, plan: str, say: Say) -> None:
    """Note in a new run what earlier ones landed and skipped; said where it ticks a box again."""
    found = _runs(ctx, ledger)
    skips.carry_on(ctx, str(found[-1]["run"]) if found else None, ledger)
    if not found or not _is_as_in_head(ctx, plan):
        return
    head = refs.read_head(ctx.repo).oid
    open_tasks = {task.key: task for task in plans.tasks_of(plan) if not task.done}
    for record in found:
        for job in record["tasks"]:
            if not isinstance(job, dict) or job.get("outcome") != COMMITTED or head is None:
                continue
            task = open_tasks.get((str(job.get("text")), job.get("copy") or 0))
            commit = job.get("commit")
            if task is None or not isinstance(commit, str) or not _is_in(ctx, commit, head):
                continue
            ledger.ticked.add(task.key)
            say(f"note: '{task.text}' landed in {commit[:7]}; only its tick was taken back, with the plan")


def unfinished(ctx: Context, ledger: Ledger, key: tuple[str, int]) -> str | None:
    """The session of the last attempt at a task in an earlier run, where it has something pending."""
    for record in reversed(_runs(ctx, ledger)):
        for job in record["tasks"]:
            if not isinstance(job, dict) or (job.get("text"), job.get("copy")) != key:
                continue
            session = job.get("session")
            # A worktree of its own keeps its work by itself; a loop that runs answers for its task.
            if job.get("outcome") in LANDED or job.get("root") is not None or running.is_live(record):
                return None
            if not isinstance(session, str) or not is_valid(session):
                return None
            return session if pending_paths.counted(pending_paths.of(ctx, session)) else None
    return None


def _is_in(ctx: Context, commit: str, head: str) -> bool:
    there = ctx.git.try_run("cat-file", "-e", f"{commit}^{{commit}}").returncode == 0
    return len(commit) == 40 and there and merge.is_ancestor(ctx.git, commit, head)


def _runs(ctx: Context, ledger: Ledger) -> list[dict[str, Any]]:
    """The loops of this plan and worktree before this one."""
    found = []
    for run in runs.all_ids(ctx.layout):
        if run == ledger.run:
            continue
        try:
            record = runs.read(ctx.layout, run)
        except RalphError:
            continue
        same = record.get("plan") == ledger.record.get("plan")
        if same and record.get("worktree") == ctx.layout.token and isinstance(record.get("options"), dict):
            found.append(record)
    return found


def _is_as_in_head(ctx: Context, plan: str) -> bool:
    """True for a tracked plan that holds what HEAD holds."""
    return committed_plan.text(ctx, plan) == plans.read(plan)
