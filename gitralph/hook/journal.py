"""The edit journal of one path: what a record holds, how one is appended, and how they are read.

Fast lane. A record carries the change as one hunk from before to after, so a journal is small and readable. A
full text goes to ``objects/`` only where ``before`` is not the last known ``after``. The keys that chain
records stand last in a line, so an append reads only the journal's last bytes.
"""

import errno
import os

from gitralph.base import files, jsonline
from gitralph.base.ids import digest
from gitralph.base.layout import Layout

VERSION = 1
PAYLOAD, WINDOW, NONE = "payload", "window", "none"
GAP = "gap"
"""The ``op`` of a record that is nobody's: a shell command, not certainly one session's, made the change."""
ASSIGN = "assign"
"""The ``op`` of a record by which a person gave a session lines that nobody recorded."""
UNDO, REDO, RESTORE = "undo", "redo", "restore"
"""Operations by which a session took pieces of its own back, or brought them back."""
RENDERED, OFFERED = "rendered", "offered"
"""Operations of a repository hook on the commit's text, see ``decide/hook_rewrites.py``."""
# In bytes. The chaining keys stand last in a line and are bounded: ids of 120 and calls of 200 characters
# fit.
_TAIL = 1024
# In bytes. Two hooks of one call come within a few records of each other. So reading stays fast as a journal
# grows.
_RECENT = 16 << 10
# In bytes. Larger files are recorded by path and hash, since reading and comparing them would hold the agent
# up. At this size comparing takes 0.2 s, hashing 0.03 s and packing 0.1 s.
TEXT_LIMIT = 5 << 20
# In bytes. Unpacking is bounded: a few KiB may claim to be gigabytes of text (a zip bomb; zlib packs 1,000 :
# 1).
_UNPACKED = 256 << 20


def text_id(text: bytes) -> str:
    """The blob id of these bytes as they stand in the working tree, without conversion."""
    return digest(b"blob %d\0" % len(text) + text)


def full_lines(text: bytes) -> list[bytes]:
    """The lines with their newlines; only ``\\n`` ends a line."""
    # splitlines takes a lone CR for a line end, git and the records do not.
    if b"\r" not in text:
        return text.splitlines(keepends=True)
    lines = [line + b"\n" for line in text.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


class TextHunk:
    """``removed`` lines of the text before, from line ``start`` (0-based), become ``lines``."""

    __slots__ = ("lines", "removed", "start")

    def __init__(self, start: int, removed: int, lines: list[bytes]) -> None:
        self.start = start
        self.removed = removed
        self.lines = lines


def hunk_between(before: bytes, after: bytes) -> TextHunk:
    """The one hunk that is left when the common head and tail are trimmed."""
    old, new = full_lines(before), full_lines(after)
    # A hook can only afford trimming; a commit diffs finer (see lines/linediff.py).
    start, shorter = 0, min(len(old), len(new))
    while start < shorter and old[start] == new[start]:
        start += 1
    tail = 0
    while tail < shorter - start and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return TextHunk(start, len(old) - start - tail, new[start : len(new) - tail])


def apply_hunks(before: bytes, hunks: list[TextHunk]) -> bytes:
    """The text after. Raises ValueError when a hunk lies outside ``before``."""
    lines = full_lines(before)
    for hunk in reversed(hunks):
        if hunk.start < 0 or hunk.removed < 0 or hunk.start + hunk.removed > len(lines):
            raise ValueError("hunk outside the text")
        lines[hunk.start : hunk.start + hunk.removed] = hunk.lines
    return b"".join(lines)


class Record:
    """One line of a journal that tells an edit. Texts are ids; None stands for an absent file.

    ``offset`` and ``end`` are byte positions in the journal; ``mode`` is octal text before and after.
    ``unknown_before``: the record does not know what the file held (exact ``none``). ``seen``: a pre event
    found ``before`` on disk, so the record is no old read; ``alone``: nothing was recorded between that event
    and this one. ``mtime``, in nanoseconds, is the time of the file's last write when the record was made.
    ``other`` is the path of a rename's other end, in JSON's form. ``units`` are the names of the pieces that
    an undo, a redo or a restore concerns. ``model`` asked for the call, where the agent tells it. ``shells``
    is how far the notes on shell commands went. ``by_shell``: a shell command made the change. ``may`` are
    the sessions that may have made it, where it is nobody's; ``loose``: nobody saw the command's end.
    """

    __slots__ = (
        "after",
        "agent_id",
        "alone",
        "before",
        "by_shell",
        "call",
        "end",
        "exact",
        "head",
        "hunks",
        "loose",
        "may",
        "mode",
        "model",
        "mtime",
        "offset",
        "op",
        "other",
        "seen",
        "session",
        "shells",
        "tool",
        "ts",
        "units",
        "unknown_before",
    )

    offset: int
    end: int

    def __init__(
        self,
        session: str,
        op: str,
        before: str | None,
        after: str | None,
        exact: str,
        *,
        hunks: list[TextHunk] | None = None,
        mode: tuple[str | None, str | None] = (None, None),
        unknown_before: bool = False,
        agent_id: str | None = None,
        tool: str | None = None,
        call: str | None = None,
        head: str | None = None,
        other: str | None = None,
        ts: str = "",
        seen: bool = False,
        alone: bool = False,
        mtime: int | None = None,
        units: tuple[str, ...] = (),
        model: str | None = None,
        shells: str | None = None,
        by_shell: bool = False,
        may: tuple[str, ...] = (),
        loose: bool = False,
    ) -> None:
        self.session = session
        self.op = op
        self.before = before
        self.after = after
        self.exact = exact
        self.hunks = hunks
        self.mode = mode
        self.unknown_before = unknown_before
        self.agent_id = agent_id
        self.tool = tool
        self.call = call
        self.head = head
        self.other = other
        self.ts = ts
        self.seen = seen
        self.alone = alone
        self.mtime = mtime
        self.units = units
        self.model = model
        self.shells = shells
        self.by_shell = by_shell
        self.may = may
        self.loose = loose
        self.offset = self.end = -1

    @property
    def other_path(self) -> bytes | None:
        """The path of a rename's other end; None where none is named, or where no path can have that name."""
        try:
            return None if self.other is None else self.other.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            return None

    @property
    def is_exact(self) -> bool:
        """True when both texts are known."""
        return self.hunks is not None


def _text(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape")


def encode(record: Record, path: bytes) -> bytes:
    """The journal line of ``record``, newline included."""
    hunks = record.hunks
    fields = {
        "v": VERSION,
        "ts": record.ts,
        "path": _text(path),
        **({} if record.other is None else {"other": record.other}),
        "tool": record.tool,
        **({} if record.model is None else {"model": record.model}),
        "op": record.op,
        "mode": list(record.mode),
        "head": record.head,
        "seen": record.seen,
        **({"alone": True} if record.alone else {}),
        "mtime": record.mtime,
        **({} if record.shells is None else {"shells": record.shells}),
        **({"by_shell": True} if record.by_shell else {}),
        **({"may": list(record.may), "loose": record.loose} if record.may else {}),
        **({"units": list(record.units)} if record.units else {}),
        "hunks": None
        if hunks is None
        else [[h.start, h.removed, [_text(x) for x in h.lines]] for h in hunks],
        "agent_id": record.agent_id,
        "call": record.call,
        "session": record.session,
        "before": "?" if record.unknown_before else record.before,
        "after": record.after,
        "exact": record.exact,
    }
    return jsonline.line(fields)


def is_oid(value: object) -> bool:
    """True for 40 lower-case hex digits."""
    return isinstance(value, str) and len(value) == 40 and not value.strip("0123456789abcdef")


def _string(fields: dict[str, object], key: str) -> str | None:
    value = fields.get(key)
    return value if isinstance(value, str) else None


def _whole(value: object) -> int | None:
    return value if type(value) is int else None


def _names(value: object) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _decode_hunk(value: object) -> TextHunk:
    if not isinstance(value, list) or len(value) != 3:
        raise ValueError("bad hunk")
    start, removed, lines = value
    if type(start) is not int or type(removed) is not int or not isinstance(lines, list):
        raise ValueError("bad hunk")
    return TextHunk(start, removed, [line.encode("utf-8", "surrogateescape") for line in lines])


def _decode_mode(value: object) -> tuple[str | None, str | None]:
    if not isinstance(value, list) or len(value) != 2:
        return (None, None)
    before, after = value
    return (
        before if isinstance(before, str) else None,
        after if isinstance(after, str) else None,
    )


def decode(fields: dict[str, object]) -> Record:
    """The record of a parsed line. Raises ValueError for a record that we could not have written."""
    session, op, exact = (_string(fields, key) for key in ("session", "op", "exact"))
    before, after, hunks = fields.get("before"), fields.get("after"), fields.get("hunks")
    unknown = before == "?"
    before = None if unknown else before
    if session is None or op is None or exact is None:
        raise ValueError("a field is missing")
    for value in (before, after):
        if value is not None and not is_oid(value):
            raise ValueError("bad text id")
    try:
        parsed = [_decode_hunk(h) for h in hunks] if isinstance(hunks, list) else None
    except (AttributeError, UnicodeEncodeError) as error:
        raise ValueError("bad hunk") from error
    return Record(
        session,
        op,
        _string({"b": before}, "b"),
        _string(fields, "after"),
        exact,
        hunks=parsed,
        mode=_decode_mode(fields.get("mode")),
        unknown_before=unknown,
        agent_id=_string(fields, "agent_id"),
        tool=_string(fields, "tool"),
        call=_string(fields, "call"),
        head=_string(fields, "head"),
        other=_string(fields, "other"),
        ts=_string(fields, "ts") or "",
        seen=fields.get("seen") is True,
        alone=fields.get("alone") is True,
        mtime=_whole(fields.get("mtime")),
        units=_names(fields.get("units")),
        model=_string(fields, "model"),
        shells=_string(fields, "shells"),
        by_shell=fields.get("by_shell") is True,
        may=_names(fields.get("may")),
        loose=fields.get("loose") is True,
    )


def tail(fd: int) -> dict[str, object]:
    """The chaining keys of an open journal's last line: session, before, after, exact; maybe empty.

    Only the line's end is read. A JSON string cannot hold an unescaped quote, so the pattern cannot come from
    an edited text.
    """
    size = os.fstat(fd).st_size
    data = os.pread(fd, _TAIL, max(0, size - _TAIL))
    data = data[data.rfind(b"\n", 0, -1) + 1 :]
    at = data.rfind(b'"session":')
    # The last line is torn, or another program wrote it. Then nothing is known, and the full text is stored.
    if at < 0 or not data.endswith(b"}\n"):
        return {}
    call = data.rfind(b'"call":', 0, at)
    at = call if call >= 0 else at
    try:
        return jsonline.object_in(b"{" + data[at:])
    except ValueError:
        return {}


def tells(fd: int, record: Record) -> bool:
    """True when a recent line has the same call, session and texts: a call is recorded once."""
    fields = {k: getattr(record, k) for k in ("call", "session", "before", "after")}
    size = os.fstat(fd).st_size
    recent = os.pread(fd, _RECENT, max(0, size - _RECENT))
    return jsonline.dumps(fields)[1:-1].encode("ascii") + b"," in recent


def known_after(keys: dict[str, object]) -> str | None:
    """The id of the text with which a journal ends, None where that text is unknown."""
    after = keys.get("after")
    return after if isinstance(after, str) and is_oid(after) and keys.get("exact") != NONE else None


def store_text(layout: Layout, text: bytes, oid: str) -> None:
    """Keep a full text under its id; writing it again is harmless."""
    # imported here: most edits follow the one before and store no text; it costs half a millisecond
    import zlib

    path = layout.text(oid)
    if os.path.lexists(path):
        return
    files.make_folder(os.path.dirname(path))
    files.write_whole(path, zlib.compress(text, 1))


# Also errors of what is no file of ours: a link, a folder, a pipe, a device.
_NOT_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.EINVAL)


def load_text(layout: Layout, oid: str) -> bytes | None:
    """The text of an id from ``objects/``; None when it is missing or does not match its id.

    Raises OSError where the text may exist and cannot be read.
    """
    import zlib

    try:
        packed = files.read_bytes(layout.text(oid), _UNPACKED)
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(packed, _UNPACKED)
    except zlib.error:
        return None
    except OSError as error:
        # An input error is no damage: a commit that took the text for lost once left lines out, with exit
        # code 0.
        if error.errno not in _NOT_THERE:
            raise
        return None
    # Check the id: any program of the user's may write into `objects/`.
    return text if text_id(text) == oid else None


def append(layout: Layout, fd: int, path: bytes, record: Record, before_text: bytes | None) -> None:
    """Append ``record`` to its locked journal, the full text first where the chain breaks."""
    # The text comes first, then the record. A crash between them leaves a text that nobody names, never a
    # record without its text.
    chained = record.before is None or record.before == known_after(tail(fd))
    if record.is_exact and record.before is not None and before_text is not None and not chained:
        store_text(layout, before_text, record.before)
    files.append(fd, encode(record, path))


class Journal:
    """A parsed journal: records in file order, the log of commits, and the lines that are damaged.

    ``size`` is how many bytes were read, up to the end of the last whole line; ``length`` is the file's size.
    """

    __slots__ = ("damaged", "length", "log", "records", "size")

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.log: list[dict[str, object]] = []
        self.damaged: list[int] = []
        self.size = 0
        self.length = 0

    def sessions(self) -> set[str]:
        return {record.session for record in self.records}


def parse(data: bytes) -> Journal:
    """Read every whole line. A torn last line is left alone; damage costs only its own line."""
    journal = Journal()
    for at, end, line in jsonline.lines(data):
        _take_line(journal, line, at, end)
    journal.size, journal.length = data.rfind(b"\n") + 1, len(data)
    return journal


def waiting(data: bytes, start: int) -> set[str]:
    """The sessions with a record that no commit took; ``data`` is a journal from ``start`` to its end."""
    found, upto = parse(data), dict[object, int]()
    for fields in found.log:
        end, session = fields.get("upto"), fields.get("session")
        if type(end) is int and end <= start + len(data):
            upto[session] = max(end, upto.get(session, 0))
    records = (record for record in found.records if record.op != GAP)
    return {one.session for one in records if start + one.offset >= upto.get(one.session, 0)}


def release_line(session: str, released: list[int], ts: str, chain: dict[str, object]) -> bytes:
    """The line by which a session gives claims back; ``chain`` are the keys of the journal's last line."""
    fields = {
        "v": VERSION,
        "ts": ts,
        "commit": None,
        "note": "released",
        "upto": 0,
        "units": [],
        "left": [],
        "released": released,
        "session": session,
        "before": chain.get("before"),
        "after": chain.get("after"),
        "exact": chain.get("exact") or NONE,
    }
    return jsonline.dumps(fields).encode("ascii") + b"\n"


def _take_line(journal: Journal, line: bytes, at: int, end: int) -> None:
    try:
        fields = jsonline.object_in(line)
        if isinstance(released := fields.get("released"), list):
            journal.records = [
                r for r in journal.records if r.offset not in released or r.session != fields.get("session")
            ]
            return
        # Lines of the log stand in the same file, so one lock orders both.
        if "upto" in fields:
            journal.log.append(fields)
            return
        record = decode(fields)
    except ValueError:
        journal.damaged.append(at)
        return
    record.offset, record.end = at, end
    journal.records.append(record)


def replay(journal: Journal, layout: Layout) -> list[tuple[Record, bytes | None, bytes | None]]:
    """Each record with its texts before and after; both None where they are unknown.

    A record whose hunks do not lead to its ``after`` is damaged and counts as not exact.
    """
    out: list[tuple[Record, bytes | None, bytes | None]] = []
    held = _Held()
    for record in journal.records:
        if not record.is_exact:
            out.append((record, None, None))
            continue
        if record.before != held.oid and not held.load(layout, record.before):
            after = None
        else:
            before, after = held.text, held.apply(record)
        if after is None:
            # Its own hash shows that the record is wrong. It still names the path, like a record by path
            # alone.
            record.hunks = None
            journal.damaged.append(record.offset)
            out.append((record, None, None))
        else:
            absent = record.before is None, record.after is None
            out.append((record, None if absent[0] else before, None if absent[1] else after))
    return out


class _Held:
    """The text at which a replay stands, also as lines: a step changes only a few of these."""

    __slots__ = ("lines", "oid", "text")

    def __init__(self) -> None:
        self.oid: str | None = None
        self.text = b""
        self.lines: list[bytes] = []

    def load(self, layout: Layout, oid: str | None) -> bool:
        """Go to another text; False when nobody has it."""
        text = b"" if oid is None else load_text(layout, oid)
        if text is None:
            return False
        self.oid, self.text, self.lines = oid, text, full_lines(text)
        return True

    def apply(self, record: Record) -> bytes | None:
        """The text after a step; None when it is not the text that the record names."""
        if record.after is None:
            self.oid, self.text, self.lines = None, b"", []
            return b""
        lines = list(self.lines)
        for hunk in reversed(record.hunks or []):
            if hunk.start < 0 or hunk.removed < 0 or hunk.start + hunk.removed > len(lines):
                return None
            lines[hunk.start : hunk.start + hunk.removed] = hunk.lines
        text = b"".join(lines)
        if text_id(text) != record.after:
            return None
        ended = not self.text or self.text.endswith(b"\n")
        self.oid, self.text = record.after, text
        self.lines = lines if ended and _are_lines(record) else full_lines(text)
        return text


def _are_lines(record: Record) -> bool:
    """True when every line of the hunks ends with its only newline; else the text must be split anew."""
    return all(line.find(b"\n") == len(line) - 1 for hunk in record.hunks or [] for line in hunk.lines)
