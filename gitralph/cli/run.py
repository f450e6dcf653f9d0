"""``git ralph run``: the loop over a plan, and the runs themselves: start, resume, list, end."""

import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from typing import Any

import click

from gitralph.base import ids
from gitralph.base.errors import NO, UsageError
from gitralph.cli import environ, options, output
from gitralph.cli.live import Live
from gitralph.loop import launch, preview, runs, start, summary, watch
from gitralph.loop.model import Options, Summary, View

_LOOP = "a plan"


class Run(click.Group):
    """A group whose default is the loop: what is no subcommand is a plan."""

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


class Loop(click.Command):
    """Keeps the words after ``--`` apart: they are the agent's command."""

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # the loop has no name of its own to stand here
        formatter.write_usage(ctx.command_path.strip(), " ".join(self.collect_usage_pieces(ctx)))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            ctx.meta["command"] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)


@click.command("run", cls=Loop, context_settings=options.CONTEXT, options_metavar="[<options>]")
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
@click.option("--resume", is_flag=True, help="Go on with the interrupted run.")
@click.option("--dry-run", is_flag=True, help="Print tasks, environment and commands; change nothing.")
@options.as_json
@click.pass_context
def loop(click_ctx: click.Context, /, resume: bool, dry_run: bool, as_json: bool, **given: Any) -> int:
    """Work through a plan: each open task gets a session, an agent, one commit and its tick."""
    _check(given["plan"], given["prompt"], given["bead"])
    if given["promise"] is not None and not given["promise"].strip():
        raise UsageError("the promise is empty")
    wanted = Options(command=click_ctx.meta.get("command", ()), **given)
    ctx = options.context(create=not (dry_run or resume))
    cwd = os.getcwd()
    if resume:
        prepared = start.resumed(ctx, wanted)
    else:
        prepared = start.Prepared(start.with_plan(ctx, wanted))
    if dry_run:
        for line in preview.lines(preview.tasks(ctx, prepared.options, cwd)):
            output.say(line)
        return 0
    if not resume and start.interrupted(ctx, prepared.options) is not None:
        output.hint(summary.again(given["plan"]) + " goes on with the run that was interrupted")
    view = View()
    with _stopped_like_by_hand(), Live(view, watch.looker(ctx.layout), _columns()) as live:
        found = start.run(ctx, prepared, live.say, view, cwd)
    _show(found, as_json)
    return found.code


@click.group(
    "run", cls=Run, context_settings=options.CONTEXT, options_metavar="[<plan.md>] [<options>]",
    subcommand_metavar="[-- <command>...]",
)  # fmt: skip
def run(**_: object) -> None:
    """Work through a plan: each open task gets a session, an agent, one commit and its tick.

    Without a plan, the one in use; or keep runs by hand with the commands below.
    """


# they are the loop's: here only to be shown, as parse_args never leaves one to the group
run.params = [one for one in loop.params if isinstance(one, click.Option)]


@contextlib.contextmanager
def _stopped_like_by_hand() -> Iterator[None]:
    """Let SIGTERM and SIGHUP do what Ctrl-C does: stop the agents, keep everything."""
    kept = [
        (what, signal.signal(what, signal.default_int_handler)) for what in (signal.SIGTERM, signal.SIGHUP)
    ]
    try:
        yield
    finally:
        for what, before in kept:
            signal.signal(what, before)


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
    """The width of the terminal on stderr, None when that is none."""
    if not environ.is_terminal(sys.stderr) or environ.snapshot().get("TERM") == "dumb":
        return None
    return shutil.get_terminal_size().columns


def _show(found: Summary, as_json: bool) -> None:
    """The summary: on stdout, but for a failing run, whose stdout stays empty."""
    if as_json:
        output.as_json(
            {
                "run": found.run, "outcome": found.outcome,
                "tasks": [
                    {"n": job.number, "text": job.text, "outcome": job.outcome, "commit": job.commit,
                     "session": job.session, "files": job.files, "seconds": round(job.seconds, 1)}
                    for job in found.jobs
                ],
            }
        )  # fmt: skip
    else:
        write = output.say if found.code <= NO else lambda row: output.chatter("note", row)
        for row in summary.table(found) if found.jobs else ["no open task"]:
            write(row)
    for one in found.hints:
        output.hint(one)


@run.command("start", context_settings=options.CONTEXT)
def start_run() -> None:
    """Start a run without the loop; prints its id."""
    output.say(runs.start(options.context()))


@run.command("resume", context_settings=options.CONTEXT)
@click.option("--run", "run_id", metavar="<id>", help="This run instead of the current one.")
@options.as_json
def resume_run(run_id: str | None, as_json: bool) -> None:
    """Go on with a run; prints its id, and tells the events that came since it was left."""
    found = runs.resume(options.context(create=False), run_id)
    if as_json:
        new = [row.value for row in found.news]
        output.as_json({"run": found.run, "new": new, "more": found.more, "tasks": found.record["tasks"]})
        return
    output.say(found.run)
    for row in found.news:
        output.note("new event: " + row.raw.decode("utf-8", "replace"))
    if found.more:
        output.note(f"and {found.more} more; see git ralph events")


@run.command("list", context_settings=options.CONTEXT)
@options.as_json
def list_runs(as_json: bool) -> None:
    """List all runs of the repository; * marks the current one of this worktree."""
    rows = runs.listing(options.context(create=False))
    if as_json:
        output.as_json(rows)
        return
    for row in rows:
        tasks = row["tasks"]
        done = f"{tasks['done']}/{tasks['total']} tasks" if tasks["total"] else "-"
        mark = "*" if row["current"] else " "
        how = row["outcome"] if row["state"] == "ended" and row["outcome"] else row["state"]
        output.say(f"{mark} {row['id']}\t{how}\t{done}\t{row['plan'] or ''}".rstrip())


@run.command("end", context_settings=options.CONTEXT)
@click.option("--run", "run_id", metavar="<id>", help="This run instead of the current one.")
def end_run(run_id: str | None) -> None:
    """Mark a run as over; nothing of it is deleted."""
    runs.end(options.context(create=False), run_id)
