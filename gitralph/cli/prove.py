"""``git ralph prove``."""

import shlex
import sys

import click

from gitralph.base.errors import NO, UsageError
from gitralph.cli.terminal import options, output, proving, signals
from gitralph.commit import cleanup
from gitralph.git.context import Context
from gitralph.tasks.prove import series
from gitralph.tasks.prove.results import ProofCommand
from gitralph.tasks.prove.series import Proved


@click.command(
    "prove",
    cls=options.BeforeCommand,
    options_metavar="[--json]",
    epilog="After -- comes the command, without a shell.",
)
@options.as_json
@click.argument("revisions", required=False, metavar="[<range>] -- <command>...")
@click.pass_context
def prove(click_ctx: click.Context, /, revisions: str | None, as_json: bool) -> int:
    """Run a command on each commit's own tree; without a range on the unpushed ones."""
    ctx = options.context()
    command = _command(ctx, click_ctx.meta.get("command", ()))
    cleanup.unless_busy(ctx)  # a killed proof left its work files
    found = series.commits(ctx, revisions)
    prover = proving.prover(ctx, None)
    rows: list[Proved] = []
    with signals.stopped_like_by_hand():
        for row in series.prove(prover, found, command):
            rows.append(row)
            if not as_json:
                _show(ctx, row)
            if not row.proof.ok:
                _complain(row)
    if as_json:
        output.as_json([{**row.document(), "names": list(map(ctx.called, row.sessions))} for row in rows])
    elif not rows:
        output.note("no commit to prove")
    return 0 if all(row.proof.ok for row in rows) else NO


def _command(ctx: Context, words: tuple[str, ...]) -> ProofCommand:
    if words:
        return ProofCommand(words, shlex.join(words), proving.folder(ctx))
    text = ctx.config.get("ralph.prove")
    if not text or not text.strip():
        raise UsageError("there is no command to prove with", "git ralph prove [<range>] -- <command>...")
    return ProofCommand.shell(text, proving.folder(ctx))


def _show(ctx: Context, row: Proved) -> None:
    how = "passes" if row.proof.ok else "FAILS"
    took = "cached" if row.proof.cached else f"{row.proof.seconds:.1f} s"
    whose = ", ".join(map(ctx.called, row.sessions)) or "-"
    output.say(f"{row.commit[:10]}  {how:6}  {took:>8}  {whose:12}  {row.subject}")
    sys.stdout.flush()  # whoever reads along sees the row now


def _complain(row: Proved) -> None:
    passing = proving.Passing()
    passing(row.proof.output)
    passing.end()
    output.chatter("note", f"{row.commit[:10]}: {row.trouble}")
