"""Finds our own modules faster than the import system does, and loads them as it would.

The path finder asks every module anew where it could lie, in Python code: 80 microseconds a module, 8 ms of
a commit's 66 and 2 of a hook's 19 (Python 3.11). Below ``gitralph`` a name can only be one file or one
package, so two ``stat`` and a compiled file that is up to date answer. Whatever is out of the ordinary (no
compiled file, an old one, another way of caching) is left to the import system, which also writes it.
"""

import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import SourceFileLoader
from marshal import loads
from posix import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, ModuleType

_TOP = "gitralph."
# PEP 552: magic number, flags (0: by time and size of the source), time, size
_HEADER = 16


class _Loader(SourceFileLoader):
    """The usual loader, which is given the code when that was found already."""

    code: "CodeType | None" = None

    def get_code(self, fullname: str) -> "CodeType | None":
        return self.code if self.code is not None else super().get_code(fullname)


class Finder:
    """A meta path finder (PEP 302, PEP 451) for the modules below one folder."""

    def __init__(self, magic: bytes, tag: str) -> None:
        self.magic = magic
        self.tag = tag

    def find_spec(
        self, fullname: str, path: "Sequence[str] | None", target: "ModuleType | None" = None
    ) -> ModuleSpec | None:
        """Where a module of ours is; None for all others and for what the import system has to do."""
        if path is None or fullname[: len(_TOP)] != _TOP:
            return None
        folder, name = path[0], fullname.rpartition(".")[2]
        source, package = f"{folder}/{name}.py", None
        cached = f"{folder}/__pycache__/{name}.{self.tag}.pyc"
        try:
            found = stat(source)
        except OSError:
            package = f"{folder}/{name}"
            source, cached = f"{package}/__init__.py", f"{package}/__pycache__/__init__.{self.tag}.pyc"
            try:
                found = stat(source)
            except OSError:
                return None
        try:
            with open(cached, "rb", 0) as file:
                data = file.read()
        except OSError:
            return None
        wanted = self.magic + bytes(4) + (int(found.st_mtime) & 0xFFFFFFFF).to_bytes(4, "little")
        if data[:_HEADER] != wanted + (found.st_size & 0xFFFFFFFF).to_bytes(4, "little"):
            return None
        loader = _Loader(fullname, source)
        loader.code = loads(memoryview(data)[_HEADER:])  # noqa: S302  what every import does with this file
        spec = ModuleSpec(fullname, loader, origin=source, is_package=package is not None)
        spec.has_location = True
        spec.cached = cached
        if package is not None:
            spec.submodule_search_locations = [package]
        return spec


def install() -> None:
    """Be asked first from now on."""
    from _frozen_importlib_external import MAGIC_NUMBER

    tag = sys.implementation.cache_tag
    usual = tag and sys.pycache_prefix is None and not sys.flags.optimize
    if tag and usual and not any(isinstance(one, Finder) for one in sys.meta_path):
        sys.meta_path.insert(0, Finder(MAGIC_NUMBER, tag))
