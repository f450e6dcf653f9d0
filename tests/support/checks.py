"""What holds after every commit, and what *refused* means: nothing at all has changed.

They judge by git and by the files of the state folder as documented, never by the tool's own answers.
"""

import contextlib
import fcntl
import json
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.repo import Repo

Row = tuple[str, str]  # mode, oid
# without the two children for files of git's that nothing here writes
FSCK = (
    *("-c", "core.commitGraph=false", "-c", "core.multiPackIndex=false"),
    *("fsck", "--strict", "--no-dangling", "--no-progress"),
)


@dataclass
class Snapshot:
    """Everything the checks compare: head, refs, reflogs, index, working tree, records."""

    head: str | None
    branch: str | None
    refs: str
    logs: dict[str, bytes]
    index: dict[str, list[Row]]
    flags: list[str]
    entries: dict[str, Row]
    tree: dict[str, tuple[object, ...]]
    records: dict[str, bytes]
    objects: set[str]
    staged: dict[str, tuple[Row | None, list[Row]]] = field(default_factory=dict)


# what git said of an index's bytes and of a commit, which never becomes another answer
_said: dict[tuple[str, bytes], bytes] = {}


def _once(kind: str, key: bytes, ask: Callable[[], bytes]) -> bytes:
    if len(_said) > 5000:
        _said.clear()
    if (kind, key) not in _said:
        _said[kind, key] = ask()
    return _said[kind, key]


def _rows(said: bytes) -> list[tuple[list[str], str]]:
    """Rows ``<fact> <fact> ...\\t<path>`` of ls-files and ls-tree."""
    rows = [row.partition("\t") for row in said.decode("utf-8", "surrogateescape").split("\0")[:-1]]
    return [(facts.split(), path) for facts, _, path in rows]


def _index(repo: "Repo") -> tuple[dict[str, list[Row]], list[str]]:
    """Path to its rows, and the flags of ``ls-files -v``."""
    try:
        data = (repo.git_dir / "index").read_bytes()
    except FileNotFoundError:
        data = b""
    said = _once("index", data, lambda: repo.git_bytes("ls-files", "-s", "-v", "-z"))
    out: dict[str, list[Row]] = {}
    flags = []
    for (flag, mode, oid, stage), path in _rows(said):
        out.setdefault(path, []).append((f"{mode} {stage}" if stage != "0" else mode, oid))
        flags.append(f"{flag} {path}")
    return out, flags


def _head_entries(repo: "Repo", head: str | None) -> dict[str, Row]:
    if head is None:
        return {}
    said = _once("commit", head.encode(), lambda: repo.git_bytes("ls-tree", "-rz", head))
    return {path: (mode, oid) for (mode, _, oid), path in _rows(said)}


def _walk(root: Path) -> dict[str, tuple[object, ...]]:
    """Bytes, mode and mtime of everything in a working tree, folders included."""
    out: dict[str, tuple[object, ...]] = {}
    for folder, folders, names in os.walk(os.fsencode(root)):
        if folder == os.fsencode(root):
            # git writes below its own folder; a linked worktree has a file of that name
            folders[:] = [name for name in folders if name != b".git"]
        for name in [b".", *names, *(n for n in folders if os.path.islink(os.path.join(folder, n)))]:
            path = os.path.join(folder, name)
            found = os.lstat(path)
            data: bytes | None = None
            if stat.S_ISLNK(found.st_mode):
                data = os.readlink(path)
            elif stat.S_ISREG(found.st_mode):
                data = Path(os.fsdecode(path)).read_bytes()
            out[os.fsdecode(path)] = (data, found.st_mode, found.st_mtime_ns)
    return out


def _files(top: Path, *endings: str) -> dict[str, bytes]:
    out = {}
    for folder, _, names in os.walk(top):
        for name in names:
            path = Path(folder, name)
            if name.endswith(endings) and stat.S_ISREG(path.lstat().st_mode):
                out[str(path.relative_to(top))] = path.read_bytes()
    return out


def _refs(repo: "Repo") -> str:
    """Each ref, what it names, and the ref behind a symbolic one."""
    places = (
        _files(folder / name, "") for folder in (repo.common, repo.git_dir) for name in ("refs", "reftable")
    )
    packed = repo.common / "packed-refs"
    key = repr([*places, packed.read_bytes() if packed.exists() else b""]).encode()
    words = ("for-each-ref", "--format=%(refname) %(objectname) %(symref)")
    return _once("refs", key, lambda: repo.git_bytes(*words)).decode("utf-8", "surrogateescape").rstrip("\n")


def snapshot(repo: "Repo") -> Snapshot:
    """The state of a repository now."""
    head_file = (repo.git_dir / "HEAD").read_text().strip()
    said = _refs(repo)
    branch = head_file.removeprefix("ref: ") if head_file.startswith("ref: ") else None
    refs = dict(row.split(" ")[:2] for row in said.split("\n") if row)
    head = refs.get(branch) if branch else head_file
    common = repo.common
    index, flags = _index(repo)
    objects = {name for _, _, names in os.walk(common / "objects") for name in names}
    found = Snapshot(
        head, branch, said + "\n" + head_file, _files(common / "logs", ""), index,
        flags, _head_entries(repo, head), _walk(repo.root),
        _files(repo.state, ".files", ".jsonl", ".commits", ".json"), objects,
    )  # fmt: skip
    for path in {*found.index, *found.entries}:
        rows, entry = found.index.get(path, []), found.entries.get(path)
        if rows != ([entry] if entry else []):
            found.staged[path] = (entry, rows)
    return found


@contextlib.contextmanager
def closing_checks(repo: "Repo", *, moves: bool = True, on: bool = True) -> Iterator[None]:
    """Run all of them around a block; without ``moves`` the block is *Refused* and must change nothing.

    Only for a ``with`` block that writes by ``git ralph`` alone: what a user does inside would count.
    """
    if not on:
        yield
        return
    before = snapshot(repo)
    yield
    after = snapshot(repo)
    if not moves:
        nothing_moved(before, after)
    staged_diff_is_kept(before, after)
    no_phantom(before, after)
    tree_is_untouched(before, after)
    records_are_conserved(repo, before, after)
    repository_is_sound(repo, before, after)
    no_lock_is_left(repo)


def committed(before: Snapshot, after: Snapshot) -> set[str]:
    """The paths in which the two HEADs differ."""
    both = {*before.entries, *after.entries}
    return {path for path in both if before.entries.get(path) != after.entries.get(path)}


def nothing_moved(before: Snapshot, after: Snapshot) -> None:
    """*Refused*: no ref, reflog, index entry, record or reachable object is new or changed."""
    assert after.refs == before.refs
    assert after.logs == before.logs
    assert after.index == before.index
    assert after.flags == before.flags
    assert after.records == before.records


def staged_diff_is_kept(before: Snapshot, after: Snapshot) -> None:
    """The staged change of every path that was not committed."""
    done = committed(before, after)
    was = {path: row for path, row in before.staged.items() if path not in done}
    now = {path: row for path, row in after.staged.items() if path not in done}
    assert now == was, "the staged diff changed"


def no_phantom(before: Snapshot, after: Snapshot) -> None:
    """A committed path that the user had not staged is the same in index and HEAD."""
    done = committed(before, after) - set(before.staged)
    assert not done & set(after.staged), "a committed path shows up as staged"


def tree_is_untouched(before: Snapshot, after: Snapshot) -> None:
    """Bytes, modes and mtimes in the working tree."""
    for path in {*before.tree, *after.tree}:
        assert after.tree.get(path) == before.tree.get(path), f"{path} changed"


def _lines(data: bytes) -> list[tuple[int, dict[str, Any]]]:
    out, at = [], 0
    while (end := data.find(b"\n", at)) >= 0:
        try:
            fields = json.loads(data[at:end])
            if isinstance(fields, dict):
                out.append((at, fields))
        except ValueError:
            pass
        at = end + 1
    return out


def records_are_conserved(repo: "Repo", before: Snapshot, after: Snapshot) -> None:
    """What was recorded is still there, and is pending, in a commit, or consumed with a note."""
    for name, data in before.records.items():
        if not name.endswith(".json"):
            assert after.records.get(name, b"").startswith(data), f"{name} was rewritten"
    for name, data in after.records.items():
        if "edits/" in name and name.endswith(".jsonl"):
            _journal_is_conserved(repo, name, _lines(data))
        elif name.endswith(".commits"):
            for _, fields in _lines(data):
                _consumption_is_explained(repo, name, fields)


def _journal_is_conserved(repo: "Repo", name: str, lines: list[tuple[int, dict[str, Any]]]) -> None:
    takes = [fields for _, fields in lines if "upto" in fields]
    for fields in takes:
        _consumption_is_explained(repo, name, fields)
    for offset, fields in lines:
        take = _taker(offset, fields, takes) if "op" in fields else None
        if take is not None and take["commit"] is not None and not take.get("note"):
            path = fields["path"]
            assert path in repo.changes(take["commit"]), f"{name}: {path} is not in the commit named"


def _taker(offset: int, record: dict[str, Any], takes: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The consumption line that took a record whole, None while something of it is pending."""
    for take in takes:
        if take["session"] == record["session"] and take["upto"] > offset:
            left = [str(unit).split(".")[0] for unit in take.get("left") or ()]
            if str(offset) not in left:
                return take
    return None


def _consumption_is_explained(repo: "Repo", name: str, fields: dict[str, Any]) -> None:
    if fields["commit"] is None:
        assert fields.get("note"), f"{name} consumed records without a note"
    else:
        repo.has_commit(fields["commit"])


def repository_is_sound(repo: "Repo", before: Snapshot, after: Snapshot) -> None:
    """git fsck is clean; both reflogs name the new commit."""
    if (after.objects, after.refs, after.index) != (before.objects, before.refs, before.index):
        assert repo.git(*FSCK) == "", "fsck"
    if after.head == before.head:
        return
    names = ["HEAD", after.branch] if after.branch else ["HEAD"]
    for name in names:
        assert _last_of_log(repo, name) == after.head, f"the reflog of {name}"


def _last_of_log(repo: "Repo", name: str) -> str:
    file = (repo.git_dir if name == "HEAD" else repo.common) / "logs" / name
    try:
        return file.read_text(errors="replace").splitlines()[-1].split(" ")[1]
    except FileNotFoundError:  # another backend's
        return repo.git("rev-parse", f"{name}@{{0}}")


def no_lock_is_left(repo: "Repo") -> None:
    """No git lock file, no lock of ours still held, no landing half done."""
    common, state = repo.common, repo.state
    locks = [path for path in _files(common, ".lock") if "ralph-sessions/" not in path]
    assert locks == [], "a lock file is left"
    assert not list(state.glob("intents/*")), "an intent is left"
    assert not list(state.glob("tmp/*")), "work in progress is left"
    for name in _files(state, ".lock", ".files", ".jsonl", ".commits"):
        with open(state / name, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
