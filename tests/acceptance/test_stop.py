"""The promise loop: what an agent is told when it wants to stop."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.repo import Repo
from tests.support.runner import COMMAND, PATIENCE, Done

DONE = "<promise>BEAD COMPLETE</promise>"


def launch(repo: Repo, bead: str = "bd-1", session: str = "S1", **fields: Any) -> None:
    given = {
        "worktree_policy": "required",
        "bead_id": bead,
        "prompt": f"work on {bead}",
        "subagent_type": "w",
    }
    payload = {
        "session_id": session,
        "cwd": str(repo.root),
        "hook_event_name": "PreToolUse",
        "tool_name": "Agent",
        "tool_input": {**given, **fields},
    }
    assert repo.run("hook", "claude-code", stdin=json.dumps(payload).encode()).code == 0


def stop(repo: Repo, said: str | None = "not yet", session: str = "S1", **fields: Any) -> Done:
    payload = {"session_id": session, "cwd": str(repo.root), "hook_event_name": "Stop", **fields}
    if said is not None:
        payload["last_assistant_message"] = said
    done = repo.run("hook", "claude-code", stdin=json.dumps(payload).encode())
    assert done.code == 0
    return done


def state(repo: Repo, bead: str = "bd-1") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((repo.state / f"beads/{bead}.json").read_text())
    return found


def change(repo: Repo, bead: str = "bd-1", **fields: object) -> None:
    (repo.state / f"beads/{bead}.json").write_text(json.dumps({**state(repo, bead), **fields}))


def events(repo: Repo) -> list[str]:
    file = repo.state / "events.jsonl"
    return [json.loads(line)["topic"] for line in file.read_text().splitlines()] if file.exists() else []


def test_without_the_promise_the_stop_is_blocked(repo: Repo) -> None:
    """The reason holds the prompt and the count; the iteration grows by one."""
    launch(repo)
    change(repo, iteration=2)
    out = stop(repo).json()
    assert out["decision"] == "block"
    assert "work on bd-1" in out["reason"]
    assert "iteration 3 of 10" in out["reason"]
    assert state(repo)["iteration"] == 3


def test_the_promise_ends_the_loop(repo: Repo) -> None:
    """Nothing is printed, the bead is completed, one event says so."""
    launch(repo)
    assert stop(repo, f"All of it.\n\n{DONE}\n").out == b""
    assert state(repo)["status"] == "completed"
    assert stop(repo).out == b""
    assert events(repo) == ["bead.completed"]


@pytest.mark.parametrize(
    ("promise", "said", "done"),
    [
        ("a.c [x]* \"q\" 'r' <&>", "<promise>a.c [x]* \"q\" 'r' <&></promise>", True),
        ("a.c", "<promise>abc</promise>", False),
        ("*", "<promise>anything</promise>", False),
        ("two  words\nhere", "<promise>\n two words\there </promise>", True),
        ("DONE", "<promise>done</promise>", False),
        ("DONE", "<promise>NOT DONE</promise>", False),
        ("DONE", "I will say <promise>DONE</promise>, but <promise>NOT YET</promise>", False),
        ("DONE", "DONE", False),
        ("</promise>", "<promise></promise></promise>", True),
        ("<promise>", "<promise><promise></promise>", True),
    ],
)
def test_custom_promise_is_compared_literally(repo: Repo, promise: str, said: str, done: bool) -> None:
    """After folding of white space; other case, other text or an older quotation does not count."""
    launch(repo, completion_promise=promise)
    assert (stop(repo, said).out == b"") is done
    assert state(repo)["status"] == ("completed" if done else "in_progress")


def entry(role: str, *content: dict[str, object], **fields: object) -> str:
    message = {"type": role, "message": {"role": role, "content": list(content)}, "uuid": "x", **fields}
    return json.dumps(message) + "\n"


def text(words: str) -> dict[str, object]:
    return {"type": "text", "text": words}


TOOL: dict[str, object] = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": DONE}}


def test_promise_is_found_in_the_transcript(repo: Repo, tmp_path: Path) -> None:
    """In nested lines, also where the last entry holds only a tool's use."""
    launch(repo)
    file = tmp_path / "t.jsonl"
    file.write_text(
        entry("assistant", text(DONE))
        + entry("user", text("go on"))
        + entry("assistant", text("not yet"), TOOL)
        + entry("assistant", TOOL)
        + "{half a li"
    )
    assert stop(repo, None, transcript_path=str(file)).json()["decision"] == "block"
    file.write_text(
        entry("assistant", text("thinking"))
        + entry("assistant", text(f"ready {DONE}"))
        + entry("assistant", TOOL)
        + entry("assistant", text("of a subagent"), isSidechain=True)
    )
    assert stop(repo, None, transcript_path=str(file)).out == b""
    assert state(repo)["status"] == "completed"


def test_a_subagents_own_transcript(repo: Repo, tmp_path: Path) -> None:
    launch(repo)
    main, own = tmp_path / "main.jsonl", tmp_path / "own.jsonl"
    main.write_text(entry("assistant", text("the parent")))
    own.write_text(entry("assistant", text(DONE), isSidechain=True))
    fields = {"hook_event_name": "SubagentStop", "agent_id": "a1", "agent_type": "w"}
    paths = {"transcript_path": str(main), "agent_transcript_path": str(own)}
    assert stop(repo, None, **fields, **paths).out == b""
    assert state(repo)["status"] == "completed"


@pytest.mark.parametrize("session", ["S2", "", None])
def test_other_sessions_may_stop(repo: Repo, session: str | None) -> None:
    """The same directory with another id, or none: the state is unchanged."""
    launch(repo)
    before = state(repo)
    assert stop(repo, session_id=session).out == b""
    assert state(repo) == before
    change(repo, owner="")
    assert stop(repo, session_id=session).out == b""
    change(repo, owner=None)
    assert stop(repo, session_id=session).out == b""


def test_the_limit_ends_the_loop_as_failed(repo: Repo) -> None:
    """At the last iteration it may stop, the bead is failed, and stderr says so."""
    launch(repo)
    change(repo, iteration=10)
    done = stop(repo)
    assert done.out == b""
    assert "bd-1" in done.said
    assert state(repo)["status"] == "failed"
    assert events(repo) == ["bead.failed"]
    launch(repo, max_iterations=0)
    change(repo, iteration=500)
    assert stop(repo).json()["decision"] == "block"


def test_consecutive_blocks_stay_under_the_agents_own_cap(repo: Repo) -> None:
    """After that many blocks in a row it lets go, and can be resumed."""
    launch(repo, max_iterations=0)
    blocked = [bool(stop(repo, stop_hook_active=n > 0).out) for n in range(8)]
    assert blocked == [True] * 7 + [False]
    assert state(repo)["status"] == "in_progress"
    assert stop(repo, stop_hook_active=False).out
    repo.git("config", "ralph.loop.maxBlocks", "2")
    assert stop(repo, stop_hook_active=True).out
    assert not stop(repo, stop_hook_active=True).out


@pytest.mark.parametrize("damage", ["truncated", "types", "folder", "empty"])
def test_unreadable_state_lets_stop_and_is_kept(repo: Repo, damage: str) -> None:
    """A warning, exit 0, and the file stays as it is."""
    launch(repo)
    file = repo.state / "beads/bd-1.json"
    data = file.read_bytes()
    if damage == "folder":
        file.unlink()
        file.mkdir()
    elif damage == "types":
        change(repo, iteration="many")
    else:
        file.write_bytes(data[: len(data) // 2] if damage == "truncated" else b"")
    kept = file.read_bytes() if file.is_file() else None
    done = stop(repo)
    assert done.out == b""
    assert "bd-1" in done.said
    assert (file.read_bytes() if file.is_file() else None) == kept


def test_worker_is_found_by_its_id_from_elsewhere(repo: Repo, tmp_path: Path) -> None:
    launch(repo)
    linked = repo.worktree("w")
    assert stop(linked).json()["decision"] == "block"
    assert stop(repo, cwd=str(tmp_path)).json()["decision"] == "block"
    started = {"hook_event_name": "SubagentStart", "agent_id": "a1", "agent_type": "w"}
    stop(repo, None, **started)
    assert state(repo)["agent_id"] == "a1"
    assert stop(repo).out == b"", "the parent may stop: the bead is its worker's"
    subagent = {"hook_event_name": "SubagentStop", "agent_id": "a1", "agent_type": "w"}
    assert stop(repo, **subagent).json()["decision"] == "block"
    assert stop(repo, **{**subagent, "agent_id": "a2"}).out == b""


def test_two_workers_of_one_session_are_told_apart(repo: Repo, tmp_path: Path) -> None:
    from gitralph.tasks.policy.wording import MARK

    launch(repo, "bd-1")
    launch(repo, "bd-2")
    for agent in ("a1", "a2"):
        stop(repo, None, hook_event_name="SubagentStart", agent_id=agent, agent_type="w")
    own = tmp_path / "own.jsonl"
    own.write_text(entry("user", text(f"{MARK}\nbead: bd-2\n\nwork")) + entry("assistant", text("no")))
    fields = {"hook_event_name": "SubagentStop", "agent_id": "a1", "agent_type": "w"}
    assert "work on bd-2" in stop(repo, agent_transcript_path=str(own), **fields).json()["reason"]
    assert (state(repo, "bd-1")["iteration"], state(repo, "bd-2")["iteration"]) == (0, 1)


def test_gates_that_are_not_met_block(repo: Repo) -> None:
    """No commit, dirty paths or a failing check: the reason lists what is missing."""
    launch(repo)
    repo.git("config", "ralph.loop.requireCommit", "true")
    repo.git("config", "ralph.loop.requireClean", "true")
    repo.git("config", "--add", "ralph.loop.verify", "true")
    repo.git("config", "--add", "ralph.loop.verify", "test -e new || { seq 1 30; exit 3; }")
    assert "no commit" in stop(repo, DONE).json()["reason"]
    tree = Repo(repo.root / ".worktrees/ralph-bd-1", repo.env)
    tree.edit("S1", "a", "changed\n")
    assert "'a'" in stop(repo, DONE).json()["reason"]
    tree.commit("S1", checked=False)
    reason = stop(repo, DONE).json()["reason"]
    assert "ended with 3" in reason
    assert "\n11\n" in reason
    assert "\n10\n" not in reason
    assert state(repo)["iteration"] == 3
    tree.write("new", "x\n")
    assert stop(repo, DONE).out == b""
    assert state(repo)["status"] == "completed"


def test_two_stops_at_once_count_twice(repo: Repo) -> None:
    """Neither iteration is lost."""
    launch(repo)
    payload = {
        "session_id": "S1",
        "cwd": str(repo.root),
        "hook_event_name": "Stop",
        "last_assistant_message": "no",
    }
    words = [*COMMAND, "hook", "claude-code"]
    children = [
        subprocess.Popen(words, cwd=repo.root, env=repo.env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        for _ in range(2)
    ]
    for child in children:
        assert child.stdin is not None
        child.stdin.write(json.dumps(payload).encode())
        child.stdin.close()
    assert [child.wait(PATIENCE) for child in children] == [0, 0]
    assert state(repo)["iteration"] == 2


def test_without_a_loop_the_stop_is_silent(repo: Repo) -> None:
    done = stop(repo)
    assert (done.out, done.err) == (b"", b"")
    launch(repo, session="other")
    before = state(repo)
    assert stop(repo).out == b""
    assert state(repo) == before


def test_background_work_is_not_the_end(repo: Repo) -> None:
    """A subagent still at work: the stop is not taken as the end."""
    launch(repo)
    before = state(repo)
    task = {"id": "a9", "type": "subagent", "status": "running", "description": "sub"}
    assert stop(repo, background_tasks=[task]).out == b""
    assert state(repo) == before
    assert stop(repo, background_tasks=[{**task, "status": "completed"}]).out


def test_nothing_is_left_of_a_killed_write(repo: Repo) -> None:
    launch(repo)
    shutil.copy(repo.state / "beads/bd-1.json", repo.state / "beads/bd-1.json.1-1.tmp")
    stop(repo)
    assert sorted(p.name for p in (repo.state / "beads").iterdir()) == ["bd-1.json"]


def test_who_only_made_a_worktree_may_stop(repo: Repo) -> None:
    """No policy launched it, and there is no prompt to repeat: it was held at each stop."""
    repo.edit("S1", "a", "of S1\n")
    repo.ralph("worktree", "add", "bd-7", "--session", "S1")
    assert state(repo, "bd-7")["owner"] == "S1"
    assert stop(repo).out == b""
