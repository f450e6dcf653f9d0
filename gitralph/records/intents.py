"""What is about to be done, on disk for good before anything moves, so that the next command can finish it.

One store for all kinds: a file each, written whole, durable in file and name, moved aside when damaged.
What it means to finish or drop one is the business of who wrote it: ``FINISHED_BY`` names the module of each.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from gitralph.base import files, ids, jsonline
from gitralph.base.layout import Layout
from gitralph.git.context import Context
from gitralph.hook.journal import is_oid

Kind = TypeVar("Kind", "Intent", "Merging", "Narrowed", "Rewriting", "Restaging")

_LIMIT = 64 << 20
# Stands for a commit that git has yet to make, in the lines that will name it.
TO_COME = "0" * 40


@dataclass
class Intent:
    """A commit about to land. Paths are surrogate-escaped text; entries are ``[mode, oid]`` or None.

    ``back``: the branch goes back to it from ``old``, a commit that is taken back. ``lines`` are the
    lines of the log to append: ``[file kind, session, path, fields]``.
    """

    commit: str
    ref: str | None
    old: str | None
    git_dir: str
    token: str
    index: list[list[object]] = field(default_factory=list)
    lines: list[list[object]] = field(default_factory=list)
    prepared: dict[str, str] = field(default_factory=dict)
    back: bool = False

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
        if self.back not in (True, False) or (self.back and self.old is None):
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


@dataclass
class Narrowed:
    """A plain ``git commit`` that the guard narrowed to one session, as long as git is making it.

    ``git`` is the process that does; ``tree`` what it is to commit on ``old``, ``form`` where it commits
    from (see ``git/plain_index.py``). ``index`` are rows ``[path, before, after]`` of the user's index once
    the commit is made, ``swapped`` the same of the index that git reads while it is narrowed. ``lock`` is
    the device and inode of an ``index.lock`` of git's own. ``lines`` name no commit yet.
    """

    git: dict[str, object]
    session: str
    ref: str | None
    old: str | None
    tree: str
    git_dir: str
    token: str
    form: str
    held: bool = True
    lock: list[int] = field(default_factory=list)
    trailers: list[str] = field(default_factory=list)
    index: list[list[object]] = field(default_factory=list)
    swapped: list[list[object]] = field(default_factory=list)
    lines: list[list[object]] = field(default_factory=list)
    prepared: dict[str, str] = field(default_factory=dict)

    @property
    def file(self) -> str:
        return f"{self.git.get('pid')}.json"

    def is_sound(self) -> bool:
        """True when every field has its type."""
        process = isinstance(self.git, dict) and type(self.git.get("pid")) is int
        names = ids.is_valid(self.session) and is_oid(self.tree) and isinstance(self.held, bool)
        lists = (self.lock, self.trailers, self.index, self.swapped, self.lines)
        if not (process and names and all(isinstance(one, list) for one in lists)):
            return False
        whole = Intent(
            commit=self.tree,
            ref=self.ref,
            old=self.old,
            git_dir=self.git_dir,
            token=self.token,
            index=[*self.index, *self.swapped],
            lines=self.lines,
            prepared=self.prepared,
        )
        words = isinstance(self.form, str) and all(isinstance(one, str) for one in self.trailers)
        return words and all(type(one) is int for one in self.lock) and whole.is_sound()

    def made(self, commit: str) -> Intent:
        """The same once git has made the commit: what is left to do is what any commit of ours leaves."""
        lines = [[*line[:3], _naming(line[3], commit)] for line in self.lines]
        prepared = {"index": self.prepared.get("final", "")}
        return Intent(
            commit=commit,
            ref=self.ref,
            old=self.old,
            git_dir=self.git_dir,
            token=self.token,
            index=self.index,
            lines=lines,
            prepared=prepared,
        )


def _naming(fields: object, commit: str) -> object:
    if isinstance(fields, dict) and fields.get("commit") == TO_COME:
        return {**fields, "commit": commit}
    return fields


@dataclass
class Rewriting:
    """Files of one working tree about to be replaced. ``git_dir`` and ``token`` say of which.

    A row is ``[path, [mode, text id] or None before, the same after, work file, journal's length,
    [session, record]...]``: the records are journal lines to append once the file is in place. None before
    and after: the file stays, whatever it is.
    """

    name: str
    git_dir: str
    token: str
    rows: list[list[object]] = field(default_factory=list)
    prepared: dict[str, str] = field(default_factory=dict)

    @property
    def file(self) -> str:
        return f"{_FILES}{self.name}.json"

    def is_sound(self) -> bool:
        """True when every field has its type."""
        texts = all(isinstance(one, str) for one in (self.name, self.git_dir, self.token))
        if not (texts and ids.is_valid(self.name) and isinstance(self.rows, list)):
            return False
        return _is_prepared(self.prepared) and all(_is_rewriting_row(row) for row in self.rows)


@dataclass
class Restaging:
    """What a session's shell commands staged is about to be put back; ``git_dir`` and ``token`` say where.

    What that is, is asked when it is done: what a person staged since is not. The fast lane writes it too
    (``hook.staging``).
    """

    git_dir: str
    token: str
    session: str

    @property
    def file(self) -> str:
        return os.path.basename(Layout("", self.token).restaging(self.session))

    @property
    def prepared(self) -> dict[str, str]:
        """The new index, by a name that tells whose it is: the lock of a killed one is known by it."""
        return {"index": f"{self.file}.index"}

    def is_sound(self) -> bool:
        """True when every field has its type."""
        texts = all(isinstance(one, str) for one in (self.git_dir, self.token, self.session))
        return texts and ids.is_valid(self.session)


_FILES, _STAGE = "files-", "stage-"
AnyIntent = Intent | Merging | Narrowed | Rewriting | Restaging

# In this order: a merge first, since the work folders tell whose a lock file is. Loaded by name, as click
# loads a command: most rooms that begin something lie above this one.
FINISHED_BY: dict[type[AnyIntent], str] = {
    Merging: "gitralph.tasks.worktree.recover_merge",
    Intent: "gitralph.commit.land",
    Rewriting: "gitralph.takeback.land_files",
    Narrowed: "gitralph.guard.recover_narrowed",
    Restaging: "gitralph.commit.restage",
}


def _is_ref(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.startswith("refs/") and ".." not in value)


def _is_prepared(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(one, str) and os.path.basename(one) not in ("", ".", "..") for one in value.values()
    )


def _is_entry(value: object) -> bool:
    if value is None:
        return True
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], str):
        return False
    return value[0].isdigit() and not set("89") & set(value[0]) and is_oid(value[1])


def _is_rewriting_row(row: object) -> bool:
    if not isinstance(row, list) or len(row) != 6:
        return False
    path, before, after, work, length, records = row
    names = (
        isinstance(path, str) and isinstance(work, str) and "/" not in work and work not in ("", ".", "..")
    )
    pairs = isinstance(records, list) and all(
        isinstance(one, list) and len(one) == 2 and all(isinstance(text, str) for text in one)
        for one in records
    )
    return names and pairs and type(length) is int and _is_entry(before) and _is_entry(after)


def _folder(layout: Layout, kind: type[AnyIntent]) -> str:
    if kind is Narrowed:
        return layout.narrowed
    return layout.merges if kind is Merging else layout.intents


def _path(layout: Layout, plan: AnyIntent) -> str:
    return f"{_folder(layout, type(plan))}/{plan.file}"


def write(layout: Layout, plan: AnyIntent) -> None:
    """Put an intent on disk for good before anything moves."""
    files.write_for_good(_path(layout, plan), json.dumps(asdict(plan), indent=1).encode("ascii") + b"\n")


def remove(layout: Layout, plan: AnyIntent) -> None:
    """Forget one that was finished or dropped, with its prepared files.

    Not made durable: one that comes back after a power cut is finished once more, and finds nothing to do.
    """
    for prepared in plan.prepared.values():
        _unlink(f"{layout.tmp}/{os.path.basename(prepared)}")
    _unlink(_path(layout, plan))


def _unlink(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _load(layout: Layout, path: str, kind: type[Kind]) -> Kind | None:
    try:
        # What an intent says is acted on with the right to move refs, so it is checked whole before anything
        # is believed.
        told: dict[str, Any] = jsonline.object_in(files.read_bytes(path, _LIMIT))
        plan = kind(**told)
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    if not (plan.is_sound() and plan.file == os.path.basename(path)):
        return None
    if isinstance(plan, Narrowed):
        # They are renamed and unlinked, so a name alone is believed: the folder is ours.
        plan.prepared = {key: f"{layout.tmp}/{os.path.basename(one)}" for key, one in plan.prepared.items()}
    return plan


def names(layout: Layout, kind: type[AnyIntent]) -> list[str]:
    """The files of what is unfinished; one readdir, normally of an empty folder."""
    try:
        found = sorted(os.listdir(_folder(layout, kind)))
    except FileNotFoundError:
        return []
    wanted = {Rewriting: _FILES, Restaging: _STAGE}.get(kind, "")
    return [name for name in found if _prefix(name) == wanted]


def _prefix(name: str) -> str:
    return next((prefix for prefix in (_FILES, _STAGE) if name.startswith(prefix)), "")


def of_process(layout: Layout, pid: int) -> Narrowed | None:
    """What the guard narrowed of the ``git commit`` that runs as this process."""
    return _load(layout, f"{layout.narrowed}/{pid}.json", Narrowed)


def recover(ctx: Context) -> list[str]:
    """Finish or drop all that was cut short, under the commit lock; returns the commits it finished."""
    finished = list[str]()
    for kind, module in FINISHED_BY.items():
        if names(ctx.layout, kind):  # one readdir, and seldom is there anything
            finished += importlib.import_module(module).recover(ctx)
    return finished


def unfinished(layout: Layout, kind: type[Kind]) -> Iterator[Kind]:
    """Every intent of a kind on disk; a damaged one cannot be acted on and is moved aside."""
    for name in names(layout, kind):
        path = f"{_folder(layout, kind)}/{name}"
        # A kill before the rename: nothing had moved then, or the intent would have its name.
        if name.endswith(".tmp"):
            _unlink(path)
        elif name.endswith(".json"):
            plan = _load(layout, path, kind)
            if plan is None:
                # Kept for whoever looks into it: deleting the only trace of a commit cut short would be worse
                # than a stray file.
                os.replace(path, path + ".damaged")
            else:
                yield plan
