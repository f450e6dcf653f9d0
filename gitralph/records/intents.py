"""Intents: what is about to be done, on disk before anything moves, so the next command can finish it.

One store holds all kinds: one file for each intent, written whole, durable in file and name, and moved aside
when damaged. The module that wrote an intent knows how to finish or drop it: ``FINISHED_BY`` names that
module for each kind.
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
# Stands for a commit that git has yet to make, in lines that will name it.
TO_COME = "0" * 40


@dataclass
class Intent:
    """A commit about to land. Paths are surrogate-escaped text; entries are ``[mode, oid]`` or None.

    ``back``: a commit is taken back, so the branch goes back from ``old`` to ``commit``. ``lines`` are the
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
        """True when every field has its type; whoever acts on an intent trusts the types."""
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
    """A plain ``git commit`` that the guard narrowed to one session, while git is making it.

    ``git`` is the process that makes it. ``tree`` is the tree to commit on ``old``. ``form`` says from which
    index git commits (see ``git/plain_index.py``). ``index`` are rows ``[path, before, after]`` of the user's
    index after the commit. ``swapped`` are such rows of the index that git reads while it is narrowed.
    ``lock`` is the device and inode of git's own ``index.lock``. ``lines`` name no commit yet.
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
        """This commit as an ordinary intent, once git has made it: the rest is done as for ours."""
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
    """Files of one working tree about to be replaced. ``git_dir`` and ``token`` name the worktree.

    A row is ``[path, [mode, text id] or None before, the same after, work file, journal's length, [session,
    record]...]``. The records are journal lines to append once the file is in place. None both before and
    after: the file stays, whatever it is.
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

    The entries are looked up when the work is done: what a person staged since stays. The fast lane writes
    this intent too (``hook.staging``).
    """

    git_dir: str
    token: str
    session: str

    @property
    def file(self) -> str:
        return os.path.basename(Layout("", self.token).restaging(self.session))

    @property
    def prepared(self) -> dict[str, str]:
        """The path of the new index.

        Its name tells whose it is, so the lock of a killed process can be recognised.
        """
        return {"index": f"{self.file}.index"}

    def is_sound(self) -> bool:
        """True when every field has its type."""
        texts = all(isinstance(one, str) for one in (self.git_dir, self.token, self.session))
        return texts and ids.is_valid(self.session)


_FILES, _STAGE = "files-", "stage-"
AnyIntent = Intent | Merging | Narrowed | Rewriting | Restaging

# The order matters: a merge comes first, since the work folders tell whose a lock file is. The modules are
# loaded by name, as click loads a command: most rooms that write an intent lie above this one.
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
    """Write an intent durably before anything moves."""
    files.write_for_good(_path(layout, plan), json.dumps(asdict(plan), indent=1).encode("ascii") + b"\n")


def remove(layout: Layout, plan: AnyIntent) -> None:
    """Remove an intent that was finished or dropped, with its prepared files.

    The removal is not made durable. An intent that comes back after a power cut is finished once more, and
    finds nothing to do.
    """
    for prepared in plan.prepared.values():
        _unlink(f"{layout.tmp}/{os.path.basename(prepared)}")
    _unlink(_path(layout, plan))


def _unlink(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _load(layout: Layout, path: str, kind: type[Kind]) -> Kind | None:
    try:
        # Whoever acts on an intent moves refs. So it is checked whole before anything of it is believed.
        told: dict[str, Any] = jsonline.object_in(files.read_bytes(path, _LIMIT))
        plan = kind(**told)
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    if not (plan.is_sound() and plan.file == os.path.basename(path)):
        return None
    if isinstance(plan, Narrowed):
        # These files are renamed and unlinked, so only their names are believed: the folder is ours.
        plan.prepared = {key: f"{layout.tmp}/{os.path.basename(one)}" for key, one in plan.prepared.items()}
    return plan


def names(layout: Layout, kind: type[AnyIntent]) -> list[str]:
    """The files of unfinished intents of a kind: one readdir, normally of an empty folder."""
    wanted = {Rewriting: _FILES, Restaging: _STAGE}.get(kind, "")
    return [name for name in files.names(_folder(layout, kind)) if _prefix(name) == wanted]


def _prefix(name: str) -> str:
    return next((prefix for prefix in (_FILES, _STAGE) if name.startswith(prefix)), "")


def of_process(layout: Layout, pid: int) -> Narrowed | None:
    """The intent of the narrowed ``git commit`` that runs as this process; None without one."""
    return _load(layout, f"{layout.narrowed}/{pid}.json", Narrowed)


def recover(ctx: Context) -> None:
    """Finish or drop everything that was cut short, under the commit lock."""
    for kind, module in FINISHED_BY.items():
        if names(ctx.layout, kind):  # one readdir, and seldom is anything there
            importlib.import_module(module).recover(ctx)


def unfinished(layout: Layout, kind: type[Kind]) -> Iterator[Kind]:
    """Every intent of a kind on disk. A damaged one cannot be used and is moved aside."""
    for name in names(layout, kind):
        path = f"{_folder(layout, kind)}/{name}"
        # A kill came before the rename. Nothing had moved then, or the intent would have its final name.
        if name.endswith(".tmp"):
            _unlink(path)
        elif name.endswith(".json"):
            plan = _load(layout, path, kind)
            if plan is None:
                # Keep the file for whoever looks into it: to delete the only trace of a commit cut short
                # would be worse than a stray file.
                os.replace(path, path + ".damaged")
            else:
                yield plan
