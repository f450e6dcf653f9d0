"""What several adapters need: calls without an id, replacements, patches as changes; pure."""

from collections.abc import Callable

from gitralph.base.ids import digest
from gitralph.hook import edits
from gitralph.hook.edits import FilePatch, apply_unified, parse_unified, replace
from gitralph.hook.event import Change, Event, Stop, list_of, text_of, to_bytes
from gitralph.hook.reconcile import UNKNOWN

Compute = Callable[[str], list[str]]

# Claude Code's names for events in the life of a session; other agents use the same.
LIFE = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "Stop": "stop",
    "SessionEnd": "end",
    "SubagentStart": "subagent-start",
    "SubagentStop": "subagent-stop",
}


def call_of(tool: str | None, given: object) -> str:
    """A name for a call without an id, made of tool and input: it is the same before and after the call."""
    try:
        told = repr((tool, given))
    except RecursionError:
        told = str(tool)
    return "input-" + digest(told.encode("utf-8", "backslashreplace"))[:24]


def replacing(old: str | None, new: str | None, every: bool = False) -> Compute | None:
    """The edit that replaces ``old``; None when the payload lacks one of the two texts."""
    if not old or new is None:
        return None

    def compute(text: str) -> list[str]:
        found = replace(text, old, new, every)
        return [] if found is None else [found]

    return compute


def patched(patch: str | None, then: Compute | None = None) -> Compute | None:
    """The edit that a unified diff tells; ``then`` tells it otherwise where the diff does not fit."""
    if patch is None:
        return then

    def compute(text: str) -> list[str]:
        found = apply_unified(text, parse_unified(patch))
        rest = then(text) if then is not None else []
        return rest if found is None else [found, *rest]

    return compute


def written(path: str, content: str | None, **known: object) -> Change:
    """The change that writes a whole file."""
    after = UNKNOWN if content is None else to_bytes(content)
    return Change(path, after=after, **known)  # type: ignore[arg-type]


def _patch_change(patch: FilePatch) -> Change:
    if patch.op == "add":
        return Change(patch.path, after=to_bytes(patch.added))
    if patch.op == "delete":
        return Change(patch.path, "delete", after=None, follow=False)
    hunks = patch.hunks

    def compute(text: str) -> list[str]:
        return edits.apply_patch(text, hunks) if hunks else [text]

    if patch.to is not None and patch.to != patch.path:
        return Change(patch.path, "rename", to=patch.to, compute=compute, follow=False)
    return Change(patch.path, compute=compute)


def patch_changes(text: str | None) -> list[Change]:
    """The changes of an ``apply_patch`` text, one for each path; of several only the last text is known."""
    out: dict[str, Change] = {}
    for patch in edits.parse_patch(text or ""):
        change = _patch_change(patch)
        # The same file stands twice in one patch. The second part fits the text that the first part made,
        # which no event shows.
        if patch.path in out:
            change.compute = None
            if change.op == "edit" and patch.op != "add":
                change.after = UNKNOWN
        out[patch.path] = change
    return list(out.values())


def fill(event: Event, payload: dict[str, object]) -> Event:
    """Add the fields that most agents name alike, in both spellings."""
    event.cwd = text_of(payload, "cwd")
    event.transcript = text_of(payload, "transcript_path", "transcriptPath")
    event.agent_id = text_of(payload, "agent_id", "agentId")
    event.agent_type = text_of(payload, "agent_type", "agentType", "subagent_type")
    event.source = text_of(payload, "source", "reason")
    return event


def asks(event: Event, given: object) -> Event:
    """Mark an event whose agent waits for permission to call its tool."""
    event.ahead, event.given = True, given
    return event


def stop_of(payload: dict[str, object], *said: str) -> Stop:
    """What a stop event tells; ``said`` are an agent's own names of the field with the last message."""
    own = text_of(payload, "agent_transcript_path", "agentTranscriptPath")
    again = payload.get("stop_hook_active")
    return Stop(
        text_of(payload, "last_assistant_message", "lastAssistantMessage", *said),
        own or text_of(payload, "transcript_path", "transcriptPath"),
        own is not None,
        _runs_on(payload),
        again if isinstance(again, bool) else None,
    )


def _runs_on(payload: dict[str, object]) -> bool:
    """True while something in the background still works: then this stop is not the end.

    Qwen Code's SubagentStop lists a foreground subagent, itself, as running.
    """
    own = text_of(payload, "agent_id")
    return any(
        text_of(task, "status") in ("running", "pending", "queued", "in_progress")
        and (own is None or text_of(task, "id") != own)
        for task in list_of(payload, "background_tasks")
    )
