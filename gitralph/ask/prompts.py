"""The prompt behind a line, read from the agent's own transcript on demand and never stored.

It is the last prompt before the call that wrote the line. Where the agent gives its calls no id, it is the
last one before the time of the recorded edit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from gitralph.ask.every_line import Finding
from gitralph.base import jsonline
from gitralph.git.context import Context
from gitralph.hook.sessionfile import seconds
from gitralph.sessions import transcript_files, transcript_turns

FOUND, GONE, UNKNOWN = "found", "gone", "unknown"
# In characters. People paste whole logs into prompts.
MOST = 10_000
# In lines of a transcript: the first prompt is within them, and a long transcript is not read to its end.
_BEGINNING = 1_000
# The names of a tool call's id in transcripts. Most lines are searched only for these.
_CALLS = re.compile(rb'"(?:id|call_id|callId|toolCallId|tool_use_id)"\s*:\s*"([^"\\]{1,200})"')
_EDITS = frozenset(["edit", "delete", "rename"])


class Asked(NamedTuple):
    """The prompt behind a line: ``found``, ``gone`` with its transcript, or ``unknown``.

    ``more`` counts the characters left out at its end.
    """

    state: str
    text: str | None = None
    more: int = 0


def behind(ctx: Context, findings: Iterable[Finding]) -> list[Asked]:
    """The prompt behind each of some lines or records, in order; each transcript is read once."""
    asked = list(findings)
    groups: dict[tuple[str, str | None], list[int]] = {}
    for at, one in enumerate(asked):
        # A record of a person's assignment, undo or claim has another operation or no call; no prompt led to
        # it.
        if one.session is not None and one.op in _EDITS and one.tool != "track":
            groups.setdefault((one.session, one.agent_id), []).append(at)
    out = [Asked(UNKNOWN)] * len(asked)
    for (session, agent_id), rows in groups.items():
        for at, found in zip(rows, _of(ctx, session, agent_id, [asked[at] for at in rows]), strict=True):
            out[at] = found
    return out


def _of(ctx: Context, session: str, agent_id: str | None, findings: list[Finding]) -> list[Asked]:
    known = transcript_files.of(ctx, session)
    if known.agent is None:
        return [Asked(UNKNOWN)] * len(findings)
    search = _Search(findings)
    gone = known.gone
    for path in known.paths:
        own = transcript_files.subagent(known.agent, path, agent_id) if agent_id else None
        try:
            search.read(known.agent, own or path)
        except FileNotFoundError:
            gone = True
        except OSError as error:
            ctx.warn(f"the transcript of session '{ctx.called(session)}' cannot be read: {error}")
    return [one or Asked(GONE if gone else UNKNOWN) for one in search.answers()]


def first(ctx: Context, session: str) -> str | None:
    """The first prompt of a session, None where no transcript of it can be read."""
    known = transcript_files.of(ctx, session)
    for path in known.paths if known.agent is not None else ():
        with suppress(OSError):
            for raw in islice(transcript_files.lines(path), _BEGINNING):
                found = _asked(known.agent or "", raw)
                if found is not None:
                    return found[1]
    return None


def _asked(agent: str, raw: bytes) -> tuple[float | None, str] | None:
    """When somebody typed what, where a line of a transcript tells of a prompt."""
    if not transcript_turns.may_ask(agent, raw):
        return None
    try:
        line = jsonline.object_in(raw)
    except ValueError:
        return None
    text = transcript_turns.prompt(agent, line)
    return None if text is None else (transcript_turns.time_of(line), text)


class _Search:
    """Goes through transcripts once for many lines, and holds only one prompt for each."""

    def __init__(self, findings: list[Finding]) -> None:
        self.findings = findings
        self.calls = {one.call.encode("utf-8", "surrogatepass") for one in findings if one.call}
        self.by_call: dict[bytes, Asked] = {}
        # The record's time counts whole seconds.
        self.times = {when + 1 for one in findings if (when := seconds(one.time)) is not None}
        self.by_time: dict[float, tuple[float, Asked]] = {}

    def read(self, agent: str, path: str) -> None:
        """Look for every line's call, and for its time. Raises OSError."""
        latest: Asked | None = None
        open_calls = self.calls - self.by_call.keys()
        for raw in transcript_files.lines(path):
            found = _asked(agent, raw)
            if found is not None:
                when, text = found
                latest = Asked(FOUND, text[:MOST], max(len(text) - MOST, 0))
                self._note(when, latest)
            elif open_calls and latest is not None:
                # Nobody knows a call's id before the agent makes it, so its first mention is the call.
                for call in open_calls.intersection(_CALLS.findall(raw)):
                    self.by_call[call] = latest
                    open_calls.discard(call)

    def _note(self, when: float | None, asked: Asked) -> None:
        for limit in self.times if when is not None else ():
            before = self.by_time.get(limit)
            if when is not None and when < limit and (before is None or before[0] <= when):
                self.by_time[limit] = when, asked

    def answers(self) -> list[Asked | None]:
        """What was found, for each line."""
        out = []
        for one in self.findings:
            when = seconds(one.time)
            found = self.by_call.get(one.call.encode("utf-8", "surrogatepass")) if one.call else None
            late = self.by_time.get(when + 1) if when is not None else None
            out.append(found or (late[1] if late else None))
        return out
