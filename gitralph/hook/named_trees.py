"""Finds the other worktrees of a repository in which a shell command's words lie, as after ``cd`` or ``-C``.

Fast lane. A command is looked at in the worktree of its cwd, and in these: an agent may work in a worktree
that it made while its cwd stays where it was.
"""

import os

from gitralph.base import files, gitdir
from gitralph.base.gitdir import Place
from gitralph.hook import shellcalls
from gitralph.hook.journal import is_oid

# Each costs a `git status` before the command and one after it.
_MOST = 3
# A command with more words, or more `cd`, is a script: its beginning tells where it works.
_WORDS, _FOLDERS = 400, 4
# `git worktree add` has two words behind its options (git-worktree(1)).
_NEAR = 8
# In bytes. The log of a worktree that a running command made has a few lines.
_LOG = 1 << 20
_APART = str.maketrans(dict.fromkeys("\"'`|&;<>(){}[]$,=\t\r\n", " "))


def named(place: Place, cwd: str, command: str) -> list[Place]:
    """The other worktrees in which a word of a command lies, as a path from the cwd or a folder it enters."""
    return holding(place, paths(cwd, command) if command else [])


def holding(place: Place, given: list[str]) -> list[Place]:
    """The other worktrees in which some paths lie."""
    roots = _roots(place) if given else []
    found = {_root_of(path, roots) for path in given} if roots else set()
    places = [gitdir.discover(root) for root in sorted(found - {place.root, None}, key=str) if root]
    return [one for one in places if one is not None and one.common_dir == place.common_dir][:_MOST]


def began_at(place: Place, since: object) -> str | None:
    """The commit at which a worktree was made, if that was after a time (`shellcalls.begun`); else None."""
    # git writes `commondir` once, when it makes the worktree (gitrepository-layout(5))
    if not shellcalls.is_younger(f"{place.git_dir}/commondir", since):
        return None
    try:
        told = files.read_bytes(f"{place.git_dir}/logs/HEAD", _LOG).split(b"\n", 1)[0].split(b" ", 2)
    except (OSError, ValueError):
        return None
    oid = told[1].decode("ascii", "replace") if len(told) > 1 else ""
    return oid if is_oid(oid) else None


def to_make(cwd: str, command: str) -> list[str]:
    """The paths behind `worktree add` in a command; of its other words nothing is kept."""
    _, found, rest = " ".join(command.translate(_APART).split()).partition(" worktree add ")
    return paths(cwd, " ".join(rest.split()[:_NEAR])) if found else []


def paths(cwd: str, command: str) -> list[str]:
    """What the words of a command are as paths; no file is looked at."""
    cwd = os.path.realpath(cwd)
    words = [word for word in command.translate(_APART).split()[:_WORDS] if gitdir.is_nameable(word)]
    folders, out = [cwd], list[str]()
    for at, word in enumerate(words):
        found = [os.path.normpath(os.path.join(folder, word)) for folder in folders]
        out += found
        if at and words[at - 1] == "cd" and len(folders) < _FOLDERS:
            folders.append(found[-1])
    return out


def _root_of(path: str, roots: list[str]) -> str | None:
    """The innermost of some folders that holds a path: worktrees lie in worktrees."""
    around = [root for root in roots if path == root or path.startswith(root + "/")]
    return max(around, key=len, default=None)


def _roots(place: Place) -> list[str]:
    """The folders of all worktrees, where there is a linked one (gitrepository-layout(5): `worktrees`)."""
    try:
        names = os.listdir(f"{place.common_dir}/worktrees")
    except OSError:
        return []
    out = [place.root, os.path.dirname(place.common_dir)]
    for name in names:
        try:
            told = files.read_bytes(f"{place.common_dir}/worktrees/{name}/gitdir", 4096)
            out.append(os.path.realpath(os.path.dirname(os.fsdecode(told.strip()))))
        except (OSError, ValueError):
            continue
    return out
