"""An agent that was killed while its shell command ran: whose lines its open window keeps from others.

A command of which no end was told may still change anything. It counts as over where it can be known that
neither the agent nor a shell of it runs, or where somebody says that the session is over; never by a clock.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gitralph.base import process
from gitralph.hook import shellwatch
from tests.support import payloads, runner, shells
from tests.support.repo import Repo
from tests.support.shells import Shell
from tests.support.texts import TEN

pytestmark = pytest.mark.skipif(process.space() is None, reason="no /proc here: NOT TRIED, KILLED AGENTS")

GIT_RALPH = str(Path(sys.executable).with_name("git-ralph"))
# Runs one program after the other, as an agent runs its hooks and starts its shells.
AGENT = """
import json, subprocess, sys
for line in sys.stdin:
    told = json.loads(line)
    child = subprocess.Popen(told["words"], stdin=subprocess.PIPE, env=told["env"], cwd=told["cwd"])
    child.stdin.write(told["given"].encode())
    child.stdin.close()
    if told["waits"]:
        child.wait()
    print(child.pid, flush=True)
"""


class Agent:
    """An agent with a process of its own, which can be killed, and a session of which no other test knows."""

    def __init__(self, repo: Repo, name: str = "claude-code", wrapper: tuple[str, ...] = ()) -> None:
        self.repo = repo
        self.name = name
        self.session = f"S2-{os.urandom(6).hex()}"
        self.wrapper = wrapper
        pipe = subprocess.PIPE
        self.child = subprocess.Popen([sys.executable, "-c", AGENT], stdin=pipe, stdout=pipe)
        self.left: list[int] = []

    def _run(self, words: list[str], given: str = "", waits: bool = True, **env: str) -> int:
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        told = {"words": words, "given": given, "waits": waits, "cwd": str(self.repo.root)}
        row = json.dumps({**told, "env": {**self.repo.env, **env}})
        self.child.stdin.write(row.encode() + b"\n")
        self.child.stdin.flush()
        return int(self.child.stdout.readline())

    def hook(self, payload: dict[str, Any]) -> None:
        self._run([*self.wrapper, GIT_RALPH, "hook", self.name], json.dumps(payload))

    def begin(self) -> "Agent":
        """A session's start, and the event before a shell command."""
        root = str(self.repo.root)
        if self.name == "generic":
            told = {"session": self.session, "cwd": root}
            self.hook({**told, "event": "start"})
            self.hook({**told, "event": "shell-start", "call": "c"})
        else:
            self.hook(payloads.claude_life("SessionStart", self.session, root))
            self.hook(shells.event("PreToolUse", self.session, "toolu_2", root, "x"))
        return self

    def work(self, command: str, waits: bool = True) -> None:
        """The command itself, in a shell that knows the session."""
        pid = self._run(["/bin/sh", "-c", command], waits=waits, CLAUDE_CODE_SESSION_ID=self.session)
        self.left += [] if waits else [pid]

    def kill(self) -> None:
        self.child.kill()
        self.child.wait()

    def end_shells(self) -> None:
        for pid in self.left:
            os.kill(pid, 9)
        for pid in self.left:
            while process.identity(pid) is not None:
                pass
        self.left = []


@pytest.fixture
def agent(repo: Repo) -> Iterator[Callable[..., Agent]]:
    """Makes agents, of which nothing is left afterwards."""
    made: list[Agent] = []

    def make(*args: Any, **how: Any) -> Agent:
        made.append(Agent(repo, *args, **how))
        return made[-1]

    yield make
    for one in made:
        one.end_shells()
        one.kill()
        for stream in (one.child.stdin, one.child.stdout):
            assert stream is not None
            stream.close()


def _sed(repo: Repo, line: int) -> dict[str, str]:
    """S1's shell changes a line of ``a``; what its commit leaves, and why."""
    shells.run(repo, "S1", f"sed -i 's/^line {line}$/{line} of S1/' a")
    return repo.commit("S1").left


def test_a_killed_agent_contests_nothing_that_comes_after(repo: Repo, agent: Callable[..., Agent]) -> None:
    """Its command ended with it, at the latest when the next one begins."""
    killed = agent().begin()
    killed.work("echo half >> b; echo half > n")
    killed.kill()
    assert _sed(repo, 3) == {}
    assert repo.blob("a").decode() == TEN.replace("line 3\n", "3 of S1\n")
    assert repo.blob("b") == TEN.encode()
    # what it had done is offered, as of every command whose end nobody saw
    answer = repo.commit(killed.session)
    assert (answer.paths, answer.left) == ({}, {"b": "shell", "n": "shell"})
    assert repo.commit(killed.session, "--with-shell").paths == {"b": "M", "n": "A"}


def test_an_agent_that_lives_goes_on(repo: Repo, agent: Callable[..., Agent]) -> None:
    agent().begin()
    assert _sed(repo, 3) == {"a": "contested"}


def test_its_shell_outlives_it(repo: Repo, agent: Callable[..., Agent]) -> None:
    """A killed agent leaves its command behind, which writes on: then the window is open."""
    killed = agent().begin()
    killed.work("exec sleep 600", waits=False)
    killed.kill()
    assert _sed(repo, 3) == {"a": "contested"}
    killed.end_shells()
    shells.run(repo, "S1", "sed -i 's/^line 8$/8 of S1/' b")
    assert repo.commit("S1").paths == {"b": "M"}


def test_a_shell_that_is_being_started_is_looked_at_again(
    repo: Repo, agent: Callable[..., Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within execve(2) /proc shows neither words nor variables of a process."""
    killed = agent().begin()
    killed.work("exec sleep 600", waits=False)
    killed.kill()
    hidden = [3]

    def opened(name: str, *how: Any, **more: Any) -> Any:
        if name == f"/proc/{killed.left[0]}/environ" and hidden[0] > 0:
            hidden[0] -= 1
            return open(os.devnull, *how, **more)
        return open(name, *how, **more)

    monkeypatch.setattr(process, "open", opened, raising=False)
    monkeypatch.setattr(process, "words", lambda _pid: [] if hidden[0] else [b"sleep"])
    assert _sed(repo, 3) == {"a": "contested"}
    assert hidden == [0]


def test_a_program_without_variables_is_no_shell_of_it(repo: Repo, agent: Callable[..., Agent]) -> None:
    """It is not waited for either: it has been started, and nothing says whose it is."""
    killed = agent().begin()
    killed.work("exec env -i sleep 600", waits=False)
    killed.kill()
    assert runner.wait_for(lambda: process.words(killed.left[0]) == [b"sleep", b"600"])
    assert _sed(repo, 3) == {}


@pytest.mark.parametrize("why", ["no id in its shell", "a wrapper", "another machine", "damage"])
def test_where_nobody_can_tell_it_goes_on(repo: Repo, agent: Callable[..., Agent], why: str) -> None:
    if why == "a wrapper" and shutil.which("timeout") is None:
        pytest.skip("needs timeout")
    name = "generic" if why.startswith("no id") else "claude-code"
    killed = agent(name, wrapper=("timeout", "60") if why == "a wrapper" else ()).begin()
    [kept] = list((repo.state / "calls").rglob("shell-*"))
    told = json.loads(kept.read_text())
    if why == "another machine":
        kept.write_text(json.dumps({**told, "space": "pid:[1]"}))
    elif why == "damage":
        kept.write_text(json.dumps({**told, "process": {"pid": -1, "start": [], "boot": None}}))
    killed.kill()
    assert _sed(repo, 3) == {"a": "contested"}


def test_who_says_that_the_session_is_over(repo: Repo) -> None:
    """The refusal names what has not ended, and to a person the command that ends it; which works."""
    Shell(repo, "S2").begin().work("echo half >> b")
    shells.run(repo, "S1", "sed -i 's/^line 3$/3 of S1/' a")
    answer = repo.commit("S1")
    name = repo.called("S2")
    [row] = answer.document["left"]
    assert row["reason"] == "contested"
    assert row["detail"].endswith("no end was told of a shell command of 'S2'")
    assert f"no end was told of a shell command of '{name}'" in answer.said
    assert f"hint: git ralph session end {name}  # if it is over" in answer.said
    repo.ralph("session", "end", name)
    answer = repo.commit("S1")
    assert "session end" not in answer.said
    shells.run(repo, "S1", "sed -i 's/^line 8$/8 of S1/' u")
    answer = repo.commit("S1")
    assert answer.paths == {"u": "M"}
    assert repo.commit("S1", "--with-shell").paths == {"a": "M"}
    assert repo.commit("S2").left == {"b": "shell"}


def _said_by_status(repo: Repo, **env: str) -> list[str]:
    return [row for row in repo.ralph("status", env=env).said.splitlines() if "no end was told" in row]


def test_status_names_it_once_to_a_person_and_what_ends_it(repo: Repo) -> None:
    Shell(repo, "S2").begin()
    assert _said_by_status(repo) == []  # it keeps nothing from anybody
    for path in ("a", "b"):
        shells.run(repo, "S1", f"sed -i 's/^line 3$/3 of S1/' {path}")
    name = repo.called("S2")
    [row] = _said_by_status(repo)
    assert row.startswith(f"note: no end was told of a shell command of '{name}'; ")
    assert f"hint: git ralph session end {name}  # if it is over" in repo.ralph("status").said
    assert _said_by_status(repo, CLAUDE_CODE_SESSION_ID="S1") == []
    assert repo.ralph("status", "--short").said == ""
    repo.ralph("session", "end", name)
    assert "session end" not in repo.ralph("status").said
    assert _said_by_status(repo) == []


def test_status_says_nothing_of_a_command_that_runs(repo: Repo, agent: Callable[..., Agent]) -> None:
    at_work = agent().begin()
    at_work.work("exec sleep 600", waits=False)
    assert _sed(repo, 3) == {"a": "contested"}
    assert _said_by_status(repo) == []
    at_work.kill()
    assert _said_by_status(repo) == []  # its shell runs on
    at_work.end_shells()
    assert len(_said_by_status(repo)) == 1


def test_an_agent_is_not_told_to_end_anothers_session(repo: Repo) -> None:
    Shell(repo, "S2").begin()
    shells.run(repo, "S1", "sed -i 's/^line 3$/3 of S1/' a")
    answer = repo.commit(None, env={"CLAUDE_CODE_SESSION_ID": "S1"})
    assert answer.left == {"a": "contested"}
    assert "session end" not in answer.said


def test_what_cannot_be_ended_stands_in_nobodys_way(
    repo: Repo, agent: Callable[..., Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command that begins is watched all the same, and the log says what went wrong."""
    killed = agent().begin()
    killed.kill()

    def fails(*_: object) -> bool:
        raise OSError("no more files")

    with monkeypatch.context() as patched:
        patched.setattr(shellwatch, "is_dead", fails)
        assert _sed(repo, 3) == {"a": "contested"}
    assert "an agent that is gone was not ended: no more files" in (repo.state / "hooks.log").read_text()


# --- an agent that was started in a command of another ---

INNER = f"""
import json, os, subprocess, sys
session, root, command = sys.argv[1:]
def send(event):
    told = {{"session": session, "cwd": root, "event": event, "call": "inner", "command": command}}
    subprocess.run([{GIT_RALPH!r}, "hook", "generic"], input=json.dumps(told).encode(), check=True)
send("start")
send("shell-start")
subprocess.run(["/bin/sh", "-c", command], check=True)
send("shell-end")
"""


@pytest.mark.parametrize("is_nested", [True, False])
def test_what_an_agent_does_that_was_started_in_anothers_command_is_its_own(
    repo: Repo, agent: Callable[..., Agent], is_nested: bool
) -> None:
    """Each change of a task's agent was contested where `git ralph run` was started by an agent."""
    outer = agent().begin()
    root, session = str(repo.root), f"inner-{os.urandom(6).hex()}"
    words = [sys.executable, "-c", INNER, session, root, "sed -i 's/^line 3$/three/' a"]
    if is_nested:
        outer._run(words)
    else:
        subprocess.run(words, cwd=root, env=repo.env, check=True)
    outer.work("sed -i 's/^line 8$/eight/' a")
    outer.hook(shells.event("PostToolUse", outer.session, "toolu_2", root, "x"))
    if is_nested:
        assert repo.commit(session).paths == {"a": "M"}
        assert repo.blob("a").decode() == TEN.replace("line 3\n", "three\n")
        assert repo.commit(outer.session).paths == {"a": "M"}
        assert repo.blob("a") == repo.read("a")
    else:
        assert repo.commit(session).left == {"a": "contested"}


@pytest.mark.parametrize("goes_on", ["tool", "shell"])
def test_who_goes_on_after_its_end_is_live_again(repo: Repo, goes_on: str) -> None:
    """A person had ended the session: his commit took its next lines, and he was not told."""
    repo.edit("S1", "a", TEN.replace("line 2", "two of S1"))
    repo.ralph("session", "end", "S1")
    assert [row["state"] for row in repo.ralph("session", "list", "--json").json()] == ["ended"]
    if goes_on == "tool":
        repo.edit("S1", "a", TEN.replace("line 2", "two of S1").replace("line 5", "five of S1"))
    else:
        shells.run(repo, "S1", "sed -i 's/^line 5$/five/' a")
    assert [row["state"] for row in repo.ralph("session", "list", "--json").json()] == ["live"]
