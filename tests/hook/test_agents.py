"""Every recorded payload of Claude Code and pi leads to what its ``expect.json`` says."""

import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gitralph.base import layout
from gitralph.base.gitdir import discover
from gitralph.hook import agents, journal
from gitralph.hook.event import Event
from tests.support.repo import Repo

FIXTURES = Path(__file__).parents[3] / "shared" / "fixtures" / "hooks"
AGENTS = ("claude-code", "pi")
pytestmark = pytest.mark.skipif(
    not FIXTURES.is_dir(), reason="the recorded payloads (shared/fixtures) are missing"
)

# kinds of expect.json in our words; what records nothing need not be told apart
KINDS = {
    "worktree": {"worktree-create", "other"},
    "batch": {"other"},
    "outside": {"edit"},
    "cwd": {"cwd", "other"},
    "failed": {"failed", "other"},
    "pre": {"pre", "other"},
}


@dataclass(frozen=True)
class Case:
    """One payload with what must be concluded from it."""

    agent: str
    name: str
    kind: str
    session: str
    agent_id: str | None
    edits: tuple[dict[str, Any], ...]
    source: str | None

    @property
    def text(self) -> str:
        return (FIXTURES / self.agent / self.name).read_text()


@cache
def cases() -> tuple[Case, ...]:
    """All cases of the agents we know, none when the folder is missing."""
    out = []
    for agent in AGENTS:
        file = FIXTURES / agent / "expect.json"
        for row in json.loads(file.read_text()) if file.exists() else []:
            fixed = (row["fixture"], row["kind"], row["session"], row["agent_id"])
            out.append(Case(agent, *fixed, tuple(row["edits"]), row.get("source")))
    return tuple(out)


def _name(case: Case) -> str:
    return f"{case.agent}-{case.name.removesuffix('.json')}"


ALL = pytest.mark.parametrize("case", cases(), ids=_name)
EDITS = pytest.mark.parametrize("case", [c for c in cases() if c.kind == "edit"], ids=_name)
REST = pytest.mark.parametrize("case", [c for c in cases() if c.kind != "edit"], ids=_name)


def _parse(case: Case) -> Event:
    parse: Any = agents.load(case.agent)
    found = parse(json.loads(case.text))
    assert isinstance(found, Event)
    return found


@ALL
def test_kind_session_and_agent_id(case: Case) -> None:
    event = _parse(case)
    assert event.kind in KINDS.get(case.kind, {case.kind})
    assert event.session == case.session
    assert event.agent_id == case.agent_id


@pytest.mark.parametrize("agent", AGENTS)
def test_every_payload_has_an_expectation(agent: str) -> None:
    there = {path.name for path in (FIXTURES / agent).glob("[0-9]*.json")}
    assert there == {case.name for case in cases() if case.agent == agent}
    assert len(there) > 20


# --- through the hook, on a tree like the one the payload was recorded in ---


@dataclass
class Stage:
    """The recorded tree at other places: ``/repo`` and ``/home/u`` of the payloads."""

    repo: Repo
    home: Path

    def moved(self, text: str) -> Any:
        """A payload with its paths moved here."""
        text = text.replace("/home/u", str(self.home)).replace('"/repo', f'"{self.repo.root}')
        return json.loads(text)

    def at(self, edit: dict[str, Any]) -> Repo:
        """The worktree an edit belongs to, made when it is a linked one."""
        named = edit.get("worktree")
        if named is None:
            return self.repo
        root = Path(named.replace("/repo", str(self.repo.root)))
        if not root.exists():
            self.repo.git("worktree", "add", "-q", "--detach", str(root))
        return Repo(root, self.repo.env)


@pytest.fixture
def stage(tmp_path: Path, empty_repo: Repo) -> Stage:
    tree = json.loads((FIXTURES / "tree.json").read_text())
    for path, text in tree["files"].items():
        empty_repo.write(path, text)
    empty_repo.write(".gitignore", ".worktrees/\n")
    for path, target in tree["links"].items():
        os.symlink(target, empty_repo.file(path))
    empty_repo.commit_all("tree")
    home = tmp_path / "home-of-u"
    home.mkdir()
    os.symlink(empty_repo.root, home / "link")
    return Stage(empty_repo, home)


def _put(repo: Repo, path: str, text: str | None) -> None:
    if text is None:
        repo.file(path).unlink(missing_ok=True)
    else:
        repo.write(path, text)


def _pre(agent: str, payload: dict[str, Any]) -> dict[str, Any]:
    """The event that went before a call's result."""
    if agent == "claude-code":
        dropped = {"tool_response", "duration_ms"}
        return {**{k: v for k, v in payload.items() if k not in dropped}, "hook_event_name": "PreToolUse"}
    inner = {k: v for k, v in payload["event"].items() if k not in ("content", "details", "isError")}
    return {**payload, "hook_event_name": "tool_call", "event": {**inner, "type": "tool_call"}}


def _recorded(repo: Repo, path: str) -> list[tuple[journal.Record, bytes | None, bytes | None]]:
    place = discover(str(repo.root))
    assert place is not None
    lay = layout.for_place(place)
    name = lay.journal(os.fsencode(path))
    data = Path(name).read_bytes() if os.path.exists(name) else b""
    return journal.replay(journal.parse(data), lay)


def _play(stage: Stage, case: Case, with_pre: bool) -> None:
    payload = stage.moved(case.text)
    for edit in case.edits:
        _put(stage.at(edit), edit["path"], edit["before"])
    os.makedirs(payload["cwd"], exist_ok=True)
    if with_pre:
        stage.repo.hook(case.agent, _pre(case.agent, payload))
    for edit in case.edits:
        _put(stage.at(edit), edit["path"], edit["after"])
    stage.repo.hook(case.agent, payload, cwd=payload["cwd"])


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


@EDITS
@pytest.mark.parametrize("with_pre", [True, False], ids=["pre", "post-only"])
def test_edits_with_before_and_after(stage: Stage, case: Case, with_pre: bool) -> None:
    _play(stage, case, with_pre)
    for edit in case.edits:
        ((record, before, after),) = _recorded(stage.at(edit), edit["path"])
        assert (record.session, record.agent_id) == (case.session, case.agent_id)
        assert record.after == journal.text_id(edit["after"].encode())
        if with_pre or case.source == "payload":
            assert record.exact == journal.PAYLOAD
            assert (before, after) == (_bytes(edit["before"]), _bytes(edit["after"]))
            assert record.op == {"add": "create", "modify": "edit"}[edit["op"]]
        else:
            assert record.exact == journal.NONE
    assert not (stage.repo.state / "hooks.log").exists()
    assert not [name for _, _, names in os.walk(stage.repo.state / "calls") for name in names]


@EDITS
def test_two_hooks_that_see_one_call_record_it_once(stage: Stage, case: Case) -> None:
    _play(stage, case, True)
    payload = stage.moved(case.text)
    stage.repo.hook(case.agent, payload)
    for edit in case.edits:
        exact = [one for one, _, _ in _recorded(stage.at(edit), edit["path"]) if one.is_exact]
        if case.source == "payload":
            assert len(exact) == 1


@REST
def test_the_rest_records_no_edit(stage: Stage, case: Case) -> None:
    payload = stage.moved(case.text)
    os.makedirs(payload.get("cwd") or "/", exist_ok=True)
    if case.kind == "worktree":  # answered with a path: see the launch policies
        return
    stage.repo.hook(case.agent, payload)
    assert not list(stage.repo.state.glob("**/*.jsonl"))
    assert not list(stage.repo.state.glob("**/hooks.log"))
    if case.kind in ("start", "end"):
        kept = json.loads((stage.repo.state / f"{case.session}.json").read_text())
        assert (kept["session"], kept["agent"]) == (case.session, case.agent)
        assert (kept["ended"] is None) == (case.kind == "start")


def _said(value: object, key: str = "") -> set[str]:
    """Every prompt and command in a payload."""
    if isinstance(value, dict):
        return {text for name, inner in value.items() for text in _said(inner, name)}
    if isinstance(value, list):
        return {text for inner in value for text in _said(inner, key)}
    return (
        {value} if isinstance(value, str) and key in ("prompt", "command", "text", "description") else set()
    )


def test_nothing_said_or_run_is_kept(stage: Stage) -> None:
    """No prompt, command or answer of the recorded session reaches the state folder."""
    said: set[str] = set()
    for case in cases():
        payload = stage.moved(case.text)
        said |= {text for text in _said(payload) if len(text) > 3}
        os.makedirs(payload.get("cwd") or "/", exist_ok=True)
        if case.kind != "worktree":
            stage.repo.hook(case.agent, payload)
    files = [path for path in stage.repo.state.rglob("*") if path.is_file() and path.name != "README"]
    kept = b"".join(path.read_bytes() for path in files).decode("utf-8", "replace")
    assert len(said) > 5
    assert [text for text in said if text in kept] == []
