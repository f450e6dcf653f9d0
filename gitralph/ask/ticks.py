"""Which uncommitted change is nothing but the ticks that ``git ralph run`` put into its plan."""

import os
from collections.abc import Iterable
from typing import Any

from gitralph.base import files
from gitralph.base.errors import Fatal
from gitralph.git.context import Context
from gitralph.records import checklist, run
from gitralph.records.checklist import Task

# The outcomes after which a run ticks a task.
_TICKED = frozenset(["committed", "no-op"])


def of_the_run(ctx: Context, paths: Iterable[bytes]) -> bytes | None:
    """The plan of this worktree's current run, if it is among ``paths`` and holds its ticks alone."""
    current, _ = run.current(ctx.layout)
    if current is None:
        return None
    try:
        record = run.read(ctx.layout, current)
        path = os.fsencode(record.get("plan") or "")
        if path not in paths:
            return None
        # status waits for no pipe and follows no link that lies in the place of a plan
        now = files.read_bytes(os.path.join(ctx.repo.root, os.fsdecode(path)), checklist.LIMIT, foreign=True)
    except (Fatal, OSError):
        return None
    before = ctx.git.at(ctx.repo.root).try_run("cat-file", "blob", b"HEAD:" + path).stdout
    return path if _is_ticked(before, now, record) else None


def _is_ticked(before: bytes, now: bytes, record: dict[str, Any]) -> bool:
    """True where the boxes of tasks that have landed are all the difference."""
    old, new = checklist.parse(before), checklist.parse(now)
    landed = {(job.get("text"), job.get("copy")) for job in record["tasks"] if job.get("outcome") in _TICKED}
    changed = {then.key for then, task in zip(old, new, strict=False) if task.done != then.done}
    return bool(changed) and changed <= landed and _open(before, old) == _open(now, new)


def _open(data: bytes, tasks: Iterable[Task]) -> bytes:
    """The text with every box open."""
    out = bytearray(data)
    for task in tasks:
        out[task.box : task.box + 1] = b" "
    return bytes(out)
