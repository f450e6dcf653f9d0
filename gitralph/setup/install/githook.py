"""The guard in git's ``pre-commit`` hook: a few lines in a shell script that is there, else a file of ours.

A hook that is no shell script, cannot be executed or is a symbolic link is moved aside and called from
ours. Taken out again, every byte is back.
"""

import os
import re
import stat

from gitralph.base.errors import Refused
from gitralph.commit.guard_script import ASIDE, BEGIN, BLOCK, END, MADE, NAME, OWN, own
from gitralph.context import Context
from gitralph.setup.install import place
from gitralph.setup.install.form import UnusableError
from gitralph.setup.install.place import Found

_SHELL = re.compile(rb"#! ?\S*/(?:env (?:-S )?)?(?:ba|da|k|z|)sh\b[^\n]*\n")

INSTALLED, UPDATED, UNCHANGED, REMOVED, ABSENT = "installed", "updated", "unchanged", "removed", "absent"


def is_in(folder: str) -> bool:
    """True when the guard stands in the hook of this folder."""
    data = _look(f"{folder}/{NAME}").data
    return data is not None and (_is_ours(data) or BEGIN.encode() in data)


def file_of(ctx: Context) -> str:
    """Where git looks for the hook, ``core.hooksPath`` included."""
    return f"{ctx.repo.hooks_dir}/{NAME}"


def _look(path: str) -> Found:
    try:
        return place.look(path)
    except UnusableError as error:
        raise Refused(f"'{path}' {error}; nothing was written", "correct it, then try again") from None


def _is_ours(data: bytes) -> bool:
    return data.startswith(OWN.encode()[:60])


def _takes_lines(path: str, found: Found) -> bool:
    """True for a shell script that git runs, as a file of its own."""
    assert found.data is not None
    return bool(
        not os.path.islink(path) and (found.mode or 0) & stat.S_IXUSR and _SHELL.match(found.data)
    )  # fmt: skip


def install(ctx: Context) -> tuple[str, str]:
    """Put the guard in place; returns the file and what came of it."""
    path = file_of(ctx)
    folder = os.path.dirname(path)
    found = _look(path)
    if found.data is None and not os.path.islink(path):
        made = not os.path.isdir(folder)
        os.makedirs(folder, exist_ok=True)
        place.put(path, own(made), 0o755)
        return path, INSTALLED
    if found.data is not None and (BLOCK in found.data or found.data in (own(False), own(True))):
        return path, UNCHANGED
    if found.data is not None and _is_ours(found.data):
        place.put(path, own(MADE.encode() in found.data), 0o755)
        return path, UPDATED
    if found.data is not None and _takes_lines(path, found):
        data, status = _without(found.data), INSTALLED
        first = _SHELL.match(data)
        assert first is not None
        place.replace(found, data[: first.end()] + BLOCK + data[first.end() :])
        return path, status if data == found.data else UPDATED
    _set_aside(path, f"{folder}/{ASIDE}")
    return path, INSTALLED


def _set_aside(path: str, aside: str) -> None:
    if os.path.lexists(aside):
        raise Refused(f"'{aside}' is there already; nothing was written", f"look at it, then: rm '{aside}'")
    os.rename(path, aside)
    place.put(path, own(False), 0o755)


def _without(data: bytes) -> bytes:
    """A script without our lines, of this version or another."""
    begin, end = re.escape(BEGIN.encode()), re.escape(END.encode())
    return re.sub(begin + rb".*?" + end, b"", data, flags=re.DOTALL)


def uninstall(ctx: Context) -> tuple[str, str]:
    """Take the guard out; what was there before is there again."""
    path = file_of(ctx)
    found = _look(path)
    if found.data is None:
        return path, ABSENT
    if not _is_ours(found.data):
        data = _without(found.data)
        if data == found.data:
            return path, ABSENT
        place.replace(found, data)
        return path, REMOVED
    folder = os.path.dirname(path)
    aside = f"{folder}/{ASIDE}"
    if os.path.lexists(aside):
        os.rename(aside, path)
        return path, REMOVED
    os.unlink(path)
    if MADE.encode() in found.data:
        place.prune([folder])
    return path, REMOVED
