"""How each known agent is started without a screen, and where the prompt goes; starts nothing itself.

What an agent may do is its user's to decide: the defaults let it edit files and nothing more, and
``ralph.<agent>.arguments`` adds words to the command.
"""

import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from gitralph.base import run as runner
from gitralph.base.errors import Fatal, UsageError
from gitralph.git.config import Config
from gitralph.loop.model import Options
from gitralph.session.session_choice import PUBLISHED

PROMPT = "{prompt}"
# What belongs to the agent that started us, not to the agents that we start.
_NOT_PASSED_ON = frozenset(
    [
        *PUBLISHED, "RALPH_SESSION", "RALPH_MANIFEST", "RALPH_PLAN", "RALPH_TASK_NUM", "RALPH_BEAD",
        "RALPH_EVENTS_FILE", "RALPH_ROOT", "RALPH_TRACKING",
    ]
)  # fmt: skip


@dataclass(frozen=True)
class Command:
    """A program and its words. The prompt replaces ``{prompt}``, or is its standard input."""

    argv: tuple[str, ...]

    @property
    def reads_stdin(self) -> bool:
        return not any(PROMPT in word for word in self.argv)

    def words(self, prompt: str) -> list[str]:
        """The words with the prompt in its place."""
        return [word.replace(PROMPT, prompt) for word in self.argv]


# ``*`` is where ralph.<agent>.arguments go.
HEADLESS = {
    "claude-code": ("claude", "-p", "--permission-mode", "acceptEdits", "*"),
    "pi": ("pi", "-p", "*", PROMPT),
    "codex": ("codex", "exec", "--sandbox", "workspace-write", "--skip-git-repo-check", "*", "-"),
    "gemini": ("gemini", "--approval-mode", "auto_edit", "*", "-p", PROMPT),
    "opencode": ("opencode", "run", "*", PROMPT),
    "qwen": ("qwen", "--approval-mode", "auto-edit", "*", PROMPT),
    "copilot": ("copilot", "-p", PROMPT, "--allow-tool", "write", "*"),
}


def _known(agent: str, config: Config) -> tuple[str, ...]:
    if agent not in HEADLESS:
        raise UsageError(f"'{agent}' is no agent that run knows", f"one of: {', '.join(HEADLESS)}")
    program, *rest = HEADLESS[agent]
    more = config.get(f"ralph.{agent}.arguments") or ""
    try:
        added = shlex.split(more)
    except ValueError as error:
        raise Fatal(f"bad value for 'ralph.{agent}.arguments': {error}") from None
    words = [word for part in rest for word in (added if part == "*" else [part])]
    return (config.get(f"ralph.{agent}.command") or program, *words)


def command_of(options: Options, config: Config, environ: Mapping[str, str], cwd: str) -> Command:
    """The command of every task. Raises UsageError or Fatal when there is none that can be started."""
    argv = options.command
    if options.agent is not None:
        if argv:
            raise UsageError("--agent and a command exclude each other")
        argv = _known(options.agent, config)
    if not argv:
        raise UsageError(
            "no agent is named",
            "git ralph run <plan.md> --agent claude-code",
            "git ralph run <plan.md> -- <command>",
        )
    return Command((_program(argv[0], environ, cwd, options.agent), *argv[1:]))


def _program(name: str, environ: Mapping[str, str], cwd: str, agent: str | None) -> str:
    """The program by absolute path, found from where the user stands."""
    path = environ.get("PATH", os.defpath)
    found = os.path.join(cwd, name) if "/" in name else shutil.which(name, path=path)
    if found is None or not os.access(found, os.X_OK) or os.path.isdir(found):
        hints = [f"git config ralph.{agent}.command <program> names another"] if agent else []
        raise Fatal(f"'{name}' is not a program on PATH", *hints)
    return os.path.abspath(found)


def base_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What every child inherits before the session's own contract is added."""
    return {k: v for k, v in runner.inherited(environ).items() if k not in _NOT_PASSED_ON}
