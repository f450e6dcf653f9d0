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
    """Handed to every capability. ``outer`` is git as the user called it, unbound.

    ``warn`` and ``say`` take chatter for people; nobody below cli prints.
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
        """True in the shell of an agent, or of what a launcher started."""
        return variables.is_agent(self.environ)

    @property
    def folder(self) -> str:
        """Where typed relative paths begin: the cwd; outside of the worktree its root, as for git."""
        cwd = os.getcwd()
        # Only GIT_DIR leads to a worktree that we do not stand in; git goes to its root then (git's setup.c).
        if not self.environ.get("GIT_DIR") or f"{os.path.realpath(cwd)}/".startswith(f"{self.repo.root}/"):
            return cwd
        return self.repo.root

    def locate(self, typed: str) -> Target:
        """The file that a user means by a path. Raises OutsideError."""
        environ = self.environ
        if environ.get("GIT_DIR"):  # relative to the cwd, not to the file's folder
            environ = {**environ, "GIT_DIR": self.repo.git_dir, "GIT_WORK_TREE": self.repo.root}
        return locate.locate(self.folder, typed, environ)

    def called(self, session: str) -> str:
        """What people see for a session's id."""
        return sessionfile.called(self.layout, session)


def state_layout(place: gitdir.Place, create: bool) -> Layout:
    """The state folder, or Fatal saying what is wrong with it."""
    try:
        return layout.for_place(place, create)
    except layout.StateError as error:
        raise Fatal(str(error), "a newer git ralph may have written it") from error
    except OSError as error:
        raise Fatal(f"cannot use '{layout.state_folder(place)}': {error.strerror}") from error


def _refuse_fallen(repo: Repository, cwd: str) -> None:
    """Refuse where git took the checkout around a worktree for that worktree."""
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
    """The same in another worktree of the repository. Raises Fatal where there is none."""
    outer = ctx.outer.elsewhere(root)
    repo = open_repository(outer)
    if repo.common_dir != ctx.repo.common_dir:
        raise Fatal(f"'{root}' belongs to another repository")
    return replace(ctx, repo=repo, layout=state_layout(repo.place, create=False), outer=outer)


def checkout(ctx: Context, git_dir: str, root: str) -> Repository | None:
    """The repository seen from the worktree at ``root``; None when it is not there any more."""
    real, common = os.path.realpath(git_dir), ctx.repo.common_dir
    inside = real == common or os.path.dirname(real) == common + "/worktrees"
    if not (inside and os.path.isdir(real) and os.path.isdir(root)):
        return None
    git = ctx.outer.elsewhere(root, GIT_DIR=real, GIT_WORK_TREE=root)
    return Repository(git, real, common, root, ctx.repo.hooks_dir, b"")


def root_with(ctx: Context, state: Layout) -> str | None:
    """The root of the worktree that a state folder is of; None where there is none any more."""
    if state.token == ctx.layout.token:
        return ctx.repo.root
    if state.token == layout.MAIN:
        above, name = os.path.split(ctx.repo.common_dir)
        return above if name == ".git" else None
    root = layout.linked_root(ctx.repo.common_dir, state.token)
    return root if root is not None and os.path.lexists(f"{root}/.git") else None


def refuse_operation(ctx: Context, left_undone: str) -> None:
    """Raise Refused while git is in the middle of something, saying what was not done."""
    # A merge or rebase in progress owns index and files: what it left there is half done, and is nobody's.
    doing = ctx.repo.operation()
    if doing:
        raise Refused(
            f"{doing} is in progress; nothing was {left_undone}",
            "git status  # how to finish or abort it first",
        )


def without_programs(ctx: Context) -> Context:
    """The same with a git that starts no program which the configuration names; to be closed as its own."""
    git = ctx.git._replace(words=(*ctx.git.words, *ctx.config.without_programs()))
    return replace(ctx, repo=replace(ctx.repo, git=git))


def root_of(environ: Mapping[str, str]) -> str:
    """The root of the working tree the cwd lies in, without touching any state."""
    return open_repository(Git.find(environ)).root
