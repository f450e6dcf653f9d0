"""Installs the guard in git's hooks: a few lines in an existing shell script, else a file of ours.

A hook that is no shell script, cannot be executed or is a symbolic link is moved aside, and ours calls it.
Uninstalling puts every byte back. All hooks are examined before one is written.
"""

import os
import re
import stat
from dataclasses import dataclass

from gitralph.base import layout
from gitralph.base.errors import Refused
from gitralph.commit import guard_script
from gitralph.commit.guard_script import BEGIN, END, HOOKS, MADE, NAME, SET, aside, block, is_ours, own, plain
from gitralph.git.context import Context
from gitralph.setup.install import place
from gitralph.setup.install.place import FoundFile

# Shells that read lines of POSIX sh; fish and csh would stop at the first of ours.
_SHELL = re.compile(rb"#! ?\S*/(?:env (?:-S )?)?(?:ba|da|k|z|)sh\b[^\n]*\n")

INSTALLED, UPDATED, UNCHANGED, REMOVED, ABSENT = "installed", "updated", "unchanged", "removed", "absent"
# The lowest of several results counts for all: one hook put in makes it an installation.
_ORDER = (INSTALLED, UPDATED, REMOVED, UNCHANGED, ABSENT)


@dataclass(frozen=True)
class _Hook:
    """One hook as it stands; ``name`` is git's for it."""

    name: str
    found: FoundFile

    @property
    def path(self) -> str:
        return self.found.path

    @property
    def beside(self) -> str:
        return f"{os.path.dirname(self.path)}/{aside(self.name)}"


def missing(folder: str) -> list[str]:
    """The hooks of this folder that lack the guard."""
    return [name for name in HOOKS if not _holds(place.usable(f"{folder}/{name}").data)]


def asleep(folder: str) -> list[str]:
    """The hooks of this folder that hold the guard and that git ignores, since they may not be executed."""
    return [one.name for one in _all(folder) if _holds(one.found.data) and not _may_run(one)]


def _may_run(hook: _Hook) -> bool:
    return bool((hook.found.mode or 0) & stat.S_IXUSR)


def is_installed(ctx: Context) -> bool:
    """True when any of this repository's hooks holds the guard."""
    return len(missing(ctx.repo.hooks_dir)) < len(HOOKS)


def behind(folder: str) -> list[str]:
    """Files in which a hook framework keeps a guard of ours, which it runs before its own checks."""
    names = (f"{name}{end}" for name in HOOKS for end in (".legacy", ".old"))
    return [name for name in names if _holds(place.usable(f"{folder}/{name}").data)]


def _holds(data: bytes | None) -> bool:
    return data is not None and guard_script.holds(data)


def file_of(ctx: Context) -> str:
    """Where git looks for the first of the hooks, ``core.hooksPath`` included."""
    return f"{ctx.repo.hooks_dir}/{NAME}"


def _all(folder: str) -> list[_Hook]:
    return [_Hook(name, place.usable(f"{folder}/{name}")) for name in HOOKS]


def _takes_lines(hook: _Hook) -> bool:
    """True for a shell script that git runs, as a file of its own."""
    assert hook.found.data is not None
    return bool(not os.path.islink(hook.path) and _may_run(hook) and _SHELL.match(hook.found.data))


def _moves_aside(hook: _Hook) -> bool:
    data = hook.found.data
    there = data is not None or os.path.islink(hook.path)
    return there and not (data is not None and (_holds(data) or _takes_lines(hook)))


def install(ctx: Context, mode: str = "") -> tuple[str, str]:
    """Put the guard in place; returns the first hook's file and what came of it.

    ``mode`` is what ``ralph.guard`` is set to in this repository, empty for nothing.
    """
    if os.path.lexists(ctx.repo.hooks_dir) and not os.path.isdir(ctx.repo.hooks_dir):
        raise Refused(
            f"'core.hooksPath' is '{ctx.repo.hooks_dir}', which is no folder, so git runs no hook here",
            "git config --show-origin core.hooksPath  # where that is set",
        )
    hooks = _all(ctx.repo.hooks_dir)
    for hook in hooks:
        # To move onto this file would delete it, and it may be the hook of an installation that was cut
        # short.
        if _moves_aside(hook) and os.path.lexists(hook.beside):
            raise Refused(
                f"'{hook.beside}' is there already; nothing was written",
                f"look at it, then: rm '{hook.beside}'",
            )
    # who works here from another repository is recorded where there is a state folder
    layout.for_place(ctx.repo.place)
    made = not os.path.isdir(ctx.repo.hooks_dir)
    os.makedirs(ctx.repo.hooks_dir, exist_ok=True)
    done = [_install(hook, made) for hook in hooks]
    if _take_back(ctx):
        done.append(UPDATED)
    if mode and ctx.config.get("ralph.guard") != mode:
        # The note comes first. A kill in between leaves a note that removes nothing.
        _note_setting(place.usable(file_of(ctx)))
        ctx.git.run("config", "ralph.guard", mode)
    return file_of(ctx), min(done, key=_ORDER.index)


def _install(hook: _Hook, made: bool) -> str:
    path, data = hook.path, hook.found.data
    # A link to nowhere has no data, and belongs to somebody all the same.
    if data is None and not os.path.islink(path):
        place.put(path, own(hook.name, made), 0o755)
        return INSTALLED
    if data is not None and (block(hook.name) in plain(data) or plain(data) == own(hook.name, False)):
        if _may_run(hook):
            return UNCHANGED
        place.put(path, data, 0o755)
        return UPDATED
    if data is not None and is_ours(data):
        notes = SET.encode() if SET.encode() in data else b""
        place.put(path, own(hook.name, MADE.encode() in data) + notes, 0o755)
        return UPDATED
    if data is not None and _takes_lines(hook):
        bare = _without(data)
        first = _SHELL.match(bare)
        assert first is not None
        # Right behind the first line: an `exit 0` further down would skip lines at the end.
        place.replace(hook.found, bare[: first.end()] + block(hook.name) + bare[first.end() :])
        return INSTALLED if bare == data else UPDATED
    os.rename(path, hook.beside)
    place.put(path, own(hook.name, False), 0o755)
    return INSTALLED


def _take_back(ctx: Context) -> bool:
    """Take the guard out of the file to which a framework moved it; the framework's own hook has it now.

    pre-commit 4 renames an existing hook to `<hook>.legacy`, and runs it before its own checks.
    """
    folder = ctx.repo.hooks_dir
    found = behind(folder)
    for name in found:
        hook = _Hook(name, place.usable(f"{folder}/{name}"))
        data, theirs = hook.found.data or b"", f"{folder}/{aside(name.rpartition('.')[0])}"
        if SET.encode() in data:
            _note_setting(place.usable(file_of(ctx)))
        if is_ours(data) and os.path.lexists(theirs):
            os.rename(theirs, hook.path)  # the hook that ours had run, for the framework to run
        else:
            _uninstall(hook)
    return bool(found)


def _note_setting(found: FoundFile) -> None:
    """Note in the hook that the setting was made with the guard, and is removed with it."""
    data, note = found.data or b"", SET.encode()
    if note not in data:
        end = END.encode()
        place.replace(found, data.replace(end, note + end, 1) if end in data else data + note)


def _without(data: bytes) -> bytes:
    """A script without our lines, of this version or another."""
    begin, end = re.escape(BEGIN.encode()), re.escape(END.encode())
    return re.sub(begin + rb".*?" + end, b"", data, flags=re.DOTALL)


def uninstall(ctx: Context) -> tuple[str, str]:
    """Take the guard out. What was there before is there again, and a setting made with it is removed."""
    # When `core.hooksPath` was set after the guard, git's own folder still has one that never runs.
    folders = [ctx.repo.hooks_dir, f"{ctx.repo.common_dir}/hooks"]
    if os.path.realpath(folders[0]) == os.path.realpath(folders[1]):
        folders.pop()
    found = {folder: _all(folder) for folder in folders}
    if any(SET.encode() in (hook.found.data or b"") for hooks in found.values() for hook in hooks):
        # It may be gone already, which git calls an error (exit 5, git-config(1)).
        ctx.git.try_run("config", "--local", "--unset-all", "ralph.guard")
    done = {folder: _uninstall_all(folder, hooks) for folder, hooks in found.items()}
    where = next((folder for folder in folders if REMOVED in done[folder]), folders[0])
    return f"{where}/{NAME}", min(done[where], key=_ORDER.index)


def _uninstall_all(folder: str, hooks: list[_Hook]) -> list[str]:
    data = b"".join(hook.found.data or b"" for hook in hooks)
    done = [_uninstall(hook) for hook in hooks]
    for name in behind(folder):  # a framework took a hook of ours over, and would run it on
        done.append(_uninstall(_Hook(name, place.usable(f"{folder}/{name}"))))
    if MADE.encode() in data:
        place.prune([folder])
    return done


def _uninstall(hook: _Hook) -> str:
    path, data = hook.path, hook.found.data
    if data is None:
        return ABSENT
    if not is_ours(data):
        plain = _without(data)
        if plain == data:
            return ABSENT
        place.replace(hook.found, plain)
        return REMOVED
    if os.path.lexists(hook.beside):
        os.rename(hook.beside, path)
    else:
        os.unlink(path)
    return REMOVED
