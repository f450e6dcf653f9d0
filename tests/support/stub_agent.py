"""A scripted agent for the loop: does what a JSON file says for the task its prompt names.

Run as a program: ``stub_agent.py <script.json>``, the prompt on standard input. Its edits go through
the hook's own code, in this process; like a real agent's tool it is not torn apart by SIGTERM.
"""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

Do = list[Any]


def _record(path: str, **fields: object) -> None:
    from gitralph.hook import entry

    event = {"cwd": os.getcwd(), "event": "edit", "path": path, **fields}
    entry.take("generic", event, True, dict(os.environ))


def _read(path: str) -> str | None:
    try:
        with open(path) as file:
            return file.read()
    except FileNotFoundError:
        return None


def write(path: str, text: str) -> None:
    """Write a whole file by a tool."""
    before = _read(path)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    raw(path, text)
    _record(path, before=before, after=text)


def late(path: str, text: str, seconds: float) -> None:
    """Write a whole file by a tool whose hook is slow to start."""
    before = _read(path)
    raw(path, text)
    time.sleep(seconds)
    _record(path, before=before, after=text)


def stale(path: str, before: str, text: str) -> None:
    """Write a whole file by a tool that read it earlier, when it was ``before``."""
    raw(path, text)
    _record(path, before=before, after=text)


def raw(path: str, text: str) -> None:
    """Write a file as somebody without hooks would."""
    with open(path, "w") as file:
        file.write(text)


def replace(path: str, old: str, new: str) -> None:
    """One edit of a shared file: read, change and recorded in one moment; done before is done."""
    with open(os.environ["STUB_LOCK"], "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = _read(path) or ""
        if old in before:
            write(path, before.replace(old, new, 1))


def delete(path: str) -> None:
    """Delete a file by a tool."""
    before = _read(path)
    os.unlink(path)
    _record(path, before=before, after=None, event="delete")


def rename(old: str, new: str) -> None:
    """Rename a file by a tool."""
    os.rename(old, new)
    _record(old, event="rename", to=new)


def once(marker: str, *doing: Do) -> None:
    """Do something the first time only."""
    if not os.path.exists(marker):
        raw(marker, "")
        for one in doing:
            act(one)


def emit(topic: str) -> None:
    """An event of this session."""
    from gitralph.hook import emit as lane

    assert lane.main([topic]) == 0


def sh(command: str) -> None:
    """Run a shell command."""
    subprocess.run(["/bin/sh", "-c", command], check=True)


def shell(command: str) -> None:
    """Run a shell command by a tool: the hook hears of it before and after."""
    from gitralph.hook import entry

    env, name = dict(os.environ), f"toolu_{os.getpid()}_{time.monotonic_ns()}"
    event: dict[str, object] = {
        "session_id": os.environ["RALPH_SESSION"],
        "cwd": os.getcwd(),
        "tool_name": "Bash",
        "tool_use_id": name,
        "tool_input": {"command": command},
    }
    entry.take("claude-code", {**event, "hook_event_name": "PreToolUse"}, True, env)
    sh(command)
    answer = {"stdout": "", "stderr": "", "interrupted": False}
    post = {**event, "hook_event_name": "PostToolUse", "tool_response": answer}
    entry.take("claude-code", post, True, env)


def cut(path: str, text: str) -> None:
    """Write a file by a tool and die before the hook hears that it is done."""
    from gitralph.hook import entry

    event: dict[str, object] = {
        "session_id": os.environ["RALPH_SESSION"],
        "cwd": os.getcwd(),
        "hook_event_name": "PreToolUse",
        "tool_name": "Write",
        "tool_use_id": "toolu_cut",
        "tool_input": {"file_path": os.path.abspath(path), "content": text},
    }
    entry.take("claude-code", event, True, dict(os.environ))
    raw(path, text)
    os.kill(os.getpid(), signal.SIGKILL)


ACTS: dict[str, Callable[..., object]] = {
    "write": write,
    "late": late,
    "stale": stale,
    "raw": raw,
    "replace": replace,
    "delete": delete,
    "rename": rename,
    "once": once,
    "emit": emit,
    "cd": os.chdir,
    "sh": sh,
    "shell": shell,
    "cut": cut,
    "say": print,
    "exit": sys.exit,
    "sleep": time.sleep,
}


def act(doing: Do) -> None:
    """One thing, with SIGTERM put off until it is done."""
    name, *words = doing
    if name in ("sleep", "once"):
        ACTS[name](*words)
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    try:
        ACTS[name](*words)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])


def main() -> None:
    """Do what the script says for this task."""
    prompt = sys.stdin.read()
    script: dict[str, list[Do]] = json.loads(_read(sys.argv[1]) or "{}")
    task = prompt.split("\n")[0].partition(": ")[2]
    if os.environ.get("STUB_LOG"):
        with open(os.environ["STUB_LOG"], "a") as log:
            log.write(
                json.dumps({"task": task, "prompt": prompt, "session": os.environ["RALPH_SESSION"]}) + "\n"
            )
    for doing in script.get(task, []):
        act(doing)


if __name__ == "__main__":
    main()
