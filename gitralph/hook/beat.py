"""Starts a fleet member's sign of life in the background when it is due: a hook never waits for the network.

Fast lane: one ``stat`` where the repository is in no fleet or the sign of life is not due yet.
"""

import os
import sys
import time

from gitralph.base import files, programs
from gitralph.base.layout import Layout

# In seconds. A server that does not answer is asked again after this time, not at every edit.
_AGAIN = 60.0
# In seconds. The due time is a wall-clock time, and somebody may set the clock back by a day. A due time
# further away than any interval counts as reached.
_FARTHEST = 3600.0


def _is_due(path: str, now: float) -> bool:
    try:
        due = os.stat(path).st_mtime
    except OSError:
        return False
    return not now < due <= now + _FARTHEST


def _pause(path: str) -> float:
    """The seconds until another process may be started: half of the interval that the file names."""
    try:
        said = files.read_bytes(path, 32).decode("ascii", "replace")
        return min(_AGAIN, max(float(said) / 2, 0.1))
    except (OSError, ValueError):
        return _AGAIN


def start_if_due(layout: Layout, root: str, environ: dict[str, str]) -> None:
    """Start ``git ralph fleet sync --beat`` in ``root`` where it is due. Never raises."""
    path, now = layout.fleet_due, time.time()
    if not _is_due(path, now) or not sys.executable:
        return
    env = {**programs.inherited(environ), "GIT_TERMINAL_PROMPT": "0"}
    try:
        again = now + _pause(path)
        os.utime(path, (again, again))
        words = [sys.executable, "-P", "-m", "gitralph", "-C", root, "fleet", "sync", "--beat"]
        programs.detached(words, env)
    except (OSError, ValueError):
        pass
