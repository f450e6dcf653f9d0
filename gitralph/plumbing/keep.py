"""Holds on to new objects until a ref does: a ``git gc --prune=now`` at the wrong moment takes them.

Each object gets a second name in a private folder and is linked back where it was taken away.
"""

import os
import zlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore

_KINDS = {1: b"commit", 2: b"tree", 3: b"blob", 4: b"tag"}


class GoneError(Exception):
    """An object was taken away before it could be kept; make it again."""


class Keep:
    """Second names of objects, in ``folder``."""

    def __init__(self, folder: str, common_dir: str) -> None:
        self.folder = folder
        self._objects = common_dir + "/objects"
        self._kept: list[str] = []
        os.makedirs(folder, mode=0o700, exist_ok=True)

    def add(self, oids: Iterable[bytes]) -> None:
        """Keep these objects. Raises GoneError for one that is not there any more."""
        for name in dict.fromkeys(oid.decode() for oid in oids):
            try:
                os.link(self._loose(name), f"{self.folder}/{name}")
            except FileExistsError:
                pass
            except FileNotFoundError:
                self._copy_packed(name)
            self._kept.append(name)

    def restore(self) -> None:
        """Put back what is neither loose nor in a pack now."""
        gone = [name for name in self._kept if not os.path.exists(self._loose(name))]
        if not gone:
            return
        store = self._store()
        try:
            lost = [name for name in gone if name.encode() not in store]
        finally:
            store.close()
        for name in lost:
            os.makedirs(os.path.dirname(self._loose(name)), exist_ok=True)
            try:
                os.link(f"{self.folder}/{name}", self._loose(name))
            except FileExistsError:
                pass

    def _loose(self, name: str) -> str:
        return f"{self._objects}/{name[:2]}/{name[2:]}"

    def _store(self) -> "DiskObjectStore":
        """A fresh look at the packs: one that is gone may still be open elsewhere."""
        from dulwich.object_store import DiskObjectStore

        return DiskObjectStore(self._objects)

    def _copy_packed(self, name: str) -> None:
        store = self._store()
        try:
            kind, body = store.get_raw(name.encode())  # type: ignore[arg-type]
        except KeyError:
            raise GoneError(name) from None
        finally:
            store.close()
        whole = b"%s %d\0" % (_KINDS[kind], len(body)) + body
        fd = os.open(f"{self.folder}/{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o444)
        with os.fdopen(fd, "wb") as file:
            file.write(zlib.compress(whole, 1))
