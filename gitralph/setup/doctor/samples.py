"""What each agent sends when it writes a file, and when it runs a shell command: the events around it; data.

Shaped like the payloads of the live clients; those of Cursor and Droid like their documentation.
"""

from collections.abc import Callable
from typing import Any

Payload = dict[str, Any]
_Events = tuple[list[Payload], list[Payload]]


def _claude_code(session: str, root: str, path: str, text: str) -> _Events:
    common = {"session_id": session, "transcript_path": f"{root}/.git/none.jsonl", "cwd": root}
    tool = {
        **common,
        "prompt_id": session,
        "permission_mode": "acceptEdits",
        "tool_name": "Write",
        "tool_input": {"file_path": path, "content": text},
        "tool_use_id": "toolu_doctor",
    }
    answer: Payload = {
        "type": "create",
        "filePath": path,
        "content": text,
        "structuredPatch": [],
        "originalFile": None,
        "userModified": False,
    }
    return (
        [
            {**common, "hook_event_name": "SessionStart", "source": "startup"},
            {**tool, "hook_event_name": "PreToolUse"},
        ],
        [{**tool, "hook_event_name": "PostToolUse", "tool_response": answer, "duration_ms": 1}],
    )


def _pi(session: str, root: str, path: str, text: str) -> _Events:
    def line(name: str, **event: Any) -> Payload:
        return {
            "hook_event_name": name,
            "session_id": session,
            "transcript_path": None,
            "cwd": root,
            "event": {"type": name, **event},
        }

    given = {"path": path, "content": text}
    call = {"toolName": "write", "toolCallId": "toolu_doctor", "input": given}
    said = [{"type": "text", "text": "ok"}]
    return (
        [line("session_start", reason="startup"), line("tool_call", **call)],
        [line("tool_result", **call, content=said, isError=False)],
    )


def _generic(session: str, root: str, path: str, text: str) -> _Events:
    common = {"session": session, "cwd": root}
    edit = {**common, "event": "edit", "path": path, "before": None, "after": text}
    return [{**common, "event": "start"}], [edit]


def _hooks(common: Payload, names: tuple[str, str, str], call: Payload, answer: Payload) -> _Events:
    """Three events of the common shape: ``names`` of start, before and after."""
    start, before, after = names
    return (
        [
            {**common, "hook_event_name": start, "source": "startup"},
            {**common, "hook_event_name": before, **call},
        ],
        [{**common, "hook_event_name": after, **call, **answer}],
    )


_PASCAL = ("SessionStart", "PreToolUse", "PostToolUse")


def _codex(session: str, root: str, path: str, text: str) -> _Events:
    common = {"session_id": session, "transcript_path": None, "cwd": root, "model": "gpt-5.5"}
    added = "".join(f"+{line}\n" for line in text.splitlines())
    patch = f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n"
    call = {"tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_use_id": "call_doctor"}
    return _hooks(common, _PASCAL, call, {"tool_response": "Exit code: 0"})


def _shown(path: str, text: str) -> Payload:
    return {"filePath": path, "originalContent": "", "newContent": text, "isNewFile": True}


def _gemini(session: str, root: str, path: str, text: str) -> _Events:
    common = {"session_id": session, "transcript_path": f"{root}/.git/none.jsonl", "cwd": root}
    call = {"tool_name": "write_file", "tool_input": {"file_path": path, "content": text}}
    answer = {"tool_response": {"llmContent": "ok", "returnDisplay": _shown(path, text)}}
    return _hooks(common, ("SessionStart", "BeforeTool", "AfterTool"), call, answer)


def _qwen(session: str, root: str, path: str, text: str) -> _Events:
    common = {"session_id": session, "transcript_path": f"{root}/.git/none.jsonl", "cwd": root}
    call = {
        "tool_name": "write_file",
        "tool_input": {"file_path": path, "content": text},
        "tool_use_id": "toolu_doctor",
        "tool_call_id": "call_doctor",
    }
    answer = {"tool_response": {"llmContent": "ok", "returnDisplay": _shown(path, text)}}
    return _hooks(common, _PASCAL, call, answer)


def _copilot(session: str, root: str, path: str, text: str) -> _Events:
    common = {"sessionId": session, "timestamp": 1, "cwd": root}
    call = {**common, "toolName": "create", "toolArgs": {"path": path, "file_text": text}}
    answer = {"resultType": "success", "textResultForLlm": "ok"}
    start = {**common, "source": "new", "initialPrompt": "x"}
    return [start, call], [{**call, "toolResult": answer}]


def _opencode(session: str, root: str, path: str, text: str) -> _Events:
    def line(name: str, event: Payload) -> Payload:
        return {
            "hook_event_name": name,
            "session_id": session,
            "parent_session_id": None,
            "cwd": root,
            "worktree": root,
            "event": event,
        }

    call = {"tool": "write", "sessionID": session, "callID": "call_doctor"}
    args = {"filePath": path, "content": text}
    created = {"type": "session.created", "properties": {"sessionID": session, "info": {"id": session}}}
    told = {"metadata": {"filepath": path, "exists": False}, "output": "ok"}
    return (
        [
            line("session.created", created),
            line("tool.execute.before", {"input": call, "output": {"args": args}}),
        ],
        [line("tool.execute.after", {"input": {**call, "args": args}, "output": told})],
    )


def _cursor(session: str, root: str, path: str, text: str) -> _Events:
    common = {
        "conversation_id": session,
        "session_id": session,
        "cursor_version": "2.5.0",
        "cwd": root,
        "workspace_roots": [root],
        "transcript_path": None,
    }
    call = {"tool_name": "Write", "tool_input": {"file_path": path, "content": text}, "tool_use_id": "doctor"}
    names = ("sessionStart", "preToolUse", "postToolUse")
    return _hooks(common, names, call, {"tool_output": '{"success":true}'})


def _droid(session: str, root: str, path: str, text: str) -> _Events:
    common = {"session_id": session, "transcript_path": None, "cwd": root, "permission_mode": "off"}
    call = {"tool_name": "Create", "tool_input": {"file_path": path, "content": text}}
    return _hooks(common, _PASCAL, call, {"tool_response": {"filePath": path, "success": True}})


SAMPLES: dict[str, Callable[[str, str, str, str], _Events]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "copilot": _copilot,
    "cursor": _cursor,
    "droid": _droid,
    "gemini": _gemini,
    "generic": _generic,
    "opencode": _opencode,
    "pi": _pi,
    "qwen": _qwen,
}

# What each agent calls its shell tool, and the command in its input; data.
_COMMAND = "true"
_SHELLS = {
    "claude-code": "Bash",
    "codex": "Bash",
    "copilot": "bash",
    "cursor": "Shell",
    "droid": "Execute",
    "gemini": "run_shell_command",
    "generic": "shell",
    "opencode": "bash",
    "pi": "bash",
    "qwen": "run_shell_command",
}
# Where a payload has the tool, its input, the call's id and the answer.
_TOOL, _INPUT = ("tool_name", "toolName", "tool"), ("tool_input", "toolArgs", "args", "input")
_CALL = ("tool_use_id", "toolCallId", "callID", "tool_call_id")
_ANSWER = ("tool_response", "toolResult", "tool_output", "metadata")


def _as_shell(value: Any, tool: str) -> Any:
    """The events around a write, as the same agent would send them around a shell command."""
    if not isinstance(value, dict):
        return value
    out: Payload = {}
    for key, one in value.items():
        is_input = key in _INPUT and not (isinstance(one, dict) and {*one} & {*_TOOL})
        if key in _TOOL:
            out[key] = tool
        elif is_input:
            out[key] = {"command": _COMMAND}
        elif key in _CALL:
            out[key] = f"{one}_shell"
        elif key in _ANSWER:
            out[key] = {"stdout": "", "exit": 0} if isinstance(one, dict) else ""
        else:
            out[key] = _as_shell(one, tool)
    return out


def shell_events(agent: str, session: str, root: str) -> tuple[Payload, Payload]:
    """The events before and after a shell command of this agent."""
    if agent == "generic":
        told: Payload = {"session": session, "cwd": root, "call": "shell"}
        return {**told, "event": "shell-start"}, {**told, "event": "shell-end"}
    before, after = SAMPLES[agent](session, root, "", "")
    return _as_shell(before[-1], _SHELLS[agent]), _as_shell(after[-1], _SHELLS[agent])
