"""One adapter per agent: a raw JSON payload in, a normalised :class:`~gitralph.event.Event` out.

Lane 0. Adapters are pure functions; they import nothing but ``event`` and never open a file.
"""

ADAPTERS = {
    "claude-code": "claude_code",
    "pi": "pi",
    "generic": "generic",
}


def load(name: str) -> object:
    """The module of an agent's adapter, imported on demand. Raises KeyError for an unknown name."""
    module = f"gitralph.agents.{ADAPTERS[name]}"
    return getattr(__import__(module, fromlist=["parse"]), "parse")  # noqa: B009
