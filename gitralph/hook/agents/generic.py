"""``generic``: the contract for everything that is not one of the known agents; pure.

``{"session","cwd","event":"edit|delete|rename|start|stop|end","path","to","before","after",
"agent","agent_id"}``; texts are null when the file is absent, base64 with ``"encoding":"base64"``, missing
when unknown. ``pre`` announces an edit whose texts the payload will not hold; ``shell-start`` and
``shell-end`` stand around a shell command, named by ``call``.
"""

from binascii import a2b_base64

from gitralph.hook.agents.shared import asks, stop_of
from gitralph.hook.event import Change, Event, text_of, text_or_absent
from gitralph.hook.reconcile import UNKNOWN, Text

_KINDS = frozenset(["start", "stop", "end", "pre"])
_SHELL = {"shell-start": "shell-pre", "shell-end": "shell"}
_EDITS = frozenset(["edit", "delete", "rename"])


def parse(payload: dict[str, object]) -> Event:
    """The event of one object. Raises ValueError for an event or encoding that does not exist."""
    name = text_of(payload, "event") or ""
    if name not in _KINDS and name not in _EDITS and name not in _SHELL:
        raise ValueError(f"unknown event '{name[:40]}'")
    path = text_of(payload, "path")
    changes = []
    if name in _EDITS or name == "pre":
        if path is None:
            raise ValueError("no path")
        changes = [_change(payload, name, path)]
    event = Event(
        "edit" if name in _EDITS else _SHELL.get(name, name),
        text_of(payload, "session", "session_id"),
        cwd=text_of(payload, "cwd"),
        changes=changes,
        tool=text_of(payload, "tool"),
        call=text_of(payload, "call"),
        agent_id=text_of(payload, "agent_id"),
        parent=text_of(payload, "parent"),
        source=text_of(payload, "source", "reason"),
    )
    event.agent_type = text_of(payload, "agent_type")
    event.named = text_of(payload, "agent")
    if name == "pre":
        asks(event, payload)
    elif name == "shell-start":
        event.given = payload
    elif name == "stop":
        event.stop = stop_of(payload)
    return event


def _text(payload: dict[str, object], key: str) -> Text:
    text = text_or_absent(payload, key)
    if not isinstance(text, bytes) or "encoding" not in payload:
        return text
    if payload["encoding"] != "base64":
        raise ValueError("unknown encoding")
    # Strict: else bytes that are no base64 are dropped without a word, and the text would be another.
    return a2b_base64(text, strict_mode=True)


def _change(payload: dict[str, object], name: str, path: str) -> Change:
    before, after = _text(payload, "before"), _text(payload, "after")
    if name == "delete":
        after = None
    elif name == "rename":
        to = text_of(payload, "to")
        if to is None:
            raise ValueError("a rename without 'to'")
        return Change(path, "rename", to=to, before=before, after=after, follow=False)
    op = "delete" if name == "delete" or (after is None and before is not UNKNOWN) else "edit"
    return Change(path, op, before=before, after=after, follow=False)
