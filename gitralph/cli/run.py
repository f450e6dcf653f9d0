"""``git ralph run``: the loop over a plan, and the runs themselves: start, resume, list, end."""

import os
import re
import shutil
import sys
from typing import Any

import click

from gitralph.base import ids
from gitralph.base.errors import BUSY, INTERRUPTED, NO, REFUSED, Fatal, RalphError, UsageError
from gitralph.cli.terminal import columns, environ, options, output, signals
from gitralph.cli.terminal.live import Live
from gitralph.tasks.loop import launch, runs, start, summary
from gitralph.tasks.loop.ledger import Options
from gitralph.tasks.loop.plan_tasks import skip
from gitralph.tasks.loop.runs import View
from gitralph.tasks.loop.schedule import Crew
from gitralph.tasks.loop.summary import Summary

_LOOP = "a plan"
_run_id = click.option("--run", "run_id", metavar="<id>", help="This run instead of the current one.")


class Run(options.Group):
    """A group whose default is the loop: a word that is no subcommand is a plan."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ("-h", "--help")):
            args = [_LOOP, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] == _LOOP:
            return "", loop, args[1:]
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


class Seconds(click.ParamType):  # type: ignore[type-arg]
    """A time as people write it: ``90``, ``90s``, ``5m``, ``2h``."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | None:
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", str(value).strip())
        seconds = float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]] if found else 0
        if not 0 < seconds < 1e9:
            self.fail(f"'{value}' is no time: 90, 90s, 5m, 2h", param, ctx)
        return seconds


class Loop(options.BeforeCommand):
    """The loop itself, behind the group ``run``."""

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # the loop has no name of its own
        formatter.write_usage(ctx.command_path.strip(), " ".join(self.collect_usage_pieces(ctx)))


@click.command("run", cls=Loop)
@click.argument("plan", required=False, metavar="[<plan.md>]")
@click.option("-p", "--prompt", metavar="<prompt>", help="One task instead of a plan.")
@click.option("--bead", metavar="<id>", help="The work item of the tracker.")
@click.option("--agent", metavar="<name>", help="One of: " + ", ".join(launch.HEADLESS) + ".")
@click.option("--jobs", "-j", metavar="<n>", default=1, type=click.IntRange(1, 64), help="Tasks at once.")
@click.option("--worktree", is_flag=True, help="Each task in a worktree of its own, merged back in order.")
@click.option("--max-iterations", metavar="<n>", type=click.IntRange(1), help="Calls of the agent a task.")
@click.option("--max-tasks", metavar="<n>", type=click.IntRange(1), help="Stop after so many tasks.")
@click.option("--verify", metavar="<cmd>", multiple=True, help="A check that must pass before the commit.")
@click.option("--promise", metavar="<text>", help="Repeat until the agent says <promise>text</promise>.")
@click.option("--include-entangled", is_flag=True, help="Take others' edits that ours need.")
@click.option("--prove/--no-prove", default=None, help="Run the checks on the commit's own tree.")
@click.option(
    "--subject", metavar="<template>", help="The subject of each commit: {n} {total} {task} {words}."
)
@click.option("--max-time", metavar="<t>", type=Seconds(), help="Stop after this time: 90, 90s, 5m, 2h.")
@click.option(
    "--task-timeout", metavar="<t>", type=Seconds(), help="Stop the agent of a task after this time."
)
@click.option("--check-timeout", metavar="<t>", type=Seconds(), help="Stop a check after this time.")
@click.option("--require-change", is_flag=True, help="Leave a task open that changed nothing.")
@click.option("--keep-going", is_flag=True, help="Go on with the next task where one fails.")
@click.option("--from", "from_task", metavar="<task>", help="Begin with this task, by number or text.")
@click.option("--resume", is_flag=True, help="Go on with the interrupted run.")
@click.option("--dry-run", is_flag=True, help="Print tasks, environment and commands; change nothing.")
@options.as_json
@click.pass_context
def loop(click_ctx: click.Context, /, resume: bool, dry_run: bool, as_json: bool, **given: Any) -> int:
    """Work through a plan: each open task gets a session, an agent, one commit and its tick."""
    _check(given["plan"], given["prompt"], given["bead"])
    if given["promise"] is not None and not given["promise"].strip():
        raise UsageError("the promise is empty")
    if given["plan"] is not None and not os.path.lexists(given["plan"]):
        _refuse_typo(given["plan"])
    wanted = Options(command=click_ctx.meta.get("command", ()), **given)
    view = View()
    with output.telling_why(as_json, lambda error: {"run": view.run, "outcome": _how(error), "tasks": []}):
        return _loop(wanted, view, resume, dry_run, as_json)


def _how(error: RalphError) -> str:
    """The outcome of a loop that ended before it could show its tasks."""
    return {REFUSED: "refused", BUSY: "busy", INTERRUPTED: "interrupted"}.get(error.exit_code, "failed")


def _loop(wanted: Options, view: View, resume: bool, dry_run: bool, as_json: bool) -> int:
    ctx = options.context(create=not (dry_run or resume))
    cwd = os.getcwd()
    if resume:
        prepared = start.resumed(ctx, wanted)
    else:
        prepared = start.Prepared(start.with_plan(ctx, wanted))
    if dry_run:
        planned = summary.planned_tasks(ctx, prepared.options, cwd)
        if as_json:
            output.as_json(summary.preview_document(planned))
            return 0
        for line in summary.preview_lines(planned):
            output.say(line)
        return 0
    left = None if resume else start.interrupted(ctx, prepared.options)
    # A run at work cannot be resumed, and start.run refuses its plan.
    if left is not None and not runs.is_live(left):
        output.hint(summary.again(wanted.plan) + "  # goes on with the run that was interrupted")
    crew = Crew()
    with signals.telling(crew.ask_to_stop), Live(view, ctx.layout, _columns()) as live:
        found = start.run(ctx, prepared, live.say, view, cwd, crew)
    _show(found, as_json)
    return found.code


@click.group(
    "run",
    cls=Run,
    options_metavar="[<plan.md>] [<options>]",
    subcommand_metavar="[-- <command>...]",
)
def run(**_: object) -> None:
    """Work through a plan: each open task gets a session, an agent, one commit and its tick.

    Without a plan, the one in use; or keep runs by hand with the commands below.
    """


# These options are the loop's. They stand here only to be shown; parse_args never leaves one to the group.
run.params = [one for one in loop.params if isinstance(one, click.Option)]


def _refuse_typo(plan: str) -> None:
    """Raise UsageError for a misspelt command of ``run``, which looks like a plan that does not exist."""
    close = options.did_you_mean(plan, run.commands)
    if close:
        raise UsageError(
            f"'{plan}' is no plan and not a command of 'git ralph run'{close}", "git ralph run -h"
        )


def _check(plan: str | None, prompt: str | None, bead: str | None) -> None:
    if plan is not None and prompt is not None:
        raise UsageError("a plan and -p exclude each other")
    if prompt is not None and not prompt.strip():
        raise UsageError("the prompt is empty")
    if bead is not None and (plan is not None or not ids.is_bead(bead)):
        raise UsageError(
            f"'{bead[:60]}' cannot be the work item", "in a plan a task names its own: (bead bd-1)"
        )


def _columns() -> int | None:
    """The width of the terminal on stderr, None when stderr is no terminal."""
    if not environ.is_terminal(sys.stderr) or environ.snapshot().get("TERM") == "dumb":
        return None
    return shutil.get_terminal_size().columns


def _show(found: Summary, as_json: bool) -> None:
    """Show the summary on stdout; a failing run shows it on stderr, and its stdout stays empty."""
    if as_json:
        output.as_json(
            {
                "run": found.run,
                "outcome": found.outcome,
                "tasks": [
                    {
                        "n": job.number,
                        "text": job.text,
                        "outcome": job.outcome,
                        "commit": job.commit,
                        "session": job.session,
                        "files": job.files,
                        "seconds": round(job.seconds, 1),
                        "reason": summary.reason(job),
                        "notes": job.notes,
                        "said": job.said,
                        "unlanded": job.unlanded,
                        "iterations": job.iteration,
                    }
                    for job in found.jobs
                ],
            }
        )
    else:
        fails = found.code > NO
        room = (_columns() or columns.USUAL) - len("note: ") if fails else output.room()
        for row in _table(found, room) if found.jobs else ["no open task"]:
            output.chatter("note", row) if fails else output.content(row)
        for row in summary.reasons(found):
            output.note(row)
    for one in found.hints:
        output.hint(one)


def _table(found: Summary, room: int | None) -> list[str]:
    """One row for each task; in a narrow terminal without its time and number of files."""
    rows: list[tuple[str, ...]] = [summary.HEAD, *map(summary.row, found.jobs)]
    if room is not None and room < columns.ROOMY:
        rows = [(task, outcome, commit[:7]) for task, outcome, commit, *_ in rows]
    return columns.fitted(rows, room or columns.USUAL, soft=(0,))


@run.command("start")
def start_run() -> None:
    """Start a run without the loop; prints its id."""
    output.content(runs.start(options.context()))


@run.command("resume")
@_run_id
@options.as_json
def resume_run(run_id: str | None, as_json: bool) -> None:
    """Go on with a run; prints its id and what is new."""
    with output.telling_why(as_json, lambda _: {"run": run_id, "new": [], "more": 0, "tasks": []}):
        found = runs.resume(options.context(create=False), run_id)
    if as_json:
        new = [row.value for row in found.news]
        output.as_json({"run": found.run, "new": new, "more": found.more, "tasks": found.record["tasks"]})
        return
    output.content(found.run)
    for row in found.news:
        output.note("new event: " + row.raw.decode("utf-8", "replace"))
    if found.more:
        output.note(f"and {found.more} more; see git ralph events")


@run.command("list")
@options.as_json
def list_runs(as_json: bool) -> None:
    """List all runs; * marks the current one."""
    rows = runs.listing(options.context(create=False))
    if as_json:
        output.as_json(rows)
        return
    room = output.room()
    word = " tasks" if room is None or room >= columns.ROOMY else ""
    output.table((_listed(row, word) for row in rows), soft=(3,), ends=(3,))


def _listed(row: dict[str, Any], word: str) -> list[str]:
    tasks = row["tasks"]
    done = f"{tasks['done']}/{tasks['total']}{word}" if tasks["total"] else "-"
    mark = "*" if row["current"] else " "
    how = row["outcome"] if row["state"] == "ended" and row["outcome"] else row["state"]
    return [f"{mark} {row['id']}", str(how), done, str(row["plan"] or "")]


@run.command("end")
@_run_id
def end_run(run_id: str | None) -> None:
    """Mark a run as over; nothing of it is deleted."""
    runs.end(options.context(create=False), run_id)


@run.command("skip")
@_run_id
@click.argument("task", metavar="<task>")
def skip_task(run_id: str | None, task: str) -> None:
    """Pass a task over, by number or text; its box stays open."""
    text = skip(options.context(), run_id, task)
    output.say(f"skipped: {text}")


@run.command("logs")
@_run_id
@click.option("--follow", "-f", is_flag=True, help="Go on until the run is over.")
@click.argument("task", required=False, metavar="[<task>]")
def show_logs(run_id: str | None, follow: bool, task: str | None) -> None:
    """Show what agents and checks printed.

    Of all tasks, or of one by its number, text or session.
    """
    ctx = options.context(create=False)
    record = runs.named(ctx, run_id)
    name, last = str(record["run"]), ""
    if not follow:
        for title, session in runs.sessions_of(record, task):
            for chunk in runs.read_output(ctx.layout, name, session):
                last = _chunk(title, chunk, last)
        return

    def tasks() -> list[tuple[str, str]]:
        try:
            return runs.sessions_of(runs.named(ctx, name), task)
        except Fatal:
            return []  # the task has not begun yet

    for title, chunk in runs.follow_output(
        ctx.layout, name, tasks, lambda: not runs.is_live(runs.named(ctx, name))
    ):
        last = _chunk(title, chunk, last)


def _chunk(title: str, chunk: bytes, last: str) -> str:
    """Print some output, under its task's title when that changes; returns the title."""
    if title != last:
        output.say(f"--- {title}")
    output.content(chunk.decode("utf-8", "replace").removesuffix("\n"))
    sys.stdout.flush()  # whoever reads along sees it now
    return title
