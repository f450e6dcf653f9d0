"""A turn of the real Claude Code is undone, and redone, while another real agent is at work in the file."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.real_agents.clients import Run, Stage, Turn, call, finished, need
from tests.real_agents.scripts import WORKS, change_lines
from tests.real_agents.test_at_work import sessions
from tests.support.repo import Repo

pytestmark = pytest.mark.agents

_GO_ON = "touch .git/{}; until [ -e .git/{} ]; do sleep 0.1; done"


def edit(agent: str, number: int, word: str) -> list[Turn]:
    """``line 7`` becomes ``<word> 7``; the line after it is looked for too."""
    return change_lines(agent, range(number, number + 1), word)


def turns_of(other: str) -> list[Turn]:
    """Edits beside those that are undone, before, while they are away, and after they are back."""
    name, key = ("exec_command", "cmd") if other == "codex" else ("bash", "command")
    return [
        *edit(other, 5, "theirs"),
        call(name, **{key: _GO_ON.format("first", "undone")}),
        *edit(other, 11, "theirs"),
        *edit(other, 30, "theirs"),
        call(name, **{key: _GO_ON.format("second", "redone")}),
        *edit(other, 50, "theirs"),
    ]


@contextmanager
def at_work(stage: Stage, other: str) -> Iterator[Run]:
    run = stage.start(other, turns_of(other), *WORKS[other].extra)
    try:
        yield run
    finally:
        for mark in ("undone", "redone"):
            (stage.repo / ".git" / mark).touch()
        if run.child.poll() is None:
            run.child.communicate()


def wait_for(stage: Stage, mark: str, run: Run) -> None:
    """Until the agent at work has reached a place in its script."""
    end = time.monotonic() + 120
    while not (stage.repo / ".git" / mark).exists():
        assert run.child.poll() is None, "the agent has ended before its time"
        assert time.monotonic() < end, f"'{mark}' was never reached"
        time.sleep(0.05)


def resume(stage: Stage, turns: list[Turn]) -> None:
    """Claude Code goes on in its last conversation, whose history the script must not count."""
    told = {"name": "resumed", "select": "counter", "turns": [*turns, {"text": "All done."}]}
    stage.run("claude-code", [], "--arg=--continue", others=[told])


def lines(words: dict[int, str]) -> str:
    return "".join(f"{words.get(number, 'line')} {number}\n" for number in range(1, 61))


@pytest.mark.parametrize("other", ["pi", "codex"])
def test_a_turn_goes_and_comes_back_while_the_other_works(
    workshop: Stage, empty_repo: Repo, other: str
) -> None:
    """Byte by byte after each step: the other's lines beside the undone ones stay, both commits are true."""
    need("claude-code", other)
    repo = empty_repo
    workshop.ralph("install", "--agent", "claude-code", "--agent", other)
    workshop.run("claude-code", edit("claude-code", 20, "first"))
    theirs, mine = {5: "theirs"}, {9: "mine", 20: "first", 32: "mine"}

    def holds(*parts: dict[int, str]) -> None:
        words = {number: word for part in parts for number, word in part.items()}
        assert (repo.read("shared.txt") or b"").decode() == lines(words)

    with at_work(workshop, other) as run:
        wait_for(workshop, "first", run)
        resume(workshop, [*edit("claude-code", 9, "mine"), *edit("claude-code", 32, "mine")])
        claude = sessions(workshop)["claude-code"]
        holds(theirs, mine)

        # a person takes back the last turn, and the other goes on beside it
        said = json.loads(workshop.ralph("undo", "--session", claude, "--last", "2", "--json"))
        assert (said["status"], said["left"]) == ("undone", [])
        holds(theirs, {20: "first"})
        repo.write(".git/undone", "")
        wait_for(workshop, "second", run)
        theirs |= {11: "theirs", 30: "theirs"}
        holds(theirs, {20: "first"})

        # Claude Code brings it back from its own shell, which knows whose it is
        resume(workshop, [call("Bash", command="git ralph undo --redo")])
        holds(theirs, mine)
        repo.write(".git/redone", "")
        finished(run)
    theirs |= {50: "theirs"}
    holds(theirs, mine)

    for agent in ("claude-code", other):
        workshop.ralph("commit", "--session", sessions(workshop)[agent], "-m", agent)
    assert repo.blob("shared.txt", "HEAD~").decode() == lines(mine)
    assert repo.blob("shared.txt", "HEAD").decode() == lines(theirs | mine)
    assert repo.git("status", "--porcelain") == ""
    repo.git("fsck", "--strict")
