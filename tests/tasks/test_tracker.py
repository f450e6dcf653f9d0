"""One bridge to ``bd``, and one rule for the ids of beads, whoever asks."""

import json
from pathlib import Path
from typing import Any

import pytest

from gitralph.tasks import tracker
from tests.support.looping import Loop
from tests.support.repo import Repo

OURS = {"id": "bd-1", "title": "Our title", "acceptance_criteria": ["one", "two"]}
OTHER = {"id": "bd-10", "title": "Their title"}


@pytest.fixture
def loop(repo: Repo, tmp_path: Path) -> Loop:
    return Loop.make(repo, tmp_path / "aside")


def fake_bd(repo: Repo, folder: Path, body: str) -> Path:
    """A ``bd`` that notes what it is asked; returns the file of notes."""
    folder.mkdir(exist_ok=True)
    (folder / "bd").write_text(f'#!/bin/sh\necho "$*" >>{folder}/asked\n{body}\n')
    (folder / "bd").chmod(0o755)
    repo.env["PATH"] = f"{folder}:{repo.env['PATH']}"
    return folder / "asked"


def prints(document: object) -> str:
    return f"echo '{json.dumps(document)}'"


ANSWERS: list[tuple[object, str | None]] = [
    (OURS, "Our title"),
    ([OURS], "Our title"),
    ([OTHER, OURS], "Our title"),
    ({"ok": True, "data": {"issues": [OTHER, OURS]}}, "Our title"),
    ({"bead_id": "bd-1", "title": "Our title"}, "Our title"),
    ({"title": "Our title"}, "Our title"),
    ({"issue": {"title": "Our title"}}, "Our title"),
    (OTHER, None),
    ([OTHER], None),
    ({"data": OTHER}, None),
    ([{"title": "Whose?"}, OTHER], None),
    ([{"title": "One"}, {"title": "Two"}], None),
    ([], None),
    ({"ok": True}, None),
    ("text", None),
]


@pytest.mark.parametrize(("answer", "title"), ANSWERS)
def test_an_answer_is_ours_only_when_it_names_our_bead_or_none(answer: object, title: str | None) -> None:
    """An answer that holds only another bead is not taken for ours."""
    found = tracker.parse(json.dumps(answer).encode(), "bd-1")
    assert (found.title if found else None) == title


def launch(repo: Repo, bead: str, code: int = 0, **given: Any) -> str:
    payload = {
        "session_id": "S1",
        "cwd": str(repo.root),
        "hook_event_name": "PreToolUse",
        "tool_name": "Agent",
        "tool_input": {"worktree_policy": "required", "bead_id": bead, "prompt": "p", **given},
    }
    return repo.ralph("hook", "claude-code", stdin=json.dumps(payload).encode(), code=code).text


def test_the_loop_and_the_launch_both_pass_over_another_bead(loop: Loop, tmp_path: Path) -> None:
    """Neither puts another bead's title before its agent, and both say that there was no answer."""
    fake_bd(loop.repo, tmp_path / "bin", prints([OTHER]))
    loop.plan("one (bead bd-1)")
    loop.script({"one (bead bd-1)": [["write", "one.txt", "1\n"]]})
    said = loop.run().said
    assert "warning: 'bd show bd-1' printed no such item" in said
    assert "Their title" not in loop.repo.git("log", "-1", "--format=%B") + loop.log()[0]["prompt"]
    loop.repo.git("config", "ralph.beads.enabled", "true")
    assert "Their title" not in launch(loop.repo, "bd-1")


def test_both_read_the_trackers_file_where_bd_is_absent(loop: Loop) -> None:
    """Without ``bd``, ``.beads/issues.jsonl`` tells: its last line about the bead."""
    rows = [{**OURS, "title": "Old"}, OTHER, {**OURS, "criteria": "x"}]
    loop.repo.write(".beads/issues.jsonl", "".join(json.dumps(row) + "\n" for row in rows) + '{"id":"bd-1"')
    loop.base = loop.repo.commit_all("tracker")
    loop.plan("one (bead bd-1)")
    loop.script({"one (bead bd-1)": [["write", "one.txt", "1\n"]]})
    assert loop.run().said.count("the tracker 'bd' is not on PATH") == 1, "it is not claimed either"
    assert "Our title\n\n- one\n- two" in loop.repo.git("log", "-1", "--format=%B")
    assert "Our title" in launch(loop.repo, "bd-1")


def test_a_tracker_that_is_switched_off_is_never_started(loop: Loop, tmp_path: Path) -> None:
    """``ralph.beads.enabled=false`` holds for the loop as for the launch."""
    asked = fake_bd(loop.repo, tmp_path / "bin", prints(OURS))
    for key, value in (("enabled", "false"), ("claim", "true"), ("close", "true")):
        loop.repo.git("config", f"ralph.beads.{key}", value)
    loop.plan("one (bead bd-1)")
    loop.script({"one (bead bd-1)": [["write", "one.txt", "1\n"]]})
    loop.run()
    launch(loop.repo, "bd-2")
    assert not asked.exists()


def test_the_loop_claims_by_status_where_bd_knows_no_claim(loop: Loop, tmp_path: Path) -> None:
    """An older ``bd`` refuses the flag."""
    body = 'case "$*" in *--claim*) echo "unknown flag: --claim" >&2; exit 1;; esac\n' + prints(OURS)
    asked = fake_bd(loop.repo, tmp_path / "bin", body)
    loop.plan("one (bead bd-1)")
    loop.script({"one (bead bd-1)": [["write", "one.txt", "1\n"]]})
    assert "warning" not in loop.run().said
    assert "update bd-1 --status in_progress" in asked.read_text()


IDS = [
    ("bd-a3f8.1", True),
    ("b" * 110, True),
    ("b" * 120, True),
    ("b" * 121, False),
    ("x.lock", False),
    ("x.LOCK", False),
    ("x.", False),
    ("a..b", False),
    ("-x", False),
]


@pytest.mark.parametrize(("bead", "allowed"), IDS)
def test_every_road_agrees_which_ids_are_a_beads(repo: Repo, bead: str, allowed: bool) -> None:
    """A worktree, a run's option, a task's text and a launch take the same ids."""
    repo.ralph("run", "--bead", bead, "--dry-run", "--", "true", code=0 if allowed else 129)
    repo.write("plan.md", f"- [ ] one (bead {bead})\n")
    shown = repo.ralph("run", "plan.md", "--dry-run", "--", "true").text
    assert (f"RALPH_BEAD={bead}\n" in shown) is allowed
    launch(repo, bead, code=0 if allowed else 2)
    if not bead.startswith("-"):
        repo.ralph("worktree", "add", bead, "--session", "S1", code=0 if allowed else 129)
