"""Tells by a cheap look at a payload whether a policy has a say in it.

Lane 0: every recorded edit comes by here, so it starts nothing and imports nothing. Only for a stop
does it open files, the records of beads, to pass by those of other sessions.
"""

import os

from gitralph import files, gitdir, layout
from gitralph.event import object_of, text_of
from gitralph.sessionid import safe_form

BEFORE = frozenset(["PreToolUse", "preToolUse", "BeforeTool", "tool_call", "tool.execute.before"])
_LAUNCHERS = frozenset(["Task", "Agent", "task", "agent", "spawn_agent", "invoke_agent", "Subagent"])
_STOPS = frozenset([
    "Stop", "SubagentStop", "AfterAgent", "agentStop", "subagentStop", "stop", "agent_end", "session.idle",
])  # fmt: skip
_OTHERS = {
    "WorktreeCreate": "create", "WorktreeRemove": "remove",
    "SubagentStart": "start", "subagentStart": "start",
}  # fmt: skip
_BARE = ("worktree_policy", "bead_id", "worktree_path", "subagent_type")
_DOC_TYPES = ("scribe",)
_RECORD_LIMIT = 4 << 20


def _is_on(text: str) -> bool:
    return text.lower() not in ("", "0", "false", "no", "off")


def _tool(payload: dict[str, object]) -> str:
    inner = object_of(object_of(payload, "event"), "input")
    return (
        text_of(payload, "tool_name", "toolName")
        or text_of(object_of(payload, "event"), "toolName", "tool")
        or text_of(inner, "tool")
        or ""
    )


def _names(path: str, sessions: list[bytes]) -> bool:
    """True when a bead's record names one of the sessions, or cannot be read: that is told to people."""
    try:
        data = files.read_bytes(path, _RECORD_LIMIT)
    except OSError:
        return True
    return not data.rstrip().endswith(b"}") or any(one in data for one in sessions)


def _has_beads(payload: dict[str, object], environ: dict[str, str]) -> bool:
    """True when a bead here may belong to the session of the event."""
    own = text_of(payload, "session_id", "sessionId", "session", "conversation_id")
    ids = (own, environ.get("RALPH_SESSION"))
    sessions = [safe_form(one).encode() for one in ids if one]
    named = [text_of(payload, "cwd"), os.getcwd()]
    named += [environ.get(name) for name in ("RALPH_ROOT", "CLAUDE_PROJECT_DIR")]
    for folder in named:
        if not folder or folder[0] != "/" or "\0" in folder:
            continue
        place = gitdir.discover(os.path.realpath(folder))
        beads = f"{layout.state_folder(place)}/beads" if place is not None else ""
        if os.path.isdir(beads):
            names = [name for name in os.listdir(beads) if name.endswith(".json")]
            if any(_names(f"{beads}/{name}", sessions) for name in names):
                return True
    return False


def kind_of(payload: dict[str, object], environ: dict[str, str]) -> str | None:
    """``launch stop create remove start doc-only``, or None for what is only recorded."""
    name = text_of(payload, "hook_event_name", "hookEventName", "event")
    if name is None and "tool_name" not in payload and "tool_input" not in payload:
        if _is_on(environ.get("RALPH_DOC_ONLY", "")):
            return "doc-only"
        return "launch" if any(key in payload for key in _BARE) else None
    before = name in BEFORE or name is None
    if before and (_tool(payload) in _LAUNCHERS or requires(payload)):
        return "launch"
    kind = text_of(payload, "agent_type") or ""
    if before and (_is_on(environ.get("RALPH_DOC_ONLY", "")) or kind.rsplit(":", 1)[-1] in _DOC_TYPES):
        return "doc-only"
    if name in _STOPS or (name in _OTHERS and _OTHERS[name] == "start"):
        return ("stop" if name in _STOPS else "start") if _has_beads(payload, environ) else None
    return _OTHERS.get(name or "")


def requires(payload: object) -> bool:
    """True when what could be parsed of a broken payload still says that a worktree is required."""
    if not isinstance(payload, dict):
        return False
    inner = payload.get("tool_input")
    return any(isinstance(one, dict) and one.get("worktree_policy") == "required" for one in (payload, inner))
