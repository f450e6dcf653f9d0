"""Finds the worktree and tree path that an agent's written path means, without a guess.

Fast lane. The repository is found from the edited file's folder, never from the cwd. So an edit in
``.worktrees/x/`` is not filed under the main checkout.
"""

import os
from collections.abc import Mapping

from gitralph.base import gitdir, lost_worktree, treepath
from gitralph.base.gitdir import Place


class OutsideError(Exception):
    """The path lies in no worktree, or in a git dir, or git forbids it."""


class ForbiddenError(OutsideError):
    """The path lies in a git dir, or git or the system would not take it: nobody records it."""


class NoWorktreeError(OutsideError):
    """No worktree is around the path."""


class FallThroughError(OutsideError):
    """The path lies in a worktree that lost its ``.git``; git would take the checkout around it."""


class Target:
    """A file: its worktree, its tree path, and the absolute name to open."""

    __slots__ = ("file", "path", "place")

    def __init__(self, place: Place, path: bytes, file: str) -> None:
        self.place = place
        self.path = path
        self.file = file


def _absolute(cwd: str, written: str) -> str:
    if not written or not gitdir.is_nameable(cwd + written):
        raise ForbiddenError("empty or impossible path")
    return os.path.normpath(written) if written[0] == "/" else os.path.join(cwd, written)


def _place_of(folder: str, environ: Mapping[str, str]) -> Place | None:
    place = gitdir.discover(folder)
    if place is None and environ.get("GIT_DIR"):
        found = gitdir.from_environment(environ["GIT_DIR"], environ.get("GIT_WORK_TREE"), folder)
        if found is not None and (folder + "/").startswith(found.root + "/"):
            return found
    return place


def refuse_fallen(place: Place, folder: str) -> None:
    """Raise FallThroughError where ``folder`` only seems to belong to ``place``."""
    fallen = lost_worktree.fallen(place, folder)
    if fallen is not None:
        raise FallThroughError(f"the worktree '{fallen}' has lost its '.git'")


def locate(cwd: str, written: str, environ: Mapping[str, str], follow: bool = False) -> Target:
    """The file that ``written`` names from ``cwd``. Raises OutsideError.

    Links of the folder are resolved. The file's own link is resolved only with ``follow``, for tools that
    write through a link.
    """
    full = _absolute(cwd, written).rstrip("/") or "/"
    # Follow the links of the folder, as the tool did. The name itself may be the link that was edited.
    folder, name = os.path.split(full)
    if name in ("", ".", ".."):
        folder, name = os.path.split(os.path.realpath(full))
    file = os.path.join(os.path.realpath(folder), name)
    if follow and os.path.islink(file):
        file = os.path.realpath(file)
    place = _place_of(os.path.dirname(file), environ)
    # a bare repository has no worktree, and nothing there is anybody's edit
    if place is None and "/.git/" in file and gitdir.is_in_git_dir(os.path.dirname(file)):
        raise ForbiddenError("it lies inside a git dir")
    if place is None:
        raise NoWorktreeError("no worktree there")
    # git would take a worktree without its `.git` for the checkout around it, and so would a record.
    refuse_fallen(place, os.path.dirname(file))
    path = os.fsencode(os.path.relpath(file, place.root))
    if not treepath.is_valid(path):
        raise ForbiddenError("not a path git would take")
    return Target(place, path, file)
