"""A task's own worktree and the way home from it. The seam to ``git ralph worktree``: two functions.

git itself refuses to check out over what is there, and to move over what is dirty.
"""

import os
import time

from gitralph.errors import Fatal, Refused
from gitralph.plumbing.git import Git, GitError
from gitralph.porcelain.context import Context
from gitralph.porcelain.loop.model import Job
from gitralph.quote import printable
from gitralph.sessionid import safe_form

_EXCLUDE = "/.worktrees/"
_TRIES = 8


def name_of(job: Job) -> str:
    """The name that stands for a job's worktree: its bead, or its session."""
    return safe_form(job.bead or job.session)


def _main_root(ctx: Context) -> str:
    """The root of the main worktree."""
    said = ctx.git.run("worktree", "list", "--porcelain", "-z")
    return os.fsdecode(said.split(b"\0", 1)[0].removeprefix(b"worktree "))


def add(ctx: Context, job: Job) -> tuple[str, str]:
    """The worktree of a job, made at the caller's HEAD or found again; returns its root and branch."""
    root, name = _main_root(ctx), name_of(job)
    path, branch = f"{root}/.worktrees/ralph-{name}", f"ralph/{name}"
    if os.path.islink(f"{root}/.worktrees"):
        raise Refused(f"'{root}/.worktrees' is a link; nothing was made")
    if os.path.lexists(path):
        _check(ctx, path, branch)
        return path, branch
    _exclude(ctx)
    known = ctx.git.try_run("rev-parse", "--verify", "-q", f"refs/heads/{branch}").returncode == 0
    words = [path, branch] if known else ["-b", branch, path, "HEAD"]
    try:
        ctx.git.run("worktree", "add", "-q", *words)
    except GitError as error:
        raise Fatal(f"no worktree for {job.name}: {error.message}") from error
    return path, branch


def _check(ctx: Context, path: str, branch: str) -> None:
    """Raise Refused when what lies there is not the worktree that is meant."""
    said = ctx.git.run("worktree", "list", "--porcelain", "-z").split(b"\0\0")
    wanted = {b"worktree " + os.fsencode(path), b"branch refs/heads/" + branch.encode()}
    if not any(wanted <= set(entry.split(b"\0")) for entry in said):
        raise Refused(f"'{path}' is there and is not the worktree of branch '{branch}'")


def _exclude(ctx: Context) -> None:
    """Keep the worktrees out of the main checkout's status, in the repository's own exclude file."""
    path = f"{ctx.repo.common_dir}/info/exclude"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "a+b") as file:
        file.seek(0)
        text = file.read()
        if _EXCLUDE.encode() not in text.split(b"\n"):
            file.write((b"" if text[-1:] in (b"", b"\n") else b"\n") + _EXCLUDE.encode() + b"\n")


def merge(ctx: Context, job: Job) -> None:
    """Merge a job's branch into the branch of the caller. Raises Refused with everything as it was.

    The merge commit is made in memory; what touches the checkout is one fast-forward, which git either
    refuses or, started in a session of its own, carries out to its end.
    """
    assert job.tree is not None
    git = ctx.git.at(ctx.repo.root)
    for attempt in range(_TRIES):
        if _is_in(git, f"refs/heads/{job.tree}", "HEAD"):
            return
        done = git.run_through("merge", "-q", "--ff-only", _target(ctx, git, job))
        if done.returncode == 0:
            return
        said = done.stderr.decode("utf-8", "replace").strip()
        if attempt == _TRIES - 1 or not _may_pass(said):
            break
        time.sleep(0.1 * (attempt + 1))
    raise Refused(f"'{job.tree}' could not be merged: {said}", f"git merge {job.tree}")


def _may_pass(said: str) -> bool:
    """True while another git, maybe of a loop that was killed, is at work or has moved the branch."""
    return "index.lock" in said or "fast-forward" in said


def _is_in(git: Git, one: str, other: str) -> bool:
    return git.try_run("merge-base", "--is-ancestor", one, other).returncode == 0


def _target(ctx: Context, git: Git, job: Job) -> str:
    """The commit to move to: the job's own where that will do, else a merge. Raises Refused on conflict."""
    head, tip = git.line("rev-parse", "HEAD"), git.line("rev-parse", f"refs/heads/{job.tree}")
    if _is_in(git, head, tip):
        return tip
    done = git.try_run("merge-tree", "--write-tree", "--name-only", "--no-messages", head, tip)
    tree, *paths = os.fsdecode(done.stdout).split("\n")
    if done.returncode:
        names = ", ".join(f"'{printable(path)}'" for path in paths if path)
        raise Refused(f"'{job.tree}' could not be merged: conflicts in {names}", f"git merge {job.tree}")
    sign = ["-S"] if ctx.config.boolean("commit.gpgsign") else []
    message = f"Merge '{job.tree}': {job.text}"
    return git.line("commit-tree", *sign, "-p", head, "-p", tip, "-m", message, tree)
