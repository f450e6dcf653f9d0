"""Turns what a shell command changed into steps of journals: the command's changes are its session's edits.

Fast lane, loaded when a command changed something. A change that another session's command may also have made
is nobody's. So is a new file, which is offered. What was recorded meanwhile keeps its owner, and what git put
there is no new text. No clock decides anything.
"""

import os
from collections import Counter
from collections.abc import Iterable

from gitralph.base import files, process
from gitralph.base.layout import Layout
from gitralph.base.quote import line_form
from gitralph.hook import journal, record, sessionfile, shellcalls, shellforms, windows
from gitralph.hook.journal import GAP, NONE, WINDOW, Journal, Record
from gitralph.hook.windows import ChangedPath, Window

AUTO, INCLUDE, OFFER, OFF = "auto", "include", "offer", "off"
# A call that makes more new files unpacked or built something: nobody reads these line by line.
_NEW = 2_000
# So many pairs of old and new files are compared for a move with changes; a large refactoring has dozens.
_PAIRS = 10_000
_JOURNAL = 256 << 20
# In pairs of lines between the first change and the last: a larger step is taken as one. By difflib, 1,000
# lines each take 0.2 s.
_CELLS = 1_000_000
# In bytes, of each end of a transcript: a session says it at the beginning, and again when it is resumed.
_TRANSCRIPT = 1 << 20
_SAYS_SO = (b'"bashFirst":true', b'"bashFirst": true')

Texts = tuple[bytes | None, bytes | None]
Row = tuple[Record, bytes | None, bytes | None]


class Made:
    """What a command did to one path: texts before and after, None for no file, and the modes.

    ``is_known`` is false where the texts are unknown; then only ``oid`` tells what stands there. ``tracked``:
    git had the path, or the file was moved from a path that git had. ``other`` is the other end of a move.
    ``move`` is the move of which this is the change in the same call. ``bases`` are the texts of all HEADs
    from which the command may have begun. ``was_hidden``: git shows the file only now, and nobody changed it
    meanwhile. ``may_be_gits``: git may have made the change inside the command, so it is only offered.
    ``with_head``: the path came or went with HEAD. ``is_head``: the file is as in HEAD now.
    """

    __slots__ = (
        "after",
        "bases",
        "before",
        "form",
        "is_head",
        "is_known",
        "may_be_gits",
        "mode",
        "move",
        "mtime",
        "oid",
        "op",
        "other",
        "path",
        "tracked",
        "was_hidden",
        "with_head",
    )

    def __init__(self, path: bytes, form: ChangedPath, texts: Texts | None, tracked: bool) -> None:
        self.path = path
        self.form = form
        self.is_known = texts is not None
        self.before, self.after = texts or (None, None)
        self.mode: tuple[str | None, str | None] = (None, None)
        self.oid: str | None = None
        self.tracked = tracked
        self.op: str | None = None
        self.other: bytes | None = None
        self.move: Made | None = None
        self.mtime: int | None = None
        self.bases: tuple[bytes, ...] = ()
        self.was_hidden = False
        self.may_be_gits = False
        self.with_head = False
        self.is_head = False

    @property
    def is_new(self) -> bool:
        """True for a file that git does not track, whether it is new or somebody made it before."""
        return not self.tracked


def pair_moves(made: list[Made]) -> list[Made]:
    """Find files that a command moved; the move and a change of the text become two things.

    A text went at one path and came at exactly one other, unchanged or with at least half of its lines. Of
    several equal files those whose names end alike are one: a package moves with all its `__init__.py`.
    """
    gone = [one for one in made if one.is_known and one.before is not None and one.after is None]
    came = [one for one in made if one.is_known and one.after is not None and one.before != one.after]
    came = [one for one in came if not one.is_head]
    pairs = _equal(gone, came)
    rest = [one for one in gone if one not in pairs.values()]
    # A file that keeps half of its own lines was edited, and none was moved over it.
    new = [one for one in came if one not in pairs and not _is_half(_lines(one.before), _lines(one.after))]
    if len(rest) * len(new) <= _PAIRS:
        pairs |= _alike(rest, new)
    # a pull that renames a file takes along what was uncommitted in it, and that is git's move
    gits = {end for new, old in pairs.items() if new.with_head and old.with_head for end in (new, old)}
    out = []
    for one in made:
        if one in gits:
            continue
        old = pairs.get(one)
        out.append(one if old is None else _arrival(old, one))
        if old is not None and old.before != one.after:
            out.append(_edit_of(out[-1], one))
    return out


def _equal(gone: list[Made], came: list[Made]) -> dict[Made, Made]:
    """The moves without a change. An empty file that is there under another name need not be the same."""
    by_text: dict[bytes | None, list[Made]] = {}
    for one in came:
        by_text.setdefault(one.after, []).append(one)
    found = [(old, new) for old in gone for new in by_text.get(old.before, ())]
    if len(found) > _PAIRS:
        return _single(found)
    ends = [(_same_end(old.path, new.path), old, new) for old, new in found]
    pairs: dict[Made, Made] = {}
    for length in sorted({each[0] for each in ends}, reverse=True):
        level = [(old, new) for same, old, new in ends if same == length and (old.before or length)]
        pairs |= _single([(o, n) for o, n in level if o not in pairs.values() and n not in pairs])
    return pairs


def _same_end(old: bytes, new: bytes) -> int:
    """How many names at the end of two paths are the same."""
    pairs = list(zip(reversed(old.split(b"/")), reversed(new.split(b"/")), strict=False))
    return next((n for n, (a, b) in enumerate(pairs) if a != b), len(pairs))


def _alike(gone: list[Made], came: list[Made]) -> dict[Made, Made]:
    """For each move with a change the new end and its old one, where neither could belong to another move."""
    was = [(old, _lines(old.before)) for old in gone]
    now = [(new, _lines(new.after)) for new in came]
    return _single([(old, new) for old, lines in was for new, there in now if _is_half(lines, there)])


def _single(found: list[tuple[Made, Made]]) -> dict[Made, Made]:
    olds, news = Counter(id(old) for old, _ in found), Counter(id(new) for _, new in found)
    return {new: old for old, new in found if olds[id(old)] == news[id(new)] == 1}


def _is_half(old: set[bytes], new: set[bytes]) -> bool:
    """True where two texts have at least half of their lines in common."""
    return bool(old) and 2 * len(old & new) >= max(len(old), len(new))


def _lines(text: bytes | None) -> set[bytes]:
    return touched(None, text)


def _arrival(old: Made, new: Made) -> Made:
    """The move itself: the text that came is the text that went. git brings no text to another name."""
    found = Made(new.path, new.form, (new.before, old.before), new.tracked or old.tracked)
    found.mode, found.oid = (new.mode[0], old.mode[0] or new.mode[1]), old.form.before and old.form.before[0]
    old.op, old.other, found.op, found.other = "rename-from", new.path, "rename-to", old.path
    old.may_be_gits = False
    return found


def _edit_of(move: Made, new: Made) -> Made:
    """The change of a file that was moved in the same call."""
    found = Made(new.path, new.form, (move.after, new.after), True)
    found.mode, found.oid, found.move = new.mode, new.oid, move
    return found


def works_by_shell(transcript: object) -> bool:
    """True when an agent's own transcript says that it was told to change files by shell."""
    if not isinstance(transcript, str) or not transcript.startswith("/"):
        return False
    try:
        fd = files.open_foreign(transcript)
    except (OSError, ValueError):
        return False
    try:
        size = os.fstat(fd).st_size
        ends = os.pread(fd, _TRANSCRIPT, 0) + os.pread(fd, _TRANSCRIPT, max(_TRANSCRIPT, size - _TRANSCRIPT))
    except OSError:
        return False
    finally:
        os.close(fd)
    return any(words in ends for words in _SAYS_SO)


def rivals(made: Made, window: Window, others: Iterable[Window]) -> list[Window]:
    """The commands of other sessions that ran at the same time and may have made this change too.

    Of a move both ends are asked for, since nobody has one end alone.
    """
    to = made.move or made
    left = to.other if to.op == "rename-to" else None
    return [
        other
        for other in others
        if other.session != window.session
        and other.overlaps(window)
        and (
            other.may_have_made(made.path, made.form.after)
            or (left is not None and other.may_have_made(left, (None, None)))
        )
    ]


def _started_us(lay: Layout, other: Window, window: Window) -> bool:
    """True for a running command that our agent was started in: `git ralph run`, or another agent.

    What is recorded of ours while it runs is not its own.
    """
    if other.closed is not None or other.opened > window.opened:
        return False
    known = [sessionfile.read(lay, name) or {} for name in (other.session, window.session)]
    return process.has_started(*(one.get("process") for one in known))


def _is_apart(rival: Window, window: Window, path: bytes, texts: Texts | None) -> bool:
    """True for a command that began when a step of ``window`` was done, or had ended before the step.

    Its pictures of the file tell that. A text that the file had before may have been another time's.
    """
    if texts is None:
        return False
    row = None if rival.rows is None else rival.rows.get(path)
    began = row.before if row is not None else (rival.picture or {}).get(path)
    ended = row.after if row is not None else None
    before, after = (None if text is None else journal.text_id(text) for text in texts)
    if began is not None and after is not None and rival.opened > window.opened and began[0] == after:
        return True
    return ended is not None and before is not None and ended[0] == before


class OthersAtWork:
    """Edits of other sessions without a record, asked for once: nobody tells the lines of these.

    ``begun``: a tool has begun to edit a path and not told the end. ``claimed``: a script claimed paths alone
    since the command began.
    """

    __slots__ = ("begun", "claimed")

    def __init__(self, lay: Layout, call: "Call") -> None:
        self.begun: dict[object, set[str]] = {}
        self.claimed: dict[bytes, set[str]] = {}
        for name in files.names(lay.calls):
            for one in record.open_calls(f"{lay.calls}/{name}"):
                self.begun.setdefault(record.path_of_call(one), set()).add(_session_of(name))
        for name in files.names(lay.own, ".files"):
            if call.is_older(f"{lay.own}/{name}"):
                continue
            try:
                lines = files.read_bytes(f"{lay.own}/{name}", _JOURNAL).split(b"\n")
            except OSError:
                continue
            for line in set(lines):
                self.claimed.setdefault(line, set()).add(_session_of(name.removesuffix(".files")))

    def at(self, path: bytes, known: Journal) -> set[str]:
        """The sessions that may have edited a path; who has a record there tells its lines."""
        told = {one.session for one in known.records}
        return self.begun.get(record.path_text(path), set()) | self.claimed.get(line_form(path), set()) - told


def _session_of(stem: str) -> str:
    return stem.partition("~")[0]  # see `Layout.stem`


class Call:
    """The command that is recorded: its session, its call, and how its new files are treated.

    ``how`` is the value of ``ralph.shellEdits``; ``late``: nobody saw the command's end. ``older`` are the
    names of the commands that began before it and had not ended then.
    """

    __slots__ = ("fields", "head", "how", "late", "older", "window")

    def __init__(
        self, window: Window, fields: dict[str, object], how: str, head: str | None, late: bool
    ) -> None:
        self.older = set[tuple[str, str | None]]()
        self.window = window
        self.fields = fields
        self.how = how
        self.head = head
        self.late = late

    def _told(self, key: str) -> str | None:
        value = self.fields.get(key)
        return value if isinstance(value, str) else None

    def is_older(self, file: str) -> bool:
        """True where nobody has changed a file since the command began."""
        return shellcalls.is_older(file, self.fields.get("since"))

    def record(self, lay: Layout, made: Made, texts: Texts | None, disk: record.OnDisk) -> Record:
        """The record of one change by this command, as long as nothing speaks against it."""
        before, after = texts or (None, None)
        ids = tuple(None if text is None else journal.text_id(text) for text in (before, after))
        op = made.op or ("delete" if disk.mode is None else "edit")
        if texts is not None and made.op is None:
            op = "delete" if after is None else "create" if before is None else "edit"
        return Record(
            self.window.session,
            op,
            ids[0],
            ids[1] if texts is not None else disk.oid,
            NONE if texts is None else WINDOW,
            hunks=None if texts is None else _hunks(before or b"", after or b""),
            mode=made.mode,
            unknown_before=texts is None,
            agent_id=self._told("agent_id"),
            tool=self._told("tool"),
            call=self.window.name[1],
            ts=sessionfile.now(),
            other=record.path_text(made.other) if made.other is not None else None,
            seen=texts is not None,
            mtime=disk.mtime,
            head=self.head,
            shells=shellforms.mark(lay),
            by_shell=True,
        )


def _hunks(before: bytes, after: bytes) -> list[journal.TextHunk]:
    return [] if before == after else [journal.hunk_between(before, after)]


def write(lay: Layout, call: Call, made: list[Made]) -> list[str]:
    """Record what a command did; returns lines for the log."""
    for one in made:
        if one.is_known and one.after is None:
            one.before = _as_it_went(lay, call.window, one)
    told = list[str]()
    swapped = _swapped(made)
    if swapped:
        names = " and ".join(f"'{record.path_text(one.path)}'" for one in swapped)
        told.append(f"a shell call gave {names} one another's text: what is there is nobody's")
        made = [one for one in made if one not in swapped]
    # A folder's move changes none of its files, so only what was not moved can have been there before.
    made = [one for one in pair_moves(made) if one.op is not None or not one.was_hidden]
    new = [one for one in made if one.is_new]
    if len(new) > _NEW:
        told.append(f"a shell call made {len(new)} new files: none of them is told by line")
        made = [one for one in made if not one.is_new]
    beside = windows.read(lay, call.window.opened)
    others = [w for w in beside if w.session != call.window.session and not _started_us(lay, w, call.window)]
    call.older = {w.name for w in beside if w.opened < call.window.opened}
    by_shell = call.how == INCLUDE or (
        call.how == AUTO and bool(new) and works_by_shell(call.fields.get("transcript"))
    )
    at_work = OthersAtWork(lay, call)
    for one in made:
        try:
            _write_one(lay, call, one, rivals(one, call.window, others), at_work, by_shell)
        except OSError as error:
            told.append(f"'{record.path_text(one.path)}', changed by a shell call: {error.strerror or error}")
    return told


def _swapped(made: Iterable[Made]) -> list[Made]:
    """Files that have one another's text now, with whatever lines of others these had."""
    known = [one for one in made if one.is_known and None not in (one.before, one.after)]
    by_text = {(one.before, one.after): one for one in known if one.before != one.after}
    return [one for one in by_text.values() if (one.after, one.before) in by_text]


def _write_one(
    lay: Layout, call: Call, made: Made, beside: list[Window], at_work: OthersAtWork, takes_new: bool
) -> None:
    with files.Locked(lay.journal(made.path)) as fd:
        known, offered_to = journal.parse(os.pread(fd, os.fstat(fd).st_size, 0)), tuple[str, ...]()
        has_edits = _has_edits(known, call.window.session)
        if made.is_head and _is_as_recorded(known, made):
            return  # all that went is on record, and what git puts back is nobody's
        if made.op is not None and not made.tracked and not has_edits:
            old = known if made.op == "rename-from" else _journal(lay, made.other)
            offer = _offer_of(old, made.before if made.op == "rename-from" else made.after)
            if offer is not None and made.op == "rename-to":  # it is offered on, under its new name
                made.op = made.other = None
                offered_to = offer.may
            elif offer is not None or all(record.op == GAP for record in old.records):
                return  # the command explains the move, but not whose the text is
        if made.op is not None:
            made.tracked = True
        if made.move is not None and not made.move.tracked:
            return
        pieces = _pieces(lay, call, known, made)
        disk = record.OnDisk(made.after, made.mode[1], made.oid, made.mtime)
        for texts, with_whom in pieces:
            found = call.record(lay, made, texts, disk)
            near = (w for w in beside if made.op or not _is_apart(w, call.window, made.path, texts))
            rival = {one.session for one in near}
            may = sorted(
                {call.window.session, *rival, *offered_to, *at_work.at(made.path, known), *with_whom}
            )
            # An untracked file that somebody else may have made before stays theirs until somebody asks for
            # it.
            is_recorded = has_edits or _is_as_recorded(known, made)
            is_strange = made.is_new and not (is_recorded or _is_own_start(known, call.window.session, made))
            only_asked = call.late or call.how == OFFER or is_strange or made.may_be_gits
            offered = made.is_new and not (takes_new or is_recorded)
            if len(may) > 1 or only_asked or offered:
                if texts is None:
                    continue  # A change by path alone has no parts that could be given to anybody.
                found.op, found.may, found.loose = GAP, tuple(may), only_asked
            else:
                sessionfile.claim(lay, call.window.session, line_form(made.path))
            journal.append(lay, fd, made.path, found, texts[0] if texts is not None else None)


def _as_it_went(lay: Layout, window: Window, gone: Made) -> bytes | None:
    """The text that a file had when the command took it away.

    Another's edit while the command ran came before, so its lines went along to where the file was moved.
    """
    known = _journal(lay, gone.path)
    if not any(shellforms.is_since(r.shells, lay, window.opened) for r in known.records):
        return gone.before
    last, _, after = journal.replay(known, lay)[-1]
    return after if last.is_exact and after is not None else gone.before


def _offer_of(known: Journal, text: bytes | None) -> Record | None:
    """The record of a command that made a whole new file, where the file is still as it was left."""
    last = known.records[-1] if known.records else None
    is_offer = last is not None and last.op == GAP and last.may and last.before is None
    return last if is_offer and last is not None and last.after == journal.text_id(text or b"") else None


def _has_edits(known: Journal, session: str) -> bool:
    return any(r.op != GAP and r.session == session for r in known.records)


def _is_as_recorded(known: Journal, made: Made) -> bool:
    """True where the command found the file as a recorded edit had left it."""
    last = known.records[-1] if known.records else None
    found = journal.text_id(made.before) if made.before is not None else None
    return last is not None and last.op != GAP and last.after == found is not None


def _is_own_start(known: Journal, session: str, made: Made) -> bool:
    """True where nothing was there before, or only what this session's commands had made and left."""
    if made.before is None:
        return True
    last = known.records[-1] if known.records else None
    is_own = last is not None and last.may == (session,) and not last.loose
    return is_own and last is not None and last.after == journal.text_id(made.before)


def _journal(lay: Layout, path: bytes | None) -> Journal:
    """The journal of another path; only a commit may be reading it now."""
    try:
        return journal.parse(files.read_bytes(lay.journal(path or b""), _JOURNAL))
    except OSError:
        return Journal()


def _pieces(lay: Layout, call: Call, known: Journal, made: Made) -> list[tuple[Texts | None, set[str]]]:
    """The steps of the command, each with the sessions that changed one of its lines meanwhile.

    What was recorded while the command ran is not the command's. So its steps lie before, between and after
    those records.
    """
    if not made.is_known:
        last = known.records[-1] if known.records else None
        return [] if last is not None and last.after == made.oid else [(None, set())]
    window = call.window
    inside = {r.offset for r in known.records if shellforms.is_since(r.shells, lay, window.opened)}
    if not inside:
        return [((made.before, made.after), set())] if _differs(made) else []
    rows = [(r, b, a) for r, b, a in journal.replay(known, lay) if r.offset in inside]
    if others := {r.session for r, _, _ in rows if not r.is_exact} - {window.session}:
        return [((made.before, made.after), others)]
    rows = _in_order(row for row in rows if row[0].is_exact and not _is_move_of(row[0], window, made))
    # Hooks take their time. So a record of something before the picture, or after the command's end, may be
    # among these records.
    late = [n for n, (_, _, after) in enumerate(rows) if after == made.before]
    rows = rows[late[-1] + 1 :] if late else rows
    if rows and rows[-1][2] != made.after:
        early = [n for n, (_, before, _) in enumerate(rows) if before == made.after]
        rows = rows[: early[0]] if early else rows
    out: list[tuple[Texts | None, set[str]]] = []
    if made.bases and rows:  # what others did in between began where the command did
        made.before = min(made.bases, key=lambda text: len(touched(text, rows[0][1])))
    at = made.before
    steps: list[Texts] = []
    for found, before, after in rows:
        # of a move over a file no record has what was there before, and that is no deletion by the command
        is_onto = found.op == "rename-to" and before is None
        # what a command found that began earlier was there before this one; it has told of all up to its end
        is_older = found.by_shell and (found.session, found.call) in call.older
        if at != before and not is_onto and not is_older:
            steps.append((at, before))
        at = after
    if at != made.after:
        steps.append((at, made.after))
    theirs = [(r.session, touched(b, a)) for r, b, a in rows if r.session != window.session]
    for whole in steps:
        clash = set[bytes]().union(*(lines for _, lines in theirs))
        for step in _parted(whole, clash) if made.op is None else [whole]:
            lines = touched(*step)
            out.append((step, {name for name, touched in theirs if not lines.isdisjoint(touched)}))
    return out


def _parted(step: Texts, clash: set[bytes]) -> list[Texts]:
    """A step in two: first the places without a line of `clash`, then the others; else the step itself."""
    before, after = step
    if before is None or after is None or clash.isdisjoint(touched(before, after)):
        return [step]
    # for the rare line that two changed; a hook pays for each import
    from difflib import SequenceMatcher

    lines, between = journal.full_lines(before), journal.hunk_between(before, after)
    end = between.start + between.removed
    old, new = lines[between.start : end], between.lines
    if len(old) * len(new) > _CELLS:
        return [step]
    middle = lines[: between.start]
    for _, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        both = touched(b"".join(old[i:j]), b"".join(new[k:m]))
        middle += new[k:m] if both.isdisjoint(clash) else old[i:j]
    text = b"".join([*middle, *lines[end:]])
    return [one for one in ((before, text), (text, after)) if one[0] != one[1]]


def _in_order(rows: Iterable[Row]) -> list[Row]:
    """Records as things happened: what a command did is told at its end, behind the edits on top of it."""
    out: list[Row] = []
    for row in rows:
        made = row[0]
        is_next = not made.by_shell or not out or out[-1][0].after == made.before
        later = () if is_next else (n for n, (other, _, _) in enumerate(out) if other.before == made.after)
        out.insert(next(iter(later), len(out)), row)
    return out


def _is_move_of(found: Record, window: Window, made: Made) -> bool:
    """True for the record, written just now, of the move in the same call."""
    return made.move is not None and found.op == "rename-to" and found.session == window.session


def _differs(made: Made) -> bool:
    return made.before != made.after or made.mode[0] != made.mode[1]


def touched(before: bytes | None, after: bytes | None) -> set[bytes]:
    """The telling lines that come or go by a step; a new line end changes none."""
    gone, come = line_counts(before, after)
    changed = gone | come
    return {line.strip() for line in changed if any(chr(c).isalnum() or c > 127 for c in line)}


def line_counts(before: bytes | None, after: bytes | None) -> tuple[Counter[bytes], Counter[bytes]]:
    """How many of each line a step takes away, and how many it brings."""
    old, new = (
        Counter(line.rstrip(b"\r\n") for line in journal.full_lines(text or b"")) for text in (before, after)
    )
    return old - new, new - old


def lines_of(texts: Iterable[bytes]) -> set[bytes]:
    """All telling lines of some texts."""
    return {line for text in texts for line in _lines(text)}


def is_gits(made: Made, stash: Texts, is_gone: bool) -> bool:
    """True when a stash holds the same change that a command made: then git put it there.

    A line that stood in the file before, or still stands in it, proves nothing. git brings all lines of a
    stash; where only few of them come, such as a lone `return`, somebody wrote them. A stash that only takes
    lines away is known by these lines; one that is still there after the command (``is_gone`` False) only
    where the command did nothing else. When a person removes the same lines, they become nobody's. Only a
    stash without the file takes the file away.
    """
    if made.after is None and stash[1] is not None:
        return False
    went, came = _gone_and_come(made.before, made.after)
    taken, brought = _gone_and_come(*stash)
    if brought:
        common = came & brought
        is_whole = brought <= came | lines_of([made.before or b""])
        return bool(common) and (is_whole or 2 * len(common) > len(came))
    if not taken:
        return False
    return taken <= went if is_gone else line_counts(made.before, made.after) == line_counts(*stash)


def brings(made: Made) -> bool:
    """True where a change brings a line that says something, and does not only take lines away."""
    return bool(_gone_and_come(made.before, made.after)[1])


def _gone_and_come(before: bytes | None, after: bytes | None) -> tuple[set[bytes], set[bytes]]:
    old, new = lines_of([before or b""]), lines_of([after or b""])
    return old - new, new - old
