"""Tasks that somebody told the loop to pass over: ``git ralph run skip``.

One JSON line each in ``runs/<run>/skipped``, so that a loop at work sees it before it takes the task. A new
run of the same plan goes on with what was skipped; ``--from`` with the task lifts it.
"""

import json
import os

from gitralph.base import files, jsonline
from gitralph.base.errors import Fatal, Refused
from gitralph.base.layout import Layout
from gitralph.git.context import Context
from gitralph.records import checklist as plans
from gitralph.records.checklist import Task
from gitralph.tasks.loop import runs as running
from gitralph.tasks.loop.ledger import Ledger
from gitralph.tasks.loop.model import LANDED

# One short line a skipped task.
_LIMIT = 1 << 20
Key = tuple[str, int]


def _file(layout: Layout, run: str) -> str:
    return f"{layout.run_folder(run)}/skipped"


def _read(layout: Layout, run: str) -> dict[Key, bool]:
    """The last word on each task of a run."""
    try:
        data = files.read_bytes(_file(layout, run), _LIMIT)
    except OSError:
        return {}
    found: dict[Key, bool] = {}
    for row in jsonline.objects(data):
        text, copy = row.get("text"), row.get("copy")
        if isinstance(text, str) and type(copy) is int:
            # A later line wins: skipped, taken up again, skipped.
            found[text, copy] = row.get("skip") is True
    return found


def _write(layout: Layout, run: str, key: Key, skip: bool) -> None:
    files.make_folder(layout.run_folder(run))
    line = json.dumps({"text": key[0], "copy": key[1], "skip": skip}).encode("ascii") + b"\n"
    files.append_record(_file(layout, run), line)


def is_skipped(ledger: Ledger, key: Key) -> bool:
    """True for a task to pass over."""
    return _read(ledger.ctx.layout, ledger.run).get(key, False)


def lift(ledger: Ledger, key: Key) -> None:
    """Take a task up again."""
    if is_skipped(ledger, key):
        _write(ledger.ctx.layout, ledger.run, key, skip=False)


def carry_on(ctx: Context, old: str | None, ledger: Ledger) -> None:
    """Take over what was skipped in the last run of the same plan."""
    for key, skip in (_read(ctx.layout, old) if old is not None else {}).items():
        if skip:
            _write(ctx.layout, ledger.run, key, skip=True)


def named(tasks: list[Task], typed: str) -> Task:
    """The task that is meant: its number, or its text. Raises Fatal for none."""
    found = [task for task in tasks if typed in (str(task.number), task.text)]
    if not found:
        raise Fatal(f"the plan has no task '{typed}'", "git ralph plan show")
    return found[0]


def skip(ctx: Context, run: str | None, typed: str) -> str:
    """Pass a task over in a run; returns its text. Raises Refused for one at work or landed, else Fatal."""
    record = running.named(ctx, run)
    plan = record.get("plan")
    if not isinstance(plan, str):
        raise Fatal(f"run '{record['run']}' has no plan", "git ralph run list")
    task = named(plans.tasks_of(os.path.join(ctx.repo.root, plan)), typed)
    for job in record["tasks"]:
        if not isinstance(job, dict) or (job.get("text"), job.get("copy")) != task.key:
            continue
        if job.get("outcome") in LANDED:
            raise Refused(f"task {task.number} has landed already")
        if job.get("outcome") is None and running.is_live(record):
            raise Refused(f"task {task.number} is at work", "stop the loop first, then skip it and --resume")
    _write(ctx.layout, str(record["run"]), task.key, skip=True)
    return task.text
