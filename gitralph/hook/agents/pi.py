"""pi: the lines its extension sends, ``{"hook_event_name", "session_id", "cwd", "event"}``; pure.

Only the bytes before the call tell the old text. The new texts are computed from it: first by the result's
own patch, since pi matches loosely.
"""

from gitralph.hook.agents.shared import asks, stop_of
from gitralph.hook.edits import apply_unified, parse_unified, replace_each
from gitralph.hook.event import Change, Event, list_of, object_of, text_of, to_bytes
from gitralph.hook.reconcile import UNKNOWN

_KINDS = {
    "session_start": "start",
    "input": "prompt",
    "before_agent_start": "prompt",
    "agent_end": "stop",
    "agent_settled": "stop",
    "session_shutdown": "end",
}


def parse(payload: dict[str, object]) -> Event:
    """The event of one line."""
    name = text_of(payload, "hook_event_name") or ""
    event = object_of(payload, "event")
    tool = text_of(event, "toolName")
    kind, changes = _KINDS.get(name, "other"), []
    if name in ("tool_call", "tool_result") and tool in ("write", "edit"):
        kind = _tool_kind(name, event)
        changes = _changes(event, tool)
    elif name in ("tool_call", "tool_result") and tool == "bash":
        kind = "shell-pre" if name == "tool_call" else "shell"
    found = Event(
        kind,
        text_of(payload, "session_id"),
        cwd=text_of(payload, "cwd"),
        changes=changes,
        tool=tool,
        call=text_of(event, "toolCallId"),
        transcript=text_of(payload, "transcript_path"),
        source=text_of(event, "reason"),
    )
    if name == "tool_call":
        asks(found, event.get("input"))
    elif name == "agent_end":  # agent_settled says the same again
        found.stop = stop_of(payload)
    return found


def _tool_kind(name: str, event: dict[str, object]) -> str:
    if name == "tool_call":
        return "pre"
    # A result comes for failures too; a call that was blocked has none (seen with 0.87).
    return "failed" if event.get("isError") is True else "edit"


def _changes(event: dict[str, object], tool: str) -> list[Change]:
    given = object_of(event, "input")
    path = text_of(given, "path")
    if path is None:
        return []
    if tool == "write":
        content = text_of(given, "content")
        return [Change(path, after=UNKNOWN if content is None else to_bytes(content))]
    return [Change(path, compute=_edited(event, given))]


def _pairs(given: dict[str, object]) -> list[tuple[str, str]]:
    found = list_of(given, "edits") or [given]
    pairs = [(text_of(e, "oldText"), text_of(e, "newText")) for e in found]
    return [(old, new) for old, new in pairs if old is not None and new is not None]


def _edited(event: dict[str, object], given: dict[str, object]):  # type: ignore[no-untyped-def]
    def compute(text: str) -> list[str]:
        patch = text_of(object_of(event, "details"), "patch")
        patched = apply_unified(text, parse_unified(patch)) if patch else None
        pairs = _pairs(given)
        replaced = replace_each(text, pairs) if pairs else None
        return [found for found in (patched, replaced) if found is not None]

    return compute
