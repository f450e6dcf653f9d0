"""Shell commands as agents run them: the event before, the command itself, the event after."""

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.repo import Repo


def event(name: str, session: str, call: str, cwd: str, command: str, **fields: object) -> dict[str, Any]:
    """Claude Code's event around a Bash call."""
    return {
        "session_id": session,
        "transcript_path": f"/nowhere/{session}.jsonl",
        "cwd": cwd,
        "permission_mode": "acceptEdits",
        "hook_event_name": name,
        "tool_name": "Bash",
        "tool_input": {"command": command, "description": "run"},
        "tool_use_id": call,
        **fields,
    }


class Shell:
    """One shell call of one session. ``done``: how it ended, None when it never said."""

    def __init__(self, repo: Repo, session: str, command: str = "true", call: str | None = None) -> None:
        self.repo = repo
        self.session = session
        self.command = command
        self.call = call or f"toolu_{session}_{id(self)}"

    def send(self, name: str, **fields: object) -> None:
        """One event of this call."""
        root = str(self.repo.root)
        self.repo.hook("claude-code", event(name, self.session, self.call, root, self.command, **fields))

    def begin(self) -> "Shell":
        self.send("PreToolUse")
        return self

    def work(self, command: str | None = None) -> "Shell":
        """Run a command in the worktree; it may fail."""
        text = command or self.command
        subprocess.run(["/bin/sh", "-c", text], cwd=self.repo.root, check=False, capture_output=True)
        return self

    def end(self, name: str = "PostToolUse") -> "Shell":
        self.send(name)
        return self


def run(repo: Repo, session: str, command: str, call: str | None = None) -> Shell:
    """A whole shell call."""
    return Shell(repo, session, command, call).begin().work().end()


def words_of(line: str, cwd: Path, env: Mapping[str, str]) -> list[str]:
    """What a real shell and git hand ``git-ralph`` where a line is typed."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "git-ralph")
        program.write_text('#!/bin/sh\nprintf "%s\\0" "$@" >"${0%/*}/words"\n')
        program.chmod(0o755)
        full = {**env, "PATH": f"{folder}:{env['PATH']}"}
        subprocess.run(["/bin/sh", "-c", line], cwd=cwd, env=full, check=True, capture_output=True)
        return os.fsdecode(Path(folder, "words").read_bytes()).split("\0")[:-1]
