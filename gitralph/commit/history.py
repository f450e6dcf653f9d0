"""Looks into commits other than HEAD's: where an edit started, a submodule's own HEAD, upstream."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gitralph.base import gitdir
from gitralph.base.errors import Fatal
from gitralph.base.layout import Layout
from gitralph.context import Context
from gitralph.git import refs
from gitralph.git.refs import Head
from gitralph.git.repository import Repository
from gitralph.git.trees import Entry, TreeReader
from gitralph.hook.journal import is_oid
from gitralph.journal import consumption

if TYPE_CHECKING:
    from dulwich.objects import Commit


def tree_of(repo: Repository, commit: str) -> bytes:
    """The tree of a commit. Raises Fatal when it is not there."""
    try:
        found: Commit = repo.objects[commit.encode()]  # type: ignore[assignment]
    except KeyError:
        raise Fatal(f"commit {commit} is missing from the object database", "git fsck") from None
    tree: bytes = found.tree
    return tree


def head_entry(repo: Repository, path: bytes) -> Entry | None:
    """What HEAD holds at ``path``, None where it holds nothing or is unborn."""
    head = refs.read_head(repo).oid
    return TreeReader(repo.objects, tree_of(repo, head)).entry(path) if head else None


class Unknown:
    """The type of UNKNOWN: nobody can tell what that commit held."""


UNKNOWN = Unknown()


def entry_at(repo: Repository, commit: str | None, path: bytes) -> Entry | Unknown | None:
    """What a recorded commit held at ``path``; UNKNOWN when it is not known or not there any more."""
    if commit is None:
        return UNKNOWN
    try:
        return TreeReader(repo.objects, tree_of(repo, commit)).entry(path)
    except (KeyError, AttributeError, Fatal):
        return UNKNOWN


def undone(repo: Repository, layout: Layout, family: Iterable[str]) -> list[str]:
    """The last commits of some sessions that are not in HEAD any more: undone, amended or rebased.

    What they took is then judged by content alone: pending again where HEAD lacks it and the file
    has it.
    """
    head = refs.read_head(repo)
    last = [commit for commit in (_last_commit(layout, name) for name in family) if commit]
    return [commit for commit in last if not refs.contains(repo, head, commit)]


def _last_commit(layout: Layout, session: str) -> str | None:
    made = [
        str(fields["commit"])
        for fields in consumption.read(layout, session).commits
        if fields.get("worktree") == layout.token and is_oid(fields.get("commit"))
    ]
    return made[-1] if made else None


def undone_sessions(repo: Repository, layout: Layout, sessions: Iterable[str]) -> set[str]:
    """Those of many sessions whose last commit is not in HEAD any more; one question to git for all."""
    last = {name: commit for name in sessions if (commit := _last_commit(layout, name))}
    head = refs.read_head(repo)
    if head.oid is None or not last:
        return set(last)
    asked = "\n".join(["^" + head.oid, *sorted(set(last.values()))]).encode()
    done = repo.git.try_run("rev-list", "--stdin", stdin=asked)
    if done.returncode:  # one of them is not even there any more
        return {name for name, commit in last.items() if not refs.contains(repo, head, commit)}
    outside = set(done.stdout.decode().split())
    return {name for name, commit in last.items() if commit in outside}


def submodule_head(repo: Repository, path: bytes) -> bytes | None:
    """The commit checked out in a nested repository, None when it has none."""
    place = gitdir.discover(os.path.join(repo.root, os.fsdecode(path)))
    if place is None or place.root == repo.root:
        return None
    git = repo.git.at(place.root, GIT_DIR=place.git_dir, GIT_WORK_TREE=place.root)
    done = git.try_run("rev-parse", "--verify", "-q", "HEAD")
    return done.stdout.strip() or None


def repository_above(repo: Repository, path: bytes) -> bytes | None:
    """The repository of its own, below this worktree, that ``path`` lies in; None when it is ours."""
    folder, slash, _ = path.rpartition(b"/")
    place = gitdir.discover(os.path.join(repo.root, os.fsdecode(folder))) if slash else None
    if place is None or not place.root.startswith(repo.root + "/"):
        return None
    return os.fsencode(place.root[len(repo.root) + 1 :])


def upstream_entry(repo: Repository, path: bytes) -> Entry | None:
    """What the upstream branch has at ``path``, None without upstream or path."""
    done = repo.git.try_run("rev-parse", "--verify", "-q", "@{upstream}^{tree}")
    if done.returncode:
        return None
    try:
        return TreeReader(repo.objects, done.stdout.strip()).entry(path)
    except KeyError:
        return None


def base_of(ctx: Context, head: Head) -> TreeReader:
    """HEAD's tree; an unborn branch has none."""
    root = tree_of(ctx.repo, head.oid) if head.oid else None
    return TreeReader(ctx.repo.objects, root)
