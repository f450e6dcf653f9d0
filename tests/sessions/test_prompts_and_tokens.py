"""``why --prompt`` and tokens: read from the agent's own transcript when asked, kept nowhere."""

import json
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitralph.base import jsonline
from gitralph.sessions import spending, transcript_turns
from gitralph.sessions.spending import Spending
from gitralph.sessions.transcript_turns import Tokens
from tests.support import payloads
from tests.support.repo import Repo

RECORDED = Path(__file__).parents[1] / "hook/agents/transcripts/usage"
S = "00000001-0000-4000-8000-000000000001"
NOW = "2026-11-25T09:00:0{}.100Z"
Line = dict[str, Any]


def asks(text: object, at: int = 0, **more: object) -> Line:
    """A prompt as Claude Code's transcript has it."""
    return {"type": "user", "message": {"role": "user", "content": text}, "timestamp": NOW.format(at), **more}


def calls(call: str, at: int = 1, message: str = "m1", usage: object = None, **more: object) -> Line:
    """A turn with one tool call."""
    said = {
        "id": message,
        "role": "assistant",
        "content": [{"type": "tool_use", "id": call, "name": "Write"}],
    }
    took = {"usage": usage} if usage is not None else {}
    return {"type": "assistant", "message": {**said, **took}, "timestamp": NOW.format(at), **more}


def took(n: int) -> Line:
    """What a turn says that it took."""
    return {
        "input_tokens": n,
        "output_tokens": 2 * n,
        "cache_read_input_tokens": 3 * n,
        "cache_creation_input_tokens": 0,
    }


def text_of(rows: list[Line]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


class Stage:
    """A repository and the transcript of a session in it."""

    def __init__(self, repo: Repo, folder: Path) -> None:
        self.repo, self.path = repo, folder / "t.jsonl"
        self.rows: list[Line] = []

    def say(self, *rows: Line) -> None:
        """The agent writes on."""
        self.rows += rows
        self.path.write_bytes(text_of(self.rows))

    def write(self, path: str, text: str, call: str, **more: object) -> None:
        """The agent's hook tells of a file that it wrote."""
        old = self.repo.read(path)
        self.repo.write(path, text)
        event = payloads.claude_write(
            S, str(self.repo.root), str(self.repo.file(path)), old.decode() if old else None, text
        )
        told = {"transcript_path": str(self.path), "tool_use_id": call, **more}
        self.repo.hook("claude-code", {**event, **told})

    def why(self, place: str) -> list[Line]:
        """The prompts behind a place."""
        told = json.loads(self.repo.ralph("why", "--prompt", "--json", place).text)
        return [one["prompt"] for one in told["findings"]]

    def tokens(self) -> Line:
        """What ``session show --tokens --json`` says."""
        found: Line = json.loads(self.repo.ralph("session", "show", "--tokens", "--json", S).text)["tokens"]
        return found


@pytest.fixture
def stage(repo: Repo, tmp_path: Path) -> Stage:
    return Stage(repo, tmp_path)


def found(text: str) -> Line:
    return {"state": "found", "text": text, "more": 0}


# --- recorded transcripts ---

RECORDED_TOKENS = {
    "claude-code": Tokens(40, 0, 0, 40),
    "codex": Tokens(30, 0, 0, 30),
    "gemini": Tokens(30, 0, None, 30),
    "qwen": Tokens(40, 0, None, 40),
    "copilot": Tokens(30, None, None, 30),  # it says that it does not know what was cached
    "pi": Tokens(30, 0, 0, 30),
}


@pytest.mark.parametrize("agent", transcript_turns.AGENTS)
def test_recorded_transcripts(agent: str, repo: Repo) -> None:
    """The scripted model says 10 and 10 a turn, and pi that it does not know the price."""
    path = RECORDED / f"{agent}.jsonl"
    home = Path(repo.env["HOME"]) / "t.jsonl"
    home.parent.mkdir(parents=True, exist_ok=True)
    home.write_bytes(path.read_bytes())
    repo.ralph("session", "start", "--id", S, "--agent", agent)
    record = json.loads((repo.state / f"{S}.json").read_text())
    (repo.state / f"{S}.json").write_text(json.dumps({**record, "transcript": str(home)}))
    said = json.loads(repo.ralph("session", "show", "--tokens", "--json", S).text)["tokens"]
    assert Tokens(*(said[name] for name in Tokens._fields)) == RECORDED_TOKENS[agent]
    assert said["cost"] is None
    assert said["whole"] is True
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [p for row in rows if (p := transcript_turns.prompt(agent, row))] == ["Please do the work"]
    known = b'"call_main' if agent != "gemini" else b'"write_file__call_main'
    assert known in path.read_bytes()


@pytest.mark.parametrize("agent", transcript_turns.AGENTS)
def test_what_a_line_may_be_does_not_hide_it(agent: str) -> None:
    for raw in (RECORDED / f"{agent}.jsonl").read_bytes().splitlines():
        line = json.loads(raw)
        assert transcript_turns.prompt(agent, line) is None or transcript_turns.may_ask(agent, raw)
        assert transcript_turns.turn(agent, line) is None or transcript_turns.may_take(agent, raw)


# --- the prompt behind a line ---


def test_the_last_prompt_ahead_of_the_call_that_wrote_the_line(stage: Stage) -> None:
    stage.say(asks("make a"), calls("toolu_1"))
    stage.write("a", "one\n", "toolu_1")
    stage.say(asks("go on"), calls("toolu_2"))
    stage.write("a", "one\ntwo\n", "toolu_2")
    assert stage.why("a:1") == [found("make a")]
    assert stage.why("a:2") == [found("go on")]
    assert stage.why("a") == [found("make a"), found("go on")]
    said = stage.repo.ralph("why", "--prompt", "a:2").text
    assert "  prompt:\n  > go on\n" in said
    stage.repo.commit(S)
    assert stage.why("a:1") == [found("make a")]
    assert "prompt" not in stage.repo.ralph("why", "a:2").text
    assert "prompt" not in json.loads(stage.repo.ralph("why", "--json", "a:2").text)["findings"][0]


def test_what_is_no_persons_prompt_is_passed_over(stage: Stage) -> None:
    result = [{"type": "tool_result", "tool_use_id": "toolu_0", "content": "x"}]
    parts = [
        {"type": "text", "text": "<system-reminder>no</system-reminder>"},
        {"type": "text", "text": "yes"},
    ]
    stage.say(asks(parts), asks(result), asks("meta", isMeta=True), asks("sum", isCompactSummary=True))
    stage.say({"type": "user", "message": "odd"}, {"type": "user"}, asks(""), asks("  \n"), asks(7))
    stage.say(calls("toolu_1"))
    stage.write("a", "one\n", "toolu_1")
    assert stage.why("a:1") == [found("yes")]


def test_a_prompt_that_names_a_call_did_not_ask_for_it(stage: Stage) -> None:
    stage.say(asks("first"), calls("toolu_1"), asks('see "id":"toolu_1"'), calls("toolu_1"))
    stage.write("a", "one\n", "toolu_1")
    assert stage.why("a:1") == [found("first")]


def test_without_the_call_the_time_tells(stage: Stage) -> None:
    old, late = "2020-01-01T00:00:00.000Z", "2100-01-01T00:00:00.000Z"
    stage.say({**asks("early"), "timestamp": old}, {**asks("mine"), "timestamp": old})
    stage.say({**asks("later"), "timestamp": late})
    stage.write("a", "one\n", "toolu_1")
    assert stage.why("a:1") == [found("mine")]


def test_a_subagents_line_has_what_the_subagent_was_asked(stage: Stage) -> None:
    stage.say(asks("main"), calls("toolu_0", message="m0"))
    own = stage.path.parent / "t" / "subagents" / "agent-a1.jsonl"
    own.parent.mkdir(parents=True)
    own.write_bytes(text_of([asks("sub", isSidechain=True), calls("toolu_1", usage=took(1))]))
    stage.write("a", "one\n", "toolu_1", agent_id="a1")
    assert stage.why("a:1") == [found("sub")]
    stage.say(calls("toolu_2", usage=took(5), message="m2"))
    assert stage.tokens()["output"] is None  # the first turn of the main agent does not say
    stage.rows = stage.rows[2:]
    stage.say()
    assert stage.tokens()["output"] == 12


def test_gone_and_unknown(stage: Stage) -> None:
    stage.say(asks("make a"), calls("toolu_1"))
    stage.write("a", "one\n", "toolu_1")
    stage.repo.edit("S2", "b", "b\n")
    stage.repo.write("c", "c\n")
    stage.path.unlink()
    assert [one["state"] for one in stage.why("a:1")] == ["gone"]
    assert (
        "  prompt: gone: the agent keeps its transcript no more\n"
        in stage.repo.ralph("why", "--prompt", "a:1").text
    )
    assert [one["state"] for one in stage.why("b:1")] == ["unknown"]
    assert [one["state"] for one in stage.why("c:1")] == ["unknown"]
    assert "prompt: unknown" in stage.repo.ralph("why", "--prompt", "b:1").text
    assert stage.tokens() == {**dict.fromkeys(Tokens._fields), "cost": None, "whole": False, "commits": []}
    assert "tokens: unknown\n" in stage.repo.ralph("session", "show", "--tokens", S).text


def test_what_a_person_gave_a_session_nobody_asked_for(stage: Stage) -> None:
    stage.say(asks("make a"), calls("toolu_1"))
    stage.write("b", "b\n", "toolu_1")
    stage.repo.write("a", "one\n")
    stage.repo.ralph("assign", "--to", S, "a")
    assert [one["state"] for one in stage.why("a:1")] == ["unknown"]


def test_nothing_of_it_is_kept_or_published(stage: Stage) -> None:
    stage.say(asks("SECRET words"), calls("toolu_1", usage=took(1)))
    stage.write("a", "one\n", "toolu_1")
    stage.repo.commit(S)
    assert stage.why("a:1") == [found("SECRET words")]
    stage.tokens()
    for form in ("agent-trace", "git-ai", "markdown"):
        assert "SECRET" not in stage.repo.ralph("export", "--format", form, "HEAD^..HEAD").text
    assert "SECRET" not in stage.repo.ralph("report", "--tokens").text
    kept = [p for p in stage.repo.common.rglob("*") if p.is_file() and b"SECRET" in p.read_bytes()]
    assert kept == []


HOSTILE = "\x1b[31mred\u202e\x07\n\x9b0m\u200b\ud800 last\r\n$(rm) \t."


def test_hostile_words_are_quoted(stage: Stage) -> None:
    stage.say(asks(HOSTILE), calls("toolu_1"))
    stage.write("a", "one\n", "toolu_1")
    said = stage.repo.ralph("why", "--prompt", "a:1").out.decode()
    assert not set(said) & set("\x1b\u202e\x07\x9b\u200b\r")
    assert "  > \\x1b[31mred" in said
    assert "\n  > $(rm) \t.\n" in said
    assert stage.why("a:1") == [found(HOSTILE)]


def test_a_long_prompt_is_cut(stage: Stage) -> None:
    stage.say(asks("x" * 25_000), calls("toolu_1"))
    stage.write("a", "one\n", "toolu_1")
    (one,) = stage.why("a:1")
    assert (len(one["text"]), one["more"]) == (10_000, 15_000)
    assert "(15,000 more characters)" in stage.repo.ralph("why", "--prompt", "a:1").text


@pytest.mark.parametrize("kind", ["fifo", "folder", "link", "device", "noise", "not-ours"])
def test_a_transcript_that_is_none(kind: str, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path is what a payload said: it may be anything."""
    stage.say(asks("make a"), calls("toolu_1", usage=took(1)))
    stage.write("a", "one\n", "toolu_1")
    good = stage.path.read_bytes()
    stage.path.unlink()
    if kind == "fifo":
        os.mkfifo(stage.path)
    elif kind == "folder":
        stage.path.mkdir()
    elif kind == "link":
        (stage.path.parent / "other").write_bytes(good)
        stage.path.symlink_to(stage.path.parent / "other")
    elif kind == "device":
        record = json.loads((stage.repo.state / f"{S}.json").read_text())
        (stage.repo.state / f"{S}.json").write_text(json.dumps({**record, "transcript": "/dev/zero"}))
    elif kind == "noise":
        stage.path.write_bytes(b'\0\xff{"user"\n' * 1000 + b'["assistant"' * 9000 + b"\n" + b'"user"' * 10)
    else:
        stage.path.write_bytes(good)
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert [one["state"] for one in stage.why("a:1")] == ["unknown"]
    assert stage.tokens()["input"] is None


def test_a_huge_transcript_costs_little(stage: Stage) -> None:
    """100 MB, with a line longer than any should be."""
    stage.say(asks("make a"), calls("toolu_1", usage=took(1)))
    stage.write("a", "one\n", "toolu_1")
    result = [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "x" * 200_000}]
    filler = text_of([asks(result), calls("toolu_9", message="m9", usage=took(1))])
    with stage.path.open("ab") as file:
        for _ in range(400):
            file.write(filler)
        file.write(b'{"type":"user","pad":"' + b"x" * 20_000_000 + b'"}\n')
        file.write(text_of([calls("toolu_3", message="m3", usage=took(1))]))
    assert stage.path.stat().st_size > 100_000_000
    before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    assert stage.why("a:1") == [found("make a")]
    assert stage.tokens()["input"] == 3
    assert time.monotonic() - begun < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KiB


def test_stream_gives_whole_lines_however_they_are_cut() -> None:
    data = b"a\n\nbc\n" + b"x" * 30 + b"\nlast"
    for size in range(1, 40):
        pieces = [data[at : at + size] for at in range(0, len(data), size)] + [b""]
        assert list(jsonline.stream(_in_pieces(pieces))) == [b"a", b"", b"bc", b"x" * 30]


def _in_pieces(pieces: list[bytes]) -> Callable[[int], bytes]:
    left = iter(pieces)
    return lambda _: next(left)


# --- tokens ---


def test_a_turn_of_several_lines_counts_once_and_the_last_word_wins(stage: Stage) -> None:
    stage.say(asks("make a"), calls("toolu_1", usage=took(1)), calls("toolu_2", usage=took(2)))
    stage.write("a", "one\n", "toolu_1")
    told = stage.tokens()
    assert {**told, "commits": None} == {
        "input": 2,
        "cache_read": 6,
        "cache_write": 0,
        "output": 4,
        "cost": None,
        "whole": True,
        "commits": None,
    }
    said = stage.repo.ralph("session", "show", "--tokens", S).text
    assert "tokens: 2 input, 6 read from cache, 0 written to cache, 4 output\n" in said
    assert "tokens" not in stage.repo.ralph("session", "show", S).text


def test_tokens_by_commit(stage: Stage) -> None:
    def at(when: float) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(when))

    stage.say(asks("make a"), {**calls("toolu_1", usage=took(1)), "timestamp": at(time.time() - 60)})
    stage.write("a", "one\n", "toolu_1")
    first = stage.repo.commit(S).commit
    time.sleep(1.1)  # a turn belongs to the commit made in its second
    stage.say({**calls("toolu_2", message="m2", usage=took(10)), "timestamp": at(time.time())})
    stage.write("a", "one\ntwo\n", "toolu_2")
    second = stage.repo.commit(S).commit
    stage.say({**calls("toolu_3", message="m3", usage=took(100)), "timestamp": at(time.time() + 60)})
    told = stage.tokens()
    assert told["input"] == 111
    assert [(one["commit"], one["input"]) for one in told["commits"]] == [(first, 1), (second, 10)]
    page = json.loads(stage.repo.ralph("report", "--tokens", "--json").text)
    assert [one["tokens"]["input"] for one in page["commits"] if one["session"] == S] == [1, 10]
    assert [one["tokens"]["input"] for one in page["sessions"] if one["id"] == S] == [111]
    assert "111 input" in stage.repo.ralph("report", "--tokens").text
    bare = json.loads(stage.repo.ralph("report", "--json").text)
    assert all("tokens" not in one for one in [*bare["sessions"], *bare["commits"]])
    assert "Tokens" not in stage.repo.ralph("report").text


@pytest.mark.parametrize("odd", [-1, 1.5, True, "7", None, 10**30, [], {}, float("inf")])
def test_an_odd_number_is_not_known(odd: object, stage: Stage) -> None:
    stage.say(asks("make a"), calls("toolu_1", usage={**took(1), "output_tokens": odd}))
    stage.say(calls("toolu_2", message="m2", usage=took(1)))
    stage.write("a", "one\n", "toolu_1")
    told = stage.tokens()
    if odd == float("inf"):  # which is no JSON: the line is damaged
        assert (told["input"], told["whole"]) == (1, False)
    else:
        assert (told["input"], told["output"], told["whole"]) == (2, None, True)


def test_a_damaged_line_makes_it_at_least(stage: Stage) -> None:
    stage.say(asks("make a"), calls("toolu_1", usage=took(1)))
    stage.write("a", "one\n", "toolu_1")
    with stage.path.open("ab") as file:
        file.write(b'{"type":"assistant","message":{"id":"m2"\n')
    assert stage.tokens()["whole"] is False
    assert "tokens: at least 1 input" in stage.repo.ralph("session", "show", "--tokens", S).text


def test_a_count_that_goes_on_and_begins_anew() -> None:
    def line(n: int) -> Line:
        total = {"input_tokens": n, "cached_input_tokens": 0, "output_tokens": n}
        return {"type": "event_msg", "payload": {"type": "token_count", "info": {"total_token_usage": total}}}

    turns = [turn for n in (10, 10, 30, 5) if (turn := transcript_turns.turn("codex", line(n)))]
    assert all(turn.counted for turn in turns)
    before, spent = Tokens(0, 0, 0, 0), 0
    for turn in turns:
        spent += spending.since(before, turn.tokens).output or 0
        before = turn.tokens
    assert spent == 35
    limits: Line = {"type": "event_msg", "payload": {"type": "token_count", "info": None}}
    assert transcript_turns.turn("codex", limits) is None


def test_pi_tells_dollars() -> None:
    def line(total: object) -> Line:
        usage: Line = {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": total}}
        return {"type": "message", "id": "1", "message": {"role": "assistant", "usage": usage}}

    costs = [transcript_turns.turn("pi", line(total)) for total in (0.25, 0, -1, True, "1", None, 1e300)]
    assert [one.cost for one in costs if one] == [0.25, None, None, None, None, None, None]
    ledger = Spending(tuple(spending.SpentTurn(1.0, Tokens(1, 1, 1, 1), c) for c in (0.25, 0.5)), True, ())
    assert ledger.total().sentence().endswith(", 2 output, $0.75")
    mixed = Spending(tuple(spending.SpentTurn(1.0, Tokens(1, 1, 1, 1), c) for c in (0.25, None)), True, ())
    assert mixed.total().cost is None


def test_a_launchers_session_knows_the_transcript_of_its_agent(repo: Repo, tmp_path: Path) -> None:
    """Its record is older than the conversation, and an agent may have several of them."""
    repo.ralph("session", "start", "--id", "task-1", "--agent", "claude-code")
    for name in ("one", "two"):
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(text_of([asks(name), calls(f"toolu_{name}")]))
        event = {"session_id": name, "transcript_path": str(path), "cwd": str(repo.root), "prompt": "x"}
        env = {"RALPH_SESSION": "task-1"}
        repo.hook("claude-code", {**event, "hook_event_name": "UserPromptSubmit"}, env=env)
        assert json.loads((repo.state / "task-1.json").read_text())["transcript"] == str(path)
        silent = {key: value for key, value in event.items() if key != "transcript_path"}
        repo.hook("claude-code", {**silent, "hook_event_name": "SessionStart"}, env=env)
        assert json.loads((repo.state / "task-1.json").read_text())["transcript"] == str(path)
