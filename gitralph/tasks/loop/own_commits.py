"""The commits that a session made, and what HEAD has of them: only that has landed."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from gitralph.ask import log
from gitralph.ask.log import LogWish
from gitralph.ask.whose import Makers
from gitralph.base import gitdir, nul
from gitralph.git import merge
from gitralph.git.context import Context
from gitralph.hook.journal import is_oid
from gitralph.records import commit_log


@dataclass(frozen=True)
class OwnCommits:
    """The commits of one or more sessions, the oldest first.

    ``held``: each that HEAD contains, or of which HEAD contains what an amend or a rebase made of it, with
    that commit. ``away``: the rest, each with a branch that has it, or "". ``astray``: of these, those that
    were made in another worktree, that a branch has, and whose files HEAD has otherwise.
    """

    held: dict[str, str] = field(default_factory=dict)
    away: dict[str, str] = field(default_factory=dict)
    astray: set[str] = field(default_factory=set)


def of(ctx: Context, sessions: Iterable[str]) -> OwnCommits:
    """Look at what sessions committed, and at HEAD now."""
    names, head = tuple(sessions), gitdir.head_oid(ctx.repo.place)
    told = (row for name in names for row in commit_log.read(ctx.layout, name).commits)
    made = {str(row["commit"]): row.get("worktree") for row in told if is_oid(row.get("commit"))}
    now = {oid: oid for oid in made if head is not None and merge.is_ancestor(ctx.git, oid, head)}
    if len(now) == len(made):
        return OwnCommits(now)
    rows = log.commits(ctx, Makers(ctx), LogWish(sessions=frozenset(names)))
    now = {row.oid: row.became for row in rows if row.became is not None} | now
    found = OwnCommits()
    for oid, worktree in made.items():
        if oid in now:
            found.held[oid] = now[oid]
            continue
        found.away[oid] = _branch_with(ctx, oid)
        if found.away[oid] and worktree != ctx.layout.token and not _has_its_files(ctx, oid):
            found.astray.add(oid)
    return found


def paths_of(ctx: Context, oid: str) -> list[bytes]:
    """The paths that a commit changes."""
    words = ("diff-tree", "-r", "-z", "--root", "--no-commit-id", "--no-renames", "--name-only")
    return nul.rows(ctx.git.run(*words, oid))


def _has_its_files(ctx: Context, oid: str) -> bool:
    """True where HEAD has the files of a commit as the commit has them, as after a squash."""
    paths, git = paths_of(ctx, oid), ctx.git.at(ctx.repo.root)
    compare = ("--literal-pathspecs", "diff-tree", "-r", "--quiet", "HEAD", oid, "--")
    return bool(paths) and git.try_run(*compare, *paths).returncode == 0


def _branch_with(ctx: Context, oid: str) -> str:
    form = "--format=%(refname:lstrip=2)"
    done = ctx.git.try_run("for-each-ref", "--count=1", form, f"--contains={oid}", "refs/heads/")
    return done.stdout.decode("utf-8", "replace").strip()
