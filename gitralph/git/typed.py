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
    """Quote for a shell; what no terminal shows is written as bash, ksh and zsh read it in ``$'...'``."""
    if not any(map(is_control, text)):
        return shlex.quote(text)
    parts = ("".join(f"\\x{byte:02x}" for byte in os.fsencode(c)) if is_control(c) else c for c in text)
    escaped = (c.replace("\\", "\\\\").replace("'", "\\'") if len(c) == 1 else c for c in parts)
    return "$'" + "".join(escaped) + "'"


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
