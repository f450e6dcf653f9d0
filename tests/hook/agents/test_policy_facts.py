"""What the adapters tell the policies: whose an event is, what a stop says, what a call would write.

On the samples of every agent: recording and policies ask one event, so they cannot disagree about it.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from gitralph.base.ids import safe_form
from gitralph.hook import agents
from gitralph.hook.event import Event, owner_of, session_of
from tests.hook.agents import fixtures
from tests.hook.agents.fixtures import Sample, Stage
from tests.support.repo import Repo
from tests.support.runner import Done

SAMPLES = fixtures.samples()
# an edit that is told ahead, too, where the agent tells it
EDITS = [s for s in SAMPLES if s.expected["kind"] == "edit" and "afterFileEdit" not in s.name]
STOPS = [s for s in SAMPLES if s.expected["kind"] in ("stop", "subagent-stop")]
# pi says it once more; what runs in the background is not over; a subagent's own agentStop comes before the
# one with its answer; nothing in Droid's payload tells which subagent stopped
SILENT = {
    ("pi", "21-agent_settled"),
    ("claude-code", "41-Stop-background-running"),
    ("copilot", "19-agentStop-of-subagent"),
    ("droid", "14-SubagentStop"),
}


@pytest.fixture
def stage(empty_repo: Repo, tmp_path: Path) -> Stage:
    return Stage.build(empty_repo, tmp_path / "u")


def name_of(sample: Sample) -> str:
    return f"{sample.agent}/{sample.name}"


def send(stage: Stage, agent: str, payload: dict[str, Any], code: int = 0, **env: str) -> Done:
    moved = fixtures.moved(payload, str(stage.repo.root), str(stage.home))
    done = stage.repo.run("hook", agent, stdin=json.dumps(moved).encode(), env=env)
    assert done.code == code, done.said
    return done


def bead(stage: Stage, session: str, **fields: object) -> None:
    """A bead in the loop, owned by a session."""
    given = {"worktree_policy": "required", "bead_id": "bd-1", "prompt": "p", "subagent_type": "w"}
    launch = {"session_id": session, "cwd": "/repo", "hook_event_name": "PreToolUse", "tool_name": "Agent"}
    send(stage, "claude-code", {**launch, "tool_input": given})
    file = stage.repo.state / "beads/bd-1.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **fields}))


def iteration(stage: Stage) -> int:
    return int(json.loads((stage.repo.state / "beads/bd-1.json").read_text())["iteration"])


@pytest.mark.parametrize("sample", STOPS, ids=name_of)
def test_the_owner_of_a_bead_is_sent_on_by_every_agents_own_stop(stage: Stage, sample: Sample) -> None:
    """The loop finds the bead by the session that the recording hook would use, and counts once."""
    event = agents.read(sample.agent, sample.payload, {})
    kind = event.agent_type if not sample.expected["agent_id"] and event.kind == "subagent-stop" else None
    bead(stage, sample.expected["session"], agent_id=sample.expected["agent_id"], agent_type=kind)
    done = send(stage, sample.agent, sample.payload)
    silent = (sample.agent, sample.name) in SILENT
    assert (done.out == b"") is silent
    assert iteration(stage) == (0 if silent else 1)


@pytest.mark.parametrize("sample", [s for s in STOPS if name_of(s) != "pi/21-agent_settled"], ids=name_of)
def test_a_stop_of_another_session_passes(stage: Stage, sample: Sample) -> None:
    """An id that is not the owner's changes nothing."""
    bead(stage, "another")
    assert send(stage, sample.agent, sample.payload).out == b""
    assert iteration(stage) == 0


@pytest.mark.parametrize("sample", EDITS, ids=name_of)
def test_every_agents_write_is_judged_by_where_it_writes(stage: Stage, sample: Sample) -> None:
    """For documentation only: asked ahead of the call, every writing tool of every agent is known."""
    ahead = fixtures.pre_of(sample.agent, sample.payload)
    paths = [path for edit in sample.edits for path in (edit["path"], edit.get("to")) if path]
    allowed = all(path.endswith(".md") for path in paths)
    stage.before(sample.edits)
    done = send(stage, sample.agent, ahead, 0 if allowed else 2, RALPH_DOC_ONLY="1")
    assert done.out == b""
    assert ("only documentation" in done.said) is not allowed


WRITES: list[tuple[str, dict[str, Any]]] = [
    (
        "cursor",
        {
            "hook_event_name": "preToolUse",
            "conversation_id": "S1",
            "tool_name": "Delete",
            "tool_input": {"file_path": "/repo/src/main.py"},
        },
    ),
    (
        "opencode",
        {
            "hook_event_name": "tool.execute.before",
            "session_id": "S1",
            "event": {
                "input": {"tool": "patch", "callID": "c"},
                "output": {
                    "args": {"patchText": "*** Begin Patch\n*** Delete File: src/main.py\n*** End Patch"}
                },
            },
        },
    ),
    ("copilot", {"sessionId": "S1", "toolName": "str_replace", "toolArgs": {"path": "/repo/src/main.py"}}),
    (
        "copilot",
        {
            "sessionId": "S1",
            "toolName": "apply_patch",
            "toolArgs": "*** Begin Patch\n*** Delete File: src/main.py\n*** End Patch",
        },
    ),
    ("generic", {"session": "S1", "event": "pre", "path": "src/main.py"}),
]


@pytest.mark.parametrize(("agent", "payload"), WRITES, ids=[agent for agent, _ in WRITES])
def test_a_writing_tool_that_only_its_adapter_knew_is_denied(
    stage: Stage, agent: str, payload: dict[str, Any]
) -> None:
    """A tool that records an edit is one that a writer of documentation may not use on code."""
    said = send(stage, agent, {"cwd": "/repo", **payload}, 2, RALPH_DOC_ONLY="1").said
    assert "src/main.py" in said


LAUNCHES: list[tuple[str, dict[str, Any], str]] = [
    (
        "claude-code",
        {
            "session_id": "S1",
            "hook_event_name": "PreToolUse",
            "tool_name": "Agent",
            "tool_input": {"prompt": "$"},
        },
        "updatedInput",
    ),
    (
        "codex",
        {
            "session_id": "S1",
            "hook_event_name": "PreToolUse",
            "tool_name": "spawn_agent",
            "tool_input": {"message": "$", "agent_type": "worker"},
        },
        "updatedInput",
    ),
    (
        "gemini",
        {
            "session_id": "S1",
            "hook_event_name": "BeforeTool",
            "tool_name": "invoke_agent",
            "tool_input": {"agent_name": "generalist", "prompt": "$"},
        },
        "tool_input",
    ),
    (
        "copilot",
        {"sessionId": "S1", "toolName": "task", "toolArgs": {"agent_type": "w", "prompt": "$"}},
        "modifiedArgs",
    ),
    (
        "copilot",
        {"sessionId": "S1", "toolName": "task", "toolArgs": '{"agent_type": "w", "prompt": "$"}'},
        "modifiedArgs",
    ),
    (
        "opencode",
        {
            "session_id": "S1",
            "hook_event_name": "tool.execute.before",
            "event": {
                "input": {"tool": "task"},
                "output": {"args": {"subagent_type": "general", "prompt": "$"}},
            },
        },
        "args",
    ),
    (
        "cursor",
        {
            "conversation_id": "S1",
            "hook_event_name": "preToolUse",
            "tool_name": "Task",
            "tool_input": {"prompt": "$"},
        },
        "updated_input",
    ),
]


@pytest.mark.parametrize(("agent", "payload", "key"), LAUNCHES, ids=[row[0] for row in LAUNCHES])
def test_every_agents_launch_gets_its_worktree(
    stage: Stage, agent: str, payload: dict[str, Any], key: str
) -> None:
    """The header of the prompt is found in each agent's own form, and the session is the recording's."""
    text = json.dumps(payload).replace("$", json.dumps("worktree_policy: required\nbead_id: bd-1\n\nx")[1:-1])
    if agent == "copilot" and isinstance(payload["toolArgs"], str):
        header = json.dumps({"agent_type": "w", "prompt": "worktree_policy: required\nbead_id: bd-1\n\nx"})
        text = json.dumps({**payload, "toolArgs": header})
    done = send(stage, agent, {"cwd": "/repo", **json.loads(text)})
    assert f'"{key}"' in done.text
    assert json.loads((stage.repo.state / "beads/bd-1.json").read_text())["owner"] == "S1"


SESSIONS: list[tuple[str, dict[str, Any], dict[str, str], str | None]] = [
    ("generic", {"event": "stop", "session": "S1"}, {}, "S1"),
    ("generic", {"event": "stop", "session": "S1", "parent": "P"}, {}, "P"),
    ("generic", {"event": "stop", "session": "S1"}, {"RALPH_SESSION": "L"}, "L"),
    ("generic", {"event": "stop", "session": "S1"}, {"RALPH_SESSION": "L", "RALPH_TRACKING": "0"}, "S1"),
    ("generic", {"event": "stop", "session": "S1"}, {"RALPH_SESSION": ""}, "S1"),
    ("generic", {"event": "stop", "session": ""}, {}, "x-da39a3ee5e6b4b0d"),
    ("generic", {"event": "stop"}, {}, None),
    ("cursor", {"hook_event_name": "stop", "conversation_id": "S1", "session_id": "other"}, {}, "S1"),
    ("copilot", {"sessionId": "S1", "stopReason": "end_turn", "parentAgentId": "P"}, {}, "P"),
]


@pytest.mark.parametrize(("agent", "payload", "environ", "session"), SESSIONS)
def test_one_rule_decides_the_session_of_an_event(
    agent: str, payload: dict[str, Any], environ: dict[str, str], session: str | None
) -> None:
    """The launcher's unless tracking is off, else the parent's, else the agent's own; an empty is none."""
    event: Event = agents.read(agent, payload, environ)
    assert session_of(event, environ) == session


def test_an_empty_id_is_recorded_and_owns_nothing(stage: Stage) -> None:
    """Any number of sessions may send it: none of them is sent on for another's bead."""
    payload: dict[str, Any] = {"event": "stop", "session": "", "cwd": "/repo"}
    event: Event = agents.read("generic", payload, {})
    assert (session_of(event, {}), owner_of(event, {})) == (safe_form(""), None)
    bead(stage, "")
    assert send(stage, "generic", payload).out == b""
    assert iteration(stage) == 0


def test_nobody_but_the_adapters_spells_a_payloads_keys() -> None:
    """A second reader of the same input would disagree sooner or later."""
    from tests.support import source

    keys = {
        "session_id",
        "sessionId",
        "conversation_id",
        "tool_input",
        "toolArgs",
        "tool_name",
        "toolName",
        "hook_event_name",
        "hookEventName",
        "stop_hook_active",
        "last_assistant_message",
        "background_tasks",
    }
    # the doctor and the demo send payloads; an answer to an agent names fields as well, and what an agent
    # prints at its end is no payload
    senders = {
        "gitralph.setup.doctor.samples",
        "gitralph.setup.demo.scripted_agent",
        "gitralph.guard.reply",
        "gitralph.tasks.promise",
    }
    found = {
        module.name
        for module in source.modules()
        for text in source.texts(module.tree)
        if text in keys and module.room != "cli" and not module.name.startswith("gitralph.hook.agents")
    }
    assert found - senders == set()
