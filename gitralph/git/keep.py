"""Brings the objects of a commit from their quarantine into the repository, and keeps them there.

Until a ref holds the objects, a ``git gc --prune=now`` may remove them at any moment. So lost objects are put
back right before the ref moves, and right after.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable
from contextlib import closing, suppress

from gitralph.base.files import sync_folder
from gitralph.git.objects import Objects
from gitralph.git.run import Git


class GoneError(Exception):
    """An object that the commit needs was removed; build the commit again."""


class Keep:
    """Objects that also have a name in ``quarantine``, a folder of ours that nobody prunes."""

    def __init__(self, git: Git, quarantine: str, common_dir: str) -> None:
        self._git = git
        self._quarantine = quarantine
        self._objects = common_dir + "/objects"
        self._names: list[str] = []

    def add(self, oids: Iterable[bytes]) -> None:
        """Keep these objects, new ones and old. Raises GoneError for an object that is nowhere any more."""
        for name in dict.fromkeys(oid.decode() for oid in oids):
            kept = _file(self._quarantine, name)
            if not os.path.exists(kept):
                os.makedirs(os.path.dirname(kept), exist_ok=True)
                try:
                    # A second name keeps the bytes whatever `git gc --prune=now` unlinks.
                    os.link(_file(self._objects, name), kept)
                except FileNotFoundError:
                    self._copy_packed(name, kept)
            self._names.append(name)

    def restore(self) -> bool:
        """Put back the loose file of every object where it is missing. Beside a pack it does no harm.

        Returns True where one was missing.
        """
        touched = set()
        for name in self._names:
            target = _file(self._objects, name)
            if not os.path.exists(target):
                _link(_file(self._quarantine, name), target)
                touched.add(os.path.dirname(target))
        # a file system's journal keeps the order of links, so syncing the last folder serves all of them
        for folder in sorted(touched)[-1:]:
            with suppress(FileNotFoundError):  # gc was here again; the next call puts it back
                sync_folder(folder)
        return bool(touched)

    def store(self) -> Objects:
        """A reader of the kept objects, whatever happens to the repository's own."""
        return Objects(self._git)

    def _copy_packed(self, name: str, kept: str) -> None:
        # A fresh look: another reader may still have a removed pack open.
        with closing(self.store()) as store:
            try:
                kind, body = store.raw(name.encode())
            except KeyError:
                raise GoneError(name) from None
        whole = b"%s %d\0" % (kind, len(body)) + body
        fd = os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o444)
        with os.fdopen(fd, "wb") as file:
            file.write(zlib.compress(whole, 1))
            file.flush()
            os.fsync(fd)


def _link(source: str, target: str) -> None:
    """Link an object; gc may remove the empty folder in between."""
    for _ in range(100):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        try:
            os.link(source, target)
        except FileExistsError:
            return
        except FileNotFoundError:
            continue
        return
    raise GoneError(target)


def _file(folder: str, name: str) -> str:
    return f"{folder}/{name[:2]}/{name[2:]}"
