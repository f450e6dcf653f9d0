"""What a loop will do, for ``--dry-run``, and its result: a row for each task, and what to type next."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass, field

from gitralph.base.quote import printable
from gitralph.git.context import Context
from gitralph.records import checklist as plans
from gitralph.tasks import tracker
from gitralph.tasks.loop import launch
from gitralph.tasks.loop.ledger import ENTANGLED, FAILED, LANDED, NO_OP, Job, Options
from gitralph.tasks.loop.plan_tasks import task_named

# --- before: the tasks, their environment and commands; changes nothing at all ---


_NEW = "(new)"


@dataclass(frozen=True)
class Planned:
    """One task as it would be worked on."""

    name: str
    env: dict[str, str]
    commands: list[str]


def _environment(ctx: Context, plan: str | None, number: int, bead: str | None) -> dict[str, str]:
    env = {
        "RALPH_TRACKING": "1",
        "RALPH_ROOT": ctx.repo.root,
        "RALPH_SESSION": _NEW,
        "RALPH_MANIFEST": ctx.layout.manifest(_NEW),
        "RALPH_EVENTS_FILE": ctx.layout.events(f"events-{_NEW}.jsonl"),
    }
    if plan is not None:
        env |= {"RALPH_PLAN": plan, "RALPH_TASK_NUM": str(number)}
    return {**env, "RALPH_BEAD": bead} if bead else env


def planned_tasks(ctx: Context, options: Options, cwd: str) -> list[Planned]:
    """What a run would do. Raises UsageError or Fatal as the run would."""
    command = launch.command_of(options, ctx.config, ctx.environ, cwd)
    words = [shlex.join(command.argv), *options.verify]
    if options.plan is None:
        env = _environment(ctx, None, 1, options.bead)
        return [Planned(f"Task 1/1: {options.prompt or options.bead}", env, words)]
    name = plans.relative(ctx, options.plan)
    found = plans.tasks_of(options.plan)
    first = task_named(found, options.from_task).number if options.from_task is not None else 1
    open_tasks = [task for task in found if not task.done and task.number >= first][: options.max_tasks]
    return [
        Planned(
            f"Task {task.number}/{len(found)}: {task.text}",
            _environment(ctx, name, task.number, tracker.mentioned(task.text) or options.bead),
            words,
        )
        for task in open_tasks
    ]


def preview_document(found: list[Planned]) -> dict[str, object]:
    """The preview as ``--json`` prints it."""
    rows = [{"task": one.name, "env": one.env, "commands": one.commands} for one in found]
    return {"run": None, "outcome": "dry-run", "tasks": rows}


def preview_lines(found: list[Planned]) -> list[str]:
    """The preview as text."""
    out: list[str] = []
    for task in found:
        out.append(task.name)
        out += [f"  {key}={shlex.quote(value)}" for key, value in task.env.items()]
        out += [f"  $ {command}" for command in task.commands]
    return out or ["no open task"]


# --- after; pure ---


@dataclass
class Summary:
    """How a loop ended: each job, and what to type next."""

    run: str
    plan: str | None
    jobs: list[Job]
    outcome: str
    code: int
    seconds: float
    hints: list[str] = field(default_factory=list)


def next_steps(
    found: Summary, called: Callable[[str], str], plan: str | None, keeps: Callable[[Job], bool]
) -> list[str]:
    """What to type after a loop with open tasks; ``called`` gives the name of a session.

    ``keeps`` tells whether a task left uncommitted changes; ``plan`` is the name from the folder where the
    loop began.
    """
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
    """The command that continues a run."""
    return " ".join(["git ralph run", *([_quoted(plan)] if plan else []), "--resume", *more])


def _quoted(name: str) -> str:
    return shlex.quote(printable(name))


def row(job: Job) -> tuple[str, str, str, str, str]:
    """Task, outcome, commit, files, time."""
    outcome = job.outcome or "open"
    task = f"{job.number}/{job.total} {job.text}"
    return task, outcome, (job.commit or "-")[:10], str(len(job.files) or "-"), f"{job.seconds:.0f} s"


def reason(job: Job) -> str:
    """The reason for a task's state, in a sentence; empty for one that landed without remarks."""
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
    """Text for a Markdown table, without markup."""
    safe = printable(text).replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;")
    # The text comes from the plan, and the table must stay one.
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
