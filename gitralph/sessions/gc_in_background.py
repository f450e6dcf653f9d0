"""Starts ``git ralph gc --auto`` in the background where so many sessions lie about that it pays.

With 3,000 sessions that were over, ``status`` took 6.9 times as long. A command that has just landed a
commit or ended a session asks last of all, which is one listing of the state folder: 0.1 ms where 200 are
there. No hook does.
"""

import os
import sys
import time

from gitralph.base import files, locks, programs
from gitralph.git.context import Context

# A status among so many takes a tenth longer; put away they cost nothing.
_MANY = 200
# What nobody can put away yet, because it is pending or of today, is not looked through at each commit.
_AGAIN = 3600.0


def _limit(ctx: Context) -> int:
    value = ctx.config.get("ralph.gcauto")
    if value is None:
        return _MANY
    # isdigit alone takes digits that int() does not, and the commit has landed by now
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
    return now - _AGAIN < last <= now + _AGAIN  # further in the future it is another clock's


def put_away_if_due(ctx: Context) -> None:
    """Start it where ``ralph.gcAuto`` sessions are there, once an hour. Never raises: a commit has landed."""
    stamp, now = ctx.layout.lock(locks.GC), time.time()
    try:
        limit = _limit(ctx)
        if not sys.executable:
            return  # an embedded interpreter has no name to be started by
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
        pass  # whoever comes next tries again
