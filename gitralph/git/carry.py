"""Brings a checkout from one commit to the next; only changed paths move, and only where they are clean.

The checkout's index is built in a private copy, which becomes the index through ``index.lock``. git itself
writes the files (filters, line ends, sparse patterns). Everything is checked first, so that a refusal comes
before anything moves.
"""

import os
import shutil
import stat
from collections.abc import Mapping
from dataclasses import dataclass

from gitralph.base import nul
from gitralph.git import index, listing
from gitralph.git.index import IndexCopy, Staged
from gitralph.git.listing import Pair
from gitralph.git.repository import Repository
from gitralph.git.run import Git
from gitralph.git.trees import GITLINK, Entry

# Options for a private copy of an index: no daemon, no cache to write back, no second file beside it.
_QUIET = ("-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", "core.splitIndex=false")


@dataclass
class Carry:
    """A checkout on its way: changed paths with the entries before and after, and a copy of its index."""

    repo: Repository
    pairs: Mapping[bytes, Pair]
    copy: IndexCopy
    staged: Mapping[bytes, Staged]

    def on_copy(self, path: str | None = None) -> Git:
        return self.repo.git.at(self.repo.root, GIT_INDEX_FILE=path or self.copy.path)


def changed(git: Git, old: str, new: str) -> dict[bytes, Pair]:
    """Every path in which two commits differ."""
    return listing.differences(git.run("diff-tree", "-r", "-z", "--no-renames", "--no-commit-id", old, new))


def open_carry(repo: Repository, pairs: Mapping[bytes, Pair], aside: str) -> Carry:
    """Read the checkout's index once; ``aside`` is where its successor is built."""
    copy = index.copy_index(repo.index, aside)
    return Carry(repo, pairs, copy, index.entries(repo.git, copy, repo.root, pairs))


def _lstat(root: str, path: bytes) -> os.stat_result | None:
    try:
        return os.lstat(os.path.join(os.fsencode(root), path))
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_blocked(carry: Carry, path: bytes) -> bool:
    """True when an untracked file lies where a new file or its folder must go."""
    found = _lstat(carry.repo.root, path)
    if found is not None:
        full = os.path.join(os.fsencode(carry.repo.root), path)
        leaving = any(p.startswith(path + b"/") and pair[1] is None for p, pair in carry.pairs.items())
        return not (stat.S_ISDIR(found.st_mode) and (leaving or not os.listdir(full)))
    parts = path.split(b"/")
    for depth in range(1, len(parts)):
        parent = b"/".join(parts[:depth])
        there = _lstat(carry.repo.root, parent)
        if there is not None and not stat.S_ISDIR(there.st_mode):
            return carry.pairs.get(parent, (None, None))[1] is not None or parent not in carry.pairs
    return False


def unclean(carry: Carry) -> list[bytes]:
    """The changed paths where the checkout differs from the old commit: staged, edited, or in the way."""
    bad = set(index.has_unmerged(carry.repo.git, carry.copy, carry.repo.root)) & set(carry.pairs)
    for path, (old, _) in carry.pairs.items():
        now = carry.staged.get(path)
        # The flag `h` is assume-unchanged: git would not look at that file, so it does not count as clean.
        differs = (now.entry if now else None) != old or (now is not None and "h" in now.flags)
        if differs or (old is None and _is_blocked(carry, path)):
            bad.add(path)
    return sorted(bad | _edited(carry))


def _edited(carry: Carry) -> set[bytes]:
    if carry.copy.missing:
        return set()
    looked_at = carry.copy.path + ".look"
    carry.copy.again(looked_at)
    git = carry.on_copy(looked_at)
    # The exit status only says that something needs an update; diff-files tells the names.
    git.try_run(*_QUIET, "update-index", "-q", "--refresh")
    said = git.run(*_QUIET, "diff-files", "--name-only", "-z", "--ignore-submodules=none")
    os.unlink(looked_at)
    return set(nul.rows(said)) & set(carry.pairs)


def build_index(carry: Carry, paths: Mapping[bytes, Entry | None]) -> None:
    """Build the next index, durable, at the copy's path."""
    flags = {path: found.flags for path, found in carry.staged.items()}
    if carry.copy.missing:
        carry.on_copy().run(*_QUIET, "read-tree", "--empty")
    index.advance(carry.repo.git, carry.copy, carry.repo.root, paths, flags)
    index.finish(carry.copy)


def unwritable(carry: Carry, paths: Mapping[bytes, Entry | None], aside: str) -> tuple[list[bytes], str]:
    """The files that git could not write now, and what it said; ``aside`` is a folder for a trial.

    A filter may fail (git-lfs without its server), an object may be missing. The index must know the entries.
    """
    os.mkdir(aside)
    try:
        return _checked_out(carry.on_copy(), _written(carry, paths), f"--prefix={aside}/")
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _written(carry: Carry, paths: Mapping[bytes, Entry | None]) -> list[bytes]:
    """Those of the paths that are files in the checkout: what a sparse checkout leaves out stays out."""
    out = {path for path, found in carry.staged.items() if "S" in found.flags}
    return [p for p, e in paths.items() if e is not None and e.mode != GITLINK and p not in out]


def _checked_out(git: Git, wanted: list[bytes], *words: str) -> tuple[list[bytes], str]:
    """Let git write files: filters, line ends and modes are its business. Returns what it could not write."""
    call = (*_QUIET, "checkout-index", "-f", "-q", *words, "-z", "--stdin")
    done = git.try_run(*call, stdin=nul.joined(wanted)) if wanted else None
    if done is None or not done.returncode:
        return [], ""
    # git stops at the first that fails
    left = [path for path in wanted if git.try_run(*call, stdin=nul.joined([path])).returncode]
    return left, done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]


def write_files(carry: Carry, paths: Mapping[bytes, Entry | None], aside: str) -> list[bytes]:
    """Write and delete the files; ``aside`` becomes the index that knows their times.

    Returns the paths that git could not write.
    """
    root = os.fsencode(carry.repo.root)
    for path, entry in paths.items():
        if entry is None:
            _delete(root, path)
    with open(carry.copy.path, "rb") as source, open(aside, "xb") as target:
        target.write(source.read())
    # -u notes their times in the index
    return _checked_out(carry.on_copy(aside), _written(carry, paths), "-u")[0]


def _delete(root: bytes, path: bytes) -> None:
    full = os.path.join(root, path)
    try:
        os.unlink(full)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return
    prune(root, os.path.dirname(full))


def prune(root: bytes, folder: bytes) -> None:
    """Remove folders that a deletion leaves empty, as git does; rmdir refuses other folders."""
    while folder != root:
        try:
            os.rmdir(folder)
        except OSError:
            return
        folder = os.path.dirname(folder)


def unfinished(carry: Carry) -> dict[bytes, Entry | None]:
    """After a crash: the paths still at the old commit or half written; a user's edit is not among them."""
    out: dict[bytes, Entry | None] = {}
    for path, (old, new) in carry.pairs.items():
        now = carry.staged.get(path)
        if (now.entry if now else None) == old and _may_write(carry, path, old, new):
            out[path] = new
    return out


def _may_write(carry: Carry, path: bytes, old: Entry | None, new: Entry | None) -> bool:
    found = _lstat(carry.repo.root, path)
    if found is None:
        return True
    if not stat.S_ISREG(found.st_mode):
        return old is None or stat.S_ISLNK(found.st_mode)
    said = carry.repo.git.at(carry.repo.root).try_run("hash-object", "--", path).stdout.strip()
    if said in [entry.oid for entry in (old, new) if entry]:
        return True
    return new is not None and _is_prefix(carry, path, new)


def _is_prefix(carry: Carry, path: bytes, new: Entry) -> bool:
    """True for a file that a killed git had begun to write."""
    with open(os.path.join(os.fsencode(carry.repo.root), path), "rb") as file:
        data = file.read()
    whole = carry.repo.git.at(carry.repo.root).try_run("cat-file", "--filters", b"--path=" + path, new.oid)
    return whole.returncode == 0 and whole.stdout.startswith(data)
