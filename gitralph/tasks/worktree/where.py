"""Where a bead's worktree belongs, and what git has registered there. Stored paths are never believed."""

import itertools
import os
import shlex
from dataclasses import dataclass

from gitralph.base import files, ids, locks, lost_worktree
from gitralph.base.errors import Busy, Fatal, Refused, UsageError
from gitralph.base.gitdir import Place, discover, read_line
from gitralph.base.layout import Layout, for_place
from gitralph.git import merge, worktrees
from gitralph.git.context import Context
from gitralph.git.repository import operation_in
from gitralph.git.run import Git, GitError
from gitralph.git.worktrees import WorktreeEntry
from gitralph.records import bead as beads
from gitralph.records.bead import Bead
from gitralph.tasks.worktree import leftover

# --- ``.worktrees/``, kept out of ``git status`` by the repository's own exclude file, no tracked one ---


_LINE = f"/{lost_worktree.FOLDER}/".encode()


def exclude(common_dir: str) -> None:
    """List ``.worktrees/`` in the exclude file, once. Raises Busy when another program locks the file."""
    path = common_dir + "/info/exclude"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    # Appended in one write under a lock: two adds at once write one line, and nobody's own lines are lost.
    fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        files.lock(fd, path, wait=locks.WAIT)
        data = os.pread(fd, os.fstat(fd).st_size, 0)
        if _LINE not in [row.strip() for row in data.split(b"\n")]:
            os.write(fd, (b"" if data[-1:] in (b"", b"\n") else b"\n") + _LINE + b"\n")
    except files.LockTimeoutError:
        raise Busy(f"'{path}' is locked by another program", "try again shortly") from None
    finally:
        os.close(fd)


def make_home(root: str) -> None:
    """Make the folder of all worktrees of beads. Raises Refused where it is a link or a file."""
    home = f"{root}/{lost_worktree.FOLDER}"
    try:
        os.mkdir(home)
    except FileExistsError:
        if os.path.islink(home) or not os.path.isdir(home):
            raise Refused(
                f"'{home}' is not a folder of its own; worktrees are not put behind a link"
            ) from None


# --- the worktree of a bead ---


BRANCHES = "refs/heads/ralph"


def checked(bead: str) -> str:
    """A bead id from outside. Raises UsageError."""
    if not ids.is_bead(bead):
        raise UsageError(f"'{bead[:60]}' is not a bead id", ids.BEAD_RULE)
    return bead


def branch_of(bead: str) -> str:
    """The full name of a bead's branch."""
    return f"{BRANCHES}/{bead}"


def off_its_branch(git: Git, row: WorktreeEntry, branch: str) -> Refused:
    """The refusal of a worktree that is on something else than its branch, with the way back."""
    place = discover(row.path)
    operation = operation_in(place.git_dir) if place is not None else None
    if operation:  # a rebase detaches HEAD, and git switches nowhere before its end
        return Refused(f"{operation} is in progress in '{row.path}'", f"{git_in(row.path)} status")
    said = f"'{row.path}' is on {named(row)}, not on '{short(branch)}'"
    return Refused(said, way_back(git, row.path, branch))


def way_back(git: Git, path: str, branch: str) -> str:
    """The command that puts a worktree on its branch again, also where the branch was deleted.

    Commits on a detached HEAD come along, or are kept on a branch of their own: nothing else holds them.
    """
    there, tip = git.elsewhere(path), worktrees.value(git, branch)
    if tip is None:
        return f"{git_in(path)} switch -c {short(branch)}"
    head = worktrees.value(there, "HEAD")
    is_detached = there.try_run("symbolic-ref", "-q", "HEAD").returncode != 0
    if is_detached and head is not None and not _is_held(git, head):
        if merge.is_ancestor(git, tip, head):
            return f"{git_in(path)} switch -C {short(branch)}  # the branch takes its commits"
        names = (f"{short(branch)}-aside{number or ''}" for number in itertools.count())
        free = next(name for name in names if worktrees.value(git, f"refs/heads/{name}") is None)
        return f"{git_in(path)} branch {free} && {git_in(path)} switch {short(branch)}"
    return f"{git_in(path)} switch {short(branch)}"


def _is_held(git: Git, commit: str) -> bool:
    """True when a branch, a tag or another ref has a commit."""
    return bool(git.try_run("for-each-ref", "--count=1", "--contains", commit).stdout)


def git_in(path: str) -> str:
    """The beginning of a command that a hint types for git in a folder."""
    return f"git -C {shlex.quote(path)}"


def short(ref: str) -> str:
    """A ref as people name it."""
    return ref.removeprefix("refs/heads/").removeprefix("refs/tags/")


def moved_to(trees: "Trees", bead: str) -> WorktreeEntry | None:
    """The worktree that has a bead's branch where it does not belong: somebody moved it."""
    holder = trees.holder(branch_of(bead))
    return None if holder is None or holder.path == trees.path(bead) else holder


def way_home(trees: "Trees", row: WorktreeEntry, bead: str) -> tuple[str, ...]:
    """The command that moves it back, as git moves worktrees; none for the main one."""
    if row.missing or row is trees.rows[0]:
        return ()
    return (f"git worktree move {shlex.quote(row.path)} {shlex.quote(trees.path(bead))}",)


def named(row: WorktreeEntry) -> str:
    """What a worktree is on, in a sentence."""
    return f"branch '{short(row.branch)}'" if row.branch else f"a detached HEAD at {(row.head or '?')[:12]}"


@dataclass(frozen=True)
class Trees:
    """All worktrees of a repository: git bound to it as a whole, the main root, what is registered."""

    ctx: Context
    git: Git
    root: str
    rows: list[WorktreeEntry]

    @property
    def layout(self) -> Layout:
        return self.ctx.layout

    def path(self, bead: str) -> str:
        """Where a bead's worktree belongs."""
        return f"{self.root}/{lost_worktree.FOLDER}/{lost_worktree.PREFIX}{bead}"

    def at(self, path: str) -> WorktreeEntry | None:
        """What is registered at a path."""
        return next((row for row in self.rows if row.path == path), None)

    def holder(self, branch: str) -> WorktreeEntry | None:
        """The worktree that has a branch checked out."""
        return next((row for row in self.rows if row.branch == branch), None)

    def inside(self, path: str) -> Git:
        """git working in one worktree."""
        return self.git.elsewhere(path)

    def again(self) -> "Trees":
        """The same, with the worktrees listed again after a change."""
        return Trees(self.ctx, self.git, self.root, worktrees.listing(self.git))

    def keeping(self, fd: int) -> "Trees":
        """The same, its git holding a lock's descriptor."""
        # git inherits it: a git that outlives us keeps the bead locked until it is done.
        git = Git(self.git.program, self.git.env, self.git.cwd, (fd,))
        return Trees(self.ctx, git, self.root, self.rows)


def whole(ctx: Context) -> Git:
    """git bound to the repository as a whole."""
    return worktrees.administration(ctx.outer, ctx.repo.common_dir, ctx.repo.root)


def _listing(git: Git) -> list[WorktreeEntry]:
    """Every worktree. Raises Busy for one that is not ours to repair and stays half registered."""
    try:
        return worktrees.listing(git)
    except GitError as error:
        if not worktrees.is_half_registered(error):
            raise
        raise Busy(f"another worktree is being added: {error.message}", "git worktree prune") from error


def open_trees(ctx: Context) -> Trees:
    """All worktrees of the caller's repository. Raises Fatal where the main checkout cannot be told."""
    bound = whole(ctx)
    try:
        rows = worktrees.listing(bound)
    except GitError:
        # A worktree that is broken in the middle of being added breaks git's list of all of them.
        leftover.finish_all(ctx, bound)
        rows = _listing(bound)
    if ctx.repo.place.is_main:
        root = ctx.repo.root
    else:
        root = worktrees.main_root(bound, ctx.repo.common_dir, rows[0])
    git = worktrees.administration(ctx.outer, ctx.repo.common_dir, root)
    return Trees(ctx, git, root, rows)


def record_of(layout: Layout, bead: str) -> Bead | None:
    """A bead's record. Raises Fatal for a damaged one, which is kept."""
    try:
        return beads.read(layout, bead)
    except beads.DamagedBeadError as error:
        raise Fatal(f"{error}", f"look at '{layout.bead(bead)}', then move it away") from None


def admin_of(trees: "Trees", path: str) -> str | None:
    """The admin folder that git keeps for a worktree, to look at one whose ``.git`` is already deleted."""
    home = trees.ctx.repo.common_dir + "/worktrees"
    for name in files.names(home):
        try:
            if read_line(f"{home}/{name}/gitdir") == path + "/.git":
                return f"{home}/{name}"
        except OSError:
            continue
    return None


def state_of(trees: "Trees", path: str) -> str | None:
    """The name under which the state of a worktree lies whose folder is gone, while git still knows it."""
    admin, common = admin_of(trees, path), trees.ctx.repo.common_dir
    return None if admin is None else for_place(Place(admin, common, path), create=False).token


def is_inside(path: str, folder: str) -> bool:
    """True when ``path`` is ``folder`` or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def folder_holds_something(path: str) -> bool:
    """True for anything at ``path`` but an empty folder."""
    if not os.path.lexists(path):
        return False
    return os.path.islink(path) or not os.path.isdir(path) or bool(os.listdir(path))
