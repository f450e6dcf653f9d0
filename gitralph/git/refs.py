"""Moves HEAD's branch by compare-and-swap, with both reflogs.

For the files backend an own swap: finished lock files by ``link(2)``, compare, reflogs, rename, fsync
of the folder. ``git update-ref`` killed at its rename leaves an empty lock that nobody can call its
own. Where a ``reference-transaction`` hook exists or refs are a reftable, git does it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from gitralph.base import files
from gitralph.base.errors import Busy, Fatal
from gitralph.base.files import sync_folder
from gitralph.git import index
from gitralph.git.config import Config
from gitralph.git.repository import Repository
from gitralph.git.run import GitError

ZERO = "0" * 40


class LostRaceError(Exception):
    """The branch, or what HEAD points at, moved since the commit was built."""


@dataclass(frozen=True)
class Head:
    """``ref`` is the branch HEAD points at, None when detached; ``oid`` None when unborn."""

    ref: str | None
    oid: str | None

    @property
    def name(self) -> str:
        """What moves: the branch, or HEAD itself."""
        return self.ref or "HEAD"

    @property
    def branch(self) -> str | None:
        return self.ref.removeprefix("refs/heads/") if self.ref else None


def _read(path: str) -> str | None:
    try:
        return os.fsdecode(_read_small(path)).strip()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _read_small(path: str) -> bytes:
    # A fifo under the name of a ref would hang the open for ever.
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        return os.read(fd, 4096)
    finally:
        os.close(fd)


def _packed(common_dir: str, ref: str) -> str | None:
    try:
        with open(common_dir + "/packed-refs", "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return None
    # A search in the bytes: parsing 50,000 packed refs took 310 ms, this a few.
    at = data.find(b" " + os.fsencode(ref) + b"\n")
    return data[at - 40 : at].decode("ascii") if at >= 40 else None


def _value(repo: Repository, ref: str) -> str | None:
    """The oid of a ref in the files backend. Raises Fatal for a symbolic one."""
    said = _read(f"{repo.common_dir}/{ref}")
    if said is None:
        return _packed(repo.common_dir, ref)
    # Moving the link would cut it, moving its target would pass by git's checks (git-symbolic-ref(1)).
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
        return Head(ref, _value(repo, ref))
    return Head(None, said)


def _read_head_by_git(repo: Repository) -> Head:
    asked = repo.git.try_run("symbolic-ref", "-q", "HEAD")
    ref = os.fsdecode(asked.stdout).strip() or None
    found = repo.git.try_run("rev-parse", "--verify", "-q", "HEAD")
    return Head(ref, os.fsdecode(found.stdout).strip() or None)


def _reflogs(repo: Repository, head: Head, config: Config) -> list[str]:
    logs = [repo.git_dir + "/logs/HEAD"]
    if head.ref:
        logs.append(f"{repo.common_dir}/logs/{head.ref}")
    # Set to false git still appends to a log that is there (git-config(1)), and so do we.
    setting = (config.get("core.logallrefupdates") or "true").lower()
    if setting in ("false", "no", "off", "0"):
        return [log for log in logs if os.path.exists(log)]
    return logs


def _append_log(path: str, line: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        os.write(fd, line)
        os.fsync(fd)
    finally:
        os.close(fd)


def by_git(repo: Repository) -> bool:
    """True when git itself has to move the ref."""
    # The hook must see every move of a ref (githooks(5)), and it may refuse one.
    hook = repo.hooks_dir + "/reference-transaction"
    return repo.uses_reftable or os.access(hook, os.X_OK)


@dataclass(frozen=True)
class Move:
    """One planned move of HEAD's branch. ``ident`` is the committer line of the new commit."""

    head: Head
    new: str
    ident: bytes
    message: str
    prepared_ref: str
    prepared_head: str


def prepare(move: Move) -> None:
    """Write the finished lock files under private names."""
    # A ref's file has the mode that git would give it, so that a shared repository stays shared.
    umask = files.umask()
    for path in (move.prepared_ref, move.prepared_head):
        files.write_whole(path, move.new.encode() + b"\n", sync=True)
        os.chmod(path, 0o666 & ~umask)


def _locks(repo: Repository, head: Head) -> tuple[str, str | None]:
    """The lock of what moves, and HEAD's lock where that is another file."""
    if head.ref is None:
        return repo.git_dir + "/HEAD.lock", None
    return f"{repo.common_dir}/{head.ref}.lock", repo.git_dir + "/HEAD.lock"


def _make_room(repo: Repository, ref: str) -> None:
    """Clear the way for a branch's file as git does. Raises Fatal where another branch is in it."""
    names = ref.split("/")
    above = ["/".join(names[:count]) for count in range(3, len(names))]
    if taken := next((name for name in above if _value(repo, name) is not None), None):
        raise Fatal(f"'{taken}' exists; cannot create '{ref}'")
    # `a` and `a/b` cannot both be branches, packed ones included: git refuses it and would not find either.
    if _packed_below(repo.common_dir, ref):
        raise Fatal(f"there are branches below '{ref}/'; cannot create '{ref}'")
    for folder, _, _ in os.walk(f"{repo.common_dir}/{ref}", topdown=False):
        try:
            os.rmdir(folder)  # left over from branches that were deleted or packed
        except OSError as error:
            raise Fatal(f"there are branches below '{ref}/'; cannot create '{ref}'") from error


def _packed_below(common_dir: str, ref: str) -> bool:
    try:
        with open(common_dir + "/packed-refs", "rb") as file:
            return b" " + os.fsencode(ref) + b"/" in file.read()
    except FileNotFoundError:
        return False


def swap(repo: Repository, move: Move, config: Config, wait: float) -> None:
    """Move the branch from ``move.head.oid`` to ``move.new``.

    Raises LostRaceError when it is elsewhere by now, Busy when a lock is held; nothing has moved then.
    """
    if by_git(repo):
        _swap_by_git(repo, move)
        return

    target, beside = _locks(repo, move.head)
    if move.head.ref and not os.path.isfile(f"{repo.common_dir}/{move.head.ref}"):
        _make_room(repo, move.head.ref)
    if beside:
        # HEAD first: `git checkout` takes HEAD.lock, so HEAD cannot be pointed elsewhere between compare and
        # rename.
        index.take_lock(move.prepared_head, beside, wait)
    try:
        _rename(move, target, wait, lambda: read_head(repo) == move.head, _reflogs(repo, move.head, config))
    finally:
        # Somebody may have taken it for a dead one; a complaint now would hide that the branch moved.
        if beside and index.is_ours(beside, move.prepared_head):
            os.unlink(beside)


def _rename(move: Move, target: str, wait: float, stands: Callable[[], bool], logs: list[str]) -> None:
    """Take a ref's lock and move it, reflogs first. Raises LostRaceError where it ``stands`` elsewhere."""

    index.take_lock(move.prepared_ref, target, wait)
    try:
        # Under the lock: whoever moved the ref before it, moved it for good.
        if not stands():
            raise LostRaceError
        # Before the rename, as git does: a reflog that lacks the move could not tell that the commit landed.
        for log in logs:
            _append_log(log, _log_line(move))
        os.rename(target, target.removesuffix(".lock"))
    except BaseException:
        if index.is_ours(target, move.prepared_ref):
            os.unlink(target)
        raise
    sync_folder(os.path.dirname(target))


def swap_branch(repo: Repository, move: Move, config: Config, wait: float) -> None:
    """Move a branch that is checked out nowhere; ``move.head`` names it and where it is.

    Raises LostRaceError and Busy as :func:`swap` does.
    """
    ref = move.head.name
    if by_git(repo):
        try:
            repo.git.run("update-ref", "-m", move.message, ref, move.new, move.head.oid or ZERO)
        except GitError as error:
            raise LostRaceError from error
        return
    target = f"{repo.common_dir}/{ref}.lock"
    # HEAD is elsewhere, so its log tells nothing of this move.
    logs = [log for log in _reflogs(repo, move.head, config) if log != repo.git_dir + "/logs/HEAD"]
    _rename(move, target, wait, lambda: _value(repo, ref) == move.head.oid, logs)


def _log_line(move: Move) -> bytes:
    old = move.head.oid or ZERO
    # A reflog entry is one line: a newline in a subject would forge another.
    message = " ".join(move.message.split())
    return b"%s %s %s\t%s\n" % (
        old.encode(),
        move.new.encode(),
        move.ident,
        message.encode("utf-8", "surrogateescape"),
    )


def _swap_by_git(repo: Repository, move: Move) -> None:
    old = move.head.oid or ZERO
    try:
        repo.git.run("update-ref", "-m", move.message, "HEAD", move.new, old)
    except GitError as error:
        if read_head(repo) != move.head:
            raise LostRaceError from error
        # git says so in words only; its exit status is the same for every failure.
        if ".lock" in error.said:
            raise Busy(error.message) from error
        raise


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
    if code in (0, 1):  # else one of them is not there, and may come
        repo.ancestry[oid, head.oid] = code == 0
    return code == 0


def left_from(repo: Repository, ref: str | None, oid: str) -> bool:
    """True when a reflog entry starts from ``oid``: it was the branch's value once."""
    logs = [repo.git_dir + "/logs/HEAD"] + ([f"{repo.common_dir}/logs/{ref}"] if ref else [])
    for log in logs:
        try:
            with open(log, "rb") as file:
                if any(line.startswith(oid.encode() + b" ") for line in file):
                    return True
        except (FileNotFoundError, NotADirectoryError):
            continue
    return False
