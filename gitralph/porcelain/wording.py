"""What a commit says of itself: the subject nobody typed, and the trailers that name the session."""

import os
from typing import Any

from gitralph.porcelain import plan
from gitralph.porcelain.context import Context
from gitralph.quote import shown


def plan_tasks(text: str) -> list[str]:
    """The task texts of a plan: its check boxes, outside code fences, in order."""
    return [task.text for task in plan.parse(text.encode("utf-8", "surrogateescape"))]


def _task_subject(ctx: Context, name: str, task: str) -> str | None:
    path = os.path.join(ctx.repo.root, name)
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            tasks = plan_tasks(file.read(1 << 20))
    except OSError:
        return f"Task {task}"
    if task.isdigit() and 0 < int(task) <= len(tasks):
        return f"Task {task}/{len(tasks)}: {tasks[int(task) - 1]}"
    return f"Task {task}"


def _summary(changes: dict[bytes, str]) -> str:
    verbs = {"A": "Add", "D": "Delete", "M": "Update", "T": "Change the type of"}
    kinds = set(changes.values())
    verb = verbs[kinds.pop()] if len(kinds) == 1 else "Update"
    if len(changes) == 1:
        return f"{verb} {shown(next(iter(changes)))}"
    return f"{verb} {len(changes)} files"


def default_message(ctx: Context, record: dict[str, Any], changes: dict[bytes, str]) -> bytes:
    """The message of a commit without ``-m``: the task, the bead, or what changed."""
    subject = None
    if record.get("plan") is not None and record.get("task") is not None:
        subject = _task_subject(ctx, str(record["plan"]), str(record["task"]))
    elif record.get("bead") is not None:
        subject = f"{record['bead']}: {_summary(changes)}"
    text = (subject or _summary(changes)).encode("utf-8", "replace")
    return text.replace(b"\0", b" ") + b"\n"


def trailers(session: str, record: dict[str, Any], includes: list[str]) -> list[bytes]:
    """The trailers that end the message."""
    rows = [("Ralph-Session", session)]
    for name in ("plan", "task", "bead", "agent"):
        if record.get(name) is not None:
            value = " ".join(str(record[name]).split())
            rows.append((f"Ralph-{name.capitalize()}", value))
    rows += [("Ralph-Includes", other) for other in includes]
    return [f"{key}: {value}".encode("utf-8", "replace") for key, value in rows]
