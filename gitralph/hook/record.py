"""Writes what an event tells into manifest and journal.

Fast lane, the heart of the hook. Under the path's lock it appends the manifest's line first, then the
journal's record. A crash between them costs exactness, never the path. It reads no configuration and starts
no process.
"""

import hashlib
import os
import stat
from collections.abc import Mapping

from gitralph.base import files, gitdir, jsonline
from gitralph.base.layout import Layout
from gitralph.base.quote import line_form
from gitralph.hook import journal, locate, sessionfile, shellforms
from gitralph.hook.event import Change, Event, Guess, to_bytes
from gitralph.hook.journal import NONE, TEXT_LIMIT, Record
from gitralph.hook.locate import Target
from gitralph.hook.reconcile import UNKNOWN, StepTexts, Text, UnknownText, normal, same, texts_of

# In bytes. The first line of an open call holds a path of up to 4,096 bytes (PATH_MAX), each of up to six
# characters as an escape, and a few words.
_LONGEST_HEAD = 6 * 4096 + 512


class OnDisk:
    """A file as it stands: bytes (None when absent or too large), mode as octal text, blob id, and
    when it was written, in nanoseconds.
    """

    __slots__ = ("mode", "mtime", "oid", "text")

    def __init__(
        self, text: bytes | None, mode: str | None, oid: str | None, mtime: int | None = None
    ) -> None:
        self.text = text
        self.mode = mode
        self.oid = oid
        self.mtime = mtime


def _hash_file(fd: int, size: int) -> str:
    done = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    while chunk := os.read(fd, 1 << 20):
        done.update(chunk)
    return done.hexdigest()


def look(file: str) -> OnDisk:
    """Read a file or link without following it; a folder or device counts as absent."""
    try:
        found = os.lstat(file)
    except (FileNotFoundError, NotADirectoryError):
        return OnDisk(None, None, None)
    if stat.S_ISLNK(found.st_mode):
        # git stores a link's target as its blob. Following the link would record another file's text.
        text = os.fsencode(os.readlink(file))
        return OnDisk(text, "120000", journal.text_id(text))
    if not stat.S_ISREG(found.st_mode):
        return OnDisk(None, None, None)
    mode = "100755" if found.st_mode & 0o100 else "100644"
    # The name may have become a link or a fifo since the lstat. Then this fails instead of reading elsewhere
    # or waiting.
    fd = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        size = os.fstat(fd).st_size
        if size > TEXT_LIMIT:
            return OnDisk(None, mode, _hash_file(fd, size))
        text = b"".join(iter(lambda: os.read(fd, 1 << 20), b""))
    finally:
        os.close(fd)
    return OnDisk(text, mode, journal.text_id(text), found.st_mtime_ns)


class PreSeen:
    """What a pre event saw: the text, the mode, and how long the journal was."""

    __slots__ = ("journal", "mode", "text")

    def __init__(self, text: Text, mode: str | None, journal: int) -> None:
        self.text = text
        self.mode = mode
        self.journal = journal


def _call_file(lay: Layout, session: str, event: Event, path: bytes) -> str:
    return lay.call(session, f"{event.call or event.tool} {path_text(path)}")


def remember(lay: Layout, session: str, event: Event, target: Target) -> None:
    """Keep what the file holds before the call, for the event that ends the call."""
    disk = look(target.file)
    if disk.mode is not None and disk.text is None:
        return  # too large for its lines to be told apart later
    try:
        size = os.stat(lay.journal(target.path)).st_size
    except OSError:
        size = 0
    path = _call_file(lay, session, event, target.path)
    where = path_text(target.path)
    head = {"absent": disk.mode is None, "mode": disk.mode, "journal": size, "path": where}
    files.make_folder(os.path.dirname(path))
    import zlib

    files.write_whole(path, jsonline.dumps(head).encode() + b"\n" + zlib.compress(disk.text or b"", 1))


def path_text(path: bytes) -> str:
    """A tree path as JSON keeps it."""
    return path.decode("utf-8", "surrogateescape")


def forget(lay: Layout, session: str, event: Event, path: bytes) -> None:
    """Remove what was kept for a call that failed."""
    try:
        os.unlink(_call_file(lay, session, event, path))
    except OSError:
        pass


def open_calls(folder: str) -> list[str]:
    """The files of calls that began to edit and have not told their end, in one session's folder."""
    others = ("told", "word")  # `Layout.told`, `Layout.word`
    return [
        f"{folder}/{one}" for one in files.names(folder) if one not in others and not one.startswith("shell-")
    ]


def forget_all(lay: Layout, session: str) -> None:
    """Remove what was kept for calls of a turn that is over: a denied call tells no end."""
    for name in open_calls(os.path.dirname(lay.call(session, ""))):
        try:
            os.unlink(name)
        except OSError:
            pass


def recall(lay: Layout, session: str, event: Event, path: bytes) -> PreSeen | None:
    """What :func:`remember` kept for this call; it is given only once."""
    name = _call_file(lay, session, event, path)
    if not os.path.lexists(name):
        return None
    import zlib

    try:
        line, _, packed = files.read_bytes(name, 2 * TEXT_LIMIT).partition(b"\n")
        # It is removed: a later edit with the same call id (a resumed session) must not get these bytes.
        os.unlink(name)
        head = jsonline.loads(line.decode("ascii"))
        text = zlib.decompressobj().decompress(packed, TEXT_LIMIT + 1)
    except (OSError, ValueError, zlib.error):
        return None
    if not isinstance(head, dict) or type(head.get("journal")) is not int:
        return None
    mode = head.get("mode")
    return PreSeen(
        None if head.get("absent") is True else text,
        mode if isinstance(mode, str) else None,
        head["journal"],
    )


def _computed(change: Change, seen: Text, disk: bytes | None) -> Text:
    """Apply the payload's edit to the old text; return the first result that agrees with the disk.

    Where none does, another wrote meanwhile: then the old text that the payload tells is the tool's.
    """
    told = (change.before, seen) if change.source is None else (change.source.found,)
    texts = [text for text in told if isinstance(text, bytes)]
    if change.compute is None or not texts:
        return change.after
    sure: list[str] = []
    for text in texts:
        found = change.compute(normal(text))
        for one in found:
            if same(to_bytes(one), disk):
                return to_bytes(one)
        sure += [one for one in found if not isinstance(one, Guess)]
    return to_bytes(sure[0]) if sure else UNKNOWN


def _chooser(last: str | None):  # type: ignore[no-untyped-def]
    def choose(forms: list[bytes]) -> bytes | None:
        return next((form for form in forms if journal.text_id(form) == last), None)

    return choose


def _verdict(change: Change, seen: PreSeen | None, disk: OnDisk, size: int, last: str | None) -> StepTexts:
    if disk.mode is not None and disk.text is None:
        return StepTexts(UNKNOWN, None, NONE)
    before: Text = UNKNOWN if seen is None else seen.text
    alone = seen is not None and seen.journal == size
    after = None if change.op == "delete" else _computed(change, before, disk.text)
    if change.weak and not same(after, disk.text):
        after = UNKNOWN
    told = UNKNOWN if change.source is not None and seen is not None else change.before
    return texts_of(disk.text, before, told, after, alone, _chooser(last))


def _op(change: Change, before: Text, after: str | None) -> str:
    if change.op in ("rename-from", "rename-to"):
        return change.op
    if after is None:
        return "delete"
    return "create" if before is None else "edit"


def _oid(text: Text) -> str | None:
    return journal.text_id(text) if isinstance(text, bytes) else None


def _build(
    session: str, event: Event, change: Change, found: StepTexts, disk: OnDisk, seen: PreSeen | None
) -> Record:
    before, after = found.before, found.after
    exact = found.exact != NONE and not isinstance(before, UnknownText)
    hunks = None
    if exact:
        old = before if isinstance(before, bytes) else b""
        new = after if isinstance(after, bytes) else b""
        hunks = [] if old == new else [journal.hunk_between(old, new)]
    after_id = _oid(after) if exact or isinstance(after, bytes) else disk.oid
    return Record(
        session,
        _op(change, before, after_id),
        _oid(before),
        after_id,
        found.exact if exact else NONE,
        hunks=hunks,
        mode=(None if seen is None else seen.mode, disk.mode),
        unknown_before=not exact,
        agent_id=event.agent_id,
        tool=event.tool,
        call=event.call[:200] if event.call else None,
        ts=sessionfile.now(),
        other=path_text(change.other) if change.other is not None else None,
        seen=exact and seen is not None and seen.text == before,
        mtime=disk.mtime,
        model=event.model,
    )


def _records(
    session: str, event: Event, change: Change, found: StepTexts, disk: OnDisk, seen: PreSeen | None
) -> list[tuple[Record, bytes | None]]:
    """What a change is told by, with the text before each record.

    Where one call moved a file and changed its text, these are the move and the edit after it. Lines of
    others come along with a move; in one record with the edit they would count as the editor's.
    """
    source = change.source
    if source is not None and found.exact != NONE and found.before is None and isinstance(found.after, bytes):
        old = source.found if isinstance(source.found, bytes) else source.before
        if isinstance(old, bytes) and old != found.after:
            move = _build(session, event, change, StepTexts(None, old, found.exact), disk, seen)
            there = PreSeen(old, disk.mode, 0) if old is source.found else None
            edit = Change(change.path)
            then = _build(session, event, edit, StepTexts(old, found.after, found.exact), disk, there)
            return [(move, None), (then, old)]
    before = found.before if isinstance(found.before, bytes) else None
    return [(_build(session, event, change, found, disk, seen), before)]


def _is_told_by(keys: dict[str, object], session: str) -> bool:
    """True when a journal ends with an edit of the session: a line of the log has no call."""
    return "call" in keys and keys.get("session") == session


def _is_repeat(record: Record, fd: int, disk: str | None) -> bool:
    """True when the journal holds this very step already: two hooks saw one call."""
    keys, exact = journal.tail(fd), record.is_exact
    # Nothing changed, so two calls cannot be told from one; both are recorded.
    if exact and record.before == record.after:
        return False
    if _is_told_by(keys, record.session) and keys.get("after", "") == record.after:
        told = exact and keys.get("before") == record.before
        named = record.call is not None and keys.get("call") == record.call
        unnamed = record.call is None or keys.get("call") is None
        if (named and (told or not exact)) or (told and unnamed):
            return True
    explained = journal.known_after(keys) == disk != record.after
    return explained and exact and record.call is not None and journal.tells(fd, record)


def write(lay: Layout, session: str, path: bytes, record: Record, before: bytes | None) -> None:
    """Manifest line, then journal record, both under the journal's lock."""
    with files.Locked(lay.journal(path)) as fd:
        if not _is_repeat(record, fd, record.after):
            sessionfile.claim(lay, session, line_form(path))
            journal.append(lay, fd, path, record, before)


def record_change(lay: Layout, session: str, event: Event, change: Change, target: Target) -> None:
    """Turn one change of one file into a step of its journal."""
    with files.Locked(lay.journal(target.path)) as fd:
        seen = recall(lay, session, event, target.path)
        disk = look(target.file)
        if seen is not None:
            change.found = seen.text
            if change.weak and change.op == "edit" and seen.text == disk.text and seen.mode == disk.mode:
                return  # nothing happened, whatever the answer says
        keys = journal.tail(fd)
        size = os.fstat(fd).st_size
        found = _verdict(change, seen, disk, size, journal.known_after(keys))
        records = _records(session, event, change, found, disk, seen)
        record = records[-1][0]
        record.alone = record.seen and seen is not None and seen.journal == size
        for one, _ in records:
            one.head, one.shells = gitdir.head_oid(target.place), shellforms.mark(lay)
        # Copilot CLI and Cursor also run hooks installed for Claude Code: two hooks of one call are normal.
        if _is_repeat(record, fd, disk.oid) or (event.echo and is_echo(lay, session, record, keys, target)):
            return
        # The manifest comes first. A crash between the two leaves a claim, which is committed whole or not at
        # all. The other way round the record would belong to no session.
        for one, before in records:
            sessionfile.claim(lay, session, line_form(target.path))
            journal.append(lay, fd, target.path, one, before)


def is_echo(lay: Layout, session: str, record: Record, keys: dict[str, object], target: Target) -> bool:
    """True when another event has told this edit, or is about to: a call on the path is open."""
    if _is_told_by(keys, session) and keys.get("after") == record.after:
        return True
    wanted, folder = path_text(target.path), os.path.dirname(lay.call(session, ""))
    return any(path_of_call(name) == wanted for name in open_calls(folder))


def path_of_call(name: str) -> object:
    """The path, in JSON's form, of a call that is kept in a file; None where it cannot be told."""
    try:
        head = jsonline.loads(files.read_bytes(name, _LONGEST_HEAD).partition(b"\n")[0].decode())
    except (OSError, ValueError):
        return None
    return head.get("path") if isinstance(head, dict) else None


def _folder_pairs(change: Change, cwd: str) -> list[Change]:
    """The rename of a folder as renames of the files in it."""
    to = os.path.join(cwd, change.to or "")
    if os.path.islink(to) or not os.path.isdir(to):
        return [change]
    pairs = []
    for folder, folders, names in os.walk(to):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        folders[:] = sorted(set(folders) - set(links) - {".git"})
        for name in sorted(names + links):
            new = os.path.join(folder, name)
            old = os.path.join(change.path, os.path.relpath(new, to))
            pairs.append(Change(old, "rename", to=new, follow=False))
    return pairs


def _ends(
    change: Change, cwd: str, environ: Mapping[str, str], lost: list[str]
) -> list[tuple[Change, Target]]:
    """A rename as its two ends; each end knows its text where the content only moved.

    An end outside the worktree is not ours; then the other end is a deletion or a creation.
    """
    old = _inside(cwd, change.path, environ, lost)
    new = _inside(cwd, change.to or "", environ, lost)
    moved = look(new.file) if new is not None else OnDisk(None, None, None)
    text: Text = UNKNOWN if moved.text is None or change.compute is not None else moved.text
    before = text if isinstance(change.before, UnknownText) else change.before
    after = text if isinstance(change.after, UnknownText) else change.after
    first = Change(change.path, "rename-from" if new else "delete", before=before, after=None)
    last = Change(change.to or "", "rename-to" if old else "edit", before=None, after=after)
    if old is not None and (change.compute is not None or not same(after, before)):
        last.compute, last.source = change.compute, first
    first.weak = last.weak = change.weak
    if old is not None and new is not None and old.place.root == new.place.root:
        first.other, last.other = new.path, old.path
    return [(end, target) for end, target in ((first, old), (last, new)) if target is not None]


def _inside(
    cwd: str, path: str, environ: Mapping[str, str], lost: list[str], follow: bool = False
) -> Target | None:
    try:
        return locate.locate(cwd, path, environ, follow)
    except (locate.ForbiddenError, locate.FallThroughError) as error:
        lost.append(f"'{path}': {error}")
    except locate.OutsideError:
        pass  # another repository's business, or nobody's
    return None


def targets(
    event: Event, cwd: str, environ: Mapping[str, str], lost: list[str]
) -> list[tuple[Change, Target]]:
    """Every file of an event that lies in a worktree, with its place; ``lost`` is told what nobody records.

    Raises locate.OutsideError when no file does.
    """
    out: list[tuple[Change, Target]] = []
    for change in event.changes:
        if change.op == "rename":
            for pair in _folder_pairs(change, cwd):
                out += _ends(pair, cwd, environ, lost)
            continue
        follow = change.follow or _wrote_through(change, cwd)
        target = _inside(cwd, change.path, environ, lost, follow)
        out += [(change, target)] if target is not None else []
    if event.changes and not out:
        raise locate.OutsideError("no path of it lies in a worktree")
    return out


def _wrote_through(change: Change, cwd: str) -> bool:
    """True when ``change`` names a link and the tool wrote into the link's target."""
    full = os.path.join(cwd, change.path)
    if not isinstance(change.after, bytes) or "\0" in full or not os.path.islink(full):
        return False
    if os.fsencode(os.readlink(full)) == change.after:
        return False
    return same(look(os.path.realpath(full)).text, change.after)
