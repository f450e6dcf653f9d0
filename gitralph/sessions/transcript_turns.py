"""What a line of an agent's transcript says: what a person asked, and what a turn cost; pure.

Transcripts are other programs' private files, and their forms those of the agents recorded in
``tests/hook/agents/transcripts``. A number that a line does not have is not known, and never 0.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from gitralph.hook.event import list_of, object_of, text_of
from gitralph.hook.sessionfile import seconds

Line = dict[str, object]
# No turn has a trillion tokens: no agent wrote such a number.
_MOST = 10**12
_TEXTS = (None, "text", "input_text")


class Tokens(NamedTuple):
    """Tokens of a turn, or of several; None where a number is unknown.

    ``input`` is what was read anew, without what came from a cache (``cache_read``) or went into one.
    """

    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None


class Turn(NamedTuple):
    """What one turn of the model used. A later line of the same ``key`` replaces an earlier one.

    ``counted``: the tokens are those of all turns so far. ``cost`` is in US dollars, where the agent tells
    it.
    """

    key: str | None
    tokens: Tokens
    cost: float | None = None
    counted: bool = False


def time_of(line: Line) -> float | None:
    """When a line was written, in seconds since the epoch; None where it does not tell."""
    stamp = line.get("timestamp")
    return seconds(stamp) if isinstance(stamp, str) else None


# --- what was asked ---


def _words(parts: list[object]) -> str:
    said = [text_of(part, "text") for part in parts if text_of(part, "type") in _TEXTS]
    # Claude Code puts notes of its own into what a person typed.
    return "\n".join(text for text in said if text and not text.startswith("<system-reminder>"))


def _claude_prompt(line: Line) -> str | None:
    if text_of(line, "type") != "user" or line.get("isMeta") is True or line.get("isCompactSummary") is True:
        return None
    message = object_of(line, "message")
    parts = list_of(message, "content")
    if any(text_of(part, "type") == "tool_result" for part in parts):
        return None
    return text_of(message, "content") or _words(parts)


def _codex_prompt(line: Line) -> str | None:
    if text_of(line, "type") != "event_msg":
        return None
    payload = object_of(line, "payload")
    if text_of(payload, "type") == "user_message":  # before 0.169
        return text_of(payload, "message")
    item = object_of(payload, "item")
    return _words(list_of(item, "content")) if text_of(item, "type") == "UserMessage" else None


def _gemini_prompt(line: Line) -> str | None:
    if text_of(line, "type") != "user":
        return None
    return text_of(line, "content") or _words(list_of(line, "content"))


def _qwen_prompt(line: Line) -> str | None:
    if text_of(line, "type") != "user":
        return None
    return _words(list_of(object_of(line, "message"), "parts"))


def _copilot_prompt(line: Line) -> str | None:
    data = object_of(line, "data")
    if text_of(line, "type") != "user.message" or text_of(data, "parentToolCallId"):
        return None
    return text_of(data, "content")


def _pi_prompt(line: Line) -> str | None:
    message = object_of(line, "message")
    if text_of(line, "type") != "message" or text_of(message, "role") != "user":
        return None
    return text_of(message, "content") or _words(list_of(message, "content"))


# --- what it took ---


def _count(found: Line, *keys: str) -> int | None:
    for key in keys:
        value = found.get(key)
        if type(value) is int and 0 <= value < _MOST:
            return value
    return None


def _less(whole: int | None, part: int | None) -> int | None:
    """What an agent counts as read, less what it read from its cache."""
    return whole if whole is None or part is None else max(whole - part, 0)


def _claude_turn(line: Line) -> Turn | None:
    message = object_of(line, "message")
    if text_of(line, "type") != "assistant" or not message:
        return None
    usage = object_of(message, "usage")
    tokens = Tokens(
        _count(usage, "input_tokens"),
        _count(usage, "cache_read_input_tokens"),
        _count(usage, "cache_creation_input_tokens"),
        _count(usage, "output_tokens"),
    )
    # A turn has one line for each of its parts, and each has the usage of the whole turn (2.1.330).
    return Turn(text_of(message, "id"), tokens)


def _codex_turn(line: Line) -> Turn | None:
    payload = object_of(line, "payload")
    if text_of(line, "type") != "event_msg" or text_of(payload, "type") != "token_count":
        return None
    total = object_of(object_of(payload, "info"), "total_token_usage")
    if not total:  # the line tells only of limits
        return None
    cached = _count(total, "cached_input_tokens")
    written = _count(total, "cache_write_input_tokens")
    anew = _less(_less(_count(total, "input_tokens"), cached), written)
    return Turn(None, Tokens(anew, cached, written, _count(total, "output_tokens")), counted=True)


def _gemini_turn(line: Line) -> Turn | None:
    if text_of(line, "type") != "gemini":
        return None
    said = object_of(line, "tokens")
    cached, output, thought = (_count(said, key) for key in ("cached", "output", "thoughts"))
    whole = None if output is None or thought is None else output + thought
    return Turn(text_of(line, "id"), Tokens(_less(_count(said, "input"), cached), cached, None, whole))


def _qwen_turn(line: Line) -> Turn | None:
    if text_of(line, "type") != "assistant":
        return None
    said = object_of(line, "usageMetadata")
    asked, cached = _count(said, "promptTokenCount"), _count(said, "cachedContentTokenCount")
    total = _count(said, "totalTokenCount")
    output = _less(total, asked) if asked is not None else None
    return Turn(text_of(line, "uuid"), Tokens(_less(asked, cached), cached, None, output))


def _copilot_turn(line: Line) -> Turn | None:
    if text_of(line, "type") != "session.usage_record":
        return None
    usage = object_of(object_of(line, "data"), "usage")
    # With some models the agent does not know what was cached, says so, and writes 0 (1.0.102).
    told = usage if usage.get("cacheDetailsReported") is not False else {}
    cached, written = _count(told, "cacheReadTokens"), _count(told, "cacheWriteTokens")
    tokens = Tokens(
        _less(_less(_count(usage, "inputTokens"), cached), written),
        cached,
        written,
        _count(usage, "outputTokens"),
    )
    return Turn(text_of(line, "id"), tokens)  # its "cost" counts premium requests, not money


def _pi_turn(line: Line) -> Turn | None:
    message = object_of(line, "message")
    if text_of(line, "type") != "message" or text_of(message, "role") != "assistant":
        return None
    usage = object_of(message, "usage")
    names = ("input", "cacheRead", "cacheWrite", "output")
    told = object_of(usage, "cost").get("total")
    cost = float(told) if isinstance(told, int | float) and not isinstance(told, bool) else 0.0
    # pi writes 0 where it does not know a model's price.
    known = cost if math.isfinite(cost) and 0 < cost < _MOST else None
    return Turn(text_of(line, "id"), Tokens(*(_count(usage, name) for name in names)), known)


class _Form(NamedTuple):
    """How to read an agent's transcript.

    A line without ``asks`` in it has no prompt, a line without ``takes`` no turn.
    """

    asks: bytes
    prompt: Callable[[Line], str | None]
    takes: bytes
    turn: Callable[[Line], Turn | None]


_FORMS = {
    "claude-code": _Form(b'"user"', _claude_prompt, b'"assistant"', _claude_turn),
    "codex": _Form(b"ser", _codex_prompt, b"token_count", _codex_turn),
    "gemini": _Form(b'"user"', _gemini_prompt, b'"gemini"', _gemini_turn),
    "qwen": _Form(b'"user"', _qwen_prompt, b'"assistant"', _qwen_turn),
    "copilot": _Form(b"user.message", _copilot_prompt, b"session.usage_record", _copilot_turn),
    "pi": _Form(b'"user"', _pi_prompt, b'"assistant"', _pi_turn),
}
AGENTS = tuple(_FORMS)


def may_ask(agent: str, raw: bytes) -> bool:
    """True for a line that may hold a prompt."""
    return _FORMS[agent].asks in raw


def may_take(agent: str, raw: bytes) -> bool:
    """True for a line that may hold a turn."""
    return _FORMS[agent].takes in raw


def prompt(agent: str, line: Line) -> str | None:
    """The prompt in a line, by a person or whoever started a subagent; None for every other line."""
    said = _FORMS[agent].prompt(line)
    return said if said and said.strip() else None


def turn(agent: str, line: Line) -> Turn | None:
    """The turn of which a line tells; None for every other line."""
    return _FORMS[agent].turn(line)
