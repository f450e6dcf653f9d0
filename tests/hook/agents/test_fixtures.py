"""Every payload sample of every agent concludes what it must: kind, session, agent, edits, texts."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gitralph.hook import agents
from gitralph.hook.event import Event, session_of
from tests.hook.agents import fixtures
from tests.hook.agents.fixtures import Sample, Stage
from tests.support.repo import Repo

SAMPLES = fixtures.samples()
EDITS = [sample for sample in SAMPLES if sample.expected["kind"] == "edit"]
QUIET = [s for s in SAMPLES if s.expected["kind"] in ("failed", "outside", "pre", "other", "batch")]
KINDS = {
    "pre": {"pre", "shell-pre", "other"},  # other: a subagent is about to start
    "worktree": {"worktree-create"},
    "failed": {"failed", "pre", "other"},  # some agents send no event for a failure
    "outside": {"edit", "pre"},
    "batch": {"other"},
}
# a plugin that is unloaded names no session: there is nothing to note
NO_SESSION = {("opencode", "29-dispose")}


def _name(sample: Sample) -> str:
    return f"{sample.agent}/{sample.name}"


def _parse(sample: Sample) -> Event:
    found: Event = agents.load(sample.agent)(sample.payload)
    return found


@pytest.fixture
def stage(empty_repo: Repo, tmp_path: Path) -> Stage:
    return Stage.build(empty_repo, tmp_path / "u")


def _send(stage: Stage, agent: str, payload: dict[str, Any], **how: Any) -> None:
    stage.repo.hook(agent, fixtures.moved(payload, str(stage.repo.root), str(stage.home)), **how)


def test_there_are_samples_of_every_agent_known() -> None:
    assert {sample.agent for sample in SAMPLES} | {"generic"} == set(agents.ADAPTERS)
    assert len(SAMPLES) > 200


@pytest.mark.parametrize("sample", SAMPLES, ids=_name)
def test_kind_session_and_agent(sample: Sample) -> None:
    event, kind = _parse(sample), sample.expected["kind"]
    if (sample.agent, sample.name) in NO_SESSION:
        assert event.kind == "other"
        return
    assert event.kind in KINDS.get(kind, {kind})
    # pi knows no background: there it is a `&` in the command
    in_background = sample.name.endswith(("background", "async")) and sample.agent != "pi"
    assert event.goes_on == (kind == "shell" and in_background)
    if sample.expected["session"] is not None:
        assert session_of(event, {}) == sample.expected["session"]
    if kind in ("edit", "shell"):
        agent_id = event.agent_id or (event.session if event.parent else None)
        assert agent_id == sample.expected["agent_id"]


def _check_steps(sample: Sample, repo: Repo, path: str, *texts: str | None) -> None:
    """One record from each text to the next."""
    known = fixtures.steps(repo, path)
    assert len(known) == len(texts) - 1, f"{path}: {len(known)} records"
    for (row, before, after), told in zip(known, pairwise(texts), strict=True):
        assert row["session"] == sample.expected["session"]
        assert row["agent_id"] == sample.expected["agent_id"]
        if sample.expected["source"] == "disk":
            assert row["exact"] in ("none", "window")
        else:
            assert row["exact"] == "payload"
            assert (before, after) == tuple(None if text is None else text.encode() for text in told)


@pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])
@pytest.mark.parametrize("sample", EDITS, ids=_name)
def test_edits_replayed(stage: Stage, sample: Sample, twice: bool) -> None:
    """In a real tree, with the pre event where the texts need it; also with every hook installed twice."""
    times = 2 if twice else 1
    stage.before(sample.edits)
    if sample.expected["source"] == "pre+payload":
        for _ in range(times):
            _send(stage, sample.agent, fixtures.pre_of(sample.agent, sample.payload))
    stage.after(sample.edits)
    for _ in range(times):
        _send(stage, sample.agent, sample.payload)
    for edit in sample.edits:
        repo = stage.root_of(edit)
        if edit["op"] == "move":
            _check_steps(sample, repo, edit["path"], edit["before"], None)
            # a move, and then the edit where the call made one, too
            edited = [edit["before"]] if edit["before"] != edit["after"] else []
            _check_steps(sample, repo, edit["to"], None, *edited, edit["after"])
        else:
            _check_steps(sample, repo, edit["path"], edit["before"], edit["after"])
    ends = sum(2 if edit["op"] == "move" else 1 for edit in sample.edits)
    assert len(fixtures.journals(stage.repo)) == ends
    assert not list(stage.repo.state.glob("calls/*/*")), "what the pre event kept is still there"


@pytest.mark.parametrize("sample", EDITS, ids=_name)
def test_without_a_pre_event_nothing_is_made_up(stage: Stage, sample: Sample) -> None:
    """Every path is still known, and texts only where the payload holds them."""
    stage.before(sample.edits)
    stage.after(sample.edits)
    _send(stage, sample.agent, sample.payload)
    for edit in sample.edits:
        path = edit.get("to", edit["path"])
        row, before, after = fixtures.steps(stage.root_of(edit), path)[0]
        if row["exact"] == "payload":
            wanted = None if edit["op"] == "move" else edit["before"]
            assert before == (None if wanted is None else wanted.encode())
        if after is not None:
            assert after == edit["after"].encode()


@pytest.mark.parametrize("sample", QUIET, ids=_name)
def test_nothing_is_recorded(stage: Stage, sample: Sample) -> None:
    for edit in sample.edits:
        stage.before([edit])
    _send(stage, sample.agent, sample.payload)
    assert fixtures.journals(stage.repo) == []
    assert list(stage.repo.state.glob("*.files")) == []


@pytest.mark.parametrize("agent", fixtures.AGENTS)
def test_a_payload_without_an_id_is_logged(stage: Stage, agent: str) -> None:
    sample = next(sample for sample in EDITS if sample.agent == agent)
    stage.repo.start("S1")
    stage.after(sample.edits)
    _send(stage, agent, _without_ids(sample.payload))
    assert fixtures.journals(stage.repo) == []
    assert f"{agent}: no session id" in (stage.repo.state / "hooks.log").read_text()


def _without_ids(value: Any) -> Any:
    if isinstance(value, dict):
        ids = ("session_id", "sessionId", "sessionID", "conversation_id", "parentAgentId")
        return {key: _without_ids(item) for key, item in value.items() if key not in ids}
    return value
