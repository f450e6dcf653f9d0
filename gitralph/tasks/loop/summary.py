"""What a loop came to: a row per task, what to type next, and the same as Markdown; pure."""

import shlex
from collections.abc import Callable

from gitralph.base.quote import printable
from gitralph.tasks.loop.ledger import Ledger
from gitralph.tasks.loop.model import ENTANGLED, FAILED, LANDED, NO_OP, Job, Summary


def make(
    ledger: Ledger,
    plan: str | None,
    outcome: str,
    code: int,
    seconds: float,
    hints: list[str],
    called: Callable[[str], str],
    typed: str | None,
    keeps: Callable[[Job], bool],
) -> Summary:
    """The summary of a loop that has ended; ``called`` gives the name of a session.

    ``keeps`` tells whether a task left anything that is not committed. ``plan`` is named from the
    worktree's root, ``typed`` from where the loop was started.
    """
    found = Summary(ledger.run, plan, list(ledger.jobs), outcome, code, seconds, hints=list(hints))
    if code:
        found.hints += _next_steps(found, called, typed, keeps)
    return found


def _next_steps(
    found: Summary, called: Callable[[str], str], plan: str | None, keeps: Callable[[Job], bool]
) -> list[str]:
    open_jobs = [job for job in found.jobs if job.outcome not in LANDED and job.session]
    steps = []
    if any(job.outcome == ENTANGLED for job in open_jobs):
        steps.append(again(plan, "--include-entangled") + "  # takes the others' edits along")
    told = [job for job in open_jobs if job.outcome == FAILED]
    if told:
        steps.append(f"git ralph run logs {told[0].number}  # what the agent and the checks printed")
    kept = [job for job in open_jobs if keeps(job)]
    if kept:
        first = kept[0]
        place = f" -C {_quoted(first.root)}" if first.root else ""
        shown = f"git{place} ralph diff --session {shlex.quote(called(first.session))}"
        steps.append(f"{shown}  # shows what is kept of '{first.name}'")
    steps.append(again(plan) + "  # goes on where it stopped")
    return steps


def again(plan: str | None, *more: str) -> str:
    """The command that goes on with a run."""
    return " ".join(["git ralph run", *([_quoted(plan)] if plan else []), "--resume", *more])


def _quoted(name: str) -> str:
    return shlex.quote(printable(name))


def row(job: Job) -> tuple[str, str, str, str, str]:
    """Task, outcome, commit, files, time."""
    outcome = job.outcome or "open"
    task = f"{job.number}/{job.total} {job.text}"
    return task, outcome, (job.commit or "-")[:10], str(len(job.files) or "-"), f"{job.seconds:.0f} s"


def reason(job: Job) -> str:
    """Why a task is where it is, in a sentence; empty for one that landed and has nothing to tell."""
    if job.outcome in LANDED:
        return ""
    if job.outcome is None:
        return "stopped while it was at work"
    return job.detail.split("\n")[0]


def reasons(found: Summary) -> list[str]:
    """A line for each task that did not land, and for each that changed nothing."""
    out = [f"{job.name}: {job.outcome or 'open'}: {text}" for job in found.jobs if (text := reason(job))]
    for job in found.jobs:
        out += [f"{job.name}: {note}" for note in job.notes if job.outcome == NO_OP and "last words" in note]
    return out


HEAD = ("task", "outcome", "commit", "files", "time")


def _cell(text: str) -> str:
    """Text for a Markdown table, where it can be no markup."""
    safe = printable(text).replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;")
    # A task's text is the plan's, and the table must stay one.
    for mark in "|`*_[]":
        safe = safe.replace(mark, "\\" + mark)
    return safe


def markdown(found: Summary) -> str:
    """The summary as it is kept in the state folder."""
    lines = [
        f"# Run {found.run}",
        "",
        f"{_cell(found.plan or 'no plan')}: {found.outcome}, {found.seconds:.0f} s",
        "",
        "| " + " | ".join(HEAD) + " |",
        "|" + " --- |" * len(HEAD),
        *("| " + " | ".join(_cell(cell) for cell in row(job)) + " |" for job in found.jobs),
    ]
    notes = [f"- {job.name}: {_cell(text)}" for job in found.jobs for text in _notes(job)]
    if notes:
        lines += ["", *notes]
    if found.hints:
        lines += ["", "Next:", "", *(f"- {_cell(hint)}" for hint in found.hints)]
    return "\n".join(lines) + "\n"


def _notes(job: Job) -> list[str]:
    return ([reason(job)] if job.outcome is not None and reason(job) else []) + job.notes
