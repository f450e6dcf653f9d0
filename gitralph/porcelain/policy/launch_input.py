"""A launch as the agents describe it, brought to one shape; pure."""

from dataclasses import dataclass

from gitralph import jsonline
from gitralph.event import object_of, text_of

_TYPES = ("subagent_type", "agent_type", "agentType", "agent_name", "agent", "type")
_PROMPTS = ("prompt", "message", "task", "objective")
BARE = ("worktree_policy", "subagent_type", "bead_id", "worktree_path")


@dataclass(frozen=True)
class Launch:
    """One launch. ``fields`` is the tool's input as it came, ``prompt_key`` where the prompt is."""

    fields: dict[str, object]
    bare: bool
    agent_type: str | None
    prompt_key: str
    prompt: str | None
    session: str | None
    agent_id: str | None


def plain_type(name: str | None) -> str | None:
    """An agent type without the plugin it comes from."""
    return name.rsplit(":", 1)[-1] if name else None


def _tool_input(payload: dict[str, object]) -> object:
    for key in ("tool_input", "toolArgs", "tool_args"):
        if key in payload:
            value = payload[key]
            if isinstance(value, str):
                try:
                    return jsonline.loads(value)
                except ValueError:
                    return value
            return value
    event = object_of(payload, "event")
    args = object_of(event, "output").get("args")
    return event.get("input") if args is None else args


def is_bare(payload: dict[str, object]) -> bool:
    """True for a tool input without an envelope around it."""
    enveloped = ("hook_event_name", "hookEventName", "tool_name", "toolName", "tool_input", "toolArgs")
    return any(key in payload for key in BARE) and not any(key in payload for key in enveloped)


def read(payload: dict[str, object]) -> Launch:
    """The launch of a payload. Raises ValueError when its input is no object."""
    bare = is_bare(payload)
    fields = payload if bare else _tool_input(payload)
    if not isinstance(fields, dict):
        raise ValueError("the tool's input is no object")
    key = next((k for k in _PROMPTS if isinstance(fields.get(k), str)), "prompt")
    return Launch(
        fields,
        bare,
        plain_type(text_of(fields, *_TYPES)),
        key,
        text_of(fields, key),
        text_of(payload, "session_id", "sessionId", "session", "conversation_id"),
        text_of(payload, "agent_id"),
    )


def says_required(payload: object) -> bool:
    """True when a parsed field says that a policy is required, however broken the rest is."""
    if not isinstance(payload, dict):
        return False
    inner = payload.get("tool_input")
    return any(isinstance(o, dict) and o.get("worktree_policy") == "required" for o in (payload, inner))
