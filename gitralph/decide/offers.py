"""Changes by shell commands that are nobody's yet: new files, and what several sessions may have made.

A record of such a change lists the sessions that may have made it (``may``). One of these sessions gets the
change where it edited the path since, or where the user asks for it. Otherwise the change is left and
offered.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import NamedTuple

from gitralph.base.ids import safe_form
from gitralph.base.kinds import Kind, ShellCommand, Why
from gitralph.base.layout import Layout
from gitralph.decide import decision, path_texts, text_chain
from gitralph.decide.decision import Left, Outcome
from gitralph.decide.inputs import Scene, Wishes, records_of
from gitralph.git import uncommitted
from gitralph.git.config import Config
from gitralph.git.context import Context
from gitralph.hook import record as hook_record
from gitralph.hook import sessionfile, shellforms, shellwatch, variables, windows
from gitralph.hook.journal import ASSIGN, GAP, REDO, RESTORE, UNDO, Record
from gitralph.hook.windows import ChangedPath, Window
from gitralph.lines import owners
from gitralph.lines.pieces import Pieces
from gitralph.lines.terms import GAP as GAP_KEY
from gitralph.records import path_records
from gitralph.records.path_records import PathState

AUTO, INCLUDE, OFFER, OFF = "auto", "include", "offer", "off"


class Maker(NamedTuple):
    """A session whose shell command may have made a change; ``call`` names the command where it is known."""

    session: str
    agent_id: str | None
    tool: str | None
    call: str | None
    time: str


def setting(config: Config) -> str:
    """The value of ``ralph.shellEdits``. Raises Fatal for an unknown word."""
    return config.choice("ralph.shelledits", AUTO, INCLUDE, OFFER, OFF)


def told(command: Maker | Window) -> ShellCommand:
    """A command as it is told of: one that its agent gave no name has none."""
    call = command.call if command.call and not command.call.startswith("input-") else None
    return ShellCommand(command.session, command.tool, call, command.time)


def catch_up(ctx: Context, session: str) -> None:
    """Record what the session's running shell command has changed so far, where we run inside that command.

    From outside nobody knows whether the command still runs. Then a change that a person made since would be
    recorded as the session's.
    """
    if setting(ctx.config) == OFF or not _runs_inside(ctx, session):
        return
    for name in path_records.family(ctx.layout, session):
        try:
            shellwatch.so_far(ctx.layout, name, dict(ctx.environ), ctx.repo.root)
        except OSError:
            continue  # what cannot be written now will be recorded when the command ends


def _runs_inside(ctx: Context, session: str) -> bool:
    """True when we run in a shell of this session: its agent tells the programs that it starts."""
    said = {safe_form(value) for name in variables.MARKS if (value := ctx.environ.get(name))}
    if session in said or ctx.environ.get("GEMINI_CLI"):  # Gemini CLI tells its programs no session id
        return True
    aliases = (sessionfile.read(ctx.layout, session) or {}).get("aliases")
    return isinstance(aliases, list) and not said.isdisjoint(aliases)


def paths(ctx: Context, family: Container[str]) -> list[bytes]:
    """The uncommitted paths that shell commands of the family changed or may have changed."""
    if setting(ctx.config) == OFF:
        return []
    touched: set[bytes] = set()
    for window in windows.read(ctx.layout):
        if window.session in family:
            touched |= {*(window.rows or ()), *window.so_far}
    return uncommitted.dirty_paths(ctx.repo, ctx.config, touched) if touched else []


def _made(ctx: Context, paths: Iterable[bytes]) -> Iterator[tuple[bytes, Window, ChangedPath]]:
    """Those of ``paths`` that are as a shell command left them, each with the commands, the latest first.

    Also those that changed since a running one began: when it ends they are its session's.
    """
    commands = [] if setting(ctx.config) == OFF else windows.read(ctx.layout)
    made_any = [window for window in reversed(commands) if window.rows or window.closed is None]
    for path in paths if made_any else ():
        there = hook_record.look(os.path.join(ctx.repo.root, os.fsdecode(path)))
        now = (there.oid, there.mode)
        rows = [(window, window.row(path, now)) for window in made_any if path not in window.gits]
        left = [(window, row) for window, row in rows if row is not None and row.after == now]
        records = path_records.path_state(ctx.layout, path, []).journal.records if left else []
        turns = [r for r in records if r.op in (UNDO, REDO, RESTORE)]
        for window, row in left:
            if not _only_took_back(ctx.layout, turns, window, row):
                yield path, window, row


def _only_took_back(layout: Layout, turns: Iterable[Record], window: Window, row: ChangedPath) -> bool:
    """True where the command ran an undo, a redo or a restore, which its record tells from first to last."""
    change = row.base if row.before is None else row.before[0], row.after[0] if row.after else None
    return any(
        (r.session, (r.before, r.after)) == (window.session, change)
        and shellforms.is_since(r.shells, layout, window.opened)
        for r in turns
    )


def left_by_commands(
    ctx: Context, paths: Iterable[bytes], told: Container[tuple[bytes, str, str | None]] = ()
) -> dict[bytes, Window]:
    """Those of ``paths`` that are as a shell command left them, each with the latest such command.

    ``told`` are paths, sessions and calls of commands of which a record tells.
    """
    found: dict[bytes, Window] = {}
    for path, window, _ in _made(ctx, paths):
        if (path, *window.name) not in told:
            found.setdefault(path, window)
    return found


def changed_meanwhile(ctx: Context, scene: Scene) -> dict[bytes, Window]:
    """The paths with a change of a command that no record tells, each with the command.

    A running command may have made all that nobody recorded since it began, and its end will tell. Of one
    that ended, its change could not be told by line.
    """
    found: dict[bytes, Window] = {}
    for path, window, row in _made(ctx, scene.contents):
        if _is_untold(scene, path, window, row):
            found.setdefault(path, window)
    return found


def _is_untold(scene: Scene, path: bytes, window: Window, row: ChangedPath) -> bool:
    records = scene.states[path].journal.records
    if not text_chain.others(scene, scene.states[path]):
        return True
    if window.closed is not None:
        return not any(r.by_shell and (r.session, r.call) == window.name for r in records)
    told = [r for r in records if shellforms.is_since(r.shells, scene.layout, window.opened)]
    at = {row.before[0]} if row.before is not None else scene.head_ids(path)
    for record in told:
        at = {record.after} if record.is_exact and record.before in at else at
    return text_chain.content_id(scene.contents[path]) not in at or _may_have_mode_of(scene, path, row, told)


def _may_have_mode_of(scene: Scene, path: bytes, row: ChangedPath, told: Iterable[Record]) -> bool:
    """True where a commit would take a mode that the file had not when a running command began.

    The records ``told`` since may have changed it, too.
    """
    entry, mode = scene.reader.entry(path), scene.contents[path].mode
    if entry is None or not mode or mode == entry.mode:
        return False
    was = f"{entry.mode:o}" if row.before is None else row.before[1]
    for record in told:
        was = record.mode[1] if record.mode[0] == was else was
    return was != f"{mode:o}"


def give(state: PathState, own: frozenset[str], wishes: Wishes, config: Config) -> bool:
    """Count as a session's own the offered changes that it may have; True when the family got any."""
    found = False
    by = {r.session for r in state.journal.records if r.op != GAP}
    takes_own = wishes.own_shell or setting(config) == INCLUDE
    for record in state.journal.records:
        if record.op != GAP or not record.may:
            continue
        certain = record.may == (record.session,) and not record.loose
        whom = record.session
        if wishes.with_shell and not own.isdisjoint(record.may) and not _is_anothers(state, record, own):
            whom = record.session if record.session in own else min(own.intersection(record.may))
        elif not (certain and (whom in by or (takes_own and whom in own))):
            continue
        record.session = whom
        record.op = "create" if record.before is None else "delete" if record.after is None else "edit"
        state.records.setdefault(whom, []).append(record)
        state.records[whom].sort(key=lambda one: one.offset)
        found = found or whom in own
    return found


def _is_anothers(state: PathState, offer: Record, own: Container[str]) -> bool:
    """True where a person has given something of the path to another session since."""
    since = (r for r in state.journal.records if r.offset > offer.offset)
    return any(r.tool == ASSIGN and r.op != GAP and r.session not in own for r in since)


def explain(ctx: Context, path: bytes, own: Container[str]) -> bool:
    """True when only shell commands of the family can have made the unrecorded part of the file."""
    state = path_records.path_state(ctx.layout, path, [])
    found, records = of(state), state.journal.records
    now = hook_record.look(os.path.join(ctx.repo.root, os.fsdecode(path))).oid
    return bool(found) and records[-1].after == now and all(name in own for r in found for name in r.may)


def unended(layout: Layout, sessions: Container[str]) -> list[str]:
    """Those of ``sessions`` that began a shell command of which no end was ever told."""
    return sorted({w.session for w in windows.read(layout) if w.closed is None and w.session in sessions})


def left_open(layout: Layout, sessions: Container[str]) -> list[str]:
    """Those of them of which no such command runs any more, or nobody can tell whether it does."""
    found = {w.id: w.session for w in windows.read(layout) if w.closed is None and w.session in sessions}
    run_on = {found.get(one) for one in shellwatch.running(layout)} if found else set()
    return sorted(set(found.values()) - run_on)


def of(state: PathState, own: Container[str] | None = None) -> list[Record]:
    """The offered changes of a path: those that may be the family's, or all of them without ``own``."""
    found = [r for r in state.journal.records if r.op == GAP and r.may]
    return found if own is None else [r for r in found if any(name in own for name in r.may)]


def by_line(known: Pieces, state: PathState) -> dict[int, Record]:
    """The lines of the file that shell commands may have made, by number, each with its record."""
    return {
        line: record for record in of(state) for line in owners.standing(known, {f"{GAP_KEY}{record.offset}"})
    }


def _waiting(
    scene: Scene, state: PathState, own: Container[str] | None
) -> tuple[list[Record], tuple[int, int] | None]:
    """The offered changes that still show in the file, and the range of their lines where it can be told."""
    found = of(state, own)
    if not found or scene.is_as_in_head(state.path):
        return [], None
    now = text_chain.content_id(scene.contents[state.path])
    mode = f"{scene.contents[state.path].mode:o}" if scene.contents[state.path].mode else None
    known = path_texts.read(scene, state) if path_texts.whole_only(scene, state) is None else None
    if known is None or known.has_binary:
        return [r for r in found if r.after == now], None
    shown = owners.showing(known.pieces)

    def shows(record: Record) -> bool:
        if record.before == record.after:
            return record.mode[1] == mode
        # an empty file has no line that could show who made it, and of one that is gone another's removal may
        # show
        is_whole = not known.disk and None in (record.before, record.after) and record.after == now
        return is_whole or f"{GAP_KEY}{record.offset}" in shown

    found = [record for record in found if shows(record)]
    keys = {f"{GAP_KEY}{record.offset}" for record in found}
    at = owners.standing(known.pieces, keys)
    return found, (at[0], at[-1]) if at else None


def settle(scene: Scene, decided: Iterable[Outcome]) -> list[Outcome]:
    """Add to the outcomes of a commit what it leaves and offers."""
    by_path = {one.path: one for one in decided}
    for path, state in scene.states.items():
        if path in scene.barred or path in scene.ignored:
            continue
        was = by_path.get(path)
        own = records_of(scene, state)
        given = bool(own) and all(r.may for r in own)
        if was is not None and was.taken and was.how == decision.EDITS and given:
            was = by_path[path] = was._replace(how=decision.SHELL)
        offer = left(scene, state, scene.own)
        if offer is None:
            continue
        if was is None:
            by_path[path] = Outcome(path, left=(offer,))
        elif not any(one.refuses for one in was.left) and not (was.taken and was.how == decision.WHOLE_FILE):
            by_path[path] = was._replace(left=(*was.left, offer))
    return sorted(by_path.values(), key=lambda one: one.path)


def left(scene: Scene, state: PathState, own: Container[str] | None) -> Left | None:
    """What a commit leaves of a path: what shell commands of these sessions, or of any, may have made."""
    found, lines = _waiting(scene, state, own)
    if not found:
        return None
    whose = sorted({name for record in found for name in record.may})
    several = len(whose) > 1 and not set(whose) <= scene.own
    commands = tuple(told(_maker(record, record.session)) for record in found[-2:])
    why = Why(Kind.LIKELY_BY, commands=commands)
    if several:
        why = Why(Kind.LIKELY_BY_ONE_OF, tuple(whose), commands=commands)
        running = unended(scene.layout, whose)
        if running:
            why = Why(Kind.NO_END_TOLD, tuple(running), because=why)
    reason = decision.CONTESTED if several and own is not None else decision.SHELL
    return Left(state.path, reason, why, tuple(whose), lines, optional=True, by_shell=True)


def _maker(record: Record, session: str) -> Maker:
    is_own = session == record.session
    return Maker(
        session,
        record.agent_id if is_own else None,
        record.tool if is_own else None,
        record.call if is_own else None,
        record.ts,
    )


def likely(dirty: Iterable[bytes], states: Mapping[bytes, PathState]) -> dict[bytes, tuple[Maker, ...]]:
    """For each path the shell commands, of any session, that may have made its unrecorded change."""
    out: dict[bytes, tuple[Maker, ...]] = {}
    for path in dirty:
        found = of(states[path]) if path in states else []
        makers = [_maker(record, name) for record in found[-1:] for name in record.may]
        if makers:
            out[path] = tuple(makers)
    return out
