"""The launch of a subagent as the agents describe it, brought to one shape; pure.

Fast lane: every event ahead of a tool call is asked whether it requires a worktree.
"""

from gitralph.base import jsonline
from gitralph.hook.event import Event, object_of, text_of

LAUNCHERS = frozenset(["Task", "Agent", "task", "agent", "spawn_agent", "invoke_agent", "Subagent"])
_TYPES = ("subagent_type", "agent_type", "agentType", "agent_name", "agent", "type")
_PROMPTS = ("prompt", "message", "task", "objective")
_BARE = ("worktree_policy", "subagent_type", "bead_id", "worktree_path")
_ENVELOPES = (
    "hook_event_name",
    "hookEventName",
    "hookName",
    "tool_name",
    "toolName",
    "tool_input",
    "toolArgs",
    "event",
)


class Launch:
    """One launch. ``fields`` is the tool's input as it came, ``prompt_key`` where the prompt is."""

    __slots__ = ("agent_id", "agent_type", "bare", "fields", "prompt", "prompt_key")

    def __init__(self, event: Event, fields: dict[str, object]) -> None:
        self.fields = fields
        self.bare = event.bare
        self.agent_id = event.agent_id
        self.agent_type = plain_type(text_of(fields, *_TYPES))
        self.prompt_key = next((key for key in _PROMPTS if isinstance(fields.get(key), str)), "prompt")
        self.prompt = text_of(fields, self.prompt_key)


def plain_type(name: str | None) -> str | None:
    """An agent type without the plugin it comes from."""
    return name.rsplit(":", 1)[-1] if name else None


def is_bare(payload: dict[str, object]) -> bool:
    """True for a tool input without an event around it."""
    return any(key in payload for key in _BARE) and not any(key in payload for key in _ENVELOPES)


def bare_event(agent: str, payload: dict[str, object]) -> Event:
    """The event of a bare tool input."""
    session = text_of(payload, "session_id", "sessionId", "session", "conversation_id")
    event = Event("other", session, cwd=text_of(payload, "cwd"))
    event.agent, event.agent_id = agent, text_of(payload, "agent_id")
    event.given, event.bare, event.required = payload, True, requires(payload)
    return event


def given_object(value: object) -> object:
    """A tool's input, which some agents send as JSON in a text; other texts as they are."""
    if isinstance(value, str):
        try:
            return jsonline.loads(value)
        except ValueError:
            return value
    return value


def read(event: Event) -> Launch:
    """The launch that an event asks permission for. Raises ValueError when its input is no object."""
    fields = given_object(event.given)
    if not isinstance(fields, dict):
        raise ValueError("the tool's input is no object")
    return Launch(event, fields)


def requires(payload: object) -> bool:
    """True when a parsed field says that a worktree is required, however broken the rest is."""
    if not isinstance(payload, dict):
        return False
    inner = object_of(payload, "event")
    holders: tuple[object, ...] = (
        payload,
        payload.get("tool_input"),
        payload.get("toolArgs"),
        payload.get("tool_args"),
        inner.get("input"),
        object_of(inner, "output").get("args"),
    )
    for one in holders:
        # A policy of "required" must hold even where the rest cannot be read: otherwise two agents would get
        # into one folder.
        if isinstance(one, str) and "worktree_policy" in one:
            one = given_object(one)
        if isinstance(one, dict) and one.get("worktree_policy") == "required":
            return True
    return False
