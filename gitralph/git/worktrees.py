"""Worktrees as git administers them; only ``git worktree`` changes them and their admin files."""

import itertools
import os
import time
from typing import NamedTuple

from gitralph.base import files, nul
from gitralph.base.errors import Fatal
from gitralph.git.listing import entries, is_unmerged, states
from gitralph.git.run import Git, GitError

INITIALIZING = "initializing"
# Hooks ask often, so this starts no program that the repository names; paths are relative to the root.
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


# In bytes; git's files for a rebase name a branch a line.
_LIMIT = 1 << 20


class WorktreeEntry(NamedTuple):
    """One row of ``git worktree list``. ``branch`` is a full ref name, None when detached."""

    path: str
    head: str | None = None
    branch: str | None = None
    bare: bool = False
    locked: str | None = None

    @property
    def missing(self) -> bool:
        """True when the folder is gone, or the ``.git`` in it."""
        return not os.path.lexists(self.path + "/.git")


def administration(git: Git, common_dir: str, folder: str) -> Git:
    """git bound to the repository as a whole, for ``worktree`` and refs."""
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
    )


PATIENCE = 100
"""A command that met a half registered worktree is run again so often, 20 ms apart."""
_PAUSE = 0.02


def is_half_registered(error: GitError) -> bool:
    """True where git died of a worktree that another git was adding: its ``commondir`` was still empty.

    git creates that file and then fills it. Whoever lists worktrees in between dies of "failed to read
    .../commondir: Success" (git 2.39, seen once in fifteen adds at once).
    """
    return "/commondir" in error.message


def pause(tries: int, error: GitError) -> None:
    """Wait before the next try. Raises ``error`` after too many tries: then it is damage and no race."""
    if tries >= PATIENCE:
        raise error
    time.sleep(_PAUSE)


def patiently(git: Git, *words: str) -> bytes:
    """Run a git that reads every worktree's files; run it again while one is half registered.

    Raises GitError.
    """
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


def busy_with(common_dir: str, ref: str) -> tuple[str, str] | None:
    """Where a branch is about to be moved, and in words by what; None where it is not.

    The place is a linked worktree's root, and "" for the main one.

    These are the branches that ``git branch -f`` refuses besides those that are checked out (git 2.38,
    ``prepare_checked_out_branches``): HEAD is detached there until the operation ends.
    """
    short = ref.removeprefix("refs/heads/")
    for name in ("", *files.names(f"{common_dir}/worktrees")):
        git_dir = f"{common_dir}/worktrees/{name}" if name else common_dir
        rebased = {
            *_rows(f"{git_dir}/rebase-merge/head-name")[:1],
            *_rows(f"{git_dir}/rebase-apply/head-name")[:1],
            *_rows(f"{git_dir}/rebase-merge/update-refs")[::3],  # each with its old and its new commit below
        }
        if ref in rebased:
            return _root(git_dir), "rebased"
        if short in _rows(f"{git_dir}/BISECT_START")[:1]:
            return _root(git_dir), "bisected"
    return None


def _root(git_dir: str) -> str:
    # absolute, or from that folder on (worktree.useRelativePaths, git 2.48)
    said = _rows(f"{git_dir}/gitdir")
    return os.path.normpath(os.path.dirname(os.path.join(git_dir, said[0]))) if said else ""


def _rows(path: str) -> list[str]:
    try:
        return os.fsdecode(files.read_bytes(path, _LIMIT, foreign=True)).splitlines()
    except OSError:
        return []


def add(git: Git, path: str, branch: str, start: str | None) -> None:
    """Make a worktree on ``branch``, a new one from ``start`` unless that is None; runs no hook."""
    # A post-checkout hook would run in a half made checkout (githooks(5)).
    words = ["-c", "core.hooksPath=/dev/null", "-c", "submodule.recurse=false", "worktree", "add", "-q"]
    # --no-track: the base is not the upstream of the bead's branch, and `push` would go there.
    words += ["--no-track", "-b", branch, path, start] if start else [path, branch]
    git.run(*words)


def remove(git: Git, path: str, force: bool) -> None:
    """``git worktree remove``; with ``force`` also an unclean one."""
    git.run("worktree", "remove", *["--force"] * force, path)


def lock(git: Git, path: str, reason: str | None) -> None:
    """Set git's own lock on a worktree."""
    git.run("worktree", "lock", *(["--reason", reason] if reason else []), path)


def unlock(git: Git, path: str) -> None:
    """Remove git's lock from a worktree."""
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
        """Every path with work in it, without ignored ones."""
        return sorted({*self.staged, *self.modified, *self.untracked, *self.hidden, *self.unmerged})


def dirt(git: Git, ignored: bool = False, programs: tuple[str, ...] = ()) -> Dirt:
    """What ``git status`` finds in the worktree of ``git``; no renames, every file by name."""
    words = [*_QUIET, *programs, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"]
    # A changed submodule is work that would be lost, whatever status.submoduleSummary or .gitmodules say.
    words += ["--ignore-submodules=none"] + (["--ignored=matching"] if ignored else [])
    found: dict[str, list[bytes]] = {key: [] for key in ("s", "m", "?", "!", "u")}
    for code, path in states(git.run(*words)):
        if code in ("??", "!!"):
            found[code[0]].append(path)
        elif is_unmerged(code):
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
    """Flagged entries whose file differs from the index: ``git status`` does not see these."""
    rows = nul.rows(git.run("ls-files", "-v", "-z"))
    # git takes such entries for unchanged without looking. Work behind them would be removed with the
    # worktree.
    flagged = [row[2:] for row in rows if row[:1].islower() or row[:1] == b"S"]
    root = os.fsencode(git.cwd or ".")
    there = (path for path in flagged if os.path.lexists(os.path.join(root, path)))
    return tuple(path for path in there if _differs(git, path))


def _differs(git: Git, path: bytes) -> bool:
    # hash-object would follow the link.
    if os.path.islink(os.path.join(os.fsencode(git.cwd or "."), path)):
        return True
    there = entries(git.run("--literal-pathspecs", "ls-files", "-s", "-z", "--", path))
    now = git.try_run("hash-object", "--", path).stdout.strip()
    return not there or there[0].entry.oid != now


def ahead_behind(git: Git, branch: str, base: str) -> tuple[int, int] | None:
    """The numbers of commits that each of the two has and the other lacks; None when either is gone."""
    done = git.try_run("rev-list", "--left-right", "--count", f"{branch}...{base}", "--")
    counts = done.stdout.split()
    return (int(counts[0]), int(counts[1])) if done.returncode == 0 and len(counts) == 2 else None


def value(git: Git, name: str) -> str | None:
    """The commit that a name means, None when there is none."""
    # --end-of-options: a name that begins with a dash is a name (git >= 2.24).
    words = ("rev-parse", "--verify", "-q", "--end-of-options")
    if name.startswith(":/"):  # what follows is a text to look for, to its end (gitrevisions(7))
        name = git.try_run(*words, name).stdout.decode("ascii", "replace").strip()
    done = git.try_run(*words, name + "^{commit}")
    return done.stdout.decode().strip() or None if done.returncode == 0 else None


def full_name(git: Git, name: str) -> str | None:
    """The full ref that a name stands for, None for an oid or a detached HEAD."""
    done = git.try_run("rev-parse", "--symbolic-full-name", "--verify", "-q", "--end-of-options", name)
    said = os.fsdecode(done.stdout).strip()
    return said if said.startswith("refs/") else None


def delete_branch(git: Git, branch: str, oid: str) -> bool:
    """Delete a branch that is still at ``oid``, with its configuration; False when it has moved."""
    # Not `git branch -D`: that compares no old value, and a commit that came meanwhile would be lost.
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
