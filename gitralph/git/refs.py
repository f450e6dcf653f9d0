"""Moves HEAD's branch by compare-and-swap, with both reflogs; ``git update-ref --stdin`` does it.

A git killed at its rename leaves an empty lock of HEAD and one of the branch, which
:func:`gitralph.git.dead_locks.settle_refs` removes. When we are killed, git reads the end of its input and
undoes what it was not told to commit.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

from gitralph.base import gitdir
from gitralph.base.errors import Busy, Fatal
from gitralph.base.files import sync_folder
from gitralph.git import dead_locks
from gitralph.git.repository import Repository
from gitralph.git.run import Git, GitError

# git's own default of core.filesRefLockTimeout (git-config(1)).
_LOCK_WAIT_MS = 100
# git's own exit codes end here: git.c, usage().
_USAGE = 129
ZERO = "0" * 40


class LostRaceError(Exception):
    """The branch, or what HEAD points at, moved since the commit was built."""


class Head(NamedTuple):
    """``ref`` is the branch HEAD points at, None when detached; ``oid`` None when unborn."""

    ref: str | None
    oid: str | None

    @property
    def name(self) -> str:
        """The ref that moves: the branch, or HEAD itself."""
        return self.ref or "HEAD"

    @property
    def branch(self) -> str | None:
        return self.ref.removeprefix("refs/heads/") if self.ref else None


def _read(path: str) -> str | None:
    try:
        return gitdir.read_line(path).strip()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _packed(common_dir: str, ref: str) -> str | None:
    try:
        with open(common_dir + "/packed-refs", "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return None
    # A search in the bytes takes a few ms; parsing 50,000 packed refs took 310 ms.
    at = data.find(b" " + os.fsencode(ref) + b"\n")
    return data[at - 40 : at].decode("ascii") if at >= 40 else None


def value(repo: Repository, ref: str) -> str | None:
    """The oid of a branch. Raises Fatal for a symbolic one."""
    if repo.uses_reftable:
        found = repo.git.try_run("rev-parse", "--verify", "-q", ref)
        return os.fsdecode(found.stdout).strip() or None
    said = _read(f"{repo.common_dir}/{ref}")
    if said is None:
        return _packed(repo.common_dir, ref)
    # To move the link would cut it; to move its target would bypass git's checks (git-symbolic-ref(1)).
    if said.startswith("ref:"):
        raise Fatal(f"'{ref}' is a symbolic ref; git ralph does not commit through it")
    return said


def read_head(repo: Repository) -> Head:
    """HEAD now. Raises Fatal when it is damaged."""
    if repo.uses_reftable:
        return _read_head_by_git(repo)
    said = _read(repo.git_dir + "/HEAD")
    if said is None:
        raise Fatal("HEAD is missing")
    if said.startswith("ref: "):
        ref = said[5:].strip()
        return Head(ref, value(repo, ref))
    return Head(None, said)


def _read_head_by_git(repo: Repository) -> Head:
    asked = repo.git.try_run("symbolic-ref", "-q", "HEAD")
    ref = os.fsdecode(asked.stdout).strip() or None
    found = repo.git.try_run("rev-parse", "--verify", "-q", "HEAD")
    return Head(ref, os.fsdecode(found.stdout).strip() or None)


class Move(NamedTuple):
    """One planned move of a branch.

    ``ident`` is who moves it, as variables of git's environment, for the reflogs.
    """

    head: Head
    new: str
    ident: Mapping[str, str]
    message: str


class Transaction:
    """One ``git update-ref --stdin``, with git's own locks, reflogs, transaction hook and backend.

    What is not committed when the ``with`` block ends is undone.
    """

    def __init__(self, git: Git, message: str = "") -> None:
        # By configuration git may wait for a lock for ever; and by default it syncs no ref.
        settings = ["-c", f"core.filesRefLockTimeout={_LOCK_WAIT_MS}", "-c", "core.fsync=reference"]
        words = [*settings, "update-ref", "--stdin", *(["-m", message] if message else [])]
        # The output is untranslated, as _busy() reads it. Answers and complaints share one pipe: a hook may
        # print more than an unread second pipe holds.
        self._child = git.at(LANGUAGE="C").start(words, subprocess.PIPE, subprocess.STDOUT)
        self._said = b""

    def __enter__(self) -> Transaction:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def update(self, ref: str, new: str, old: str | None) -> None:
        """Queue a move; ``old`` None for a ref that must not exist."""
        self._send(f"update {ref} {new} {old or ZERO}")

    def verify(self, ref: str, old: str | None) -> None:
        """Queue a check: once prepared, the ref is locked and has the expected value."""
        self._send(f"verify {ref} {old or ZERO}")

    def prepare(self) -> None:
        """Take the locks and compare. Raises GitError; git has then released everything."""
        self._send("prepare", answered=True)

    def commit(self) -> None:
        """Write the reflogs and move. Raises GitError; only a look tells what has moved then."""
        self._send("commit", answered=True)

    def abort(self) -> None:
        """Release the locks."""
        self._send("abort", answered=True)

    def close(self) -> None:
        """Undo what is not committed, and wait for git's end: then nothing of it moves or is locked."""
        if self._child.returncode is None:
            self._said += self._child.communicate()[0]

    def _send(self, line: str, answered: bool = False) -> None:
        asked, said = self._child.stdin, self._child.stdout
        assert asked is not None
        assert said is not None
        try:
            asked.write(os.fsencode(line) + b"\n")
            asked.flush()
        except BrokenPipeError:
            pass  # git has ended with a complaint, which the next answer contains
        if not answered:
            return
        for row in said:
            if row.endswith(b"%s: ok\n" % line.encode()):  # the last line of a hook may lack its newline
                return
            self._said += row
        self.close()
        raise GitError(["update-ref"], self._child.returncode, self._said)


class Still:
    """HEAD and its branch stand still: git holds its locks of both, and ``head`` is their value.

    What is built on ``head`` meanwhile will land. But any other git that wants to move the branch waits for
    ``core.filesRefLockTimeout``, 100 ms, and then fails. So hold it for less, and only after lost races::

        with refs.stand_still(repo, WAIT) as still:
            ...  # build the commit on still.head
            refs.swap(repo, move, WAIT, still)

    git takes no lock before it is told the new value, which is not known here. So :func:`swap` releases these
    locks when its own git has been told everything and only has to take them. A waiting git looks every few
    milliseconds, and this takes a tenth of one. If the race is lost all the same, it is one more lost race.
    """

    def __init__(self, held: Transaction, head: Head) -> None:
        self._held: Transaction | None = held
        self.head = head
        self._transaction = held

    def __enter__(self) -> Still:
        return self

    def __exit__(self, *_error: object) -> None:
        self._transaction.close()

    def release(self) -> None:
        """Release the locks; a second call does nothing."""
        held, self._held = self._held, None
        if held is not None:
            held.abort()


def stand_still(repo: Repository, wait: float) -> Still:
    """Hold HEAD and its branch at their present values; see :class:`Still`. Raises Busy for a held lock."""
    deadline = time.monotonic() + wait
    while True:
        head, held = read_head(repo), Transaction(repo.git)
        try:
            held.verify("HEAD", head.oid)
            held.prepare()
            # Before the lock HEAD may have gone to another branch at the same commit.
            if read_head(repo) == head:
                return Still(held, head)
        except GitError as error:
            if read_head(repo) == head:
                _raise_unless_busy(error, deadline)
        except BaseException:
            held.close()
            raise
        held.close()
        if time.monotonic() >= deadline:
            raise Busy("HEAD kept moving", "try again")


def swap(
    repo: Repository,
    move: Move,
    wait: float,
    still: Still | None = None,
    around: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> None:
    """Move HEAD's branch from ``move.head.oid`` to ``move.new``, with both reflogs; then call :func:`sync`.

    Raises LostRaceError when the branch, or HEAD, is elsewhere by now, and Busy when a lock is held. Nothing
    has moved then. ``still`` is released at the last moment. The move itself happens inside ``around``, which
    is entered when git holds its locks and only has to move; an error on entering it undoes everything.
    """
    # HEAD is named, not the branch: then git locks HEAD first, as for `git commit`.
    _swap(repo, "HEAD", move, wait, lambda: read_head(repo), still, around)


def swap_branch(repo: Repository, move: Move, wait: float) -> None:
    """Move a branch that is checked out nowhere; ``move.head`` names it and its value.

    Raises LostRaceError and Busy as :func:`swap` does.
    """
    ref = move.head.name
    _swap(repo, ref, move, wait, lambda: Head(ref, value(repo, ref)))
    sync(repo, move.head)


def sync(repo: Repository, head: Head) -> None:
    """Make a move durable: git syncs the bytes of a ref, not the name that it gives them."""
    if not repo.uses_reftable:
        sync_folder(os.path.dirname(f"{repo.common_dir}/{head.ref}") if head.ref else repo.git_dir)


def _swap(
    repo: Repository,
    name: str,
    move: Move,
    wait: float,
    look: Callable[[], Head],
    still: Still | None = None,
    around: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> None:
    git = repo.git.at(**move.ident)
    deadline = time.monotonic() + wait
    while True:
        try:
            with Transaction(git, move.message) as change:
                change.update(name, move.new, move.head.oid)
                if still is not None:
                    still.release()
                change.prepare()
                # Seen under git's locks: whoever moved the branch before them has moved it for good.
                if look() != move.head:
                    raise LostRaceError
                with around():
                    change.commit()
            return
        except GitError as error:
            if not 0 < error.code <= _USAGE:  # killed: by a signal, or as a shell above it tells
                dead_locks.settle_refs(repo, move.head.ref)
            there = look()
            if there == move.head._replace(oid=move.new):
                return
            if there != move.head:
                raise LostRaceError from error
            _raise_unless_busy(error, deadline)


def _raise_unless_busy(error: GitError, deadline: float) -> None:
    """Return where git found a held lock and may try again: git itself has waited for 100 ms."""
    # git tells this only in words; its exit status is the same for every failure.
    held = re.search(r"Unable to create '(.*\.lock)': File exists", error.said)
    if held is None:
        raise error
    if time.monotonic() >= deadline:
        raise dead_locks.busy(held[1]) from error


def contains(repo: Repository, head: Head, oid: str) -> bool:
    """True when ``oid`` is an ancestor of HEAD or HEAD itself."""
    if head.oid == oid:
        return True
    if head.oid is None:
        return False
    known = repo.ancestry.get((oid, head.oid))
    if known is not None:
        return known
    code = repo.git.try_run("merge-base", "--is-ancestor", oid, head.oid).returncode
    if code in (0, 1):  # else one of them does not exist, and may come
        repo.ancestry[oid, head.oid] = code == 0
    return code == 0


def look_up(repo: Repository, head: str, oids: Iterable[str]) -> None:
    """Let :func:`contains` know of many commits by one process: one for each of 200 took 0.7 s."""
    unknown = sorted({oid for oid in oids if oid != head and (oid, head) not in repo.ancestry})
    asked = "".join(f"{oid}\n" for oid in [*unknown, f"^{head}"]).encode()
    done = repo.git.try_run("rev-list", "--stdin", stdin=asked) if len(unknown) > 1 else None
    if done is None or done.returncode:  # one of them does not exist, and may come
        return
    ahead = set(done.stdout.decode().split())
    repo.ancestry.update({(oid, head): oid not in ahead for oid in unknown})


def left_from(repo: Repository, ref: str | None, oid: str) -> bool:
    """True when a reflog entry starts from ``oid``: the branch once had this value."""
    return any(True for _ in followers(repo, ref, oid))


def followers(repo: Repository, ref: str | None, oid: str) -> Iterator[str]:
    """The values that followed ``oid``, by the reflogs of HEAD and of a branch."""
    for log in [f"{repo.git_dir}/logs/HEAD", *([f"{repo.common_dir}/logs/{ref}"] if ref else [])]:
        try:
            with open(log, "rb") as file:
                rows = [row.split(b" ") for row in file if row.startswith(oid.encode() + b" ")]
        except (FileNotFoundError, NotADirectoryError):
            continue
        yield from (row[1].decode("ascii", "replace") for row in rows)
