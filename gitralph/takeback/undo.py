"""``git ralph undo``: takes this session's pending edits out of the working tree, and moves nothing else.

Edits on which others built are refused. An undo is recorded with what it took out, so that ``redo`` brings
every byte back.
"""

import itertools
import os
import shlex
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from gitralph.base import locks
from gitralph.base.errors import Fatal, Refused
from gitralph.base.kinds import Kind, Why
from gitralph.base.quote import shown
from gitralph.commit import cleanup
from gitralph.decide import decision, offers, pathspecs, text_chain
from gitralph.decide.decision import Left
from gitralph.git import index, uncommitted
from gitralph.git.context import Context, refuse_operation
from gitralph.git.snapshot import Content
from gitralph.git.trees import FILES
from gitralph.git.typed import as_name, as_pathspec
from gitralph.hook.journal import REDO, RESTORE, UNDO, Record
from gitralph.lines.terms import ARRIVED, step_of
from gitralph.records import over_time, path_records
from gitralph.records.path_records import PathState
from gitralph.takeback import by_lines, land_files, whole_files
from gitralph.takeback.land_files import Replacement
from gitralph.takeback.survey import Survey, UndoRequest, in_order, survey
from gitralph.words import advice, ways_out

DONE = {UNDO: "undone", REDO: "redone", RESTORE: "restored"}
# A try is lost when an edit is recorded while files are read. After three in a row somebody is typing.
_TRIES = 3


@dataclass
class TakenBack:
    """The result of an undo, a redo or a restore, as the ``--json`` document tells it."""

    status: str
    session: str | None
    changes: list[Replacement] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class UndoPlan:
    """What would be written, and what would not."""

    call: str
    changes: list[Replacement] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)

    def take(self, answer: Replacement | Left | None) -> None:
        """Add what becomes of a path as a whole; None adds nothing."""
        if isinstance(answer, Left):
            self.left.append(answer)
        elif answer is not None:
            self.changes.append(answer)


Planner = Callable[[Context, UndoRequest], UndoPlan]


def undo(ctx: Context, request: UndoRequest, dry: bool = False) -> TakenBack:
    """Take edits back. Raises Refused with nothing written, Fatal for an unknown call."""
    return carry_out(ctx, request, UNDO, _plan, dry)


def left_by_shell(ctx: Context, session: str) -> list[bytes]:
    """The new files that shell commands of the session made: an undo leaves them, as a commit does."""
    family = path_records.family(ctx.layout, session)
    touched = offers.paths(ctx, family)
    found = offers.left_by_commands(ctx, touched) if touched else {}
    letters = uncommitted.dirty(ctx.repo, ctx.config, found) if found else {}
    new = (path for path in found if letters.get(path) == uncommitted.UNTRACKED)
    return sorted(path for path in new if offers.explain(ctx, path, family))


def carry_out(ctx: Context, request: UndoRequest, op: str, planner: Planner, dry: bool) -> TakenBack:
    """Plan and write; plan again where somebody changed a file meanwhile, and keep what they wrote."""
    refuse_operation(ctx, "written")
    result = TakenBack("nothing", request.session)
    planner = _with_room(planner)
    if dry:
        made = planner(ctx, request)
        _refuse(ctx, request, op, made, planner)
        _report(result, made, "dry-run")
        return result
    with locks.hold(ctx.layout, locks.COMMIT):
        # Finish first an undo that a kill cut short: its records say which edits are still in the files.
        cleanup.under_lock(ctx)
        asked = request
        for attempt in range(_TRIES):
            made = planner(ctx, asked)
            # The whole is refused only at the first look. At a later one some files are written already, and
            # they stay so.
            if attempt == 0:
                _refuse(ctx, request, op, made, planner)
            moved = [path for turn in _turns(made.changes) for path in land_files.land(ctx, turn)]
            late = [Left(p, decision.STALE, Why(Kind.KEEPS_CHANGING)) for p in moved]
            done = replace(
                made,
                changes=[one for one in made.changes if one.path not in moved],
                left=made.left + (late if attempt == _TRIES - 1 else []),
            )
            _report(result, done, DONE[op])
            if not moved:
                break
            asked = request._replace(match=pathspecs.only(moved))
    # Nothing was written although a later look found refusals. So the answer is that of a first look.
    if result.status == "nothing" and any(one.refuses for one in result.left) and not request.skip:
        raise Refused(advice.headline(ctx.layout, result.left), left=tuple(result.left))
    return result


def _with_room(planner: Planner) -> Planner:
    """The same plan without the files in whose place something stands that does not go with them."""

    def plan(ctx: Context, request: UndoRequest) -> UndoPlan:
        made = planner(ctx, request)
        going = {one.path for one in made.changes if one.after.absent}
        for one in list(made.changes):
            other = None if one.after.absent else _in_its_place(os.fsencode(ctx.repo.root), one.path, going)
            if other is not None:
                made.changes.remove(one)
                made.left.append(Left(one.path, decision.ENTANGLED, Why(Kind.IN_ITS_PLACE, path=other)))
        return made

    return plan


def _in_its_place(root: bytes, path: bytes, going: Collection[bytes]) -> bytes | None:
    """A file where the path needs a folder, or a file in a folder of its name; None where all of them go."""
    full = os.path.join(root, path)
    is_folder = os.path.isdir(full) and not os.path.islink(full)
    above = [one for one in _above(path) if os.path.isfile(os.path.join(root, one))]
    # the first one is enough: the folder may be a large one
    inside = (os.path.join(folder, name) for folder, _, names in os.walk(full) for name in names)
    blocking = itertools.chain(above, (os.path.relpath(one, root) for one in inside) if is_folder else ())
    found = next((one for one in blocking if one not in going), None)
    return path if found is None and is_folder and not any(path in _above(one) for one in going) else found


def _turns(changes: list[Replacement]) -> list[list[Replacement]]:
    """The changes in one landing, or two: what goes first, where a folder takes a place of a file or back."""
    going, coming = ([one for one in changes if one.after.absent is way] for way in (True, False))
    names = [{one.path for one in each} for each in (going, coming)]
    is_mixed = any(_above(path) & names[1 - n] for n in (0, 1) for path in names[n])
    return [going, coming] if is_mixed else [changes] if changes else []


def _above(path: bytes) -> set[bytes]:
    parts = path.split(b"/")
    return {b"/".join(parts[:n]) for n in range(1, len(parts))}


def _refuse_unmerged(ctx: Context, made: UndoPlan) -> None:
    """Raise Refused for a file with conflict markers: what stands between them is of both sides."""
    changed = {one.path for one in made.changes}
    unmerged = sorted(changed.intersection(index.unmerged(ctx.git, ctx.repo.root))) if changed else []
    if unmerged:
        raise Refused(
            f"the index has unmerged entries: '{shown(unmerged[0])}'",
            *ways_out.unmerged(ctx, unmerged),
            left=tuple(Left(path, decision.UNMERGED, Why(Kind.UNMERGED)) for path in unmerged),
        )


def _report(result: TakenBack, made: UndoPlan, status: str) -> None:
    result.changes += made.changes
    result.left += made.left
    if made.changes:
        result.status = status


def _refuse(ctx: Context, request: UndoRequest, op: str, made: UndoPlan, planner: Planner) -> None:
    _refuse_unmerged(ctx, made)
    refusals = [one for one in made.left if one.refuses]
    if refusals and not request.skip:
        # Plan once more, so that the hint for --skip-entangled is given only where it would do something.
        more = op == UNDO and bool(planner(ctx, request._replace(skip=True)).changes)
        ways = _next_commands(ctx, request, op, refusals, planner, more)
        ways += _without(ctx, request, op, made, planner) if op != UNDO else []
        raise Refused(advice.headline(ctx.layout, refusals), *ways, left=tuple(made.left))


def _without(ctx: Context, request: UndoRequest, op: str, made: UndoPlan, planner: Planner) -> list[str]:
    """The command that brings back the files in which nothing stands in the way, where there are a few."""
    stuck = {one.path for one in made.left if one.refuses}
    rest = sorted({one.path for one in made.changes} - stuck)
    if not 0 < len(rest) <= _MOST:
        return []
    again = planner(ctx, request._replace(match=pathspecs.only(rest)))
    if any(one.refuses for one in again.left) or not again.changes:
        return []
    words = ["git ralph", "restore" if op == RESTORE else "undo --redo", "--session"]
    words += [shlex.quote(ctx.called(request.session)), "--", *(as_pathspec(ctx, path) for path in rest)]
    return [" ".join(words) + "  # brings the rest back"]


def new_call(op: str) -> str:
    """A name that the records of one undo share."""
    return f"{op}-{os.urandom(6).hex()}"


# --- which edits ---


def _plan(ctx: Context, request: UndoRequest) -> UndoPlan:
    extra = set[bytes]()

    def match(known: Iterable[bytes]) -> list[bytes]:
        rows = list(known)
        return [*(request.match(rows) if request.match is not None else ()), *extra.intersection(rows)]

    while True:
        with survey(ctx, request.session, request.match and match) as found:
            made = planned(found, request)
            more = _other_ends(found, made, extra) - extra
        if request.match is None or not more:
            return made
        extra |= more


def _other_ends(found: Survey, made: UndoPlan, extra: set[bytes]) -> set[bytes]:
    """The ends of renames that nobody named, where a file comes or goes at a named one."""
    moved = extra | {one.path for one in made.changes if one.before.absent != one.after.absent}
    return {other for path, other in ends(found) if path in moved and other not in found.states}


def planned(found: Survey, request: UndoRequest) -> UndoPlan:
    """What an undo would do to the files that were read. Raises Fatal for an unknown call."""
    made, picks = UndoPlan(new_call(UNDO)), request.picks
    chosen = _chosen(found, request)
    made.left.extend(
        [
            one
            for path, one in found.barred.items()
            if (chosen is None or path in chosen) and (picks is None or path in picks)
        ]
    )
    for path in sorted(found.states.keys() - found.barred.keys()):
        keys: Collection[str] | None = None if chosen is None else chosen.get(path, set())
        if picks is not None:
            picked = picks.get(path)
            if picked is None:
                continue
            # What was shown as a whole goes as it was shown. Pieces have names that stay the same.
            if picked.units is None and found.content(path) != picked.before:
                made.left.append(Left(path, decision.STALE, Why(Kind.CHANGED_WHILE_ASKED)))
                continue
            keys = keys if picked.units is None else picked.units
        # An empty set means that the choice does not name the path, None means all of the path.
        if keys is None or keys:
            _take_path(found, path, keys, request.skip, made)
    _together(found, made)
    return made


def _chosen(found: Survey, request: UndoRequest) -> dict[bytes, set[str]] | None:
    """The records to take back by path, None for all of them."""
    if request.call is None and request.last is None:
        return None
    chosen: dict[bytes, set[str]] = {}
    if request.call is not None:
        for path in found.states:
            keys = {str(r.offset) for r in found.own(path) if r.call == request.call}
            if keys:
                chosen[path] = keys
        if not chosen:
            _refuse_unknown(found, request.call)
        return chosen
    assert request.last is not None
    # An edit that is no longer in the file is passed over. So `--last 1` typed twice takes back two edits,
    # and not one edit twice.
    waiting = [edit for edit in _edits(in_order(found)) if any(_stands(found, *row) for row in edit)]
    for edit in waiting[-request.last :]:
        for path, record in edit:
            chosen.setdefault(path, set()).update(_with_brought(found, path, record))
    return chosen


def _with_brought(found: Survey, path: bytes, record: Record) -> set[str]:
    """The key of a record; of a redo or a restore also those of what it brought back: these have credit."""
    keys, by_key = {str(record.offset)}, {str(r.offset): r for r in found.own(path)}
    if record.op == RESTORE:
        keys |= {step_of(name).removesuffix(ARRIVED) for name in record.units}
    for unit in record.units if record.op == REDO else ():
        undo = by_key.get(step_of(unit))
        keys |= {step_of(name).removesuffix(ARRIVED) for name in (undo.units if undo else ())}
    return keys


def _refuse_unknown(found: Survey, call: str) -> None:
    """Raise Fatal for a call that the session never made; a call that is committed is known."""

    def made(state: PathState) -> bool:
        return any(r.call == call and r.session in found.scene.own for r in state.journal.records)

    # Pending records do not show committed edits. A call that only the committed records know has nothing to
    # take back, which is no error.
    with survey(found.ctx, found.session, None, made) as all_of_it:
        if all_of_it.states:
            return
    raise Fatal(f"no call '{call}' of session '{found.ctx.called(found.session)}'", "git ralph status")


def refuse_unknown(ctx: Context, call: str) -> None:
    """Raise Fatal for a call that no session made; used where no session has anything pending."""
    if not any(record.call == call for kept in over_time.journals(ctx.layout) for record in kept.records):
        raise Fatal(f"no call '{call}' of any session", "git ralph log")


def _edits(rows: Sequence[tuple[bytes, Record]]) -> list[list[tuple[bytes, Record]]]:
    """Group records into edits: both ends of a rename, and all that one shell command or one redo did."""
    out: list[list[tuple[bytes, Record]]] = []
    for path, record in rows:
        # The hook records both ends of a rename in one event, one right behind the other. So nothing of this
        # session stands between them.
        is_end = record.op == "rename-to" and out and out[-1][0][1].op == "rename-from"
        is_whole = record.op in DONE or (record.by_shell and record.call is not None)
        is_same = is_whole and out and _call_of(out[-1][0][1]) == _call_of(record)
        if is_end or is_same or (out and _is_of_move(*out[-1][-1], path, record)):
            out[-1].append((path, record))
        else:
            out.append([(path, record)])
    return out


def _call_of(record: Record) -> tuple[str, bool, str | None]:
    return record.session, record.by_shell, record.call


def _is_of_move(before: bytes, move: Record, path: bytes, record: Record) -> bool:
    """True where one call moved a file and changed it: both records then know the same last write."""
    is_next = path == before and move.op == "rename-to" and record.before == move.after
    return is_next and record.call == move.call and record.mtime == move.mtime is not None


def _stands(found: Survey, path: bytes, record: Record) -> bool:
    """True while something of a record is in the file and in no commit."""
    if path in found.barred or _is_nothing(found, path):
        return False
    # A path without lines has nothing to look for in the file, so the chain of texts tells.
    if by_lines.whole_only(found, path) is not None:
        return any(record is one for one in whole_files.standing(found, path))
    return str(record.offset) in found.kept(path, by_lines.standing) or _mode_stands(found, path, record)


def _mode_stands(found: Survey, path: bytes, record: Record) -> bool:
    """True where a record set the executable bit as it stands, other than in HEAD."""
    content, head = found.content(path), found.scene.reader.entry(path)
    is_other = head is not None and head.mode in FILES and content.mode in FILES and content.mode != head.mode
    return is_other and record.mode[0] != record.mode[1] == f"{content.mode:o}"


# --- one path ---


def _take_path(found: Survey, path: bytes, keys: Collection[str] | None, skip: bool, made: UndoPlan) -> None:
    if _is_nothing(found, path):
        return
    why = by_lines.whole_only(found, path)
    if why is not None:
        back = whole_files.undone(found, path, keys, why, made.call)
        made.take(back)
        if back is None:
            _take_mode(found, path, keys, made)
        return
    stale = by_lines.why_untold(found, path)
    if stale is not None:
        made.left.append(stale)
        return
    taken = by_lines.undone(found, path, keys, skip)
    made.left.extend(by_lines.lefts(path, taken))
    if taken.refused:
        return
    if taken.units:
        mode = _mode_then(found, path)
        made.changes.append(by_lines.change(found, path, UNDO, made.call, taken, mode))
    _take_mode(found, path, keys, made)


def _is_nothing(found: Survey, path: bytes) -> bool:
    """True where nothing can come back: a file as in HEAD, told as a whole or rightly gone."""
    if not found.scene.is_as_in_head(path):
        return False
    if found.content(path).absent:
        return not _is_taken_away(found, path)
    return by_lines.whole_only(found, path) is not None


def _is_taken_away(found: Survey, path: bytes) -> bool:
    """True where the session deleted a file with others' lines that HEAD never had, or somebody moved it.

    HEAD and the file agree then, since there is none.
    """
    state = found.states[path]
    last = next(reversed(state.journal.records), None)
    if last is None or last.after is not None or not found.content(path).absent:
        return False
    if last.op != "rename-from" and last.session not in found.scene.own:
        return False
    if last.session in found.scene.own and last not in state.untold(last.session):
        return False  # a commit took it
    has_landed = last.other_path is not None and found.has_landed(last.other_path, last)
    return not has_landed and not state.owners() <= found.scene.own


def _mode_then(found: Survey, path: bytes) -> int | None:
    """The mode of a file that comes back: as when it was deleted, or as in HEAD."""
    if not found.content(path).absent:
        return None
    mode = by_lines.last_mode(r.mode[0] for r in found.own(path) if r.after is None)
    if mode is not None:
        return mode
    head = found.scene.reader.entry(path)
    return head.mode if head is not None and head.mode in FILES else None


def _take_mode(found: Survey, path: bytes, keys: Collection[str] | None, made: UndoPlan) -> None:
    """Put the executable bit back where this session's edits are known to have changed it."""
    content, head = found.content(path), found.scene.reader.entry(path)
    if head is None or content.mode not in FILES or head.mode not in FILES or content.mode == head.mode:
        return
    asked = [r for r in found.own(path) if keys is None or str(r.offset) in keys]
    # A bit that somebody else set, or that nobody recorded, must stay.
    if not asked or text_chain.mode_of(asked, content, head.mode)[1]:
        return
    for at, one in enumerate(made.changes):
        if one.path == path and not one.after.absent:
            made.changes[at] = by_lines.with_mode(one, head.mode)
            return
    # These edits changed nothing but the bit, so the text is the same before and after.
    if not any(one.path == path for one in made.changes) and content.data is not None:
        after = Content(head.mode, content.data)
        record = by_lines.record(found, UNDO, made.call, content, after, ())
        length = found.states[path].journal.length
        made.changes.append(Replacement(path, content, after, length, ((record, content.data),)))


def _together(found: Survey, made: UndoPlan) -> None:
    """Let both ends of a rename go back, or neither."""
    left = {one.path for one in made.left}
    for path, other in ends(found):
        if path in left and any(one.path == other for one in made.changes):
            made.changes[:] = [one for one in made.changes if one.path != other]
            made.left.append(Left(other, decision.ENTANGLED, Why(Kind.GOES_WITH, path=path)))


def ends(found: Survey) -> list[tuple[bytes, bytes]]:
    """The paths of the session's renames, from each end to the other."""
    return [
        (path, record.other_path)
        for path in found.states
        for record in found.own(path)
        if record.op in ("rename-from", "rename-to") and record.other_path is not None
    ]


# --- the next commands to type after a refusal ---


# People read hints and do not search them. With more refused paths the first few commands show how the others
# go.
_MOST = 5


def _next_commands(
    ctx: Context, request: UndoRequest, op: str, refusals: list[Left], planner: Planner, more: bool
) -> list[str]:
    """Hints after a refusal: who stands in the way; then, where ``more``, how to do the rest without it."""
    session = request.session
    out = []
    for one in refusals[:_MOST]:
        if one.lines is not None:
            where = as_name(ctx, one.path)
            out.append(f"git ralph why {where}:{one.lines[0]}  # who wrote it, and when")
    if op == UNDO:
        others = {name for one in refusals for name in one.sessions} if not ctx.is_agent else set[str]()
        for name in sorted(others - {decision.UNRECORDED, session})[:_MOST]:
            # two may stand in each other's way
            if not any(one.refuses for one in planner(ctx, UndoRequest(name)).left):
                other = shlex.quote(ctx.called(name))
                out.append(f"git ralph undo --session {other} --dry-run  # what the other would lose")
        if more:
            words = ["git ralph undo --session", shlex.quote(ctx.called(session))]
            words += ["--call", shlex.quote(request.call)] if request.call is not None else []
            words += ["--last", str(request.last)] if request.last is not None else []
            words += ["--skip-entangled", *(["--", shlex.join(request.named)] if request.named else [])]
            out.append(" ".join(words) + "  # leaves it")
    first = [one for one in refusals[:_MOST] if op != UNDO and one.why.kind is Kind.NEEDS_FIRST]
    missing = [one.path for one in first if not ctx.is_agent]
    staged = index.known(ctx.git, ctx.repo.root, missing)
    for one in first:
        for name in one.sessions:
            if name != decision.UNRECORDED:
                out.append(f"git ralph restore --session {shlex.quote(ctx.called(name))}  # comes first")
            elif one.path in staged:
                out.append(f"git checkout -- {as_pathspec(ctx, one.path)}  # brings the file back")
    return list(dict.fromkeys(out))
