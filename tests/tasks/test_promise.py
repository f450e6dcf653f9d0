"""One answer to "has it promised?": for the stop hook, for the loop, and in the transcripts of real agents.

The transcripts in ``tests/hook/agents/transcripts`` were recorded with real agents at work on one script: a
subagent or a command prints the promise, and the agent itself says "Not yet." and "Still not done.". The
``-stream`` ones are what the agent prints on standard output when it is asked for JSON.
"""

import json
from pathlib import Path

import pytest

from gitralph.tasks import promise
from tests.support.looping import Loop
from tests.support.repo import Repo

FOLDER = Path(__file__).parents[1] / "hook/agents/transcripts"
RECORDED = sorted(path.name.removesuffix(".jsonl") for path in FOLDER.glob("*.jsonl"))
TRANSCRIPTS = [name for name in RECORDED if not name.endswith(("-stream", "-subagent"))]
STREAMS = [name for name in RECORDED if name.endswith("-stream")]
PROMISE = "ALL DONE"

CASES = [
    ("<promise>ALL DONE</promise>", True),
    ("Well.\n<promise> ALL\n DONE </promise>\nBye.", True),
    ("<promise>NOT YET</promise> and now <promise>ALL DONE</promise>", True),
    ("ALL DONE", False),
    ("I am\nALL DONE\n", False),
    ("I will say <promise>ALL DONE</promise>, but <promise>NOT YET</promise>", False),
    ("<promise>all done</promise>", False),
    ("<promise>ALL DONE!</promise>", False),
    ("<promise>ALL DONE", False),
]


@pytest.fixture
def loop(repo: Repo, tmp_path: Path) -> Loop:
    return Loop.make(repo, tmp_path / "aside")


@pytest.mark.parametrize(("said", "kept"), CASES)
def test_the_parser(said: str, kept: bool) -> None:
    """The last promise, letter for letter but for blanks; words without the tags are none."""
    assert promise.is_kept(said, PROMISE) is kept


@pytest.mark.parametrize(("said", "kept"), CASES)
def test_the_stop_hook_and_the_loop_answer_alike(loop: Loop, said: str, kept: bool) -> None:
    """The same words end a bead's loop and a plan's task, or neither."""
    loop.plan("one")
    loop.script({"one": [["write", "one.txt", "1\n"], ["say", said]]})
    loop.run("--promise", PROMISE, "--max-iterations", "1", code=0 if kept else 1)
    assert loop.boxes() == ("x" if kept else " ")
    given = {"worktree_policy": "required", "bead_id": "bd-1", "completion_promise": PROMISE, "prompt": "p"}
    event = {"session_id": "S1", "cwd": str(loop.repo.root)}
    launch = {**event, "hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": given}
    loop.repo.ralph("hook", "claude-code", stdin=json.dumps(launch).encode())
    stop = {**event, "hook_event_name": "Stop", "last_assistant_message": said}
    done = loop.repo.ralph("hook", "claude-code", stdin=json.dumps(stop).encode())
    assert (done.out == b"") is kept


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_a_subagents_or_a_commands_promise_in_a_transcript_is_not_the_agents(name: str) -> None:
    """The last words of the agent are found in each one's own nesting, results of tools passed over."""
    said = promise.said_in(str(FOLDER / f"{name}.jsonl"))
    assert said == "Still not done."


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_the_agents_own_promise_in_a_transcript_is_kept(name: str, tmp_path: Path) -> None:
    """Also when entries of tools follow, and when the last line is torn."""
    text = (FOLDER / f"{name}.jsonl").read_text().replace("Still not done.", "<promise>ALL DONE</promise>")
    tools = [line for line in text.splitlines(keepends=True) if "call_main1" in line or "tool_result" in line]
    (tmp_path / "t.jsonl").write_text(text + "".join(tools[-1:]) + '{"torn": ')
    assert promise.is_kept(promise.said_in(str(tmp_path / "t.jsonl")), PROMISE)


def test_a_subagents_own_transcript_tells_what_it_was_asked_and_said() -> None:
    """Entries of a side chain count where the subagent itself stops, and only there."""
    path = str(FOLDER / "claude-code-subagent.jsonl")
    assert promise.asked_in(path) == "SUBTASK please"
    assert promise.is_kept(promise.said_in(path, of_subagent=True), PROMISE)
    assert promise.said_in(path) is None


@pytest.mark.parametrize("name", STREAMS)
def test_an_agent_that_prints_its_transcript_promises_by_its_own_words_only(name: str) -> None:
    """The loop reads standard output: JSON lines are a transcript there as well."""
    output = (FOLDER / f"{name}.jsonl").read_bytes()
    assert b"<promise>ALL DONE</promise>" in output
    assert not promise.is_kept(promise.said_by(output), PROMISE)
    own = output.replace(b"Still not done.", b"<promise>ALL DONE</promise>")
    assert promise.is_kept(promise.said_by(b"a warning\n" + own), PROMISE)


def test_plain_output_with_json_in_it_is_read_as_it_is() -> None:
    """An agent that prints a JSON file says what it says around it."""
    output = b'{"type": "module"}\n<promise>ALL DONE</promise>\n'
    assert promise.is_kept(promise.said_by(output), PROMISE)


def test_an_empty_promise_is_refused(loop: Loop) -> None:
    """It would end every task at once, or none."""
    loop.plan("one")
    assert "promise is empty" in loop.run("--promise", " \n", code=129).said


@pytest.mark.parametrize("made", ["folder", "absent", "pipe"])
def test_a_transcript_that_cannot_be_read_says_nothing(tmp_path: Path, made: str) -> None:
    """And the hook does not wait for it."""
    import os

    path = tmp_path / "t"
    if made == "folder":
        path.mkdir()
    elif made == "pipe":
        os.mkfifo(path)
    assert promise.said_in(str(path)) is None
    assert promise.asked_in(str(path)) == ""
