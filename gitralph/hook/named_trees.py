"""Finds where else a shell command works: in other worktrees that it names, in other repositories it enters.

Fast lane. A command is looked at in the worktree of its cwd, and in these: an agent may work in a worktree
that it made while its cwd stays where it was, or in two repositories side by side.
"""

import os

from gitralph.base import files, gitdir
from gitralph.base.gitdir import Place
from gitralph.hook import shellcalls, whereabouts
from gitralph.hook.journal import is_oid

# Each costs a `git status` before the command and one after it.
_MOST = 3
# A command with more words, or more `cd`, is a script: its beginning tells where it works.
_WORDS, _FOLDERS = 400, 4
# `git worktree add` has two words behind its options (git-worktree(1)).
_NEAR = 8
# In bytes. The log of a worktree that a running command made has a few lines.
_LOG = 1 << 20
# The words behind which a folder stands that a command enters.
_MOVES = ("cd", "pushd")
# What `git -C <folder>` changes something with; who only asks another repository does no work there.
_WRITES = {
    "add",
    "am",
    "apply",
    "checkout",
    "cherry-pick",
    "clean",
    "commit",
    "merge",
    "mv",
    "pull",
    "rebase",
}
_WRITES |= {"reset", "restore", "revert", "rm", "stage", "stash", "switch"}
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


def elsewhere(place: Place | None, cwd: str, command: str) -> list[Place]:
    """The other repositories with records which a command enters, or changes by ``git -C``; each once.

    From a folder in no repository only those right below it: elsewhere no turn's end would reach the command.
    """
    found = {place.common_dir: place} if place is not None else {}
    near = None if place is not None else {one.root for one in whereabouts.below(os.path.realpath(cwd))}
    for folder in dict.fromkeys(into for _, into in _entered(cwd, command)):
        there = gitdir.discover(os.path.realpath(folder)) if os.path.isdir(folder) else None
        if there is not None and (near is None or there.root in near) and whereabouts.has_records(there):
            found.setdefault(there.common_dir, there)
    return [one for one in found.values() if one is not place][:_MOST]


def paths(cwd: str, command: str) -> list[str]:
    """What the words of a command are as paths; no file is looked at."""
    folders = [os.path.realpath(cwd), *(into for word, into in _entered(cwd, command) if word == "cd")]
    return [os.path.normpath(os.path.join(folder, word)) for word in _words(command) for folder in folders]


def _words(command: str) -> list[str]:
    at_home = command.replace("${HOME}", "~").replace("$HOME", "~").translate(_APART)
    return [word for word in at_home.split()[:_WORDS] if gitdir.is_nameable(word) and word != "--"]


def _entered(cwd: str, command: str) -> list[tuple[str, str]]:
    """The folders that a command may enter, each with the word before it; no file is looked at.

    It may be meant from the cwd as well as from the folder entered before: parentheses are not read.
    """
    words, start = _words(command), os.path.realpath(cwd)
    here, out = start, list[tuple[str, str]]()
    for at, word in enumerate(words[:-1]):
        name = os.path.expanduser(words[at + 1])
        changes = words[at - 1 : at] == ["git"] and not _WRITES.isdisjoint(words[at + 2 : at + 3])
        if len(out) < 2 * _FOLDERS and (word in _MOVES or (word == "-C" and changes)):
            seen = dict.fromkeys(os.path.normpath(os.path.join(folder, name)) for folder in (start, here))
            out += [(word, into) for into in seen]
            here = out[-1][1] if word in _MOVES else here
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
