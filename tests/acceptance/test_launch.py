"""The policy on launching a subagent, and the bridge to the bead tracker."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support import source
from tests.support.repo import Repo
from tests.support.runner import Done

SCRIPT = source.ROOT / "contrib/hooks/ensure-worktree.sh"


def event(repo: Repo, tool: str = "Agent", session: str = "S1", **fields: object) -> dict[str, Any]:
    """A full PreToolUse event of Claude Code."""
    return {
        "session_id": session,
        "transcript_path": "/nowhere",
        "cwd": str(repo.root),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_use_id": "toolu_1",
        "tool_input": {"description": "sub", "prompt": "do it", "subagent_type": "ralph-worker", **fields},
    }


def send(repo: Repo, payload: object, code: int = 0, agent: str = "claude-code", **how: Any) -> Done:
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    done = repo.run("hook", agent, stdin=data, **how)
    assert done.code == code, (done.code, done.text, done.said)
    if code:
        assert done.out == b""
        assert done.said
    return done


def made(repo: Repo) -> list[str]:
    home = repo.root / ".worktrees"
    return sorted(path.name for path in home.iterdir()) if home.exists() else []


def bead(repo: Repo, name: str = "bd-1") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((repo.state / f"beads/{name}.json").read_text())
    return found


def required(repo: Repo, **fields: Any) -> dict[str, Any]:
    return event(repo, worktree_policy="required", **fields)


def test_policy_none_makes_nothing(repo: Repo) -> None:
    for payload in (event(repo, worktree_policy="none", bead_id="bd-1"), {"worktree_policy": "none"}):
        assert send(repo, payload).out == b""
    assert made(repo) == []


@pytest.mark.parametrize("tool", ["Task", "Agent"])
def test_required_with_a_bead_makes_the_worktree(repo: Repo, tool: str) -> None:
    """The answer holds every field of the input, the prompt being context and the original."""
    given = event(repo, tool, worktree_policy="required", bead_id="bd-1", odd={"n": [1, None, "\ud800"]})
    out = send(repo, given).json()["hookSpecificOutput"]
    assert out["hookEventName"] == "PreToolUse"
    rewritten = out["updatedInput"]
    prompt = rewritten.pop("prompt")
    assert prompt.endswith("\n\ndo it")
    assert str(repo.root / ".worktrees/ralph-bd-1") in prompt
    assert str(repo.root / ".worktrees/ralph-bd-1") in out["additionalContext"]
    assert rewritten == {key: value for key, value in given["tool_input"].items() if key != "prompt"}
    assert made(repo) == ["ralph-bd-1"]
    mode = (repo.root / ".worktrees/ralph-bd-1/a").stat().st_mode & 0o777
    assert mode == 0o644


def test_bare_object_is_answered_in_its_own_shape(repo: Repo) -> None:
    given = {"subagent_type": "w", "worktree_policy": "required", "bead_id": "bd-1", "prompt": "p"}
    out = send(repo, given).json()
    assert list(out) == ["updatedInput"]
    assert {**out["updatedInput"], "prompt": "p"} == {
        **given,
        "worktree_path": str(repo.root / ".worktrees/ralph-bd-1"),
    }


def test_required_without_a_bead_is_blocked(repo: Repo) -> None:
    """Exit 2, the reason on stderr, nothing made."""
    assert "no bead" in send(repo, required(repo), 2).said
    send(repo, {"worktree_policy": "required", "prompt": "p"}, 2)
    send(repo, required(repo, worktree_path=".worktrees/other"), 2)
    assert made(repo) == []
    send(repo, required(repo, worktree_path=".worktrees/ralph-x"))
    assert made(repo) == ["ralph-x"]


def test_optional_passes_without_a_bead(repo: Repo) -> None:
    assert send(repo, event(repo, worktree_policy="optional")).out == b""
    assert made(repo) == []
    assert "updatedInput" in send(repo, event(repo, worktree_policy="optional", bead_id="bd-1")).text
    assert made(repo) == ["ralph-bd-1"]


@pytest.mark.parametrize("policy", ["Required!", "Required", "", 1, None, ["required"]])
def test_unknown_policy_is_blocked(repo: Repo, policy: object) -> None:
    said = send(repo, event(repo, worktree_policy=policy, bead_id="bd-1"), 2).said
    assert "required, optional, none" in said
    assert ("null" if policy is None else str(policy)) in said
    assert made(repo) == []


def test_default_of_the_agent_type_applies_without_a_field(repo: Repo) -> None:
    """What is configured for the agent's type counts; prose that mentions an id makes nothing."""
    prose = "Please work on bead_id: bd-1 with worktree_policy: required in .worktrees/ralph-bd-1"
    assert send(repo, event(repo, prompt=prose)).out == b""
    assert made(repo) == []
    repo.git("config", "ralph.policy.ralph-worker", "required")
    send(repo, event(repo, prompt=prose), 2)
    send(repo, event(repo, subagent_type="ralph:ralph-worker"), 2)
    assert send(repo, event(repo, subagent_type="other")).out == b""
    send(repo, event(repo, prompt="bead_id: bd-1\nmax_iterations: 3\n\ndo it"))
    assert made(repo) == ["ralph-bd-1"]
    assert bead(repo)["max_iterations"] == 3


def test_prompt_header_and_spawn_record(repo: Repo) -> None:
    head = "---\nworktree_policy: required\nbead_id: bd-1\ncompletion_promise: 'ALL *done*'\n---\ndo it"
    prompt = send(repo, event(repo, prompt=head)).json()["hookSpecificOutput"]["updatedInput"]["prompt"]
    assert prompt.endswith(head)
    assert bead(repo)["completion_promise"] == "ALL *done*"
    repo.ralph("worktree", "spawn", "bd-2", "--policy", "required", "--agent-type", "ralph-worker")
    assert send(repo, event(repo, subagent_type="scribe")).out == b""
    send(repo, event(repo))
    assert made(repo) == ["ralph-bd-1", "ralph-bd-2"]
    assert send(repo, event(repo)).out == b""


@pytest.mark.parametrize(
    "path", ["elsewhere", "../x", ".worktrees/../ralph-bd-1", ".worktrees/ralph-bd-2", "/tmp/x"]
)
def test_path_that_does_not_fit_is_blocked(repo: Repo, path: str) -> None:
    assert path in send(repo, required(repo, bead_id="bd-1", worktree_path=path), 2).said
    assert made(repo) == []


BROKEN: list[tuple[bytes, int]] = [
    (b"", 0),
    (b"not json", 0),
    (b"[]", 0),
    (b'[{"worktree_policy":"required"}]', 0),
    (b'"required"', 0),
    (b'{"worktree_policy":"required","bead_id":', 2),
    (b'{"tool_input":{"worktree_policy":"required"', 2),
    (b'{"worktree_policy":"required","bead_id":5}', 2),
    (b'{"worktree_policy":"required","bead_id":["x"]}', 2),
    (b'{"worktree_policy":"required","tool_input":[]}', 2),
    (b'{"hook_event_name":"PreToolUse","tool_name":"Agent","tool_input":"text"}', 0),
    (b'{"hook_event_name":"PreToolUse","tool_name":"Agent","tool_input":[1]}', 0),
    (b'{"worktree_policy":"required","x":"' + b"y" * (5 << 20), 2),
]


@pytest.mark.parametrize(("data", "code"), BROKEN, ids=range(len(BROKEN)))
def test_broken_input_is_blocked_only_where_required(repo: Repo, data: bytes, code: int) -> None:
    """Exit 2 where a parsed field says required, else a warning; never a traceback."""
    assert send(repo, data, code).said
    assert made(repo) == []


def test_broken_input_where_there_is_a_log(repo: Repo) -> None:
    repo.start("S1")
    assert "warning" in send(repo, b"not json").said
    assert "not JSON" in (repo.state / "hooks.log").read_text()


def test_a_very_long_prompt_is_passed_on(repo: Repo) -> None:
    assert "updatedInput" in send(repo, required(repo, bead_id="bd-1", prompt="x" * (5 << 20))).text


def test_in_progress_or_locked_is_blocked(repo: Repo) -> None:
    repo.start("S1")
    send(repo, required(repo, bead_id="bd-1"))
    said = send(repo, {**required(repo, bead_id="bd-1"), "session_id": "S2"}, 2).said
    assert "in progress" in said
    assert repo.called("S1") in said
    repo.ralph("worktree", "lock", "bd-1", "--reason", "mine")
    assert "mine" in send(repo, required(repo, bead_id="bd-1"), 2).said


def test_wrong_branch_is_blocked(repo: Repo) -> None:
    send(repo, required(repo, bead_id="bd-1"))
    tree = Repo(repo.root / ".worktrees/ralph-bd-1", repo.env)
    tree.git("switch", "-q", "-c", "other")
    before = bead(repo)
    said = send(repo, required(repo, bead_id="bd-1"), 2).said
    assert "other" in said
    assert "ralph/bd-1" in said
    assert bead(repo) == before


def test_stdout_is_the_answer_alone(repo: Repo) -> None:
    """Whatever git, its hooks and the command after creation print."""
    hook = repo.root / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho noise\necho noise >&2\nexit 1\n")
    hook.chmod(0o755)
    repo.git("config", "ralph.worktree.postCreate", "echo noise; echo noise >&2")
    out = send(repo, required(repo, bead_id="bd-1"), process=True)
    assert list(out.json()) == ["hookSpecificOutput"]
    assert out.text.count("\n") == 1


def test_required_is_blocked_without_a_repository(repo: Repo, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    here: dict[str, Any] = {"cwd": outside}
    send(repo, {**required(repo, bead_id="bd-1"), "cwd": str(outside)}, 2, **here)
    assert send(repo, {**event(repo), "cwd": str(outside)}, **here).out == b""
    assert send(repo, {**event(repo, worktree_policy="optional"), "cwd": str(outside)}, **here).out == b""


def test_no_permission_granted(repo: Repo) -> None:
    """Passing through never answers allow; a rewrite carries it only if configured."""
    assert '"permission' not in send(repo, required(repo, bead_id="bd-1")).text
    assert send(repo, event(repo)).out == b""
    repo.git("config", "ralph.hook.allow", "true")
    assert '"permissionDecision": "allow"' in send(repo, required(repo, bead_id="bd-1")).text
    assert send(repo, event(repo)).out == b""


def test_launch_writes_the_state_of_the_bead(repo: Repo) -> None:
    """Iteration 0, limit and promise; a second launch keeps the iteration, a restart resets it."""
    send(repo, required(repo, bead_id="bd-1"))
    found = bead(repo)
    assert (found["iteration"], found["max_iterations"], found["completion_promise"]) == (
        0,
        10,
        "BEAD COMPLETE",
    )
    assert (found["status"], found["prompt"], found["owner"]) == ("in_progress", "do it", "S1")
    stop = {
        "session_id": "S1",
        "cwd": str(repo.root),
        "hook_event_name": "Stop",
        "last_assistant_message": "no",
    }
    send(repo, stop)
    send(repo, required(repo, bead_id="bd-1"))
    assert bead(repo)["iteration"] == 1
    send(
        repo, required(repo, bead_id="bd-1", spawn_mode="restart", max_iterations=3, completion_promise="OK")
    )
    found = bead(repo)
    assert (found["iteration"], found["max_iterations"], found["completion_promise"]) == (0, 3, "OK")


def test_worktree_events_create_and_remove(repo: Repo, tmp_path: Path) -> None:
    """Create prints the path alone; remove refuses what the command refuses."""
    common = {"session_id": "S1", "cwd": str(repo.root)}
    path = repo.root / ".worktrees/ralph-bead-1"
    for key in ("name", "worktree_name"):
        done = send(repo, {**common, "hook_event_name": "WorktreeCreate", key: "bead-1"})
        assert done.out == f"{path}\n".encode()
    send(repo, {**common, "hook_event_name": "WorktreeCreate"}, 2)
    send(repo, {**common, "hook_event_name": "WorktreeCreate", "name": "../x"}, 2)
    assert made(repo) == ["ralph-bead-1"]
    gone = {"session_id": "S1", "cwd": str(tmp_path), "hook_event_name": "WorktreeRemove"}
    (path / "new").write_text("work\n")
    assert "'new'" in send(repo, {**gone, "worktree_path": str(path)}, cwd=tmp_path).said
    assert path.exists()
    (path / "new").unlink()
    send(repo, {**gone, "worktree_path": str(path)}, cwd=tmp_path)
    assert not path.exists()


LINES = [
    ('{"worktree_policy":"required","bead_id":"test"}', 0, ["ralph-test"]),
    ('{"worktree_policy":"none"}', 0, []),
    (
        '{"subagent_type":"ralph-worker","worktree_policy":"required","bead_id":"beads-test","prompt":"test"}',
        0,
        ["ralph-beads-test"],
    ),
    ('{"subagent_type":"bead-farmer","worktree_policy":"none","prompt":"test"}', 0, []),
    ('{"subagent_type":"ralph-worker","worktree_policy":"required","prompt":"test"}', 2, []),
]


@pytest.mark.parametrize(("line", "code", "trees"), LINES)
def test_the_five_lines(repo: Repo, line: str, code: int, trees: list[str]) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f"echo '{line}' | {SCRIPT}"],
        cwd=repo.root,
        env=repo.env,
        capture_output=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert made(repo) == trees
    if trees:
        assert set(json.loads(done.stdout)) == {"updatedInput"}
        assert set(json.loads(line)) <= set(json.loads(done.stdout)["updatedInput"])
    else:
        assert done.stdout == b""
    if code:
        assert b"no bead" in done.stderr


ISSUE = {
    "id": "bd-1",
    "title": "A title",
    "acceptance_criteria": ["one", "two"],
    "description": "Text.\n\nralph_spec:\n  completion_promise: ALL DONE\n  max_iterations: 4\n",
}
SPEC = {"completion_promise": "ALL DONE", "max_iterations": 4}
SHAPES = {
    "object": ISSUE,
    "array": [ISSUE],
    "envelope": {"ok": True, "data": {"issues": [{"id": "bd-10"}, ISSUE]}},
    "field": {**ISSUE, "description": "", "ralph_spec": SPEC},
}


def fake_bd(repo: Repo, tmp_path: Path, body: str) -> None:
    (repo.root / ".beads").mkdir(exist_ok=True)
    program = tmp_path / "bin/bd"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\necho "$*" >>{tmp_path}/asked\n{body}\n')
    program.chmod(0o755)
    repo.env["PATH"] = f"{program.parent}:{repo.env['PATH']}"


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_of_a_trackers_answer(repo: Repo, tmp_path: Path, shape: str) -> None:
    (tmp_path / "answer").write_text(json.dumps(SHAPES[shape]))
    fake_bd(repo, tmp_path, f"cat {tmp_path}/answer")
    prompt = send(repo, required(repo, bead_id="bd-1")).json()["hookSpecificOutput"]["updatedInput"]["prompt"]
    assert "A title" in prompt
    assert "one\\ntwo" in prompt
    found = bead(repo)
    assert (found["completion_promise"], found["max_iterations"]) == ("ALL DONE", 4)


@pytest.mark.parametrize("body", ["echo broken >&2; exit 1", "echo no json", "sleep 60; touch slept"])
def test_a_tracker_that_fails_only_warns(repo: Repo, tmp_path: Path, body: str) -> None:
    fake_bd(repo, tmp_path, body)
    repo.git("config", "ralph.beads.timeout", "0.5")
    done = send(repo, required(repo, bead_id="bd-1"))
    assert not repo.file("slept").exists(), "a tracker that hangs was waited for"
    assert "warning" in done.said
    assert made(repo) == ["ralph-bd-1"]
    (repo.root / ".beads/issues.jsonl").write_text(
        '{"id":"bd-2","title":"other"}\n' + json.dumps(ISSUE) + "\n"
    )
    assert "A title" in send(repo, required(repo, bead_id="bd-1")).text


def test_tracker_is_asked_to_claim_and_close(repo: Repo, tmp_path: Path) -> None:
    fake_bd(repo, tmp_path, f"echo '{json.dumps({'id': 'bd-1', 'title': 'T'})}'")
    send(repo, required(repo, bead_id="bd-1"))
    assert "update" not in (tmp_path / "asked").read_text()
    for key in ("claim", "close"):
        repo.git("config", f"ralph.beads.{key}", "true")
    send(repo, required(repo, bead_id="bd-1"))
    assert "update bd-1 --status in_progress" in (tmp_path / "asked").read_text()
    stop = {"session_id": "S1", "cwd": str(repo.root), "hook_event_name": "Stop"}
    send(repo, {**stop, "last_assistant_message": "no"})
    assert "close" not in (tmp_path / "asked").read_text()
    send(repo, {**stop, "last_assistant_message": "<promise>BEAD COMPLETE</promise>"})
    assert "close bd-1" in (tmp_path / "asked").read_text()
