"""``git ralph run --dry-run``: the tasks, their environment and commands; changes nothing at all."""

import shlex
from dataclasses import dataclass

from gitralph.git.context import Context
from gitralph.records import checklist as plans
from gitralph.tasks import tracker
from gitralph.tasks.loop import launch, skips
from gitralph.tasks.loop.model import Options

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


def tasks(ctx: Context, options: Options, cwd: str) -> list[Planned]:
    """What a run would do. Raises UsageError or Fatal as run would."""
    command = launch.command_of(options, ctx.config, ctx.environ, cwd)
    words = [shlex.join(command.argv), *options.verify]
    if options.plan is None:
        env = _environment(ctx, None, 1, options.bead)
        return [Planned(f"Task 1/1: {options.prompt or options.bead}", env, words)]
    name = plans.relative(ctx, options.plan)
    found = plans.tasks_of(options.plan)
    first = skips.named(found, options.from_task).number if options.from_task is not None else 1
    open_tasks = [task for task in found if not task.done and task.number >= first][: options.max_tasks]
    return [
        Planned(
            f"Task {task.number}/{len(found)}: {task.text}",
            _environment(ctx, name, task.number, tracker.mentioned(task.text) or options.bead),
            words,
        )
        for task in open_tasks
    ]


def document(found: list[Planned]) -> dict[str, object]:
    """The preview as ``--json`` prints it."""
    rows = [{"task": one.name, "env": one.env, "commands": one.commands} for one in found]
    return {"run": None, "outcome": "dry-run", "tasks": rows}


def lines(found: list[Planned]) -> list[str]:
    """The preview as text."""
    out: list[str] = []
    for task in found:
        out.append(task.name)
        out += [f"  {key}={shlex.quote(value)}" for key, value in task.env.items()]
        out += [f"  $ {command}" for command in task.commands]
    return out or ["no open task"]
