"""What every writing command does first: finish or drop what a crash left behind.

The work itself is done by the module that wrote the intent, see ``records.intents.FINISHED_BY``: for a commit
by ``commit.land``.
"""

from gitralph.base import files, folders, locks, process
from gitralph.base.errors import RalphError
from gitralph.base.layout import Layout
from gitralph.commit import guard_script
from gitralph.git import dead_locks, refs
from gitralph.git.context import Context
from gitralph.records import intents


def unless_busy(ctx: Context) -> None:
    """Settle unless somebody is committing just now. Never fails the command that calls it."""
    try:
        # `status` and the like must not wait behind a commit whose hooks run. The next command heals what is
        # left.
        with locks.hold(ctx.layout, locks.COMMIT, wait=0):
            under_lock(ctx)
    except (OSError, RalphError):
        pass


def under_lock(ctx: Context) -> None:
    """Finish what was cut short, and remove the work folders of dead processes; under the commit lock."""
    intents.recover(ctx)
    if ctx.config.get("ralph.guard") == guard_script.NARROW and dead_locks.any_lock(ctx.repo):
        dead_locks.clear(ctx.repo, refs.read_head(ctx.repo).ref)
    for path in dead_work(ctx.layout):
        folders.remove(path)


def dead_work(layout: Layout) -> list[str]:
    """The work folders and files of processes that no longer exist."""
    pids = [(name, name.split("-", 1)[0].split(".", 1)[0]) for name in files.names(layout.tmp)]
    # A process id that is used again only keeps a dead folder a little longer.
    return [f"{layout.tmp}/{name}" for name, pid in pids if pid.isdigit() and not process.exists(int(pid))]
