"""``git ralph track``."""

import os
import shlex
import sys

import click

from gitralph.base.errors import Refused, UsageError
from gitralph.base.quote import shown
from gitralph.cli.terminal import options, output
from gitralph.sessions import session_choice
from gitralph.sessions import track as tracking
from gitralph.takeback import release


@click.command("track", cls=options.Command)
@options.session
@click.option("-z", "zero", is_flag=True, help="With --stdin: paths end with NUL.")
@click.option("--stdin", "from_stdin", is_flag=True, help="Read paths from standard input.")
@click.option(
    "--from-transcript",
    "told",
    is_flag=True,
    help="Claim the uncommitted files that the session's transcript names, where no hook recorded any.",
)
@click.option(
    "--release", "back", is_flag=True, help="Take back a claim or an assignment; recorded edits stay."
)
@options.paths
def track(
    session: str | None, zero: bool, from_stdin: bool, told: bool, back: bool, paths: tuple[str, ...]
) -> None:
    """Record that a session changed these paths. Only the paths are known then, not the lines."""
    given = [os.fsencode(path) for path in paths]
    if from_stdin:
        data = sys.stdin.buffer.read()
        given += [path for path in data.split(b"\0" if zero else b"\n") if path]
    if not given and not from_stdin and not told:
        raise UsageError("no path given", "usage: git ralph track [--session <id>] [--] <path>...")
    ctx = options.context()
    if back and told:
        raise UsageError("options --release and --from-transcript exclude each other")
    words = (
        ["--release"] * back
        + ["--stdin"] * from_stdin
        + ["-z"] * zero
        + ["--from-transcript"] * told
        + ["--", *paths]
    )
    usage = "git ralph track --session {} " + shlex.join(words).removesuffix(" --")
    found = session_choice.for_writing(ctx, session, creates=not back, usage=usage)
    if found is None:
        raise Refused(
            "no session is named and none is live here",
            "git ralph session list --all  # their names, for --session",
        )
    if back:
        for note in release.release(ctx, found, [os.fsdecode(path) for path in given]):
            output.note(note)
        return
    tracking.track(ctx, found, given)
    if told:
        for path in tracking.track_transcript(ctx, found):
            output.note(f"'{shown(path)}' is named by the transcript; claimed by its path")
