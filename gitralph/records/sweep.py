"""What ``gc`` may remove below ralph-sessions/: journals, call files, texts and shell commands.

This is the only code that deletes a journal, and only under the journal's lock. A hook that waited for the
lock compares the inode again and starts a new file. Callers hold the commit lock, so no commit is landing. Of
shell commands the old ones are removed, and those whose end nobody can tell any more.
"""

import contextlib
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from gitralph.base import files, jsonline
from gitralph.base.layout import Layout
from gitralph.hook import journal, sessionfile, windows
from gitralph.hook import names as session_naming
from gitralph.hook.journal import Journal
from gitralph.records import manifests, path_records

# In seconds. A client may wait for a person's permission between pre and post, overnight too.
CALL_AGE = 24 * 3600.0
# In seconds. No write of ours takes an hour; a younger file may belong to a running process.
LEFT_AGE = 3600.0
# In bytes. This bounds memory, not use: no file of ours comes near it, but a foreign one may.
_LIMIT = 1 << 30
# A hook holds a journal's lock for milliseconds; gc rather skips a journal than keeps anybody waiting.
WAIT = 2.0
# A text set aside keeps its id in its name, so that the next run can put it back after a kill.
_ASIDE = ".gc"
# Matched by pattern, not parsed: a damaged line still names the texts it needs, and none of these may go.
_TEXT_ID = re.compile(rb'"(?:before|after)":"([0-9a-f]{40})"')


@dataclass(frozen=True)
class Swept:
    """One thing that was removed, or would be: its kind, its name below the state folder, its bytes."""

    kind: str
    name: str
    size: int


@dataclass
class Sweep:
    """One run. ``dry`` removes nothing. ``now`` and ``cutoff`` are times, ``busy`` are locked files."""

    top: str
    now: float
    cutoff: float
    dry: bool = False
    swept: list[Swept] = field(default_factory=list)
    busy: list[str] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)

    def note(self, kind: str, path: str, size: int) -> None:
        """Count one thing."""
        self.gone.add(path)
        self.swept.append(Swept(kind, os.path.relpath(path, self.top), size))

    def unlink(self, kind: str, path: str) -> None:
        """Remove and count one file, if it is still there."""
        try:
            size = os.lstat(path).st_size
            if not self.dry:
                os.unlink(path)
        except FileNotFoundError:
            return
        self.note(kind, path, size)


# --- journals ---


def claimed(lay: Layout) -> set[str]:
    """The journals of paths for which a manifest has lines that no commit has taken.

    A manifest line that a hook adds meanwhile comes with a record under the same lock. So looking at
    manifests beforehand is enough; a claim needs no journal.
    """
    found: set[str] = set()
    for session in manifests.sessions_here(lay):
        found.update(lay.journal(path) for path in path_records.claims(lay, session).fresh)
    return found


NO, A_WHILE, YES = "no", "a while", "yes"
"""How long a journal is needed. "A while": a stash may bring back what it tells of."""

Needed = Callable[[Journal], str]


def journals(sweep: Sweep, lay: Layout, needed: Callable[[bytes, Journal], str]) -> None:
    """Remove the journals of one worktree that are no longer needed; ``needed`` tells by path."""
    kept, paths = claimed(lay), paths_of(lay)
    for name in files.names(lay.edits, ".jsonl"):
        path = f"{lay.edits}/{name}"
        if path not in kept:
            known = paths.get(path)
            journal_of_nothing(sweep, path, partial(needed, known) if known is not None else _forgotten)


def paths_of(lay: Layout) -> dict[str, bytes]:
    """The path that each journal is of."""
    lines = [manifests.read(lay, session).lines for session in manifests.sessions_here(lay)]
    by_shell = [{*(window.rows or ()), *window.so_far} for window in windows.read(lay)]
    return {lay.journal(path): path for found in (*lines, *by_shell) for path in found}


def _forgotten(_: Journal) -> str:
    """A journal whose path no manifest names is not needed: its sessions were forgotten.

    A hook writes the manifest before the record, so no young journal is meant.
    """
    return NO


def journal_of_nothing(sweep: Sweep, path: str, needed: Needed) -> None:
    """Remove one journal that is not :func:`claimed`, if it is not needed."""
    try:
        _journal(sweep, path, needed)
    except files.LockTimeoutError:
        sweep.busy.append(path)
    except OSError:
        pass  # not a regular file, or gone: nothing of ours


def _open_existing(path: str) -> int:
    """The locked journal. Unlike ``files.open_locked`` this never creates one."""
    fd = files.open_regular(path, os.O_RDONLY)
    try:
        files.lock(fd, path, wait=WAIT)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _journal(sweep: Sweep, path: str, needed: Needed) -> None:
    fd = _open_existing(path)
    try:
        facts = os.fstat(fd)
        how = needed(journal.parse(os.pread(fd, min(facts.st_size, _LIMIT), 0)))
        if how == NO or (how == A_WHILE and facts.st_mtime < sweep.cutoff):
            sweep.unlink("journal", path)
    finally:
        os.close(fd)


# --- what a pre event saw ---


def calls(sweep: Sweep, lay: Layout) -> None:
    """Remove what pre events kept whose post event never came."""
    for session in files.names(lay.calls):
        folder = f"{lay.calls}/{session}"
        for name in files.names(folder):
            path = f"{folder}/{name}"
            if os.lstat(path).st_mtime < sweep.now - CALL_AGE:
                sweep.unlink("call", path)
        if not sweep.dry and os.path.isdir(folder) and not os.path.islink(folder):
            _drop_folder(sweep, folder)


def _drop_folder(sweep: Sweep, folder: str) -> None:
    """Remove an empty folder; not a young one, into which a hook may be about to write."""
    if os.stat(folder).st_mtime < sweep.now - CALL_AGE:
        with contextlib.suppress(OSError):
            os.rmdir(folder)


# --- names of sessions ---


def session_names(sweep: Sweep, lay: Layout) -> None:
    """Remove names of sessions that have no record any more, or were renamed.

    Young names stay: a hook writes the name before the record that tells it.
    """
    for name in session_naming.everyone(lay):
        session, path = session_naming.holder(lay, name), lay.name(name)
        records = () if session is None else (lay.record(session), lay.finished_record(session))
        if session is not None and any(map(os.path.lexists, records)):
            record = sessionfile.read(lay, session)
            if record is None or record.get("name") == name:
                continue
        if os.lstat(path).st_mtime < sweep.now - LEFT_AGE:
            sweep.unlink("session", path)


# --- what a kill left ---


def leftovers(sweep: Sweep, lay: Layout) -> None:
    """Remove files that were being written when their process was killed, once they are an hour old."""
    objects = f"{lay.top}/objects"
    folders = [
        lay.top,
        lay.own,
        lay.finished,
        lay.edits,
        lay.intents,
        lay.names,
        *(f"{objects}/{shard}" for shard in files.names(objects)),
    ]
    for folder in dict.fromkeys(folders):
        for name in files.names(folder, ".tmp"):
            path = f"{folder}/{name}"
            if os.lstat(path).st_mtime < sweep.now - LEFT_AGE:
                sweep.unlink("work", path)


# --- texts ---


def _references(path: str) -> set[str]:
    """The text ids in a journal, read while no hook is between storing a text and its record."""
    try:
        fd = files.open_regular(path, os.O_RDONLY)
    except OSError:
        return set()
    try:
        files.lock(fd, path, files.SHARED, wait=WAIT)
        data = os.pread(fd, min(os.fstat(fd).st_size, _LIMIT), 0)
    finally:
        os.close(fd)
    return {found.decode() for found in _TEXT_ID.findall(data)}


def _wanted(sweep: Sweep, layouts: Iterable[Layout]) -> set[str]:
    """The texts to which any journal refers. A journal that a dry run counts as gone is left out.

    Raises LockTimeoutError.
    """
    found: set[str] = set()
    for lay in layouts:
        for name in files.names(lay.edits, ".jsonl"):
            path = f"{lay.edits}/{name}"
            if path not in sweep.gone:
                found |= _references(path)
    return found


def _stored(top: str) -> Iterator[tuple[str, str]]:
    """Every text with its id, also those that an earlier run left set aside."""
    for shard in files.names(f"{top}/objects"):
        for name in files.names(f"{top}/objects/{shard}"):
            path = f"{top}/objects/{shard}/{name}"
            if not name.endswith(".tmp") and stat.S_ISREG(os.lstat(path).st_mode):
                yield shard + name.removesuffix(_ASIDE), path


def texts(sweep: Sweep, layouts: list[Layout]) -> None:
    """Remove texts to which no journal of ``layouts`` refers.

    A hook may find a text and go on to append a record that needs it. So a text is first set aside, then
    every journal is read again under its lock, and a text that is needed after all is put back.
    """
    try:
        wanted = _wanted(sweep, layouts)
        if not sweep.dry:
            _put_back(sweep.top, wanted)  # what a killed run left
            if not _set_aside(sweep.top, wanted):
                return
            wanted = _wanted(sweep, layouts)
            _put_back(sweep.top, wanted)
    except files.LockTimeoutError as error:
        sweep.busy.append(str(error.filename))
        _put_back(sweep.top, None)
        return
    for oid, path in list(_stored(sweep.top)):
        if oid not in wanted and (sweep.dry or path.endswith(_ASIDE)):
            sweep.unlink("text", path)


def _set_aside(top: str, wanted: set[str]) -> bool:
    """Rename every text that is not wanted; False when there is none."""
    unwanted = [path for oid, path in _stored(top) if oid not in wanted]
    for path in unwanted:
        if not path.endswith(_ASIDE):
            os.rename(path, path + _ASIDE)
    return bool(unwanted)


def _put_back(top: str, wanted: set[str] | None) -> None:
    """Give texts their names back: those that are ``wanted``, or all."""
    for oid, path in list(_stored(top)):
        if path.endswith(_ASIDE) and (wanted is None or oid in wanted):
            os.replace(path, path.removesuffix(_ASIDE))


_SHELLS_LIMIT = 256 << 20


def _text(fields: dict[str, object], key: str) -> str:
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def _stamp(when: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))


def _unneeded(layout: Layout, rows: list[dict[str, object]], sweep: Sweep) -> set[str]:
    """Commands from before the cut-off, and those whose end nobody can tell any more."""
    opened = {name: row for row in rows if (name := _text(row, "open"))}
    closed = {_text(row, "close") for row in rows}
    out = set()
    for name, row in opened.items():
        began, call = _text(row, "ts"), _text(row, "call") or _text(row, "tool")
        lost = name not in closed and began < _stamp(sweep.now - CALL_AGE)
        if lost and os.path.lexists(layout.shell_call(_text(row, "session"), call)):
            lost = False
        if lost or began < _stamp(sweep.cutoff):
            out.add(name)
    return out


def shells(sweep: Sweep, layout: Layout) -> None:
    """Remove old commands, under the file's lock; those that append meanwhile go on in the new file."""
    if not os.path.isfile(layout.shells):
        return
    with files.Locked(layout.shells):
        lines = files.read_bytes(layout.shells, _SHELLS_LIMIT).splitlines(keepends=True)
        rows = [_fields(line) for line in lines]
        gone = _unneeded(layout, rows, sweep)
        kept = [
            x for x, row in zip(lines, rows, strict=True) if not {row.get("open"), row.get("close")} & gone
        ]
        if len(kept) == len(lines):
            return
        size = sum(map(len, lines)) - sum(map(len, kept))
        if not sweep.dry:
            files.write_whole(layout.shells, b"".join(kept))
        sweep.swept.append(Swept("shell", os.path.relpath(layout.shells, sweep.top), size))


def _fields(line: bytes) -> dict[str, object]:
    try:
        fields = jsonline.object_in(line)
    except ValueError:
        return {}
    return {key: item for key, item in fields.items() if not isinstance(item, (dict, list))}
