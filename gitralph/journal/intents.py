"""What is about to be done, on disk for good before anything moves, so that the next command can finish it.

One store for all kinds: a file each, written whole, durable in file and name, moved aside when damaged.
What it means to finish or drop one is the business of who wrote it: ``land`` for commits, the
worktrees' ``settle`` for merges.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import TypeVar

from gitralph.base import files, ids
from gitralph.base.layout import Layout
from gitralph.hook.journal import is_oid

_LIMIT = 64 << 20


@dataclass
class Intent:
    """A commit about to land. Paths are surrogate-escaped text; entries are ``[mode, oid]`` or None.

    ``lines`` are the consumption records to append: ``[file kind, session, path, fields]``.
    """

    commit: str
    ref: str | None
    old: str | None
    git_dir: str
    token: str
    index: list[list[object]] = field(default_factory=list)
    lines: list[list[object]] = field(default_factory=list)
    prepared: dict[str, str] = field(default_factory=dict)

    @property
    def file(self) -> str:
        return f"{self.commit}.json"

    def is_sound(self) -> bool:
        """True when every field has its type; what acts on an intent trusts them."""
        names = is_oid(self.commit) and _is_ref(self.ref) and (self.old is None or is_oid(self.old))
        places = isinstance(self.git_dir, str) and isinstance(self.token, str)
        lists = isinstance(self.index, list) and isinstance(self.lines, list)
        if not (names and places and lists and _is_prepared(self.prepared)):
            return False
        rows = all(isinstance(row, list) and len(row) == 3 and isinstance(row[0], str) for row in self.index)
        return (
            rows
            and all(_is_entry(entry) for row in self.index for entry in row[1:])
            and all(isinstance(line, list) and len(line) == 4 for line in self.lines)
        )


@dataclass
class Merging:
    """A merge of a bead about to land. ``git_dir`` and ``root`` are the target's checkout, if it has one."""

    bead: str
    target: str
    old: str
    new: str
    git_dir: str | None = None
    root: str | None = None
    prepared: dict[str, str] = field(default_factory=dict)

    @property
    def file(self) -> str:
        return f"{self.bead}.json"

    def is_sound(self) -> bool:
        """True when every field has its type."""
        names = ids.is_bead(self.bead) and self.target is not None and _is_ref(self.target)
        places = all(place is None or isinstance(place, str) for place in (self.git_dir, self.root))
        return names and places and is_oid(self.old) and is_oid(self.new) and _is_prepared(self.prepared)


Kind = TypeVar("Kind", Intent, Merging)


def _is_ref(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.startswith("refs/") and ".." not in value)


def _is_prepared(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())


def _is_entry(value: object) -> bool:
    if value is None:
        return True
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], str):
        return False
    return value[0].isdigit() and not set("89") & set(value[0]) and is_oid(value[1])


def _folder(layout: Layout, kind: type[Intent] | type[Merging]) -> str:
    return layout.intents if kind is Intent else layout.merges


def _path(layout: Layout, plan: Intent | Merging) -> str:
    return f"{_folder(layout, type(plan))}/{plan.file}"


def write(layout: Layout, plan: Intent | Merging) -> None:
    """Put an intent on disk for good before anything moves."""
    files.write_for_good(_path(layout, plan), json.dumps(asdict(plan), indent=1).encode("ascii") + b"\n")


def remove(layout: Layout, plan: Intent | Merging) -> None:
    """Forget one that was finished or dropped, with its prepared files.

    Not made durable: one that comes back after a power cut is finished once more, and finds nothing to do.
    """
    for prepared in plan.prepared.values():
        _unlink(f"{layout.tmp}/{os.path.basename(prepared)}")
    _unlink(_path(layout, plan))


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def _load(path: str, kind: type[Kind]) -> Kind | None:
    try:
        # What an intent says is acted on with the right to move refs, so it is checked whole before anything
        # is believed.
        plan = kind(**json.loads(files.read_bytes(path, _LIMIT)))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return plan if plan.is_sound() and plan.file == os.path.basename(path) else None


def names(layout: Layout, kind: type[Intent] | type[Merging]) -> list[str]:
    """The files of what is unfinished; one readdir, normally of an empty folder."""
    try:
        return sorted(os.listdir(_folder(layout, kind)))
    except FileNotFoundError:
        return []


def unfinished(layout: Layout, kind: type[Kind]) -> Iterator[Kind]:
    """Every intent of a kind on disk; a damaged one cannot be acted on and is moved aside."""
    for name in names(layout, kind):
        path = f"{_folder(layout, kind)}/{name}"
        # A kill before the rename: nothing had moved then, or the intent would have its name.
        if name.endswith(".tmp"):
            _unlink(path)
        elif name.endswith(".json"):
            plan = _load(path, kind)
            if plan is None:
                # Kept for whoever looks into it: deleting the only trace of a commit cut short would be worse
                # than a stray file.
                os.replace(path, path + ".damaged")
            else:
                yield plan
