"""The one clock that a lease goes by: this machine's own, from its boot, running while it sleeps.

No other clock is asked. Two machines' clocks may be a day apart, and a person may set one back.
"""

import time

from gitralph.base import process


def now() -> float:
    """Seconds since this machine's boot, sleep included where the system counts it (Linux does)."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)


def boot() -> str:
    """Which boot that is: seconds of another mean nothing."""
    return process.boot_id() or "unknown"


def age(kept: object, since: object) -> float | None:
    """The seconds since a moment that was noted with its boot, None for one of another boot."""
    if kept != boot() or isinstance(since, bool) or not isinstance(since, int | float):
        return None
    found = now() - since
    return found if found >= 0 else None
