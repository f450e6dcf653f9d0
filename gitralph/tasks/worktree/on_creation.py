"""What runs in a new worktree: git's ``post-checkout`` hook and ``ralph.worktree.postCreate``."""

import subprocess
from dataclasses import dataclass

from gitralph.base import programs, runner
from gitralph.git import worktrees
from gitralph.tasks.children import last_lines
from gitralph.tasks.worktree.where import Trees

KEY = "ralph.worktree.postcreate"
_ZERO = "0" * 40


@dataclass(frozen=True)
class Ran:
    """A command that ended: its exit code and the last lines of what it said."""

    command: str
    code: int
    said: str


def post_checkout(trees: Trees, path: str) -> str | None:
    """Run the repository's own hook as ``git worktree add`` would; what it said when it failed."""
    git = trees.inside(path)
    head = worktrees.value(git, "HEAD") or _ZERO
    done = git.try_run("hook", "run", "--ignore-missing", "post-checkout", "--", _ZERO, head, "1")
    if done.returncode == 0:
        return None
    return f"the post-checkout hook ended with {done.returncode}: {last_lines(done.stdout + done.stderr)}"


def run_shell(
    trees: Trees, command: str, path: str, env: dict[str, str], seconds: float | None = None
) -> Ran:
    """Run a configured command in a worktree, its output captured; killed after ``seconds``."""
    passed = {**programs.inherited(trees.ctx.environ), **env}
    try:
        done = runner.run(
            ["/bin/sh", "-c", command],
            cwd=path,
            env=passed,
            stderr=subprocess.STDOUT,
            seconds=seconds,
            group=True,
        )
    except runner.LateError as late:
        return Ran(command, 124, last_lines(late.out) + f"\nstopped after {seconds:g} s")
    return Ran(command, done.returncode, last_lines(done.stdout))


def contract(bead: str, path: str, session: str | None) -> dict[str, str]:
    """The ``RALPH_`` variables a command in a bead's worktree sees."""
    env = {"RALPH_BEAD": bead, "RALPH_ROOT": path}
    return {**env, "RALPH_SESSION": session, "RALPH_TRACKING": "1"} if session else env


def post_create(trees: Trees, bead: str, path: str, session: str | None) -> Ran | None:
    """Run the configured command in a new worktree; None when there is none."""
    command = trees.ctx.config.get(KEY)
    if not command:
        return None
    return run_shell(trees, command, path, contract(bead, path, session))
