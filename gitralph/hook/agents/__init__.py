"""What a payload says: one adapter for each agent turns raw JSON into an ``event.Event``.

Fast lane. An adapter is a pure function of the payload and never opens a file. Nobody else looks into a
payload: :func:`read` answers both recording and policies.
"""

from collections.abc import Callable, Mapping

from gitralph.hook import model
from gitralph.hook.agents.launching import bare_event, is_bare, requires
from gitralph.hook.event import Event

ADAPTERS = {
    "claude-code": "claude_code",
    "pi": "pi",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
    "qwen": "qwen",
    "copilot": "copilot",
    "cursor": "cursor",
    "droid": "droid",
    "generic": "generic",
}


# A sender without an adapter of its own speaks Claude Code's dialect, as scripts of other tools do.
_OTHERS = "claude-code"


def load(name: str) -> Callable[[dict[str, object]], Event]:
    """The module of an agent's adapter, imported on demand. Raises KeyError for an unknown name."""
    # importlib would load warnings, half a millisecond of every hook.
    module = __import__(f"{__name__}.{ADAPTERS[name]}", fromlist=["parse"])
    parse: Callable[[dict[str, object]], Event] = module.parse
    return parse


def _speaker(agent: str, payload: dict[str, object], under_copilot: bool) -> str:
    """The agent that really sent a payload: some agents read the hooks in another agent's settings.

    An agent started from another agent's shell inherits its environment. So the payload has to agree.
    """
    if agent != "claude-code":
        return agent
    # Cursor can load hooks from Claude Code's settings (its documentation). Only its payloads have its
    # version.
    if "cursor_version" in payload:
        return "cursor"
    # Copilot CLI reads .claude/settings.json too and sends PascalCase names (seen with 1.0.102).
    foreign = "timestamp" in payload and "permission_mode" not in payload and "prompt_id" not in payload
    return "copilot" if under_copilot and foreign and "tool_use_id" not in payload else agent


def read(asked: str, payload: dict[str, object], environ: Mapping[str, str]) -> Event:
    """What a payload says, by the adapter of the agent that sent it. Raises ValueError.

    ``asked`` is the agent that the hook was installed for.
    """
    if is_bare(payload):
        return bare_event(asked, payload)
    agent = _speaker(asked, payload, environ.get("COPILOT_CLI") == "1") if asked in ADAPTERS else _OTHERS
    event = load(agent)(payload)
    event.agent, event.model = agent, model.of_payload(payload)
    event.required = event.ahead and requires(payload)
    if agent != asked and event.link is not None:
        # the parent is named as in the agent's own hook, so both record one step
        event.parent = event.link[0]
    return event
