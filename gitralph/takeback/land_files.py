"""Lands new texts in the working tree with their records, and finishes a landing that was cut short.

Each file is replaced whole or not at all, and only if it still is what was read. One intent stands for a set
of files. Records of files that are not replaced land in the same way. All of it runs under the commit lock.
What an editor saves in between stays.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import NamedTuple

from gitralph.base import files, jsonline, treepath
from gitralph.base.errors import Fatal
from gitralph.base.layout import Layout
from gitralph.base.quote import line_form, shown
from gitralph.commit.land import WAIT
from gitralph.git.context import Context
from gitralph.git.placing import HeldFolder, drop_empty_folders
from gitralph.git.snapshot import ABSENT, Content, LeadsOutError, Worktree
from gitralph.hook import journal, sessionfile
from gitralph.hook.journal import Record
from gitralph.hook.record import path_text
from gitralph.records import intents, manifests
from gitralph.records.intents import Rewriting


class Replacement(NamedTuple):
    """One file to be replaced. ``length`` is the size of its journal, in bytes, when the file was read.

    ``records`` are appended in this order, each with its text before. ``work`` names the work files of a
    landing.
    """

    path: bytes
    before: Content
    after: Content
    length: int
    records: tuple[tuple[Record, bytes | None], ...]
    work: bytes = b""

    @property
    def letter(self) -> str:
        """git's letter: A for a file that comes, D for one that goes, M for a change."""
        return "A" if self.before.absent else "D" if self.after.absent else "M"

    @property
    def stays(self) -> bool:
        """True for a file that is not replaced: only its records land."""
        return self.before == self.after

    def encoded(self) -> list[object]:
        """A row of an intent."""
        lines = [
            [record.session, journal.encode(record, self.path).decode("ascii")] for record, _ in self.records
        ]
        forms = _form(self.before), _form(self.after)
        return [path_text(self.path), *forms, self.work.decode(), self.length, lines]


def land(ctx: Context, changes: Sequence[Replacement]) -> list[bytes]:
    """Replace files and record it. Returns the paths left as they are, since somebody changed them meanwhile.

    Raises OSError. The next command then finishes what had begun.
    """
    rows, plan = _planned(ctx, changes)
    files.make_folder(ctx.layout.tmp)
    moved: list[bytes] = []
    begun = False
    with Worktree(ctx.repo.root) as worktree:
        try:
            _prepare(ctx, worktree, rows)
            intents.write(ctx.layout, plan)
            for row in rows:
                if _replace(ctx, worktree, row):
                    begun = True
                else:
                    moved.append(row.path)
        except BaseException:
            # Once one file was exchanged, even without its record, the intent stays: the next command
            # finishes this file and the others.
            if not begun and not any(_has_begun(ctx, worktree, row) for row in rows):
                _clear(ctx, worktree, rows)
                intents.remove(ctx.layout, plan)
            raise
        _clear(ctx, worktree, rows)
    intents.remove(ctx.layout, plan)
    return moved


def record(
    ctx: Context, records: Mapping[bytes, tuple[Record, bytes | None]], held: Mapping[bytes, int]
) -> None:
    """Append records of files that are not replaced: all of them, or after a crash all by the next command.

    ``held`` are the locked journals, by path. Raises OSError. What had begun then is finished later.
    """
    changes = [
        Replacement(path, ABSENT, ABSENT, os.fstat(held[path]).st_size, (made,))
        for path, made in records.items()
    ]
    rows, plan = _planned(ctx, changes)
    begun = False
    try:
        _store(ctx, rows)
        intents.write(ctx.layout, plan)
        for row in rows:
            _record(ctx, held[row.path], row, set())
            begun = True
    except BaseException:
        if not begun and not any(_is_recorded(held[row.path], row) for row in rows):
            intents.remove(ctx.layout, plan)
        raise
    intents.remove(ctx.layout, plan)


def _planned(ctx: Context, changes: Sequence[Replacement]) -> tuple[list[Replacement], Rewriting]:
    stamp = f"{os.getpid()}-{os.urandom(6).hex()}"
    rows = [change._replace(work=b"%s.%d" % (stamp.encode(), at)) for at, change in enumerate(changes)]
    return rows, Rewriting(stamp, ctx.repo.git_dir, ctx.layout.token, [row.encoded() for row in rows])


def _form(content: Content) -> list[str] | None:
    return None if content.data is None else [f"{content.mode:o}", journal.text_id(content.data)]


def _prepare(ctx: Context, worktree: Worktree, rows: Sequence[Replacement]) -> None:
    """Do everything that can fail for want of space, before anything moves."""
    _store(ctx, rows)
    for row in rows:
        if not row.after.absent:
            with closing(_place(ctx, worktree, row)) as place:
                place.prepare(row.work, row.after, files.umask())


def _store(ctx: Context, rows: Sequence[Replacement]) -> None:
    """Store the sessions and texts that records and intent name."""
    for session in {record.session for row in rows for record, _ in row.records}:
        sessionfile.ensure(ctx.layout, session, ctx.repo.place)
    for row in rows:
        texts = [row.before.data, row.after.data, *(before for _, before in row.records)]
        for text in texts:
            if text is not None:
                # The text that goes is stored too. A redo needs it, and after a crash the intent has only the
                # ids of texts.
                journal.store_text(ctx.layout, text, journal.text_id(text))


def _place(ctx: Context, worktree: Worktree, row: Replacement) -> HeldFolder:
    try:
        return HeldFolder(worktree, row.path, ctx.layout.tmp, make=not row.after.absent)
    except LeadsOutError:
        raise Fatal(f"a folder on the way to '{shown(row.path)}' is a symbolic link") from None


def _clear(ctx: Context, worktree: Worktree, rows: Sequence[Replacement]) -> None:
    """Remove the work files, and folders that an undo emptied, as git does."""
    for row in (row for row in rows if not row.stays):
        try:
            place = HeldFolder(worktree, row.path, ctx.layout.tmp, make=False)
        except (FileNotFoundError, LeadsOutError):
            continue
        with closing(place):
            place.drop(row.work)
            gone = place.now().absent
        if gone:
            drop_empty_folders(worktree, row.path, ctx.repo.prefix.rstrip(b"/"))


def _replace(ctx: Context, worktree: Worktree, row: Replacement) -> bool:
    """Replace one file and write its records under its journal's lock; False where the file has changed."""
    with files.Locked(ctx.layout.journal(row.path), WAIT) as fd:
        # A hook has recorded an edit since, so the decision was about another text.
        if os.fstat(fd).st_size != row.length:
            return False
        with closing(_place(ctx, worktree, row)) as place:
            if not place.put(row.work, row.before, row.after):
                return False
            _record(ctx, fd, row, set())
            place.sync()
    return True


def _record(ctx: Context, fd: int, row: Replacement, known: set[tuple[str | None, ...]]) -> None:
    """Append the records that are not in ``known``.

    The record comes before the manifest's line, unlike in a hook. A manifest line without a record would
    claim the whole file, while the intent leads to a record without the line.
    """
    written = last_written(ctx, row.path)
    for record, before in row.records:
        if _key(record) not in known:
            record.mtime = written
            journal.append(ctx.layout, fd, row.path, record, before)
            sessionfile.claim(ctx.layout, record.session, line_form(row.path), WAIT)


def _name(ctx: Context, row: Replacement) -> None:
    """Put the path into the manifests of the sessions with a record of it; a crash had come between."""
    for session in {record.session for record, _ in row.records}:
        if row.path not in manifests.read(ctx.layout, session).lines:
            sessionfile.claim(ctx.layout, session, line_form(row.path), WAIT)


def last_written(ctx: Context, path: bytes) -> int | None:
    """When a file was last written, in nanoseconds; tells a correction from a file that git put back."""
    try:
        return os.lstat(os.path.join(os.fsencode(ctx.repo.root), path)).st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        return None


# --- after a crash ---

_PASSING = frozenset([errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS])


def recover(ctx: Context) -> None:
    """Finish the landings of this worktree that had begun, and drop the others. Idempotent."""
    for plan in list(intents.unfinished(ctx.layout, Rewriting)):
        here = plan.token == ctx.layout.token and plan.git_dir == ctx.repo.git_dir
        if here:
            _finish(ctx, plan)
        # Files of another worktree are finished there, as long as that worktree exists.
        if here or not os.path.isdir(plan.git_dir):
            intents.remove(ctx.layout, plan)


def _finish(ctx: Context, plan: Rewriting) -> None:
    rows = [row for row in (_decoded(ctx.layout, one) for one in plan.rows) if row is not None]
    with Worktree(ctx.repo.root) as worktree:
        # Nothing had moved. Whoever asked was not told that it was done, and may ask again.
        if any(_has_begun(ctx, worktree, row) for row in rows):
            for row in rows:
                try:
                    _finish_row(ctx, worktree, row)
                except (OSError, Fatal) as error:
                    # A full or failing disk recovers some day, so the intent waits for the next command.
                    if isinstance(error, OSError) and error.errno in _PASSING:
                        raise
                    continue  # the folder is gone or closed to us, so what stands there stays
        _clear(ctx, worktree, rows)


def _decoded(lay: Layout, encoded: list[object]) -> Replacement | None:
    """A row of an intent, checked; None for a row that no landing of ours wrote."""
    path, before, after, work, length, lines = encoded
    name = str(path).encode("utf-8", "surrogateescape")
    old, new = _content(lay, before), _content(lay, after)
    if not treepath.is_valid(name) or old is None or new is None:
        return None
    records = []
    try:
        for session, line in lines:  # type: ignore[attr-defined]
            record = journal.decode(jsonline.object_in(line.encode("ascii")))
            text = None if record.before is None else journal.load_text(lay, record.before)
            # Anybody with our uid may have written the intent file.
            if record.session != session or (text is None) != (record.before is None):
                return None
            records.append((record, text))
    except ValueError:
        return None
    return Replacement(name, old, new, int(str(length)), tuple(records), str(work).encode())


def _content(lay: Layout, form: object) -> Content | None:
    if not isinstance(form, list):
        return ABSENT
    text = journal.load_text(lay, str(form[1]))
    return None if text is None else Content(int(str(form[0]), 8), text)


def _has_begun(ctx: Context, worktree: Worktree, row: Replacement) -> bool:
    """True when the file was exchanged: the old file lies aside, or is no longer in its place."""
    if row.stays:
        with files.Locked(ctx.layout.journal(row.path), WAIT) as fd:
            return _is_recorded(fd, row)
    try:
        place = HeldFolder(worktree, row.path, ctx.layout.tmp, make=False)
    except (FileNotFoundError, LeadsOutError):
        return False
    with closing(place):
        aside = place.aside(row.work)
        return place.now() == row.after or not (aside.absent or aside == row.after)


def _finish_row(ctx: Context, worktree: Worktree, row: Replacement) -> None:
    with files.Locked(ctx.layout.journal(row.path), WAIT) as fd:
        if _is_recorded(fd, row):
            _name(ctx, row)
            return
        if row.stays:
            # Somebody may have written into the file since. The record tells of the text that it had at the
            # landing.
            if os.fstat(fd).st_size == row.length:
                _record(ctx, fd, row, set())
            return
        with closing(_place(ctx, worktree, row)) as place:
            if _is_in_place(place, row, os.fstat(fd).st_size):
                _record(ctx, fd, row, _recorded(fd))
                place.sync()


def _key(record: Record) -> tuple[str | None, ...]:
    # The name and the texts of an undo identify it, so that a second recovery finds what the first one wrote.
    return record.call, record.op, record.session, record.before, record.after


def _recorded(fd: int) -> set[tuple[str | None, ...]]:
    return {_key(one) for one in journal.parse(os.pread(fd, os.fstat(fd).st_size, 0)).records}


def _is_recorded(fd: int, row: Replacement) -> bool:
    return {_key(record) for record, _ in row.records} <= _recorded(fd)


def _is_in_place(place: HeldFolder, row: Replacement, size: int) -> bool:
    """True when the file has been replaced, before the crash or now."""
    now, aside = place.now(), place.aside(row.work)
    if aside == row.before and not aside.absent:
        return True  # it was exchanged; what stands there now may be a later edit
    if not (aside.absent or aside == row.after):
        # An editor saved the file in between, and this text was to be put back.
        if now == row.after and not now.absent:
            place.put(row.work, row.after, aside)
        elif now.absent:
            place.give_back(row.work)
        return False
    if now == row.after:
        return True
    if now != row.before or size != row.length:
        return False
    if not row.after.absent:
        place.prepare(row.work, row.after, files.umask())
    return place.put(row.work, row.before, row.after)
