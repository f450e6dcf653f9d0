"""Every agent that hooks can be registered with: where its files are and what goes into them; data.

What else a new agent needs is in CONTRIBUTING, under "An agent".
"""

import os
import pwd
import shutil
from collections.abc import Mapping
from dataclasses import dataclass

SETTINGS, EXTENSION, MANUAL = "settings", "extension", "manual"
USER, PROJECT, LOCAL = "user", "project", "local"

# The tools of each agent that write files, and its shell. The events of other tools say nothing that is
# recorded, and each event costs the agent a process.
_CLAUDE = "Write|Edit|MultiEdit|NotebookEdit|Bash"
_CODEX = "apply_patch|Bash"
_GEMINI = "write_file|replace|run_shell_command"
_QWEN = "write_file|edit|notebook_edit|run_shell_command"
_CURSOR = "Write|StrReplace|Shell"
_DROID = "Create|Write|Edit|MultiEdit|NotebookEdit|ApplyPatch|Execute"
# The names of the shell among these tools.
SHELLS = frozenset(["Bash", "run_shell_command", "Shell", "Execute"])

_NOT_BELOW = "read only by an agent started in that very folder, not below it"
_TRUSTED = "and only where you answered its question for trust in that folder"


@dataclass(frozen=True)
class Agent:
    """One agent.

    - ``folder`` lies below home; the environment variable ``override`` may name another. ``user_file`` lies
      in it.
    - ``events`` are (event, matcher) pairs for a settings file. ``recording`` is the event that tells what a
      tool wrote.
    - ``timeout`` is in the agent's own unit, which is ``unit`` seconds.
    - ``flat``: an event lists handlers, not groups of them. ``keys``: its words for command and timeout.
    - ``version``: the number that heads a file which has to have one. ``comments``: the file may hold them.
    - ``data`` is the package file that is an extension's text.
    - ``fails_open`` is False for an agent that takes a failing hook for a no.
    """

    name: str
    form: str
    programs: tuple[str, ...] = ()
    folder: str = ""
    override: str = ""
    user_file: str = ""
    project_file: str = ""
    local_file: str = ""
    managed_file: str = ""
    events: tuple[tuple[str, str | None], ...] = ()
    recording: str = "PostToolUse"
    timeout: int = 0
    unit: float = 1.0
    flat: bool = False
    keys: tuple[str, str] = ("command", "timeout")
    version: int | None = None
    comments: bool = False
    fails_open: bool = True
    data: str = ""
    asks_trust: bool = False
    trusts_one_by_one: bool = False
    seen_below: bool = False
    is_experimental: bool = False
    project_note: str = ""
    trust_note: str = ""

    @property
    def command(self) -> str:
        """The command that an event is piped into. It never changes: some agents tie their trust to it."""
        return f"git ralph hook {self.name}" + ("" if self.fails_open else " || true")

    def config_folder(self, environ: Mapping[str, str]) -> str:
        """The folder of the user's own configuration."""
        named = environ.get(self.override, "") if self.override else ""
        return os.path.abspath(named) if named else os.path.join(home(environ), self.folder)

    def file(self, scope: str, environ: Mapping[str, str], root: str | None) -> str:
        """The file to register in. ``root`` is a worktree's; only the user scope goes without."""
        if scope == USER:
            return os.path.join(self.config_folder(environ), self.user_file)
        assert root is not None
        return os.path.join(root, self.project_file if scope == PROJECT else self.local_file)

    def is_present(self, environ: Mapping[str, str]) -> bool:
        """True when the user seems to have this agent: its folder, or its program on PATH."""
        path = environ.get("PATH", os.defpath)
        return os.path.isdir(self.config_folder(environ)) or any(
            shutil.which(program, path=path) for program in self.programs
        )


def home(environ: Mapping[str, str]) -> str:
    """The user's home folder."""
    return environ.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir


AGENTS = {
    agent.name: agent
    for agent in (
        Agent(
            "claude-code",
            SETTINGS,
            programs=("claude",),
            folder=".claude",
            override="CLAUDE_CONFIG_DIR",
            user_file="settings.json",
            project_file=".claude/settings.json",
            local_file=".claude/settings.local.json",
            managed_file="/etc/claude-code/managed-settings.json",
            # Only PreToolUse shows the exact bytes that a file had before a write.
            events=(
                ("SessionStart", None),
                ("PreToolUse", _CLAUDE),
                ("PostToolUse", _CLAUDE),
                ("PostToolUseFailure", "Bash"),
                ("Stop", None),
                ("SessionEnd", None),
            ),
            timeout=30,
            project_note=f"{_NOT_BELOW} and not in a linked worktree",
        ),
        Agent(
            "pi",
            EXTENSION,
            programs=("pi",),
            folder=".pi/agent",
            override="PI_CODING_AGENT_DIR",
            user_file="extensions/gitralph.ts",
            project_file=".pi/extensions/gitralph.ts",
            data="gitralph.ts",
            asks_trust=True,
            project_note="loaded only by a pi started in that very folder and trusted there "
            "(headless: --approve)",
        ),
        Agent(
            "codex",
            SETTINGS,
            programs=("codex",),
            folder=".codex",
            override="CODEX_HOME",
            user_file="hooks.json",
            project_file=".codex/hooks.json",
            events=(
                ("SessionStart", None),
                ("PreToolUse", _CODEX),
                ("PostToolUse", _CODEX),
                ("Stop", None),
                ("SessionEnd", None),
            ),
            timeout=30,
            asks_trust=True,
            trusts_one_by_one=True,
            seen_below=True,
            project_note="read only where you trust the project, and not in a linked worktree",
            trust_note="codex skips hooks without a word until you trust them: start codex, open "
            "/hooks and trust each 'git ralph hook codex'",
        ),
        Agent(
            "gemini",
            SETTINGS,
            programs=("gemini",),
            folder=".gemini",
            user_file="settings.json",
            project_file=".gemini/settings.json",
            events=(
                ("SessionStart", None),
                ("BeforeTool", _GEMINI),
                ("AfterTool", _GEMINI),
                ("AfterAgent", None),
                ("SessionEnd", None),
            ),
            recording="AfterTool",
            # Gemini CLI counts in milliseconds.
            timeout=30_000,
            unit=0.001,
            comments=True,
            asks_trust=True,
            project_note=f"{_NOT_BELOW}, {_TRUSTED}",
            trust_note="start gemini in that folder and choose 'trust folder'",
        ),
        Agent(
            "qwen",
            SETTINGS,
            programs=("qwen",),
            folder=".qwen",
            user_file="settings.json",
            project_file=".qwen/settings.json",
            events=(
                ("SessionStart", None),
                ("PreToolUse", _QWEN),
                ("PostToolUse", _QWEN),
                ("PostToolUseFailure", _QWEN),
                ("Stop", None),
                ("SessionEnd", None),
            ),
            timeout=30,
            comments=True,
            asks_trust=True,
            project_note=f"{_NOT_BELOW}, {_TRUSTED} where folder trust is on",
            trust_note="start qwen in that folder and choose 'trust folder'",
        ),
        Agent(
            "copilot",
            SETTINGS,
            programs=("copilot",),
            folder=".copilot",
            override="COPILOT_HOME",
            user_file="hooks/gitralph.json",
            project_file=".github/hooks/gitralph.json",
            events=(
                ("sessionStart", None),
                ("preToolUse", None),
                ("postToolUse", None),
                ("postToolUseFailure", None),
                ("agentStop", None),
                ("subagentStart", None),
                ("subagentStop", None),
                ("sessionEnd", None),
            ),
            recording="postToolUse",
            timeout=30,
            flat=True,
            # Copilot CLI has a key for each shell, and names the unit of the timeout in its key.
            keys=("bash", "timeoutSec"),
            version=1,
            # Copilot CLI does not run a tool whose hook fails ahead of it. Recording must never stop a tool.
            fails_open=False,
            asks_trust=True,
            project_note=f"{_NOT_BELOW}, {_TRUSTED}",
            trust_note="start copilot in that folder and choose to trust it",
        ),
        Agent(
            "opencode",
            EXTENSION,
            programs=("opencode",),
            folder=".config/opencode",
            override="OPENCODE_CONFIG_DIR",
            user_file="plugin/gitralph.js",
            project_file=".opencode/plugin/gitralph.js",
            data="gitralph.js",
            seen_below=True,
        ),
        Agent(
            "cursor",
            SETTINGS,
            programs=("cursor-agent", "cursor"),
            folder=".cursor",
            user_file="hooks.json",
            project_file=".cursor/hooks.json",
            events=(
                ("sessionStart", None),
                ("preToolUse", _CURSOR),
                ("postToolUse", _CURSOR),
                ("postToolUseFailure", _CURSOR),
                ("stop", None),
                ("sessionEnd", None),
            ),
            recording="postToolUse",
            timeout=30,
            flat=True,
            version=1,
            is_experimental=True,
        ),
        Agent(
            "droid",
            SETTINGS,
            programs=("droid",),
            folder=".factory",
            # a new hooks.json would switch off the hooks that settings.json holds
            user_file="settings.json",
            project_file=".factory/settings.json",
            events=(
                ("SessionStart", None),
                ("PreToolUse", _DROID),
                ("PostToolUse", _DROID),
                ("Stop", None),
                ("SessionEnd", None),
            ),
            timeout=30,
            comments=True,
            is_experimental=True,
        ),
        Agent("generic", MANUAL),
    )
}
