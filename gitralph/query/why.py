"""``git ralph why``: the recorded evidence for a path or a line, committed or pending."""

import os
from dataclasses import dataclass
from typing import Any

from gitralph import isolate
from gitralph.base import nul
from gitralph.base.errors import Fatal, UsageError
from gitralph.base.quote import shown
from gitralph.commit import decide, history, pathspecs, separate
from gitralph.commit.inputs import Scene, Wishes
from gitralph.commit.plan import open_bench
from gitralph.context import Context
from gitralph.git import refs
from gitralph.git.snapshot import Worktree
from gitralph.hook import sessionfile
from gitralph.hook.journal import GAP, Record, split_lines
from gitralph.hook.locate import OutsideError, locate
from gitralph.journal import consumption, pending
from gitralph.journal.pending import PathState

PENDING, COMMITTED, NOBODY, VOID = "pending", "committed", "nobody", "consumed"
_ZERO = "0" * 40


@dataclass(frozen=True)
class Finding:
    """Who stands behind one line or one record. ``commit`` is None for what is pending."""

    state: str
    line: int | None = None
    session: str | None = None
    agent: str | None = None
    agent_id: str | None = None
    tool: str | None = None
    call: str | None = None
    time: str | None = None
    commit: str | None = None
    op: str | None = None
    exact: str | None = None


def tree_path(ctx: Context, typed: str) -> bytes:
    """What the user typed, relative to the cwd, as a tree path. Raises Fatal outside the worktree."""
    try:
        target = locate(os.getcwd(), typed, ctx.environ)
    except OutsideError as error:
        raise Fatal(f"'{typed}': {error}") from None
    if target.place.root != ctx.repo.root:
        raise Fatal(f"'{typed}' belongs to another worktree, '{target.place.root}'")
    if not os.path.lexists(target.file) and not os.path.lexists(ctx.layout.journal(target.path)):
        pathspecs.refuse_unknown(ctx, [typed], literal=True)
    return target.path


def _agent(ctx: Context, session: str) -> str | None:
    record: dict[str, Any] = sessionfile.read(ctx.layout, session) or {}
    agent = record.get("agent")
    return agent if isinstance(agent, str) else None


def _of_record(ctx: Context, record: Record, fate: tuple[str, str | None], line: int | None) -> Finding:
    state, commit = fate
    return Finding(
        state, line, record.session, _agent(ctx, record.session), record.agent_id, record.tool,
        record.call, record.ts or None, commit, record.op, record.exact,
    )  # fmt: skip


@dataclass(frozen=True)
class _Read:
    """A path read as ``commit`` reads it: per line of the file the record and the commit it has."""

    state: PathState
    keys: list[str | None]
    commits: list[str | None]
    pending: frozenset[str]


def _read(ctx: Context, path: bytes) -> _Read:
    """Read a path. Raises Fatal where commit could not look at it either."""
    state = pending.path_state(ctx.layout, path, [])
    bench = open_bench(ctx, quarantine=True)
    try:
        with Worktree(ctx.repo.root) as worktree:
            head = refs.read_head(ctx.repo)
            base = history.base_of(ctx, head)
            scene = Scene(
                ctx.repo, ctx.config, ctx.layout, bench, base, worktree, [], Wishes(), head.oid
            )  # fmt: skip
            left = decide.look(scene, {path: state})
            if left:
                raise Fatal(f"'{shown(path)}': {left[path].detail}")
            data = scene.contents[path].data or b""
            count = len(split_lines(data))
            if len(data) > separate.TEXT_LIMIT or b"\0" in data[:8000]:
                return _Read(state, [None] * count, _blamed(ctx, path, count), _by_marks(state))
            known = separate.gather(scene, state)
            return _Read(state, _keys(known, count), _blamed(ctx, path, count), _still_pending(known))
    finally:
        bench.remove()


def _by_marks(state: PathState) -> frozenset[str]:
    """What consumption says is pending: all there is where lines are not told apart."""
    return frozenset(str(r.offset) for records in state.pending.values() for r in records)


def _keys(known: separate.Evidence, count: int) -> list[str | None]:
    """The record behind each line of the file as it stands, by its place in the journal."""
    rows = isolate.owners_by_line(known.head, known.steps, known.worktree, committed=known.committed)
    made = [row.key if row.key is not None and row.key.isdigit() else None for row in rows]
    places = [known.seen.line(number) for number in range(1, count + 1)]
    return [made[at - 1] if 0 < at <= len(made) else None for at in places]


def _still_pending(known: separate.Evidence) -> frozenset[str]:
    units = isolate.pending_units(
        known.head, known.steps, known.worktree, committed=known.committed, readings=known.readings
    )
    return frozenset(one.unit.partition(".")[0] for one in units if one.owner is not None)


def _blamed(ctx: Context, path: bytes, count: int) -> list[str | None]:
    """The commit that ``git blame`` names for each line as it stands, None for an uncommitted one."""
    done = ctx.git.at(ctx.repo.root).try_run(
        *ctx.config.without_programs(), "blame", "--no-textconv", "--porcelain", "--", path
    )
    rows = [row.split(b" ") for row in done.stdout.split(b"\n") if not row.startswith(b"\t")]
    heads = [row[0].decode() for row in rows if len(row) in (3, 4) and len(row[0]) == 40]
    if done.returncode or len(heads) != count:
        return [None] * count
    return [None if oid == _ZERO else oid for oid in heads]


def records(ctx: Context, path: bytes) -> list[Finding]:
    """Every record of a path in file order, with what became of it; then commits known by their trailers.

    What became of it is asked of HEAD and the file, as ``commit`` does; a commit that git rewrote
    counts by the lines it holds.
    """
    read = _read(ctx, path)
    found = [_of_record(ctx, r, _fate(read, r), None) for r in read.state.journal.records if r.op != GAP]
    told = {one.commit for one in found} | {None}
    others = {c for c, key in zip(read.commits, read.keys, strict=True) if key is None} - told
    trailers = _trailers(ctx, [commit for commit in others if commit is not None])
    for commit, (session, agent, when) in trailers.items():
        if session is not None:
            found.append(Finding(COMMITTED, None, session, agent, time=when, commit=commit))
    return found


def _fate(read: _Read, record: Record) -> tuple[str, str | None]:
    """What became of a record, and the commit that holds it."""
    key, journal = str(record.offset), read.state.journal
    mark = consumption.mark_of(journal, record.session)
    noted = consumption.commit_of(journal, record)
    if key in read.pending or (not record.is_exact and consumption.is_pending(record, mark)):
        return PENDING, None
    lines = [commit for commit, made in zip(read.commits, read.keys, strict=True) if made == key]
    holding = [commit for commit in lines if commit is not None]
    if holding:
        return COMMITTED, noted if noted in holding else max(holding, key=holding.count)
    return (COMMITTED, noted) if noted else (VOID, None)


def _trailers(ctx: Context, commits: list[str]) -> dict[str, tuple[str | None, str | None, str]]:
    """Session, agent and time of commits, as their messages say."""
    if not commits:
        return {}
    form = "%H%x00%cI%x00%(trailers:key=Ralph-Session,valueonly)%x00%(trailers:key=Ralph-Agent,valueonly)%x00"
    said = ctx.git.run("log", "--no-walk", f"--format={form}", *commits)
    fields = [field.decode("utf-8", "replace").strip() for field in nul.rows(said)]
    rows = zip(fields[0::4], fields[1::4], fields[2::4], fields[3::4], strict=False)
    return {oid: (_last(session), _last(agent), when) for oid, when, session, agent in rows if len(oid) == 40}


def _last(value: str) -> str | None:
    return value.split("\n")[-1] or None


def line_of(ctx: Context, path: bytes, line: int) -> Finding:
    """Who wrote line ``line`` of the file as it stands. Raises UsageError for a line it has not."""
    read = _read(ctx, path)
    count = len(read.keys)
    if not 0 < line <= count:
        raise UsageError(f"'{shown(path)}' has {count} lines; there is no line {line}")
    key, commit = read.keys[line - 1], read.commits[line - 1]
    record = next((r for r in read.state.journal.records if str(r.offset) == key and r.op != GAP), None)
    if record is not None:
        return _of_record(ctx, record, (COMMITTED if commit else PENDING, commit), line)
    if commit is None:
        return Finding(NOBODY, line)
    session, agent, when = _trailers(ctx, [commit])[commit]
    return Finding(COMMITTED, line, session, agent, time=when, commit=commit)
