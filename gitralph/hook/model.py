"""Which model an agent works with: by its payload, else by its transcript.

Fast lane. Codex, Cursor and our plugins for pi and opencode name the model in each payload. Claude Code and
pi name it in the transcript, on the line of the call. The others name it only somewhere in the transcript,
where a subagent's lines cannot be told from its parent's. Such a name counts for the session, never for a
call.
"""

from gitralph.base import files, jsonline
from gitralph.base.ids import is_valid
from gitralph.hook.event import Event, list_of, object_of, text_of

# In bytes. Claude Code writes a turn's line right before it runs the tool, so the end of the file holds it. A
# Write's line contains a whole file, so a second look goes further back.
_WINDOWS = (64 << 10, 1 << 20)
# In characters. Agent Trace 0.1.0 allows 250, including a provider's name and a slash in front.
_LIMIT = 200
_SAID_BY = {
    "claude-code": ("type", "assistant", "message"),
    "gemini": ("type", "gemini", ""),
    "qwen": ("type", "assistant", ""),
    "copilot": ("type", "assistant.message", "data"),
    "pi": ("type", "message", "message"),
}
"""For each agent the field and value that mark a line with a model, and where the model stands."""
_BY_CALL = ("claude-code", "pi")


def accepted(name: object) -> str | None:
    """A model's name in a form fit for a trailer and a terminal; None for what is no name.

    Claude Code calls its own error messages ``<synthetic>`` (seen with 2.1).
    """
    if not isinstance(name, str) or not 0 < len(name) <= _LIMIT or name[0] in "<-":
        return None
    return name if name.isascii() and name.isprintable() and name == name.strip() else None


def of_payload(payload: dict[str, object]) -> str | None:
    """The model that a payload names, as text or as an object with a provider; None where it names none."""
    told = payload.get("model")
    if not isinstance(told, dict):
        return accepted(told)
    return _with_provider(text_of(told, "provider", "providerID"), text_of(told, "id", "modelID"))


def _with_provider(provider: str | None, name: str | None) -> str | None:
    known = accepted(name)
    if known is None or accepted(provider) is None or "/" in known:
        return known
    return accepted(f"{provider}/{known}")


def _tail(path: str, window: int) -> bytes:
    data, start = files.read_tail(path, window, foreign=True)
    # The window's first line may lack its beginning, its last may be half written.
    return data[data.find(b"\n") + 1 if start else 0 : data.rfind(b"\n") + 1]


def _said_in(agent: str, raw: bytes) -> tuple[str | None, dict[str, object]]:
    """The model that a transcript's line names, and the part that names it; (None, {}) for other lines."""
    key, value, inner = _SAID_BY[agent]
    try:
        line = jsonline.object_in(raw)
    except ValueError:
        return None, {}
    if line.get(key) != value:
        return None, {}
    part = object_of(line, inner) if inner else line
    name = text_of(part, "model")
    if agent == "pi":
        if part.get("role") != "assistant":
            return None, {}
        return _with_provider(text_of(part, "provider"), name), part
    return accepted(name), part


def _transcript(event: Event, environ: dict[str, str]) -> str | None:
    """The transcript with the lines of the model behind an event; None where nobody can tell."""
    path = event.transcript
    if event.agent == "claude-code" and event.agent_id is not None:
        # A subagent has a file of its own beside its parent's, whose path the payload gives (2.1.330).
        if path is None or not path.endswith(".jsonl") or not is_valid(event.agent_id):
            return None
        return f"{path[: -len('.jsonl')]}/subagents/agent-{event.agent_id}.jsonl"
    if event.agent == "copilot" and path is None:
        home = environ.get("HOME", "")
        known = event.session is not None and is_valid(event.session) and home[:1] == "/"
        return f"{home}/.copilot/session-state/{event.session}/events.jsonl" if known else None
    return path


def _names(call: str, part: dict[str, object]) -> bool:
    return any(text_of(one, "id") == call for one in list_of(part, "content"))


def of_call(event: Event, environ: dict[str, str]) -> str | None:
    """The model that asked for an event's call, None where no line names both."""
    call, path = event.call, _transcript(event, environ)
    if event.agent not in _BY_CALL or not call or path is None or path[:1] != "/":
        return None
    wanted = jsonline.dumps(call).encode("ascii")
    for window in _WINDOWS:
        try:
            data = _tail(path, window)
        except (OSError, ValueError):
            return None
        at = len(data)
        while (found := data.rfind(wanted, 0, at)) >= 0:
            at = data.rfind(b"\n", 0, found) + 1
            end = data.find(b"\n", found) + 1
            name, part = _said_in(event.agent, data[at:end])
            if name is not None and _names(call, part):
                return name
    return None


def of_session(event: Event, environ: dict[str, str]) -> list[str]:
    """The models that the end of a session's transcript names, in order, each once."""
    if event.agent not in _SAID_BY or event.agent_id is not None or event.parent is not None:
        return []
    path = _transcript(event, environ)
    if path is None or path[:1] != "/":
        return []
    try:
        data = _tail(path, _WINDOWS[-1])
    except (OSError, ValueError):
        return []
    found = [_said_in(event.agent, raw)[0] for _, _, raw in jsonline.lines(data) if b'"model"' in raw]
    return list(dict.fromkeys(name for name in found if name is not None))
