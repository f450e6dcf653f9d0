"""Looks into commits: HEAD's tree, what another commit held, a submodule's HEAD, upstream."""

import os

from gitralph.base import gitdir
from gitralph.base.errors import Fatal
from gitralph.git import worktrees
from gitralph.git.refs import Head
from gitralph.git.repository import Repository
from gitralph.git.run import Git
from gitralph.git.trees import Entry, TreeReader


def tree_of(repo: Repository, commit: str) -> bytes:
    """The tree of a commit. Raises Fatal when the commit is missing."""
    try:
        return repo.objects.tree_of(commit.encode())
    except KeyError:
        raise Fatal(f"commit {commit} is missing from the object database", "git fsck") from None


def is_shallow(git: Git) -> bool:
    """True for a clone that was made with a depth: git lacks what came before its first commits."""
    return git.line("rev-parse", "--is-shallow-repository") == "true"


class Unknown:
    """The type of UNKNOWN: nobody can tell what that commit held."""


UNKNOWN = Unknown()


def entry_at(repo: Repository, commit: str | None, path: bytes) -> Entry | Unknown | None:
    """What a recorded commit held at ``path``; UNKNOWN when the commit is not known, or is gone."""
    if commit is None:
        return UNKNOWN
    try:
        return TreeReader(repo.objects, tree_of(repo, commit)).entry(path)
    except (KeyError, AttributeError, Fatal):
        return UNKNOWN


def last_held(repo: Repository, head: str | None, path: bytes) -> Entry | None:
    """What the history of a commit without ``path`` held there last; None where it never held anything."""
    if head is None:
        return None
    # With --parents the history of the path alone is told: the commit that dropped it follows the one that
    # changed it before.
    done = repo.git.at(repo.root).try_run(
        "--literal-pathspecs", "rev-list", "-1", "--parents", head, "--", path
    )
    for parent in done.stdout.decode("ascii", "replace").split()[1:]:
        found = entry_at(repo, parent, path)
        if isinstance(found, Entry):
            return found
    return None


def submodule_head(repo: Repository, path: bytes) -> bytes | None:
    """The commit checked out in a nested repository, None when it has none."""
    place = gitdir.discover(os.path.join(repo.root, os.fsdecode(path)))
    if place is None or place.root == repo.root:
        return None
    git = repo.git.at(place.root, GIT_DIR=place.git_dir, GIT_WORK_TREE=place.root)
    done = git.try_run("rev-parse", "--verify", "-q", "HEAD")
    return done.stdout.strip() or None


def repository_above(repo: Repository, path: bytes) -> bytes | None:
    """The other repository, below this worktree, in which ``path`` lies; None when the path is ours."""
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


def base_of(repo: Repository, head: Head) -> TreeReader:
    """A reader of HEAD's tree; an unborn branch has no tree."""
    root = tree_of(repo, head.oid) if head.oid else None
    return TreeReader(repo.objects, root)


def range_words(git: Git, typed: str) -> list[str]:
    """The words for ``git log`` and ``git rev-list``: one commit alone where ``typed`` names one.

    Otherwise it is a range, and git says when it runs whether the range is valid.
    """
    one = worktrees.value(git, typed)
    if one is not None:
        return ["--no-walk", one, "--"]
    return ["--end-of-options", typed, "--"]
