"""``git ralph gc``."""

from collections import Counter

import click

from gitralph import gc as collecting
from gitralph.base.quote import printable
from gitralph.cli import options, output
from gitralph.gc import Report

_NAMES = {
    "journal": "journal", "call": "call file", "text": "text", "work": "leftover",
    "session": "session file", "shell": "shell log", "run": "run file",
}  # fmt: skip


@options.command("gc")
@click.option("-n", "--dry-run", "dry", is_flag=True, help="Only say what would be removed.")
def gc(dry: bool) -> None:
    """Remove state that nothing needs any more. What is pending is kept, whoever has it."""
    ctx = options.context(create=False)
    report = collecting.collect(ctx, dry)
    if dry:
        for one in report.swept:
            output.say(f"would remove {printable(one.name)}\t{one.size}")
    _summary(report, "would remove" if dry else "removed")
    for orphan in report.orphans:
        rows = [f"'{session}' {count} pending" for session, count in orphan.pending.items()]
        what = f" ({', '.join(rows)})" if rows else ""
        output.say(f"kept worktree '{orphan.name}': {orphan.reason}{what}")
    for path in report.busy:
        output.warn(f"'{path}' is in use; run it again later")


def _summary(report: Report, verb: str) -> None:
    counts = Counter(one.kind for one in report.swept)
    parts = [f"{n} {_NAMES[kind]}{'s' if n > 1 else ''}" for kind, n in counts.items()]
    output.say(f"{verb} {', '.join(parts) or 'nothing'}; {report.size} bytes")
