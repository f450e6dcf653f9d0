"""Signals that ask a command to stop."""

import contextlib
import signal
from collections.abc import Callable, Iterable, Iterator
from typing import Any


@contextlib.contextmanager
def _handled(wanted: Iterable[signal.Signals], handler: Callable[[int, Any], object]) -> Iterator[None]:
    kept = [(what, signal.signal(what, handler)) for what in wanted]
    try:
        yield
    finally:
        for what, before in kept:
            signal.signal(what, before)


def stopped_like_by_hand() -> contextlib.AbstractContextManager[None]:
    """Let SIGTERM and SIGHUP do what Ctrl-C does: stop what was started, keep everything."""
    return _handled((signal.SIGTERM, signal.SIGHUP), signal.default_int_handler)


def telling(ask: Callable[[], None]) -> contextlib.AbstractContextManager[None]:
    """Call ``ask`` for each signal that wants the command to stop, instead of raising at any place in it.

    A SIGHUP that is ignored stays ignored: nohup(1) is for that.
    """
    wanted = [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP]
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        wanted.remove(signal.SIGHUP)
    return _handled(wanted, lambda _number, _frame: ask())
