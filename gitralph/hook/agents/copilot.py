"""Copilot CLI, both dialects; pure. camelCase payloads do not name their event, PascalCase ones do.

PascalCase events carry Claude's tool names with Copilot's own arguments. There is no call id. So calls are
paired by their input, which is the same in both dialects, and two hooks of one call record it once.
"""

from gitralph.hook.agents.shared import LIFE, asks, call_of, fill, patch_changes, replacing, stop_of
from gitralph.hook.event import Change, Event, object_of, text_of, to_bytes
from gitralph.hook.reconcile import UNKNOWN

_TOOLS = {"PreToolUse": "pre", "PostToolUse": "edit", "PostToolUseFailure": "failed"}
_SHELLS = frozenset(["bash", "Bash", "shell", "powershell"])
_WRITERS = frozenset(["create", "edit", "apply_patch", "str_replace", "Write", "Edit", "MultiEdit"])


def _event_of(payload: dict[str, object]) -> str:
    """The PascalCase name of an event, found by fields that only this event has."""
    named = text_of(payload, "hook_event_name", "hookName")
    if named is not None:
        return named
    if "toolName" in payload:
        if "error" in payload:
            return "PostToolUseFailure"
        return "PostToolUse" if "toolResult" in payload else "PreToolUse"
    if "agentName" in payload:
        return "SubagentStop" if "stopReason" in payload or "response" in payload else "SubagentStart"
    for field, name in (("stopReason", "Stop"), ("source", "SessionStart"), ("reason", "SessionEnd")):
        if field in payload:
            return name
    return "UserPromptSubmit" if "prompt" in payload else ""


def parse(payload: dict[str, object]) -> Event:
    """The event of one hook call."""
    name, tool = _event_of(payload), text_of(payload, "toolName", "tool_name")
    given = payload.get("toolArgs", payload.get("tool_input"))
    parent = text_of(payload, "parentAgentId")
    kind, changes = LIFE.get(name, "other"), []
    if name in _TOOLS and tool in _SHELLS:
        kind = "shell-pre" if name == "PreToolUse" else "shell"
    elif name in _TOOLS and tool in _WRITERS:
        # A failure may come as a post event whose result says so.
        kind = "failed" if _is_failure(payload) else _TOOLS[name]
        changes = _changes(given)
    # A subagent's stop has the session's event name, and only this field more.
    elif kind == "stop" and parent is not None:
        kind = "subagent-stop"
    found = Event(
        kind,
        text_of(payload, "sessionId", "session_id"),
        changes=changes,
        tool=tool,
        call=call_of(None, given) if tool else None,
        parent=parent,
    )
    fill(found, payload)
    found.goes_on = kind == "shell" and isinstance(given, dict) and given.get("mode") == "async"
    if name == "PreToolUse":
        asks(found, given)
    elif name == "SubagentStop" or kind == "stop":
        # A stopping subagent sends two events: its own agentStop, which says less, comes first.
        found.stop = stop_of(payload, "response")
    _link(found, payload)
    return found


def _link(event: Event, payload: dict[str, object]) -> None:
    """Note which session another belongs to; a subagent's own subagents belong to that subagent only."""
    above = event.parent or text_of(payload, "parent_agent_id")
    if above and event.agent_id and above != event.agent_id:
        event.link = (above, event.agent_id)


def _is_failure(payload: dict[str, object]) -> bool:
    for key, field in (("toolResult", "resultType"), ("tool_result", "result_type")):
        said = text_of(object_of(payload, key), field)
        if said is not None:
            return said != "success"
    return False


def _changes(given: object) -> list[Change]:
    # A patch comes as the bare text in place of an object, in both dialects (seen with 1.0.102).
    if isinstance(given, str):
        return patch_changes(given)
    if not isinstance(given, dict):
        return []
    path, whole = text_of(given, "path", "file_path"), text_of(given, "file_text")
    if path is None:
        return patch_changes(text_of(given, "patch", "input"))
    if whole is not None:  # this tool never overwrites a file
        return [Change(path, before=None, after=to_bytes(whole))]
    old, new = text_of(given, "old_str", "old_string"), text_of(given, "new_str", "new_string")
    return [Change(path, after=UNKNOWN, compute=replacing(old, new))]
