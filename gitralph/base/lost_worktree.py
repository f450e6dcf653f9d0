"""Finds worktrees that lost their ``.git``: in such a folder git takes the checkout around it instead.

Fast lane: a few ``lstat`` and no listing. git names a worktree's admin folder after the worktree's own
folder, with a number behind it where the name was taken. So the candidates can be tried by name.
"""

import os

from gitralph.base import gitdir, layout
from gitralph.base.gitdir import Place

FOLDER = ".worktrees"
PREFIX = "ralph-"
# git counts up from 1 for the same name (builtin/worktree.c, add_worktree); nobody has 64 of one name.
_MOST = 64


def _registered(common_dir: str, folder: str) -> bool:
    name = os.path.basename(folder)
    for number in range(_MOST):
        admin = f"{common_dir}/worktrees/{name}{number or ''}"
        try:
            said = gitdir.read_line(admin + "/gitdir")
        except FileNotFoundError:
            return False
        except OSError:
            continue
        if os.path.normpath(os.path.join(admin, said)) == folder + "/.git":
            return True
    return False


def _remembered(place: Place, folder: str) -> bool:
    parent, name = os.path.split(folder)
    if os.path.basename(parent) != FOLDER or not name.startswith(PREFIX):
        return False
    return os.path.lexists(layout.bead_record(layout.state_folder(place), name[len(PREFIX) :]))


def fallen(place: Place, folder: str) -> str | None:
    """The lost worktree that ``folder`` (absolute, links resolved) lies in, though git takes ``place``."""
    if not folder.startswith(place.root.rstrip("/") + "/"):
        return None
    while len(folder) > len(place.root):
        if _registered(place.common_dir, folder) or _remembered(place, folder):
            return folder
        folder = os.path.dirname(folder)
    return None
