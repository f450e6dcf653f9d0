"""Tells a task that was reworded while it was worked on from one that was taken out; pure.

Place counts first: what stands where the task stood, between the same two neighbours, and was not in the
plan before. But an agent may put another task there, so the two must share words as well.
"""

import re
from collections.abc import Container, Sequence

from gitralph.records.checklist import Task
from gitralph.tasks.loop.model import Job


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
    return found[0] if len(found) == 1 and _shares_words(found[0][0], job.text) else None


def _shares_words(one: str, other: str) -> bool:
    """True where half of the shorter text's words are in the other."""
    words, rest = sorted((set(_words(one)), set(_words(other))), key=len)
    return not words or 2 * len(words & rest) >= len(words)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
