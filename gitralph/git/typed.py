"""A path as a person types it in the present folder, quoted for a shell."""

from __future__ import annotations

import os
import shlex

from gitralph.base.quote import is_control
from gitralph.git.context import Context

_GLOB = "*?[\\"


def _below(ctx: Context, path: bytes, folder: str | None = None) -> str:
    return os.path.relpath(os.path.join(ctx.repo.root, os.fsdecode(path)), folder or ctx.folder)


def can_be_typed(ctx: Context, path: bytes) -> bool:
    """True where every character of the path, seen from the present folder, shows on a terminal."""
    return not any(is_control(char) for char in _below(ctx, path))


def as_pathspec(ctx: Context, path: bytes, folder: str | None = None) -> str:
    """A path as a person types it in a folder, by default the present one: a quoted pathspec of this file.

    A character that no terminal shows becomes a ``?``, which git takes for any character.
    """
    below = _below(ctx, path, folder)
    if not can_be_typed(ctx, path):
        return shlex.quote("".join("?" if is_control(char) or char in _GLOB else char for char in below))
    if any(char in _GLOB for char in below):
        below = ":(literal)" + below
    elif below.startswith(":"):
        below = "./" + below
    return shlex.quote(below)


def as_name(ctx: Context, path: bytes) -> str:
    """The same for a command that takes names of files, not pathspecs."""
    if not can_be_typed(ctx, path):
        return as_pathspec(ctx, path)
    below = _below(ctx, path)
    return shlex.quote("./" + below if below.startswith("-") else below)
