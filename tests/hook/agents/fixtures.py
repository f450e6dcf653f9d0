"""The payload samples with what a tracker must conclude, put to work in a real file tree.

The samples lie in ``tests/hook/agents/payloads/<agent>/``; paths in them start with ``/repo`` or ``/home/u``.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.repo import Repo

FOLDER = Path(__file__).parent / "payloads"
AGENTS = ("claude-code", "codex", "gemini", "qwen", "copilot", "pi", "opencode", "cursor", "droid")
RESULTS = (
    "tool_response",
    "tool_result",
    "toolResult",
    "error",
    "is_interrupt",
    "duration_ms",
    "tool_output",
    "error_message",
    "failure_type",
    "duration",
)
_PRE = {
    "PostToolUse": "PreToolUse",
    "PostToolUseFailure": "PreToolUse",
    "AfterTool": "BeforeTool",
    "postToolUse": "preToolUse",
    "postToolUseFailure": "preToolUse",
}


@dataclass(frozen=True)
class Sample:
    """One hook call and what to conclude from it."""

    agent: str
    name: str
    payload: dict[str, Any]
    expected: dict[str, Any]

    @property
    def edits(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.expected["edits"]
        return found


def samples() -> list[Sample]:
    """Every sample of every agent, in order."""
    out = []
    for agent in AGENTS:
        for row in json.loads((FOLDER / agent / "expect.json").read_text()):
            payload = json.loads((FOLDER / agent / row["fixture"]).read_text())
            out.append(Sample(agent, row["fixture"].removesuffix(".json"), payload, row))
    return out


def moved(value: Any, root: str, home: str) -> Any:
    """A payload with its paths below ``root`` and ``home``; patches hold paths inside texts."""
    if isinstance(value, str):
        value = value.replace("/home/u/", f"{home}/").replace(" /repo/", f" {root}/")
        return root + value[5:] if value == "/repo" or value.startswith("/repo/") else value
    if isinstance(value, list):
        return [moved(item, root, home) for item in value]
    if isinstance(value, dict):
        return {key: moved(item, root, home) for key, item in value.items()}
    return value


def pre_of(agent: str, payload: dict[str, Any]) -> dict[str, Any]:
    """The pre event of a post event: the same call without its result."""
    out = {key: value for key, value in payload.items() if key not in RESULTS}
    for key in ("hook_event_name", "hookEventName"):
        if key in out:
            out[key] = _PRE.get(out[key], out[key])
    if agent == "pi":
        event = {k: v for k, v in out["event"].items() if k not in ("content", "details", "isError")}
        return {**out, "hook_event_name": "tool_call", "event": {**event, "type": "tool_call"}}
    if agent == "opencode":
        call = dict(out["event"]["input"])
        args = call.pop("args")
        event = {"input": call, "output": {"args": args}}
        return {**out, "hook_event_name": "tool.execute.before", "event": event}
    return out


@dataclass
class Stage:
    """The tree of a sample: ``root`` is its ``/repo``, ``home`` its ``/home/u``."""

    repo: Repo
    home: Path

    @classmethod
    def build(cls, repo: Repo, home: Path) -> "Stage":
        tree = json.loads((FOLDER / "tree.json").read_text())
        for path, text in tree["files"].items():
            repo.write(path, text)
        for path, target in tree["links"].items():
            os.symlink(target, repo.file(path))
        home.mkdir()
        os.symlink(repo.root, home / "link")
        repo.commit_all("base")
        return cls(repo, home)

    def root_of(self, edit: dict[str, Any]) -> Repo:
        """The worktree an edit lands in."""
        where = edit.get("worktree")
        if not where:
            return self.repo
        root = Path(moved(where, str(self.repo.root), str(self.home)))
        if not root.exists():
            self.repo.git("worktree", "add", "-q", "-b", root.name, str(root))
        return Repo(root, dict(self.repo.env))

    def before(self, edits: list[dict[str, Any]]) -> None:
        """Put every file of a call into its state before the call."""
        for edit in edits:
            repo = self.root_of(edit)
            _put(repo, edit["path"], edit["before"])
            if edit["op"] == "move":
                _put(repo, edit["to"], None)

    def after(self, edits: list[dict[str, Any]]) -> None:
        """What the call did."""
        for edit in edits:
            repo = self.root_of(edit)
            if edit["op"] == "move":
                _put(repo, edit["path"], None)
                _put(repo, edit["to"], edit["after"])
            else:
                _put(repo, edit["path"], edit["after"])


def _put(repo: Repo, path: str, text: str | None) -> None:
    if text is not None:
        repo.write(path, text)
    elif os.path.lexists(repo.file(path)):
        repo.remove(path)


def steps(repo: Repo, path: str) -> list[tuple[dict[str, Any], bytes | None, bytes | None]]:
    """The journal of a path: each record with its texts before and after."""
    from gitralph.base import gitdir, layout
    from gitralph.hook import journal

    place = gitdir.discover(os.path.realpath(repo.root))
    assert place is not None
    lay = layout.for_place(place)
    try:
        data = Path(lay.journal(path.encode())).read_bytes()
    except FileNotFoundError:
        return []
    read = journal.parse(data)
    assert not read.damaged
    rows = [json.loads(line) for line in data.splitlines()]
    texts = journal.replay(read, lay)
    return [(row, old, new) for row, (_, old, new) in zip(rows, texts, strict=True)]


def journals(repo: Repo) -> list[str]:
    """The journals there are, in any worktree."""
    return [str(path) for path in repo.state.rglob("*.jsonl") if path.parent.name == "edits"]
