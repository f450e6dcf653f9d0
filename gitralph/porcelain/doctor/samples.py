"""What each agent sends when it writes a file: the events before and after it; data.

Shaped like the payloads of the live clients.
"""

from collections.abc import Callable
from typing import Any

Payload = dict[str, Any]


def _claude_code(session: str, root: str, path: str, text: str) -> tuple[list[Payload], list[Payload]]:
    common = {"session_id": session, "transcript_path": f"{root}/.git/none.jsonl", "cwd": root}
    tool = {
        **common, "prompt_id": session, "permission_mode": "acceptEdits", "tool_name": "Write",
        "tool_input": {"file_path": path, "content": text}, "tool_use_id": "toolu_doctor",
    }  # fmt: skip
    answer: Payload = {
        "type": "create", "filePath": path, "content": text, "structuredPatch": [],
        "originalFile": None, "userModified": False,
    }  # fmt: skip
    return (
        [
            {**common, "hook_event_name": "SessionStart", "source": "startup"},
            {**tool, "hook_event_name": "PreToolUse"},
        ],
        [{**tool, "hook_event_name": "PostToolUse", "tool_response": answer, "duration_ms": 1}],
    )


def _pi(session: str, root: str, path: str, text: str) -> tuple[list[Payload], list[Payload]]:
    def line(name: str, **event: Any) -> Payload:
        return {
            "hook_event_name": name, "session_id": session, "transcript_path": None, "cwd": root,
            "event": {"type": name, **event},
        }  # fmt: skip

    given = {"path": path, "content": text}
    call = {"toolName": "write", "toolCallId": "toolu_doctor", "input": given}
    said = [{"type": "text", "text": "ok"}]
    return (
        [line("session_start", reason="startup"), line("tool_call", **call)],
        [line("tool_result", **call, content=said, isError=False)],
    )


def _generic(session: str, root: str, path: str, text: str) -> tuple[list[Payload], list[Payload]]:
    common = {"session": session, "cwd": root}
    edit = {**common, "event": "edit", "path": path, "before": None, "after": text}
    return [{**common, "event": "start"}], [edit]


SAMPLES: dict[str, Callable[[str, str, str, str], tuple[list[Payload], list[Payload]]]] = {
    "claude-code": _claude_code,
    "pi": _pi,
    "generic": _generic,
}
