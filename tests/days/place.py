"""The repository of a day: real git, and what it holds read straight from its files.

Reading starts no process: a day looks at disk, HEAD and index after every step.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from dulwich.index import ConflictedIndexEntry, Index

from tests.days.truth import Text
from tests.support import runner, sealed
from tests.support.runner import Done

Entries = Mapping[str, tuple[int, str]]
"""File to mode and blob."""
INCLUDES = re.compile(r"^Ralph-Includes: (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Shot:
    """Everything a step may change."""

    commit: str
    branch: str
    disk: Mapping[str, bytes]
    head: Entries
    index: Entries
    unmerged: tuple[str, ...] = ()
    refs: Mapping[str, str] = field(default_factory=dict)
    """All but the branch that HEAD is on; looked at only around a commit of ours."""


def as_text(data: bytes | None) -> Text:
    """Lines, whatever ends them."""
    if data is None:
        return None
    lines = data.decode("latin-1").replace("\r\n", "\n").split("\n")
    return tuple(lines[:-1] if lines[-1] == "" else lines)


class Objects:
    """Objects of a repository that never packs them, each read once."""

    def __init__(self, git_dir: Path) -> None:
        self.folder = git_dir / "objects"
        self._kept: dict[str, tuple[str, bytes]] = {}
        self._trees: dict[str, Entries] = {}
        self._texts: dict[str, Text] = {}

    def read(self, oid: str) -> tuple[str, bytes]:
        found = self._kept.get(oid)
        if found is None:
            raw = zlib.decompress((self.folder / oid[:2] / oid[2:]).read_bytes())
            header, _, data = raw.partition(b"\0")
            found = self._kept[oid] = (header.split(b" ")[0].decode(), data)
        return found

    def write(self, kind: str, data: bytes) -> str:
        raw = b"%s %d\0%s" % (kind.encode(), len(data), data)
        oid = hashlib.sha1(raw).hexdigest()
        name = self.folder / oid[:2] / oid[2:]
        if not name.exists():
            name.parent.mkdir(exist_ok=True)
            name.write_bytes(zlib.compress(raw, 1))
        return oid

    def text(self, oid: str | None) -> Text:
        if oid is None:
            return None
        if oid not in self._texts:
            self._texts[oid] = as_text(self.read(oid)[1])
        return self._texts[oid]

    def commit(self, oid: str) -> tuple[str, tuple[str, ...], str]:
        """Tree, parents, message."""
        head, _, message = self.read(oid)[1].decode().partition("\n\n")
        rows = [row.split(" ", 1) for row in head.split("\n")]
        return rows[0][1], tuple(row[1] for row in rows if row[0] == "parent"), message

    def files(self, commit: str) -> Entries:
        """All files of a commit."""
        tree = self.commit(commit)[0]
        if tree not in self._trees:
            self._trees[tree] = dict(self._walk(tree, ""))
        return self._trees[tree]

    def _walk(self, tree: str, above: str) -> list[tuple[str, tuple[int, str]]]:
        out: list[tuple[str, tuple[int, str]]] = []
        data, at = self.read(tree)[1], 0
        while at < len(data):
            end = data.index(b"\0", at)
            mode, _, name = data[at:end].partition(b" ")
            oid = data[end + 1 : end + 21].hex()
            path = above + name.decode()
            out += self._walk(oid, path + "/") if mode == b"40000" else [(path, (int(mode, 8), oid))]
            at = end + 21
        return out

    def tree(self, files: Entries) -> str:
        """Write the tree of some files."""
        rows: list[tuple[str, bytes]] = []
        folders: dict[str, dict[str, tuple[int, str]]] = {}
        for path, entry in files.items():
            first, slash, rest = path.partition("/")
            if slash:
                folders.setdefault(first, {})[rest] = entry
            else:
                rows.append((first, b"%o %s\0%s" % (entry[0], first.encode(), bytes.fromhex(entry[1]))))
        for name, inner in folders.items():
            rows.append((name + "/", b"40000 %s\0%s" % (name.encode(), bytes.fromhex(self.tree(inner)))))
        return self.write("tree", b"".join(row for _, row in sorted(rows)))


class Place:
    """One repository with a remote, in a sealed environment."""

    def __init__(self, folder: Path, shells: bool = False) -> None:
        self.root = folder / "repo"
        self.env = sealed.environment(folder / "home")
        self.clock = sealed.EPOCH
        self.root.mkdir(parents=True)
        self.git("init", "-q")
        config = self.root / ".git/config"
        with config.open("a") as file:
            file.write("[core]\n\tfsync = none\n[gc]\n\tauto = 0\n[fetch]\n\tunpackLimit = 100000\n")
            file.write("[receive]\n\tunpackLimit = 100000\n[maintenance]\n\tauto = false\n")
            file.write("[rerere]\n\tenabled = false\n[advice]\n\tdetachedHead = false\n")
            # a hook that only records says nothing
            file.write("[ralph]\n\theadsUp = off\n" + ("\tshellEdits = include\n" if shells else ""))
        self.git_dir = self.root / ".git"
        self.objects = Objects(self.git_dir)
        self._index: tuple[tuple[int, int, int], Entries, tuple[str, ...]] | None = None
        self.said = ""

    def remote(self) -> None:
        """A bare repository beside this one with our branch; it borrows our objects, and costs no process."""
        bare, ours = self.root.parent / "remote.git", self.git_dir / "refs/remotes/origin"
        for folder in (bare / "objects/info", bare / "refs/heads", ours):
            folder.mkdir(parents=True, exist_ok=True)
        (bare / "HEAD").write_text("ref: refs/heads/main\n")
        (bare / "config").write_text("[core]\n\trepositoryFormatVersion = 0\n\tbare = true\n")
        (bare / "objects/info/alternates").write_text(f"{self.git_dir}/objects\n")
        with (self.git_dir / "config").open("a") as file:
            file.write(f'[remote "origin"]\n\turl = {bare}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n')
        for name in (bare / "refs/heads/main", ours / "main"):
            name.write_text(f"{self.head()[0]}\n")
        self.bare = bare
        self.far = Objects(bare)

    def tick(self) -> None:
        """A minute passes."""
        self.clock += 60
        stamp = f"{self.clock} +0000"
        self.env["GIT_AUTHOR_DATE"] = self.env["GIT_COMMITTER_DATE"] = stamp

    def git(self, *args: str, stdin: bytes | None = None) -> int:
        """Run git; its words are in `said`."""
        done = subprocess.run(
            ["git", *args],
            cwd=self.root,
            env=self.env,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
        )
        self.said = done.stdout.decode("utf-8", "replace")
        return done.returncode

    def ralph(self, *args: str, stdin: bytes = b"") -> Done:
        """Run `git ralph` in this process."""
        return runner.in_process(args, cwd=str(self.root), env=self.env, stdin=stdin)

    def read(self, path: str) -> bytes | None:
        try:
            return (self.root / path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, path: str, data: bytes | None) -> None:
        file = self.root / path
        if data is None:
            file.unlink()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)

    def head(self) -> tuple[str, str]:
        """HEAD's commit and branch."""
        said = (self.git_dir / "HEAD").read_text().strip()
        if not said.startswith("ref: "):
            return said, ""
        return self.ref(said[5:]) or "", said.removeprefix("ref: refs/heads/")

    def ref(self, name: str) -> str | None:
        try:
            return (self.git_dir / name).read_text().strip()
        except FileNotFoundError:
            return None

    def _disk(self) -> dict[str, bytes]:
        out = {}
        for folder, folders, names in os.walk(self.root):
            if ".git" in folders:
                folders.remove(".git")
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    out[os.path.relpath(path, self.root)] = file.read()
        return out

    def _entries(self) -> tuple[Entries, tuple[str, ...]]:
        name = self.git_dir / "index"
        try:
            found = name.stat()
        except FileNotFoundError:
            return {}, ()
        mark = (found.st_ino, found.st_mtime_ns, found.st_size)
        if self._index is None or self._index[0] != mark:
            rows, unmerged = {}, []
            for path, entry in Index(str(name)).items():
                if isinstance(entry, ConflictedIndexEntry):
                    unmerged.append(path.decode())
                else:
                    rows[path.decode()] = (entry.mode, entry.sha.decode())
            self._index = (mark, rows, tuple(unmerged))
        return self._index[1], self._index[2]

    def shot(self) -> Shot:
        """How everything stands now."""
        commit, branch = self.head()
        index, unmerged = self._entries()
        return Shot(commit, branch, self._disk(), self.objects.files(commit), index, unmerged)

    def with_refs(self, shot: Shot) -> Shot:
        """The same, and where all refs but the branch of HEAD are; the tool's own are its affair."""
        folder = self.git_dir / "refs"
        names = {str(file.relative_to(self.git_dir)) for file in folder.rglob("*") if file.is_file()}
        names -= {f"refs/heads/{shot.branch}", *(name for name in names if name.startswith("refs/ralph"))}
        return replace(shot, refs={name: self.ref(name) or "" for name in names})

    def includes(self) -> frozenset[str]:
        """Those whom HEAD's trailers name."""
        return frozenset(INCLUDES.findall(self.objects.commit(self.head()[0])[2]))

    def make_commit(self, store: Objects, parent: str, path: str, data: bytes) -> str:
        """A commit that somebody made elsewhere, on top of `parent`."""
        files = dict(self.objects.files(parent) if store is self.objects else store.files(parent))
        files[path] = (0o100644, store.write("blob", data))
        who = f"R <r@example.com> {self.clock} +0000"
        text = f"tree {store.tree(files)}\nparent {parent}\nauthor {who}\ncommitter {who}\n\nelsewhere\n"
        return store.write("commit", text.encode())
