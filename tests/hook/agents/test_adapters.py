"""What the samples do not show: two hooks of one call, loose matches, patches, calls without an id."""

from pathlib import Path
from typing import Any

import pytest

from tests.hook.agents import fixtures
from tests.hook.agents.fixtures import Stage
from tests.support.repo import Repo

S = "00000001-0000-4000-8000-000000000001"


@pytest.fixture
def stage(empty_repo: Repo, tmp_path: Path) -> Stage:
    return Stage.build(empty_repo, tmp_path / "u")


def _codex(patch: str, name: str = "PostToolUse", call: str = "call_1") -> dict[str, Any]:
    return {
        "session_id": S,
        "cwd": "/repo",
        "hook_event_name": name,
        "tool_name": "apply_patch",
        "tool_input": {"command": f"*** Begin Patch\n{patch}*** End Patch\n"},
        "tool_use_id": call,
    }


def _copilot(name: str, old: str, new: str, **fields: object) -> dict[str, Any]:
    payload = {
        "sessionId": S,
        "timestamp": 1,
        "cwd": "/repo",
        "toolName": "edit",
        **fields,
        "toolArgs": {"path": "/repo/a.txt", "old_str": old, "new_str": new},
    }
    return payload if name == "pre" else {**payload, "toolResult": {"resultType": "success"}}


def _pascal(payload: dict[str, Any]) -> dict[str, Any]:
    """The same call as Copilot sends it to a hook of Claude's settings."""
    done = "toolResult" in payload
    out = {
        "hook_event_name": "PostToolUse" if done else "PreToolUse",
        "session_id": payload["sessionId"],
        "timestamp": "2026-01-01T09:00:02.000Z",
        "cwd": "/repo",
        "tool_name": "Edit",
        "tool_input": payload["toolArgs"],
    }
    return {**out, "tool_result": {"result_type": "success"}} if done else out


def _send(stage: Stage, agent: str, payload: dict[str, Any], **env: str) -> None:
    stage.repo.hook(agent, fixtures.moved(payload, str(stage.repo.root), str(stage.home)), env=env)


def _exact(stage: Stage, path: str) -> list[str]:
    return [row["exact"] for row, _, _ in fixtures.steps(stage.repo, path)]


def _call(stage: Stage, patch: str, path: str, after: str) -> None:
    _send(stage, "codex", _codex(patch, "PreToolUse"))
    stage.repo.write(path, after)
    _send(stage, "codex", _codex(patch))


def test_claudes_hook_under_copilot_records_once(stage: Stage) -> None:
    for payload in (_copilot("pre", "two", "deux"), _copilot("post", "two", "deux")):
        if "toolResult" in payload:
            stage.repo.write("a.txt", "one\ndeux\nthree\n")
        _send(stage, "copilot", payload, COPILOT_CLI="1")
        _send(stage, "claude-code", _pascal(payload), COPILOT_CLI="1")
    assert _exact(stage, "a.txt") == ["payload"]
    assert (stage.repo.state / f"{S}.files").read_text() == "a.txt\n"


def test_claudes_hook_alone_under_copilot(stage: Stage) -> None:
    for payload in (_copilot("pre", "two", "deux"), _copilot("post", "two", "deux")):
        if "toolResult" in payload:
            stage.repo.write("a.txt", "one\ndeux\nthree\n")
        _send(stage, "claude-code", _pascal(payload), COPILOT_CLI="1")
    assert _exact(stage, "a.txt") == ["payload"]
    assert '"agent": "copilot"' in (stage.repo.state / f"{S}.json").read_text()


def test_claude_itself_started_from_copilots_shell(stage: Stage) -> None:
    sample = next(s for s in fixtures.samples() if s.name == "06-PostToolUse-Edit")
    stage.after(sample.edits)
    _send(stage, "claude-code", sample.payload, COPILOT_CLI="1")
    assert _exact(stage, "a.txt") == ["payload"]
    assert '"agent": "claude-code"' in (stage.repo.state / f"{S}.json").read_text()


def test_a_subagent_of_a_subagent_is_of_the_family(stage: Stage) -> None:
    for agent, parent in (("sub-1", S), ("sub-2", "sub-1")):
        start = {
            "sessionId": parent,
            "cwd": "/repo",
            "agentName": "x",
            "agentId": agent,
            "parentAgentId": parent,
        }
        _send(stage, "copilot", start)
    stage.repo.write("a.txt", "one\ndeux\nthree\n")
    child = {"sessionId": "sub-2", "agentId": "sub-2", "parentAgentId": "sub-1"}
    _send(stage, "copilot", _copilot("post", "two", "deux", **child))
    assert stage.repo.pending(S) == ["a.txt"]


def test_opencode_child_without_its_parent_named_is_of_the_family(stage: Stage) -> None:
    """A resumed child: the plugin of this run never saw it made."""
    samples = {s.name: s for s in fixtures.samples() if s.agent == "opencode"}
    _send(stage, "opencode", samples["20-session.created-child"].payload)
    write = samples["21-tool.execute.after-write-in-subagent"]
    stage.after(write.edits)
    _send(stage, "opencode", {**write.payload, "parent_session_id": None})
    assert stage.repo.pending("ses_000000000001AAAAAAAAAAAAAA") == ["sub.txt"]


def test_equal_calls_without_an_id_are_two_edits(stage: Stage) -> None:
    stage.repo.write("a.txt", "x\n")
    for before, after in (("x\n", "xx\n"), ("xx\n", "x\n"), ("x\n", "xx\n")):
        old, new = before.strip(), after.strip()
        _send(stage, "copilot", _copilot("pre", old, new))
        stage.repo.write("a.txt", after)
        _send(stage, "copilot", _copilot("post", old, new))
    assert _exact(stage, "a.txt") == ["payload"] * 3


@pytest.mark.parametrize("agent", ["claude-code", "generic"])
def test_the_same_edit_again_after_a_commit_is_recorded(stage: Stage, agent: str) -> None:
    """Committed, reset to the old text, made once more: a consumption line is no edit."""
    repo = stage.repo
    sample = next(s for s in fixtures.samples() if s.name == "06-PostToolUse-Edit")
    for _ in range(2):
        repo.write("a.txt", "one\ntwo\nthree\n")
        if agent == "generic":
            repo.edit(S, "a.txt", "one\ndeux\nthree\n")
        else:
            stage.after(sample.edits)
            _send(stage, agent, sample.payload)
        assert repo.commit(S).paths == {"a.txt": "M"}
        repo.git("reset", "-q", "--hard", "HEAD^")


def test_a_patch_that_matches_loosely_is_a_window(stage: Stage) -> None:
    _call(stage, "*** Update File: a.txt\n@@\n-two  \n+deux\n", "a.txt", "one\ndeux!\nthree\n")
    assert _exact(stage, "a.txt") == ["window"]


def test_a_loose_match_that_the_disk_confirms_is_exact(stage: Stage) -> None:
    _call(stage, "*** Update File: a.txt\n@@\n-two  \n+deux\n", "a.txt", "one\ndeux\nthree\n")
    assert _exact(stage, "a.txt") == ["payload"]


def test_somebody_else_wrote_between_pre_and_post(stage: Stage) -> None:
    _call(stage, "*** Update File: a.txt\n@@\n-two\n+deux\n", "a.txt", "one\ndeux\nthree\nhand\n")
    [(row, before, after)] = fixtures.steps(stage.repo, "a.txt")
    assert (row["exact"], before, after) == ("payload", b"one\ntwo\nthree\n", b"one\ndeux\nthree\n")


def test_an_ambiguous_patch_does_not_claim_what_the_disk_contradicts(stage: Stage) -> None:
    stage.repo.write("a.txt", "x\ny\nx\ny\n")
    _call(stage, "*** Update File: a.txt\n@@\n-x\n+z\n", "a.txt", "x\ny\nz\ny\nhand\n")
    assert _exact(stage, "a.txt") == ["window"]


@pytest.mark.parametrize("old", ["a\r\nb\r\nc\r\n", "\ufeffa\nb\nc\n", "a\nb\nc"])
def test_line_ends_marks_and_missing_newlines(stage: Stage, old: str) -> None:
    new = old.replace("b", "B") + ("" if old.endswith("\n") else "\n")  # it adds the newline
    stage.repo.write("a.txt", old)
    _call(stage, "*** Update File: a.txt\n@@\n a\n-b\n+B\n c\n", "a.txt", new)
    [(row, before, after)] = fixtures.steps(stage.repo, "a.txt")
    assert (row["exact"], before, after) == ("payload", old.encode(), new.encode())


def test_a_patch_with_one_file_outside_records_the_other(stage: Stage) -> None:
    patch = "*** Add File: /home/u/out.txt\n+x\n*** Add File: in.txt\n+y\n"
    _call(stage, patch, "in.txt", "y\n")
    assert _exact(stage, "in.txt") == ["payload"]
    assert len(fixtures.journals(stage.repo)) == 1


def test_a_move_out_of_the_repository_is_a_deletion(stage: Stage) -> None:
    patch = "*** Update File: move.txt\n*** Move to: /home/u/gone.txt\n@@\n-here\n+there\n"
    _send(stage, "codex", _codex(patch, "PreToolUse"))
    stage.repo.remove("move.txt")
    _send(stage, "codex", _codex(patch))
    [(row, before, after)] = fixtures.steps(stage.repo, "move.txt")
    assert (row["op"], row["exact"], before, after) == ("delete", "payload", b"stay\nhere\n", None)


def test_a_move_over_an_existing_file_replaces_it(stage: Stage) -> None:
    patch = "*** Update File: move.txt\n*** Move to: old.txt\n@@\n-here\n+there\n"
    _send(stage, "codex", _codex(patch, "PreToolUse"))
    stage.repo.remove("move.txt")
    stage.repo.write("old.txt", "stay\nthere\n")
    _send(stage, "codex", _codex(patch))
    [(row, before, after)] = fixtures.steps(stage.repo, "old.txt")
    assert (row["op"], row["exact"], before, after) == ("rename-to", "payload", b"bye\n", b"stay\nthere\n")


def test_deleted_and_added_in_one_patch(stage: Stage) -> None:
    _call(stage, "*** Delete File: a.txt\n*** Add File: a.txt\n+new\n", "a.txt", "new\n")
    [(row, before, after)] = fixtures.steps(stage.repo, "a.txt")
    assert (row["exact"], before, after) == ("payload", b"one\ntwo\nthree\n", b"new\n")


def test_delete_file_removes_the_link_itself(stage: Stage) -> None:
    _send(stage, "codex", _codex("*** Delete File: link.txt\n", "PreToolUse"))
    stage.repo.remove("link.txt")
    _send(stage, "codex", _codex("*** Delete File: link.txt\n"))
    [(row, before, after)] = fixtures.steps(stage.repo, "link.txt")
    assert (row["op"], before, after) == ("delete", b"a.txt", None)
    assert len(fixtures.journals(stage.repo)) == 1


def test_a_failed_call_leaves_nothing_behind(stage: Stage) -> None:
    _send(stage, "copilot", _copilot("pre", "absent", "x"))
    assert list(stage.repo.state.glob("calls/*/*"))
    failed = {**_copilot("pre", "absent", "x"), "error": "No match found"}
    _send(stage, "copilot", failed)
    assert not list(stage.repo.state.glob("calls/*/*"))


def test_cursor_tells_one_edit_twice(stage: Stage) -> None:
    samples = {s.name: s for s in fixtures.samples() if s.agent == "cursor"}
    pre, post = samples["03-preToolUse-Write"], samples["04-postToolUse-Write"]
    for order in ((post, samples["05-afterFileEdit-create"]), (samples["05-afterFileEdit-create"], post)):
        _send(stage, "cursor", pre.payload)
        stage.repo.write("src/new.txt", "alpha\nbeta\n")
        for sample in order:
            _send(stage, "cursor", sample.payload)
        assert _exact(stage, "src/new.txt") == ["payload"]
        stage.repo.remove("src/new.txt")
        for path in fixtures.journals(stage.repo):
            Path(path).unlink()


def test_an_experimental_agents_text_is_not_believed_against_the_disk(stage: Stage) -> None:
    payload = {
        "session_id": S,
        "cwd": "/repo",
        "hook_event_name": "PostToolUse",
        "tool_name": "Write",
        "tool_input": {"file_path": "/repo/w.txt", "content": "asked\n"},
    }
    stage.repo.write("w.txt", "written\n")
    _send(stage, "droid", payload)
    assert _exact(stage, "w.txt") == ["none"]


def test_a_prompt_after_the_end_wakes_the_session(stage: Stage) -> None:
    samples = {s.name: s for s in fixtures.samples() if s.agent == "copilot"}
    names = ("34-SessionEnd-pascal", "35-UserPromptSubmit-pascal-machine-made")
    record = stage.repo.state / "00000004-0000-4000-8000-000000000004.json"
    for name, ended in zip(names, (False, True), strict=True):
        _send(stage, "copilot", samples[name].payload)
        assert ('"ended": null' in record.read_text()) is ended
