"""Finds the other worktrees of a repository that a shell command names, as by ``cd`` or ``git -C``.

Fast lane. A command is looked at in the worktree of its cwd, and in these: an agent may work in a worktree
that it made while its cwd stays where it was.
"""

import os

from gitralph.base import gitdir
from gitralph.base.gitdir import Place

# Each costs a `git status` before the command and one after it.
_MOST = 3
# A shorter name stands in many commands by chance.
_NAME = 4


def text_of(given: object) -> str:
    """The words of a command as an agent's event tells them; empty where it does not."""
    command = given.get("command") if isinstance(given, dict) else None
    return " ".join(map(str, command)) if isinstance(command, list) else str(command or "")


def named(place: Place, cwd: str, command: str) -> list[Place]:
    """The other worktrees whose folder a command names: by its path, or by its name alone."""
    out = []
    for root in _roots(place) if command else ():
        names = [root, os.path.relpath(root, cwd)]
        if root != os.path.dirname(place.common_dir) and len(os.path.basename(root)) >= _NAME:
            names.append(os.path.basename(root))
        if root != place.root and any(name in command for name in names):
            found = gitdir.discover(root)
            if found is not None and found.root == root and found.common_dir == place.common_dir:
                out.append(found)
    return out[:_MOST]


def _roots(place: Place) -> list[str]:
    """The folders of the main worktree and of the linked ones (gitrepository-layout(5): `worktrees`)."""
    out = [os.path.dirname(place.common_dir)]
    try:
        names = sorted(os.listdir(f"{place.common_dir}/worktrees"))
    except OSError:
        return []
    for name in names:
        try:
            with open(f"{place.common_dir}/worktrees/{name}/gitdir", "rb") as file:
                out.append(os.path.realpath(os.path.dirname(os.fsdecode(file.read(4096).strip()))))
        except (OSError, ValueError):
            continue
    return out
