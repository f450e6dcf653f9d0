"""The promise that ends a loop: what counts as one, and where an agent's last words are found.

The stop hook and ``git ralph run`` share one rule. It takes the text between ``<promise>`` and
``</promise>``, the last such pair in the agent's last words, compared letter for letter but for blanks. Words
without the tags do not count: an agent that thinks aloud, or prints its prompt, says them long before it is
done.
"""

import os
from collections.abc import Iterable, Iterator

from gitralph.base import jsonline
from gitralph.hook.event import list_of, object_of, text_of

_OPEN, _CLOSE = "<promise>", "</promise>"
# In bytes. Transcripts grow to hundreds of MB. The last words are at the end, perhaps behind one long tool
# answer.
_TAIL = 8 << 20
# In bytes. A subagent's prompt is the first message of its transcript.
_HEAD = 1 << 20
# Who speaks: Claude Code, pi and Codex say assistant, Qwen Code model, Gemini CLI gemini, Copilot CLI
# assistant.message, codex exec --json agent_message. Recorded in tests/hook/agents/transcripts.
_SPEAKERS = frozenset(["assistant", "model", "gemini", "assistant.message", "agent_message"])
# The words are in the entry itself, or in one object within it.
_WRAPS = ("message", "payload", "data", "item")
_TEXTS = (None, "text", "output_text")

Entry = dict[str, object]


def folded(text: str) -> str:
    """A text with every run of blanks as one space."""
    return " ".join(text.split())


def is_kept(said: str | None, promise: str) -> bool:
    """True when the last promise in ``said`` is this one. An empty promise is never kept."""
    if not said or not promise.strip():
        return False
    at = said.rfind(_OPEN)
    while at >= 0:
        # a promise may contain the closing word itself, so every end is tried
        end = said.find(_CLOSE, at)
        while end >= 0:
            if folded(said[at + len(_OPEN) : end]) == folded(promise):
                return True
            end = said.find(_CLOSE, end + 1)
        at = said.rfind(_OPEN, 0, at) if _OPEN in promise else -1
    return False


def _inner(entry: Entry) -> Entry:
    return next((inner for key in _WRAPS if (inner := object_of(entry, key))), entry)


def _role(entry: Entry) -> str | None:
    inner = _inner(entry)
    own = text_of(inner, "role") or (text_of(inner, "type") if inner is entry.get("item") else None)
    return own or text_of(entry, "role", "type")


def _text(entry: Entry) -> str:
    """The words of an entry. Results of tools, a subagent's among them, are not its own words."""
    inner = _inner(entry)
    whole = text_of(inner, "content", "text")
    if whole is not None:
        return whole
    parts = list_of(inner, "content") or list_of(inner, "parts")
    found = [text_of(part, "text") for part in parts if text_of(part, "type") in _TEXTS]
    return "\n".join(text for text in found if text)


def _is_subagents(entry: Entry) -> bool:
    """True for words of a subagent, which some agents keep among those of its parent."""
    if entry.get("isSidechain") is True or text_of(entry, "parent_tool_use_id") is not None:
        return True
    return text_of(object_of(entry, "data"), "parentToolCallId") is not None


def last_said(entries: Iterable[Entry], of_subagent: bool = False) -> str | None:
    """The last words of the assistant, from entries with the latest first; None where it never spoke."""
    for entry in entries:
        if _role(entry) in _SPEAKERS and (of_subagent or not _is_subagents(entry)):
            text = _text(entry)
            if text.strip():
                return text
    return None


def said_by(output: bytes) -> str:
    """The last words in a program's output where it prints a transcript, else all of the output."""
    said = last_said(reversed(list(jsonline.objects(output))))
    return output.decode("utf-8", "replace") if said is None else said


def denied_in(output: bytes) -> list[str]:
    """The tools that an agent was refused, by its own result: Claude Code's ``permission_denials``."""
    found: list[str] = []
    for entry in jsonline.objects(output):
        for one in list_of(entry, "permission_denials"):
            name = text_of(one, "tool_name")
            found += [name] if name else []
    return list(dict.fromkeys(found))


def _read(path: str, size: int, from_end: bool) -> bytes:
    """One end of a transcript. It is a foreign file that may be anything, so nothing here waits or raises."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return b""
    try:
        return os.pread(fd, size, max(0, os.fstat(fd).st_size - size) if from_end else 0)
    except OSError:
        return b""
    finally:
        os.close(fd)


def said_in(path: str, of_subagent: bool = False) -> str | None:
    """The assistant's last words in the transcript at ``path``."""
    return last_said(reversed(list(jsonline.objects(_read(path, _TAIL, from_end=True)))), of_subagent)


def asked_in(path: str) -> str:
    """The prompt of a subagent, from the start of its transcript."""
    entries: Iterator[Entry] = jsonline.objects(_read(path, _HEAD, from_end=False))
    return next((_text(entry) for entry in entries if _role(entry) == "user"), "")
