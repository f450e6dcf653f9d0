"""Collects the facts of a report: sessions, journals, commits, runs and events. Writes nothing."""

import os
from collections.abc import Iterator
from typing import Any

from gitralph.base import files, jsonline
from gitralph.base.layout import Layout
from gitralph.base.quote import shown
from gitralph.context import Context
from gitralph.hook import event_log, sessionfile
from gitralph.hook.sessionfile import seconds
from gitralph.journal import consumption, events
from gitralph.journal import run as runs
from gitralph.journal.events import Emitted
from gitralph.query import status
from gitralph.report.facts import Edit, Facts, Landed, Lane, Refusal, TaskRow
from gitralph.session import sessions

LIMIT = 100_000
_JOURNAL = 1 << 28
_FAILED = "task.failed"


def gather(ctx: Context, run: str | None) -> Facts:
    """The facts of the repository, or of one run. Raises Fatal for a run that is not there."""
    records = [runs.read(ctx.layout, one) for one in ([run] if run else runs.all_ids(ctx.layout))]
    wanted = _sessions_of(records) if run else None
    title = f"run {run}" if run else os.path.basename(ctx.repo.root)
    facts = Facts(title, sessionfile.now())
    _add_edits(ctx, facts, wanted)
    _add_commits(ctx, facts, wanted)
    for record in records:
        facts.tasks += list(_tasks(record))
        facts.refusals += list(_refusals(ctx.layout, str(record["run"])))
    _add_lanes(ctx, facts, wanted)
    _add_contested(ctx, facts, wanted)
    return facts


def _sessions_of(records: list[runs.Record]) -> set[str]:
    return {str(task["session"]) for r in records for task in r["tasks"] if task.get("session")}


def _layouts(ctx: Context) -> list[Layout]:
    """The main worktree's state and that of every linked one."""
    top = ctx.layout.main()
    try:
        linked = sorted(os.listdir(f"{top.top}/worktrees"))
    except OSError:
        linked = []
    return [top, *(Layout(top.top, name) for name in linked)]


def _journal_lines(folder: str) -> Iterator[dict[str, Any]]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        try:
            data = files.read_bytes(f"{folder}/{name}", _JOURNAL)
        except OSError:
            continue
        for _, _, line in jsonline.lines(data):
            try:
                fields = jsonline.object_in(line)
            except ValueError:
                continue
            if "op" in fields:
                yield fields


def _add_edits(ctx: Context, facts: Facts, wanted: set[str] | None) -> None:
    for lay in _layouts(ctx):
        for fields in _journal_lines(lay.edits):
            session, when = str(fields.get("session")), seconds(fields.get("ts"))
            if when is None or (wanted is not None and session not in wanted):
                continue
            if len(facts.edits) >= LIMIT:
                facts.cut += 1
                continue
            path = shown(str(fields.get("path")).encode("utf-8", "surrogateescape"))
            words = (str(fields.get(key) or "") for key in ("op", "tool", "exact"))
            facts.edits.append(Edit(when, session, path, *words))
    facts.edits.sort(key=lambda edit: edit.time)


def _add_commits(ctx: Context, facts: Facts, wanted: set[str] | None) -> None:
    owner: dict[str, str] = {}
    for record in sessions.records(ctx.layout):
        session = str(record["session"])
        if wanted is None or session in wanted:
            for fields in consumption.read(ctx.layout, session).commits:
                if isinstance(fields.get("commit"), str):
                    owner.setdefault(fields["commit"], session)
    if not owner:
        return
    words = ["log", "--no-walk=unsorted", "--ignore-missing", "--stdin", "--format=%H%x00%ct%x00%s%x00"]
    said = ctx.git.try_run(*words, stdin="\n".join(owner).encode() + b"\n").stdout
    parts = [part.strip("\n") for part in said.decode("utf-8", "replace").split("\0")]
    for oid, when, subject in zip(parts[0::3], parts[1::3], parts[2::3], strict=False):
        facts.commits.append(Landed(float(when), owner.get(oid, ""), oid, subject))


def _tasks(record: runs.Record) -> Iterator[TaskRow]:
    for task in record["tasks"]:
        if not isinstance(task, dict):
            continue
        name = f"{task.get('number')}/{task.get('total')} {task.get('text')}"
        took = task.get("seconds")
        yield TaskRow(
            str(record["run"]), name, str(task.get("outcome") or "open"), str(task.get("session") or ""),
            str(task.get("commit") or ""), len(task.get("files") or ()),
            float(took) if isinstance(took, int | float) else 0.0, str(task.get("detail") or ""),
        )  # fmt: skip


def _refusals(layout: Layout, run: str) -> Iterator[Refusal]:
    fd = events.open_events(layout.events(event_log.name_of_run(run)))
    if fd is None:
        return
    try:
        for row in events.scan(fd):
            payload = row.value.get("payload") if isinstance(row, Emitted) else None
            if isinstance(row, Emitted) and row.topic == _FAILED and isinstance(payload, dict):
                reason = f"{payload.get('task')}: {payload.get('reason')}"
                yield Refusal(seconds(row.value.get("ts")), str(payload.get("session")), reason)
    finally:
        os.close(fd)


def _add_lanes(ctx: Context, facts: Facts, wanted: set[str] | None) -> None:
    known = {str(record["session"]): record for record in sessions.records(ctx.layout)}
    busy = {edit.session for edit in facts.edits}
    for session in sorted({*known, *busy}):
        if wanted is not None and session not in wanted:
            continue
        record = known.get(session, {})
        words = [str(record[key]) for key in ("agent", "plan", "task", "bead") if record.get(key)]
        facts.lanes.append(
            Lane(
                session, " ".join(words), sessions.state_of(ctx.layout, session) if record else "unknown",
                seconds(record.get("started")), seconds(record.get("ended")),
            )
        )  # fmt: skip
    facts.lanes.sort(key=lambda lane: (lane.begin is None, lane.begin or 0.0, lane.session))


def _add_contested(ctx: Context, facts: Facts, wanted: set[str] | None) -> None:
    for row in status.owners(ctx, None):
        mine = wanted is None or bool(wanted & set(row.sessions))
        if row.owner == status.CONTESTED and mine:
            who = ", ".join(row.sessions) + (" and somebody unrecorded" if row.gap else "")
            facts.contested.append((shown(row.path), who))
