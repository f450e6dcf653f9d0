"""Removes a file or a folder, whichever it is, for commands: no hook loads this."""

import contextlib
import os
import shutil


def remove(path: str) -> None:
    """Remove a file, a link, or a folder with all in it; what cannot be removed of a folder stays."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
