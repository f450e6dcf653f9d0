"""Calls of several agents overlap in one file: each reads and writes between another's two events.

A tool call has three moments: its first event, its own read and write, its second event. Here they happen in
a random order, as agents that work side by side give it. No tool loses another's line, so each commit must
hold the lines of its agent, and nothing may be refused.
"""

import random
from collections.abc import Iterator

import pytest

from tests.support import payloads
from tests.support.repo import Repo

FILE = "shared.txt"
LINES = [f"line {number}" for number in range(1, 41)]
APART = {"claude": range(2, 20, 6), "codex": range(22, 40, 6)}
MIXED = {"claude": range(2, 40, 9), "codex": range(5, 40, 9), "other": range(8, 40, 9)}


def text(repo: Repo) -> bytes:
    found = repo.read(FILE)
    assert found is not None
    return found


def claude(repo: Repo, lines: range) -> Iterator[None]:
    """Claude Code: its answer tells the file that its tool found."""
    for number in lines:
        old, new = f"line {number}\n", f"claude {number}\n"
        event = payloads.claude_edit(
            "claude", str(repo.root), str(repo.file(FILE)), "", old, new, tool_use_id=f"toolu_{number}"
        )
        repo.hook("claude-code", payloads.claude_pre(event))
        yield
        found = text(repo).decode()
        event["tool_response"]["originalFile"] = found
        repo.write(FILE, found.replace(old, new))
        yield
        repo.hook("claude-code", event)
        yield


def codex(repo: Repo, lines: range) -> Iterator[None]:
    """Codex: its answer tells no text at all."""
    for number in lines:
        patch = (
            f"*** Begin Patch\n*** Update File: {FILE}\n@@\n-line {number}\n+codex {number}\n*** End Patch\n"
        )
        event = {
            **payloads.claude_life("PreToolUse", "codex", str(repo.root)),
            "tool_name": "apply_patch",
            "tool_input": {"command": patch},
            "tool_use_id": f"call_{number}",
        }
        repo.hook("codex", event)
        yield
        repo.write(FILE, text(repo).replace(b"line %d\n" % number, b"codex %d\n" % number))
        yield
        said = f"Exit code: 0\nOutput:\nSuccess. Updated the following files:\nM {FILE}\n"
        repo.hook("codex", {**event, "hook_event_name": "PostToolUse", "tool_response": said})
        yield


def other(repo: Repo, lines: range) -> Iterator[None]:
    """An agent of the generic form: it tells the texts that its tool found and wrote, and nothing before."""
    for number in lines:
        found = text(repo)
        after = found.replace(b"line %d\n" % number, b"other %d\n" % number)
        repo.write(FILE, after)
        yield
        event = payloads.edit("other", str(repo.root), FILE, found, after, call=f"call-{number}")
        repo.hook("generic", event)
        yield


AGENTS = {"claude": claude, "codex": codex, "other": other}


@pytest.mark.parametrize("lines", [APART, MIXED], ids=["two", "three"])
@pytest.mark.parametrize("seed", range(16))
def test_each_commit_holds_its_own_lines(repo: Repo, seed: int, lines: dict[str, range]) -> None:
    chance = random.Random(seed)
    lines_now = list(LINES)
    repo.write(FILE, "\n".join([*LINES, ""]))
    repo.commit_all("lines")
    repo.git("config", "ralph.headsUp", "off")
    at_work = [AGENTS[name](repo, numbers) for name, numbers in lines.items()]
    while at_work:
        one = chance.choice(at_work)
        if next(one, at_work) is at_work:
            at_work.remove(one)

    for name in chance.sample(sorted(lines), len(lines)):
        repo.ralph("commit", "--session", name, "-m", name)
        for number in lines[name]:
            lines_now[number - 1] = f"{name} {number}"
        assert repo.blob(FILE).decode().splitlines() == lines_now
    assert repo.git("status", "--porcelain") == ""
