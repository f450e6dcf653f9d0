"""Runs the repository's own hooks as ``git commit`` would, without harm to other people's work.

Hooks see a temporary full index that holds the commit's tree. Where somebody else has changes in this
worktree, they run in a scratch worktree at that tree, on a branch of the same name in a repository of its
own. Hooks that stash run ``checkout`` and would otherwise destroy what others write meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from gitralph.base import runner
from gitralph.base.errors import Failed
from gitralph.commit import guard_script
from gitralph.commit.scratch import Scratch
from gitralph.git import index, listing
from gitralph.git.context import Context
from gitralph.git.refs import Head
from gitralph.git.run import Git
from gitralph.git.snapshot import Content
from gitralph.git.trees import Entry
from gitralph.hook.journal import Record

BEFORE = ("pre-commit", "prepare-commit-msg", "commit-msg")
MODES = ("auto", "in-place", "scratch", "off")


def present(ctx: Context, names: tuple[str, ...]) -> list[str]:
    """Those hooks that exist and may be executed; none with ``ralph.commitHooks=off``."""
    if ctx.config.choice("ralph.commithooks", *MODES) == "off":
        return []
    found = [name for name in names if os.access(f"{ctx.repo.hooks_dir}/{name}", os.X_OK)]
    return [name for name in found if not guard_script.is_bare(ctx.repo.hooks_dir, name)]


class MovedError(Exception):
    """Somebody else was at work on a file that a hook rewrote; look again."""


Pair = tuple[Content | None, Content | None]


@dataclass(frozen=True)
class Taken:
    """What a commit takes from a hook, and what must be recorded before it does.

    ``records`` and ``texts`` (on disk, and as the hook wants it) are those of the scratch worktree. ``pairs``
    are the files as the hook found and left them.
    """

    entries: dict[bytes, Entry | None] = field(default_factory=dict)
    records: dict[bytes, Record] = field(default_factory=dict)
    texts: dict[bytes, tuple[bytes, bytes]] = field(default_factory=dict)
    pairs: Mapping[bytes, Pair] = field(default_factory=dict)


def drop_patch(ctx: Context, session: str) -> None:
    """Remove the patch that a hook offered to a session: its commit went through."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(ctx.layout.patch(session))


class Stage(NamedTuple):
    """Where hooks run: a folder, and git with the right index; without ``scratch`` the user's own."""

    git: Git
    hooks: str
    root: str
    scratch: Scratch | None = None

    @property
    def borrowed(self) -> tuple[bytes, ...]:
        """Links of ours that no commit may take."""
        return self.scratch.borrowed if self.scratch else ()

    def close(self) -> None:
        """Give the scratch worktree back to the next commit."""
        if self.scratch is not None:
            self.scratch.close()

    def run(self, name: str, *args: str) -> bool:
        """Run one hook, with its output on our stderr; True when it succeeded or is missing."""
        # A relative core.hooksPath means a folder of the user's worktree, wherever this hook runs.
        words = [self.git.program, "-c", f"core.hooksPath={self.hooks}"]
        words += ["hook", "run", "--ignore-missing", name]
        if args:
            words += ["--", *args]
        return runner.show(words, env=self.git.env, cwd=self.git.cwd, stdin=subprocess.DEVNULL, stdout=2) == 0

    def tree(self) -> bytes:
        """The tree of the index as the hooks left it."""
        return self.git.run("-c", "core.fsmonitor=false", "write-tree").strip()


def alone(ctx: Context, entries: Mapping[bytes, Entry | None], now: Mapping[bytes, object]) -> bool:
    """True when nothing in this worktree has changed but what the commit takes, as it takes it."""
    if any(now.get(path) != entry for path, entry in entries.items()):
        return False
    said = ctx.git.at(ctx.repo.root).run(
        *ctx.config.without_programs(),
        "status",
        "--porcelain",
        "-z",
        "--no-renames",
        "--untracked-files=all",
    )
    return all(path in entries for _, path in listing.states(said))


def open_stage(ctx: Context, folder: str, tree: bytes, head: Head, is_alone: bool) -> Stage:
    """The place where the hooks of one commit run. ``folder`` is private to this command."""
    mode = ctx.config.choice("ralph.commithooks", *MODES)
    # An unborn branch has no commit at which a worktree could be made.
    if mode == "in-place" or (mode == "auto" and is_alone) or head.oid is None:
        return _in_place(ctx, folder, tree)
    from gitralph.commit import scratch  # only where hooks run at all

    place = scratch.open_scratch(ctx, tree, head, _hook_env(ctx))
    return Stage(place.git, ctx.repo.hooks_dir, place.folder, place)


def _hook_env(ctx: Context) -> dict[str, str]:
    # The guard is for plain git; our commits are separated already.
    return {"GIT_EDITOR": ctx.environ.get("GIT_EDITOR", ":"), "GIT_PREFIX": "", "RALPH_GUARD": "0"}


def _in_place(ctx: Context, folder: str, tree: bytes) -> Stage:
    copy = index.copy_index(ctx.repo.index, f"{folder}/hooks.index")
    git = ctx.outer.at(ctx.repo.root, GIT_INDEX_FILE=copy.path, **_hook_env(ctx))
    # -m keeps the stat data of unchanged files, so a hook's `git diff` reads only the changed ones.
    how = () if copy.missing else ("-i", "-m")
    git.run("-c", "core.fsmonitor=false", "read-tree", *how, tree)
    return Stage(git, ctx.repo.hooks_dir, ctx.repo.root)


def hook_failed(ctx: Context, name: str) -> Failed:
    """The error of a hook that failed; only a person is told how to skip the hook."""
    bypass = "" if ctx.is_agent else ", or use --no-verify for pre-commit and commit-msg"
    return Failed(
        f"the '{name}' hook said no; nothing was committed", f"mend what it names and commit again{bypass}"
    )


def patch_between(git: Git, old: bytes, new: bytes) -> str:
    """What a hook changed, for people."""
    said = git.run("diff", "--no-ext-diff", "--no-textconv", "--no-color", old, new)
    return said.decode("utf-8", "replace")
