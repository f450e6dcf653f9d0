"""The variables by which the programs of an agent know that they are an agent's, and of which session.

One table for all who ask: which session a command is for, whether the guard is for an agent or a person,
what a loop does not pass on. The fast lane loads it only where an agent was killed during a command.
"""

from collections.abc import Mapping

# Where an agent has several names for the id, any of them counts.
OF_AGENT = {
    "claude-code": ("CLAUDE_CODE_SESSION_ID",),
    "codex": ("CODEX_THREAD_ID", "CODEX_SESSION_ID"),
    "qwen": ("QWEN_CODE_SESSION_ID",),
    "copilot": ("COPILOT_AGENT_SESSION_ID",),
    "pi": ("PI_SESSION_ID",),
    "opencode": ("OPENCODE_SESSION_ID",),
}
BY_AGENT = tuple(OF_AGENT.values())
PUBLISHED = tuple(name for variables in BY_AGENT for name in variables)
# What tells an agent's shell from a person's: a launcher's word, a session's id, and of Gemini CLI, which
# names no session to its programs, that it is there. Installed hooks, known by their text, have this order.
MARKS = ("RALPH_SESSION", *PUBLISHED, "GEMINI_CLI")


def is_agent(environ: Mapping[str, str]) -> bool:
    """True in the shell of an agent, or of what a launcher started."""
    return any(environ.get(name) for name in MARKS)
