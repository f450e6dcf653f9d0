"""How a command ends: exit codes, what is flushed, what is closed; the same with click and without."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from gitralph.base import streams
from gitralph.base.errors import INTERRUPTED
from gitralph.cli import options, output

# 128 and SIGPIPE, as a shell counts it: what git in a pipeline ends with.
BROKEN_PIPE = 141


def flush() -> None:
    """Flush what was printed, unless nobody reads it any more."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # the reader went away: nothing to say, and nothing for the interpreter to say at exit
        streams.drop(1)


def _flush_if_possible() -> None:
    """Flush the document that says why it failed; the failure is reported even where that is lost."""
    try:
        sys.stdout.flush()
    except OSError:
        streams.drop(1)


def run(command: Callable[[], object]) -> int:
    """Run a command; returns its exit code, never a traceback for bad input."""
    try:
        # A umask that takes our own rights away would make files that we cannot read again.
        os.umask(os.umask(0o022) & ~0o700)
        try:
            result = command()
        finally:
            options.close()
        flush()
        return result if isinstance(result, int) else 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):  # click makes the one the other, with 1
        flush()
        return BROKEN_PIPE
    except Exception as error:
        _flush_if_possible()
        return output.fault(error)
