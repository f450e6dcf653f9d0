"""What a loop came to: a row per task, what to type next, and the same as Markdown; pure."""

from gitralph.base.quote import printable
from gitralph.loop.ledger import Ledger
from gitralph.loop.model import ENTANGLED, LANDED, Job, Summary


def make(
    ledger: Ledger, plan: str | None, outcome: str, code: int, seconds: float, hints: list[str]
) -> Summary:
    """The summary of a loop that has ended."""
    found = Summary(ledger.run, plan, list(ledger.jobs), outcome, code, seconds, hints=list(hints))
    if code:
        found.hints += _next_steps(found)
    return found


def _next_steps(found: Summary) -> list[str]:
    open_jobs = [job for job in found.jobs if job.outcome not in LANDED and job.session]
    steps = []
    if any(job.outcome == ENTANGLED for job in open_jobs):
        steps.append(again(found.plan, "--include-entangled") + " takes the others' edits along")
    if open_jobs:
        first = open_jobs[0]
        steps.append(f"git ralph diff --session {first.session} shows what is kept of '{first.name}'")
    steps.append(again(found.plan) + " goes on where it stopped")
    return steps


def again(plan: str | None, *more: str) -> str:
    """The command that goes on with a run."""
    return " ".join(["git ralph run", *([_quoted(plan)] if plan else []), "--resume", *more])


def _quoted(name: str) -> str:
    import shlex

    return shlex.quote(printable(name))


def row(job: Job) -> tuple[str, str, str, str, str]:
    """Task, outcome, commit, files, time."""
    outcome = job.outcome or "open"
    task = f"{job.number}/{job.total} {job.text}"
    return task, outcome, (job.commit or "-")[:10], str(len(job.files) or "-"), f"{job.seconds:.0f} s"


HEAD = ("task", "outcome", "commit", "files", "time")


def table(found: Summary, width: int = 48) -> list[str]:
    """The rows for a screen, columns aligned."""
    rows = [HEAD, *(row(job) for job in found.jobs)]
    rows = [(_cut(printable(first), width), *rest) for first, *rest in rows]  # type: ignore[misc]
    widths = [max(len(one[i]) for one in rows) for i in range(len(HEAD))]
    return ["  ".join(cell.ljust(widths[i]) for i, cell in enumerate(one)).rstrip() for one in rows]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def _cell(text: str) -> str:
    """Text for a Markdown table, where it can be no markup."""
    safe = printable(text).replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;")
    for mark in "|`*_[]":
        safe = safe.replace(mark, "\\" + mark)
    return safe


def markdown(found: Summary) -> str:
    """The summary as it is kept in the state folder."""
    lines = [
        f"# Run {found.run}", "",
        f"{_cell(found.plan or 'no plan')}: {found.outcome}, {found.seconds:.0f} s", "",
        "| " + " | ".join(HEAD) + " |", "|" + " --- |" * len(HEAD),
        *("| " + " | ".join(_cell(cell) for cell in row(job)) + " |" for job in found.jobs),
    ]  # fmt: skip
    notes = [f"- {job.name}: {_cell(text)}" for job in found.jobs for text in _notes(job)]
    if notes:
        lines += ["", *notes]
    if found.hints:
        lines += ["", "Next:", "", *(f"- {_cell(hint)}" for hint in found.hints)]
    return "\n".join(lines) + "\n"


def _notes(job: Job) -> list[str]:
    detail = [job.detail.split("\n")[0]] if job.detail and job.outcome not in LANDED else []
    return detail + job.notes
