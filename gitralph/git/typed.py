"""A path as a person types it in the present folder, quoted for a shell."""

from __future__ import annotations

import os
import shlex

from gitralph.base.quote import is_control
from gitralph.git.context import Context

_GLOB = "*?[\\"


def _below(ctx: Context, path: bytes, folder: str | None = None) -> str:
    return os.path.relpath(os.path.join(ctx.repo.root, os.fsdecode(path)), folder or ctx.folder)


def _quoted(text: str) -> str:
    """Quote for a shell; what no terminal shows is left to printf(1), whose escapes every shell has."""
    if not any(map(is_control, text)):
        return shlex.quote(text)
    form = text.replace("\\", "\\\\").replace("%", "%%")
    form = "".join("".join(f"\\{b:03o}" for b in os.fsencode(c)) if is_control(c) else c for c in form)
    return f'"$(printf -- {shlex.quote(form)})"'


def as_pathspec(ctx: Context, path: bytes, folder: str | None = None) -> str:
    """A path as a person types it in a folder, by default the present one: a quoted pathspec of this file."""
    below = _below(ctx, path, folder)
    if any(char in _GLOB for char in below):
        below = ":(literal)" + below
    elif below.startswith(":"):
        below = "./" + below
    return _quoted(below)


def as_name(ctx: Context, path: bytes) -> str:
    """The same for a command that takes names of files, not pathspecs."""
    below = _below(ctx, path)
    return _quoted("./" + below if below.startswith("-") else below)
