"""The index files of a plain ``git commit`` while its hooks run, and how they are exchanged.

git names the index from which it commits to its hooks by ``GIT_INDEX_FILE``, and reads it again after
``pre-commit``. It has three forms (git 2.39, builtin/commit.c):

- as it stands: the user's own index, without a lock;
- ``-a``, ``-i`` and ``-p``: ``index.lock``, which becomes the user's index when the commit is made;
- paths: ``next-index-<pid>.lock``, which is thrown away, while ``index.lock`` becomes the user's index.

A file is exchanged by renaming a second name of a prepared file onto it. So the prepared file's inode shows
whether it is still in place.
"""

import os
from collections.abc import Mapping
from typing import NamedTuple

from gitralph.git import index
from gitralph.git.index import IndexCopy

AS_IS, WHOLE, PATHS = "as-is", "whole", "paths"


class PlainIndexMovedError(Exception):
    """The user's index changed since it was looked at."""


class Given(NamedTuple):
    """``read`` is the index from which git commits, ``real`` the user's own."""

    form: str
    read: str
    real: str

    @property
    def lock(self) -> str:
        """git's lock of the user's index."""
        return self.real + ".lock"


def given(environ: Mapping[str, str], real: str) -> Given | None:
    """The files of the commit whose hook this is; None for an index that is not the worktree's."""
    said = environ.get("GIT_INDEX_FILE") or real
    folder, name = os.path.split(os.path.abspath(said))
    read = f"{os.path.realpath(folder)}/{name}"
    if read == real:
        return Given(AS_IS, real, real)
    if read == real + ".lock":
        return Given(WHOLE, read, real)
    inside = os.path.dirname(read) == os.path.dirname(real)
    if inside and name.startswith("next-index-") and name.endswith(".lock"):
        return Given(PATHS, read, real)
    return None


def hold(place: Given, copy: IndexCopy, prepared: Mapping[str, str], wait: float) -> None:
    """Put the narrowed index in the user's place, and keep the user's own waiting in ``index.lock``.

    So nobody can stage anything before git has read it, and renaming the lock gives everything back. Raises
    PlainIndexMovedError where the copy was made of another index, Busy for a held lock.
    """
    index.take_lock(prepared["original"], place.lock, wait)
    try:
        if index.moved(copy):
            raise PlainIndexMovedError
        index.put(prepared["narrowed"], place.real)
    except BaseException:
        if index.is_ours(place.lock, prepared["original"]):
            os.unlink(place.lock)
        raise


def give_back(place: Given, prepared: Mapping[str, str]) -> bool:
    """Put back the user's own index from the lock in which it waits; False where it does not."""
    if not index.is_ours(place.lock, prepared.get("original", "")):
        return False
    if index.is_ours(place.real, prepared.get("narrowed", "")):
        os.rename(place.lock, place.real)
    else:  # killed before the exchange: what stands there may be newer than what waits
        os.unlink(place.lock)
    return True
