"""Brings committed entries of the user's index forward, and changes nothing else in it.

git reads and changes a private copy. The copy gets the original's time, so that git's check for racily clean
entries still holds. So an index of any form keeps its extensions and the other entries. The finished copy
becomes ``index.lock`` by ``link(2)``, so a crash never leaves an empty lock. Once the lock is ours, the real
index is compared again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gitralph.base import files, nul
from gitralph.base.errors import Fatal
from gitralph.git import dead_locks, listing
from gitralph.git.context import Context, without_programs
from gitralph.git.run import Git, GitError
from gitralph.git.trees import Entry

_CHECKSUM = 20
_SMALLEST = 12 + _CHECKSUM  # a header and no entry (gitformat-index(5))
CHUNK = 1 << 20
# ls-files compares every entry with every path it is given (git 2.39): of more it is asked for all entries.
ASKED = 50


class Staged(NamedTuple):
    """An index entry at stage 0. ``flags`` holds git's letters: h assume-unchanged, S skip-worktree."""

    entry: Entry
    flags: str = ""


class IndexCopy(NamedTuple):
    """A private copy of an index, at ``path``, and what identifies the original.

    ``monitored`` tells whether a file system monitor has left something in it.
    """

    path: str
    source: str
    identity: tuple[int, ...] | None
    checksum: bytes
    monitored: bool = False

    @property
    def missing(self) -> bool:
        """True when there was no index at all."""
        return self.identity is None

    def again(self, target: str) -> None:
        """Copy the copy, since git writes to an index when it looks at the files."""
        shutil.copyfile(self.path, target)
        self.keep_time(target)

    def remove(self) -> None:
        """Remove the copy if it is still there."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)

    def keep_time(self, path: str) -> None:
        """Give a file the original's time, which git compares."""
        if self.identity is not None:
            # An entry as young as the index is "racily clean", and git reads its file again (git's
            # racy-git.txt). With a newer time on the copy, git would take a file that changed within the same
            # tick for clean.
            os.utime(path, ns=(self.identity[3], self.identity[3]))


def _identify(path: str) -> tuple[tuple[int, ...] | None, bytes]:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None, b""
    try:
        found = os.fstat(fd)
        last = os.pread(fd, _CHECKSUM, max(0, found.st_size - _CHECKSUM))
        return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns), last
    finally:
        os.close(fd)


def copy_index(source: str, target: str) -> IndexCopy:
    """Copy an index as it stands. Raises Fatal for a damaged one."""
    while True:
        # never into an existing file: that may have a second name, as git's lock
        with contextlib.suppress(FileNotFoundError):
            os.unlink(target)
        identity, checksum = _identify(source)
        if identity is None:
            return IndexCopy(target, source, None, b"")
        try:
            is_whole, monitored = _copied(source, target)
        except FileNotFoundError:
            continue
        # git replaces the index by rename. Either everything was read from one file, or we read again.
        if (identity, checksum) == _identify(source):
            break
    if not is_whole:
        os.unlink(target)
        raise Fatal(f"the index '{source}' is damaged", "git status")
    copy = IndexCopy(target, source, identity, checksum, monitored)
    copy.keep_time(target)
    return copy


def _copied(source: str, target: str) -> tuple[bool, bool]:
    """Copy the index.

    Returns whether it agrees with its checksum, and whether a monitor has left something in it.

    git itself never compares the checksum.
    """
    made, last, monitored = hashlib.sha1(usedforsecurity=False), b"", False
    with open(source, "rb") as file, open(target, "xb") as copy:
        while part := file.read(CHUNK):
            copy.write(part)
            # the end of one part may go on in the next, or be the checksum
            held = last + part
            monitored = monitored or b"FSMN" in held
            made.update(held[:-_CHECKSUM])
            last = held[-_CHECKSUM:]
        size = file.tell()
    # All zero means that `index.skipHash` left the checksum out (git 2.40 and later).
    return size >= _SMALLEST and last in (made.digest(), bytes(_CHECKSUM)), monitored


def _on(git: Git, copy: IndexCopy, root: str) -> Git:
    """A git that works on the private copy."""
    return git.at(root, GIT_INDEX_FILE=copy.path, GIT_LITERAL_PATHSPECS="1")


def _listed(git: Git, copy: IndexCopy, root: str, *words: str | bytes) -> bytes:
    """What git lists of the copy. Raises Fatal for an index that git cannot read."""
    try:
        return _on(git, copy, root).run("-c", "core.fsmonitor=false", "ls-files", "-z", *words)
    except GitError as error:
        why = error.said.rpartition("\n")[2].removeprefix("fatal: ")
        raise Fatal(f"git cannot read the index '{copy.source}': {why}", "git status") from None


def unmerged(git: Git, root: str) -> list[bytes]:
    """The paths with conflict stages in the index that this git reads."""
    said = git.at(root).run("-c", "core.fsmonitor=false", "ls-files", "-z", "-u")
    return sorted({row.path for row in listing.entries(said)})


def known(git: Git, root: str, paths: Iterable[bytes]) -> set[bytes]:
    """Those of these paths that the index that this git reads has."""
    asked = sorted(paths)
    if not asked:
        return set()
    words = ("-c", "core.fsmonitor=false", "--literal-pathspecs", "ls-files", "-z")
    return set(nul.rows(git.at(root).run(*words, "--", *asked))).intersection(asked)


def left_out(git: Git, root: str, paths: Iterable[bytes]) -> set[bytes]:
    """Those of these paths that the checkout need not have (skip-worktree, as of a sparse checkout)."""
    asked = sorted(paths)
    if not asked:
        return set()
    words = ("-c", "core.fsmonitor=false", "--literal-pathspecs", "ls-files", "-t", "-z")
    said = git.at(root).run(*words, "--", *(asked if len(asked) <= ASKED else ()))
    return {row[2:] for row in nul.rows(said) if row[:2] == b"S "}.intersection(asked)


def has_unmerged(git: Git, copy: IndexCopy, root: str) -> list[bytes]:
    """The paths with conflict stages."""
    if copy.missing:
        return []
    return sorted({row.path for row in listing.entries(_listed(git, copy, root, "-u"))})


def entries(git: Git, copy: IndexCopy, root: str, paths: Iterable[bytes]) -> dict[bytes, Staged]:
    """The stage 0 entries of exactly these paths."""
    wanted = set(paths)
    if copy.missing or not wanted:
        return {}
    asked = sorted(wanted) if len(wanted) <= ASKED else ()
    out: dict[bytes, Staged] = {}
    for row in listing.entries(_listed(git, copy, root, "-s", "-v", "--", *asked)):
        if row.path in wanted:
            # git lists assume-unchanged entries with a small letter, skip-worktree ones with S
            # (git-ls-files(1), -v).
            flags = ("h" if row.tag.islower() else "") + ("S" if row.tag.upper() == "S" else "")
            out[row.path] = Staged(row.entry, flags)
    return out


def below(git: Git, copy: IndexCopy, root: str, folder: bytes) -> list[bytes]:
    """Every path that the index has below a folder."""
    if copy.missing:
        return []
    return nul.rows(_listed(git, copy, root, "--", folder + b"/"))


class Stages(NamedTuple):
    """What the index has of a path in conflict; a stage is None where that side has no such file."""

    base: Entry | None
    ours: Entry | None
    theirs: Entry | None


def advance(
    git: Git,
    copy: IndexCopy,
    root: str,
    changes: Mapping[bytes, Entry | Stages | None],
    flags: Mapping[bytes, str],
) -> None:
    """Change these entries in the copy (None removes), keeping flags and every extension."""
    on, monitor = _on(git, copy, root), _unmonitored(copy)
    # Mode 0 removes (git-update-index(1)). Removals come first: a folder may take the place of a file.
    gone = [path for path, entry in changes.items() if not isinstance(entry, Entry)]
    lines = [b"0 %s\t%s" % (b"0" * 40, path) for path in gone]
    for path, entry in changes.items():
        stages = enumerate(entry, 1) if isinstance(entry, Stages) else [(0, entry)]
        lines += [b"%o %s %d\t%s" % (e.mode, e.oid, n, path) for n, e in stages if e is not None]
    on.run(*monitor, "update-index", "--replace", "-z", "--index-info", stdin=nul.joined(lines))
    for letter, option in (("h", "--assume-unchanged"), ("S", "--skip-worktree")):
        kept = [p for p, e in changes.items() if isinstance(e, Entry) and letter in flags.get(p, "")]
        if kept:
            given = nul.joined(kept)
            on.run(*monitor, "update-index", option, "-z", "--stdin", stdin=given)


def refresh(
    ctx: Context, copy: IndexCopy, entries: Mapping[bytes, Entry | Stages | None], flags: Mapping[bytes, str]
) -> None:
    """Note in the copy how the files of these entries lie on disk, as `git add` and `git commit` do.

    An entry without that looks changed to who does not compare texts, as `git diff-index` and `git subtree`.
    No filter runs for it, so a filtered file goes on looking changed until somebody asks `git status`.
    """
    given = nul.joined(p for p, entry in entries.items() if isinstance(entry, Entry) and not flags.get(p))
    if given:
        on = _on(without_programs(ctx).git, copy, ctx.repo.root)
        words = ("add", "--refresh", "--pathspec-from-file=-", "--pathspec-file-nul")
        on.try_run(*_unmonitored(copy), *words, stdin=given)  # nothing hangs on it


def _unmonitored(copy: IndexCopy) -> tuple[str, str]:
    # git must not ask a file system monitor, yet keep what one has told so far. `false` would drop the
    # extension. A monitor that fails only makes git look at the files once more.
    return "-c", "core.fsmonitor=exit 1" if copy.monitored else "core.fsmonitor=false"


def finish(copy: IndexCopy) -> None:
    """Make the new index durable, and give it the old one's mode."""
    if copy.missing and not os.path.exists(copy.path):
        return
    fd = os.open(copy.path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        mode = 0o666 & ~files.umask()
        if not copy.missing:
            # The user may share the repository by mode. git keeps the index's mode, and so must this.
            mode = os.stat(copy.source).st_mode & 0o777
        os.fchmod(fd, mode)
        os.fsync(fd)
    finally:
        os.close(fd)


def try_lock(prepared: str, lock: str) -> bool:
    """Link a finished file as git's lock; False where somebody holds the lock."""
    while True:
        try:
            # `link` fails where the name is taken, and gives a finished file its name in one step. Killed
            # before it there is no lock; killed after it the lock is complete, and its inode shows that it is
            # ours.
            os.link(prepared, lock)
            return True
        except FileExistsError:
            return False
        except FileNotFoundError:
            os.makedirs(os.path.dirname(lock), exist_ok=True)


def take_lock(prepared: str, lock: str, wait: float) -> None:
    """Link the lock, waiting for another holder. Raises Busy naming the lock."""
    deadline = time.monotonic() + wait
    while not try_lock(prepared, lock):
        wait_for_lock(lock, deadline - time.monotonic())


def wait_for_lock(lock: str, wait: float) -> None:
    """Wait until nobody holds git's lock. Raises Busy naming the lock."""
    deadline, pause = time.monotonic() + wait, 0.002
    while os.path.lexists(lock):
        if time.monotonic() >= deadline:
            raise dead_locks.busy(lock)
        time.sleep(pause)
        # git usually holds the lock for milliseconds, so waiting begins with short pauses.
        pause = min(pause * 2, 0.05)


def moved(copy: IndexCopy) -> bool:
    """True when the index is no longer the one the copy was made from."""
    return _identify(copy.source) != (copy.identity, copy.checksum)


def is_ours(lock: str, prepared: str) -> bool:
    """True when a git lock file is our own prepared file under a second name."""
    try:
        a, b = os.lstat(lock), os.lstat(prepared)
    except FileNotFoundError:
        return False
    # Equal contents could be an accident; a second name of the same file cannot.
    return (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino)


def put(prepared: str, target: str) -> None:
    """Give a prepared file a second name in the place of ``target``."""
    if is_ours(target, prepared):
        return  # renaming one name of a file onto another name of it leaves both (POSIX rename)
    beside = f"{prepared}.second"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(beside)
    os.link(prepared, beside)
    os.rename(beside, target)


def exchange(real: str, prepared: Mapping[str, str]) -> None:
    """Put the finished file ``index`` in the place of the index, which ``before`` keeps where there is one.

    The lock is held, and stays: it is the same finished file under another name.
    """
    if "before" in prepared:
        try:
            os.link(real, prepared["before"])
        except PermissionError:  # of another user's file (fs.protected_hardlinks in proc(5))
            shutil.copy2(real, prepared["before"])
    put(prepared["index"], real)


def take_back(real: str, prepared: Mapping[str, str]) -> None:
    """Undo :func:`exchange`, unless another git has written the index since."""
    if not is_ours(real, prepared.get("index", "")):
        return
    if "before" in prepared:
        # Where a power cut took it, the new index stays, and shows as staged what was not committed.
        with contextlib.suppress(FileNotFoundError):
            os.rename(prepared["before"], real)
    elif "index.second" in prepared:  # there was no index; an intent of 0.1.0 names neither
        os.unlink(real)


def drop_lock(real: str, prepared: Mapping[str, str]) -> None:
    """Remove the index's lock where it is our prepared file, and not another git's."""
    if is_ours(f"{real}.lock", prepared.get("index", "")):
        os.unlink(f"{real}.lock")
