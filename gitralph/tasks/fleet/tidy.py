"""What ``git ralph gc`` may take of a fleet: its object folder, once many loose objects are there."""

import os
import shutil

from gitralph.base.errors import Busy
from gitralph.git.context import Context
from gitralph.records.member import is_member
from gitralph.tasks.fleet import landing, log, member

# Each look at a claim or a log leaves a few; git itself begins to pack at 6,700 (gc.auto, git-config(1)).
MANY = 5000


def _count(folder: str) -> tuple[int, int]:
    """How many files there are below a folder, and their bytes."""
    found = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]
    return len(found), sum(os.lstat(path).st_size for path in found)


def drop_objects(ctx: Context, dry: bool) -> int | None:
    """Remove the folder where it has grown; its bytes, None where it stays.

    It stays while a claim of ours may be nowhere else, and while somebody works with it.
    """
    if not is_member(ctx.layout):
        return None
    folder = ctx.layout.fleet_objects
    count, size = _count(folder)
    if count < MANY:
        return None
    fleet = member.open_fleet(ctx)
    try:
        with landing.hold(fleet, wait=0):
            if log.pending(fleet):
                return None
            if not dry:
                shutil.rmtree(folder)
            return size
    except Busy:
        return None
