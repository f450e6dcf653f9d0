"""Brings committed entries of the user's index forward, and nothing else in it.

A private copy is patched, by git where it is not in the common form, with the copy's time set to
the original's so that git's racily-clean check still holds. It becomes ``index.lock`` by
``link(2)``, finished, so a crash never leaves an empty lock; the real index is compared again once
the lock is ours.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gitralph.base import files, nul
from gitralph.base.errors import Fatal
from gitralph.git import dead_locks, indexfile, listing
from gitralph.git.indexfile import IndexFile
from gitralph.git.run import Git
from gitralph.git.trees import Entry

_CHECKSUM = 20


class Staged(NamedTuple):
    """An index entry at stage 0. ``flags`` holds git's letters: h assume-unchanged, S skip-worktree."""

    entry: Entry
    flags: str = ""


class IndexCopy(NamedTuple):
    """An index as it was read, where a private copy of it goes, and what identifies the original.

    ``parsed`` is None for a form that only git may read and write.
    """

    path: str
    source: str
    identity: tuple[int, ...] | None
    checksum: bytes
    data: indexfile.Data = b""
    parsed: IndexFile | None = None

    @property
    def missing(self) -> bool:
        """True when there was no index at all."""
        return self.identity is None

    def write(self, pieces: Iterable[indexfile.Piece] | None = None) -> None:
        """Put it, or what ``pieces`` make of it, at ``path`` with the original's time: git compares that."""
        fd = files.open_regular(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            if pieces is None:
                for part in indexfile.stretches(self.data, 0, len(self.data)):
                    indexfile.write_all(fd, part)
            else:
                indexfile.write(fd, self.data, pieces)
        finally:
            os.close(fd)
        if self.identity is not None:
            # An entry as young as the index is "racily clean" and its file is read again (git's
            # racy-git.txt). A copy with a newer time would take a file that changed within the same tick for
            # clean.
            os.utime(self.path, ns=(self.identity[3], self.identity[3]))


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
    """Read an index as it stands. Raises Fatal for a damaged one."""
    while True:
        identity, checksum = _identify(source)
        if identity is None:
            return IndexCopy(target, source, None, b"")
        try:
            data = _read(source)
        except FileNotFoundError:
            continue
        # git replaces the index by rename, so both halves of what was read are of one file or we read again.
        if (identity, checksum) == _identify(source):
            break
    return IndexCopy(target, source, identity, checksum, data, _parsed(source, data))


def _damaged(source: str) -> Fatal:
    return Fatal(f"the index '{source}' is damaged", "git status")


def _read(source: str) -> indexfile.Data:
    fd = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
    try:
        data = indexfile.read(fd)
        indexfile.check(data)
        return data
    except indexfile.DamagedIndexError:
        raise _damaged(source) from None
    finally:
        os.close(fd)


def _parsed(source: str, data: indexfile.Data) -> IndexFile | None:
    """The index as we read it ourselves; a split one is git's alone."""
    with os.scandir(os.path.dirname(source)) as beside:
        # A split index keeps most entries in another file (gitformat-index(5), "link").
        if any(entry.name.startswith("sharedindex.") for entry in beside):
            return None
    found = indexfile.parse(data)
    try:
        if found is not None:
            found.cached_trees(set())  # the rows are counted, so that none of them surprises us later
    except indexfile.DamagedIndexError:
        raise _damaged(source) from None
    return found


def _on(git: Git, copy: IndexCopy, root: str) -> Git:
    """git working on the private copy, written when first needed."""
    if not copy.missing and not os.path.exists(copy.path):
        copy.write()
    return git.at(root, GIT_INDEX_FILE=copy.path, GIT_LITERAL_PATHSPECS="1")


def has_unmerged(git: Git, copy: IndexCopy, root: str) -> list[bytes]:
    """The paths with conflict stages. Raises GitError for an index git cannot read."""
    if copy.missing:
        return []
    if copy.parsed is not None and not copy.parsed.may_have_stages():
        return []
    said = _on(git, copy, root).run("-c", "core.fsmonitor=false", "ls-files", "-u", "-z")
    return sorted({row.path for row in listing.entries(said)})


def entries(git: Git, copy: IndexCopy, root: str, paths: Iterable[bytes]) -> dict[bytes, Staged]:
    """The stage 0 entries of exactly these paths."""
    wanted = set(paths)
    if copy.missing or not wanted:
        return {}
    if copy.parsed is not None:
        slots = {path: copy.parsed.find(path) for path in wanted}
        return {path: Staged(slot.entry, slot.letters) for path, slot in slots.items() if slot}
    return _entries_by_git(git, copy, root, wanted)


def below(git: Git, copy: IndexCopy, root: str, folder: bytes) -> list[bytes]:
    """Every path that the index has below a folder."""
    if copy.missing:
        return []
    said = _on(git, copy, root).run("-c", "core.fsmonitor=false", "ls-files", "-z", "--", folder + b"/")
    return nul.rows(said)


def _entries_by_git(git: Git, copy: IndexCopy, root: str, wanted: set[bytes]) -> dict[bytes, Staged]:
    said = _on(git, copy, root).run(
        "-c", "core.fsmonitor=false", "ls-files", "-s", "-v", "-z", "--", *sorted(wanted)
    )
    out: dict[bytes, Staged] = {}
    for row in listing.entries(said):
        if row.path in wanted:
            # git lists assume-unchanged entries with a small letter, skip-worktree ones with S
            # (git-ls-files(1), -v).
            flags = ("h" if row.tag.islower() else "") + ("S" if row.tag.upper() == "S" else "")
            out[row.path] = Staged(row.entry, flags)
    return out


def advance(
    git: Git,
    copy: IndexCopy,
    root: str,
    changes: Mapping[bytes, Entry | None],
    flags: Mapping[bytes, str],
    fresh: Mapping[bytes, tuple[bytes, bytes]],
) -> None:
    """Change these entries in the copy (None removes), keeping flags and every extension.

    ``fresh`` are cached trees that stay valid: folder -> oid before and after.
    """
    pieces = indexfile.patch(copy.parsed, changes, fresh) if copy.parsed else None
    if pieces is None:
        _advance_by_git(_on(git, copy, root), changes, flags, _monitor(copy.data))
    else:
        copy.write(pieces)


def _monitor(data: indexfile.Data) -> tuple[str, str]:
    """The option under which git asks no file system monitor, yet keeps what one has told so far.

    ``false`` would drop the extension; a monitor that fails only makes git look at files once more.
    """
    return ("-c", "core.fsmonitor=exit 1" if data.find(b"FSMN") >= 0 else "core.fsmonitor=false")


def _advance_by_git(
    on: Git,
    changes: Mapping[bytes, Entry | None],
    flags: Mapping[bytes, str],
    monitor: tuple[str, str],
) -> None:
    # Mode 0 removes (git-update-index(1)). Removals first: a folder may take the place of a file.
    gone = [path for path, entry in changes.items() if entry is None]
    lines = [b"0 %s\t%s" % (b"0" * 40, path) for path in gone]
    lines += [b"%o %s 0\t%s" % (e.mode, e.oid, p) for p, e in changes.items() if e is not None]
    on.run(*monitor, "update-index", "--replace", "-z", "--index-info", stdin=nul.joined(lines))
    for letter, option in (("h", "--assume-unchanged"), ("S", "--skip-worktree")):
        kept = [p for p, e in changes.items() if e is not None and letter in flags.get(p, "")]
        if kept:
            given = nul.joined(kept)
            on.run(*monitor, "update-index", option, "-z", "--stdin", stdin=given)


def finish(copy: IndexCopy) -> None:
    """Make the new index durable, with the old one's mode."""
    if copy.missing and not os.path.exists(copy.path):
        return
    fd = os.open(copy.path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        mode = 0o666 & ~files.umask()
        if not copy.missing:
            # The user may share the repository by mode: git keeps the index's mode, and so must its
            # successor.
            mode = os.stat(copy.source).st_mode & 0o777
        os.fchmod(fd, mode)
        os.fsync(fd)
    finally:
        os.close(fd)


def try_lock(prepared: str, lock: str) -> bool:
    """Link a finished file as git's lock; False where somebody has it."""
    while True:
        try:
            # `link` fails where the name is taken and gives a finished file its name in one step: killed
            # before it there is no lock, killed after it the lock is ours by inode and complete.
            os.link(prepared, lock)
            return True
        except FileExistsError:
            return False
        except FileNotFoundError:
            os.makedirs(os.path.dirname(lock), exist_ok=True)


def take_lock(prepared: str, lock: str, wait: float) -> None:
    """The same, waiting for another holder. Raises Busy naming it."""
    deadline = time.monotonic() + wait
    while not try_lock(prepared, lock):
        wait_for_lock(lock, deadline - time.monotonic())


def wait_for_lock(lock: str, wait: float) -> None:
    """Wait until nobody holds a lock of git's. Raises Busy naming it."""
    deadline, pause = time.monotonic() + wait, 0.002
    while os.path.lexists(lock):
        if time.monotonic() >= deadline:
            raise dead_locks.busy(lock)
        time.sleep(pause)
        # git holds the lock for milliseconds as a rule, so waiting begins short.
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
    # Content could be the same by accident, a second name of one file cannot.
    return (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino)
