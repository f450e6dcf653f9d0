"""Worktrees as git administers them: changed by ``git worktree``, whose admin files nobody else writes."""

import itertools
import os
import time
from typing import NamedTuple

from gitralph.base import nul
from gitralph.base.errors import Fatal
from gitralph.git.listing import entries, states
from gitralph.git.run import Git, GitError

INITIALIZING = "initializing"
# Asked often and by hooks: starts no program that the repository names, and paths come from the root.
_QUIET = (
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "status.relativePaths=false",
    "-c",
    "submodule.recurse=false",
)


class WorktreeEntry(NamedTuple):
    """One row of ``git worktree list``. ``branch`` is a full ref name, None when detached."""

    path: str
    head: str | None = None
    branch: str | None = None
    bare: bool = False
    locked: str | None = None
    prunable: bool = False

    @property
    def missing(self) -> bool:
        """True when the folder, or the ``.git`` in it, is gone."""
        return not os.path.lexists(self.path + "/.git")


def administration(git: Git, common_dir: str, folder: str) -> Git:
    """git bound to a repository as a whole, for ``worktree`` and refs."""
    return git.elsewhere(folder, GIT_DIR=common_dir)


def _row(block: str) -> WorktreeEntry:
    facts: dict[str, str] = {}
    for line in block.split("\0"):
        key, _, value = line.partition(" ")
        facts[key] = value
    head = facts.get("HEAD")
    return WorktreeEntry(
        facts["worktree"],
        head,
        facts.get("branch"),
        "bare" in facts,
        facts.get("locked"),
        "prunable" in facts,
    )


PATIENCE = 100
"""So often, 20 ms apart, a command is run again that met a worktree which another git is registering."""
_PAUSE = 0.02


def is_half_registered(error: GitError) -> bool:
    """True where git died of a worktree that another git was adding: its ``commondir`` was empty as yet.

    git makes that file and then fills it, and whoever lists worktrees in between dies of "failed to read
    .../commondir: Success" (git 2.39, seen once in fifteen adds at once).
    """
    return "/commondir" in error.message


def pause(tries: int, error: GitError) -> None:
    """Wait before the next try. Raises ``error`` after so many, when it is damage and no race."""
    if tries >= PATIENCE:
        raise error
    time.sleep(_PAUSE)


def patiently(git: Git, *words: str) -> bytes:
    """Run a git that reads every worktree's files, again while one is half registered. Raises GitError."""
    for tries in itertools.count():
        try:
            return git.run(*words)
        except GitError as error:
            if not is_half_registered(error):
                raise
            pause(tries, error)
    raise AssertionError("pause raises first")


def listing(git: Git) -> list[WorktreeEntry]:
    """Every worktree that git knows, the main one first. Raises GitError where git cannot list them."""
    said = os.fsdecode(patiently(git, "worktree", "list", "--porcelain", "-z"))
    return [_row(block) for block in said.split("\0\0") if block.strip("\0")]


def add(git: Git, path: str, branch: str, start: str | None) -> None:
    """Make a worktree on ``branch``, a new one from ``start`` unless that is None; runs no hook."""
    # A post-checkout hook would run in a checkout that is half made (githooks(5)).
    words = ["-c", "core.hooksPath=/dev/null", "-c", "submodule.recurse=false", "worktree", "add", "-q"]
    # --no-track: the base is no upstream of the bead's branch, and `push` would go there.
    words += ["--no-track", "-b", branch, path, start] if start else [path, branch]
    git.run(*words)


def remove(git: Git, path: str, force: int = 0) -> None:
    """``git worktree remove``; ``force`` 1 takes unclean ones, 2 locked ones too."""
    git.run("worktree", "remove", *["--force"] * force, path)


def lock(git: Git, path: str, reason: str | None) -> None:
    """git's own lock."""
    git.run("worktree", "lock", *(["--reason", reason] if reason else []), path)


def unlock(git: Git, path: str) -> None:
    """Take git's lock off."""
    git.run("worktree", "unlock", path)


class Dirt(NamedTuple):
    """What a worktree holds beyond its tip. ``hidden`` lies behind assume-unchanged or skip-worktree."""

    staged: tuple[bytes, ...] = ()
    modified: tuple[bytes, ...] = ()
    untracked: tuple[bytes, ...] = ()
    ignored: tuple[bytes, ...] = ()
    hidden: tuple[bytes, ...] = ()
    unmerged: tuple[bytes, ...] = ()

    @property
    def changed(self) -> list[bytes]:
        """Every path with work in it, ignored ones not counted."""
        return sorted({*self.staged, *self.modified, *self.untracked, *self.hidden, *self.unmerged})


def dirt(git: Git, ignored: bool = False, programs: tuple[str, ...] = ()) -> Dirt:
    """What ``git status`` finds in the worktree ``git`` works in; no renames, every file by its name."""
    words = [*_QUIET, *programs, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"]
    # Whatever status.submoduleSummary or .gitmodules say: a changed submodule is work that would be lost.
    words += ["--ignore-submodules=none"] + (["--ignored=matching"] if ignored else [])
    found: dict[str, list[bytes]] = {key: [] for key in ("s", "m", "?", "!", "u")}
    for code, path in states(git.run(*words)):
        if code in ("??", "!!"):
            found[code[0]].append(path)
        elif "U" in code or code in ("AA", "DD"):
            found["u"].append(path)
        else:
            found["s"] += [path] if code[0] != " " else []
            found["m"] += [path] if code[1] != " " else []
    return Dirt(
        tuple(found["s"]),
        tuple(found["m"]),
        tuple(found["?"]),
        tuple(found["!"]),
        _hidden(git),
        tuple(found["u"]),
    )


def _hidden(git: Git) -> tuple[bytes, ...]:
    """Flagged entries whose file is not what the index says: ``git status`` is blind for them."""
    rows = nul.rows(git.run("ls-files", "-v", "-z"))
    # git takes such entries for unchanged without looking: work behind them would be removed with the
    # worktree.
    flagged = [row[2:] for row in rows if row[:1].islower() or row[:1] == b"S"]
    root = os.fsencode(git.cwd or ".")
    there = [path for path in flagged if os.path.lexists(os.path.join(root, path))]
    if not there:
        return ()
    return tuple(path for path in there if _differs(git, path))


def _differs(git: Git, path: bytes) -> bool:
    # hash-object would follow it.
    if os.path.islink(os.path.join(os.fsencode(git.cwd or "."), path)):
        return True
    there = entries(git.run("--literal-pathspecs", "ls-files", "-s", "-z", "--", path))
    now = git.try_run("hash-object", "--", path).stdout.strip()
    return not there or there[0].entry.oid != now


def ahead_behind(git: Git, branch: str, base: str) -> tuple[int, int] | None:
    """How many commits each of the two has that the other lacks; None when either is gone."""
    done = git.try_run("rev-list", "--left-right", "--count", f"{branch}...{base}", "--")
    counts = done.stdout.split()
    return (int(counts[0]), int(counts[1])) if done.returncode == 0 and len(counts) == 2 else None


def value(git: Git, name: str) -> str | None:
    """The commit that a name means, None when there is none."""
    # --end-of-options: a name that begins with a dash is a name (git >= 2.24).
    done = git.try_run("rev-parse", "--verify", "-q", "--end-of-options", name + "^{commit}")
    return done.stdout.decode().strip() or None if done.returncode == 0 else None


def full_name(git: Git, name: str) -> str | None:
    """The full ref that a name stands for, None for an oid or a detached HEAD."""
    done = git.try_run("rev-parse", "--symbolic-full-name", "--verify", "-q", "--end-of-options", name)
    said = os.fsdecode(done.stdout).strip()
    return said if said.startswith("refs/") else None


def delete_branch(git: Git, branch: str, oid: str) -> bool:
    """Delete a branch that still is at ``oid``, with its configuration; False when it moved."""
    # Not `git branch -D`: that has no expected old value, and a commit that came meanwhile would be lost.
    if git.try_run("update-ref", "-d", "-m", "worktree removed", branch, oid).returncode:
        return False
    git.try_run("config", "--remove-section", "branch." + branch.removeprefix("refs/heads/"))
    return True


def main_root(git: Git, common_dir: str, first: WorktreeEntry) -> str:
    """The main checkout's root. Raises Fatal where there is none, or git cannot tell from here."""
    if first.bare:
        raise Fatal("the main repository is bare: there is no main checkout to keep '.worktrees' in")
    if os.path.realpath(first.path) != common_dir and os.path.lexists(first.path + "/.git"):
        return first.path
    done = git.try_run("config", "--file", common_dir + "/config", "core.worktree")
    root = os.path.join(common_dir, os.fsdecode(done.stdout).strip()) if done.returncode == 0 else ""
    if root and os.path.isdir(root):
        return os.path.realpath(root)
    raise Fatal(
        "cannot tell where the main checkout is (its git dir lies elsewhere)", "run it from the main checkout"
    )
