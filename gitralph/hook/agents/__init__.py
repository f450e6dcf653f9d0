"""What a payload says: one adapter per agent, a raw JSON payload in, an ``event.Event`` out.

Fast lane. Adapters are pure functions on what the payload holds; they never open a file. Nobody else looks
into a payload: :func:`read` answers for recording and for policies alike.
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


# Who sends what no adapter is named for speaks Claude Code's dialect, as scripts of other tools do.
_OTHERS = "claude-code"


def load(name: str) -> Callable[[dict[str, object]], Event]:
    """The module of an agent's adapter, imported on demand. Raises KeyError for an unknown name."""
    # importlib brings warnings, half a millisecond of every hook
    module = __import__(f"{__name__}.{ADAPTERS[name]}", fromlist=["parse"])
    parse: Callable[[dict[str, object]], Event] = module.parse
    return parse


def _speaker(agent: str, payload: dict[str, object], under_copilot: bool) -> str:
    """The agent that really sent a payload: some read the hooks that another one's settings name.

    An agent started from the shell of another inherits its environment, so the payload has to agree.
    """
    if agent != "claude-code":
        return agent
    # Cursor can load hooks from Claude Code's settings (its documentation); only its payloads name its
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
        event.parent = event.link[0]  # as the agent's own hook has it, so that both record one step
    return event
