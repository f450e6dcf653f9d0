"""``git ralph assign``: what nobody recorded becomes a session's, because a person says so.

Lines are given one by one, read from the same weave as for a commit. Where lines cannot be told apart, whole
paths are given. The journal of each path gets one record; the working tree is only read. What another session
recorded is refused, and then nothing at all is written.
"""

import os
import shlex
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from gitralph.base import files, locks
from gitralph.base.errors import RalphError, Refused, UsageError
from gitralph.base.kinds import Kind, Why
from gitralph.base.quote import shown
from gitralph.commit import cleanup, land
from gitralph.decide import by_pieces, decision, inputs, path_texts, text_chain
from gitralph.decide.decision import Left, Note
from gitralph.decide.inputs import Scene, open_bench
from gitralph.decide.path_texts import PathTexts
from gitralph.git import refs
from gitralph.git.context import Context, refuse_operation
from gitralph.git.snapshot import Content, LeadsOutError, Worktree
from gitralph.git.texts import is_binary
from gitralph.git.trees import GITLINK
from gitralph.git.typed import as_name, as_pathspec
from gitralph.hook import journal, sessionfile
from gitralph.hook.journal import ASSIGN, GAP, NONE, PAYLOAD, Record, TextHunk, full_lines, replay, text_id
from gitralph.lines import choose, give, owners, reverse
from gitralph.lines.give import Unrecorded
from gitralph.lines.terms import Step
from gitralph.records import manifests, path_records
from gitralph.records.path_records import PathState
from gitralph.takeback import land_files
from gitralph.words import advice, sentences

__all__ = ["Assigned", "Lines", "Unowned", "Unrecorded", "Wanted", "assign"]
Lines = by_pieces.Range
# A try is lost when an edit is recorded while the file is read.
_TRIES = 3
# A hint shows its command in one line to copy, so it names no more paths than this.
_MOST = 10


@dataclass(frozen=True)
class Unowned:
    """What nobody recorded in one path, and the text in which it stands.

    ``whole`` is the reason why its lines cannot be told apart, None where they can. ``others`` maps the lines
    that other sessions have pending to these sessions. ``writers`` are the sessions that wrote since HEAD's
    text. ``needless`` is the reason why there is nothing to give.
    """

    path: bytes
    state: PathState
    content: Content
    head: bytes | None
    head_mode: int | None
    commit: str | None
    changes: list[Unrecorded] = field(default_factory=list)
    others: dict[int, str] = field(default_factory=dict)
    writers: frozenset[str] = frozenset()
    whole: Why | None = None
    needless: Why | None = None
    mode: bool = False
    known: PathTexts | None = None
    owners: frozenset[str] = frozenset()

    @property
    def count(self) -> int:
        """The number of lines of the file."""
        return len(full_lines(self.content.data or b""))


@dataclass(frozen=True)
class Assigned:
    """The result of an assignment; ``paths`` are the lines that each path gave.

    ``given`` holds by path the sessions to which a person assigned lines that are asked for.
    """

    status: str
    session: str
    paths: dict[bytes, list[Lines]] = field(default_factory=dict)
    left: list[Left] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    given: dict[bytes, set[str]] = field(default_factory=dict)


Wanted = dict[bytes, list[Lines] | None]
Pick = Callable[[Unowned, list[Unrecorded]], list[Unrecorded]]
"""Asks a person which of the changes to give."""


def assign(ctx: Context, session: str, wanted: Wanted, pick: Pick | None = None) -> Assigned:
    """Give ``session`` what nobody recorded in these paths: in some of their lines, or everywhere.

    Raises Refused with nothing written, UsageError for lines that a file does not have.
    """
    refuse_operation(ctx, "assigned")
    # First finish what a kill cut short: it may be this very assignment.
    with locks.hold(ctx.layout, locks.COMMIT):
        cleanup.under_lock(ctx)
    before: dict[bytes, Content] = {}
    for _ in range(_TRIES):
        found = _survey(ctx, session, wanted)
        moved = [one for one in found if before.get(one.path, one.content) != one.content]
        if any(wanted[one.path] is not None or pick for one in moved):
            break  # line numbers, and answers to questions, were about the earlier text
        before = {one.path: one.content for one in found}
        result = Assigned("nothing", session)
        chosen = {one.path: _choose(ctx, one, session, wanted[one.path], pick, result) for one in found}
        _refuse(ctx, session, result)
        records = _records(ctx, session, found, chosen, pick is None and wanted, result)
        if not records:
            return result
        if append_all(ctx, found, records):
            return replace(result, status="assigned")
    left = [Left(path, decision.STALE, Why(Kind.KEEPS_CHANGING)) for path in wanted]
    raise Refused(advice.headline(ctx.layout, left), left=tuple(left))


# --- what is there ---


def _survey(ctx: Context, session: str, wanted: Wanted) -> list[Unowned]:
    claims = [path_records.claims(ctx.layout, name) for name in manifests.sessions_here(ctx.layout)]
    states = {path: path_records.path_state(ctx.layout, path, claims) for path in wanted}
    head = refs.read_head(ctx.repo)
    with open_bench(ctx, quarantine=True) as bench, Worktree(ctx.repo.root) as worktree:
        family = path_records.family(ctx.layout, session)
        scene = inputs.look(inputs.question(ctx, bench, worktree, head, family), states)
        ignored = {path: Left(path, decision.IGNORED, Why(Kind.IGNORED)) for path in scene.ignored}
        barred = {**ignored, **scene.barred}
        if barred:
            left = list(barred.values())
            raise Refused(advice.headline(ctx.layout, left), left=tuple(left))
        return [_look(ctx, scene, state) for state in states.values()]


def _look(ctx: Context, scene: Scene, state: PathState) -> Unowned:
    path = state.path
    content, entry = scene.contents[path], scene.reader.entry(path)
    found = Unowned(path, state, content, None, entry.mode if entry else None, scene.head)
    if scene.is_as_in_head(path):
        return replace(found, needless=Why(Kind.EQUALS_HEAD))
    claimed = path_texts.claimants(state)
    others = claimed - scene.own
    if others:
        ways = [
            f"git ralph track --release --session {ctx.called(name)} -- {as_name(ctx, path)}"
            for name in (() if ctx.is_agent else sorted(others))
        ]
        left = Left(path, decision.CONTESTED, Why(Kind.CLAIMED_WHOLE), tuple(sorted(others)))
        raise Refused(advice.describe(ctx.layout, left), *ways, left=(left,))
    if claimed:
        return replace(found, needless=Why(Kind.CLAIMED_ALREADY))
    writers = frozenset(r.session for r in text_chain.since_head(scene, state) if r.op != GAP)
    found = replace(found, whole=_whole(scene, state), writers=writers)
    if content.mode != GITLINK and found.whole is None:
        found = _with_lines(scene, state, found)
    elif content.mode != GITLINK and (entry is None or entry.mode != GITLINK):
        found = _from_last(scene, state, replace(found, head=path_texts.head_text(scene, path)))
    return replace(found, mode=_has_new_mode(found))


def _whole(scene: Scene, state: PathState) -> Why | None:
    content = scene.contents[state.path]
    barred = path_texts.whole_only(scene, state)
    if barred is not None:
        return barred[1]
    if is_binary(content.data) or is_binary(path_texts.head_text(scene, state.path)):
        return Why(Kind.BINARY)
    return None


def _with_lines(scene: Scene, state: PathState, found: Unowned) -> Unowned:
    known = path_texts.read(scene, state)
    barred = None
    if path_texts.lost_text(scene, state):
        barred = Left(state.path, decision.UNANCHORED, path_texts.LOST_TEXT)
    elif known.seen.blocks:
        barred = Left(state.path, decision.STALE, Why(Kind.HOOK_LINES))
    if barred is not None:
        raise Refused(advice.describe(scene.layout, barred), left=(barred,))
    pieces = known.pieces_by(_steps(known))
    return replace(
        found,
        head=known.head,
        known=known,
        owners=scene.own,
        changes=give.unrecorded(pieces, scene.own, known.steps),
        others=give.recorded(pieces, scene.own),
    )


def _steps(known: PathTexts) -> list[Step]:
    """The steps of a path; where there is none, a step that starts from HEAD's text."""
    return known.steps or [Step("head", None, known.base, known.base)]


def _from_last(scene: Scene, state: PathState, found: Unowned) -> Unowned:
    """Set the text from which a claim of the whole path starts: what this session recorded last."""
    rows = replay(state.journal, scene.layout)
    if not rows or not rows[-1][0].is_exact or rows[-1][0].session not in scene.own:
        return found
    needless = Why(Kind.RECORDED_ALREADY) if rows[-1][2] == found.content.data else None
    return replace(found, head=rows[-1][2], needless=needless)


def _has_new_mode(found: Unowned) -> bool:
    """True when nobody recorded a change of the executable bit; the bit goes with the whole path."""
    if found.head_mode is None or found.content.absent or found.content.mode == found.head_mode:
        return False
    return text_chain.mode_of(found.state.journal.records, found.content, found.head_mode)[1]


# --- what is wanted of it ---


def _choose(
    ctx: Context,
    found: Unowned,
    session: str,
    wanted: list[Lines] | None,
    pick: Pick | None,
    result: Assigned,
) -> list[Unrecorded]:
    if wanted is not None:
        _check(found, wanted)
    if found.needless:
        _note(ctx, found, Why(Kind.NOTHING_TO_ASSIGN, because=found.needless), result)
        return []
    if found.whole is not None:
        _choose_whole(found, session, wanted is not None or pick is not None, result)
        return []
    chosen = [one for one in found.changes if wanted is None or _is_within(found, one, wanted)]
    if wanted is not None:
        result.left.extend(_recorded(found, wanted))
        result.given[found.path] = _assigned(found, wanted)
    if pick is None:
        result.left.extend(_in_the_way(found, chosen))
    else:
        barred = _in_the_way(found, chosen)
        result.notes.extend([advice.not_asked(ctx.layout, left) for left in barred])
        chosen = pick(found, [one for one in chosen if not one.sessions and not one.stale])
    if not chosen and not result.left and not (found.mode and wanted is None and pick is None):
        _note(ctx, found, Why(Kind.NOTHING_CHOSEN if pick else Kind.NOTHING_UNRECORDED), result)
    return chosen


def _note(ctx: Context, found: Unowned, why: Why, result: Assigned) -> None:
    result.notes.extend(sentences.told(ctx.layout, [Note(found.path, why)]))


def _check(found: Unowned, wanted: list[Lines]) -> None:
    for first, last in wanted:
        if not 0 < first <= last <= found.count + 1:
            lines = f"{first}-{last}" if first != last else str(first)
            raise UsageError(
                f"'{shown(found.path)}' has {found.count} line{'s'[: found.count != 1]}; there is no {lines}"
            )


def _choose_whole(found: Unowned, session: str, parts: bool, result: Assigned) -> None:
    others = found.writers - {session}
    if parts:
        why = Why(Kind.WHOLE_PATH_ONLY, because=found.whole)
        result.left.append(Left(found.path, decision.CONTESTED, why))
    elif others:
        why = Why(Kind.ANOTHER_THERE, because=found.whole)
        result.left.append(Left(found.path, decision.CONTESTED, why, tuple(sorted(others))))


def _is_within(found: Unowned, one: Unrecorded, wanted: list[Lines]) -> bool:
    """True for a change in these lines.

    A removal at the end of a file without a newline counts for the last line.
    """
    lines = {one.line}
    if one.line > found.count > 0 and not any(other.line == found.count for other in found.changes):
        lines.add(found.count)
    return any(first <= line <= last for first, last in wanted for line in lines)


def _recorded(found: Unowned, wanted: list[Lines]) -> list[Left]:
    """Those of the wanted lines that other sessions recorded."""
    asked = {n for first, last in wanted for n in range(first, last + 1)}
    rows = [(n, name) for n, name in sorted(found.others.items()) if n in asked]
    out: list[Left] = []
    for name in sorted({name for _, name in rows}):
        for lines in by_pieces.ranges(n for n, whose in rows if whose == name):
            why = Why(Kind.RECORDED_BY, (name,))
            out.append(Left(found.path, decision.CONTESTED, why, (name,), lines))
    return out


def _assigned(found: Unowned, wanted: list[Lines]) -> set[str]:
    """The sessions that have one of the wanted lines by an assignment, which can be released."""
    if found.known is None:
        return set()
    made = {str(r.offset): r.session for r in found.state.journal.records if r.tool == ASSIGN}
    asked = {n for first, last in wanted for n in range(first, last + 1)} & found.others.keys()
    keys = [one.key for n, one in enumerate(owners.by_line(found.known.pieces), 1) if n in asked]
    return {made[key] for key in keys if key in made}


def _in_the_way(found: Unowned, chosen: Sequence[Unrecorded]) -> list[Left]:
    out = []
    for one in chosen:
        # A removal at the end stands behind the last line; a person can look at that line.
        lines = (min(one.line, max(found.count, 1)),) * 2
        if one.sessions:
            out.append(Left(found.path, decision.CONTESTED, Why(Kind.AMONG_OTHERS), one.sessions, lines))
        elif one.stale:
            kind = Kind.NO_FILE_IN_HEAD if found.head is None else Kind.HEAD_DRIFTED
            out.append(Left(found.path, decision.STALE, Why(kind), (), lines))
    return out


def _refuse(ctx: Context, session: str, result: Assigned) -> None:
    if not result.left:
        return
    hints = []
    for left in result.left:
        if left.lines and left.sessions:
            hints.append(f"git ralph why {as_name(ctx, left.path)}:{left.lines[0]}")
            hints += [
                f"git ralph track --release --session {ctx.called(name)} -- {as_name(ctx, left.path)}"
                "  # takes back what was assigned to it there"
                for name in (() if ctx.is_agent else left.sessions)
                if name in result.given.get(left.path, ())
            ]
        elif ctx.is_agent:
            continue
        elif left.lines is None and not left.sessions:
            hints.append(f"git ralph assign --to {ctx.called(session)} -- {as_name(ctx, left.path)}")
        else:
            given = f"--whole-file -- {as_pathspec(ctx, left.path)}  # as it stands, whoever changed it"
            hints += [f"git ralph commit --session {ctx.called(name)} {given}" for name in left.sessions]
    raise Refused(advice.headline(ctx.layout, result.left), *dict.fromkeys(hints), left=tuple(result.left))


# --- what is written ---


def _records(
    ctx: Context,
    session: str,
    found: list[Unowned],
    chosen: dict[bytes, list[Unrecorded]],
    whole_paths: "Wanted | bool",
    result: Assigned,
) -> dict[bytes, tuple[Record, bytes | None]]:
    out = {}
    for one in found:
        everything = isinstance(whole_paths, dict) and whole_paths[one.path] is None
        if one.needless:
            continue
        made = _whole_record(session, one) if one.whole is not None else None
        if one.whole is None and (chosen[one.path] or (one.mode and everything)):
            made = _lines_record(ctx, session, one, chosen[one.path], everything)
        if made is not None:
            out[one.path] = made
            result.paths[one.path] = by_pieces.ranges(change.line for change in chosen[one.path])
    return out


def _without(
    found: Unowned, chosen: Sequence[Unrecorded]
) -> tuple[bytes | None, Sequence[tuple[int, int, int]]]:
    """The file without these changes, and their places in it."""
    after = found.content.data
    is_converted = found.known is not None and found.known.converted
    eol = b"\r\n" if is_converted and b"\r\n" in (after or b"") else b"\n"
    return give.without(after, found.head, chosen, eol) if chosen else (after, [])


def _lines_record(
    ctx: Context, session: str, found: Unowned, chosen: list[Unrecorded], everything: bool
) -> tuple[Record, bytes | None]:
    before, places = _without(found, chosen)
    hunks = _hunks(before, found.content.data, places)
    if hunks is None or (chosen and _given(session, found, chosen, before, hunks) is None):
        why = Why(Kind.LIKE_NEIGHBOURS)
        left = Left(found.path, decision.CONTESTED, why, (), (chosen[0].line, chosen[-1].line))
        raise Refused(
            advice.describe(ctx.layout, left),
            left=(left,),
        )
    mode: tuple[str | None, str | None] = (None, None)
    if found.mode and everything:
        mode = f"{found.head_mode:o}", f"{found.content.mode:o}"
    if before is None:
        mode = None, f"{found.content.mode:o}"
    return _record(session, found, ASSIGN if chosen else "edit", before, hunks, mode), before


def _given(
    session: str, found: Unowned, chosen: Sequence[Unrecorded], before: bytes | None, hunks: list[TextHunk]
) -> list[Step] | None:
    """The steps with an assignment's record; None where it would not be read as exactly these changes."""
    known = found.known
    assert known is not None
    old, steps = path_texts.one_form(before) if known.converted else before, _steps(known)
    given = path_texts.takes_of(hunks, old, known.disk)
    if given is None:
        return None
    then = [*steps, Step("given", session, known.disk, known.disk, seen=True, takes=given)]
    fits = give.is_exact(known.pieces_by(steps), known.pieces_by(then), found.owners, chosen, known.steps)
    return then if fits else None


# --- a way out for a commit, or an undo ---


def ways_out(ctx: Context, session: str, left: Sequence[Left], undo: bool = False) -> list[str]:
    """Hints: what a person may give a session so that its refused commit or undo goes; each was tried.

    One command names everything that is refused. It is given only where nothing but unrecorded lines stands
    in the way.
    """
    refused = [one for one in left if one.refuses]
    if ctx.is_agent or not refused:
        return []
    wanted: dict[bytes, list[Lines]] = {}
    for one in refused:
        if one.reason != decision.ENTANGLED or set(one.sessions) != {decision.UNRECORDED} or not one.lines:
            return []
        wanted.setdefault(one.path, []).append(one.lines)
    try:
        found = _survey(ctx, session, dict.fromkeys(wanted))
    except RalphError:
        return []
    places = []
    for path in found:
        near = _around(path, wanted[path.path])
        chosen = next((some for some in (near, path.changes) if _lets_go(session, path, some, undo)), None)
        if chosen is None:
            return []
        name = as_name(ctx, path.path)
        places += [f"{name}:{a}" + (f"-{b}" if b > a else "") for a, b in by_pieces.ranges(_at(path, chosen))]
    if len(places) > _MOST:
        return []
    given = shlex.quote(ctx.called(session))
    return [f"git ralph assign --to {given} -- {' '.join(places)}  # if it made these lines too"]


def _at(found: Unowned, chosen: Sequence[Unrecorded]) -> set[int]:
    return {min(one.line, max(found.count, 1)) for one in chosen}


def _around(found: Unowned, wanted: Sequence[Lines]) -> list[Unrecorded]:
    """The unrecorded changes that touch the wanted lines, and those that touch such a change."""
    near = {n for first, last in wanted for n in range(first, last + 1)}
    free = {one.line for one in found.changes}
    while more := {n for n in free - near if {n - 1, n, n + 1} & near}:
        near |= more
    return [one for one in found.changes if one.line in near]


def _lets_go(session: str, found: Unowned, chosen: Sequence[Unrecorded], undo: bool) -> bool:
    """True when a commit or an undo is refused nothing of the path after the session got these changes."""
    known = found.known
    if known is None or not chosen or _in_the_way(found, chosen):
        return False
    before, places = _without(found, chosen)
    hunks = _hunks(before, found.content.data, places)
    then = None if hunks is None else _given(session, found, chosen, before, hunks)
    if then is None:
        return False
    if undo:
        return not reverse.undone(known.pieces_by(then), then, found.owners).refused
    after = choose.separate(
        known.head,
        then,
        known.disk,
        owners=found.owners,
        held=known.heads.lines,
        heads=known.heads.texts,
        has=known.heads.lines_then,
        moved=known.moved,
        resets=known.heads.resets,
    )
    return not after.refused


def _hunks(
    before: bytes | None, after: bytes | None, places: Sequence[tuple[int, int, int]]
) -> list[TextHunk] | None:
    """The places as hunks.

    Where only the newline at the end changes, the hunk takes in the line that it ends.
    """
    if before is None or after is None:
        return [journal.hunk_between(before or b"", after or b"")] if (before or after) else []
    count, new, shift, out = len(full_lines(before)), full_lines(after), 0, list[TextHunk]()
    for start, removed, added in places:
        out.append(TextHunk(start, removed, new[start + shift : start + shift + added]))
        shift += added - removed
    # The newline at the end may take in the line that it ends, and that line the hunk above it.
    for _ in range(3):
        if journal.apply_hunks(before, out) == after:
            return out
        last = out.pop() if out and _end(out[-1]) == count else TextHunk(count, 0, [])
        if out and _end(out[-1]) == last.start:
            up = out.pop()
            last = TextHunk(up.start, up.removed + last.removed, up.lines + last.lines)
        elif last.start and len(new) > len(last.lines):
            above = new[len(new) - len(last.lines) - 1]
            last = TextHunk(last.start - 1, last.removed + 1, [above, *last.lines])
        out.append(last)
    return None


def _end(hunk: TextHunk) -> int:
    return hunk.start + hunk.removed


def _whole_record(session: str, found: Unowned) -> tuple[Record, bytes | None] | None:
    """The record that gives a path without known lines: its text as it stands, from the last recorded one."""
    after = found.content.data
    if found.content.mode == GITLINK or max(len(after or b""), len(found.head or b"")) > journal.TEXT_LIMIT:
        oid = None if after is None else text_id(after)
        op = "delete" if found.content.absent else "edit"
        mode = None if found.content.absent else f"{found.content.mode:o}"
        made = Record(
            session,
            op,
            None,
            oid,
            NONE,
            mode=(None, mode),
            unknown_before=True,
            tool=ASSIGN,
            ts=sessionfile.now(),
            head=found.commit,
        )
        return made, None
    before = found.head
    if before == after and not found.mode:
        return None
    old = None if found.head_mode is None else f"{found.head_mode:o}"
    new = None if found.content.absent else f"{found.content.mode:o}"
    op = "delete" if after is None else "create" if before is None else "edit"
    hunks = [] if before == after else [journal.hunk_between(before or b"", after or b"")]
    return _record(session, found, op, before, hunks, (old, new)), before


def _record(
    session: str,
    found: Unowned,
    op: str,
    before: bytes | None,
    hunks: list[TextHunk],
    mode: tuple[str | None, str | None],
) -> Record:
    after = found.content.data
    return Record(
        session,
        op,
        None if before is None else text_id(before),
        None if after is None else text_id(after),
        PAYLOAD,
        hunks=hunks,
        mode=mode,
        tool=ASSIGN,
        head=found.commit,
        ts=sessionfile.now(),
        seen=True,
    )


def append_all(ctx: Context, found: list[Unowned], records: dict[bytes, tuple[Record, bytes | None]]) -> bool:
    """Append all records, or none where a journal or a file is not what was read any more."""
    layout = ctx.layout
    with locks.hold(layout, locks.COMMIT), ExitStack() as stack:
        held: dict[bytes, int] = {}
        for one in sorted(
            # All who hold several journals take them in one order, so that two assignments never wait for
            # each other.
            (one for one in found if one.path in records),
            key=lambda one: layout.journal(one.path),
        ):
            held[one.path] = files.open_locked(layout.journal(one.path), wait=land.WAIT)
            stack.callback(os.close, held[one.path])
        with Worktree(ctx.repo.root) as worktree:
            for one in found:
                # All journals are locked and checked before the first is written: all or none.
                if one.path in held and not _is_as_read(worktree, one, held[one.path]):
                    return False
        land_files.record(ctx, records, held)
    return True


def _is_as_read(worktree: Worktree, one: Unowned, fd: int) -> bool:
    try:
        return os.fstat(fd).st_size == one.state.journal.length and worktree.read(one.path) == one.content
    except LeadsOutError:
        return False
