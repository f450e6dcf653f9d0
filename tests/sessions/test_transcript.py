"""The transcript fallback: offered where hooks recorded nothing, never taken unasked, never raising."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitralph.base import jsonline
from gitralph.sessions import transcript
from tests.support import payloads
from tests.support.repo import Repo
from tests.support.texts import changed

S = "00000001-0000-4000-8000-000000000001"


def _claude(path: str, failed: bool = False, call: str = "t1", name: str = "Write") -> list[dict[str, Any]]:
    use = {"type": "tool_use", "id": call, "name": name, "input": {"file_path": path}}
    done = {"type": "tool_result", "tool_use_id": call, **({"is_error": True} if failed else {})}
    return [
        {"type": "assistant", "cwd": "/r", "message": {"role": "assistant", "content": [use]}},
        {"type": "user", "message": {"role": "user", "content": [done]}},
    ]


def _codex(changes: dict[str, Any], status: str = "completed") -> dict[str, Any]:
    item = {"type": "FileChange", "status": status, "changes": changes}
    return {"type": "event_msg", "payload": {"type": "item_completed", "item": item}}


def _gemini(path: str, status: str = "success", call: str = "c1") -> dict[str, Any]:
    done = {
        "id": call,
        "name": "write_file",
        "args": {},
        "status": status,
        "resultDisplay": {"filePath": path},
    }
    return {"type": "gemini", "id": "m1", "toolCalls": [done]}


def _qwen(path: str, status: str = "success") -> dict[str, Any]:
    return {
        "type": "tool_result",
        "toolCallResult": {"callId": "c", "status": status, "resultDisplay": {"filePath": path}},
    }


def _copilot(*paths: str) -> dict[str, Any]:
    edits = [{"path": path, "kind": "update"} for path in paths]
    return {"type": "tool.execution_complete", "data": {"fileEdits": edits}}


CASES: list[tuple[str, list[dict[str, Any]], list[str]]] = [
    ("claude-code", _claude("/r/a"), ["/r/a"]),
    ("claude-code", _claude("a"), ["/r/a"]),
    ("claude-code", _claude("/r/a", failed=True), []),
    ("claude-code", _claude("/r/a", name="Read"), []),
    (
        "claude-code",
        [*_claude("/r/a"), *_claude("/r/b", call="t2"), *_claude("/r/a", call="t3")],
        ["/r/a", "/r/b"],
    ),
    (
        "codex",
        [_codex({"/r/a": {"type": "update", "move_path": "/r/b"}, "/r/c": {"type": "add"}})],
        ["/r/a", "/r/b", "/r/c"],
    ),
    ("codex", [_codex({"/r/a": {"type": "update"}}, "failed")], []),
    ("gemini", [_gemini("/r/a", "executing"), _gemini("/r/a")], ["/r/a"]),
    ("gemini", [_gemini("/r/a"), _gemini("/r/a", "error")], []),
    ("qwen", [_qwen("/r/a"), _qwen("/r/b", "error")], ["/r/a"]),
    ("copilot", [_copilot("/r/a", "/r/b"), {"type": "tool.execution_start", "data": {}}], ["/r/a", "/r/b"]),
    ("unknown", [_copilot("/r/a")], []),
]


def _bytes(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


@pytest.mark.parametrize(("agent", "rows", "expected"), CASES)
def test_formats(agent: str, rows: list[dict[str, Any]], expected: list[str]) -> None:
    assert transcript.paths(agent, jsonline.objects(_bytes(rows))) == expected


KEYS = [
    "type",
    "message",
    "content",
    "toolCalls",
    "data",
    "fileEdits",
    "path",
    "changes",
    "id",
    "toolCallResult",
    "status",
    "resultDisplay",
    "name",
    "input",
    "payload",
    "item",
    "cwd",
]
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(row=ODD, agent=st.sampled_from(transcript.AGENTS), spoil=st.binary(max_size=30))
def test_hostile_transcripts(row: object, agent: str, spoil: bytes) -> None:
    known = next(rows for name, rows, _ in CASES if name == agent)
    data = json.dumps(row).encode() + b"\n" + spoil + b"\n" + _bytes(known) + b"{" * 9000
    for path in transcript.paths(agent, jsonline.objects(data)):
        assert isinstance(path, str)


def _write(repo: Repo, rows: list[dict[str, Any]], place: str) -> Path:
    path = Path(repo.env["HOME"]) / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_bytes(rows))
    return path


def _start(repo: Repo, path: Path) -> None:
    event = payloads.claude_life("SessionStart", S, str(repo.root))
    repo.hook("claude-code", {**event, "transcript_path": str(path)})


@pytest.mark.parametrize("known", [True, False])
def test_offered_and_claimed(repo: Repo, known: bool) -> None:
    """From the record of a session whose edit hooks never ran, or from where the agent keeps it."""
    rows = (
        _claude(str(repo.file("a"))) + _claude(str(repo.file("b")), call="t2") + _claude("/etc/x", call="t3")
    )
    path = _write(repo, rows, f".claude/projects/-r/{S}.jsonl")
    if known:
        _start(repo, path)
    repo.write("a", changed())
    repo.write("u", changed())
    if known:
        answer = repo.commit(S)
        assert answer.status == "nothing"
        assert "transcript names 'a';" in answer.notes  # b is as in HEAD, u is not named
        assert "git ralph track --from-transcript" in answer.said
        assert repo.pending(S) == []
    else:
        said = repo.ralph("commit", "--session", S, "-m", "x", code=128).said
        assert f"hint: git ralph track --from-transcript --session {S}\n" in said
        said = repo.ralph("commit", "-m", "x", code=4, env={"CLAUDE_CODE_SESSION_ID": S}).said
        assert f"hint: git ralph track --from-transcript --session {S}\n" in said
    said = repo.ralph("track", "--session", S, "--from-transcript").said
    assert "'a' is named by the transcript" in said
    answer = repo.commit(S)
    assert answer.how == {"a": "whole-file"}
    assert "its lines were not" in answer.notes


def test_not_where_hooks_recorded_something(repo: Repo) -> None:
    path = _write(repo, _claude(str(repo.file("a"))), f".claude/projects/-r/{S}.jsonl")
    _start(repo, path)
    repo.edit(S, "b", changed())
    repo.write("a", changed())
    assert "transcript" not in repo.commit(S).notes
    assert "transcript" not in repo.commit(S).notes
    repo.ralph("track", "--session", S, "--from-transcript", code=4)


def test_not_what_another_session_has_pending(repo: Repo) -> None:
    _start(repo, _write(repo, _claude(str(repo.file("a"))), f".claude/projects/-r/{S}.jsonl"))
    repo.edit("S2", "a", changed())
    assert "transcript" not in repo.commit(S).notes


@pytest.mark.parametrize("what", ["folder", "link", "gone", "binary"])
def test_odd_files(repo: Repo, tmp_path: Path, what: str) -> None:
    path = tmp_path / "t.jsonl"
    if what == "folder":
        path.mkdir()
    elif what == "link":
        real = _write(repo, _claude(str(repo.file("a"))), "x.jsonl")
        path.symlink_to(real)
    elif what == "binary":
        path.write_bytes(b"\0\xff{\n" * 1000)
    _start(repo, path)
    repo.write("a", changed())
    answer = repo.commit(S)
    assert (answer.status, "transcript" in answer.notes) == ("nothing", False)


def test_a_copilot_session_by_its_id(repo: Repo) -> None:
    _write(repo, [_copilot(str(repo.file("new")))], f".copilot/session-state/{S}/events.jsonl")
    repo.write("new", "x\n")
    said = repo.ralph("commit", "--session", S, "-m", "x", code=128).said
    assert f"hint: git ralph track --from-transcript --session {S}\n" in said
    repo.start(S)
    assert "copilot transcript names 'new'" in repo.commit(S).notes
