"""A report as one JSON document, for programs; pure."""

from gitralph.ask.report.facts import PERSON, Facts, SessionCommit, TaskRow
from gitralph.sessions.spending import UNKNOWN, Spent


def document(facts: Facts) -> dict[str, object]:
    """Sessions, commits and tasks; each with its tokens, where those were asked for."""
    sessions = [
        {
            "id": lane.session,
            "name": lane.called,
            "state": lane.state,
            "started": lane.begin,
            "ended": lane.end,
            **_tokens(facts, facts.spent.get(lane.session) if facts.spent else None),
        }
        for lane in facts.lanes
        if not lane.session.startswith(PERSON)
    ]
    return {
        "title": facts.title,
        "made": facts.made,
        "sessions": sessions,
        "commits": [_commit(facts, one) for one in facts.commits],
        "tasks": [_task(facts, one) for one in facts.tasks],
    }


def _tokens(facts: Facts, spent: Spent | None) -> dict[str, object]:
    return {} if facts.spent is None else {"tokens": (spent or UNKNOWN).document()}


def _commit(facts: Facts, one: SessionCommit) -> dict[str, object]:
    person = one.session.startswith(PERSON)
    return {
        "commit": one.oid,
        "session": None if person else one.session,
        "name": facts.called(one.session),
        "time": one.time,
        "subject": one.subject,
        "fate": one.fate or None,
        **({} if person else _tokens(facts, facts.spent_on.get((one.session, one.oid)))),
    }


def _task(facts: Facts, one: TaskRow) -> dict[str, object]:
    return {
        "run": one.run,
        "task": one.name,
        "outcome": one.outcome,
        "session": one.session or None,
        "commit": one.commit or None,
        "files": one.files,
        "seconds": one.seconds,
        "detail": one.detail,
        **_tokens(facts, facts.of_task(one)),
    }
