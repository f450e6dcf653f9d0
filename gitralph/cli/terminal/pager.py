"""The pager on a terminal, chosen and started as git does, with the same variables."""

from __future__ import annotations

import os
import shlex
import sys

from gitralph.base import runner, streams
from gitralph.cli.terminal import environ, output
from gitralph.git.context import Context
from gitralph.setup import manual

# git sets these where the user has not (git(1), GIT_PAGER): less ends on one screen and keeps colours.
_DEFAULTS = {"LESS": "FRX", "LV": "-c"}


class pager:  # noqa: N801  reads as a verb: with pager(...)
    """Sends standard output through the user's pager while the body runs.

    Nothing happens without a terminal, below a pager already, or where ``pager.<command>`` says no.
    """

    def __init__(self, ctx: Context, command: str) -> None:
        self._ctx = ctx
        self._program = _program(ctx, command)

    def __enter__(self) -> None:
        if self._program is None:
            return
        sys.stdout.flush()
        self._out = os.dup(1)
        reader, writer = os.pipe()
        env = {**_DEFAULTS, **self._ctx.environ}
        self._child = runner.start(
            ["/bin/sh", "-c", self._program],
            env=env,
            stdin=reader,
            stdout=None,
            stderr=None,
        )
        os.close(reader)
        # The descriptor, not sys.stdout: a git that we start prints there too.
        os.dup2(writer, 1)
        os.close(writer)

    def __exit__(self, kind: type[BaseException] | None, error: object, _trace: object) -> bool:
        if self._program is None:
            return False
        try:
            try:
                if kind is None:
                    sys.stdout.flush()
            except BrokenPipeError as late:
                error = late
            if isinstance(error, BrokenPipeError):  # q was pressed before the end
                streams.drop(1)  # waiting output must not appear on the terminal
                sys.stdout.flush()
        finally:
            os.dup2(self._out, 1)  # this closes our end of the pipe, so the pager sees the end
            os.close(self._out)
            self._child.wait()
        return isinstance(error, BrokenPipeError)


def manual_page(topic: str | None) -> None:
    """Show the page of a command or guide: in the pager on a terminal, as plain text elsewhere."""
    env = environ.snapshot()
    page = manual.find(topic)
    if environ.is_terminal(sys.stdout) and manual.show(page, env) == 0:
        return
    output.raw(manual.render(page, env).encode())


def _program(ctx: Context, command: str) -> str | None:
    """The pager to start; None for none."""
    if not environ.is_terminal(sys.stdout) or "GIT_PAGER_IN_USE" in ctx.environ:
        return None
    wanted = ctx.config.get(f"pager.{command}")
    # `pager.<cmd>` is a boolean or a program (git-config(1)).
    if wanted is not None and wanted.lower() in ("false", "no", "off", "0", ""):
        return None
    if wanted is not None and wanted.lower() not in ("true", "yes", "on", "1"):
        return wanted
    found = ctx.git.try_run("var", "GIT_PAGER").stdout.decode("utf-8", "surrogateescape").strip()

    return None if not found or shlex.split(found)[:1] == ["cat"] else found
