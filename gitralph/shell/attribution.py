"""Which uncommitted changes only a shell command of this session can explain; they are offered.

A file counts as explained when what it holds now leads back, change by change, to what HEAD holds,
each change being one that the session recorded or one that happened while its shell command ran and
nobody else's did. Everything else is left: a person or another session may have made it.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from gitralph.base.layout import Layout
from gitralph.base.quote import shown
from gitralph.context import Context
from gitralph.git import history, refs, uncommitted
from gitralph.git.config import Config
from gitralph.git.snapshot import LeadsOutError, Worktree
from gitralph.git.texts import is_binary, with_line_feeds
from gitralph.git.trees import FILES, Entry, TreeReader
from gitralph.hook import record, sessionfile
from gitralph.hook.journal import GAP, TEXT_LIMIT, Record, replay
from gitralph.journal import pending, shell
from gitralph.journal.pending import PathState
from gitralph.journal.shell import ChangedPath, Form, Window
from gitralph.lines import owners
from gitralph.lines.order import chain
from gitralph.lines.pieces import pieces
from gitralph.lines.terms import Step

OFFER, INCLUDE, OFF = "offer", "include", "off"
MINE, CONTESTED, DOUBTFUL = "mine", "contested", "doubtful"

# the default of what nobody may change
_NONE: Mapping[Any, Any] = MappingProxyType({})


def setting(config: Config) -> str:
    """``ralph.shellEdits``. Raises Fatal for a word that it may not be."""
    return config.choice("ralph.shelledits", OFFER, INCLUDE, OFF)


class Offer(NamedTuple):
    """One path that shell commands changed: whose it is, by which commands, and why not ours.

    ``loose``: a command that never said it was over, so what came later cannot be told apart.
    """

    path: bytes
    now: Form
    verdict: str
    commands: tuple[Window, ...]
    detail: str = ""
    rivals: tuple[str, ...] = ()
    loose: bool = False

    @property
    def sessions(self) -> tuple[str, ...]:
        return tuple(sorted({command.session for command in self.commands} | set(self.rivals)))


class ShellChanges(NamedTuple):
    """What a commit has to decide about shell changes; ``states`` are of the paths it will take."""

    offers: Mapping[bytes, Offer] = _NONE
    states: Mapping[bytes, PathState] = _NONE


def call_name(layout: Layout, command: Window) -> str:
    """A command by its call, never by its text."""
    call = f" '{command.call}'" if command.call and not command.call.startswith("input-") else ""
    whose = sessionfile.called(layout, command.session)
    return f"shell call{call} ({command.tool or 'shell'}) of '{whose}' at {command.time}"


def form_of(root: str, path: bytes) -> Form:
    """A file as it stands, in the form that pictures have."""
    found = record.look(os.path.join(root, os.fsdecode(path)))
    return (found.oid, found.mode)


@dataclass
class _Walk:
    """From what a file holds now back to HEAD. ``used`` are the commands on the way, latest first."""

    path: bytes
    base: Form
    head: str | None
    windows: Sequence[Window]
    records: list[Record]
    family: frozenset[str]
    used: list[tuple[Window, ChangedPath]] = field(default_factory=list)

    def _by_record(self, at: Form, before: int) -> Record | None:
        if at is None:
            return None
        # Of several the latest before the place: the walk goes back in time and must never turn.
        found = [r for r in self.records if r.is_exact and r.after == at[0] and r.offset < before]
        return found[-1] if found else None

    def _by_command(self, at: Form, before: int, now: Form) -> tuple[Window, ChangedPath] | None:
        for window in reversed(self.windows):
            if window.session in self.family and window.opened < before:
                row = window.row(self.path, now)
                if row is not None and row.after == at and row.is_known:
                    return window, row
        return None

    def _starts_here(self, window: Window, row: ChangedPath) -> bool:
        """True when the file was as in HEAD when the command began, and HEAD has it so still."""
        # A command that runs has no row of its own yet: its picture holds only what was dirty, so a clean
        # path has no base there.
        if window.closed is None and row.base is None:
            return window.head == self.head
        return row.base == (self.base[0] if self.base else None)

    def back(self, now: Form, place: int = 1 << 62) -> bool:
        """True when every change on the way is known; ``place``: by commands that began before it."""
        # Beyond every byte: the walk starts at the end of the journal.
        at, offset = now, 1 << 62
        while at != self.base:
            step = self._by_record(at, offset)
            if step is not None:
                offset = step.offset
                if step.before == (self.base[0] if self.base else None):
                    return True
                at = (step.before, step.mode[0] or (at[1] if at and step.before else None))
                continue
            found = self._by_command(at, place, now)
            if found is None:
                return False
            self.used.append(found)
            place = found[0].opened
            if found[1].before is None:
                return self._starts_here(*found)
            at = found[1].before
        return True


def _rivals(windows: Sequence[Window], walk: _Walk) -> tuple[str, ...]:
    """Other sessions whose commands could have made one of the changes as well."""
    return tuple(
        sorted(
            {
                other.session
                for window, row in walk.used
                for other in windows
                if other.session not in walk.family
                and other.overlaps(window)
                and other.may_have_made(walk.path, row)
            }
        )
    )


def judge(
    path: bytes,
    now: Form,
    base: Form,
    head: str | None,
    windows: Sequence[Window],
    state: PathState | None,
    family: frozenset[str],
    others: tuple[str, ...] = (),
) -> Offer | None:
    """What a family's shell commands have to do with a path; None when nothing.

    ``others`` are the sessions that have something to commit there.
    """
    touching = [w for w in windows if w.session in family and w.row(path, now) is not None]
    if not touching:
        return None
    known = state.journal.records if state is not None else []
    mine = [r for r in known if r.session in family]
    walk = _Walk(path, base, head, windows, mine, family)
    explained = walk.back(now)
    told = bool(known) and known[-1].after == (now[0] if now else None)
    if told and (not walk.used or known[-1].session not in family or not known[-1].is_exact):
        return None  # the journal tells who made what stands there
    commands = tuple(w for w, _ in reversed(walk.used)) or tuple(touching[-1:])
    # Its end was never reported, so a person's change after it would look like its own.
    loose = any(w.late or w.closed is None for w, _ in walk.used)
    if others:
        return Offer(path, now, CONTESTED, commands, "another session has pending edits there", others)
    if not explained or not walk.used:
        detail = "it was changed before or after the command too; no session recorded that"
        return Offer(path, now, DOUBTFUL, commands, detail)
    rivals = _rivals(windows, walk)
    if rivals:
        return Offer(path, now, CONTESTED, commands, "shell commands of several sessions ran then", rivals)
    return Offer(path, now, MINE, commands, loose=loose)


def base_of(reader: TreeReader, path: bytes) -> Form:
    """What HEAD holds, in the form that pictures have."""
    entry = reader.lookup_safe(path)
    return (None, None) if entry is None else (entry.oid.decode(), f"{entry.mode:o}")


def touched(windows: Iterable[Window], family: Container[str]) -> set[bytes]:
    """The paths that commands of a family changed and reported."""
    return {path for w in windows if w.session in family and w.rows for path in w.rows}


def _candidates(ctx: Context, windows: Sequence[Window], family: Container[str]) -> list[bytes]:
    """The paths to look at, of those that git lists as changed now."""
    if not any(w.session in family for w in windows):
        return []
    running = any(w.session in family and w.closed is None and w.picture is not None for w in windows)
    known = touched(windows, family)
    if not running and not known:
        return []
    dirty = uncommitted.dirty_paths(ctx.repo, ctx.config)
    # A command that runs has not reported what it changed: any dirty path may be its.
    return dirty if running else [path for path in dirty if path in known]


def windows_of(ctx: Context) -> tuple[Window, ...]:
    """The shell commands that count here: none where the setting says so."""
    return () if setting(ctx.config) == OFF else tuple(shell.read(ctx.layout))


def paths(ctx: Context, family: Container[str]) -> list[bytes]:
    """The uncommitted paths that shell commands of a family may have changed."""
    return _candidates(ctx, windows_of(ctx), family)


def left_by_commands(ctx: Context, paths: Iterable[bytes]) -> dict[bytes, Window]:
    """Those of some paths that stand as a command that has ended left them, each with that command."""
    ended = [window for window in reversed(windows_of(ctx)) if window.rows]
    found: dict[bytes, Window] = {}
    for path in paths if ended else ():
        now = form_of(ctx.repo.root, path)
        rows = ((window, (window.rows or {}).get(path)) for window in ended)
        made = next((window for window, row in rows if row is not None and row.after == now), None)
        if made is not None:
            found[path] = made
    return found


def _is_gone(row: ChangedPath) -> bool:
    return row.after == (None, None) or (row.after is None and row.base is None)


def _is_new(row: ChangedPath) -> bool:
    return row.before == (None, None) or (row.before is None and row.base is None)


def _sources(
    path: bytes, row: ChangedPath, rows: Mapping[bytes, ChangedPath]
) -> Iterable[tuple[bytes, ChangedPath]]:
    """What a command may have moved to ``path``: it vanished, and the text, or the file, is new there."""
    for other, old in rows.items():
        if other != path and _is_gone(old) and not _is_new(old):
            before = old.base if old.before is None else old.before[0]
            # A file that was there before is a move only if it has just the vanished text now.
            if _is_new(row) or (row.after is not None and row.after[0] == before):
                yield other, old


def _with_source(
    ctx: Context,
    reader: TreeReader,
    head: str | None,
    windows: Sequence[Window],
    family: frozenset[str],
    offer: Offer,
) -> Offer:
    """An offer, doubtful where the file was moved there with uncommitted text that is not the family's.

    A command that moves a file explains where it is now, not who wrote it.
    """
    for window in offer.commands:
        row = window.row(offer.path, offer.now)
        for other, old in _sources(offer.path, row, window.rows or {}) if row is not None else ():
            if old.before is None:
                continue  # it was as in HEAD
            state = pending.path_state(ctx.layout, other, [])
            mine = [r for r in state.journal.records if r.session in family]
            walk = _Walk(other, base_of(reader, other), head, windows, mine, family)
            if not walk.back(old.before, window.opened):
                detail = f"it may be '{shown(other)}', moved with text that is not this session's"
                return offer._replace(verdict=DOUBTFUL, detail=detail)
    return offer


def moved(found: ShellChanges) -> list[tuple[bytes, bytes]]:
    """The ends of what shell commands moved without a change; they are committed together."""
    return [
        (other, path)
        for path, offer in found.offers.items()
        for window in offer.commands
        for row in [window.row(path, offer.now)]
        if row is not None and _is_new(row)
        for other, _ in _sources(path, row, window.rows or {})
        if other in found.offers
    ]


def survey(
    ctx: Context,
    reader: TreeReader,
    head: str | None,
    own: frozenset[str],
    asked: bool,
    wanted: Container[bytes] | None,
    states: Mapping[bytes, PathState],
) -> ShellChanges:
    """Judge every path for a commit of the family ``own``. ``asked``: the user wants what is offered."""
    take = asked or setting(ctx.config) == INCLUDE
    windows = windows_of(ctx)
    offers: dict[bytes, Offer] = {}
    taken: dict[bytes, PathState] = {}
    for path in _candidates(ctx, windows, own) if windows else ():
        if wanted is not None and path not in wanted:
            continue
        state = states.get(path) or pending.path_state(ctx.layout, path, [])
        offer = _judged(ctx, reader, head, windows, own, path, state)
        if offer is None:
            continue
        offers[path] = offer
        # By configuration only what is certain; a person who asks has seen the list.
        if take and offer.verdict == MINE and (asked or not offer.loose):
            taken[path] = state
    return ShellChanges(offers, taken)


def _judged(
    ctx: Context,
    reader: TreeReader,
    head: str | None,
    windows: Sequence[Window],
    family: frozenset[str],
    path: bytes,
    state: PathState | None,
) -> Offer | None:
    """What a family's shell commands have to do with a path as it stands, moves followed."""
    now = form_of(ctx.repo.root, path)
    others = _others(ctx, reader, path, state, family) if state is not None else ()
    offer = judge(path, now, base_of(reader, path), head, windows, state, family, others)
    if offer is None or offer.verdict != MINE:
        return offer
    return _with_source(ctx, reader, head, windows, family, offer)


def _others(
    ctx: Context, reader: TreeReader, path: bytes, state: PathState, family: frozenset[str]
) -> tuple[str, ...]:
    """The sessions but the family with something to commit in a path: a line of theirs differs from HEAD."""
    records = [r for r in state.journal.records if r.op != GAP]
    entry = reader.lookup_safe(path)
    base = None if entry is None else entry.oid.decode()
    # what was recorded before the file last was as in HEAD is done with
    ends = [at for at, record in enumerate(records, 1) if record.after == base and record.is_exact]
    since = [r for r in records[max(ends, default=0) :] if r.session not in family]
    found = {r.session for r in since if not r.is_exact} | state.bare
    if {r.session for r in since} - found:
        found |= _waiting(ctx, entry, state)
    return tuple(sorted(found - family))


def _waiting(ctx: Context, entry: Entry | None, state: PathState) -> set[str]:
    """The sessions with lines that differ, or all where lines are not told apart."""
    rows = [(r, b, a) for r, b, a in replay(state.journal, ctx.layout) if r.is_exact]
    everybody = {r.session for r in state.journal.records if r.op != GAP}
    try:
        with Worktree(ctx.repo.root) as worktree:
            content = worktree.read(state.path)
    except (LeadsOutError, OSError):
        return everybody
    head = ctx.repo.objects.raw(entry.oid)[1] if entry is not None else None
    texts = [head, content.data, *(text for _, before, after in rows for text in (before, after))]
    modes = {content.mode or FILES[0], FILES[0] if entry is None else entry.mode}
    if not rows or modes - set(FILES) or any(is_binary(x) or len(x or b"") > TEXT_LIMIT for x in texts):
        return everybody

    def form(text: bytes | None) -> bytes | None:
        return None if text is None else with_line_feeds(text)

    steps = [Step(str(r.offset), None if r.op == GAP else r.session, form(b), form(a)) for r, b, a in rows]
    left = owners.pending(pieces(form(head), form(content.data), chain(steps, form(rows[0][1]))))
    return {r.session for r, _, _ in rows if str(r.offset) in left}


def offered(ctx: Context, changed: Iterable[bytes], family: Iterable[str]) -> list[bytes]:
    """Those of some changed paths that ``--with-shell`` would take for a family."""
    windows = windows_of(ctx)
    own = frozenset(family)
    if not any(window.session in own for window in windows):
        return []
    head = refs.read_head(ctx.repo)
    reader, found = history.base_of(ctx.repo, head), []
    for path in sorted(changed):
        state = pending.path_state(ctx.layout, path, [])
        offer = _judged(ctx, reader, head.oid, windows, own, path, state)
        if offer is not None and offer.verdict == MINE:
            found.append(path)
    return found


def likely(
    ctx: Context, dirty: list[bytes], states: Mapping[bytes, PathState]
) -> dict[bytes, tuple[Window, ...]]:
    """The commands, of any session, that likely changed these paths; none where journals explain them."""
    windows = windows_of(ctx)
    if not windows:
        return {}
    head = refs.read_head(ctx.repo)
    reader = history.base_of(ctx.repo, head)
    sessions = list(dict.fromkeys(w.session for w in windows))
    known = touched(windows, sessions)
    running = any(w.picture is not None for w in windows)
    out: dict[bytes, tuple[Window, ...]] = {}
    for path in dirty if running else [path for path in dirty if path in known]:
        now, base, state = form_of(ctx.repo.root, path), base_of(reader, path), states.get(path)
        found = [judge(path, now, base, head.oid, windows, state, frozenset([one])) for one in sessions]
        commands = tuple(c for offer in found if offer is not None for c in offer.commands)
        if commands:
            out[path] = commands
    return out
