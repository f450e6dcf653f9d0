"""Before an edit near another live session's uncommitted lines the agent is told, in its own form, once."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import payloads
from tests.support.home import with_tool_on_path
from tests.support.repo import Repo
from tests.support.runner import Done

THIRTY = "".join(f"line {n}\n" for n in range(1, 31))


def changed(line: int, to: str, text: str = THIRTY) -> str:
    return text.replace(f"line {line}\n", f"{to}\n")


@pytest.fixture
def shared(repo: Repo) -> Repo:
    """``f`` of thirty lines, of which ``S2``, at work, has changed the tenth."""
    repo.write("f", THIRTY)
    repo.write("g", THIRTY)
    repo.commit_all("thirty")
    repo.edit("S2", "f", changed(10, "theirs"))
    return repo


def pre(repo: Repo, tool: str, path: str, session: str = "S1", **given: object) -> dict[str, Any]:
    """Claude Code's event ahead of an edit."""
    return {
        "session_id": session,
        "transcript_path": f"/nowhere/{session}.jsonl",
        "cwd": str(repo.root),
        "permission_mode": "acceptEdits",
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": {"file_path": str(repo.file(path)), **given},
        "tool_use_id": f"toolu_{os.urandom(4).hex()}",
    }


def ask(repo: Repo, payload: dict[str, Any], agent: str = "claude-code", **how: Any) -> Done:
    """Send an event; whatever is said, the edit goes on and nothing but the answer is printed."""
    done = repo.run("hook", agent, stdin=payloads.encode(payload), **how)
    assert (done.code, done.err) == (0, b""), done.said
    return done


def edit(repo: Repo, line: int, session: str = "S1", path: str = "f") -> dict[str, Any]:
    old = f"line {line}\n"
    return pre(repo, "Edit", path, session, old_string=old, new_string=f"mine {line}\n", replace_all=False)


def context(done: Done) -> str:
    """The line of context that Claude Code is given."""
    answer = done.json()
    assert list(answer) == ["hookSpecificOutput"]
    inner = answer["hookSpecificOutput"]
    assert sorted(inner) == ["additionalContext", "hookEventName"]
    assert inner["hookEventName"] == "PreToolUse"
    said = str(inner["additionalContext"])
    assert "\n" not in said
    return said


def test_who_which_lines_since_when_and_how_to_see_them(shared: Repo) -> None:
    said = context(ask(shared, edit(shared, 12)))
    assert f"session '{shared.called('S2')}'" in said
    assert "line 10 in 'f'" in said
    assert re.search(r"since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \(just now\)", said)
    command = said.partition("see them: ")[2]
    env = with_tool_on_path(shared.env)
    shown = subprocess.run(command, shell=True, cwd=shared.root, env=env, capture_output=True, check=True)
    assert shared.called("S2") in shown.stdout.decode()


@pytest.mark.parametrize(("line", "told"), [(4, False), (5, True), (15, True), (16, False)])
def test_within_five_lines(shared: Repo, line: int, told: bool) -> None:
    assert bool(ask(shared, edit(shared, line)).out) == told


def test_where_the_place_is_unknown_the_file_counts(shared: Repo) -> None:
    nowhere = pre(shared, "Edit", "f", old_string="no such text", new_string="x")
    assert "line 10" in context(ask(shared, nowhere))


def test_a_whole_write_counts_by_what_it_changes(shared: Repo) -> None:
    now = changed(10, "theirs")
    far = pre(shared, "Write", "f", content=changed(25, "mine", now))
    assert ask(shared, far).out == b""
    over = pre(shared, "Write", "f", content=changed(25, "mine"))
    assert "line 10" in context(ask(shared, over))


def test_once_for_each_state_of_their_lines(shared: Repo) -> None:
    context(ask(shared, edit(shared, 12)))
    assert ask(shared, edit(shared, 12)).out == b""
    assert ask(shared, edit(shared, 9)).out == b""
    # one's own work and one's own commit change nothing of theirs
    shared.edit("S1", "f", changed(12, "mine", changed(10, "theirs")))
    assert ask(shared, edit(shared, 13)).out == b""
    shared.commit("S1")
    assert ask(shared, edit(shared, 13)).out == b""
    shared.edit("S2", "f", (shared.read("f") or b"").replace(b"line 14\n", b"theirs too\n"))
    assert "lines 10 and 14" in context(ask(shared, edit(shared, 13)))
    # another session was told nothing yet
    assert "lines 10 and 14" in context(ask(shared, edit(shared, 13, "S3")))


def test_the_edit_is_recorded_as_ever(shared: Repo) -> None:
    event = edit(shared, 12)
    context(ask(shared, event))
    before = changed(10, "theirs")
    shared.write("f", changed(12, "mine 12", before))
    post = payloads.claude_edit(
        "S1",
        str(shared.root),
        str(shared.file("f")),
        before,
        "line 12\n",
        "mine 12\n",
        tool_use_id=event["tool_use_id"],
    )
    shared.hook("claude-code", post)
    shared.commit("S1")
    assert shared.blob("f").decode() == changed(12, "mine 12")


def test_nothing_where_nobody_else_is_at_work(shared: Repo) -> None:
    assert ask(shared, edit(shared, 12, path="g")).out == b""
    assert ask(shared, edit(shared, 12, session="S2")).out == b""
    shared.ralph("session", "end", "S2")
    assert ask(shared, edit(shared, 12)).out == b""


def test_nothing_once_theirs_are_committed(shared: Repo) -> None:
    shared.commit("S2")
    assert ask(shared, edit(shared, 12)).out == b""


def test_a_person_is_no_session(repo: Repo) -> None:
    repo.write("a", "a person's half-done line\n")
    assert ask(repo, pre(repo, "Edit", "a", old_string="half", new_string="x")).out == b""


def test_it_can_be_switched_off(shared: Repo) -> None:
    shared.git("config", "ralph.headsUp", "off")
    assert ask(shared, edit(shared, 12)).out == b""
    shared.git("config", "ralph.headsUp", "nope")
    context(ask(shared, edit(shared, 12)))
    assert "bad value 'nope' for 'ralph.headsUp'" in (shared.state / "hooks.log").read_text()
    shared.git("config", "ralph.headsUp", "note")
    assert ask(shared, edit(shared, 12), env={"RALPH_TRACKING": "0"}).out == b""


def test_a_removal_is_told_by_its_place(shared: Repo) -> None:
    shared.commit("S2")
    now = (shared.read("f") or b"").decode()
    shared.edit("S2", "f", now.replace("line 20\nline 21\n", ""))
    said = context(ask(shared, edit(shared, 19)))
    assert "removals in 'f' before line 20" in said
    command = said.partition("see them: ")[2]
    env = with_tool_on_path(shared.env)
    shown = subprocess.run(command, shell=True, cwd=shared.root, env=env, capture_output=True, check=True)
    assert "-line 20" in shown.stdout.decode()


def test_known_by_path_alone(shared: Repo) -> None:
    shared.write("g", changed(3, "x"))
    event = {"session": "S2", "cwd": str(shared.root), "event": "edit", "path": "g"}
    shared.hook("generic", event)
    assert "uncommitted changes in 'g'" in context(ask(shared, edit(shared, 25, path="g")))


def test_across_linked_worktrees(shared: Repo) -> None:
    shared.commit("S2")
    linked = shared.worktree("w")
    linked.write("f", "one\ntwo\n" + changed(10, "theirs"))
    event = {"session": "S2", "cwd": str(linked.root), "event": "edit", "path": "f"}
    linked.hook(
        "generic", {**event, "before": changed(10, "theirs"), "after": "one\ntwo\n" + changed(10, "theirs")}
    )
    assert ask(shared, edit(shared, 12)).out == b""
    said = context(ask(shared, edit(shared, 3)))
    assert "lines 1-2 in 'f'" in said
    assert f"in worktree '{linked.root}'" in said
    assert f"git -C {linked.root} ralph blame f" in said
    # and from the linked one into the main one
    shared.edit("S3", "f", changed(10, "theirs").replace("line 20\n", "main\n"))
    said = context(ask(linked, edit(linked, 21, "S2")))
    assert f"in worktree '{shared.root}'" in said
    assert "line 20" in said


def test_from_a_subdirectory_the_command_names_the_root(shared: Repo) -> None:
    shared.edit("S2", "d/a", "theirs\n")
    event = {**pre(shared, "Edit", "d/a", old_string="theirs", new_string="x"), "cwd": str(shared.file("d"))}
    assert f"git -C {shared.root} ralph blame d/a" in context(ask(shared, event))


FORMS = {
    "codex": {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "*"}},
    "gemini": {"hookSpecificOutput": {"hookEventName": "BeforeTool", "additionalContext": "*"}},
    "qwen": {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "*"}},
    "droid": {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "*"}},
    "copilot": {"additionalContext": "*"},
    "cursor": {"additional_context": "*"},
    "pi": {"additionalContext": "*"},
    "opencode": {"additionalContext": "*"},
}


def of_agent(agent: str, root: Path, line: int) -> dict[str, Any]:
    """The event ahead of an edit of one line of ``f``, as each agent sends it."""
    old, new, file = f"line {line}\n", "mine\n", str(root / "f")
    common = {"session_id": "S1", "cwd": str(root)}
    two = {"old_string": old, "new_string": new}
    patch = f"*** Begin Patch\n*** Update File: f\n@@\n-line {line}\n+mine\n*** End Patch"
    if agent == "codex":
        given: dict[str, Any] = {"command": patch}
        return {**common, "hook_event_name": "PreToolUse", "tool_name": "apply_patch", "tool_input": given}
    if agent == "gemini":
        given = {"file_path": file, **two}
        return {**common, "hook_event_name": "BeforeTool", "tool_name": "replace", "tool_input": given}
    if agent == "copilot":
        given = {"path": "f", "old_str": old, "new_str": new}
        return {"sessionId": "S1", "cwd": str(root), "toolName": "edit", "toolArgs": given}
    if agent == "cursor":
        fields = {"conversation_id": "S1", "workspace_roots": [str(root)], "tool_name": "StrReplace"}
        return {**fields, "hook_event_name": "preToolUse", "tool_input": {"file_path": file, **two}}
    if agent == "pi":
        given = {"path": "f", "edits": [{"oldText": old, "newText": new}]}
        event = {"type": "tool_call", "toolCallId": "c", "toolName": "edit", "input": given}
        return {**common, "hook_event_name": "tool_call", "event": event}
    if agent == "opencode":
        args = {"filePath": file, "oldString": old, "newString": new}
        inner = {"input": {"tool": "edit", "sessionID": "S1", "callID": "c"}, "output": {"args": args}}
        return {**common, "hook_event_name": "tool.execute.before", "event": inner}
    tool = "Edit" if agent == "droid" else "edit"
    given = {"file_path": file, **two}
    return {**common, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": given}


@pytest.mark.parametrize("agent", FORMS)
def test_each_agent_in_its_own_form(shared: Repo, agent: str) -> None:
    assert ask(shared, of_agent(agent, shared.root, 25), agent).out == b""
    answer = ask(shared, of_agent(agent, shared.root, 12), agent).out
    said = re.sub(r': "session .*?"', ': "*"', answer.decode())
    assert json.loads(said) == FORMS[agent]


def test_hostile_names_stay_one_line(repo: Repo) -> None:
    path = "a\nb\x1b[31m"
    repo.edit("S2", path, "theirs\n")
    said = context(ask(repo, pre(repo, "Edit", path, old_string="theirs", new_string="x")))
    assert "\x1b" not in said


def test_what_is_damaged_says_nothing(shared: Repo) -> None:
    journal = next((shared.state / "edits").glob("f-*"))
    journal.write_bytes(b"\x00garbage\n" + journal.read_bytes()[:40])
    assert ask(shared, edit(shared, 12)).out == b""
    (shared.state / "calls/S1").mkdir(parents=True, exist_ok=True)
    (shared.state / "calls/S1/told").write_bytes(b"\xff\x00 not json\n[1]\n" * 3)
    shared.edit("S2", "g", changed(10, "theirs"))
    context(ask(shared, edit(shared, 12, path="g")))


def test_nobody_else_costs_nothing_to_load(repo: Repo) -> None:
    """The engine is loaded only where a live session has records of the path."""
    env = with_tool_on_path(repo.env)
    repo.edit("S1", "a", "mine\n")
    repo.edit("S2", "b", "theirs\n")
    code = (
        "import sys; from gitralph.__main__ import main; main()\n"
        "print([m for m in sys.modules if m.startswith('gitralph.decide')])"
    )
    for path, loads in (("a", False), ("b", True)):
        event = pre(repo, "Edit", path, old_string="x", new_string="y")
        done = subprocess.run(
            [sys.executable, "-P", "-c", code, "hook", "claude-code"],
            cwd=repo.root,
            env=env,
            input=payloads.encode(event),
            capture_output=True,
            check=True,
        )
        assert (done.stdout.splitlines()[-1] != b"[]") == loads
