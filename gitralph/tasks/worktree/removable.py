"""May this worktree go? Every reason against it, found before anything is touched."""

import filecmp
import os
import shlex
import stat
from contextlib import closing
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from gitralph.base import layout as layouts
from gitralph.base.errors import Fatal, Refused
from gitralph.base.gitdir import Place, discover
from gitralph.base.layout import Layout
from gitralph.base.quote import few
from gitralph.decide import pending_paths
from gitralph.git import listing, merge, worktrees
from gitralph.git.context import Context, in_worktree
from gitralph.git.run import Git
from gitralph.git.worktrees import Dirt, WorktreeEntry
from gitralph.records import bead as beads
from gitralph.records import sessions
from gitralph.records.bead import Bead
from gitralph.tasks.worktree import trash, where
from gitralph.tasks.worktree.where import Trees

# --- ``git ralph worktree lock`` and ``unlock``: git's own lock, by bead ---


def _registered(trees: Trees, bead: str) -> WorktreeEntry:
    row = trees.at(trees.path(where.checked(bead)))
    if row is None:
        raise Fatal(f"bead '{bead}' has no worktree", f"git ralph worktree add {bead}")
    return row


def lock(ctx: Context, bead: str, reason: str | None) -> None:
    """Lock a bead's worktree. Raises Refused when it is locked already."""
    with beads.hold(ctx.layout, where.checked(bead)):
        trees = where.open_trees(ctx)
        row = _registered(trees, bead)
        if row.locked is not None:
            raise Refused(f"'{row.path}' is locked already" + (f": {row.locked}" if row.locked else ""))
        worktrees.lock(trees.git, row.path, reason)


def unlock(ctx: Context, bead: str) -> None:
    """Unlock a bead's worktree. Raises Refused when it is not locked."""
    with beads.hold(ctx.layout, where.checked(bead)):
        trees = where.open_trees(ctx)
        row = _registered(trees, bead)
        if row.locked is None:
            raise Refused(f"'{row.path}' is not locked")
        worktrees.unlock(trees.git, row.path)


# --- ignored files that exist nowhere else: ``git worktree remove`` would delete them without a word ---


# A folder with more files counts as found nowhere else. People wait for the answer, and to refuse is safe.
_MOST = 20_000


def _same(one: bytes, other: bytes) -> bool:
    try:
        first, second = os.lstat(one), os.lstat(other)
        if stat.S_ISLNK(first.st_mode) and stat.S_ISLNK(second.st_mode):
            return os.readlink(one) == os.readlink(other)
        if not (stat.S_ISREG(first.st_mode) and stat.S_ISREG(second.st_mode)):
            return False
        return filecmp.cmp(one, other, shallow=False)
    except OSError:
        return False


def _files_below(root: bytes, path: bytes) -> list[bytes]:
    full = os.path.join(root, path)
    if os.path.islink(full) or not os.path.isdir(full):
        return [path]
    out: list[bytes] = []
    for folder, folders, names in os.walk(full):
        links = [n for n in folders if os.path.islink(os.path.join(folder, n))]
        out += [os.path.relpath(os.path.join(folder, name), root) for name in (*names, *links)]
        if len(out) > _MOST:
            break
    return out


def _repository_below(root: str, path: bytes) -> str | None:
    """The first folder below an ignored path that is a repository of its own."""
    for folder, folders, names in os.walk(os.path.join(root, os.fsdecode(path))):
        if ".git" in folders or ".git" in names:
            return folder
    return None


def _matches(path: bytes, patterns: list[str]) -> bool:
    name = os.fsdecode(path)
    parts = name.split("/")
    heads = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    return any(fnmatchcase(one, p.rstrip("/")) for p in patterns for one in (*heads, *parts))


def unique_ignored(trees: Trees, root: str, ignored: tuple[bytes, ...]) -> list[bytes]:
    """The ignored paths below ``root`` whose bytes the main checkout does not have at the same place."""
    here, main = os.fsencode(root), os.fsencode(trees.root)
    patterns = trees.ctx.config.all("ralph.worktree.disposable")
    found = []
    for path in ignored:
        if _matches(path, patterns):
            continue
        inner = _files_below(here, path)
        if len(inner) > _MOST or not all(
            _same(os.path.join(here, p), os.path.join(main, p)) or _matches(p, patterns) for p in inner
        ):
            found.append(path)
    return found


# --- every reason ---


@dataclass
class Objections:
    """What speaks against a removal unless it is forced."""

    tip: str | None = None
    dirt: Dirt = field(default_factory=Dirt)
    ignored: list[bytes] = field(default_factory=list)
    contained: bool = True
    merged: bool = True
    live: list[str] = field(default_factory=list)
    modules: bool = False
    """True where repositories of submodules go with it, which hold nothing that their remotes do not have."""

    def reasons(self) -> list[str]:
        """Sentences, one for each reason that ``--force`` may overrule."""
        out = []
        if self.dirt.changed:
            out.append(f"uncommitted work: {few(self.dirt.changed, 10)}")
        if not self.merged:
            out.append("commits that are not merged")
        if self.ignored:
            out.append(f"ignored files that are nowhere else: {few(self.ignored, 10)}")
        return out + [f"session '{name}' is live in it" for name in self.live]


def targets(trees: Trees, record: Bead) -> list[str]:
    """Where a bead's work may have landed: its base, the base's upstream, the main checkout's HEAD."""
    base = record.base_ref or ""
    # git knows the upstream of a branch by its short name alone
    names = [base, f"{where.short(base)}@{{upstream}}" if base.startswith("refs/heads/") else None]
    # Work may land on another branch than planned; what the main checkout has is not lost.
    names.append(trees.rows[0].head)
    found = [worktrees.value(trees.git, name) for name in names if name]
    return list(dict.fromkeys(oid for oid in found if oid))


def judge_branch(trees: Trees, record: Bead, tip: str, verdict: Objections) -> None:
    """Note in ``verdict`` whether the commits are merged: contained as they are, or landed as others."""
    verdict.tip = tip
    goals = targets(trees, record)
    # Without a commit of its own the branch has nothing to lose.
    if tip == record.base_oid or any(merge.is_ancestor(trees.git, tip, goal) for goal in goals):
        return
    verdict.contained = False
    # A base that gc took cannot be compared with; then only containment counts.
    start = record.base_oid if worktrees.value(trees.git, record.base_oid or "") else None
    verdict.merged = any(merge.content_landed(trees.git, start, tip, goal) for goal in goals)


def _own_layout(trees: Trees, path: str) -> Layout | None:
    place: Place | None = discover(path)
    if place is None or place.common_dir != trees.ctx.repo.common_dir:
        return None
    return layouts.for_place(place)


def live_sessions(trees: Trees, record: Bead, path: str, caller: str | None) -> list[str]:
    """Sessions other than the caller's that still work on the bead, as far as anybody can tell."""
    found = []
    owner = str(record.owner) if record.active and record.owner not in (None, caller) else None
    if owner and sessions.state_of(trees.layout, owner) == "live":
        found.append(owner)
    own = _own_layout(trees, path)
    here = [r for r in sessions.records(trees.layout) if own and r.get("worktree") == own.token]
    for name in (str(one["session"]) for one in here):
        other = own is not None and name not in (caller, *found)
        if other and own and sessions.state_of(own, name) == "live" and not _is_done(trees, path, own, name):
            found.append(name)
    return found


def _is_done(trees: Trees, path: str, own: Layout, session: str) -> bool:
    """True for a session that committed here and has nothing pending."""
    if not os.path.lexists(own.commits(session)):
        return False
    there = in_worktree(trees.ctx, path)
    with closing(there.repo):
        return not pending_paths.counted(pending_paths.of(there, session))


def users(path: str) -> list[str]:
    """Processes whose current folder lies in ``path``, where the system tells."""
    found = []
    # Only Linux tells; elsewhere removing a folder that is somebody's cwd harms that process alone.
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else []:
        if name.isdigit():
            try:
                if where.is_inside(os.readlink(f"/proc/{name}/cwd"), path):
                    found.append(name)
            except OSError:
                continue
    return found


def has_submodules(git: Git, path: str) -> bool:
    """True when a submodule is checked out in the worktree: its repository would go with it."""
    rows = listing.entries(git.run("-c", "core.fsmonitor=false", "ls-files", "-s", "-z"))
    # Mode 160000 is a submodule; its repository lies in this worktree's admin folder, so removing takes
    # unpushed commits along. git itself refuses only without --force.
    links = [row.path for row in rows if row.entry.mode == 0o160000]
    return any(os.path.lexists(os.path.join(os.fsencode(path), p, b".git")) for p in links)


def _has_had_submodules(trees: Trees, path: str) -> bool:
    """True where repositories of submodules are left in the worktree's admin folder.

    git keeps them there after ``git submodule deinit``, and removes no such worktree without ``--force``.
    Raises Refused where one has a commit that no remote branch of it has.
    """
    place = discover(path)
    home = f"{place.git_dir}/modules" if place is not None else ""
    for folder, folders, names in os.walk(home):
        if "HEAD" not in names or "objects" not in folders:
            continue
        folders[:] = [name for name in folders if name == "modules"]
        git = trees.git.elsewhere(folder, GIT_DIR=folder)
        done = git.try_run("rev-list", "--max-count=1", "--all", "HEAD", "--not", "--remotes")
        if done.returncode or done.stdout:
            name = shlex.quote(folder)
            raise Refused(
                f"the repository of a submodule in '{path}' has commits that no remote has",
                f"git --git-dir={name} log --all HEAD --not --remotes  # shows them; push them first",
            )
    return os.path.isdir(home)


def refuse_never(path: str, cwd: str) -> None:
    """Raise Refused where the caller, or any other process, has its current folder inside."""
    if where.is_inside(os.path.realpath(cwd), path):
        raise Refused(f"the current folder is inside '{path}'", "cd to the main checkout first")
    inside = [pid for pid in users(path) if pid != str(os.getpid())]
    if inside:
        raise Refused(f"'{path}' is the current folder of process {', '.join(inside[:5])}")


def judge(trees: Trees, record: Bead, path: str, caller: str | None) -> Objections:
    """What speaks against removing a worktree that is there.

    Raises Refused for submodules, and for a repository that git ignores: no commit can hold it.
    """
    git = trees.inside(path)
    verdict = Objections()
    if has_submodules(git, path):
        raise Refused(f"'{path}' has submodules checked out", f"{where.git_in(path)} submodule deinit --all")
    verdict.modules = _has_had_submodules(trees, path)
    verdict.dirt = worktrees.dirt(git, ignored=True)
    verdict.ignored = unique_ignored(trees, path, verdict.dirt.ignored)
    inside = next(filter(None, (_repository_below(path, one) for one in verdict.ignored)), None)
    if inside is not None:
        raise trash.holds_a_repository(inside)
    verdict.live = [trees.ctx.called(one) for one in live_sessions(trees, record, path, caller)]
    tip = worktrees.value(git, "HEAD")
    if tip is not None:
        judge_branch(trees, record, tip, verdict)
    return verdict
