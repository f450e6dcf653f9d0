"""Reads objects: loose ones straight from their file, all others through one ``git cat-file --batch``.

dulwich parses them where somebody wants more of one than its bytes. Its own object store knows packs too, but
importing it costs a commit more than the one process does, and git also knows partial clones and whatever
comes after packs.
"""

import os
import subprocess
import zlib
from subprocess import Popen

from dulwich.objects import ShaFile

from gitralph.git.run import Git

_KINDS = {b"commit": 1, b"tree": 2, b"blob": 3, b"tag": 4}


class Objects:
    """The object database of a repository. Use :meth:`close` when done."""

    def __init__(self, git: Git, folder: str) -> None:
        self._git = git
        self._folder = folder
        self._batch: Popen[bytes] | None = None

    def __getitem__(self, oid: bytes) -> "ShaFile":
        """The object of an oid (hex). Raises KeyError when it is not there."""

        kind, data = self.raw(oid)
        return ShaFile.from_raw_string(_KINDS[kind], data, oid)  # type: ignore[arg-type]

    def raw(self, oid: bytes) -> tuple[bytes, bytes]:
        """Kind and bytes of an object. Raises KeyError when it is not there."""
        return self._loose(oid) or self._from_git(oid)

    def __contains__(self, oid: bytes) -> bool:
        if os.path.exists(self._path(oid)):
            return True
        try:
            self._from_git(oid)
        except KeyError:
            return False
        return True

    def _path(self, oid: bytes) -> str:
        name = oid.decode("ascii")
        return f"{self._folder}/{name[:2]}/{name[2:]}"

    def _loose(self, oid: bytes) -> tuple[bytes, bytes] | None:
        try:
            with open(self._path(oid), "rb") as file:
                raw = zlib.decompress(file.read())
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, zlib.error):
            raise KeyError(oid) from None
        header, _, data = raw.partition(b"\0")
        kind = header.split(b" ")[0]
        return (kind, data) if kind in _KINDS else None

    def _from_git(self, oid: bytes) -> tuple[bytes, bytes]:
        # One process for all that is packed; most objects that a commit asks for are loose and young.
        if self._batch is None:
            self._batch = self._git.start(["cat-file", "--batch"], subprocess.PIPE, subprocess.DEVNULL)
        asked, said = self._batch.stdin, self._batch.stdout
        assert asked is not None
        assert said is not None
        try:
            asked.write(oid + b"\n")
            asked.flush()
        except BrokenPipeError:
            raise KeyError(oid) from None
        words = said.readline().split()
        if len(words) != 3 or words[1] not in _KINDS:
            raise KeyError(oid)
        # `<oid> SP <type> SP <size> LF <contents> LF` (git-cat-file(1), BATCH OUTPUT); "missing" has two
        # words.
        size = int(words[2])
        data = said.read(size + 1)[:-1]
        return words[1], data

    def close(self) -> None:
        """End the process, if one was needed."""
        if self._batch is not None:
            assert self._batch.stdin is not None
            assert self._batch.stdout is not None
            self._batch.stdin.close()
            self._batch.stdout.close()
            self._batch.wait()
            self._batch = None
