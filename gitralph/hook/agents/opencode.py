"""opencode: the lines its plugin sends, ``{"hook_event_name", "session_id", "cwd", "event"}``; pure.

A result holds a patch for each file; the bytes before give the texts. ``file.edited`` names no session, so it
is never attributed. A child session's edits belong to its parent, which the plugin names.
"""

from gitralph.hook.agents.shared import asks, patch_changes, patched, replacing, stop_of, written
from gitralph.hook.edits import apply_unified, parse_unified
from gitralph.hook.event import Change, Event, list_of, object_of, text_of
from gitralph.hook.reconcile import UNKNOWN

_WRITERS = ("write", "edit", "multiedit", "apply_patch", "patch")
_KINDS = {
    "session.created": "start",
    "chat.message": "prompt",
    "session.idle": "stop",
    "session.deleted": "end",
}


def parse(payload: dict[str, object]) -> Event:
    """The event of one line."""
    name, event = text_of(payload, "hook_event_name") or "", object_of(payload, "event")
    call, answer = object_of(event, "input"), object_of(event, "output")
    tool, parent = text_of(call, "tool"), text_of(payload, "parent_session_id")
    session = text_of(payload, "session_id") or text_of(call, "sessionID")
    kind, changes = _KINDS.get(name, "other"), []
    if name in ("tool.execute.before", "tool.execute.after"):
        before = name.endswith("before")
        if tool == "bash":
            kind = "shell-pre" if before else "shell"
        elif tool in _WRITERS:
            kind = "pre" if before else "edit"
            changes = _changes(tool, object_of(answer if before else call, "args"), answer)
    elif parent is not None and kind in ("start", "stop", "end", "prompt"):
        kind = {"start": "subagent-start", "stop": "subagent-stop"}.get(kind, "subagent")
    found = Event(
        kind,
        session,
        cwd=text_of(payload, "cwd"),
        changes=changes,
        tool=tool,
        call=text_of(call, "callID"),
        parent=parent,
        agent_id=session if parent else None,
    )
    if name == "tool.execute.before":
        asks(found, answer.get("args"))
    elif kind in ("stop", "subagent-stop"):
        found.stop = stop_of(payload)
    elif kind == "subagent-start":
        info = object_of(object_of(event, "properties"), "info")
        found.agent_type = text_of(info, "agent")
    if parent and session and parent != session:
        found.link = (parent, session)
    return found


def _changes(tool: str, args: dict[str, object], answer: dict[str, object]) -> list[Change]:
    told = object_of(answer, "metadata")
    # Which tools there are depends on the model: some get apply_patch in place of write and edit (seen with
    # 1.18).
    if tool in ("apply_patch", "patch"):
        listed = [change for one in list_of(told, "files") if (change := _listed(one)) is not None]
        return listed or patch_changes(text_of(args, "patchText", "patch", "input"))
    path = text_of(told, "filepath") or text_of(args, "filePath")
    if path is None:
        return []
    if tool == "write":
        before = None if told.get("exists") is False else UNKNOWN
        return [written(path, text_of(args, "content"), before=before)]
    diff = object_of(told, "filediff")
    every = args.get("replaceAll") is True
    plain = replacing(text_of(args, "oldString"), text_of(args, "newString"), every)
    return [Change(path, compute=patched(text_of(diff, "patch") or text_of(told, "diff"), plain))]


def _added(patch: str | None) -> str | None:
    return None if patch is None else apply_unified("", parse_unified(patch))


def _listed(row: object) -> Change | None:
    """One row of a patch's result."""
    kind, path, patch = (text_of(row, key) for key in ("type", "filePath", "patch"))
    if path is None:
        return None
    if kind == "delete":
        return Change(path, "delete", after=None, follow=False)
    if kind == "add":
        return written(path, _added(patch))
    compute = patched(patch)
    to = text_of(row, "movePath")
    if to is not None and to != path:
        return Change(path, "rename", to=to, compute=compute or (lambda text: [text]), follow=False)
    return Change(path, compute=compute)
