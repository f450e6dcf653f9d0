"""Every agent that hooks can be registered with: where its files are and what goes into them; data.

A new agent is one entry here, an adapter in ``gitralph.agents`` and a sample in ``doctor.samples``.
"""

import os
import pwd
import shutil
from collections.abc import Mapping
from dataclasses import dataclass

SETTINGS, EXTENSION, MANUAL = "settings", "extension", "manual"
USER, PROJECT, LOCAL = "user", "project", "local"

_WRITERS = "Write|Edit|MultiEdit|NotebookEdit"


@dataclass(frozen=True)
class Agent:
    """One agent. ``user_file`` lies below ``folder``, which ``override`` may name; ``folder`` below home.

    ``events`` are (event, matcher) pairs for a settings file, ``timeout`` in the agent's own unit;
    ``data`` is the package file that is an extension's text.
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
    timeout: int = 0
    data: str = ""
    asks_trust: bool = False
    project_note: str = ""

    @property
    def command(self) -> str:
        """What an event is piped into. Never changes: some agents tie their trust to it."""
        return f"git ralph hook {self.name}"

    def config_folder(self, environ: Mapping[str, str]) -> str:
        """The folder of the user's own configuration."""
        named = environ.get(self.override, "") if self.override else ""
        return os.path.abspath(named) if named else os.path.join(home(environ), self.folder)

    def file(self, scope: str, environ: Mapping[str, str], root: str | None) -> str:
        """The file to register in. ``root`` is a worktree's, needed for the project scope."""
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
            # the event before a write is what makes the bytes of a file known exactly
            events=(
                ("SessionStart", None),
                ("PreToolUse", _WRITERS),
                ("PostToolUse", _WRITERS),
                ("Stop", None),
                ("SessionEnd", None),
            ),
            timeout=30,
            project_note="read only by an agent started in that very folder, not below it "
            "and not in a linked worktree",
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
        Agent("generic", MANUAL),
    )
}  # fmt: skip
