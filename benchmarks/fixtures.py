"""Repositories to measure in, made fast: one blob, any number of paths, an index that is up to date."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gitralph.base.layout import path_key
from gitralph.hook import entry


class Repository:
    """A sealed repository; ``git`` and ``hook`` leave the real home alone."""

    def __init__(self, root: Path, environ: dict[str, str]) -> None:
        self.root = root
        self.environ = environ
        self.written: dict[str, str] = {}

    def git(self, *args: str, stdin: bytes | None = None) -> bytes:
        """Run git; its output."""
        done = subprocess.run(
            ["git", *args], cwd=self.root, env=self.environ, input=stdin, capture_output=True, check=True
        )
        return done.stdout

    def write(self, path: str, text: str) -> str | None:
        """Write a file; returns what was written there before."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        before, self.written[path] = self.written.get(path, "x\n" if path[:1] == "d" else None), text
        return before

    def edit(self, session: str, path: str, text: str) -> None:
        """An edit of an agent, recorded in this process by the hook's own code."""
        before = self.write(path, text)
        payload: dict[str, object] = {
            "session": session,
            "cwd": str(self.root),
            "event": "edit",
            "path": path,
            "before": before,
            "after": text,
        }
        entry.take("generic", payload, True, self.environ)

    def claude_payload(self, session: str, path: str, text: str) -> bytes:
        """Write a file and tell it as Claude Code would."""
        before = self.write(path, text)
        return json.dumps(
            {
                "session_id": session,
                "cwd": str(self.root),
                "hook_event_name": "PostToolUse",
                "tool_name": "Edit",
                "tool_use_id": f"toolu_{text.strip()}",
                "permission_mode": "acceptEdits",
                "tool_input": {"file_path": str(self.root / path), "old_string": before, "new_string": text},
                "tool_response": {
                    "filePath": str(self.root / path),
                    "oldString": before,
                    "newString": text,
                    "originalFile": before,
                    "structuredPatch": [],
                    "replaceAll": False,
                },
            }
        ).encode()

    def shell_payload(self, session: str, kind: str, call: str) -> bytes:
        """Tell of a shell command as Claude Code would."""
        return json.dumps(
            {
                "session_id": session,
                "cwd": str(self.root),
                "hook_event_name": kind,
                "tool_name": "Bash",
                "tool_input": {"command": "true"},
                "tool_use_id": call,
            }
        ).encode()

    def add_dead_sessions(self, count: int) -> None:
        """Ended sessions, each with an edit pending on a path of its own."""
        top = self.root / ".git/ralph-sessions"
        record = json.loads((top / "bench.json").read_text())
        journal = next((top / "edits").iterdir()).read_text()
        for number in range(count):
            name = f"dead-{number}"
            path = f"old/{number}.txt"
            told = {**record, "session": name, "ended": "2026-01-01T00:00:00Z", "process": None}
            (top / f"{name}.json").write_text(json.dumps(told, indent=1) + "\n")
            (top / f"{name}.files").write_text(path + "\n")
            (top / f"edits/{path_key(path.encode())}.jsonl").write_text(
                journal.replace('"bench"', f'"{name}"')
            )

    def add_finished_sessions(self, count: int) -> None:
        """Sessions of two days ago that ended with everything committed, each a path of its own."""
        top = self.root / ".git/ralph-sessions"
        record = json.loads((top / "bench.json").read_text())
        head = self.git("rev-parse", "HEAD").decode().strip()
        then = time.time() - 2 * 24 * 3600
        for number in range(count):
            name, path = f"finished-{number}", f"old/{number}.txt"
            told = {**record, "session": name, "name": name, "ended": "2026-01-01T00:00:00Z", "process": None}
            made = {"v": 1, "session": name, "worktree": "main", "commit": head, "paths": {path: 1 << 20}}
            (top / f"{name}.json").write_text(json.dumps(told, indent=1) + "\n")
            (top / f"{name}.files").write_text(path + "\n")
            (top / f"{name}.commits").write_text(json.dumps(made) + "\n")
            for suffix in ("json", "files", "commits"):
                os.utime(top / f"{name}.{suffix}", (then, then))


def _environment(home: Path) -> dict[str, str]:
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[user]\n name = A U Thor\n email = a@example.com\n[init]\n defaultBranch = main\n[gc]\n auto = 0\n"
    )
    bin_folder = os.path.dirname(os.path.abspath(sys.executable))
    return {
        "PATH": f"{bin_folder}:{os.environ['PATH']}",
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "LC_ALL": "C.UTF-8",
    }


def _paths(count: int) -> Iterator[str]:
    for number in range(count):
        yield f"d{number // 1000:04}/e{number // 50 % 20:02}/f{number:07}.txt"


@contextmanager
def repository(files: int) -> Iterator[Repository]:
    """A repository with so many files, all committed, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="git-ralph-bench-") as name:
        folder = Path(name)
        repo = Repository(folder / "repository", _environment(folder / "home"))
        repo.root.mkdir()
        repo.git("init", "-q")
        oid = repo.git("hash-object", "-w", "--stdin", stdin=b"x\n").decode().strip()
        made = set()
        for path in _paths(files):
            file = repo.root / path
            if file.parent not in made:
                file.parent.mkdir(parents=True, exist_ok=True)
                made.add(file.parent)
            file.write_text("x\n")
        listing = "".join(f"100644 {oid}\t{path}\n" for path in _paths(files))
        repo.git("update-index", "--index-info", stdin=listing.encode())
        repo.git("commit", "-q", "--allow-empty", "-m", "Start")
        repo.git("update-index", "-q", "--refresh")
        yield repo


def all_paths(files: int) -> list[str]:
    """Every path of a repository of so many files, in the order of its index."""
    return list(_paths(files))


def ten_paths(files: int) -> list[str]:
    """Ten paths spread over a repository of so many files."""
    every = all_paths(files)
    return every[:: max(1, len(every) // 10)][:10]
