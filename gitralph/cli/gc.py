"""``git ralph gc``."""

from collections import Counter

import click

from gitralph.base.errors import UsageError
from gitralph.base.quote import printable
from gitralph.cli.terminal import options, output
from gitralph.tasks import gc as collecting
from gitralph.tasks.gc import Collected

_NAMES = {
    "journal": "journal",
    "call": "call file",
    "text": "text",
    "work": "leftover",
    "session": "session file",
    "shell": "shell log",
    "run": "run file",
    "fleet": "folder of a fleet's objects",
    "proof": "proof",
    "worktree": "worktree",
}


@click.command("gc", cls=options.Command)
@click.option("-n", "--dry-run", "dry", is_flag=True, help="Only say what would be removed.")
@click.option("--auto", is_flag=True, help="Only put finished sessions away, giving way to commits.")
def gc(dry: bool, auto: bool) -> None:
    """Remove state that nothing needs any more. What is pending is kept, whoever has it."""
    if dry and auto:
        raise UsageError("options --auto and --dry-run exclude each other")
    ctx = options.context(create=False)
    if auto:
        _say_away(collecting.put_away_by_portions(ctx), "put")
        return
    report = collecting.collect(ctx, dry)
    if dry:
        for one in report.swept:
            output.say(f"would remove {printable(one.name)}\t{one.size}")
    _summary(report, "would remove" if dry else "removed")
    _say_away(report.put_away, "would put" if dry else "put")
    for orphan in report.orphans:
        rows = [f"'{ctx.called(session)}' {count} pending" for session, count in orphan.pending.items()]
        output.say(f"kept worktree '{orphan.name}': {orphan.reason} ({', '.join(rows)})")
    for path in report.busy:
        output.warn(f"'{path}' is in use; run it again later")


def _say_away(count: int, verb: str) -> None:
    if count:
        sessions = f"{count} finished session{'s'[: count != 1]}"
        output.say(f"{verb} {sessions} away; git ralph session list --all shows them")


def _summary(report: Collected, verb: str) -> None:
    counts = Counter(one.kind for one in report.swept)
    parts = [f"{n} {_NAMES[kind]}{'s' if n > 1 else ''}" for kind, n in counts.items()]
    output.say(f"{verb} {', '.join(parts) or 'nothing'}; {report.size} byte{'s'[: report.size != 1]}")
