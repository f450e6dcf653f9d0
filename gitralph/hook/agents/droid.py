"""Droid, from its documentation only; pure. A text counts where the disk agrees, else only the path.

The documentation has both spellings of the common fields, and answers as objects or as texts. A call id may
be missing; then calls are paired by their input.
"""

from gitralph.hook import edits
from gitralph.hook.agents.shared import LIFE, asks, call_of, fill, patch_changes, replacing, stop_of, written
from gitralph.hook.edits import replace_in_turn
from gitralph.hook.event import Change, Event, list_of, object_of, text_of

_WRITERS = frozenset(["Create", "Write", "Edit", "MultiEdit", "NotebookEdit", "ApplyPatch"])
_TOOLS = {"PreToolUse": "pre", "PostToolUse": "edit", "PostToolUseFailure": "failed"}


def parse(payload: dict[str, object]) -> Event:
    """The event of one hook call."""
    name = text_of(payload, "hook_event_name", "hookEventName") or ""
    tool = text_of(payload, "tool_name", "toolName")
    given = object_of(payload, "tool_input") or object_of(payload, "toolInput")
    kind, changes = LIFE.get(name, "other"), []
    if name in _TOOLS and tool == "Execute":
        kind = "shell-pre" if name == "PreToolUse" else "shell"
    elif name in _TOOLS and tool in _WRITERS:
        kind = "failed" if _is_failure(payload) else _TOOLS[name]
        changes = _changes(tool, given)
        for change in changes:
            change.weak = True
    found = Event(
        kind,
        text_of(payload, "session_id", "sessionId"),
        changes=changes,
        tool=tool,
        call=text_of(payload, "tool_use_id", "toolUseId") or (call_of(tool, given) if tool else None),
    )
    if name == "PreToolUse":
        asks(found, payload.get("tool_input", payload.get("toolInput")))
    elif kind in ("stop", "subagent-stop"):
        found.stop = stop_of(payload)
    return fill(found, payload)


def _is_failure(payload: dict[str, object]) -> bool:
    answer = object_of(payload, "tool_response") or object_of(payload, "toolResponse")
    return answer.get("success") is False or bool(answer.get("error"))


def _pair(value: object) -> tuple[str | None, str | None]:
    return text_of(value, "old_string", "old_str"), text_of(value, "new_string", "new_str")


def _changes(tool: str, given: dict[str, object]) -> list[Change]:
    if tool == "ApplyPatch":
        return patch_changes(edits.find_patch(given))
    path = text_of(given, "file_path", "notebook_path", "path")
    if path is None:
        return []
    if tool in ("Create", "Write"):
        return [written(path, text_of(given, "content"))]
    if tool == "MultiEdit":
        return [Change(path, compute=_in_turn(list_of(given, "edits")))]
    return [Change(path, compute=replacing(*_pair(given), given.get("replace_all") is True))]


def _in_turn(edits: list[object]):  # type: ignore[no-untyped-def]
    pairs = [(old, new) for old, new in map(_pair, edits) if old is not None and new is not None]

    def compute(text: str) -> list[str]:
        found = replace_in_turn(text, pairs) if pairs and len(pairs) == len(edits) else None
        return [] if found is None else [found]

    return compute
