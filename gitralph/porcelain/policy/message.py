"""What an agent said last, and whether that holds the promise; reads transcripts from their end."""

import json
import os
from collections.abc import Iterator

from gitralph.event import list_of, object_of, text_of

_TAIL = 8 << 20
_OPEN, _CLOSE = "<promise>", "</promise>"
_SAID = ("last_assistant_message", "lastAssistantMessage", "prompt_response")


def _tail(path: str) -> list[bytes]:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return []
    try:
        size = os.fstat(fd).st_size
        data = os.pread(fd, _TAIL, max(0, size - _TAIL))
    except OSError:
        return []
    finally:
        os.close(fd)
    return data.split(b"\n")


def _entries(lines: list[bytes]) -> Iterator[dict[str, object]]:
    for line in lines:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def _text(entry: dict[str, object]) -> str:
    """The text of an entry, however deep it is nested; empty for one of tools only."""
    inner = object_of(entry, "message") or entry
    content = inner.get("content")
    if isinstance(content, str):
        return content
    parts = [
        text_of(p, "text") for p in list_of(inner, "content") if text_of(p, "type") in ("text", "output_text")
    ]
    return "\n".join(part for part in parts if part)


def _role(entry: dict[str, object]) -> str | None:
    return text_of(object_of(entry, "message"), "role") or text_of(entry, "role", "type")


def from_transcript(path: str, sidechain: bool) -> str | None:
    """The last text of the assistant in a transcript."""
    for entry in _entries(_tail(path)[::-1]):
        if _role(entry) != "assistant" or (entry.get("isSidechain") is True and not sidechain):
            continue
        text = _text(entry)
        if text.strip():
            return text
    return None


def first_prompt(path: str) -> str:
    """What a subagent was asked, from the start of its transcript."""
    try:
        with open(path, "rb") as file:
            head = file.read(1 << 20)
    except OSError:
        return ""
    for entry in _entries(head.split(b"\n")):
        if _role(entry) == "user":
            return _text(entry)
    return ""


def transcript_of(payload: dict[str, object]) -> str | None:
    """The transcript of whoever stops: a subagent's own where there is one."""
    return text_of(payload, "agent_transcript_path", "agentTranscriptPath") or text_of(
        payload, "transcript_path", "transcriptPath"
    )


def last_message(payload: dict[str, object]) -> str | None:
    """The last message of whoever stops; the transcript only where the payload does not say."""
    said = text_of(payload, *_SAID)
    if said is not None:
        return said
    path = transcript_of(payload)
    return from_transcript(path, sidechain="agent_transcript_path" in payload) if path else None


def folded(text: str) -> str:
    """A text with every run of blanks as one space."""
    return " ".join(text.split())


def promises(message: str | None, promise: str) -> bool:
    """True when the last promise in the message is this one, letter for letter but for blanks."""
    if not message or not promise.strip():
        return False
    at = message.rfind(_OPEN)
    while at >= 0:
        # a promise may hold the closing word itself, so every end is tried
        end = message.find(_CLOSE, at)
        while end >= 0:
            if folded(message[at + len(_OPEN) : end]) == folded(promise):
                return True
            end = message.find(_CLOSE, end + 1)
        at = message.rfind(_OPEN, 0, at) if _OPEN in promise else -1
    return False
