"""The subject of a task's commit: ``Task n/total: text``, or made from a template."""

import re
import string

from gitralph.base.errors import UsageError
from gitralph.tasks.loop.model import Job
from gitralph.tasks.loop.work import Worker

DEFAULT = "Task {n}/{total}: {task}"
NAMES = ("n", "total", "task", "bead", "plan", "agent", "words")
# git log --oneline and mail cut what is longer (git-commit(1), DISCUSSION: fewer than 50, at most 72 here)
_WORDS = 72


def checked(template: str) -> str:
    """A template from outside. Raises UsageError for one that names what there is not."""
    try:
        named = [name for _, name, form, how in string.Formatter().parse(template) if name is not None]
        plain = all(not form and not how for _, name, form, how in string.Formatter().parse(template) if name)
    except ValueError as error:
        raise UsageError(f"bad subject '{template}': {error}") from None
    wrong = [name for name in named if name not in NAMES]
    if wrong or not plain or not template.strip():
        known = ", ".join("{" + name + "}" for name in NAMES)
        raise UsageError(f"bad subject '{template}'", f"it may hold {known}")
    return template


def of(worker: "Worker", job: Job) -> str:
    """The subject of a task's commit; one line, never empty."""
    facts = {
        "n": job.number,
        "total": job.total,
        "task": job.text,
        "bead": job.bead or "",
        "plan": worker.plan or "",
        "agent": worker.options.agent or "",
        "words": _words(job),
    }
    text = checked(worker.options.subject or DEFAULT).format(**facts)
    return " ".join(text.split()) or DEFAULT.format(**facts)


def _words(job: Job) -> str:
    """The first line of what the agent said last that says something, without marks of Markdown."""
    for line in job.said.split("\n"):
        text = re.sub(r"<promise>.*?</promise>", "", line).strip(" #*`_->\t")
        if text:
            return text if len(text) <= _WORDS else text[: _WORDS - 3].rstrip() + "..."
    return job.text
