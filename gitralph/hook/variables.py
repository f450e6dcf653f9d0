"""The variables by which the programs of an agent know that they are an agent's, and of which session.

One table for all who ask: which session a command is for, whether the guard is for an agent or a person,
what a loop does not pass on. Not needed to record, so the fast lane does not load it.
"""

from collections.abc import Mapping

# Where an agent has several names for the id, any of them counts.
BY_AGENT = (
    ("CLAUDE_CODE_SESSION_ID",),
    ("CODEX_THREAD_ID", "CODEX_SESSION_ID"),
    ("QWEN_CODE_SESSION_ID",),
    ("COPILOT_AGENT_SESSION_ID",),
    ("PI_SESSION_ID",),
    ("OPENCODE_SESSION_ID",),
)
PUBLISHED = tuple(name for variables in BY_AGENT for name in variables)
# What tells an agent's shell from a person's: a launcher's word, a session's id, and of Gemini CLI, which
# names no session to its programs, that it is there. Installed hooks, known by their text, have this order.
MARKS = ("RALPH_SESSION", *PUBLISHED, "GEMINI_CLI")


def is_agent(environ: Mapping[str, str]) -> bool:
    """True in the shell of an agent, or of what a launcher started."""
    return any(environ.get(name) for name in MARKS)
