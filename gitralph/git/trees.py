"""Reads and rebuilds only the trees on given paths; never the index.

Trees are written as loose objects by a unique temporary file, fsync and link: a writer that goes through
``<oid>.lock``, as dulwich's, makes the content unwritable for good when it is killed there.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterable, Mapping

from gitralph.base import files, ids
from gitralph.base.errors import Fatal
from gitralph.git import treetext
from gitralph.git.objects import Objects
from gitralph.git.treetext import Entry as Entry

GITLINK = 0o160000
SYMLINK = 0o120000
# Regular files, plain and executable: the only ones with lines (gitformat-index(5)).
FILES = (0o100644, 0o100755)
FOLDER = 0o40000
EMPTY_TREE = ids.EMPTY_TREE.encode()
# Open temporary files before they are synced together: well below the usual limit of 1,024 descriptors.
_AT_ONCE = 200


class BlockedError(Exception):
    """A path leads through something that is no tree and is not being replaced."""

    def __init__(self, path: bytes, mode: int) -> None:
        super().__init__(path)
        self.path = path
        self.mode = mode


class TreeReader:
    """Looks paths up in one commit's tree, each tree read once."""

    def __init__(self, objects: Objects, root: bytes | None) -> None:
        self.objects = objects
        self.root = root
        self._trees: dict[bytes, dict[bytes, Entry]] = {}

    def tree(self, oid: bytes) -> Mapping[bytes, Entry]:
        """The entries of a tree object. Raises Fatal where it is missing or damaged."""
        if oid not in self._trees:
            try:
                kind, raw = self.objects.raw(oid)
                found = treetext.parse(raw)
            except KeyError:
                raise Fatal(f"tree {oid.decode()} is missing from the object database") from None
            except ValueError:
                kind, found = b"", {}
            if kind != b"tree":
                raise Fatal(f"object {oid.decode()} is not a tree")
            self._trees[oid] = found
        return self._trees[oid]

    def lookup(self, path: bytes) -> Entry | None:
        """What stands at ``path``, trees included; None for nothing.

        Raises BlockedError where a parent is a submodule or a link.
        """
        oid = self.root
        names = path.split(b"/")
        for depth, name in enumerate(names):
            if oid is None:
                return None
            try:
                mode, child = self.tree(oid)[name]
            except KeyError:
                return None
            if depth == len(names) - 1:
                return Entry(mode, child)
            if not stat.S_ISDIR(mode):
                raise BlockedError(b"/".join(names[: depth + 1]), mode)
            oid = child
        return None

    def lookup_safe(self, path: bytes) -> Entry | None:
        """As :meth:`lookup`, None where a parent is no tree."""
        try:
            return self.lookup(path)
        except BlockedError:
            return None

    def entry(self, path: bytes) -> Entry | None:
        """As :meth:`lookup`, but only blobs, links and submodules count."""
        found = self.lookup_safe(path)
        return None if found is None or stat.S_ISDIR(found.mode) else found

    def files_below(self, path: bytes) -> Iterable[bytes]:
        """Every entry under a folder of the tree."""
        found = self.lookup(path)
        if found is None or not stat.S_ISDIR(found.mode):
            return
        for name, entry in self.tree(found.oid).items():
            child = path + b"/" + name
            if stat.S_ISDIR(entry.mode):
                yield from self.files_below(child)
            else:
                yield child


def _group(
    changes: Mapping[bytes, Entry | None],
) -> tuple[dict[bytes, Entry | None], dict[bytes, dict[bytes, Entry | None]]]:
    here: dict[bytes, Entry | None] = {}
    below: dict[bytes, dict[bytes, Entry | None]] = {}
    for path, entry in changes.items():
        name, slash, rest = path.partition(b"/")
        if slash:
            below.setdefault(name, {})[rest] = entry
        else:
            here[name] = entry
    return here, below


class TreeBuilder:
    """A base tree with changes laid over it; new trees are collected, not written."""

    def __init__(self, reader: TreeReader) -> None:
        self.reader = reader
        self.new: dict[bytes, bytes] = {}
        """The bytes of each new tree by its oid; one that is as it was may be among them."""

    def build(self, changes: Mapping[bytes, Entry | None]) -> bytes:
        """The oid of the root tree after ``changes`` (None removes). Raises BlockedError."""
        return self._folder(self.reader.root, changes, b"") or self._keep({})

    def _keep(self, tree: Mapping[bytes, Entry]) -> bytes:
        raw = treetext.make(tree)
        oid = treetext.oid_of(raw)
        self.new[oid] = raw
        return oid

    def _folder(
        self, oid: bytes | None, changes: Mapping[bytes, Entry | None], prefix: bytes
    ) -> bytes | None:
        tree = {} if oid is None else dict(self.reader.tree(oid))
        here, below = _group(changes)
        # Deletions first: a path may have been a file and be a folder now.
        for name in [name for name, entry in here.items() if entry is None]:
            if name in tree and not stat.S_ISDIR(tree[name].mode):
                del tree[name]
        for name, inner in below.items():
            self._descend(tree, name, inner, prefix)
        for name, entry in here.items():
            if entry is not None:
                tree[name] = entry
        return self._keep(tree) if tree else None

    def _descend(
        self, tree: dict[bytes, Entry], name: bytes, inner: Mapping[bytes, Entry | None], prefix: bytes
    ) -> None:
        # Stop at any non-tree: `update-index --replace` would make a folder of a link or a submodule.
        there = tree.get(name)
        if there is not None and not stat.S_ISDIR(there.mode):
            if all(entry is None for entry in inner.values()):
                return  # nothing of it can be there
            raise BlockedError(prefix + name, there.mode)
        made = self._folder(there.oid if there else None, inner, prefix + name + b"/")
        if made is not None:
            tree[name] = Entry(FOLDER, made)
        else:
            tree.pop(name, None)


def _write_temporary(folder: str, oid: str, body: bytes) -> tuple[int, str, str] | None:
    """An open temporary file with the object, its name and the name to come; None when it is there."""
    home = f"{folder}/{oid[:2]}"
    target = f"{home}/{oid[2:]}"
    if os.path.lexists(target):
        return None
    os.makedirs(home, exist_ok=True)
    temporary = f"{home}/tmp_obj_{os.getpid()}_{os.urandom(6).hex()}"
    # git's own prefix, so that `git gc` clears away what a kill leaves; read-only as git's objects are.
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
    try:
        view = memoryview(body)
        while view:
            view = view[os.write(fd, view) :]
    except BaseException:
        os.close(fd)
        raise
    return fd, temporary, target


def write_trees(objects_dir: str, trees: Mapping[bytes, bytes], lasting: bool = True) -> None:
    """Write them as loose objects, each whole or not at all; one that is packed already does no harm.

    Those that no commit will hold need not be ``lasting``.
    """
    waiting: list[tuple[int, str, str]] = []
    for oid, raw in trees.items():
        body = zlib.compress(b"tree %d\0" % len(raw) + raw, 1)
        made = _write_temporary(objects_dir, oid.decode(), body)
        if made is not None:
            waiting.append(made)
        if len(waiting) == _AT_ONCE:
            _settle(waiting, lasting)
    _settle(waiting, lasting)


def _settle(waiting: list[tuple[int, str, str]], lasting: bool) -> None:
    """Make objects durable, then give them their names."""
    if lasting:
        files.sync_all([fd for fd, _, _ in waiting])
    else:
        for fd, _, _ in waiting:
            os.close(fd)
    for _, temporary, target in waiting:
        os.rename(temporary, target)
    waiting.clear()
