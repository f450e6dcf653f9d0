"""The guard in git's ``pre-commit`` hook: a few lines in a shell script that is there, else a file of ours.

A hook that is no shell script, cannot be executed or is a symbolic link is moved aside and called from
ours. Taken out again, every byte is back.
"""

import os
import re
import stat

from gitralph.errors import Refused
from gitralph.porcelain.context import Context
from gitralph.porcelain.install import place
from gitralph.porcelain.install.form import UnusableError
from gitralph.porcelain.install.place import Found

NAME, ASIDE = "pre-commit", "pre-commit.before-gitralph"
_BEGIN, _END = "# gitralph guard: begin\n", "# gitralph guard: end\n"
# 4 is "refused"; whatever else goes wrong must not stand in the way of a commit
_CALL = """\
if [ "${RALPH_GUARD:-1}" != 0 ] && command -v git-ralph >/dev/null 2>&1; then
	if git-ralph guard; then :; elif [ $? -eq 4 ]; then exit 1; fi
fi
"""
_BLOCK = (_BEGIN + _CALL + _END).encode()
_OWN = """\
#!/bin/sh
# gitralph: a guard for plain git; 'git ralph uninstall --guard' takes it out again
if [ -x "${0%/*}/pre-commit.before-gitralph" ]; then
	"${0%/*}/pre-commit.before-gitralph" "$@" || exit
fi
"""
_MADE = "# the folder is ours too\n"
_SHELL = re.compile(rb"#! ?\S*/(?:env (?:-S )?)?(?:ba|da|k|z|)sh\b[^\n]*\n")

INSTALLED, UPDATED, UNCHANGED, REMOVED, ABSENT = "installed", "updated", "unchanged", "removed", "absent"


def _own(made: bool) -> bytes:
    return (_OWN + _CALL + (_MADE if made else "")).encode()


def is_bare(folder: str) -> bool:
    """True when the hook is ours alone and calls no other one: it has nothing to say to our own commits."""
    found = _look(f"{folder}/{NAME}")
    return found.data in (_own(False), _own(True)) and not os.path.lexists(f"{folder}/{ASIDE}")


def is_in(folder: str) -> bool:
    """True when the guard stands in the hook of this folder."""
    data = _look(f"{folder}/{NAME}").data
    return data is not None and (_is_ours(data) or _BEGIN.encode() in data)


def file_of(ctx: Context) -> str:
    """Where git looks for the hook, ``core.hooksPath`` included."""
    return f"{ctx.repo.hooks_dir}/{NAME}"


def _look(path: str) -> Found:
    try:
        return place.look(path)
    except UnusableError as error:
        raise Refused(f"'{path}' {error}; nothing was written", "correct it, then try again") from None


def _is_ours(data: bytes) -> bool:
    return data.startswith(_OWN.encode()[:60])


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
        place.put(path, _own(made), 0o755)
        return path, INSTALLED
    if found.data is not None and (_BLOCK in found.data or found.data in (_own(False), _own(True))):
        return path, UNCHANGED
    if found.data is not None and _is_ours(found.data):
        place.put(path, _own(_MADE.encode() in found.data), 0o755)
        return path, UPDATED
    if found.data is not None and _takes_lines(path, found):
        data, status = _without(found.data), INSTALLED
        first = _SHELL.match(data)
        assert first is not None
        place.replace(found, data[: first.end()] + _BLOCK + data[first.end() :])
        return path, status if data == found.data else UPDATED
    _set_aside(path, f"{folder}/{ASIDE}")
    return path, INSTALLED


def _set_aside(path: str, aside: str) -> None:
    if os.path.lexists(aside):
        raise Refused(f"'{aside}' is there already; nothing was written", f"look at it, then: rm '{aside}'")
    os.rename(path, aside)
    place.put(path, _own(False), 0o755)


def _without(data: bytes) -> bytes:
    """A script without our lines, of this version or another."""
    begin, end = re.escape(_BEGIN.encode()), re.escape(_END.encode())
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
    if _MADE.encode() in found.data:
        place.prune([folder])
    return path, REMOVED
