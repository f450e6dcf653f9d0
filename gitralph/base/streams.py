"""The three standard streams, in whatever state the caller left them; in the fast lane."""

import os
import sys


def fill() -> None:
    """Open the streams that the caller closed, as git does.

    Otherwise a file of ours would get descriptor 1 or 2, and our messages would be written into it.
    """
    for fd, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free descriptor, which is this one
            stream = open(fd, mode, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


def drop(fd: int) -> None:
    """Send a stream that cannot be written to nowhere, also when the interpreter flushes it at exit."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, fd)
    os.close(nothing)


def complain(text: str) -> None:
    """Write to stderr; a full or broken stderr is no reason to fail."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        drop(2)
