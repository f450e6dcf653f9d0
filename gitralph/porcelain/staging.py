"""What the user's index should hold after a commit: the same staged change as before.

An entry that equalled HEAD goes forward; one the user staged gets the three-way merge of his content
with the new HEAD. A conflict is found here, before anything moves.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gitralph.plumbing.git import Git
from gitralph.plumbing.index import Staged
from gitralph.plumbing.objects import Objects
from gitralph.plumbing.tree import Entry, TreeReader
from gitralph.porcelain.outcome import ENTANGLED, Left

_EMPTY_BLOB = b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


@dataclass
class IndexPlan:
    """Entries to change, flags to keep, and the conflicts that forbid the commit."""

    changes: dict[bytes, Entry | None] = field(default_factory=dict)
    old: dict[bytes, Entry | None] = field(default_factory=dict)
    flags: dict[bytes, str] = field(default_factory=dict)
    conflicts: list[Left] = field(default_factory=list)


def _is_file(entry: Entry | None) -> bool:
    return entry is not None and entry.mode in (0o100644, 0o100755)


def _merged_mode(old: Entry, new: Entry, staged: Entry) -> int | None:
    if staged.mode in (old.mode, new.mode):
        return new.mode
    return staged.mode if new.mode == old.mode else None


def _merge(git: Git, folder: str, old: Entry, new: Entry, staged: Entry) -> Entry | None:
    """The staged content carried over to the new HEAD; None when that conflicts."""
    mode = _merged_mode(old, new, staged)
    if mode is None:
        return None
    names = []
    for name, entry in (("new", new), ("old", old), ("staged", staged)):
        names.append(f"{folder}/merge-{name}")
        with open(names[-1], "wb") as file:
            file.write(git.run("cat-file", "blob", entry.oid))
    done = git.try_run("merge-file", "-p", "-q", *names)
    if done.returncode:
        return None
    oid = git.run("hash-object", "-w", "--stdin", stdin=done.stdout).strip()
    return Entry(mode, oid)


def _carried(
    git: Git, folder: str, old: Entry | None, new: Entry | None, staged: Entry | None
) -> tuple[bool, Entry | None]:
    """(possible, entry) for a path the user staged himself."""
    if old is None or new is None or staged is None:
        return False, None
    if not (_is_file(old) and _is_file(new) and _is_file(staged)):
        return False, None
    merged = _merge(git, folder, old, new, staged)
    return merged is not None, merged


def plan(
    git: Git,
    folder: str,
    staged: Mapping[bytes, Staged],
    old: Mapping[bytes, Entry | None],
    new: Mapping[bytes, Entry | None],
    recorded: Mapping[bytes, frozenset[bytes]],
) -> IndexPlan:
    """The index after the commit. ``recorded`` are blobs that the session itself made of a path.

    ``git`` writes merged blobs, so it must be the one whose objects the commit uses.
    """
    found = IndexPlan()
    for path, entry in new.items():
        mark = staged.get(path)
        there = mark.entry if mark else None
        if there == entry:
            continue
        own = there is not None and there.oid in recorded.get(path, frozenset())
        found.old[path] = there
        found.flags[path] = mark.flags if mark else ""
        if there == old.get(path) or own or _is_intent_to_add(there, old.get(path)):
            found.changes[path] = entry
            continue
        possible, merged = _carried(git, folder, old.get(path), entry, there)
        if possible:
            found.changes[path] = merged
        else:
            detail = "your staged version of it cannot be carried over to the new HEAD"
            found.conflicts.append(Left(path, ENTANGLED, detail))
    return found


def _is_intent_to_add(there: Entry | None, old: Entry | None) -> bool:
    return old is None and there is not None and there.oid == _EMPTY_BLOB


def cached_trees(
    objects: Objects,
    base: TreeReader,
    tree: bytes,
    changes: Mapping[bytes, Entry | None],
    entries: Mapping[bytes, Entry | None],
) -> dict[bytes, tuple[bytes, bytes]]:
    """Folders whose cached tree in the index goes from HEAD's to the new commit's: old and new oid.

    Empty when the user staged something on a committed path: the index then is no commit's tree.
    """
    if base.root is None or dict(changes) != dict(entries):
        return {}
    new = TreeReader(objects, tree)
    out = {b"": (base.root, tree)}
    for path in changes:
        for at in range(path.count(b"/")):
            folder = b"/".join(path.split(b"/")[: at + 1])
            old_entry, new_entry = base.lookup_safe(folder), new.lookup_safe(folder)
            if old_entry is not None and new_entry is not None:
                out[folder] = (old_entry.oid, new_entry.oid)
    return out
