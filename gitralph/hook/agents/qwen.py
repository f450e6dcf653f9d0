"""Qwen Code: Claude's event names with Gemini's tools and answers; pure.

``originalContent`` is empty for an absent file and for an empty one; only the bytes before tell.
"""

from gitralph.hook.agents.gemini import has_error, told_before
from gitralph.hook.agents.shared import LIFE, asks, fill, stop_of, written
from gitralph.hook.event import Change, Event, object_of, text_of

_WRITERS = frozenset(["write_file", "edit", "notebook_edit"])
_SHELL = "run_shell_command"
_TOOLS = {"PreToolUse": "pre", "PostToolUse": "edit", "PostToolUseFailure": "failed"}


def parse(payload: dict[str, object]) -> Event:
    """The event of one hook call."""
    name, tool = text_of(payload, "hook_event_name") or "", text_of(payload, "tool_name")
    kind, changes = LIFE.get(name, "other"), []
    if kind == "prompt" and payload.get("prompt") == "":
        kind = "other"  # this event fires before every request to the model
    if name in _TOOLS and tool == _SHELL:
        kind = "shell-pre" if name == "PreToolUse" else "shell"
    elif name in _TOOLS and tool in _WRITERS:
        kind = _TOOLS[name]
        if kind == "edit" and has_error(payload):
            kind = "failed"
        changes = _changes(payload)
    found = Event(
        kind,
        text_of(payload, "session_id"),
        changes=changes,
        tool=tool,
        call=text_of(payload, "tool_use_id", "tool_call_id"),
    )
    found.goes_on = kind == "shell" and object_of(payload, "tool_input").get("is_background") is True
    if name == "PreToolUse":
        asks(found, payload.get("tool_input"))
    elif kind in ("stop", "subagent-stop"):
        found.stop = stop_of(payload)
    return fill(found, payload)


def _changes(payload: dict[str, object]) -> list[Change]:
    given = object_of(payload, "tool_input")
    shown = object_of(object_of(payload, "tool_response"), "returnDisplay")
    path = text_of(given, "file_path", "notebook_path") or text_of(shown, "filePath") or None
    if path is None:
        return []
    return [written(path, text_of(shown, "newContent"), before=told_before(shown))]
