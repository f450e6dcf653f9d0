"""A task's own worktree and the way home from it. The seam to ``git ralph worktree``: two functions.

Everything is git's own: it refuses to check out over what is there and to merge over what is dirty.
"""

import os

from gitralph.errors import Fatal, Refused
from gitralph.plumbing.git import GitError
from gitralph.porcelain.context import Context
from gitralph.porcelain.loop.model import Job
from gitralph.sessionid import safe_form

_EXCLUDE = "/.worktrees/"


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
    """Merge a job's branch into the branch of the caller. Raises Refused with everything as it was."""
    assert job.tree is not None
    git = ctx.git.at(ctx.repo.root, GIT_EDITOR=":")
    if git.try_run("merge-base", "--is-ancestor", job.tree, "HEAD").returncode == 0:
        return
    done = git.try_run("merge", "-q", "--no-edit", "-m", f"Merge '{job.tree}': {job.text}", job.tree)
    if done.returncode == 0:
        return
    if ctx.repo.operation():
        git.try_run("merge", "--abort")
    said = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
    raise Refused(f"'{job.tree}' could not be merged: {said}", f"git merge {job.tree}")
