"""One adapter per agent: a raw JSON payload in, a normalised :class:`~gitralph.event.Event` out.

Lane 0. Adapters are pure functions on what the payload holds; they never open a file.
"""

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


def load(name: str) -> object:
    """The module of an agent's adapter, imported on demand. Raises KeyError for an unknown name."""
    module = f"gitralph.agents.{ADAPTERS[name]}"
    return getattr(__import__(module, fromlist=["parse"]), "parse")  # noqa: B009


def speaker(agent: str, payload: dict[str, object], under_copilot: bool) -> str:
    """The agent that really sent a payload: some read the hooks that another one's settings name.

    An agent started from the shell of another inherits its environment, so the payload has to agree.
    """
    if agent != "claude-code":
        return agent
    if "cursor_version" in payload:
        return "cursor"
    foreign = "timestamp" in payload and "permission_mode" not in payload and "prompt_id" not in payload
    return "copilot" if under_copilot and foreign and "tool_use_id" not in payload else agent
