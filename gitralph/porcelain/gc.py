"""``git ralph gc``: removes state that nothing needs any more, and names what it keeps and why.

Runs under the commit lock, after commits that were cut short are finished: a landing commit's
consumption lines hold offsets into journals that must not be replaced under it.
"""

import os
import time
from dataclasses import dataclass, field

from gitralph import files, gitdir, layout
from gitralph.errors import Fatal
from gitralph.layout import Layout
from gitralph.plumbing import worktree
from gitralph.porcelain import expire, runs, tidy
from gitralph.porcelain.context import Context
from gitralph.porcelain.expire import Worktrees
from gitralph.state import lock, manifest, pending, shelltrim, sweep
from gitralph.state.sweep import Sweep, Swept

DEFAULT_AGE = 30 * 24 * 3600


@dataclass(frozen=True)
class Orphan:
    """Records of a worktree that does not exist any more, with what its sessions have pending."""

    name: str
    reason: str
    pending: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """What was removed (or would be), the orphans that are kept, and journals that were in use."""

    swept: list[Swept] = field(default_factory=list)
    orphans: list[Orphan] = field(default_factory=list)
    busy: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(one.size for one in self.swept)


def cutoff(ctx: Context, now: float) -> float:
    """The time before which sessions expire: ``ralph.gcExpire``, a date as git takes it."""
    if ctx.config.get("ralph.gcexpire") is None:
        return now - DEFAULT_AGE
    done = ctx.git.try_run("config", "--type=expiry-date", "--get", "ralph.gcExpire")
    if done.returncode:
        raise Fatal(f"bad value '{ctx.config.get('ralph.gcexpire')}' for 'ralph.gcExpire'")
    return min(float(done.stdout.strip() or 0), now)


def _admin_folder(ctx: Context, name: str) -> str | None:
    """The admin folder of a linked worktree's state, None when git gave its name to another."""
    admin, _, token = name.rpartition("-")
    folder = f"{ctx.repo.common_dir}/worktrees/{admin}"
    try:
        said = files.read_bytes(f"{folder}/{layout.WORKTREE_ID_FILE}", 64)
    except OSError:
        return None
    return folder if said.strip() == token.encode() else None


def _reason(ctx: Context, name: str) -> str | None:
    """Why the worktree of a state folder does not exist, None when it does."""
    folder = _admin_folder(ctx, name)
    if folder is None:
        return "git has no such worktree any more"
    try:
        dot_git = os.fsdecode(files.read_bytes(f"{folder}/gitdir", 8192)).rstrip("\n")
    except OSError:
        return "git has no such worktree any more"
    return None if os.path.lexists(os.path.join(folder, dot_git)) else "its folder is not there"


def worktrees(ctx: Context) -> tuple[Worktrees, dict[str, str]]:
    """Every worktree's layout, and for each that is gone the reason."""
    top = Layout(ctx.layout.top, layout.MAIN)
    here, gone, reasons = [top], [], {}
    roots = _roots(ctx)
    for name in sweep.names(f"{top.top}/worktrees"):
        reason = _reason(ctx, name)
        found = Layout(top.top, name)
        if reason is None:
            here.append(found)
        else:
            gone.append(found)
            reasons[name] = reason
    return Worktrees(ctx, here, gone, roots), reasons


def _roots(ctx: Context) -> dict[str, str]:
    """Where git has each worktree, by the token of its state."""
    found = {}
    for row in worktree.listing(ctx.git):
        place = gitdir.discover(os.path.realpath(row.path))
        if place is not None and place.common_dir == ctx.repo.common_dir:
            found[layout.for_place(place, create=False).token] = row.path
    return found


def _orphan(lay: Layout, reason: str) -> Orphan:
    counts = {s: len(pending.pending_paths(lay, [s])) for s in manifest.sessions_here(lay)}
    return Orphan(lay.token, reason, {session: count for session, count in counts.items() if count})


def _size(path: str) -> int:
    if os.path.islink(path) or not os.path.isdir(path):
        return os.lstat(path).st_size
    return sum(_size(f"{path}/{name}") for name in os.listdir(path))


def collect(ctx: Context, dry: bool = False) -> Report:
    """Remove what is not needed; with ``dry`` only say what would be. Raises Busy or Fatal."""
    if not os.path.isdir(ctx.layout.top):
        return Report()
    if dry:
        return _collect(ctx, True)
    with lock.hold(ctx.layout, lock.COMMIT):
        return _collect(ctx, False)


def _collect(ctx: Context, dry: bool) -> Report:
    now = time.time()
    trees, reasons = worktrees(ctx)
    run = Sweep(ctx.layout.top, now, cutoff(ctx, now), dry)
    for path in tidy.dead_work(ctx.layout):
        run.note("work", path, _size(path))
    if not dry:
        tidy.settle(ctx)
    for lay in trees.here:
        sweep.journals(run, lay)
        sweep.calls(run, lay)
        shelltrim.trim(run, lay)
        sweep.leftovers(run, lay)
    for session in expire.known(trees):
        if expire.is_over(trees, session, run.cutoff):
            expire.forget(run, trees, session)
    sweep.texts(run, trees.every)
    for path in runs.expired(ctx):
        run.unlink("run", path)
    return Report(run.swept, [_orphan(lay, reasons[lay.token]) for lay in trees.gone], run.busy)
