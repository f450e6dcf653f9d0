"""What a command works with, gathered once: repository, configuration, state, environment."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from gitralph.base import gitdir, layout, lost_worktree
from gitralph.base.errors import Fatal, Refused
from gitralph.base.layout import Layout
from gitralph.git.config import Config
from gitralph.git.repository import Repository, open_repository
from gitralph.git.run import Git
from gitralph.hook import locate, sessionfile, variables
from gitralph.hook.locate import Target


@dataclass
class Context:
    """Passed to every command's work. ``outer`` is git as the user called it, bound to no worktree.

    ``warn`` and ``say`` take messages for people; nothing below cli/ prints.
    """

    repo: Repository
    config: Config
    layout: Layout
    environ: Mapping[str, str]
    outer: Git
    warn: Callable[[str], None] = field(default=lambda _text: None)
    say: Callable[[str], None] = field(default=lambda _text: None)

    @property
    def git(self) -> Git:
        return self.repo.git

    @property
    def is_agent(self) -> bool:
        """True in the shell of an agent, or of a program that a launcher started."""
        return variables.is_agent(self.environ)

    @property
    def folder(self) -> str:
        """The folder where typed relative paths begin: the cwd, or the root where the cwd lies outside."""
        cwd = os.getcwd()
        # Only GIT_DIR leads to a worktree in which we do not stand; git then goes to its root (git's
        # setup.c).
        if not self.environ.get("GIT_DIR") or f"{os.path.realpath(cwd)}/".startswith(f"{self.repo.root}/"):
            return cwd
        return self.repo.root

    def locate(self, typed: str) -> Target:
        """The file that a user means by a path. Raises OutsideError."""
        environ = self.environ
        if environ.get("GIT_DIR"):  # such a path is relative to the cwd, not to the file's folder
            environ = {**environ, "GIT_DIR": self.repo.git_dir, "GIT_WORK_TREE": self.repo.root}
        return locate.locate(self.folder, typed, environ)

    def called(self, session: str) -> str:
        """What people see for a session's id."""
        return sessionfile.called(self.layout, session)


def state_layout(place: gitdir.Place, create: bool) -> Layout:
    """The state folder. Raises Fatal that says what is wrong with it."""
    try:
        return layout.for_place(place, create)
    except layout.UnknownFormatError as error:
        raise Fatal(str(error), "a newer git ralph may have written it") from error
    except layout.StateError as error:
        raise Fatal(str(error)) from error
    except OSError as error:
        raise Fatal(f"cannot use '{layout.state_folder(place)}': {error.strerror}") from error


def _refuse_fallen(repo: Repository, cwd: str) -> None:
    """Refuse where git took the checkout around a lost worktree for that worktree."""
    fallen = lost_worktree.fallen(repo.place, os.path.realpath(cwd))
    if fallen is not None:
        raise Refused(
            f"'{fallen}' is a worktree that has lost its '.git'; git takes '{repo.root}' for it",
            f"git -C {shlex.quote(repo.root)} worktree repair",
        )


def open_context(environ: Mapping[str, str], create: bool = True) -> Context:
    """The context of the cwd. Raises Fatal outside a usable repository."""
    try:
        cwd = os.getcwd()
    except FileNotFoundError:
        raise Fatal("the current folder does not exist any more") from None
    outer = Git.find(environ)
    repo = open_repository(outer)
    _refuse_fallen(repo, cwd)
    config = Config.load(repo.git)
    return Context(repo, config, state_layout(repo.place, create), environ, outer)


def in_worktree(ctx: Context, root: str) -> Context:
    """The same context for another worktree of the repository. Raises Fatal where there is none."""
    outer = ctx.outer.elsewhere(root)
    repo = open_repository(outer)
    if repo.common_dir != ctx.repo.common_dir:
        raise Fatal(f"'{root}' belongs to another repository")
    return replace(ctx, repo=repo, layout=state_layout(repo.place, create=False), outer=outer)


def checkout(ctx: Context, git_dir: str, root: str) -> Repository | None:
    """The repository seen from the worktree at ``root``; None when that is gone."""
    real, common = os.path.realpath(git_dir), ctx.repo.common_dir
    inside = real == common or os.path.dirname(real) == common + "/worktrees"
    if not (inside and os.path.isdir(real) and os.path.isdir(root)):
        return None
    git = ctx.outer.elsewhere(root, GIT_DIR=real, GIT_WORK_TREE=root)
    return Repository(git, real, common, root, ctx.repo.hooks_dir, b"")


def root_with(ctx: Context, state: Layout) -> str | None:
    """The root of the worktree to which a state folder belongs; None where there is none any more."""
    if state.token == ctx.layout.token:
        return ctx.repo.root
    if state.token == layout.MAIN:
        above, name = os.path.split(ctx.repo.common_dir)
        return above if name == ".git" else None
    root = layout.linked_root(ctx.repo.common_dir, state.token)
    return root if root is not None and os.path.lexists(f"{root}/.git") else None


def refuse_operation(ctx: Context, left_undone: str) -> None:
    """Raise Refused while git is in the middle of an operation; ``left_undone`` says what was not done."""
    # A merge or rebase in progress owns index and files. What it left there is half done and nobody's.
    doing = ctx.repo.operation()
    if doing:
        raise Refused(
            f"{doing} is in progress; nothing was {left_undone}",
            "git status  # how to finish or abort it first",
        )


def without_programs(ctx: Context) -> Context:
    """The same context with a git that starts no configured program; the caller closes its repository."""
    git = ctx.git._replace(words=(*ctx.git.words, *ctx.config.without_programs()))
    return replace(ctx, repo=replace(ctx.repo, git=git))


def root_of(environ: Mapping[str, str]) -> str:
    """The root of the working tree the cwd lies in, without touching any state."""
    return open_repository(Git.find(environ)).root
