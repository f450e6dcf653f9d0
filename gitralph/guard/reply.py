"""The answer to a policy event: exit code, the agent's own JSON, words for people; one form an agent."""

import json
from dataclasses import dataclass, field

# Claude Code's hooks block with this exit code and give the reason on stderr; other agents do the same.
BLOCK = 2


@dataclass
class Reply:
    """``out`` goes to stdout as it is, each of ``said`` goes to stderr as a line.

    ``reason`` is what an agent that goes on is told, where it is told something.
    """

    code: int = 0
    out: bytes = b""
    said: list[str] = field(default_factory=list)
    reason: str = ""


def blocked(reason: str, *hints: str) -> Reply:
    """The answer when a policy says no: exit 2, the reason on stderr, stdout empty."""
    return Reply(BLOCK, b"", [f"error: {reason}", *(f"hint: {one}" for one in hints)])


def encode(document: object) -> bytes:
    """One JSON object in ASCII on one line. Raises ValueError for what JSON cannot hold."""
    return json.dumps(document, allow_nan=False).encode("ascii") + b"\n"


def rewritten(agent: str, bare: bool, given: dict[str, object], context: str, allow: bool) -> bytes:
    """The answer that replaces a tool's input, in the agent's own form."""
    if bare:
        return encode({"updatedInput": given})
    simple = {"copilot": "modifiedArgs", "cursor": "updated_input", "pi": "input", "opencode": "args"}
    if agent in simple:
        return encode({simple[agent]: given})
    if agent == "gemini":
        return encode({"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": given}})
    inner: dict[str, object] = {"hookEventName": "PreToolUse"}
    # Without a decision the agent asks its user as always. To answer for the user needs the user's
    # configuration.
    if allow:
        inner |= {"permissionDecision": "allow", "permissionDecisionReason": "ralph.hook.allow"}
    return encode({"hookSpecificOutput": {**inner, "updatedInput": given, "additionalContext": context}})


def denied(agent: str, reason: str, *hints: str) -> Reply:
    """As :func:`blocked`, and in JSON for the agents that read no reason from stderr."""
    reply = blocked(reason, *hints)
    said = "\n".join(reply.said)
    if agent == "copilot":  # its hook is registered with `|| true`, so only this says no
        reply.out = encode({"permissionDecision": "deny", "permissionDecisionReason": said})
    elif agent == "cursor":
        reply.out = encode({"permission": "deny", "user_message": said, "agent_message": said})
    return reply


_CONTEXT = {"copilot": "additionalContext", "pi": "additionalContext", "opencode": "additionalContext"}
_CONTEXT |= {"cursor": "additional_context"}
_CLAUDES = frozenset(["claude-code", "codex", "qwen", "droid", "gemini"])


def context(agent: str, text: str) -> bytes:
    """The answer before a tool that tells the agent something and decides nothing; empty where it has none.

    The answers for pi and opencode go to the extension in ``contrib/hooks``, which hands them on.
    """
    if agent in _CONTEXT:
        return encode({_CONTEXT[agent]: text})
    if agent not in _CLAUDES:
        return b""
    name = "BeforeTool" if agent == "gemini" else "PreToolUse"
    return encode({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}})


NOT_TOLD = frozenset(["opencode"])
"""Agents that read no message when they stop."""


def word(agent: str, text: str) -> bytes:
    """The answer when an agent stops that tells it something: the agent reads it and goes on.

    The answer for pi goes to the extension in ``contrib/hooks``, which sends it as a person's message.
    """
    return encode({"followUp": text}) if agent == "pi" else again(agent, text)


def again(agent: str, reason: str) -> bytes:
    """The answer that makes an agent go on instead of stopping."""
    if agent == "cursor":
        return encode({"followup_message": reason})
    return encode({"decision": "block", "reason": reason})
