"""Looks into commits other than HEAD's: where an edit started, a submodule's own HEAD, upstream."""

import os
from typing import TYPE_CHECKING

from gitralph import gitdir
from gitralph.journal import Record
from gitralph.plumbing.repository import Repository
from gitralph.plumbing.tree import Entry, TreeReader

if TYPE_CHECKING:
    from dulwich.objects import Commit


def tree_of(repo: Repository, commit: str) -> bytes:
    """The tree of a commit. Raises KeyError when it is not there."""
    found: Commit = repo.objects[commit.encode()]  # type: ignore[index, assignment]
    tree: bytes = found.tree
    return tree


def fitted_once(repo: Repository, path: bytes, record: Record) -> bool:
    """True when the commit that was HEAD at the edit held the text the edit started from."""
    if record.head is None or not record.is_exact:
        return False
    try:
        entry = TreeReader(repo.objects, tree_of(repo, record.head)).entry(path)
    except (KeyError, AttributeError):
        return False
    return (entry.oid.decode() if entry else None) == record.before


def submodule_head(repo: Repository, path: bytes) -> bytes | None:
    """The commit checked out in a nested repository, None when it has none."""
    place = gitdir.discover(os.path.join(repo.root, os.fsdecode(path)))
    if place is None or place.root == repo.root:
        return None
    git = repo.git.at(place.root, GIT_DIR=place.git_dir, GIT_WORK_TREE=place.root)
    done = git.try_run("rev-parse", "--verify", "-q", "HEAD")
    return done.stdout.strip() or None


def upstream_entry(repo: Repository, path: bytes) -> Entry | None:
    """What the upstream branch has at ``path``, None without upstream or path."""
    done = repo.git.try_run("rev-parse", "--verify", "-q", "@{upstream}^{tree}")
    if done.returncode:
        return None
    try:
        return TreeReader(repo.objects, done.stdout.strip()).entry(path)
    except KeyError:
        return None
