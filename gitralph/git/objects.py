"""Reads objects: git finds them, through one ``git cat-file --batch``, and dulwich parses them.

dulwich's own object store knows packs too. But git also knows partial clones and whatever comes after packs.
"""

import os
import subprocess
from subprocess import Popen

from dulwich.errors import ObjectFormatException
from dulwich.objects import Commit, ShaFile, Tree, object_class

from gitralph.base.errors import Fatal
from gitralph.git.run import Git


class Objects:
    """The object database that a git sees. Call :meth:`close` at the end.

    ``near`` is a folder into which git has just written loose objects: reading a commit there costs no
    process.
    """

    def __init__(self, git: Git, near: str = "") -> None:
        self._git, self._near = git, near
        self._batch: Popen[bytes] | None = None

    def raw(self, oid: bytes) -> tuple[bytes, bytes]:
        """Kind and bytes of an object. Raises KeyError when it is missing."""
        return self._ask(oid)[1:]

    def commit(self, oid: bytes) -> Commit:
        """A commit. Raises Fatal where it is missing, another kind of object, or damaged."""
        found = self._loose(oid) or self._parsed(oid, "commit")
        if not isinstance(found, Commit) or found.author_time is None or found.commit_time is None:
            raise Fatal(f"object {oid.decode()} is not a commit", "git fsck")
        return found

    def tree(self, oid: bytes) -> Tree:
        """A tree. Raises Fatal as :meth:`commit` does."""
        found = self._parsed(oid, "tree")
        if not isinstance(found, Tree):
            raise Fatal(f"object {oid.decode()} is not a tree")
        return found

    def tree_of(self, commit: bytes) -> bytes:
        """The oid of a commit's tree. Raises KeyError.

        git tells it for every commit that it accepts. dulwich cannot read a commit whose author line is
        malformed.
        """
        return self._ask(commit + b"^{tree}")[0]

    def _loose(self, oid: bytes) -> ShaFile | None:
        name = oid.decode()
        path = f"{self._near}/{name[:2]}/{name[2:]}"
        return ShaFile.from_path(path) if self._near and os.path.exists(path) else None

    def _parsed(self, oid: bytes, wanted: str) -> ShaFile | None:
        """The object; None for one that dulwich cannot read."""
        try:
            kind, data = self.raw(oid)
        except KeyError:
            raise Fatal(f"{wanted} {oid.decode()} is missing from the object database", "git fsck") from None
        return parse(kind, data)

    def _ask(self, name: bytes) -> tuple[bytes, bytes, bytes]:
        """Oid, kind and bytes of the object that a name means. Raises KeyError."""
        if self._batch is None:
            self._batch = self._git.start(["cat-file", "--batch"], subprocess.PIPE, subprocess.DEVNULL)
        asked, said = self._batch.stdin, self._batch.stdout
        assert asked is not None
        assert said is not None
        try:
            asked.write(name + b"\n")
            asked.flush()
        except BrokenPipeError:
            pass
        row = said.readline()
        if not row:
            self.close()  # git ends at a damaged object, so the next question starts another
        words = row.split()
        # `<oid> SP <type> SP <size> LF <contents> LF` (git-cat-file(1), BATCH OUTPUT); `<name> missing`
        if len(words) != 3 or not words[2].isdigit():
            raise KeyError(name)
        data = said.read(int(words[2]) + 1)[:-1]
        return words[0], words[1], data

    def close(self) -> None:
        """End the process, if one was needed."""
        if self._batch is not None:
            self._batch.communicate()
            self._batch = None


def tree_in(commit: bytes) -> str | None:
    """The oid of the tree that a commit's bytes name, None where these are no commit."""
    found = parse(Commit.type_name, commit)
    return found.tree.decode() if isinstance(found, Commit) else None


def rows_in(tree: bytes) -> list[tuple[bytes, int, str]]:
    """Name, mode and oid of each row in a tree's bytes; nothing where these are no tree."""
    found = parse(Tree.type_name, tree)
    return (
        [(name, mode, oid.decode()) for name, mode, oid in found.items()] if isinstance(found, Tree) else []
    )


def parse(kind: bytes, data: bytes) -> ShaFile | None:
    """dulwich's object of these bytes, None where it cannot read them. Anybody may have made them."""
    made = object_class(kind)
    if made is None:
        return None
    found = ShaFile.from_raw_string(made.type_num, data)
    try:
        # dulwich parses an object on first use, and raises the last two errors for a torn header.
        if isinstance(found, Commit):
            found.parents  # noqa: B018
        elif isinstance(found, Tree):
            found.items()
    except (ObjectFormatException, ValueError, IndexError):
        return None
    return found
