"""Kills and injected errors before every system call that changes something.

* ``strace``: lists the mutating calls of a command, kills it or fails it before the k-th.
* ``scenes``: repositories to hurt, each with the command that is hurt.
* ``verdict``: what must be true after the command was run again.

A sweep of a size that fits CI runs by default, every call with ``RALPH_FULL=1``.
"""
