"""What a session used: tokens, and dollars where its agent tells them; read from transcripts on demand.

None of it is stored. What a transcript does not tell is unknown: it is None, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gitralph.base import jsonline
from gitralph.git.context import Context
from gitralph.hook.sessionfile import seconds
from gitralph.records import commit_log, path_records
from gitralph.sessions import transcript_files, transcript_turns
from gitralph.sessions.transcript_turns import Tokens


class Spent(NamedTuple):
    """What was used. ``whole`` is false where a part cannot be read: then it was at least that much."""

    tokens: Tokens
    cost: float | None
    whole: bool

    def document(self) -> dict[str, object]:
        """The value as ``--json`` shows it."""
        return {**self.tokens._asdict(), "cost": self.cost, "whole": self.whole}

    def sentence(self) -> str:
        """The value for people."""
        names = ("input", "read from cache", "written to cache", "output")
        said = [f"{n:,} {name}" for n, name in zip(self.tokens, names, strict=True) if n is not None]
        if self.cost is not None:
            said.append(f"${self.cost:,.2f}")
        if not said:
            return "unknown"
        return ("" if self.whole else "at least ") + ", ".join(said)


UNKNOWN = Spent(Tokens(), None, False)


class SpentTurn(NamedTuple):
    """What one turn of an agent took; ``time`` in seconds since the epoch, ``cost`` in dollars."""

    time: float | None
    tokens: Tokens
    cost: float | None


class Spending(NamedTuple):
    """The turns of a session and its subagents, and the times of its commits, oldest first."""

    turns: tuple[SpentTurn, ...]
    whole: bool
    commits: tuple[tuple[float, str], ...]

    def total(self) -> Spent:
        """What the session used in all."""
        return _sum(self.turns, self.whole)

    def by_commit(self) -> dict[str, Spent]:
        """What each of its commits used: the turns since the commit before."""
        out: dict[str, Spent] = {}
        before = 0.0
        timed = all(turn.time is not None for turn in self.turns)
        for when, oid in self.commits:
            # Commits are timed in whole seconds. A turn that commits belongs to the commit that it makes.
            mine = [t for t in self.turns if t.time is not None and before <= t.time < when + 1]
            out[oid] = _sum(mine, self.whole and timed) if mine else UNKNOWN
            before = when + 1
        return out


def _sum(turns: Iterable[SpentTurn], whole: bool) -> Spent:
    rows = list(turns)
    if not rows:
        return UNKNOWN
    columns = zip(*(turn.tokens for turn in rows), strict=True)
    known = Tokens(*(sum(n for n in one if n is not None) if None not in one else None for one in columns))
    costs = [turn.cost for turn in rows if turn.cost is not None]
    cost = sum(costs) if len(costs) == len(rows) else None
    return Spent(known, cost, whole) if any(n is not None for n in known) else UNKNOWN


def of(ctx: Context, session: str) -> Spending:
    """Read what a session and its subagents took."""
    turns: dict[tuple[str, str], SpentTurn] = {}
    whole = True
    for name in path_records.family(ctx.layout, session):
        known = transcript_files.of(ctx, name)
        whole = whole and not known.gone
        for path in known.paths:
            assert known.agent is not None
            for one in (path, *transcript_files.subagents(known.agent, path)):
                whole = _read(ctx, known.agent, one, turns) and whole
    return Spending(tuple(turns.values()), whole, tuple(_commits(ctx, session)))


def _commits(ctx: Context, session: str) -> list[tuple[float, str]]:
    found: dict[str, float] = {}
    for row in commit_log.read(ctx.layout, session).commits:
        oid, when = row.get("commit"), seconds(row.get("ts"))
        if isinstance(oid, str) and when is not None and row.get("included") is not True:
            found.setdefault(oid, when)
    return sorted((when, oid) for oid, when in found.items())


def _read(ctx: Context, agent: str, path: str, turns: dict[tuple[str, str], SpentTurn]) -> bool:
    """Add the turns of a transcript; False where not all of it could be read."""
    whole, so_far, number = True, Tokens(0, 0, 0, 0), 0
    try:
        for raw in transcript_files.lines(path):
            if not transcript_turns.may_take(agent, raw):
                continue
            try:
                line = jsonline.object_in(raw)
            except ValueError:  # damaged, or longer than any line should be
                whole = False
                continue
            turn = transcript_turns.turn(agent, line)
            if turn is None:
                continue
            number += 1
            tokens = turn.tokens
            if turn.counted:
                tokens, so_far = since(so_far, tokens), tokens
            # A session that goes on in another file repeats its turns there, with their keys.
            key = ("", turn.key) if turn.key else (path, str(number))
            turns[key] = SpentTurn(transcript_turns.time_of(line), tokens, turn.cost)
    except OSError as error:
        ctx.warn(f"the transcript '{path}' cannot be read: {error.strerror or error}")
        return False
    return whole


def since(before: Tokens, now: Tokens) -> Tokens:
    """What came to a count; a count that went back began anew."""
    anew = any(a is not None and b is not None and b < a for a, b in zip(before, now, strict=True))
    base = Tokens(0, 0, 0, 0) if anew else before
    return Tokens(*(b if b is None or a is None else b - a for a, b in zip(base, now, strict=True)))
