"""The three standard streams, whatever the caller made of them; in the fast lane."""

import os
import sys


def fill() -> None:
    """Open what the caller closed, as git does.

    A file of ours would else get descriptor 1 or 2, and what is said would be written into it.
    """
    for fd, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free descriptor, which is this one
            stream = open(fd, mode, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


def drop(fd: int) -> None:
    """Let a stream that cannot be written end in nothing, also when the interpreter flushes at exit."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, fd)
    os.close(nothing)


def complain(text: str) -> None:
    """Write to stderr; a full or broken one is no reason to fail."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        drop(2)
