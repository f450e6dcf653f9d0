"""Signals that ask a command to stop."""

import contextlib
import signal
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def stopped_like_by_hand() -> Iterator[None]:
    """Let SIGTERM and SIGHUP do what Ctrl-C does: stop what was started, keep everything."""
    kept = [
        (what, signal.signal(what, signal.default_int_handler)) for what in (signal.SIGTERM, signal.SIGHUP)
    ]
    try:
        yield
    finally:
        for what, before in kept:
            signal.signal(what, before)


@contextlib.contextmanager
def telling(ask: Callable[[], None]) -> Iterator[None]:
    """Call ``ask`` for each signal that wants the command to stop, instead of raising at any place in it.

    A SIGHUP that is ignored stays ignored: nohup(1) is for that.
    """
    wanted = [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP]
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        wanted.remove(signal.SIGHUP)
    kept = [(what, signal.signal(what, lambda _number, _frame: ask())) for what in wanted]
    try:
        yield
    finally:
        for what, before in kept:
            signal.signal(what, before)
