"""Removes lock files that a killed git left, once nobody is left who could hold them.

git writes no owner into a lock. So this asks /proc, twice, for every git at work in the repository, and does
nothing where that cannot be told. It serves only a repository whose guard runs inside git, or the time after
a git that an intent knows to be dead. Any other lock is for its owner to explain.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

from gitralph.base import nul, process
from gitralph.base.errors import Busy
from gitralph.git.repository import Repository

# In seconds. A program that is not git (an editor's own library, say) holds a lock while it writes one file.
_PAUSE = 0.3
# In seconds. A git of ours that outlived its command ends within milliseconds. No command waits longer for a
# lock: the next one looks again.
_ORPHAN, _LOOK = 2.0, 0.01
# These git commands run for long, and take no lock of an index or a branch.
_HARMLESS = frozenset(
    [
        b"ralph",
        b"cat-file",
        b"fsmonitor--daemon",
        b"credential-cache--daemon",
        b"daemon",
        b"gc",
        b"maintenance",
        b"repack",
        b"pack-objects",
        b"log",
        b"show",
        b"diff",
        b"grep",
        b"blame",
    ]
)
# git's own options with a value in the next word (git(1)); the word behind is not the command.
_WITH_VALUE = frozenset([b"-C", b"-c", b"--git-dir", b"--work-tree", b"--namespace", b"--exec-path"])


def of_refs(repo: Repository, ref: str | None) -> list[str]:
    """The lock files of HEAD and of a branch."""
    return [f"{repo.git_dir}/HEAD.lock", *([f"{repo.common_dir}/{ref}.lock"] if ref else [])]


def _names(repo: Repository, ref: str | None) -> list[str]:
    out = [f"{repo.git_dir}/index.lock", *of_refs(repo, ref)]
    with os.scandir(repo.git_dir) as found:
        for entry in found:
            if entry.name.startswith("next-index-") and entry.name.endswith(".lock"):
                out.append(entry.path)
    return out


def _there(names: Iterable[str]) -> dict[str, tuple[int, ...]]:
    out: dict[str, tuple[int, ...]] = {}
    for name in names:
        try:
            found = os.stat(name, follow_symlinks=False)
        except OSError:
            continue
        out[name] = (found.st_ino, found.st_mtime_ns, found.st_size)
    return out


def any_lock(repo: Repository) -> bool:
    """True when the index or HEAD of the worktree is locked; this takes two looks."""
    return any(os.path.lexists(f"{repo.git_dir}/{name}.lock") for name in ("index", "HEAD"))


def clear(repo: Repository, ref: str | None) -> list[str]:
    """Remove the locks of index, HEAD and ``ref`` that a dead git left; returns their names."""
    return _clear(repo, _names(repo, ref))


def settle_refs(repo: Repository, ref: str | None) -> None:
    """Wait until a git of ours that outlived us has ended, or remove the locks that it left when it died.

    Afterwards it moves nothing: it is told to commit only when it holds its locks. Raises Busy for locks that
    somebody else holds, or may hold.
    """
    names, deadline = of_refs(repo, ref), time.monotonic() + _ORPHAN
    while held := _there(names):
        if _clear(repo, held):
            continue
        if time.monotonic() >= deadline:
            raise busy(next(iter(held)))
        time.sleep(_LOOK)


def busy(lock: str) -> Busy:
    """The error for a lock that somebody else holds."""
    return Busy(
        f"'{lock}' is held by another git process",
        "wait for it to end and try again; if no git runs here, "
        "make sure of that and remove the file yourself",
    )


def _clear(repo: Repository, names: Iterable[str]) -> list[str]:
    there = _there(names)
    if not there or _is_git_at_work(repo):
        return []
    # Two looks with a pause. A lock that was renamed and taken anew differs in inode or time, a dead one does
    # not.
    time.sleep(_PAUSE)
    if _is_git_at_work(repo):
        return []
    dead = [name for name, what in there.items() if _there([name]).get(name) == what]
    for name in dead:
        os.unlink(name)
    return dead


def _is_git_at_work(repo: Repository) -> bool:
    """True unless every running git is known to work elsewhere, or to hold no lock."""
    pids = process.named("git")
    return pids is None or any(_may_hold(repo, pid) for pid in pids)


def wait_for_commits(repo: Repository, wait: float) -> None:
    """Wait, at most so many seconds, for each `git commit` or `merge` that is now at work in the repository.

    They read the index before they lock it.
    """
    verbs = (b"commit", b"merge")
    pids = [pid for pid in process.named("git") or () if _verb(process.words(pid) or []) in verbs]
    deadline = time.monotonic() + wait
    while pids := [pid for pid in pids if _may_hold(repo, pid)]:
        if time.monotonic() >= deadline:
            return
        time.sleep(_LOOK)


def _may_hold(repo: Repository, pid: int) -> bool:
    words = process.words(pid)
    if not words:  # it has ended or is ending: its memory goes before its folder does (exit_mm in Linux)
        return False
    if _verb(words) in _HARMLESS:
        return False
    try:
        cwd = os.readlink(f"/proc/{pid}/cwd")
        with open(f"/proc/{pid}/environ", "rb") as file:
            settings = nul.rows(file.read(1 << 20))
    except (FileNotFoundError, ProcessLookupError):
        return False
    except OSError:
        return True  # it belongs to somebody else
    named = [_value(words, option) for option in (b"--git-dir", b"--work-tree")]
    named += [one.partition(b"=")[2] for one in settings if one.startswith((b"GIT_DIR=", b"GIT_WORK_TREE="))]
    places = [cwd, *(os.path.join(cwd, os.fsdecode(one)) for one in named if one)]
    own = (repo.root, repo.common_dir, repo.git_dir)
    return any(f"{os.path.realpath(at)}/".startswith(f"{place}/") for at in places for place in own)


def _value(words: list[bytes], option: bytes) -> bytes:
    """The value of one of git's own options, empty without it."""
    for word, following in zip(words, [*words[1:], b""], strict=True):
        if word == option:
            return following
        if word.startswith(option + b"="):
            return word[len(option) + 1 :]
    return b""


def _verb(words: list[bytes]) -> bytes:
    """The command of a git command line, behind git's own options."""
    rest = iter(words[1:])
    for word in rest:
        if word in _WITH_VALUE:
            next(rest, None)
        elif not word.startswith(b"-"):
            return word
    return b""
