"""Turns file contents into the blobs and modes that ``git add`` would make, by git itself.

A private folder holds the files and the ``.gitattributes`` above them. A private index starts from HEAD's
entries. So filters, line ends and modes come out as git decides, in one process for all paths.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from gitralph.base import nul
from gitralph.base.errors import Fatal
from gitralph.git import listing
from gitralph.git.config import Config
from gitralph.git.objects import Objects
from gitralph.git.run import PLAIN_INDEX, Git
from gitralph.git.snapshot import Content, Worktree, write_copy
from gitralph.git.trees import GITLINK, Entry, TreeReader

_ATTRIBUTES = b".gitattributes"
_FEW = 20
"""So many entries are passed as words: this costs less than the process that reads them otherwise."""
# A draft that is thrown away need not survive a crash: syncing ten objects costs a status 2 ms.
_FLEETING = ("-c", "core.fsync=none")


@dataclass
class Workbench:
    """A private folder for one command. Without ``lasting`` no object ever leaves its quarantine."""

    folder: str
    git: Git
    lasting: bool = True
    made: dict[tuple[bytes, Content, Entry | None], Entry] = field(default_factory=dict)
    """Entries made so far, by content: ten sessions in one file look at the same bytes ten times."""

    @classmethod
    def make(
        cls, parent: str, git: Git, common_dir: str, quarantine: bool, lasting: bool = True
    ) -> Workbench:
        """A new folder below ``parent``; with ``quarantine`` git writes objects nowhere else."""
        # The pid comes first, so that the next command can tell what a dead process left from what a live one
        # uses.
        folder = f"{parent}/{os.getpid()}-{os.urandom(6).hex()}"
        os.makedirs(folder, mode=0o700)
        if quarantine:
            # What a refused commit made is removed with the folder; the repository never sees it.
            os.mkdir(folder + "/objects")
            git = git.at(
                GIT_OBJECT_DIRECTORY=folder + "/objects",
                GIT_ALTERNATE_OBJECT_DIRECTORIES=listed(common_dir + "/objects"),
            )
        return cls(folder, git, lasting)

    def objects_dir(self, common_dir: str) -> str:
        """The folder for new objects."""
        return self.git.env.get("GIT_OBJECT_DIRECTORY", common_dir + "/objects")

    def objects(self, common_dir: str) -> Objects:
        """Reads the objects that this bench made and all that the repository has."""
        return Objects(self.git, self.objects_dir(common_dir))

    def inner(self, common_dir: str) -> Workbench:
        """A folder below this one, for another look; only what lasts is made afresh there."""
        found = Workbench.make(self.folder, self.git, common_dir, quarantine=False, lasting=self.lasting)
        return found if self.lasting else replace(found, made=self.made)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Workbench:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def listed(path: str) -> str:
    """A path as an element of git's colon-separated list."""
    if ":" not in path and not path.startswith('"'):
        return path
    # A colon ends an element, unless it is quoted (GIT_ALTERNATE_OBJECT_DIRECTORIES in git(1)).
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def attribute_files(paths: Iterable[bytes]) -> set[bytes]:
    """Where git looks for the attributes of these paths."""
    found = {_ATTRIBUTES}
    for path in paths:
        names = path.split(b"/")[:-1]
        found.update(b"/".join([*names[: n + 1], _ATTRIBUTES]) for n in range(len(names)))
    return found


def _seeds(git: Git, entries: Mapping[bytes, Entry]) -> list[str | bytes]:
    """The input with which the next ``update-index`` starts; none where words have these entries."""
    if len(entries) <= _FEW:
        return [
            word for p, e in entries.items() for word in ("--cacheinfo", b"%o,%s,%s" % (e.mode, e.oid, p))
        ]
    rows = nul.joined(b"%o %s 0\t%s" % (e.mode, e.oid, path) for path, e in entries.items())
    git.run(*PLAIN_INDEX, "update-index", "-z", "--index-info", stdin=rows)
    return []


def _entries(git: Git) -> dict[bytes, Entry]:
    return {row.path: row.entry for row in listing.entries(git.run(*PLAIN_INDEX, "ls-files", "-s", "-z"))}


def blobs_for(
    bench: Workbench,
    name: str,
    contents: Mapping[bytes, Content],
    base: TreeReader,
    worktree: Worktree,
) -> dict[bytes, Entry | None]:
    """The tree entry of each content, as ``git add`` would store it; None for an absent file.

    ``name`` keeps several calls on one bench apart. Raises GitError when a filter fails.
    """
    copy, index = f"{bench.folder}/{name}", f"{bench.folder}/{name}.index"
    os.mkdir(copy, 0o700)
    there = {p: c for p, c in contents.items() if c.data is not None}
    seeds = {path: base.entry(path) for path in there}
    keys = {path: (path, content, seeds[path]) for path, content in there.items()}
    known = {path: bench.made[key] for path, key in keys.items() if key in bench.made}
    if len(known) == len(there):
        return _answer(contents, known)
    # git reads attributes from the worktree first (gitattributes(5)). So the folder must hold those above
    # each file.
    for path in sorted(attribute_files(there) - set(contents)):
        found = worktree.read(path)
        if found.data is not None:
            write_copy(copy, path, found)
        else:  # git reads the index's version where the file is missing
            seeds[path] = base.entry(path)
    for path, content in there.items():
        write_copy(copy, path, content)
    git = bench.git.at(copy, GIT_INDEX_FILE=index, GIT_WORK_TREE=copy)
    wanted = nul.joined(there)
    made: dict[bytes, Entry] = {}
    if wanted:
        # In 35 attribute cases raw bytes differed from `git add` in 21, dulwich's normaliser in 11, `git
        # hash-object --path` in 2, and this way in none (git 2.39, dulwich 1.2).
        words = (*PLAIN_INDEX, *(() if bench.lasting else _FLEETING))
        first = _seeds(git, {path: entry for path, entry in seeds.items() if entry is not None})
        git.run(*words, "update-index", "--add", "--replace", *first, "-z", "--stdin", stdin=wanted)
        made = _entries(git)
    if missing := [path for path in there if path not in made]:
        raise Fatal(f"git would not take '{os.fsdecode(missing[0])}'")
    bench.made |= {key: made[path] for path, key in keys.items()}
    return _answer(contents, {path: made[path] for path in there})


def _answer(contents: Mapping[bytes, Content], made: Mapping[bytes, Entry]) -> dict[bytes, Entry | None]:
    return {path: made.get(path) for path, content in contents.items() if content.mode != GITLINK}


def working_form(git: Git, path: bytes, entry: Entry) -> bytes:
    """A blob as a checkout would write it (line ends and the like). Raises GitError."""
    return git.run("cat-file", "--filters", b"--path=" + path, entry.oid)


def filtered_paths(git: Git, config: Config, paths: Iterable[bytes]) -> set[bytes]:
    """Those of ``paths`` that a clean filter governs. git is asked only where some filter is configured."""
    # It may be configured as `clean` or, to run once for all files, as `process` (gitattributes(5)).
    given = nul.joined(paths) if config.names("filter", "clean") + config.names("filter", "process") else b""
    if not given:
        return set()
    said = git.run("check-attr", "-z", "--stdin", "filter", stdin=given)
    return {path for path, _, value in nul.groups(said, 3) if value not in (b"unspecified", b"unset")}
