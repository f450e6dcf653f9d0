"""Cursor, from its documentation only; pure. A text counts where the disk agrees, else only the path.

``postToolUse`` and ``afterFileEdit`` tell the same edit. Where both are registered the latter is an echo.
"""

from gitralph.base.jsonline import loads
from gitralph.hook.agents.shared import asks, call_of, fill, replacing, stop_of, written
from gitralph.hook.event import Change, Event, list_of, object_of, text_of

_WRITERS = frozenset(["Write", "StrReplace", "Edit", "Delete"])
_KINDS = {
    "sessionStart": "start",
    "beforeSubmitPrompt": "prompt",
    "stop": "stop",
    "sessionEnd": "end",
    "subagentStart": "subagent-start",
    "subagentStop": "subagent-stop",
    "beforeShellExecution": "shell-pre",
    "afterShellExecution": "shell",
    "afterFileEdit": "edit",
}
_TOOLS = {"preToolUse": "pre", "postToolUse": "edit", "postToolUseFailure": "failed"}


def parse(payload: dict[str, object]) -> Event:
    """The event of one hook call."""
    name, tool = text_of(payload, "hook_event_name") or "", text_of(payload, "tool_name")
    given = object_of(payload, "tool_input")
    kind, changes = _KINDS.get(name, "other"), []
    call = text_of(payload, "tool_use_id")
    if name == "afterFileEdit":
        changes = _told_by_path(payload)
    elif name in _TOOLS and tool in _WRITERS:
        kind = "failed" if _is_failure(payload) else _TOOLS[name]
        changes = _changes(tool, given)
    elif name in _TOOLS and tool == "Shell":
        kind = "shell-pre" if name == "preToolUse" else "shell"
    if kind in ("shell-pre", "shell"):  # two pairs of events tell of one command
        call = call_of("Shell", text_of(payload, "command") or text_of(given, "command"))
    found = Event(
        kind,
        text_of(payload, "conversation_id", "session_id"),
        changes=changes,
        tool=tool or name,
        call=call,
        echo=name == "afterFileEdit",
    )
    fill(found, payload)
    found.cwd = found.cwd or _root(payload)
    found.agent_id = found.agent_id or text_of(payload, "subagent_id")
    if name == "preToolUse":
        asks(found, payload.get("tool_input"))
    elif name == "beforeShellExecution":
        asks(found, payload)
    elif kind in ("stop", "subagent-stop"):
        found.stop = stop_of(payload)
    return found


def _root(payload: dict[str, object]) -> str | None:
    roots = [root for root in list_of(payload, "workspace_roots") if isinstance(root, str)]
    return roots[0] if roots else None


def _is_failure(payload: dict[str, object]) -> bool:
    """True when the result, a JSON text, says that nothing was done."""
    try:
        said = loads(text_of(payload, "tool_output") or "null")
    except ValueError:
        return False
    return isinstance(said, dict) and (said.get("success") is False or bool(said.get("error")))


def _told_by_path(payload: dict[str, object]) -> list[Change]:
    path = text_of(payload, "file_path")
    return [] if path is None else [Change(path, weak=True)]


def _changes(tool: str, given: dict[str, object]) -> list[Change]:
    path = text_of(given, "file_path", "path")
    if path is None:
        return []
    if tool == "Delete":
        return [Change(path, "delete", after=None, follow=False, weak=True)]
    content = text_of(given, "content", "contents")
    if tool == "Write" and content is not None:
        return [written(path, content, weak=True)]
    old, new = text_of(given, "old_string"), text_of(given, "new_string")
    return [Change(path, compute=replacing(old, new, given.get("replace_all") is True), weak=True)]
