"""The only clock that leases are measured by: seconds since this machine's boot, sleep included.

No wall clock is asked. Those of two machines may be a day apart, and a person may set one back.
"""

import time

from gitralph.base import process


def now() -> float:
    """Seconds since this machine's boot, sleep included where the system counts it (Linux does)."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)


def boot() -> str:
    """The id of this boot: seconds since another boot mean nothing."""
    return process.boot_id() or "unknown"


def age(kept: object, since: object) -> float | None:
    """The seconds since a moment that was noted with its boot, None for one of another boot."""
    if kept != boot() or isinstance(since, bool) or not isinstance(since, int | float):
        return None
    found = now() - since
    return found if found >= 0 else None
