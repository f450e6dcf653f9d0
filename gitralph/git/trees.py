"""Reads and rebuilds only the trees on given paths; never the index.

dulwich reads and makes the trees; this module writes them. A writer that goes through ``<oid>.lock``, as
dulwich's does, syncs nothing, and when it is killed there the object can never be written again. So each tree
goes into a file of a unique name, which is synced and then renamed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dulwich.objects import ObjectID, Tree

from gitralph.base import files, ids, treepath
from gitralph.base.errors import Fatal
from gitralph.base.quote import shown
from gitralph.git.objects import Objects

GITLINK = 0o160000
SYMLINK = 0o120000
# Regular files, plain and executable: only these have lines (gitformat-index(5)).
FILES = (0o100644, 0o100755)
FOLDER = 0o40000
EMPTY_TREE = ids.EMPTY_TREE.encode()
# So many temporary files are synced together: well below the usual limit of 1,024 descriptors.
_AT_ONCE = 200


class Entry(NamedTuple):
    """A blob, link, submodule or tree in a tree: mode as an int, oid as 40 hex digits."""

    mode: int
    oid: bytes


class BlockedError(Exception):
    """A path leads through something that is no tree and is not being replaced."""

    def __init__(self, path: bytes, mode: int) -> None:
        super().__init__(path)
        self.path = path
        self.mode = mode


class TreeReader:
    """Looks up paths in one commit's tree; each tree is read once."""

    def __init__(self, objects: Objects, root: bytes | None) -> None:
        self.objects = objects
        self.root = root
        self._trees: dict[bytes, Tree] = {}

    def tree(self, oid: bytes) -> Tree:
        """A tree, which the caller must not change. Raises Fatal where it is missing or damaged."""
        if oid not in self._trees:
            self._trees[oid] = self.objects.tree(oid)
        return self._trees[oid]

    def copy(self, oid: bytes) -> Tree:
        """A copy of the tree, which the caller may change."""
        made = Tree()
        for name, mode, child in self.tree(oid).items():
            made.add(name, mode, child)
        return made

    def lookup(self, path: bytes) -> Entry | None:
        """The entry at ``path``, trees included; None for nothing.

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
        for name, mode, _ in self.tree(found.oid).items():
            child = path + b"/" + name
            if stat.S_ISDIR(mode):
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
    """A base tree with changes applied to it; new trees are collected, not written."""

    def __init__(self, reader: TreeReader) -> None:
        self.reader = reader
        self.new: dict[bytes, Tree] = {}
        """The new trees by oid; an unchanged one may be among them."""

    def build(self, changes: Mapping[bytes, Entry | None]) -> bytes:
        """The oid of the root tree after ``changes`` (None removes). Raises BlockedError."""
        for path in changes:
            # Tree.add would accept `.git`, `..` and `a/b` as names.
            if not treepath.is_valid(path):
                raise Fatal(f"git takes no path '{shown(path)}' into a tree")
        return self._folder(self.reader.root, changes, b"") or self._keep(Tree())

    def _keep(self, tree: Tree) -> bytes:
        self.new[tree.id] = tree
        return tree.id

    def _folder(
        self, oid: bytes | None, changes: Mapping[bytes, Entry | None], prefix: bytes
    ) -> bytes | None:
        tree = Tree() if oid is None else self.reader.copy(oid)
        here, below = _group(changes)
        # Deletions come first: a path may have been a file and be a folder now.
        for name in [name for name, entry in here.items() if entry is None]:
            if name in tree and not stat.S_ISDIR(tree[name][0]):
                del tree[name]
        for name, inner in below.items():
            self._descend(tree, name, inner, prefix)
        for name, entry in here.items():
            if entry is not None:
                tree[name] = entry.mode, ObjectID(entry.oid)
        return self._keep(tree) if len(tree) else None

    def _descend(self, tree: Tree, name: bytes, inner: Mapping[bytes, Entry | None], prefix: bytes) -> None:
        mode, oid = tree[name] if name in tree else (FOLDER, None)  # noqa: SIM401  a Tree has no get
        # Stop at anything but a tree: `update-index --replace` would make a folder of a link or a submodule.
        if not stat.S_ISDIR(mode):
            if all(entry is None for entry in inner.values()):
                return  # nothing of it can exist there
            raise BlockedError(prefix + name, mode)
        made = self._folder(oid, inner, prefix + name + b"/")
        if made is not None:
            tree[name] = FOLDER, ObjectID(made)
        elif oid is not None:
            del tree[name]


def _write_temporary(folder: str, oid: str, body: bytes) -> tuple[int, str, str] | None:
    """An open temporary file with the object, its name and its final name; None when the object exists."""
    home = f"{folder}/{oid[:2]}"
    target = f"{home}/{oid[2:]}"
    if os.path.lexists(target):
        return None
    os.makedirs(home, exist_ok=True)
    temporary = f"{home}/tmp_obj_{os.getpid()}_{os.urandom(6).hex()}"
    # git's own prefix, so that `git gc` removes what a kill leaves. The file is read-only, as git's objects
    # are.
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
    try:
        view = memoryview(body)
        while view:
            view = view[os.write(fd, view) :]
    except BaseException:
        os.close(fd)
        raise
    return fd, temporary, target


def write_trees(objects_dir: str, trees: Mapping[bytes, Tree], lasting: bool = True) -> None:
    """Write trees as loose objects, each whole or not at all; one that is packed already does no harm.

    Trees that no commit will hold need not be ``lasting``.
    """
    waiting: list[tuple[int, str, str]] = []
    for oid, tree in trees.items():
        made = _write_temporary(objects_dir, oid.decode(), tree.as_legacy_object(compression_level=1))
        if made is not None:
            waiting.append(made)
        if len(waiting) == _AT_ONCE:
            _put_in_place(waiting, lasting)
    _put_in_place(waiting, lasting)


def _put_in_place(waiting: list[tuple[int, str, str]], lasting: bool) -> None:
    """Make objects durable, then give them their names."""
    if lasting:
        files.sync_all([fd for fd, _, _ in waiting])
    else:
        for fd, _, _ in waiting:
            os.close(fd)
    for _, temporary, target in waiting:
        os.rename(temporary, target)
    waiting.clear()
