"""Claude Code: ``PreToolUse``, ``PostToolUse`` and the like; pure.

The response of Write and Edit holds the original file and the patch. ``oldString`` is the text that was
found, ``newString`` only the text that was asked for. So the patch counts before the replacement.
"""

from gitralph.hook.agents.shared import LIFE, asks, stop_of
from gitralph.hook.edits import UnifiedHunk, apply_unified, replace
from gitralph.hook.event import Change, Event, list_of, object_of, text_of, text_or_absent
from gitralph.hook.reconcile import UNKNOWN

_WRITERS = frozenset(["Write", "Edit", "MultiEdit", "NotebookEdit"])
_KINDS = {
    **LIFE,
    "CwdChanged": "cwd",
    "WorktreeCreate": "worktree-create",
    "WorktreeRemove": "worktree-remove",
}


def parse(payload: dict[str, object]) -> Event:
    """The event of one hook call."""
    name = text_of(payload, "hook_event_name") or ""
    tool = text_of(payload, "tool_name")
    kind, changes = _KINDS.get(name, "other"), []
    if name in ("PreToolUse", "PostToolUse", "PostToolUseFailure") and tool in _WRITERS:
        kind = {"PreToolUse": "pre", "PostToolUse": "edit"}.get(name, "failed")
        changes = _changes(payload, tool)
    # A failing command may have written files before it failed (seen with 2.1.330).
    elif tool == "Bash" and name in ("PreToolUse", "PostToolUse", "PostToolUseFailure"):
        kind = "shell-pre" if name == "PreToolUse" else "shell"
    elif tool == "EnterWorktree" and name == "PostToolUse":
        kind = "cwd"
    event = Event(
        kind,
        text_of(payload, "session_id"),
        cwd=text_of(payload, "cwd"),
        changes=changes,
        tool=tool,
        call=text_of(payload, "tool_use_id"),
        agent_id=text_of(payload, "agent_id"),
        transcript=text_of(payload, "transcript_path"),
        source=text_of(payload, "source", "reason"),
    )
    event.agent_type = text_of(payload, "agent_type")
    event.goes_on = text_of(object_of(payload, "tool_response"), "backgroundTaskId") is not None
    if name == "PreToolUse" or (not name and ("tool_name" in payload or "tool_input" in payload)):
        # without an event name: a script that asks about one tool call
        asks(event, payload.get("tool_input"))
    elif kind in ("stop", "subagent-stop"):
        event.stop = stop_of(payload)
    elif kind in ("worktree-create", "worktree-remove"):
        event.worktree = (
            text_of(payload, "name", "worktree_name"),
            text_of(payload, "worktree_path", "worktreePath", "path"),
        )
    return event


def _changes(payload: dict[str, object], tool: str) -> list[Change]:
    given, answer = object_of(payload, "tool_input"), object_of(payload, "tool_response")
    path = text_of(given, "file_path", "notebook_path") or text_of(answer, "filePath")
    if path is None:
        return []
    if tool == "NotebookEdit":
        before = text_or_absent(answer, "original_file")
        return [Change(path, before=before, after=text_or_absent(answer, "updated_file"))]
    before = text_or_absent(answer, "originalFile")
    if tool == "Write":
        return [Change(path, before=before, after=text_or_absent(answer, "content"))]
    return [Change(path, before=before, after=UNKNOWN, compute=_edited(answer))]


def _hunk(value: object) -> UnifiedHunk:
    start = value.get("oldStart") if isinstance(value, dict) else None
    lines = [line for line in list_of(value, "lines") if isinstance(line, str)]
    return UnifiedHunk(start if type(start) is int else 0, lines)


def _edited(answer: dict[str, object]):  # type: ignore[no-untyped-def]
    def compute(text: str) -> list[str]:
        hunks = [_hunk(value) for value in list_of(answer, "structuredPatch")]
        old, new = text_of(answer, "oldString"), text_of(answer, "newString")
        every = answer.get("replaceAll") is True
        # `structuredPatch` is what was applied; `newString` is what the model asked for (seen with 2.1.330).
        patched = apply_unified(text, hunks) if hunks else None
        replaced = replace(text, old, new, every) if old and new is not None else None
        return [found for found in (patched, replaced) if found is not None]

    return compute
