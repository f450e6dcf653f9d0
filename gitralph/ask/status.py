"""``git ralph status``: whose every uncommitted path is, and what a commit of each session would take.

``PathRow`` holds the columns of a path; ``cli.terminal.grouped`` draws them.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

from gitralph.base import files
from gitralph.decide import decision, offers, pending_paths, plan, text_chain
from gitralph.decide.inputs import Wishes, open_bench
from gitralph.decide.offers import Maker
from gitralph.decide.pending_paths import Work, Works
from gitralph.git import uncommitted
from gitralph.git.config import Config
from gitralph.git.context import Context, without_programs
from gitralph.git.listing import Counts, is_unmerged
from gitralph.git.snapshot import LeadsOutError, Worktree
from gitralph.git.uncommitted import Change
from gitralph.hook import sessionfile
from gitralph.hook.journal import GAP, Journal
from gitralph.records import checklist, manifests, path_records, run_record, sessions
from gitralph.records.checklist import Task
from gitralph.records.path_records import PathState

# --- a change that is nothing but the ticks of ``git ralph run`` in its plan ---


# After these outcomes a run ticks a task.
_TICKED = frozenset(["committed", "no-op"])


def _ticked_by_runs(ctx: Context, paths: Sequence[bytes]) -> set[bytes]:
    """Those of ``paths`` that are plans of this worktree's runs and hold only the ticks of these runs."""
    landed: dict[bytes, set[object]] = {}
    for record in run_record.readable(ctx.layout) if paths else ():
        path = os.fsencode(record.get("plan") or "")
        if path in paths and record.get("worktree") == ctx.layout.token:
            jobs = (job for job in record["tasks"] if job.get("outcome") in _TICKED)
            landed.setdefault(path, set()).update((job.get("text"), job.get("copy")) for job in jobs)
    return {path for path, tasks in landed.items() if _is_ticked(ctx, path, tasks)}


def _is_ticked(ctx: Context, path: bytes, landed: Container[object]) -> bool:
    """True where the boxes of landed tasks are the only change of a plan."""
    try:
        # status waits for no pipe and follows no link that lies in place of a plan.
        now = files.read_bytes(os.path.join(ctx.repo.root, os.fsdecode(path)), checklist.LIMIT, foreign=True)
    except OSError:
        return False
    before = ctx.git.at(ctx.repo.root).try_run("cat-file", "blob", b"HEAD:" + path).stdout
    old, new = checklist.parse(before), checklist.parse(now)
    changed = {then.key for then, task in zip(old, new, strict=False) if task.done != then.done}
    is_landed = bool(changed) and all(task in landed for task in changed)
    return is_landed and _with_open_boxes(before, old) == _with_open_boxes(now, new)


def _with_open_boxes(data: bytes, tasks: Iterable[Task]) -> bytes:
    """The text with every box open."""
    out = bytearray(data)
    for task in tasks:
        out[task.box : task.box + 1] = b" "
    return bytes(out)


# --- whose each path is ---


MINE, OTHER, CONTESTED, NOBODY = "mine", "other", "contested", "nobody"
# The heading, for a person, of what no session owns.
YOURS = "yours"
# The heading of what the loop itself wrote: the ticks in its plan.
LOOP = "git ralph run"


class Owned(NamedTuple):
    """One uncommitted path, its owner in a word, and the sessions with something pending there.

    ``gap``: the path also has changes that no hook saw. ``likely`` are the shell commands that may have made
    what no session recorded. ``change`` is the file against HEAD. ``works`` is what each session has there.
    """

    path: bytes
    owner: str
    sessions: tuple[str, ...]
    gap: bool = False
    likely: tuple[Maker, ...] = ()
    change: Change = ("M", (None, None))
    works: Mapping[str, Work] | None = None
    by_shell: bool = False

    @property
    def entangled(self) -> bool:
        """True where a commit of one of its sessions would be refused now."""
        return any(work.refuses for work in (self.works or {}).values())


class PathRow(NamedTuple):
    """A path as one session has it: git's letter, line counts, why a commit would refuse, who else is there.

    ``unrecorded``: the path also has changes that no hook saw.
    """

    path: bytes
    letter: str
    counts: Counts
    source: bytes | None = None
    reason: str | None = None
    others: tuple[str, ...] = ()
    unrecorded: bool = False
    likely: tuple[Maker, ...] = ()


class SessionRows(NamedTuple):
    """A session with its rows; without an id these are unrecorded rows, or the ticks of a run.

    ``last`` is when the session last recorded, in seconds since the epoch. ``task`` is its task in a plan.
    """

    session: str | None
    name: str
    agent: str | None = None
    state: str = ""
    last: float | None = None
    rows: tuple[PathRow, ...] = ()
    task: str | None = None


def _recorded(state: PathState, works: Mapping[str, Work]) -> tuple[str, ...]:
    """The sessions with work in a path, by who recorded it: a parent's commit takes its child's work too."""
    told = {r.session for r in state.journal.records if r.op != GAP} | state.bare | state.came_with
    return tuple(sorted(told & works.keys() or works))


def _owner(state: PathState, works: dict[str, Work], gap: bool, family: set[str]) -> Owned:
    path = state.path
    if not works:
        return Owned(path, NOBODY, ())
    found = _recorded(state, works)
    mine = set(found) <= family
    if (len(found) > 1 and not mine) or gap:
        return Owned(path, CONTESTED, found, gap, works=works)
    return Owned(path, MINE if mine else OTHER, found, works=works)


def _gaps(ctx: Context, states: Iterable[PathState], works: Mapping[bytes, dict[str, Work]]) -> set[bytes]:
    """The paths that also have changes which no hook saw.

    Where one session alone has work, its commit shows it. A filter makes another text for the commit, so a
    commit of the whole file shows nothing there.
    """
    found, asked = set[bytes](), []
    for state in states:
        here = works.get(state.path, {})
        names = _recorded(state, here)
        # the records of the old path tell what a moved file brought along
        only = here[names[0]] if len(names) == 1 and not state.came_with else None
        if only is not None and only.reason != decision.FILTERED and not only.refuses:
            found |= set() if only.whole else {state.path}
        elif names and state.journal.records:
            asked.append(state)
    return found | _unexplained(ctx, asked)


def _unexplained(ctx: Context, states: Iterable[PathState]) -> set[bytes]:
    """The paths that hold more than all sessions together recorded, found by a draft of all sessions."""
    paths = {state.path: state for state in states}
    if not paths:
        return set()
    ctx = without_programs(ctx)
    # Unrecorded corrections would go along with the lines that they correct. Here the question is whether
    # there are any.
    strict = replace(ctx, config=Config({**ctx.config.values, "ralph.unrecorded": "leave"}))
    with closing(ctx.repo), open_bench(ctx, quarantine=True) as bench:
        names = manifests.sessions_here(ctx.layout)
        made = plan.build(strict, bench, "", Wishes(), list(paths), family=names, writing=False)
    filtered = {left.path for left in made.left if left.reason == decision.FILTERED}
    untold = {left.path for left in made.left}
    known = {path for path in made.entries if path not in untold and made.entries[path] == made.now.get(path)}
    with Worktree(ctx.repo.root) as worktree:
        known |= {path for path in filtered & paths.keys() if _leads_to_file(worktree, paths[path])}
    return paths.keys() - known


def _leads_to_file(worktree: Worktree, state: PathState) -> bool:
    """True where the records of a path lead from one to the next, and to the file on disk."""
    records = [r for r in state.journal.records if r.op != GAP]
    if not records:
        return False
    try:
        return text_chain.explains(records, worktree.read(state.path))
    except LeadsOutError:
        return False


def owners(
    ctx: Context,
    session: str | None,
    typed: Sequence[str] = (),
    everybody: dict[str, Works] | None = None,
    counting: bool = False,
) -> list[Owned]:
    """Every uncommitted path once, or those that pathspecs match, with its owner as ``session`` sees it.

    ``everybody`` is what commits would find, where the caller has asked already. ``counting`` adds what
    changed, which costs another git process.
    """
    dirty = uncommitted.dirty(ctx.repo, ctx.config, typed=typed)
    paths = list(dirty)
    works = pending_paths.by_path(pending_paths.everyone(ctx) if everybody is None else everybody)
    for path in dirty.keys() & works.keys():
        if is_unmerged(dirty[path]):  # no commit of anybody goes until it is settled
            works[path] = {
                name: work._replace(reason=decision.UNMERGED) for name, work in works[path].items()
            }
    states = {path: PathState(path, Journal()) for path in paths} | path_records.states_of(ctx.layout, paths)
    family = set(path_records.family(ctx.layout, session)) if session else set()
    gaps = _gaps(ctx, states.values(), works)
    rows = [_owner(states[path], works.get(path, {}), path in gaps, family) for path in paths]
    made = offers.likely([row.path for row in rows if row.gap or row.owner == NOBODY], states)
    # what a command did is the session's where its record tells it, and what is left was there before
    told = {(p, r.session, r.call) for p, one in states.items() for r in one.journal.records if r.by_shell}
    left = offers.left_by_commands(ctx, [row.path for row in rows if row.owner == NOBODY], told)
    changed = _changes(ctx, dirty) if counting and dirty else {}
    return [
        row._replace(
            likely=made.get(row.path, ()),
            change=changed.get(row.path, row.change),
            by_shell=row.path in left or row.path in made,
        )
        for row in rows
    ]


def _changes(ctx: Context, dirty: Mapping[bytes, str]) -> dict[bytes, Change]:
    with open_bench(ctx, quarantine=True) as bench:
        return uncommitted.changes(ctx.repo, ctx.config, bench, dirty)


# --- by session ---


def groups(ctx: Context, session: str | None, owned: Sequence[Owned]) -> list[SessionRows]:
    """The paths by session: one's own first, then the others by name, then what nobody recorded.

    What nobody recorded is the looking person's, except what a shell command made.
    """
    family = set(path_records.family(ctx.layout, session)) if session else set()
    rows: dict[str, list[PathRow]] = {}
    for one in owned:
        for name in _listed_under(one):
            rows.setdefault(name, []).append(_row(one, name))
    found = [_group(ctx, name, rows[name]) for name in rows]
    found.sort(key=lambda group: (group.session not in family, by_name(group.name)))
    rest = _unrecorded(owned)
    plans = _ticked_by_runs(ctx, [row.path for row in rest if row.letter == "M" and not row.others])
    ticked = tuple(row for row in rest if row.path in plans)
    found += [SessionRows(None, LOOP, rows=ticked)] if ticked else []
    made = {one.path for one in owned if one.by_shell} if not ctx.is_agent else {row.path for row in rest}
    unknown = [row for row in rest if row.path not in plans]
    for name, is_made in ((YOURS, False), (NOBODY, True)):
        told = tuple(row for row in unknown if (row.path in made) == is_made)
        found += [SessionRows(None, name, rows=told)] if told else []
    return found


def _listed_under(one: Owned) -> list[str]:
    """The sessions whose commit would take or refuse the path; no parent that takes it for its child."""
    works = one.works or {}
    return [name for name in one.sessions if name in works] or sorted(works)


def _row(one: Owned, session: str) -> PathRow:
    work = (one.works or {})[session]
    others = tuple(name for name in one.sessions if name != session)
    letter, counts = one.change
    if work.change is not None:
        letter, counts = work.change, counts if work.counts_of is None else work.counts_of
    elif others or one.gap:
        counts = (None, None)  # nobody can tell which of the lines are the session's own
    return PathRow(
        path=one.path,
        letter=letter,
        counts=counts,
        source=work.source,
        reason=work.reason,
        others=others,
        unrecorded=one.gap,
    )


def _unrecorded(owned: Iterable[Owned]) -> list[PathRow]:
    out = []
    for one in owned:
        if one.owner == NOBODY:
            out.append(PathRow(one.path, *one.change, likely=one.likely))
        elif one.gap:
            out.append(PathRow(one.path, one.change[0], _rest(one), others=one.sessions, likely=one.likely))
    return out


def _rest(one: Owned) -> Counts:
    """The lines of a path that no session's commit would take; None, None where these are not known."""
    added, removed = one.change[1]
    for name in one.sessions:
        work = (one.works or {}).get(name, Work())
        more, less = work.counts_of or (None, None)
        if added is None or removed is None or more is None or less is None or work.reason is not None:
            return None, None
        added, removed = added - more, removed - less
    is_sound = added is not None and removed is not None and min(added, removed) >= 0
    return (added, removed) if is_sound else (None, None)


def _group(ctx: Context, session: str, rows: list[PathRow]) -> SessionRows:
    record = sessionfile.read(ctx.layout, session) or {}
    # a renamed file is listed under its new name
    gone = {row.source for row in rows if row.source is not None}
    agent = record.get("agent")
    return SessionRows(
        session,
        ctx.called(session),
        str(agent) if agent else None,
        sessions.state_of(ctx.layout, session),
        sessions.last_event(ctx.layout, session),
        tuple(row for row in rows if row.path not in gone),
        task=_task(record),
    )


def _task(record: dict[str, object]) -> str | None:
    """The task of a session, as people name it."""
    plan, task = record.get("plan"), record.get("task")
    if task is None or isinstance(task, (dict, list)):
        return None
    return (f"{os.path.basename(plan)} " if isinstance(plan, str) and plan else "") + f"task {task}"


def by_name(name: str) -> tuple[str, int, str]:
    """Sort ``claude-2`` before ``claude-10``."""
    stem, _, number = name.rpartition("-")
    # A number of ten digits is no count of ours, but part of an id.
    return (stem, int(number), name) if stem and number.isdecimal() and len(number) < 10 else (name, 0, name)
