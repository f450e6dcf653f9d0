"""An event goes to one file, whether ``git ralph emit`` or a hook tells of it."""

import json
from pathlib import Path

import pytest

from tests.support.repo import Repo


def tell(repo: Repo, env: dict[str, str], emitted: int) -> str:
    """Emit a word and complete a bead; what the hook said on stderr."""
    event = {"session_id": "S1", "cwd": str(repo.root)}
    given = {"worktree_policy": "required", "bead_id": "bd-1", "prompt": "p"}
    launch = {**event, "hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": given}
    stop = {**event, "hook_event_name": "Stop", "last_assistant_message": "<promise>BEAD COMPLETE</promise>"}
    repo.ralph("hook", "claude-code", stdin=json.dumps(launch).encode())
    repo.ralph("emit", "word", env=env, code=emitted)
    return repo.ralph("hook", "claude-code", stdin=json.dumps(stop).encode(), env=env).said


def told(*folders: Path) -> dict[str, list[str]]:
    """Every file with events in it, with their topics."""
    found: dict[str, list[str]] = {}
    for path in (path for folder in folders for path in folder.glob("*") if path.is_file()):
        rows = [json.loads(line) for line in path.read_text().splitlines() if '"topic"' in line]
        if rows:
            found[path.name] = [row["topic"] for row in rows]
    return found


BOTH = ["word", "bead.completed"]
MARKERS = [
    ("events-20260101-090000.jsonl\n", "events-20260101-090000.jsonl"),
    ("events-20260101-090000.jsonl\r\n", "events-20260101-090000.jsonl"),
    ("{top}/events-20260101-090000.jsonl\n", "events-20260101-090000.jsonl"),
    ("run.jsonl\n", "run.jsonl"),
    ("events-x\n", "events.jsonl"),
    ("events\n", "events.jsonl"),
    ("../../../etc/events.jsonl\n", "events.jsonl"),
    ("", "events.jsonl"),
]


@pytest.mark.parametrize(("marker", "name"), MARKERS)
def test_both_believe_the_same_marker(repo: Repo, marker: str, name: str) -> None:
    """What ``current-events`` holds names one file or none, for both alike."""
    repo.start("S1")
    (repo.state / "current-events").write_text(marker.replace("{top}", str(repo.state)))
    tell(repo, {}, 0)
    assert told(repo.state) == {name: BOTH}


def test_both_follow_the_launcher_into_its_repository(repo: Repo, tmp_path: Path) -> None:
    """The run that started the agent gets the event, wherever the agent works."""
    other = Repo.init(tmp_path / "other", repo.env)
    other.start("S0")
    tell(repo, {"RALPH_EVENTS_FILE": str(other.state / "events-1.jsonl")}, 0)
    assert told(repo.state, other.state) == {"events-1.jsonl": BOTH}


@pytest.mark.parametrize("name", ["S1.files", "format", "../HEAD"])
def test_neither_writes_into_a_file_that_is_none_of_events(repo: Repo, name: str) -> None:
    """A variable that names a manifest: emit refuses, the hook warns and goes on."""
    repo.start("S1")
    file = repo.state / name
    if not file.exists():
        file.write_text("a\n")
    before = file.read_bytes()
    said = tell(repo, {"RALPH_EVENTS_FILE": str(file)}, 128)
    assert "no events file" in said
    assert file.read_bytes() == before
    assert told(repo.state) == {"events.jsonl": ["bead.completed"]}
