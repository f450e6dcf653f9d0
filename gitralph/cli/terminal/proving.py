"""What ``commit`` and ``prove`` share: the command to prove with, and its output as it comes."""

import os

import click

from gitralph.base import streams
from gitralph.base.errors import UsageError
from gitralph.cli.terminal import output
from gitralph.git.context import Context
from gitralph.tasks.children import Children
from gitralph.tasks.prove.judge import Judge, ProvingMerges
from gitralph.tasks.prove.proof import Prover
from gitralph.tasks.prove.results import ProofCommand


class Passing:
    """Shows what a program prints, line by line, on stderr; a bare carriage return ends a line too."""

    def __init__(self) -> None:
        self._rest = b""

    def __call__(self, chunk: bytes) -> None:
        """Take some output."""
        rows = (self._rest + chunk).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = rows.pop()
        self._show(rows)

    def end(self) -> None:
        """Show what came without a newline."""
        self._show([self._rest] if self._rest else [])
        self._rest = b""

    def _show(self, rows: list[bytes]) -> None:
        text = "\n".join(row.decode("utf-8", "replace") for row in rows)
        if rows:
            streams.complain(output.printable_lines(text) + "\n")


def prover(ctx: Context, passing: Passing | None) -> Prover:
    """Proves trees in the environment of the caller."""
    return Prover(ctx, Children(ctx.layout.tmp), {}, passing)


def folder(ctx: Context) -> str:
    """The caller's folder, below the root."""
    return os.fsdecode(ctx.repo.prefix).rstrip("/")


option = click.option("--prove", metavar="<cmd>", help="Only if this passes on the merged tree.")


def judge(ctx: Context, text: str, quiet: bool, explain: bool) -> Judge:
    """What proves a commit."""
    passing = None if quiet else Passing()
    return Judge(ctx, prover(ctx, passing), ProofCommand.shell(text, folder(ctx)), output.note, explain)


def merge_judge(ctx: Context, text: str | None) -> ProvingMerges | None:
    """What proves a merge; None where nothing must be proved. Raises UsageError."""
    if text is None:
        return None
    if not text.strip():
        raise UsageError("the command to prove with is empty")
    return ProvingMerges(ctx, prover(ctx, Passing()), ProofCommand.shell(text, folder(ctx)))
