"""Collects the facts of a report from sessions, journals, commits, runs and events. Writes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator

from gitralph.ask import foreign, overview, status
from gitralph.ask import log as history
from gitralph.ask.log import LogWish
from gitralph.ask.report.facts import PERSON, Edit, Facts, Lane, Refusal, SessionCommit, TaskRow
from gitralph.ask.whose import Makers
from gitralph.base.layout import Layout
from gitralph.base.quote import shown
from gitralph.git.context import Context
from gitralph.hook import event_log, sessionfile
from gitralph.hook.sessionfile import seconds
from gitralph.records import events, sessions
from gitralph.records import run_record as runs
from gitralph.records.events import Emitted
from gitralph.sessions import spending

LIMIT = 100_000
_FAILED = "task.failed"


def gather(ctx: Context, run: str | None, tokens: bool = False) -> Facts:
    """The facts of the repository, or of one run.

    ``tokens`` adds the tokens that its sessions took, by their transcripts. Raises Fatal for a run that is
    not there.
    """
    records = [runs.read(ctx.layout, one) for one in ([run] if run else runs.all_ids(ctx.layout))]
    wanted = _sessions_of(records) if run else None
    title = f"run {run}" if run else os.path.basename(ctx.repo.root)
    facts = Facts(title, sessionfile.now())
    makers, wish = Makers(ctx), LogWish(frozenset(wanted) if wanted is not None else None)
    _add_edits(ctx, facts, makers, wish)
    _add_commits(ctx, facts, makers, wish)
    if run is None:
        _add_elsewhere(ctx, facts)
        facts.branches = [overview.held_sentence(ctx, one) for one in overview.held_branches(ctx)]
    for record in records:
        facts.tasks += list(_tasks(record))
        facts.refusals += list(_refusals(ctx.layout, str(record["run"])))
    _add_lanes(ctx, facts, wanted)
    _add_contested(ctx, facts, wanted)
    if tokens:
        _add_spent(ctx, facts)
    return facts


def _add_spent(ctx: Context, facts: Facts) -> None:
    facts.spent = {}
    for lane in facts.lanes:
        if not lane.session.startswith(PERSON):
            ledger = spending.of(ctx, lane.session)
            facts.spent[lane.session] = ledger.total()
            facts.spent_on |= {(lane.session, oid): one for oid, one in ledger.by_commit().items()}


def _sessions_of(records: list[runs.Record]) -> set[str]:
    return {str(task["session"]) for r in records for task in r["tasks"] if task.get("session")}


def _add_edits(ctx: Context, facts: Facts, makers: Makers, wish: LogWish) -> None:
    found = history.edits(ctx, makers, wish)
    facts.cut = max(0, len(found) - LIMIT)
    for edit in found[facts.cut :]:
        record = edit.record
        facts.edits.append(Edit(edit.time, edit.session, shown(edit.path), record.op))


def _add_commits(ctx: Context, facts: Facts, makers: Makers, wish: LogWish) -> None:
    for one in history.commits(ctx, makers, wish):
        fate = "" if one.here else f"now {one.became[:8]}" if one.became else "not in HEAD"
        whose = one.session or PERSON + one.author
        facts.commits.append(SessionCommit(one.time, whose, one.oid, one.subject, fate))


def _add_elsewhere(ctx: Context, facts: Facts) -> None:
    """Add the commits that other members of the fleet published, without those of this clone's sessions."""
    facts.elsewhere = sorted(foreign.published(ctx), key=lambda one: (seconds(one.time) or 0.0, one.commit))


def _tasks(record: runs.Record) -> Iterator[TaskRow]:
    for task in record["tasks"]:
        name = f"{task.get('number')}/{task.get('total')} {task.get('text')}"
        yield TaskRow(
            run=str(record["run"]),
            name=name,
            outcome=str(task.get("outcome") or "open"),
            session=str(task.get("session") or ""),
            commit=str(task.get("commit") or ""),
            files=len(task.get("files") or ()),
            seconds=float(task.get("seconds", 0.0)),
            detail=str(task.get("detail") or ""),
        )


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
    busy = {edit.session for edit in facts.edits} | {one.session for one in facts.commits}
    for session in sorted({*known, *busy}):
        if wanted is not None and session not in wanted:
            continue
        if session.startswith(PERSON):
            facts.lanes.append(Lane(session, "a person", "", None, None, session.removeprefix(PERSON)))
            continue
        record = known.get(session, {})
        said = {"task": "task "}
        words = [
            f"{said.get(key, '')}{record[key]}"
            for key in ("agent", "plan", "task", "bead")
            if record.get(key)
        ]
        state = sessions.state_of(ctx.layout, session) if record else "elsewhere"
        begin, end = seconds(record.get("started")), seconds(record.get("ended"))
        if (
            end is None and state == "stale"
        ):  # it never said that it ends, so its last event is all that is known
            end = sessions.last_event(ctx.layout, session) or begin
        said_so = sessions.said(state)
        facts.lanes.append(Lane(session, " ".join(words), said_so, begin, end, ctx.called(session)))
    first = {one.session: one.time for one in reversed(facts.edits + facts.commits)}  # type: ignore[operator]
    facts.lanes.sort(key=lambda lane: (lane.begin or first.get(lane.session, float("inf")), lane.session))


def _add_contested(ctx: Context, facts: Facts, wanted: set[str] | None) -> None:
    for row in status.owners(ctx, None):
        mine = wanted is None or bool(wanted & set(row.sessions))
        if row.owner == status.CONTESTED and mine:
            who = ", ".join(map(ctx.called, row.sessions)) + (" and somebody unrecorded" if row.gap else "")
            facts.contested.append((shown(row.path), who))
