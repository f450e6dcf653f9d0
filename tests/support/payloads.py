"""Event payloads as agents send them."""

import base64
import json
from typing import Any


def encode(payload: object) -> bytes:
    """One line of JSON, ASCII only, with the newline that Claude Code adds."""
    return json.dumps(payload).encode("ascii") + b"\n"


def _is_text(*texts: str | bytes | None) -> bool:
    for text in texts:
        if isinstance(text, bytes):
            try:
                text.decode("utf-8")
            except UnicodeDecodeError:
                return False
    return True


def edit(
    session: str,
    cwd: str,
    path: str,
    before: str | bytes | None,
    after: str | bytes | None,
    **fields: object,
) -> dict[str, Any]:
    """A ``generic`` edit with exact texts, base64 where these are not UTF-8."""
    event = {"session": session, "cwd": cwd, "event": "edit", "path": path}
    raw = [text.encode() if isinstance(text, str) else text for text in (before, after)]
    if _is_text(*raw):
        texts = [None if text is None else text.decode() for text in raw]
    else:
        event["encoding"] = "base64"
        texts = [None if text is None else base64.b64encode(text).decode() for text in raw]
    return {**event, "before": texts[0], "after": texts[1], **fields}


def claude_write(
    session: str, cwd: str, path: str, before: str | None, after: str, **fields: object
) -> dict[str, Any]:
    """Claude Code's ``PostToolUse`` of Write; ``path`` absolute, as the client sends it."""
    return {
        "session_id": session,
        "transcript_path": f"/nowhere/{session}.jsonl",
        "cwd": cwd,
        "permission_mode": "acceptEdits",
        "hook_event_name": "PostToolUse",
        "tool_name": "Write",
        "tool_input": {"file_path": path, "content": after},
        "tool_response": {
            "type": "create" if before is None else "update",
            "filePath": path,
            "content": after,
            "structuredPatch": [],
            "originalFile": before,
        },
        "tool_use_id": "toolu_0001",
        **fields,
    }


def claude_edit(
    session: str, cwd: str, path: str, before: str, old: str, new: str, **fields: object
) -> dict[str, Any]:
    """Claude Code's ``PostToolUse`` of Edit: ``old`` in ``before`` became ``new``, once."""
    return {
        **claude_write(session, cwd, path, before, ""),
        "tool_name": "Edit",
        "tool_input": {"file_path": path, "old_string": old, "new_string": new, "replace_all": False},
        "tool_response": {
            "filePath": path,
            "oldString": old,
            "newString": new,
            "originalFile": before,
            "structuredPatch": [],
            "userModified": False,
            "replaceAll": False,
        },
        **fields,
    }


def claude_pre(payload: dict[str, Any]) -> dict[str, Any]:
    """The ``PreToolUse`` event that goes before a ``PostToolUse`` event."""
    kept = {key: value for key, value in payload.items() if key != "tool_response"}
    return {**kept, "hook_event_name": "PreToolUse"}


def claude_life(event: str, session: str, cwd: str, **fields: object) -> dict[str, Any]:
    """SessionStart, Stop, SessionEnd and their like."""
    return {
        "session_id": session,
        "transcript_path": f"/nowhere/{session}.jsonl",
        "cwd": cwd,
        "hook_event_name": event,
        **fields,
    }
