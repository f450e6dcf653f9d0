"""The variables by which the programs of an agent know whose they are: an agent's, and which session's.

This one table serves everybody: which session a command is for, whether the guard meets an agent or a person,
what a loop does not pass on. The fast lane loads it only where an agent was killed during a command.
"""

from collections.abc import Mapping

# Where an agent has several names for its id, any of them counts.
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
# A variable that tells an agent's shell from a person's: a launcher's, a session's id, and the mark of Gemini
# CLI, which names no session to its programs. Installed hooks are recognised by their text, so the order must
# stay.
MARKS = ("RALPH_SESSION", *PUBLISHED, "GEMINI_CLI")


def is_agent(environ: Mapping[str, str]) -> bool:
    """True in the shell of an agent, or of a program that a launcher started."""
    return any(environ.get(name) for name in MARKS)
