"""``git ralph track --release``: takes a claim or an assignment back, as if it had never been made."""

from __future__ import annotations

from collections.abc import Sequence

from gitralph.base import files, jsonline
from gitralph.base.errors import Refused
from gitralph.base.kinds import Kind, Why
from gitralph.commit import land
from gitralph.decide import decision, reading
from gitralph.decide.decision import Left, Note
from gitralph.git.context import Context
from gitralph.git.typed import as_name
from gitralph.hook import journal, sessionfile
from gitralph.hook.journal import Record, replay
from gitralph.hook.record import path_text
from gitralph.records import manifests, path_records
from gitralph.records.path_records import Claims, PathState
from gitralph.words import advice, sentences

# Records that a person made, not an agent's hook. Only these can be released.
_BY_HAND = ("track", journal.ASSIGN)


def release(ctx: Context, session: str, given: Sequence[str]) -> list[str]:
    """Take back what ``session`` claims of these paths; returns a note for each.

    Raises Refused, with nothing written, for a path that only another session claims.
    """
    paths = list(dict.fromkeys(reading.tree_path(ctx, one) for one in given))
    claims = [path_records.claims(ctx.layout, name) for name in manifests.sessions_here(ctx.layout)]
    states = {path: path_records.path_state(ctx.layout, path, claims) for path in paths}
    _refuse_others(ctx, session, states)
    kinds = [
        (path, kind) for path, state in states.items() for kind in _release(ctx, session, path, state, claims)
    ]
    return sentences.told(ctx.layout, [Note(path, Why(kind, (session,))) for path, kind in kinds])


def _by_hand(state: PathState, session: str) -> list[Record]:
    """What a person recorded for a session: claims of which no commit has told yet, and assigned lines."""
    records = [r for r in state.records.get(session, ()) if r.tool in _BY_HAND]
    untold = state.untold(session)
    return [r for r in records if r.is_exact or r in untold]


def _refuse_others(ctx: Context, session: str, states: dict[bytes, PathState]) -> None:
    left = []
    for path, state in states.items():
        others = state.bare | {name for name in state.journal.sessions() if _by_hand(state, name)}
        if others and session not in others and not state.untold(session):
            why = Why(Kind.CLAIM_OF_ANOTHER)
            left.append(Left(path, decision.CONTESTED, why, tuple(sorted(others))))
    if left:
        hints = [
            f"git ralph track --release --session {ctx.called(one.sessions[0])} -- " + as_name(ctx, one.path)
            for one in (() if ctx.is_agent else left)
        ]
        raise Refused(advice.headline(ctx.layout, left), *hints, left=tuple(left))


def _release(ctx: Context, session: str, path: bytes, state: PathState, claims: list[Claims]) -> list[Kind]:
    records = _by_hand(state, session)
    offsets = {record.offset for record in records}
    recorded = any(r.offset not in offsets for r in state.untold(session))
    done = list[Kind]()
    if records:
        _keep_texts(ctx, state, records)
        _append(ctx, session, path, sorted(offsets))
    if records or session in state.bare:
        size = next(claim.size for claim in claims if claim.session == session)
        fields = {
            "v": 1,
            "ts": sessionfile.now(),
            "session": session,
            "worktree": ctx.layout.token,
            "commit": None,
            "ref": None,
            "note": "released",
            "paths": {path_text(path): size},
        }
        files.append_record(ctx.layout.commits(session), jsonline.line(fields), land.WAIT)
        done.append(Kind.RELEASED)
    if recorded:
        done.append(Kind.NOT_RELEASED)
    return done or [Kind.CLAIMS_NOTHING]


def _keep_texts(ctx: Context, state: PathState, records: list[Record]) -> None:
    """Store the text of an assignment: later records start from it, and nothing else may lead to it."""
    for record, _, after in replay(state.journal, ctx.layout):
        if record in records and record.is_exact and after is not None and record.after is not None:
            journal.store_text(ctx.layout, after, record.after)


def _append(ctx: Context, session: str, path: bytes, offsets: list[int]) -> None:
    with files.Locked(ctx.layout.journal(path), land.WAIT) as fd:
        line = journal.release_line(session, offsets, sessionfile.now(), journal.tail(fd))
        files.append(fd, line)
