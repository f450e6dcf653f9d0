"""The bench: the private folder in which a commit is drafted."""

from __future__ import annotations

import errno
import tempfile

from gitralph.base import files
from gitralph.base.errors import Fatal
from gitralph.git.blobs import Workbench
from gitralph.git.context import Context


def open_bench(ctx: Context, quarantine: bool) -> Workbench:
    """Make a private folder in the state's ``tmp``; with ``quarantine`` no object leaves the folder.

    A caller that only looks passes ``quarantine``. Where the state cannot be written, its folder is in the
    system's temporary folder. Without ``quarantine`` that case raises Fatal.
    """
    parent = ctx.layout.tmp
    try:
        files.make_folder(parent)
        return Workbench.make(parent, ctx.git, ctx.repo.common_dir, quarantine, lasting=not quarantine)
    except OSError as error:
        if quarantine:
            pass
        elif error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise Fatal(f"cannot commit: '{ctx.layout.top}' cannot be written: {error.strerror}") from error
        else:
            raise

    return Workbench.make(
        tempfile.gettempdir(), ctx.git, ctx.repo.common_dir, quarantine, lasting=not quarantine
    )
