"""The model behind a session and a call is recorded where payload or transcript says it, and nowhere else."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from gitralph.hook import agents, model
from tests.hook.agents import fixtures
from tests.hook.agents.fixtures import Stage
from tests.support.repo import Repo

TRANSCRIPTS = Path(__file__).parent / "transcripts"
SAMPLES = fixtures.samples()
NAMED = {"codex": "gpt-5.5", "cursor": "model-1"}


def _record(repo: Repo, session: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((repo.state / f"{session}.json").read_text())
    return found


def _models(repo: Repo, path: str) -> list[str | None]:
    return [row.get("model") for row, _, _ in fixtures.steps(repo, path)]


def _line(call: str, name: str, **more: object) -> str:
    said = {"model": name, "content": [{"type": "tool_use", "id": call, "name": "Write", "input": {}}]}
    return json.dumps({"type": "assistant", "message": said, **more}) + "\n"


def _write(repo: Repo, transcript: Path, call: str, **more: object) -> None:
    repo.write("a.txt", f"{call}\n")
    repo.hook(
        "claude-code",
        {
            "session_id": "S1",
            "transcript_path": str(transcript),
            "cwd": str(repo.root),
            "hook_event_name": "PostToolUse",
            "tool_name": "Write",
            "tool_use_id": call,
            "tool_input": {"file_path": str(repo.file("a.txt"))},
            "tool_response": {"originalFile": None, "content": f"{call}\n"},
            **more,
        },
    )


@pytest.mark.parametrize("agent", NAMED)
def test_a_payload_that_names_the_model_is_believed_for_its_call(
    agent: str, empty_repo: Repo, tmp_path: Path
) -> None:
    stage = Stage.build(empty_repo, tmp_path / "u")
    sample = next(s for s in SAMPLES if s.agent == agent and s.expected["kind"] == "edit")
    payload = fixtures.moved(sample.payload, str(stage.repo.root), str(stage.home))
    stage.before(sample.edits)
    stage.repo.hook(agent, fixtures.pre_of(agent, payload))
    stage.after(sample.edits)
    stage.repo.hook(agent, payload)
    assert _models(stage.repo, sample.edits[0]["path"]) == [NAMED[agent]]


def test_every_sample_that_holds_a_model_at_its_top_says_it() -> None:
    told = [s for s in SAMPLES if isinstance(s.payload.get("model"), str)]
    assert {s.agent for s in told} == {"codex", "cursor", "qwen"}
    assert all(agents.read(s.agent, s.payload, {}).model == s.payload["model"] for s in told)


@pytest.mark.parametrize("agent", ["claude-code", "copilot", "gemini", "qwen", "pi"])
def test_a_real_transcript_names_the_model_of_a_session_that_stops(agent: str, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    shutil.copy(TRANSCRIPTS / f"{agent}.jsonl", path)
    stop = next(s for s in SAMPLES if s.agent == agent and s.expected["kind"] == "stop")
    event = agents.read(agent, stop.payload, {})
    event.transcript = str(path)
    assert model.of_session(event, {}) == ["stub/model-1" if agent == "pi" else "model-1"]


def test_claude_code_names_the_model_of_each_call_in_its_transcript(repo: Repo, tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(_line("toolu_1", "claude-opus-4-5"))
    _write(repo, transcript, "toolu_1")
    transcript.write_text(transcript.read_text() + _line("toolu_2", "claude-haiku-4-5"))
    _write(repo, transcript, "toolu_2")
    assert _models(repo, "a.txt") == ["claude-opus-4-5", "claude-haiku-4-5"]


def test_a_call_that_the_transcript_does_not_hold_yet_has_no_model(repo: Repo, tmp_path: Path) -> None:
    """The line before may be another model's: ``/model`` changes it between two turns."""
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(_line("toolu_1", "claude-opus-4-5"))
    _write(repo, transcript, "toolu_2")
    assert _models(repo, "a.txt") == [None]


def test_a_call_behind_a_huge_line_is_found(repo: Repo, tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(_line("toolu_1", "claude-opus-4-5", pad="x" * 300_000))
    _write(repo, transcript, "toolu_1")
    assert _models(repo, "a.txt") == ["claude-opus-4-5"]


def test_the_transcript_keeps_its_mode(repo: Repo, tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(_line("toolu_1", "claude-opus-4-5"))
    transcript.chmod(0o644)
    _write(repo, transcript, "toolu_1")
    assert transcript.stat().st_mode & 0o777 == 0o644


def test_a_subagents_model_is_read_from_its_own_transcript(repo: Repo, tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(_line("toolu_0", "claude-opus-4-5"))
    own = tmp_path / "t" / "subagents" / "agent-a1.jsonl"
    own.parent.mkdir(parents=True)
    own.write_text(_line("toolu_1", "claude-haiku-4-5", isSidechain=True))
    _write(repo, transcript, "toolu_1", agent_id="a1")
    assert _models(repo, "a.txt") == ["claude-haiku-4-5"]


def test_a_result_that_quotes_a_call_is_not_the_line_that_made_it(repo: Repo, tmp_path: Path) -> None:
    quoted = {"type": "user", "message": {"model": "liar", "content": [{"id": "toolu_1"}]}}
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(_line("toolu_1", "claude-opus-4-5") + json.dumps(quoted) + "\n")
    _write(repo, transcript, "toolu_1")
    assert _models(repo, "a.txt") == ["claude-opus-4-5"]


def test_a_later_turn_that_speaks_of_a_call_did_not_make_it(repo: Repo, tmp_path: Path) -> None:
    said = {"model": "claude-haiku-4-5", "content": [{"type": "text", "text": "toolu_1"}]}
    later = json.dumps({"type": "assistant", "message": said})
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(_line("toolu_1", "claude-opus-4-5") + later + "\n")
    _write(repo, transcript, "toolu_1")
    assert _models(repo, "a.txt") == ["claude-opus-4-5"]


def test_the_session_keeps_every_model_it_worked_with(repo: Repo, tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    stop = {
        "session_id": "S1",
        "transcript_path": str(transcript),
        "cwd": str(repo.root),
        "hook_event_name": "Stop",
    }
    transcript.write_text(_line("toolu_1", "claude-opus-4-5") + _line("toolu_2", "<synthetic>"))
    repo.hook("claude-code", stop)
    assert _record(repo, "S1")["models"] == ["claude-opus-4-5"]
    transcript.write_text(_line("toolu_3", "claude-haiku-4-5"))
    repo.hook("claude-code", stop)
    assert _record(repo, "S1")["models"] == ["claude-opus-4-5", "claude-haiku-4-5"]


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ("gpt-5.5", "gpt-5.5"),
        ({"provider": "anthropic", "id": "claude-opus-4-5"}, "anthropic/claude-opus-4-5"),
        ({"providerID": "openrouter", "modelID": "x/y"}, "x/y"),
        ({"id": "alone"}, "alone"),
        ("<synthetic>", None),
        ("-rf", None),
        ("a\nSigned-off-by: b", None),
        ("\x1b[31m", None),
        ("é", None),
        ("", None),
        (" a", None),
        ("x" * 201, None),
        (7, None),
        ([], None),
        ({}, None),
    ],
)
def test_a_model_is_a_short_printable_word_or_none(told: object, found: str | None) -> None:
    assert model.of_payload({"model": told}) == found


@pytest.mark.parametrize("kind", ["fifo", "folder", "link", "noise"])
def test_a_transcript_that_is_none_costs_the_model_only(kind: str, repo: Repo, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "link":
        (tmp_path / "other").write_text(_line("toolu_1", "m"))
        path.symlink_to(tmp_path / "other")
    else:
        path.write_bytes(
            b'"toolu_1"' * 9000 + b'\n{"type":"assistant","message":[["toolu_1"\n\xff"toolu_1"\n'
        )
    _write(repo, path, "toolu_1")
    assert _models(repo, "a.txt") == [None]
