"""The plain ``git commit`` of a run's agents takes their own lines only, whatever ``ralph.guard`` says."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from gitralph.decide.request import Result
from gitralph.git.context import Context
from gitralph.tasks.loop import account
from gitralph.tasks.loop.account import Account
from gitralph.tasks.loop.ledger import AGENT, Job, Ledger
from tests.support.looping import Loop
from tests.support.repo import Repo
from tests.support.runner import wait_for
from tests.support.stub_agent import Do


@pytest.fixture
def loop(repo: Repo, tmp_path: Path) -> Loop:
    return Loop.make(repo, tmp_path / "aside")


WAIT = "while ! test -e {}; do sleep 0.05; done"


def committing(loop: Loop) -> dict[str, list[Do]]:
    """One agent commits everything by plain git while another's file is half done."""
    done = loop.aside / "done"
    plain: list[Do] = [
        ["sh", WAIT.format("other.txt")],
        ["write", "mine.txt", "mine\n"],
        ["sh", "git add -A && git commit -qm 'by hand'"],
        ["once", str(done)],
    ]
    other: list[Do] = [
        ["write", "other.txt", "half\n"],
        ["sh", WAIT.format(done)],
        ["write", "other.txt", "whole\n"],
    ]
    return {"plain": plain, "other": other}


@pytest.mark.parametrize("guard", ["none", "off", "installed", "a hook of the user's"])
def test_what_an_agent_commits_itself_holds_no_line_of_another_task(loop: Loop, guard: str) -> None:
    if guard == "off":
        loop.repo.git("config", "ralph.guard", "off")
    elif guard == "installed":
        loop.repo.ralph("install", "--guard", "--project")
    elif guard == "a hook of the user's":
        hook = loop.repo.common / "hooks/pre-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\necho ran >> {loop.aside}/hook\n")
        hook.chmod(0o755)
    before = sorted(path.name for path in (loop.repo.common / "hooks").glob("*"))
    loop.plan("plain", "other")
    loop.script(committing(loop))
    loop.run("--jobs", "2")
    assert loop.boxes() == "xx"
    assert sorted(map(str, loop.commits())) == ["{'mine.txt': 'A'}", "{'other.txt': 'A'}"]
    assert loop.repo.git("log", "--format=%s").splitlines().count("by hand") == 1
    found = {task["text"]: task for task in loop.last_run()["tasks"]}
    assert found["plain"]["outcome"] == "committed"
    assert loop.repo.git("log", "-1", "--format=%s", found["plain"]["commit"]) == "by hand"
    assert sorted(path.name for path in (loop.repo.common / "hooks").glob("*")) == before
    if guard.startswith("a hook"):
        assert "ran" in (loop.aside / "hook").read_text()


def test_what_landed_by_a_commit_past_the_guard_is_no_no_op(loop: Loop) -> None:
    """``--no-verify`` is git's own: the ledger names the commit, and what else it holds."""
    loop.plan("plain", "other")
    script = committing(loop)
    script["plain"][2] = ["sh", "git add -A && git commit -qnm 'by hand'"]
    # Beside it a hook that lags: for a moment the other's edit is nobody's.
    script["other"][2] = ["late", "other.txt", "whole\n", 1.0]
    loop.script(script)
    said = loop.run("--jobs", "2").said
    by_hand = loop.repo.git("log", "-1", "--format=%H", "--grep", "by hand")
    found = {task["text"]: task for task in loop.last_run()["tasks"]}
    assert (found["plain"]["outcome"], found["plain"]["commit"]) == ("committed", by_hand)
    assert f"its edits are in {by_hand[:7]}, made by plain git, which holds 'other.txt'" in said
    assert found["other"]["commit"] not in (None, by_hand)


def test_a_look_that_a_commit_overtook_is_taken_again(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another task landed between two questions of the look is held against nobody."""
    loop.plan("idle")
    loop.script({"idle": [["sh", "true"]]})
    real, looks = account.take, list[Account]()

    def take(ctx: Context, ledger: Ledger, job: Job, result: Result) -> Account:
        looks.append(real(ctx, ledger, job, result))
        if len(looks) > 1:
            return looks[-1]
        loop.repo.git("commit", "-q", "--allow-empty", "-m", "beside")
        return replace(looks[0], doubtful=["other.txt"])

    monkeypatch.setattr(account, "take", take)
    loop.run()
    assert [task["outcome"] for task in loop.last_run()["tasks"]] == ["no-op"]
    assert len(looks) == 2


def test_looks_end_where_commits_never_pause(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    loop.plan("idle")
    loop.script({"idle": [["sh", "true"]]})
    looks = list[Account]()

    def take(_ctx: Context, _ledger: Ledger, _job: Job, _result: Result) -> Account:
        looks.append(Account(doubtful=["other.txt"]))
        assert len(looks) < 50
        loop.repo.git("commit", "-q", "--allow-empty", "-m", "beside")
        return looks[-1]

    monkeypatch.setattr(account, "take", take)
    loop.run(code=1)
    assert [task["outcome"] for task in loop.last_run()["tasks"]] == ["failed"]


def test_a_task_without_changes_waits_for_the_slow_hook_of_another(loop: Loop) -> None:
    """Between the write and the hook the change is nobody's; it is not held against a no-op."""
    loop.plan("idle", "other")
    loop.script(
        {"idle": [["sh", WAIT.format("other.txt")]], "other": [["late", "other.txt", "whole\n", 1.0]]}
    )
    loop.run("--jobs", "2")
    assert loop.boxes() == "xx"
    assert [task["outcome"] for task in loop.last_run()["tasks"]] == ["no-op", "committed"]


def test_a_task_that_ends_behind_the_look_is_no_reason_against_another(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it wrote was nobody's when the other's changes were looked at, and is recorded by now."""
    loop.plan("idle", "other")
    loop.script(
        {"idle": [["sh", WAIT.format("other.txt")]], "other": [["late", "other.txt", "whole\n", 1.0]]}
    )
    real = account.take

    def take(ctx: Context, ledger: Ledger, job: Job, result: Result) -> account.Account:
        found = real(ctx, ledger, job, result)
        if found.doubtful:
            other = next(one for one in ledger.jobs if one is not job)
            assert wait_for(lambda: other.step != AGENT or other.outcome is not None)
        return found

    monkeypatch.setattr(account, "take", take)
    loop.run("--jobs", "2")
    assert [task["outcome"] for task in loop.last_run()["tasks"]] == ["no-op", "committed"]


@pytest.mark.parametrize("guard", ["none", "installed"])
def test_a_login_shell_of_an_agent_finds_the_guard_s_program(loop: Loop, guard: str) -> None:
    """It sets PATH anew; and where an agent is stopped, no word tells it how to get round the guard."""
    if guard == "installed":
        loop.repo.ralph("install", "--guard", "--project")
    loop.plan("one", "two")
    bare = "PATH=/usr/bin:/bin; git add -A && git commit -qm 'by hand'"
    loop.script({"one": [["write", "one.txt", "1\n"], ["sh", bare]], "two": [["sh", f"{bare} || true"]]})
    loop.repo.write("mine.txt", "a person's\n")
    loop.run()
    assert loop.subjects() == ["by hand"]
    assert loop.commits() == [{"one.txt": "A"}]
    said = loop.repo.ralph("run", "logs", "2").text
    assert "error: nothing of session" in said
    assert "--no-verify" not in said


def test_an_agent_may_commit_in_other_repositories(loop: Loop) -> None:
    """The tests that it runs, say; their own hooks count there."""
    where = loop.aside / "other"
    subprocess.run(["git", "init", "-q", str(where)], check=True, env=loop.repo.env)
    hook = where / ".git/hooks/commit-msg"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\necho "signed" >> "$1"\n')
    hook.chmod(0o755)
    loop.plan("one")
    loop.script(
        {
            "one": [
                ["sh", f"cd {where} && echo x > x && git add x && git commit -qm there"],
                ["write", "one.txt", "1\n"],
            ]
        }
    )
    loop.run()
    assert loop.commits() == [{"one.txt": "A"}]
    said = subprocess.run(
        ["git", "log", "-1", "--format=%B"], cwd=where, env=loop.repo.env, capture_output=True, check=True
    )
    assert said.stdout.split() == [b"there", b"signed"]
