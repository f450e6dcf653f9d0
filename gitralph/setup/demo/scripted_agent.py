"""A scripted agent of ``git ralph demo``: a process of its own that edits files and calls the real hooks.

Reads its script as JSON from standard input. Nothing here is a test double for gitralph: the payloads
are those the agents send, and ``git ralph hook`` is started as they start it.
"""

import difflib
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from gitralph.base import files, runner
from gitralph.setup.demo.script import StoryEdit

GIT_RALPH = [sys.executable, "-P", "-m", "gitralph"]

Payload = dict[str, Any]


def read(path: str) -> str | None:
    """A file's text, None when there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def save(path: str, text: str) -> None:
    """Write a file, its folder made when missing."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _patch(before: str, after: str) -> list[Payload]:
    old, new = before.splitlines(), after.splitlines()
    hunks = []
    for group in difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(3):
        lines = []
        for tag, a, b, c, d in group:
            lines += [" " + line for line in old[a:b]] if tag == "equal" else []
            lines += ["-" + line for line in old[a:b]] if tag != "equal" else []
            lines += ["+" + line for line in new[c:d]] if tag != "equal" else []
        first, last = group[0], group[-1]
        hunks.append(
            {
                "oldStart": first[1] + 1,
                "oldLines": last[2] - first[1],
                "newStart": first[3] + 1,
                "newLines": last[4] - first[3],
                "lines": lines,
            }
        )
    return hunks


class Claude:
    """The events Claude Code sends."""

    agent = "claude-code"

    def __init__(self, session: str, cwd: str) -> None:
        self.common = {"session_id": session, "cwd": cwd, "permission_mode": "acceptEdits"}

    def start(self) -> Payload:
        """A conversation begins."""
        return {**self.common, "hook_event_name": "SessionStart", "source": "startup"}

    def _tool(self, name: str, edit: StoryEdit, file: str, call: str) -> Payload:
        given: Payload = {"file_path": file, "content": edit.new}
        if edit.old is not None:
            given = {"file_path": file, "old_string": edit.old, "new_string": edit.new}
        tool = "Write" if edit.old is None else "Edit"
        return {
            **self.common,
            "hook_event_name": name,
            "tool_name": tool,
            "tool_input": given,
            "tool_use_id": call,
        }

    def before(self, edit: StoryEdit, file: str, call: str) -> Payload:
        """The tool is about to run."""
        return self._tool("PreToolUse", edit, file, call)

    def after(self, edit: StoryEdit, file: str, call: str, texts: tuple[str | None, str]) -> Payload:
        """The tool ran and made the second text of the first."""
        was, now = texts
        answer: Payload = {"filePath": file, "originalFile": was, "structuredPatch": _patch(was or "", now)}
        if edit.old is None:
            answer |= {"type": "create", "content": now, "structuredPatch": []}
        else:
            answer |= {"oldString": edit.old, "newString": edit.new, "replaceAll": False}
        return {**self._tool("PostToolUse", edit, file, call), "tool_response": answer}


class Pi:
    """The events pi's extension sends."""

    agent = "pi"

    def __init__(self, session: str, cwd: str) -> None:
        self.common = {"session_id": session, "cwd": cwd}

    def start(self) -> Payload:
        """A conversation begins."""
        event = {"type": "session_start", "reason": "startup"}
        return {**self.common, "hook_event_name": "session_start", "event": event}

    def _tool(self, name: str, edit: StoryEdit, file: str, call: str) -> Payload:
        given: Payload = {"path": file, "content": edit.new}
        if edit.old is not None:
            given = {"path": file, "edits": [{"oldText": edit.old, "newText": edit.new}]}
        tool = "write" if edit.old is None else "edit"
        event = {"type": name, "toolName": tool, "toolCallId": call, "input": given}
        return {**self.common, "hook_event_name": name, "event": event}

    def before(self, edit: StoryEdit, file: str, call: str) -> Payload:
        """The tool is about to run."""
        return self._tool("tool_call", edit, file, call)

    def after(self, edit: StoryEdit, file: str, call: str, _texts: tuple[str | None, str]) -> Payload:
        """The tool ran; pi does not send the file's text."""
        told = self._tool("tool_result", edit, file, call)
        told["event"] |= {"content": [{"type": "text", "text": "ok"}], "isError": False}
        return told


def _send(agent: str, cwd: str, payload: Payload) -> None:
    text = json.dumps(payload).encode() + b"\n"
    words = [*GIT_RALPH, "hook", agent]
    done = runner.run(words, env=None, given=text, cwd=cwd, stderr=None)
    if done.returncode:
        raise SystemExit(f"the hook ended with {done.returncode}")


def play(kind: type[Claude] | type[Pi], script: Payload, send: Callable[[Payload], None]) -> None:
    """Carry out a script: for each edit the event before, the edit, the event after."""
    agent = kind(script["session"], script["cwd"])
    send(agent.start())
    for number, row in enumerate(script["edits"]):
        edit, call = StoryEdit(*row), f"call-{number + 1}"
        file = os.path.join(script["cwd"], edit.path)
        with files.Locked(script["lock"], 60):  # an edit tool reads and writes in one moment
            was = read(file)
            send(agent.before(edit, file, call))
            now = edit.apply(was)
            save(file, now)
            send(agent.after(edit, file, call, (was, now)))


def main() -> None:
    """Play the script on standard input."""
    script = json.loads(sys.stdin.read())
    kind: type[Claude] | type[Pi] = Pi if script["agent"] == "pi" else Claude
    play(kind, script, lambda payload: _send(kind.agent, script["cwd"], payload))


if __name__ == "__main__":
    main()
