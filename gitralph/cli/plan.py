"""``git ralph plan``: use, show."""

import click

from gitralph.base.errors import Fatal
from gitralph.cli.terminal import options, output
from gitralph.records import checklist


@click.group("plan", cls=options.Group)
def plan() -> None:
    """Choose and show the plan that run takes without an argument."""


@plan.command("use")
@click.argument("path", metavar="<plan.md>")
def use(path: str) -> None:
    """Make a plan the one of this worktree; a task at work keeps its own."""
    ctx = options.context()
    output.note(f"'{checklist.use(ctx, path)}' is the plan of this worktree now")


@plan.command("show")
@options.as_json
def show(as_json: bool) -> None:
    """Show the plan in use and its tasks."""
    name = None
    with output.telling_why(as_json, lambda _: {"plan": name, "tasks": []}):
        ctx = options.context(create=False)
        path = checklist.current(ctx)
        if path is None:
            raise Fatal("no plan is in use", "git ralph plan use <plan.md>")
        name = checklist.relative(ctx, path)
        tasks = checklist.tasks_of(path)
    if as_json:
        rows = [{"n": task.number, "text": task.text, "done": task.done} for task in tasks]
        output.as_json({"plan": name, "tasks": rows})
        return
    output.say(f"{name}: {sum(task.done for task in tasks)} of {len(tasks)} done")
    for task in tasks:
        output.say(f"  {task.number} [{'x' if task.done else ' '}] {task.text}")
