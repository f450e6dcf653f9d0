"""Saves everything of a worktree as one commit before it is removed, byte for byte, and brings it back.

The commit's parent is the branch's tip. Where something else was staged than lay on disk, a commit of it is
the second parent. Bytes are stored as they are on disk, without the filters and line ends of ``git add``.
"""

import os
import shlex
import stat
import time
from dataclasses import dataclass

from gitralph.base import layout, nul
from gitralph.base.errors import Fatal, Refused
from gitralph.base.gitdir import discover
from gitralph.base.quote import c_quote
from gitralph.git import carry, listing, worktrees
from gitralph.git.context import Context
from gitralph.git.run import Git
from gitralph.git.trees import Entry
from gitralph.git.worktrees import Dirt
from gitralph.records import bead as beads
from gitralph.tasks.worktree import where
from gitralph.tasks.worktree.where import Trees, short

# Outside of refs/heads and refs/tags: no list of branches and no usual push shows it, and gc keeps what it
# holds.
REFS = "refs/ralph/trash"
# A save must not fail where the user has told git no name.
_IDENT = {
    "GIT_AUTHOR_NAME": "git ralph",
    "GIT_AUTHOR_EMAIL": "ralph@localhost",
    "GIT_COMMITTER_NAME": "git ralph",
    "GIT_COMMITTER_EMAIL": "ralph@localhost",
}


@dataclass(frozen=True)
class Saved:
    """A commit under ``refs/ralph/trash/``."""

    ref: str
    tree: str


def holds_a_repository(path: str) -> Refused:
    """The refusal to remove what no commit can hold."""
    return Refused(
        f"'{path}' is a repository of its own and would be lost", "move it elsewhere, then remove again"
    )


def _mode(path: str) -> str:
    found = os.lstat(path).st_mode
    if stat.S_ISLNK(found):
        return "120000"
    if stat.S_ISDIR(found):
        raise holds_a_repository(path)
    return "100755" if found & 0o100 else "100644"


def hash_files(git: Git, root: str, paths: list[bytes]) -> dict[bytes, str]:
    """Store files as they lie on disk; blob oid by path. Links by their text."""
    plain = [p for p in paths if not os.path.islink(os.path.join(os.fsencode(root), p))]
    names = b"".join(c_quote(p) + b"\n" for p in plain)
    # --no-filters: a clean filter may fail, or not give the same bytes back. The objects are synced, since
    # the files are deleted next.
    words = ("-c", "core.fsync=loose-object", "hash-object", "-w", "--no-filters")
    said = git.at(root).run(*words, "--stdin-paths", stdin=names).decode().split() if plain else []
    oids = dict(zip(plain, said, strict=True))
    for path in set(paths) - set(plain):
        text = os.readlink(os.path.join(os.fsencode(root), path))
        oids[path] = git.run(*words, "--stdin", stdin=text).decode().strip()
    return oids


def _records(git: Git, root: str, changed: list[bytes], deletions: bool) -> bytes:
    """Input for ``update-index``: removals before additions, since a file may have become a folder."""
    there = [p for p in changed if os.path.lexists(os.path.join(os.fsencode(root), p))]
    modes = {p: _mode(os.fsdecode(os.path.join(os.fsencode(root), p))) for p in there}
    oids = hash_files(git, root, there)
    gone = [p for p in changed if p not in modes] if deletions else []
    rows = [b"0 %s\t%s" % (b"0" * 40, p) for p in gone]
    return nul.joined(rows + [f"{modes[p]} {oids[p]}\t".encode() + p for p in there])


def _tree(trees: Trees, root: str, seed: str, changed: list[bytes], deletions: bool = True) -> str:
    """The tree ``seed`` with ``changed`` as they are on disk."""
    # The worktree's own index is part of what is saved; it must not change by being saved.
    private = f"{trees.layout.tmp}/{os.getpid()}-{os.urandom(4).hex()}.index"
    os.makedirs(trees.layout.tmp, mode=0o700, exist_ok=True)
    git = trees.git.at(GIT_INDEX_FILE=private)
    # A split index would leave a shared file in the repository, fsmonitor start a program, a sparse index
    # hide entries.
    quiet = ("-c", "core.splitIndex=false", "-c", "core.fsmonitor=false", "-c", "index.sparse=false")
    try:
        git.run(*quiet, "read-tree", seed)
        rows = _records(trees.git, root, changed, deletions)
        if rows:
            git.run(*quiet, "update-index", "--add", "--replace", "-z", "--index-info", stdin=rows)
        return git.line(*quiet, "write-tree")
    finally:
        for name in (private, private + ".lock"):
            if os.path.exists(name):
                os.unlink(name)


def _staged_tree(git: Git) -> str | None:
    done = git.try_run("write-tree")
    return done.stdout.decode().strip() if done.returncode == 0 else None


def _commit(git: Git, tree: str, parents: list[str], message: str) -> str:
    words = [word for parent in parents for word in ("-p", parent)]
    named = git.at(**_IDENT)
    return named.line(
        "-c",
        "core.fsync=loose-object",
        "commit-tree",
        # A save needs no signature, and asking for a passphrase in the middle of a removal would block it.
        "--no-gpg-sign",
        tree,
        *words,
        "-m",
        message,
    )


def save(
    trees: Trees, bead: str, root: str, git: Git, tip: str, dirt: Dirt, seed: str | None = None
) -> Saved:
    """Save a worktree under a new ref. ``seed`` is an earlier save to go on from, where it is half removed.

    Raises Refused for a repository inside it, which no commit can hold.
    """
    tree = _tree(trees, root, seed or tip, dirt.changed, deletions=seed is None)
    # The tip as a parent keeps the branch's own commits from gc when the branch goes.
    parents = [tip]
    staged = _staged_tree(git) if dirt.staged and not dirt.unmerged else None
    if staged is not None and staged != tree:
        # A parent too, so that `git log` of the save shows both and nothing of either is unreachable.
        parents.append(_commit(trees.git, staged, [tip], f"staged in the worktree of bead '{bead}'"))
    commit = _commit(trees.git, tree, parents, f"worktree of bead '{bead}' before its removal")
    ref = f"{REFS}/{bead}/{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{os.urandom(2).hex()}"
    # All zeros as the old value: fails rather than replace another save (git-update-ref(1)).
    trees.git.run("update-ref", "-m", "worktree remove", ref, commit, "0" * 40)
    return Saved(ref, tree)


def still_same(trees: Trees, root: str, git: Git, tip: str, saved: Saved) -> bool:
    """True when the worktree holds what was saved, looked at again."""
    return _tree(trees, root, tip, worktrees.dirt(git).changed) == saved.tree


def saved_refs(trees: Trees, bead: str) -> list[str]:
    """The saves of a bead, the newest last."""
    said = trees.git.run("for-each-ref", "--sort=refname", "--format=%(refname)", f"{REFS}/{bead}/")
    return os.fsdecode(said).split("\n")[:-1]


def write_back(trees: Trees, root: str, tip: str, commit: str) -> int:
    """Put the files of a save over a fresh checkout of its tip; returns how many."""
    base = os.fsencode(root)
    rows = listing.differences(trees.git.run("diff-tree", "-r", "-z", "--no-renames", tip, commit))
    # Removals before additions: a file may have become a folder of that name.
    for path, (_, new) in rows.items():
        full = os.path.join(base, path)
        if new is None and os.path.lexists(full):
            os.unlink(full)
            carry.prune(base, os.path.dirname(full))
    for path, (_, new) in rows.items():
        if new is not None:
            _write(trees.git, os.path.join(base, path), new)
    return len(rows)


def _write(git: Git, full: bytes, entry: Entry) -> None:
    data = git.run("cat-file", "blob", entry.oid)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    if os.path.lexists(full):
        # Removed first: else this would write through a link, or into another name of the same file.
        os.unlink(full)
    if entry.mode == 0o120000:
        os.symlink(data, full)
        return
    # "x" fails where the name came back in between: then the file is somebody's.
    with open(full, "xb") as file:
        file.write(data)
    if entry.mode == 0o100755:
        os.chmod(full, os.stat(full).st_mode | 0o111)  # noqa: S103  as git checks it out


def parents_of(git: Git, commit: str) -> list[str]:
    """The parents of a save: the tip, and what was staged."""
    found = git.line("rev-list", "--parents", "-n1", commit).split()[1:]
    if not found:
        raise Fatal(f"'{commit}' is no save of a worktree")
    return found


# --- ``git ralph worktree restore`` ---


@dataclass(frozen=True)
class Restored:
    """What came back: where, from which save, how many files beyond the tip."""

    path: str
    saved: str
    files: int


def _chosen_save(trees: Trees, bead: str, given: str | None) -> str:
    refs = saved_refs(trees, bead)
    if given is not None:
        refs = [ref for ref in refs if given in (ref, ref.rsplit("/", 1)[-1])]
    if not refs:
        raise Fatal(f"there is no save of bead '{bead}'", f"git for-each-ref {REFS}/")
    return refs[-1]


def _check_branch(trees: Trees, bead: str, tip: str) -> bool:
    """Whether the branch must be made. Raises Refused when something is in the way."""
    path, branch = trees.path(bead), where.branch_of(bead)
    if trees.at(path) is not None:
        raise Refused(f"'{path}' exists", f"git ralph worktree remove {bead}")
    if where.folder_holds_something(path):
        typed = shlex.quote(path), shlex.quote(f"{path}.away")
        raise Refused(f"'{path}' exists", f"mv {' '.join(typed)}  # it is no worktree of this repository")
    holder = trees.holder(branch)
    if holder is not None:
        raise Refused(f"branch '{short(branch)}' is checked out at '{holder.path}'")
    now = worktrees.value(trees.git, branch)
    # A branch that went on has commits that a checkout of the save's tip would not show.
    if now not in (None, tip):
        raise Refused(
            f"branch '{short(branch)}' is at {str(now)[:12]}, the save stands on {tip[:12]}",
            f"git branch -m {short(branch)} <other name>",
        )
    return now is None


def restore(ctx: Context, bead: str, stamp: str | None) -> Restored:
    """Bring a removed worktree back, files byte for byte, staged changes too. The save stays."""
    where.checked(bead)
    with beads.hold(ctx.layout, bead) as fd:
        trees = where.open_trees(ctx).keeping(fd)
        ref = _chosen_save(trees, bead, stamp)
        tip, *staged = parents_of(trees.git, ref)
        fresh = _check_branch(trees, bead, tip)
        path, branch = trees.path(bead), where.branch_of(bead)
        where.exclude(ctx.repo.common_dir)
        where.make_home(trees.root)
        worktrees.add(trees.git, path, short(branch), tip if fresh else None)
        record = where.record_of(ctx.layout, bead) or beads.Bead(bead)
        place, state = discover(path), record.extra.pop("state", None)
        if place is not None and isinstance(state, str):
            layout.take_up(place, state)
        count = write_back(trees, path, tip, ref)
        if staged:
            trees.inside(path).run("read-tree", staged[0])
        record.branch, record.path, record.base_oid = branch, path, record.base_oid or tip
        record.status, record.owner = beads.IN_PROGRESS, None
        record.extra.pop("removing", None)
        beads.write(ctx.layout, record)
    return Restored(path, ref, count)
