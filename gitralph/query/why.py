"""``git ralph why``: the recorded evidence for a path or a line, committed or pending."""

import os
from dataclasses import dataclass
from typing import Any

from gitralph import isolate
from gitralph.base.errors import Fatal, UsageError
from gitralph.base.quote import shown
from gitralph.commit import decide, history, pathspecs, separate
from gitralph.commit.inputs import Scene, Wishes
from gitralph.commit.plan import open_bench
from gitralph.context import Context
from gitralph.git import refs
from gitralph.git.snapshot import Worktree
from gitralph.hook import sessionfile
from gitralph.hook.journal import Record, split_lines
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


def _of_record(ctx: Context, record: Record, state: str, line: int | None, commit: str | None) -> Finding:
    return Finding(
        state, line, record.session, _agent(ctx, record.session), record.agent_id, record.tool,
        record.call, record.ts or None, commit, record.op, record.exact,
    )  # fmt: skip


def records(ctx: Context, path: bytes) -> list[Finding]:
    """Every record of a path in file order, with what became of it."""
    journal = pending.read_journal(ctx.layout, path)
    out = []
    for record in journal.records:
        mark = consumption.mark_of(journal, record.session)
        commit = consumption.commit_of(journal, record)
        state = PENDING if consumption.is_pending(record, mark) else COMMITTED if commit else VOID
        out.append(_of_record(ctx, record, state, None, commit))
    return out


def _trailer(body: str, name: str) -> str | None:
    found = [row.partition(": ")[2] for row in body.splitlines() if row.startswith(name + ": ")]
    return found[-1] if found else None


def _blamed(ctx: Context, path: bytes, line: int) -> str | None:
    """The commit that ``git blame`` names for a line as it stands, None for an uncommitted one."""
    done = ctx.git.at(ctx.repo.root).try_run(
        *ctx.config.without_programs(), "blame", "--no-textconv", "-p", f"-L{line},{line}", "--", path
    )
    oid = done.stdout[:40].decode("ascii", "replace")
    return None if done.returncode or oid == _ZERO else oid


def _committed(ctx: Context, line: int, commit: str, record: Record | None) -> Finding:
    body = ctx.git.run("log", "-1", "--format=%(trailers:only,unfold)", commit).decode("utf-8", "replace")
    session = _trailer(body, "Ralph-Session")
    if record is not None and record.session == session:
        return _of_record(ctx, record, COMMITTED, line, commit)
    when = ctx.git.line("log", "-1", "--format=%cI", commit)
    return Finding(COMMITTED, line, session, _trailer(body, "Ralph-Agent"), time=when, commit=commit)


def line_of(ctx: Context, path: bytes, line: int) -> Finding:
    """Who wrote line ``line`` of the file as it stands. Raises UsageError for a line it has not."""
    states = pending.path_state(ctx.layout, path, [])
    bench = open_bench(ctx, quarantine=True)
    try:
        with Worktree(ctx.repo.root) as worktree:
            base = history.base_of(ctx, refs.read_head(ctx.repo))
            scene = Scene(
                ctx.repo,
                ctx.config,
                ctx.layout,
                bench,
                base,
                worktree,
                [],
                Wishes(),
                refs.read_head(ctx.repo).oid,
            )
            return _look_up(ctx, scene, states, line)
    finally:
        bench.remove()


def _look_up(ctx: Context, scene: Scene, state: PathState, line: int) -> Finding:
    left = decide.look(scene, {state.path: state})
    if left:
        raise Fatal(f"'{shown(state.path)}': {left[state.path].detail}")
    known = separate.gather(scene, state)
    rows = isolate.owners_by_line(known.head, known.steps, known.worktree, committed=known.committed)
    count = len(split_lines(scene.contents[state.path].data or b""))
    if not 0 < line <= count:
        raise UsageError(f"'{shown(state.path)}' has {count} lines; there is no line {line}")
    at = known.seen.line(line)
    if not at:
        return Finding(NOBODY, line)  # a hook removed it from the commit
    row = rows[at - 1]
    record = next((r for r in state.journal.records if str(r.offset) == row.key), None)
    commit = _blamed(ctx, state.path, line)
    if commit is not None:
        return _committed(ctx, line, commit, record)
    if row.owner is None or record is None:
        return Finding(NOBODY, line)
    return _of_record(ctx, record, PENDING, line, None)
