"""Starts ``git ralph gc --auto`` in the background where so many sessions are kept that it pays.

With 3,000 ended sessions ``status`` took 6.9 times as long. A command that has just landed a commit or ended
a session checks this last. The check is one listing of the state folder: 0.1 ms for 200 sessions. No hook
does it.
"""

import os
import sys
import time

from gitralph.base import files, locks, programs
from gitralph.git.context import Context

# A status with so many sessions takes a tenth longer. Sessions that were put away cost nothing.
_MANY = 200
# In seconds. Sessions that cannot be put away yet, pending or of today, are not looked through at each
# commit.
_AGAIN = 3600.0


def _limit(ctx: Context) -> int:
    value = ctx.config.get("ralph.gcauto")
    if value is None:
        return _MANY
    # isdigit alone accepts digits that int() does not, and the commit has landed by now.
    if not (value.isascii() and value.isdigit()) or len(value) > 9:
        ctx.warn(f"bad value '{value}' for 'ralph.gcAuto'")
        return 0
    return int(value)


def _is_crowded(folder: str, limit: int) -> bool:
    return sum(name.endswith(".json") for name in os.listdir(folder)) >= limit


def _is_recent(stamp: str, now: float) -> bool:
    try:
        last = os.stat(stamp).st_mtime
    except FileNotFoundError:
        return False
    return now - _AGAIN < last <= now + _AGAIN  # further in the future is another machine's clock


def put_away_if_due(ctx: Context) -> None:
    """Start gc where ``ralph.gcAuto`` sessions exist, once an hour. Never raises: a commit has landed."""
    stamp, now = ctx.layout.lock(locks.GC), time.time()
    try:
        limit = _limit(ctx)
        if not sys.executable:
            return  # an embedded interpreter has no name by which to start it
        if not limit or not _is_crowded(ctx.layout.top, limit) or _is_recent(stamp, now):
            return
        files.make_folder(os.path.dirname(stamp))
        fd = files.open_regular(stamp, os.O_RDWR | os.O_CREAT)
        try:
            os.utime(fd)
        finally:
            os.close(fd)
        words = [sys.executable, "-P", "-m", "gitralph", "-C", ctx.repo.root, "gc", "--auto"]
        programs.detached(words, programs.inherited(ctx.environ))
    except (OSError, ValueError):
        pass  # the next command tries again
