"""``git ralph gc``: removes state that nothing needs any more, and names what it keeps and why.

It runs under the commit lock, after commits that were cut short are finished: the log lines of a landing
commit hold offsets into journals, which must not be replaced meanwhile.

Sessions that ended long ago and have nothing pending are removed too. ``<session>.commits`` holds offsets
into the session's manifests, so a kill must not leave one of them to count without the other. Therefore each
manifest is first replaced by blank lines of the same length, which mean nothing with or without offsets.
"""

import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial

from gitralph.base import files, layout, locks
from gitralph.base.errors import Fatal
from gitralph.base.layout import Layout, session_of
from gitralph.commit import cleanup, commit
from gitralph.commit.preview import drafted
from gitralph.decide import decision, pending_paths
from gitralph.decide.inputs import open_bench
from gitralph.decide.request import Request
from gitralph.git import own_worktree
from gitralph.git.context import Context, in_worktree, root_with
from gitralph.hook import sessionfile
from gitralph.hook.journal import Journal
from gitralph.records import finished, manifests, over_time, path_records, sessions, sweep
from gitralph.records.sweep import Sweep, Swept
from gitralph.tasks import needed
from gitralph.tasks.fleet import at_work
from gitralph.tasks.loop import runs
from gitralph.tasks.prove import results
from gitralph.tasks.vouching import Commits

_SUFFIXES = (".json", ".files", ".commits")


@dataclass(frozen=True)
class Worktrees:
    """All layouts of a repository: of the existing worktrees, and of those that are gone, with the reason."""

    ctx: Context
    here: list[Layout]
    gone: dict[Layout, str]
    commits: Commits = field(default_factory=Commits)

    @property
    def top(self) -> Layout:
        return self.here[0]

    @property
    def every(self) -> list[Layout]:
        return [*self.here, *self.gone]


def known(trees: Worktrees) -> list[str]:
    """Every session that has left a file, sorted."""
    stems: set[str] = set()
    for suffix in _SUFFIXES:
        for lay in trees.every:
            stems.update(name.removesuffix(suffix) for name in files.names(lay.own, suffix))
    return sorted(session_of(stem) for stem in stems)


def _last_event(trees: Worktrees, session: str) -> float:
    files_of = [trees.top.record(session), trees.top.commits(session)]
    files_of += [lay.manifest(session) for lay in trees.every]
    times = []
    for path in files_of:
        try:
            times.append(os.lstat(path).st_mtime)
        except FileNotFoundError:
            continue
    return max(times, default=0.0)


@contextmanager
def _standing_in(trees: Worktrees, lay: Layout) -> Iterator[Context]:
    """The context of a worktree. Raises Fatal where it cannot be used."""
    if lay.token == trees.ctx.layout.token:
        yield trees.ctx
        return
    root = root_with(trees.ctx, lay)
    if root is None:
        raise Fatal("nobody can tell where the main worktree is")
    there = in_worktree(trees.ctx, root)
    with closing(there.repo):
        yield there


def _has_records(lay: Layout, session: str) -> bool:
    """True when a journal still has records of the session, or of a child that commits through it."""
    return bool(path_records.recorded_paths(lay, path_records.family(lay, session), lambda old: old))


def _has_pending(trees: Worktrees, session: str) -> bool:
    """True when a commit would find something of it in any worktree, apart from files that git ignores."""
    for lay in trees.here:
        if not _has_records(lay, session):
            continue
        try:
            with _standing_in(trees, lay) as ctx:
                works = pending_paths.of(ctx, session)
        # What cannot be read may have something pending, so it is kept.
        except Fatal:
            return True
        if any(work.reason != decision.IGNORED for work in works.values()):
            return True
    return False


def _needed(trees: Worktrees, lay: Layout, path: bytes, found: Journal) -> str:
    """How long the journal of a path is needed."""
    try:
        with _standing_in(trees, lay) as ctx:
            return needed.how(ctx, path, found, trees.commits)
    # What cannot be read may have something pending, so it is kept.
    except Fatal:
        return sweep.YES


def _log_void(trees: Worktrees, session: str) -> None:
    """Log paths with nothing to commit, as the session's commit would: its claims end then."""
    for lay in trees.here:
        if _has_records(lay, session):
            with _standing_in(trees, lay) as ctx:
                with open_bench(ctx, quarantine=True) as bench:
                    made = drafted(ctx, bench, Request(session))
                commit.log_void(ctx, made)


def is_over(trees: Worktrees, session: str, cutoff: float) -> bool:
    """True when nobody will miss a session: silent since ``cutoff``, not live, nothing pending, no orphan."""
    # The cheapest check comes first: most sessions are young.
    if _last_event(trees, session) >= cutoff or sessions.state_of(trees.top, session) == "live":
        return False
    # Its worktree is gone, so nobody can tell what became of the files; a person decides.
    if any(os.path.lexists(lay.manifest(session)) for lay in trees.gone):
        return False
    return not _has_pending(trees, session)


def lengths(trees: Worktrees, session: str) -> dict[str, int]:
    """The lengths of a session's manifests. Read before it is judged: one that grew since has woken up."""
    found = {}
    for lay in trees.here:
        try:
            found[lay.manifest(session)] = os.lstat(lay.manifest(session)).st_size
        except FileNotFoundError:
            continue
    return found


def forget(sweep: Sweep, trees: Worktrees, session: str, judged: dict[str, int]) -> None:
    """Remove one session that :func:`is_over`; stop where a hook wakes it up meanwhile.

    ``judged`` are the :func:`lengths` of the manifests that the judgement read.
    """
    manifests = [m for m in (lay.manifest(session) for lay in trees.here) if os.path.lexists(m)]
    others = [trees.top.commits(session), trees.top.record(session)]
    marks = ((lay.patch(session), lay.pending(session), lay.staged(session)) for lay in trees.here)
    patches = [path for each in marks for path in each if os.path.lexists(path)]
    if sweep.dry:
        for path in [*manifests, *patches, *others]:
            sweep.unlink("session", path)
        return
    _log_void(trees, session)
    for path in manifests:
        if path not in judged or not blank_manifest(path, judged[path]):
            return
    for path in [*patches, others[0]]:
        sweep.unlink("session", path)
    for path in manifests:
        if not _drop_blank(sweep, path, judged[path]):
            return
    sweep.unlink("session", others[1])
    for lay in trees.here:
        sessionfile.clear_active(lay, session)


def blank_manifest(path: str, size: int) -> bool:
    """Replace a manifest of this length by blank lines; False when lines came meanwhile.

    With new lines of a hook the manifest stays as it is. Lines of a script, which takes no lock, are carried
    over.
    """
    with files.Locked(path) as fd:
        facts = os.fstat(fd)
        if facts.st_size != size:
            return False
        # The length stays the same, so the offsets in `.commits` stay true until that file is gone.
        files.write_whole(path, b"\n" * size)
        os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))  # another run must find it as old as it was
        # The descriptor is of the replaced file, into which a script without a lock may have written.
        late = os.pread(fd, os.fstat(fd).st_size - size, size)
    if late:
        files.append_record(path, late)
    return not late


def _drop_blank(sweep: Sweep, path: str, size: int) -> bool:
    """Remove a blank manifest; False when the session has written into it again."""
    with files.Locked(path) as fd:
        if os.fstat(fd).st_size != size:
            return False
        sweep.unlink("session", path)
        return True


DEFAULT_AGE = 30 * 24 * 3600
# In seconds. Sessions that ended longer ago are put away: otherwise each status reads thousands of them.
FINISHED_AGE = 24 * 3600


def is_finished(trees: Worktrees, session: str, cutoff: float) -> bool:
    """True when a session is over and no journal has records of it, so nothing of it can come back."""
    if any(os.path.lexists(lay.patch(session)) for lay in trees.here):
        return False
    if any(_has_records(lay, session) for lay in trees.here):
        return False
    return is_over(trees, session, cutoff) and os.path.lexists(trees.top.record(session))


def put_away(trees: Worktrees, session: str, judged: dict[str, int]) -> bool:
    """Move one session that :func:`is_finished` into ``finished/``; :func:`forget` it otherwise.

    It is copied first. A kill then leaves it in both places, where the first one counts, or partly forgotten,
    as :func:`forget` may leave it too.
    """
    top = trees.top
    pairs = [(lay.manifest(session), lay.finished_manifest(session)) for lay in trees.here]
    pairs += [
        (top.commits(session), top.finished_commits(session)),
        (top.record(session), top.finished_record(session)),
    ]
    files.make_folder(top.finished)
    finished.note(top, session)
    for source, target in pairs:
        try:
            data, facts = files.read_bytes(source, 1 << 30), os.lstat(source)
        except FileNotFoundError:
            continue
        # it went on after it had been put away once
        if not source.endswith(".json") and os.path.lexists(target):
            old = files.read_bytes(target, 1 << 30)
            data = old if old.endswith(data) else old + data
        files.write_whole(target, data)
        # The age is that of its last event, since gc goes by it again.
        os.utime(target, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    forget(Sweep(top.top, 0.0, 0.0), trees, session, judged)
    return not os.path.lexists(top.record(session))


@dataclass(frozen=True)
class Orphan:
    """Records of a worktree that no longer exists, with what its sessions have pending."""

    name: str
    reason: str
    pending: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Collected:
    """What was removed (or would be), the orphans that are kept, and journals that were in use."""

    swept: list[Swept] = field(default_factory=list)
    orphans: list[Orphan] = field(default_factory=list)
    busy: list[str] = field(default_factory=list)
    put_away: int = 0

    @property
    def size(self) -> int:
        return sum(one.size for one in self.swept)


def cutoff(ctx: Context, now: float) -> float:
    """The time before which sessions expire: ``ralph.gcExpire``, a date in git's form."""
    if ctx.config.get("ralph.gcexpire") is None:
        return now - DEFAULT_AGE
    done = ctx.git.try_run("config", "--type=expiry-date", "--get", "ralph.gcExpire")
    if done.returncode:
        raise Fatal(f"bad value '{ctx.config.get('ralph.gcexpire')}' for 'ralph.gcExpire'")
    # A date in the future would remove sessions of today.
    return min(float(done.stdout.strip() or 0), now)


def _reason(ctx: Context, name: str) -> str | None:
    """Why the worktree of a state folder does not exist, None when it does."""
    root = layout.linked_root(ctx.repo.common_dir, name)
    if root is None:
        return "git has no such worktree any more"
    return None if os.path.lexists(f"{root}/.git") else "its folder is not there"


def worktrees(ctx: Context) -> Worktrees:
    """Every worktree's layout."""
    top = Layout(ctx.layout.top, layout.MAIN)
    here, gone = [top], dict[Layout, str]()
    for found in over_time.worktrees(top)[1:]:
        reason = _reason(ctx, found.token)
        if reason is None:
            here.append(found)
        else:
            gone[found] = reason
    return Worktrees(ctx, here, gone)


def _orphan(lay: Layout, reason: str) -> Orphan:
    # Nobody can tell what became of its files, so paths of which no commit has told are named.
    counts = {s: len(path_records.claims(lay, s).fresh) for s in manifests.sessions_here(lay)}
    return Orphan(lay.token, reason, {session: count for session, count in counts.items() if count})


def _size(path: str) -> int:
    if os.path.islink(path) or not os.path.isdir(path):
        return os.lstat(path).st_size
    return sum(_size(f"{path}/{name}") for name in os.listdir(path))


def collect(ctx: Context, dry: bool) -> Collected:
    """Remove what is not needed; with ``dry`` only tell what would be removed. Raises Busy or Fatal."""
    if not os.path.isdir(ctx.layout.top):
        return Collected()
    with nullcontext() if dry else locks.hold(ctx.layout, locks.COMMIT):
        return _collect(ctx, dry)


# So long it keeps the commit lock at once, and so long it then lets others have it. Ten thousand sessions:
# a commit meanwhile waits for 0.05 s and the one session that is at its turn.
PORTION, _PAUSE = 0.05, 0.2


def put_away_by_portions(ctx: Context) -> int:
    """Put finished sessions away, a few at a time between other commits; returns how many.

    All other work of :func:`collect` is left to its own callers. Raises Busy where another gc runs.
    """
    if not os.path.isdir(ctx.layout.top):
        return 0
    with locks.hold(ctx.layout, locks.GC, wait=0):
        trees = worktrees(ctx)
        # Once, before the first portion: a later manifest line comes with its record, under the journal's
        # lock.
        claimed = {lay.token: sweep.claimed(lay) for lay in trees.here}
        now = time.time()
        steps = _small_steps(Sweep(ctx.layout.top, now, cutoff(ctx, now)), trees, claimed)
        done = 0
        while True:
            with locks.hold(ctx.layout, locks.COMMIT):
                cleanup.under_lock(ctx)
                end = time.monotonic() + PORTION
                for count in steps:
                    done += count
                    if time.monotonic() >= end:
                        break
                else:
                    return done
            time.sleep(_PAUSE)


def _small_steps(run: Sweep, trees: Worktrees, claimed: dict[str, set[str]]) -> Iterator[int]:
    """Put finished sessions away, one journal or session in each step; yields how many a step put away.

    A session may have edited 170,000 paths: all its journals in one step kept a commit waiting for ten
    seconds.
    """
    for session in known(trees):
        if _last_event(trees, session) >= run.now - FINISHED_AGE:
            continue
        for lay in trees.here:
            paths = {lay.journal(path): path for path in manifests.read(lay, session).lines}
            for name in sorted(paths.keys() - claimed[lay.token]):
                sweep.journal_of_nothing(run, name, partial(_needed, trees, lay, paths[name]))
                yield 0
        yield _put_away(trees, [session], run.now, False)


def _drop_folder(ctx: Context, folder: str, dry: bool) -> None:
    """Remove the folder of a run that is gone, once it is empty."""
    if not dry and folder.startswith(f"{ctx.layout.top}/runs/"):
        with suppress(OSError):
            os.rmdir(folder)


def _collect(ctx: Context, dry: bool) -> Collected:
    now = time.time()
    trees = worktrees(ctx)
    run = Sweep(ctx.layout.top, now, cutoff(ctx, now), dry)
    for path in cleanup.dead_work(ctx.layout):
        run.note("work", path, _size(path))
    if not dry:
        cleanup.under_lock(ctx)
    for lay in trees.here:
        sweep.journals(run, lay, partial(_needed, trees, lay))
        sweep.calls(run, lay)
        sweep.shells(run, lay)
        sweep.leftovers(run, lay)
    for session in known(trees):
        judged = lengths(trees, session)
        if is_over(trees, session, run.cutoff):
            forget(run, trees, session, judged)
    away = _put_away(trees, known(trees), now, dry)
    for name in files.names(trees.top.finished):
        path = f"{trees.top.finished}/{name}"
        if path != trees.top.finished_index and os.lstat(path).st_mtime < run.cutoff:
            run.unlink("session", path)
    if not dry:
        finished.drop_gone(trees.top)
    sweep.session_names(run, trees.top)
    sweep.texts(run, trees.every)
    doomed = runs.expired(ctx)
    for path in doomed:
        run.unlink("run", path)
    # Inner folders come first: a folder is empty once its contents are removed.
    for folder in sorted({os.path.dirname(path) for path in doomed}, reverse=True):
        _drop_folder(ctx, folder, dry)
    for path in results.older_than(ctx.layout, run.cutoff):
        run.unlink("proof", path)
    for path in own_worktree.kept(ctx):
        size = _size(path)
        if dry or own_worktree.retire(ctx, path):
            run.note("worktree", path, size)
    dropped = at_work.drop_objects(ctx, dry)
    if dropped is not None:
        run.note("fleet", ctx.layout.fleet_objects, dropped)
    orphans = [_orphan(lay, reason) for lay, reason in trees.gone.items() if not _is_nothing(lay, dry)]
    # Where commits took all, as from a task's worktree that was merged and removed, nobody has to decide.
    return Collected(run.swept, [one for one in orphans if one.pending], run.busy, away)


def _is_nothing(lay: Layout, dry: bool) -> bool:
    """True for the state folder of a worktree in which nothing was ever recorded; it goes."""
    folders = list(os.walk(lay.own, topdown=False))
    if any(names for _, _, names in folders):
        return False
    for folder, _, _ in folders if not dry else ():
        with suppress(OSError):
            os.rmdir(folder)
    return True


def _put_away(trees: Worktrees, some: list[str], now: float, dry: bool) -> int:
    """Put away the finished ones of some sessions; returns how many there were (or would be)."""
    count = 0
    for one in some:
        judged = lengths(trees, one)
        try:
            if is_finished(trees, one, now - FINISHED_AGE):
                count += dry or put_away(trees, one, judged)
        except files.LockTimeoutError:
            continue  # a journal is in use, and has been named already
    return count
