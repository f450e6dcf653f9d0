"""Gemini CLI: ``BeforeTool`` and ``AfterTool``; pure.

The answer of a write holds both whole texts. There is no call id, so calls are paired by their input; a
subagent cannot be told from its parent. ``AfterTool`` fires for failures too.
"""

from gitralph.hook.agents.shared import asks, call_of, fill, stop_of, written
from gitralph.hook.event import Change, Event, object_of, text_of, to_bytes
from gitralph.hook.reconcile import UNKNOWN, Text

_WRITERS = ("write_file", "replace")
_SHELL = "run_shell_command"
_KINDS = {
    "SessionStart": "start",
    "BeforeAgent": "prompt",
    "AfterAgent": "stop",
    "SessionEnd": "end",
}


def parse(payload: dict[str, object]) -> Event:
    """The event of one hook call."""
    name, tool = text_of(payload, "hook_event_name") or "", text_of(payload, "tool_name")
    given = object_of(payload, "tool_input")
    kind, changes = _KINDS.get(name, "other"), []
    if name in ("BeforeTool", "AfterTool") and tool == _SHELL:
        kind = "shell-pre" if name == "BeforeTool" else "shell"
    elif name in ("BeforeTool", "AfterTool") and tool in _WRITERS:
        kind = "pre" if name == "BeforeTool" else "edit"
        changes = _changes(given, object_of(payload, "tool_response"))
        # There is no event for failures: AfterTool comes for them as well (seen with 0.61).
        if kind == "edit" and has_error(payload):
            kind = "failed"
    found = Event(
        kind,
        text_of(payload, "session_id"),
        changes=changes,
        tool=tool,
        call=call_of(tool, given) if tool else None,
    )
    found.goes_on = kind == "shell" and given.get("is_background") is True
    if name == "BeforeTool":
        asks(found, payload.get("tool_input"))
    elif kind == "stop":
        found.stop = stop_of(payload, "prompt_response")
    return fill(found, payload)


def has_error(payload: dict[str, object]) -> bool:
    """True when the answer says that the call failed."""
    return bool(object_of(payload, "tool_response").get("error"))


def told_before(shown: dict[str, object]) -> Text:
    """The text before the call.

    An empty one may mean an absent file; ``isNewFile`` tells, where it is given.
    """
    before = text_of(shown, "originalContent")
    if before is None:
        return None if shown.get("isNewFile") is True else UNKNOWN
    if before == "" and shown.get("isNewFile") is not False:
        return None
    return to_bytes(before)


def _changes(given: dict[str, object], answer: dict[str, object]) -> list[Change]:
    shown = object_of(answer, "returnDisplay")
    # `file_path` may be relative to a folder we do not know; the answer has it resolved (seen with 0.61).
    resolved = text_of(shown, "filePath")
    told = None if resolved and resolved[0] == "/" else text_of(given, "file_path")
    path = told or resolved
    if not path:
        return []
    after = text_of(shown, "newContent")
    return [written(path, after, before=told_before(shown))]
