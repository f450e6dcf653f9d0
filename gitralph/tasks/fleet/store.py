"""The fleet's private object folder, for claims and logs: the repository's own store has none of them.

The fleet's git writes into the folder and reads both stores, the repository's as an alternate. Everything in
the folder can be fetched again, so it may be deleted. ``git gc`` does not know it.
"""

import os
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass

from gitralph.base import files
from gitralph.base.ids import EMPTY_TREE
from gitralph.git.blobs import listed
from gitralph.git.commits import with_identity
from gitralph.git.context import Context
from gitralph.git.objects import Objects
from gitralph.git.run import Git, GitError

COMMIT_LIMIT = 16 << 10
TREE_LIMIT = 64 << 10


@dataclass(frozen=True)
class Store:
    """Three ways to run git. ``git`` writes into the private folder, and ``author`` too, as the user.

    ``landing`` writes into the repository's own store, as ever, but sees the private folder. ``objects`` is
    the repository's own store.
    """

    git: Git
    landing: Git
    author: Git
    objects: str

    @classmethod
    def open(cls, ctx: Context) -> "Store":
        """Make the folder where there is none."""
        folder, own = ctx.layout.fleet_objects, ctx.repo.common_dir + "/objects"
        files.make_folder(folder)
        git = ctx.git.at(GIT_OBJECT_DIRECTORY=folder, GIT_ALTERNATE_OBJECT_DIRECTORIES=listed(own))
        # A landing runs the user's pre-push hook, and what that writes belongs into his own store.
        landing = ctx.git.at(GIT_ALTERNATE_OBJECT_DIRECTORIES=listed(folder))
        # UTC, so that no claim tells where somebody sits
        return cls(git, landing, with_identity(git, ctx.config, None).at(TZ="UTC"), own)

    def commit(self, message: str, tree: str = EMPTY_TREE, parents: Sequence[str] = ()) -> str:
        """A commit under the user's identity. Raises Fatal where git knows none.

        git's own guess is not taken: it holds the names of user and host.
        """
        if tree == EMPTY_TREE and not self._has_empty_tree():
            self.git.run("mktree", stdin=b"")
        words = ["-c", "user.useConfigOnly=true", "commit-tree", tree]
        words += [word for parent in parents for word in ("-p", parent)]
        return self.author.run(*words, "-F", "-", stdin=message.encode()).decode().strip()

    def _has_empty_tree(self) -> bool:
        """True where it lies as a file: ``mktree`` writes none where the repository's own store has one."""
        folders = self.git.env["GIT_OBJECT_DIRECTORY"], self.objects
        return any(os.path.exists(f"{one}/{EMPTY_TREE[:2]}/{EMPTY_TREE[2:]}") for one in folders)

    def blob(self, data: bytes) -> str:
        """Keep a file's bytes; the oid."""
        return self.git.run("hash-object", "-w", "--stdin", "--no-filters", stdin=data).decode().strip()

    def tree(self, entries: Iterable[tuple[str, str]]) -> str:
        """A tree of files by name and oid."""
        rows = "".join(f"100644 blob {oid}\t{name}\n" for name, oid in entries)
        return self.git.run("mktree", stdin=rows.encode()).decode().strip()

    def holds(self, oids: Iterable[str]) -> set[str]:
        """Which of some objects are here."""
        return {oid for oid, _, _ in self._sizes(list(oids))}

    def _sizes(self, oids: Sequence[str]) -> list[tuple[str, str, int]]:
        if not oids:
            return []
        given = "".join(oid + "\n" for oid in oids).encode()
        out = self.git.run("cat-file", "--batch-check", stdin=given).decode("ascii", "replace")
        rows = [row.split() for row in out.splitlines()]
        return [(r[0], r[1], int(r[2])) for r in rows if len(r) == 3 and r[2].isdigit()]

    def read(self, oids: Iterable[str], kind: str, limit: int) -> dict[str, bytes]:
        """The objects of a kind that are here and no longer than ``limit`` bytes."""
        wanted = [
            oid
            for oid, what, size in self._sizes(list(dict.fromkeys(oids)))
            if what == kind and size <= limit
        ]
        found = {}
        with closing(Objects(self.git)) as objects:
            for oid in wanted:
                with suppress(KeyError):  # gone between the two questions
                    found[oid] = objects.raw(oid.encode())[1]
        return found

    def is_whole(self, oid: str) -> bool:
        """True when an object is here: a log can only grow on a commit that is."""
        try:
            return bool(self.holds([oid]))
        except GitError:
            return False
