"""Tells a task that was reworded while it was worked on from one that was taken out; pure.

No likeness of texts counts, only place: what stands where the task stood, between the same two
neighbours, and was not in the plan before.
"""

from collections.abc import Container, Sequence

from gitralph.checklist import Task
from gitralph.loop.model import Job


def neighbours(tasks: Sequence[Task], key: tuple[str, int]) -> tuple[str | None, str | None]:
    """The texts before and after a task, None at the ends."""
    texts = [task.text for task in tasks]
    at = next(i for i, task in enumerate(tasks) if task.key == key)
    return (texts[at - 1] if at else None), (texts[at + 1] if at + 1 < len(texts) else None)


def successor(tasks: Sequence[Task], job: Job, seen: Container[str]) -> tuple[str, int] | None:
    """The key of what stands in the place of a job's task now, None when that is not certain."""
    if job.before is None and job.after is None:
        return None
    found = [
        task.key
        for task in tasks
        if not task.done and task.text not in seen and neighbours(tasks, task.key) == (job.before, job.after)
    ]
    return found[0] if len(found) == 1 else None
