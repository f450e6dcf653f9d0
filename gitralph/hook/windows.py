"""Reads ``shells.jsonl``: the shell commands of all sessions of a worktree, and what changed meanwhile.

A window is the time during which a command ran. Fast lane. The order of lines is the order of commands. A
command without an end, or without a picture, may have changed anything.
"""

from collections.abc import Container, Mapping

from gitralph.base import files, jsonline
from gitralph.base.layout import Layout
from gitralph.hook import shellcalls
from gitralph.hook.journal import is_oid
from gitralph.hook.shellforms import CLEAN, UNKNOWN, UNMERGED

_LIMIT = 256 << 20

Form = tuple[str | None, str | None] | None
"""Blob id and mode of a file: (None, None) when absent, None when it is as in HEAD."""


AS_HEAD = "as HEAD"
BEGAN = "began"
Conflict = tuple[tuple[str, str], tuple[str, str], tuple[str, str]]
"""Mode and blob of the three stages of a path in conflict; the mode of a missing one is all zeros."""

Index = tuple[str, str] | Conflict | str | None
"""Mode and blob of an index entry, or of its stages; AS_HEAD, or None where there is no entry.

UNMERGED for a conflict of which the stages are not known.
"""


class StagedPath:
    """What a command staged of a path."""

    __slots__ = ("after", "before", "path")

    def __init__(self, path: bytes, before: Index, after: Index) -> None:
        self.path = path
        self.before = before
        self.after = after


class ChangedPath:
    """One path that changed while a command ran; ``base`` is HEAD's blob."""

    __slots__ = ("after", "base", "before")

    def __init__(self, before: Form, after: Form, base: str | None) -> None:
        self.before = before
        self.after = after
        self.base = base

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ChangedPath) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"ChangedPath{self._key()!r}"

    def _key(self) -> tuple[Form, Form, str | None]:
        return self.before, self.after, self.base

    @property
    def is_known(self) -> bool:
        forms = [form for form in (self.before, self.after) if form is not None]
        return all(form[0] != UNKNOWN for form in forms)


class Window:
    """One command: the bytes in the file where it begins and ends; ``rows`` None when unknown.

    ``picture`` is what was dirty at the beginning, for a command without an end. ``id`` names the command in
    the file, ``key`` what is kept of it where that is not its call: in a worktree that it named. ``gits`` are
    the changed paths that git alone changed. ``was_staged`` is what was staged at the beginning, when
    ``head`` was HEAD; both None when unknown. ``staged`` is what an ended command staged, ``put_back`` what
    of it somebody has put back; ``stages`` is false for a command that cannot have staged it. ``was_doing``
    is false for a running command that began when no operation of git was under way, and for one that ended
    so.
    """

    __slots__ = (
        "agent_id",
        "call",
        "closed",
        "gits",
        "head",
        "id",
        "key",
        "late",
        "opened",
        "picture",
        "put_back",
        "rows",
        "session",
        "so_far",
        "staged",
        "stages",
        "time",
        "tool",
        "was_doing",
        "was_staged",
    )

    def __init__(
        self,
        session: str,
        opened: int,
        agent_id: str | None = None,
        tool: str | None = None,
        call: str | None = None,
        time: str = "",
        closed: int | None = None,
        late: bool = False,
        rows: dict[bytes, ChangedPath] | None = None,
        picture: dict[bytes, Form] | None = None,
        id: str = "",
        key: str | None = None,
    ) -> None:
        self.session = session
        self.opened = opened
        self.agent_id = agent_id
        self.tool = tool
        self.call = call
        self.time = time
        self.closed = closed
        self.late = late
        self.rows = rows
        self.picture = picture
        self.id = id
        self.key = key
        self.so_far: dict[bytes, ChangedPath] = {}
        self.gits = frozenset[bytes]()
        self.head: str | None = None
        self.staged: tuple[StagedPath, ...] = ()
        self.put_back: tuple[StagedPath, ...] = ()
        self.was_staged: dict[bytes, Index] | None = None
        self.stages = True
        self.was_doing = True

    @property
    def name(self) -> tuple[str, str | None]:
        """The session and the call, as the command's records name them: a record's line is bounded."""
        return self.session, self.call[:200] if self.call else None

    def overlaps(self, other: "Window") -> bool:
        """True when the two ran at the same time, as far as anybody can tell."""
        return (other.closed is None or self.opened < other.closed) and (
            self.closed is None or other.opened < self.closed
        )

    def row(self, path: bytes, now: Form) -> ChangedPath | None:
        """What this command may have done to a path; for a running command, up to ``now``."""
        if self.rows is not None:
            return self.rows.get(path)
        if self.closed is not None or self.picture is None:
            return None
        before = self.picture.get(path)
        return None if before == now else ChangedPath(before, now, None)

    def may_have_made(self, path: bytes, after: Form) -> bool:
        """True when this command too may have brought a path into its state ``after`` a change."""
        if path in self.so_far:
            return True
        if self.rows is not None:
            return path in self.rows
        if self.closed is not None or self.picture is None:
            return True
        return self.picture.get(path) != after


class _Windows:
    """All commands in the order in which they began."""

    __slots__ = ("began", "by_id", "windows")

    def __init__(self) -> None:
        self.windows: list[Window] = []
        self.by_id: dict[str, Window] = {}
        self.began: set[str] | None = None


def _form(value: object) -> Form:
    if value == CLEAN:
        return None
    if isinstance(value, list) and len(value) == 2:
        oid, mode = value
        return (oid if isinstance(oid, str) else None, mode if isinstance(mode, str) else None)
    return (UNKNOWN, None)


def _path(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _rows(value: object) -> dict[bytes, ChangedPath] | None:
    if not isinstance(value, list):
        return None
    out = {}
    for row in value:
        if isinstance(row, list) and len(row) == 4 and isinstance(row[0], str):
            base = row[3] if isinstance(row[3], str) else None
            out[_path(row[0])] = ChangedPath(_form(row[1]), _form(row[2]), base)
    return out


def _index(value: object) -> Index:
    """An index entry as a hook noted it. Raises ValueError for what none can be."""
    if value == CLEAN:
        return AS_HEAD
    if value in (None, UNMERGED):
        return UNMERGED if value else None
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        if len(value) == 2:
            return _entry(*value)
        if len(value) == 7 and value[0] == UNMERGED:
            return _entry(value[1], value[4]), _entry(value[2], value[5]), _entry(value[3], value[6])
    raise ValueError("no index entry")


def _entry(mode: str, oid: str) -> tuple[str, str]:
    if not mode.isdigit() or set("89") & set(mode) or not is_oid(oid):
        raise ValueError("no index entry")
    return mode, oid


def _staged(value: object) -> tuple[StagedPath, ...]:
    rows = (
        [row for row in value if isinstance(row, list) and len(row) == 3] if isinstance(value, list) else []
    )
    try:
        return tuple(StagedPath(_path(str(row[0])), _index(row[1]), _index(row[2])) for row in rows)
    except ValueError:
        return ()  # not one of ours


def _text(fields: Mapping[str, object], key: str) -> str | None:
    value = fields.get(key)
    return value if isinstance(value, str) else None


def _take_line(found: _Windows, fields: dict[str, object], at: int) -> None:
    opened, closed, upto = (_text(fields, key) for key in ("open", "close", "so_far"))
    session = _text(fields, "session")
    if opened is not None and session is not None:
        window = Window(
            session,
            at,
            _text(fields, "agent_id"),
            _text(fields, "tool"),
            _text(fields, "call"),
            _text(fields, "ts") or "",
            id=opened,
            key=_text(fields, "key"),
        )
        found.windows.append(window)
        found.by_id[opened] = window
    elif upto in found.by_id:
        found.by_id[upto].so_far |= _rows(fields.get("rows")) or {}
    # The first end counts: a second hook of one call may report it again.
    elif closed is not None and closed in found.by_id and found.by_id[closed].closed is None:
        window = found.by_id[closed]
        window.closed, window.rows = at, _rows(fields.get("rows"))
        window.late = fields.get("late") is True
        window.staged, window.head = _staged(fields.get("staged")), _text(fields, "staged_at")
        doing = fields.get("doing")
        window.was_doing = doing is not None
        if doing is None:
            found.began = None  # no operation of git is under way
        elif doing == BEGAN or found.began is None:
            found.began = (found.began or set()) | ({window.session} if doing == BEGAN else set())
        gits = fields.get("git")
        window.gits = frozenset(_path(str(name)) for name in gits) if isinstance(gits, list) else frozenset()
    elif (restaged := _text(fields, "restaged")) is not None:
        for window in found.windows:
            if window.session == restaged:
                window.staged, window.put_back = (), (*window.put_back, *window.staged)


def read(layout: Layout, since: int = 0) -> list[Window]:
    """Every command of this worktree, oldest first; empty when none was watched.

    ``since`` is a byte of the file: commands that ended before it are left out.
    """
    return [w for w in _read(layout).windows if w.closed is None or w.closed >= since]


def _read(layout: Layout) -> _Windows:
    found = _Windows()
    try:
        data = files.read_bytes(layout.shells, _LIMIT)
    except OSError:
        return found
    for at, _, line in jsonline.lines(data):
        try:
            _take_line(found, jsonline.object_in(line), at)
        except ValueError:
            continue  # damage costs only its own line
    for window in found.windows:
        if window.closed is None:
            _look_at_running(layout, window)
    return found


def in_operation(layout: Layout) -> list[Window]:
    """The commands that run, or that ended since the merge, rebase or the like that is under way began."""
    commands = read(layout)
    before = max((one.closed for one in commands if one.closed is not None and not one.was_doing), default=-1)
    return [one for one in commands if one.closed is None or one.closed > before]


def began_operation(layout: Layout) -> set[str] | None:
    """The sessions whose commands began the merge, rebase or the like that is under way; None: nobody knows.

    Empty where it was under way when the first command that saw it began.
    """
    found = _read(layout)
    running = [window for window in found.windows if window.closed is None]
    if not running and found.began is None:
        return None
    return (found.began or set()) | {one.session for one in running if not one.was_doing}


def _look_at_running(layout: Layout, window: Window) -> None:
    kept = shellcalls.load(layout.shell_call(window.session, window.key or window.call or window.tool or ""))
    picture = shellcalls.picture_of(kept) if kept is not None else None
    if kept is None or picture is None:
        return
    window.was_doing = kept.get("operation") is True
    window.stages, head = kept.get("stages") is not False, kept.get("staged_at")
    window.head = head if isinstance(head, str) else None
    try:
        staged = kept.get("staged")
        if isinstance(staged, dict):
            window.was_staged = {_path(str(name)): _index(value) for name, value in staged.items()}
    except ValueError:
        pass  # not one of ours
    try:
        window.picture = {_path(n): _form([row[1], row[2]]) for n, row in picture.rows.items()}
    except ValueError:
        return  # Not one of ours: the command may have changed anything.


def left_by_others(
    layout: Layout,
    path: bytes,
    now: Form,
    family: Container[str],
    known: Container[str | None],
    told: Container[tuple[str, str | None]],
) -> set[tuple[str | None, str | None]] | None:
    """What shell commands of other sessions may have made of a path; None: anything may be theirs.

    Each change is the text that a command found and the one that it left, None where the file was absent.
    ``now`` is what the path holds. ``known`` are the texts that records left, and those found up to the
    family's first record. A command that ended with one of these texts did not make the unrecorded change:
    that came later, or before. Neither did one that left the file as in HEAD, which did not move. Of one that
    runs on a text says nothing: the edit which left it may have come after the command's change. Commands in
    ``told``, by session and call, have a record of their change of the path, and do not count either.
    """
    found = set[tuple[str | None, str | None]]()
    for window in read(layout):
        if window.session in family or window.name in told:
            continue
        row = window.row(path, now)
        # There is no picture: git did not answer in time, or a client was killed. Such a command may have
        # changed anything.
        unknown = window.rows is None and (window.closed is not None or window.picture is None)
        if unknown or (row is not None and window.closed is None):
            return None
        if row is not None and row.after is not None and row.after[0] not in known:
            found.add((row.base if row.before is None else row.before[0], row.after[0]))
    return found
