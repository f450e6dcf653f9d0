"""Codex: ``PreToolUse`` and ``PostToolUse`` of ``apply_patch`` and of its shell; pure.

A patch that fails has a pre event and no post event, so a post event means an applied patch. The texts are
computed from the bytes before and the patch. A move's old path is missing in the answer and stands in the
patch. The patch's text is parsed in ``hook.edits``.
"""

from gitralph.hook.agents.shared import LIFE, asks, fill, patch_changes, stop_of
from gitralph.hook.event import Change, Event, object_of, text_of

_TOOLS = {
    ("PreToolUse", "apply_patch"): "pre",
    ("PostToolUse", "apply_patch"): "edit",
    ("PreToolUse", "Bash"): "shell-pre",
    ("PostToolUse", "Bash"): "shell",
}


def parse(payload: dict[str, object]) -> Event:
    """The event of one hook call."""
    name = text_of(payload, "hook_event_name") or ""
    tool = text_of(payload, "tool_name")
    kind = _TOOLS.get((name, tool or ""), LIFE.get(name, "other"))
    changes: list[Change] = []
    if kind in ("pre", "edit"):
        # The patch is under `command` with 0.169. The other names serve a client that renames the field.
        changes = patch_changes(text_of(object_of(payload, "tool_input"), "command", "input", "patch"))
    found = Event(
        kind,
        text_of(payload, "session_id"),
        changes=changes,
        tool=tool,
        call=text_of(payload, "tool_use_id"),
    )
    if name == "PreToolUse":
        asks(found, payload.get("tool_input"))
    elif kind in ("stop", "subagent-stop"):
        found.stop = stop_of(payload)
    return fill(found, payload)
