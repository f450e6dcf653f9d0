"""What an agent that stops said last: its payload tells, else the transcript of whoever stops."""

from gitralph import promise
from gitralph.event import text_of

_SAID = ("last_assistant_message", "lastAssistantMessage", "prompt_response")


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
    return promise.said_in(path, of_subagent="agent_transcript_path" in payload) if path else None
