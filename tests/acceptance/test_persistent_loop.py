"""The loop goes on by itself, within its limits, and stops when asked, whatever its children do."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from gitralph.base.errors import Fatal
from gitralph.tasks.loop.schedule import Crew
from tests.support import runner
from tests.support.looping import Loop
from tests.support.repo import Repo
from tests.support.runner import wait_for
from tests.support.size import FULL
from tests.support.stub_agent import Do


@pytest.fixture
def loop(repo: Repo, tmp_path: Path) -> Loop:
    return Loop.make(repo, tmp_path / "aside")


def writing(*names: str) -> dict[str, list[Do]]:
    return {name: [["write", f"{name}.txt", f"{name}\n"]] for name in names}


# --- a check that fails ---


def test_a_failed_check_goes_into_the_next_call(loop: Loop) -> None:
    """In the same run, with what it printed; each call counts."""
    loop.plan("one")
    mark = str(loop.aside / "m")
    loop.script(
        {"one": [["once", mark, ["write", "one.txt", "bad\n"], ["exit", 0]], ["write", "one.txt", "good\n"]]}
    )
    check = "grep -q good one.txt || { echo 'one.txt is not good'; exit 3; }"
    said = loop.run("--max-iterations", "2", "--verify", check)
    assert "the agent has another look" in said.said
    assert "one.txt is not good" in loop.log()[1]["prompt"]
    assert len({row["session"] for row in loop.log()}) == 1
    assert (loop.boxes(), loop.commits(), loop.repo.blob("one.txt")) == ("x", [{"one.txt": "A"}], b"good\n")


def test_the_limit_of_calls_holds_for_checks_too(loop: Loop) -> None:
    loop.plan("one")
    loop.script(writing("one"))
    loop.run("--max-iterations", "3", "--verify", "false", code=1)
    assert (loop.boxes(), len(loop.log())) == (" ", 3)


def test_a_line_without_end_in_a_failed_check_stops_nothing(loop: Loop) -> None:
    """200 KB in one line: too long for an argument of the next call."""
    loop.plan("one")
    loop.script(writing("one"))
    check = f"test -e {loop.aside}/ok || {{ head -c 200000 /dev/zero | tr '\\0' x; exit 1; }}"
    words = [
        "--",
        "sh",
        "-c",
        'echo "$1" | wc -c; echo one > one.txt; git ralph track one.txt',
        "x",
        "{prompt}",
    ]
    loop.repo.ralph("run", "plan.md", "--verify", check, *words, code=1)
    (loop.aside / "ok").touch()
    loop.repo.ralph("run", "--resume")
    assert loop.boxes() == "x"


def test_a_task_that_is_too_long_for_an_argument_reaches_the_agent(loop: Loop) -> None:
    """Details above 128 KiB, and a NUL; the rest is read from a file that the prompt names."""
    loop.repo.write("plan.md", b"- [ ] one \0 more\n  " + b"detail " * 30000 + b"\n  the end\n")
    out = loop.aside / "out"
    command = f'printf "%s" "$1" > {out}'
    loop.repo.ralph("run", "plan.md", "--", "sh", "-c", command, "x", "{prompt}")
    text = out.read_text()
    assert len(text) < 1 << 17
    assert "the end" in Path(text.strip().rpartition(" ")[2]).read_text()
    assert loop.boxes() == "x"


# --- limits ---


def test_an_agent_is_stopped_when_its_time_is_over(loop: Loop) -> None:
    loop.plan("one", "two")
    loop.script({"one": [["write", "one.txt", "1\n"], ["sleep", 300]], **writing("two")})
    said = loop.run("--task-timeout", "2s", "--keep-going", code=1)
    assert "the agent took longer than 2 s and was stopped" in said.said
    assert (loop.boxes(), loop.commits()) == (" x", [{"two.txt": "A"}])
    assert loop.repo.pending(loop.log()[0]["session"]) == ["one.txt"]


@pytest.mark.parametrize("prove", ["--prove", "--no-prove"])
def test_a_check_is_stopped_when_its_time_is_over(loop: Loop, prove: str) -> None:
    loop.plan("one")
    loop.script(writing("one"))
    said = loop.run("--check-timeout", "1", "--verify", "sleep 300", prove, code=1)
    assert "was stopped" in said.said
    assert (loop.boxes(), loop.commits()) == (" ", [])


def test_the_loop_is_stopped_when_its_time_is_over(loop: Loop) -> None:
    """What was at work is kept, and resumed."""
    loop.plan("one", "two")
    loop.script({**writing("one", "two"), "two": [["once", str(loop.aside / "m"), ["sleep", 300]]]})
    said = loop.run("--max-time", "3s", code=1)
    assert "the time of the loop is over" in said.said
    assert loop.boxes() == "x "
    loop.repo.ralph("run", "--resume", "--max-time", "1h")
    assert loop.boxes() == "xx"


@pytest.mark.parametrize("text", ["0", "-1", "5x", "", "1e9", "inf"])
def test_what_is_no_time_is_a_usage_error(loop: Loop, text: str) -> None:
    loop.plan("one")
    loop.run("--max-time", text, code=129)
    assert loop.worked() == []


def test_the_loop_goes_on_after_a_failure_when_told_to(loop: Loop) -> None:
    """Exit 1 all the same; a row of failures means that something else is wrong."""
    loop.plan("one", "two", "three")
    loop.script({**writing("one", "three"), "two": [["exit", 1]]})
    loop.run("--keep-going", code=1)
    assert loop.boxes() == "x x"
    loop.plan(*map(str, range(8)), name="other.md")
    loop.script({str(n): [["exit", 1]] for n in range(8)})
    said = loop.run("other.md", "--keep-going", code=1)
    assert "5 tasks in a row came to nothing" in said.said
    assert loop.worked()[3:] == list("01234")


def test_a_task_is_skipped_and_the_loop_goes_on(loop: Loop) -> None:
    """The box stays open; the next run passes it over as well, until it is named."""
    loop.plan("one", "two", "three")
    loop.script({**writing("one", "three"), "two": [["exit", 1]]})
    loop.run(code=1)
    assert loop.repo.ralph("run", "skip", "2").text == "skipped: two\n"
    loop.repo.ralph("run", "skip", "1", code=4)
    unknown = loop.repo.ralph("run", "skip", "nosuch", code=128).said
    # no hint at 'git ralph plan show', which shows the plan in use, and none is
    assert unknown == "fatal: the plan has no task 'nosuch': its tasks are 1 to 3\n"
    said = loop.repo.ralph("run", "--resume")
    assert loop.boxes() == "x x"
    assert "Task 2/3: skipped" in said.said
    assert loop.last_run()["tasks"][1]["outcome"] == "skipped"
    loop.run()
    assert loop.worked() == ["one", "two", "three"]
    loop.script(writing("two"))
    loop.run("--from", "two")
    assert loop.boxes() == "xxx"


def test_the_loop_begins_where_it_is_told_to(loop: Loop) -> None:
    loop.plan("one", "two", "three")
    loop.script(writing("one", "two", "three"))
    loop.run("--from", "2", "--max-tasks", "1")
    assert loop.boxes() == " x "
    loop.run("--from", "nosuch", code=128)
    loop.run("--from", "three")
    assert loop.boxes() == " xx"


def test_an_agent_whose_service_is_busy_is_called_again(loop: Loop) -> None:
    """Later each time, without counting as an iteration."""
    loop.repo.git("config", "ralph.backOff", "0.1")
    loop.plan("one")
    busy = [
        ["once", str(loop.aside / str(n)), ["say", "Error 429: rate limit"], ["exit", 1]] for n in range(2)
    ]
    loop.script({"one": [*busy, *writing("one")["one"]]})
    said = loop.run()
    assert said.said.count("too much is asked of it") == 2
    assert (loop.boxes(), len(loop.log()), loop.last_run()["tasks"][0]["iteration"]) == ("x", 3, 1)


def test_a_plan_that_grows_without_end_is_bounded(loop: Loop) -> None:
    """An agent that adds a task for each one it does."""
    loop.repo.git("config", "ralph.maxAdded", "3")
    loop.plan("one")
    command = 'echo "- [ ] more $RALPH_TASK_NUM" >> plan.md'
    said = loop.repo.ralph("run", "plan.md", "--", "sh", "-c", command)
    assert "the plan grew by more than 3 tasks" in said.said
    assert loop.boxes() == "xxxx "


# --- what is kept ---


def test_what_agents_and_checks_print_is_kept_and_shown(loop: Loop) -> None:
    """By task, and followed while it comes."""
    loop.plan("one", "two")
    loop.script(
        {
            "one": [["say", "first \x1b[31mwords"], *writing("one")["one"]],
            "two": [["say", "second words"], ["sleep", 1.5], *writing("two")["two"]],
        }
    )
    command = [*runner.COMMAND, "run", "plan.md", "--verify", "echo all is well", *loop.agent]
    child = subprocess.Popen(command, cwd=loop.repo.root, env=loop.repo.env, stderr=subprocess.PIPE)
    assert wait_for(lambda: len(loop.log()) >= 2)
    followed = loop.repo.ralph("run", "logs", "--follow").text
    child.communicate()
    for text in (followed, loop.repo.ralph("run", "logs").text):
        assert "--- Task 1/2: one" in text
        assert "first \\x1b[31mwords" in text
        assert "second words" in text
        assert text.count("all is well\n") == 4
    only = loop.repo.ralph("run", "logs", "2").text
    assert "second words" in only
    assert "first" not in only
    loop.repo.ralph("run", "logs", "nosuch", code=128)
    folder = loop.repo.state / "runs" / loop.last_run()["run"]
    assert {path.stat().st_mode & 0o777 for path in folder.rglob("*") if path.name.endswith(".log")} == {
        0o600
    }


def test_the_subject_comes_from_a_template(loop: Loop) -> None:
    """With the agent's own words where it asks for them."""
    loop.plan("one", "two")
    loop.script(
        {"one": [*writing("one")["one"], ["say", "**Add the first file.**\nMore."]], **writing("two")}
    )
    loop.run("--subject", "feat({n}/{total}): {words}")
    assert loop.subjects() == ["feat(1/2): Add the first file.", "feat(2/2): two"]
    loop.run("--subject", "{nosuch}", code=129)
    loop.run("--subject", "{task.__class__}", code=129)
    loop.run("--subject", "{", code=129)


def test_a_dry_run_has_a_document(loop: Loop) -> None:
    loop.plan("one")
    found = loop.run("--dry-run", "--json").json()
    assert found["tasks"][0]["task"] == "Task 1/1: one"
    assert found["tasks"][0]["env"]["RALPH_TASK_NUM"] == "1"


def test_the_users_words_replace_ours(loop: Loop) -> None:
    """An approval mode given twice is refused by the agents."""
    loop.plan("one")
    loop.repo.git("config", "ralph.claude-code.command", "/bin/echo")
    plain = loop.repo.ralph("run", "plan.md", "--agent", "claude-code", "--dry-run").text
    assert "--permission-mode acceptEdits" in plain
    loop.repo.git("config", "ralph.claude-code.arguments", "--permission-mode plan --output-format=text")
    said = loop.repo.ralph("run", "plan.md", "--agent", "claude-code", "--dry-run").text
    assert "$ /bin/echo -p --permission-mode plan --output-format=text\n" in said


# --- several at once, each by itself ---


def test_each_task_is_checked_on_its_own_tree(loop: Loop) -> None:
    """Another task's half-done work neither fails nor excuses it."""
    loop.plan("broken", "sound")
    wait = "while ! test -e {}; do sleep 0.05; done"
    done = loop.aside / "sound-done"
    loop.script(
        {
            "broken": [
                ["write", "broken.sh", "exit 1\n"],
                ["sh", wait.format(done)],
                ["write", "broken.sh", "exit 0\n"],
            ],
            "sound": [
                ["sh", wait.format("broken.sh")],
                ["write", "sound.sh", "exit 0\n"],
                ["once", str(done)],
            ],
        }
    )
    loop.run("--jobs", "2", "--verify", "for f in *.sh; do sh $f || exit 1; done")
    assert loop.boxes() == "xx"
    assert sorted(loop.subjects()) == ["Task 1/2: broken", "Task 2/2: sound"]


def test_no_task_is_excused_by_anothers_work(loop: Loop) -> None:
    """It calls what the other has not committed, and will not commit."""
    loop.plan("caller", "callee")
    wait = "while ! test -e {}; do sleep 0.05; done"
    loop.script(
        {
            "caller": [["sh", wait.format("lib.sh")], ["write", "main.sh", ". ./lib.sh\n"]],
            "callee": [
                ["write", "lib.sh", "true\n"],
                ["sh", wait.format("main.sh")],
                ["sleep", 1],
                ["exit", 1],
            ],
        }
    )
    loop.run("--jobs", "2", "--keep-going", "--verify", "test ! -e main.sh || sh main.sh", code=1)
    assert (loop.boxes(), loop.commits()) == ("  ", [])


# --- stopping ---


def start(loop: Loop, *words: str, agent: list[str] | None = None) -> "subprocess.Popen[bytes]":
    command = [*runner.COMMAND, "run", *(words or ("plan.md",)), *(agent or loop.agent)]
    return subprocess.Popen(
        command,
        cwd=loop.repo.root,
        env=loop.repo.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_stops_all_that_was_started(loop: Loop, how: signal.Signals) -> None:
    """Also a background process of the agent that never stops printing and does not listen."""
    loop.plan("one")
    pid = loop.aside / "pid"
    deaf = f"trap '' TERM INT HUP PIPE; echo $$ > {pid}; while :; do echo chatter; done"
    agent = ["--", "sh", "-c", f'sh -c "{deaf.replace("$", chr(92) + "$")}" & wait']
    child = start(loop, agent=agent)
    while not (pid.exists() and pid.read_text().strip()):
        assert child.poll() is None, child.communicate()
        time.sleep(0.02)
    os.killpg(child.pid, how)
    out, err = child.communicate(timeout=runner.PATIENCE)
    assert (child.returncode, out) == (130, b""), err
    assert b"Traceback" not in err
    runner.wait_until_gone(pid.read_text().strip())
    assert loop.boxes() == " "


def test_a_chatty_background_process_does_not_keep_the_loop(loop: Loop) -> None:
    """The agent ends; what it left behind goes with it."""
    loop.plan("one", "two")
    pid = loop.aside / "pid"
    agent = ["--", "sh", "-c", f"sh -c 'echo $$ > {pid}; while :; do echo chatter; done' & sleep 0.5"]
    loop.repo.ralph("run", "plan.md", *agent)
    assert loop.boxes() == "xx"
    runner.wait_until_gone(pid.read_text().strip())


def test_signals_at_any_moment(loop: Loop) -> None:
    """To the whole group, as a terminal sends them; what was begun goes on in the next run."""
    names = [f"t{n}" for n in range(4)]
    loop.plan(*names)
    chatty = "(trap '' TERM INT HUP QUIT; while :; do echo chatter; sleep 0.01; done) &"
    loop.script({name: [["sh", chatty], ["write", f"{name}.txt", "1\n"], ["sleep", 0.05]] for name in names})
    kinds = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]
    tries = 200 if FULL else 6
    for number in range(tries):
        child = start(loop, "plan.md", "--jobs", "2")
        assert child.stderr is not None
        first = child.stderr.readline()
        assert first.startswith((b"run ", b"hint: ")), first
        time.sleep((number * 37 % 100) / 60)
        how = kinds[number % 4]
        if child.poll() is None:
            os.killpg(child.pid, how)
        _, err = child.communicate(timeout=runner.PATIENCE)
        # A loop that has not its end on record was interrupted, and says so.
        outcome = loop.repo.ralph("run", "list", "--json").json()[-1]["outcome"]
        assert child.returncode == 130 or (outcome, child.returncode) == ("done", 0), (number, how, err)
        assert b"Traceback" not in err, err
        assert b"lock" not in err, err
        if set(loop.boxes()) == {"x"}:
            loop.plan(*names)
            loop.repo.git("reset", "-q", "--hard", loop.base)
    loop.plan(*names, name="last.md")
    loop.run("last.md")
    assert loop.boxes("last.md") == "xxxx"
    assert loop.repo.git("fsck", "--strict", "--no-dangling", "--no-progress") == ""


def test_a_signal_that_git_dies_of_as_well_is_no_failure(loop: Loop) -> None:
    """A terminal sends it to the whole group: whatever git is at work then, the loop was interrupted."""
    real, folder, calls = shutil.which("git"), loop.aside / "bin", loop.aside / "calls"
    folder.mkdir()
    shim = folder / "git"
    shim.write_text(
        f"#!/bin/sh\nn=1\nuntil mkdir {calls}/$n 2>/dev/null; do n=$((n + 1)); done\n"
        f'echo "$*" > {calls}/$n/words\n[ "$n" != "$AT" ] || {{ kill -"$HOW" 0; sleep 60; }}\n'
        f'exec {real} "$@"\n'
    )
    shim.chmod(0o755)
    loop.repo.env["PATH"] = f"{folder}:{loop.repo.env['PATH']}"

    def run(name: str) -> tuple[int, bytes]:
        shutil.rmtree(calls, ignore_errors=True)
        calls.mkdir()
        loop.plan(f"task {name}")
        loop.script({f"task {name}": [["write", "one.txt", f"{name}\n"]]})
        child = start(loop)
        _, err = child.communicate(timeout=runner.PATIENCE)
        return child.returncode, err

    for name in ("a", "b"):  # the first one also looks which git that is
        assert run(name)[0] == 0
    words = {int(one.name): (one / "words").read_text() for one in calls.iterdir()}
    chosen = [number for number in sorted(words) if FULL or words[number].startswith("rev-parse --verify")]
    assert chosen
    for number in chosen:
        loop.repo.env.update(AT=str(number), HOW=("HUP", "INT", "TERM", "QUIT")[number % 4])
        code, err = run(str(number))
        assert code == 130, (number, err)
        assert b": failed: " not in err, (number, err)
        assert b"fatal" not in err, (number, err)
        del loop.repo.env["AT"]
        loop.run()
        assert (loop.boxes(), loop.repo.blob("one.txt")) == ("x", f"{number}\n".encode())


def test_a_task_that_comes_back_broken_by_the_signal_has_not_failed(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may come back before the loop has looked up."""
    made: list[Crew] = []

    class Kept(Crew):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    def broken(*_: object) -> None:
        made[0].asked = 1
        raise Fatal("git rev-parse failed with -15")

    monkeypatch.setattr("gitralph.cli.run.Crew", Kept)
    monkeypatch.setattr("gitralph.tasks.loop.schedule.advance", broken)
    loop.plan("one")
    done = loop.run(code=130)
    assert "failed" not in done.said
    assert [(task["outcome"], task["detail"]) for task in loop.last_run()["tasks"]] == [(None, "")]


def test_twenty_tasks_killed_ten_times_end_as_if_nothing_had_happened(loop: Loop) -> None:
    """Four at once in one directory, whose half-done states break each other's checks."""
    count, kills = (20, 10) if FULL else (6, 3)
    names = [f"t{n:02}" for n in range(count)]
    loop.plan(*names)
    loop.script(
        {
            name: [["write", f"{name}.sh", "exit 1\n"], ["sleep", 0.3], ["write", f"{name}.sh", "exit 0\n"]]
            for name in names
        }
    )
    check = "for f in t*.sh; do sh $f || exit 1; done"
    words = ["plan.md", "--jobs", "4", "--verify", check]
    for number in range(kills):
        child = start(loop, *words, *([] if number == 0 else ["--resume"]))
        time.sleep(1.2 + number * 0.37 % 1)
        child.kill()
        child.communicate()
    loop.repo.run("run", *words, "--resume", *loop.agent)
    assert loop.boxes() == "x" * count
    assert sorted(next(iter(one)) for one in loop.commits()) == [f"{name}.sh" for name in names]
    clone = loop.aside / "clone"
    subprocess.run(["git", "clone", "-q", str(loop.repo.root), str(clone)], check=True, env=loop.repo.env)
    for oid in loop.repo.git("rev-list", f"{loop.base}..").split():
        subprocess.run(["git", "checkout", "-q", oid], cwd=clone, check=True, env=loop.repo.env)
        assert subprocess.run(["sh", "-c", check], cwd=clone, env=loop.repo.env, check=False).returncode == 0
    assert loop.repo.git("status", "--porcelain") == "?? plan.md"


def test_the_summary_tells_why(loop: Loop) -> None:
    loop.plan("one", "two")
    loop.script({**writing("one"), "two": [["say", "cannot"], ["exit", 2]]})
    found = json.loads(loop.run("--json", code=1).text)
    assert [(row["outcome"], row["reason"]) for row in found["tasks"]] == [
        ("committed", ""),
        ("failed", "the agent ended with 2"),
    ]
    assert found["tasks"][0]["iterations"] == 1


def test_worktrees_of_tasks_go_when_they_have_landed(loop: Loop) -> None:
    """By the rules of ``worktree remove``; an agent that edits the plan there blocks nothing."""
    loop.plan("one", "two")
    loop.repo.commit_all("plan")
    loop.base = loop.repo.head()
    text = "# Plan\n\n- [ ] one\n- [ ] two\n- [ ] found on the way\n"
    loop.script({**writing("one", "found on the way"), "two": [["write", "plan.md", text]]})
    loop.run("--worktree")
    assert loop.boxes() == "xxx"
    assert loop.repo.git("worktree", "list").count("\n") == 0
    assert loop.repo.git("branch", "--list", "ralph/*") == ""


def test_wide_characters_do_not_break_the_lines_of_the_screen() -> None:
    """Each takes two columns: a line of them that is too long wraps, and is not cleared away."""
    from gitralph.cli.terminal.columns import cut

    assert cut("\u6f22\u5b57\u5b57", 3) == "\u6f22\u2026"
    assert cut("a\u0301b", 2) == "a\u0301b"
    assert cut("plain", 80) == "plain"


@pytest.mark.parametrize("when", ["agent", "check"])
def test_a_state_folder_that_goes_away_ends_in_words(loop: Loop, when: str) -> None:
    """Deleted while the loop runs: no traceback, no hang, no tick."""
    loop.plan("one")
    gone = "rm -rf .git/ralph-sessions"
    script = {**writing("one")}
    if when == "agent":
        script["one"].append(["sh", gone])
    loop.script(script)
    done = loop.repo.run("run", "plan.md", *(["--verify", gone] if when == "check" else []), *loop.agent)
    assert done.code != 0
    assert (loop.boxes(), loop.commits()) == (" ", [])
