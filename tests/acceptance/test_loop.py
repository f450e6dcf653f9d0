"""The loop over a plan."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import runner
from tests.support.home import with_tool_on_path
from tests.support.looping import Loop
from tests.support.repo import Repo
from tests.support.stub_agent import Do


@pytest.fixture
def loop(repo: Repo, tmp_path: Path) -> Loop:
    return Loop.make(repo, tmp_path / "aside")


def three(loop: Loop) -> dict[str, list[Do]]:
    """A plan of three tasks that write a file each."""
    loop.plan("one", "two", "three")
    script: dict[str, list[Do]] = {
        name: [["write", f"{name}.txt", f"{name}\n"]] for name in ("one", "two", "three")
    }
    loop.script(script)
    return script


@pytest.mark.parametrize("place", [".", "d", "linked"])
def test_three_tasks_make_three_commits(repo: Repo, tmp_path: Path, place: str) -> None:
    """In order, one file each, every box ticked."""
    loop = Loop.make(repo.worktree("linked") if place == "linked" else repo, tmp_path / "aside")
    three(loop)
    said = loop.run("../plan.md" if place == "d" else "plan.md", cwd=place if place == "d" else ".")
    assert loop.subjects() == ["Task 1/3: one", "Task 2/3: two", "Task 3/3: three"]
    assert loop.commits() == [{"one.txt": "A"}, {"two.txt": "A"}, {"three.txt": "A"}]
    assert loop.boxes() == "xxx"
    trailers = loop.repo.trailers().splitlines()
    assert "Ralph-Plan: plan.md" in trailers
    assert "Ralph-Task: 3" in trailers
    assert trailers[0] == f"Ralph-Session: {loop.log()[-1]['session']}"
    assert said.text.count("committed") == 3
    assert loop.repo.git("status", "--porcelain") == "?? plan.md"
    assert loop.topics().count("task.committed") == 3
    rows = loop.repo.ralph("session", "list", "--json").json()
    assert [(row["state"], row["pending"]) for row in rows] == [("ended", 0)] * 3


def test_task_without_changes_is_ticked_without_a_commit(loop: Loop) -> None:
    """An event says so, and the next task runs."""
    loop.plan("nothing", "two")
    loop.script({"two": [["write", "two.txt", "two\n"]]})
    loop.run()
    assert loop.subjects() == ["Task 2/2: two"]
    assert loop.boxes() == "xx"
    assert "task.no-op" in loop.topics()


def test_a_task_whose_edits_nobody_recorded_is_not_ticked(loop: Loop) -> None:
    loop.plan("one", "two")
    loop.script({"one": [["raw", "one.txt", "one\n"]]})
    said = loop.run(code=1)
    assert "no edit was recorded, but 'one.txt' changed" in said.said
    assert "hint: git ralph doctor" in said.said
    assert (loop.boxes(), loop.commits(), loop.worked()) == ("  ", [], ["one"])


def test_foreign_edit_during_a_task_stays_out(loop: Loop) -> None:
    """The loop mentions it, and leaves it modified."""
    three(loop)
    loop.script({"one": [["write", "one.txt", "1\n"], ["raw", "u", "the user's\n"]]})
    said = loop.run("--max-tasks", "1")
    assert loop.commits() == [{"one.txt": "A"}]
    assert "'u'" in said.said
    assert loop.repo.git("diff", "--name-only") == "u"


def test_what_the_checks_change_stays_out_and_is_told(loop: Loop) -> None:
    """In a file of the task and beside it; a file that is as it was is no news."""
    loop.plan("one", "two")
    loop.script({"one": [["replace", "a", "line 5", "five"]], "two": [["write", "two.txt", "2\n"]]})
    said = loop.run("--verify", "echo fmt >> a; echo > built.txt; touch b")
    told = "changed while the checks ran and left uncommitted: 'a', 'built.txt'"
    assert f"Task 1/2: {told}" in said.said
    assert f"Task 2/2: {told}" in said.said
    assert loop.commits() == [{"a": "M"}, {"two.txt": "A"}]
    assert b"fmt" not in loop.repo.blob("a")


def test_agent_that_fails_stops_the_loop(loop: Loop) -> None:
    """The box stays open; resume continues the same task and session."""
    script = three(loop)
    script["two"] = [
        ["write", "two.txt", "half\n"],
        ["once", str(loop.aside / "m"), ["say", "no idea"], ["exit", 3]],
    ]
    loop.script(script)
    said = loop.run(code=1)
    assert "the agent ended with 3\nno idea" in said.said
    assert "hint: git ralph run plan.md --resume" in said.said
    assert (loop.boxes(), len(loop.commits())) == ("x  ", 1)
    session = loop.log()[-1]["session"]
    assert loop.repo.pending(session) == ["two.txt"]
    before = loop.last_run()
    loop.repo.ralph("run", "--resume")
    assert loop.subjects() == ["Task 1/3: one", "Task 2/3: two", "Task 3/3: three"]
    assert loop.worked() == ["one", "two", "two", "three"]
    assert loop.log()[2]["session"] == session
    assert "The last attempt failed" in loop.log()[2]["prompt"]
    assert loop.last_run()["run"] == before["run"]
    assert loop.boxes() == "xxx"
    loop.repo.ralph("run", "plan.md", "--resume", code=128)


def test_each_hint_of_a_failed_run_works_as_it_is_typed(loop: Loop) -> None:
    """In a shell, from the folder where the loop was started."""
    loop.plan("one")
    loop.repo.write("d/sub/x", "")
    loop.script({"one": [["raw", "f", "nobody's\n"]]})
    done = loop.repo.ralph("run", "../../plan.md", *loop.agent, cwd="d/sub", code=1)
    hints = [
        row.removeprefix("hint: ").replace("<path>", "../../f")
        for row in done.said.splitlines()
        if row.startswith("hint: ")
    ]
    assert [hint.split()[2] for hint in hints] == ["doctor", "track", "run", "run", "run"]
    env = with_tool_on_path(loop.repo.env)
    for hint in hints:
        said = subprocess.run(
            ["/bin/sh", "-c", hint], cwd=loop.repo.root / "d/sub", env=env, capture_output=True, check=False
        )
        # doctor's answer is no, there being no hooks
        assert said.returncode == (1 if "doctor" in hint else 0), (hint, said.stderr)
    assert loop.boxes() == " "


def test_verification_that_fails_commits_nothing(loop: Loop) -> None:
    """The first failing check ends it."""
    three(loop)
    log = loop.aside / "checks"
    checks = [
        "--verify",
        f"echo a >> {log}",
        "--verify",
        f"test -e {loop.aside}/ok",
        "--verify",
        f"echo c >> {log}",
    ]
    said = loop.run(*checks, code=1)
    assert f"'test -e {loop.aside}/ok' failed with 1" in said.said
    assert log.read_text() == "a\n"
    assert (loop.boxes(), loop.commits()) == ("   ", [])
    assert loop.repo.pending(loop.log()[0]["session"]) == ["one.txt"]
    (loop.aside / "ok").touch()
    loop.repo.ralph("run", "--resume")
    assert (loop.boxes(), len(loop.commits())) == ("xxx", 3)
    assert log.read_text() == "a\n" + "a\nc\n" * 3


def test_checks_see_the_contract(loop: Loop) -> None:
    loop.plan("one")
    loop.script({"one": [["write", "one.txt.py", "1\n"]]})
    loop.run(
        "--verify", 'test "$RALPH_TASK_NUM" = 1 && test -e "$RALPH_MANIFEST" && test "$PWD" = "$RALPH_ROOT"'
    )


def test_checks_are_skipped_for_documentation(loop: Loop) -> None:
    loop.plan("one")
    loop.script({"one": [["write", "README.md", "1\n"], ["write", "docs/x.RST", "1\n"]]})
    said = loop.run("--verify", "false")
    assert "the checks were skipped" in said.said
    assert loop.boxes() == "x"


def test_commit_that_fails_by_hook_leaves_the_box_open(loop: Loop) -> None:
    three(loop)
    hook = loop.repo.common / "hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    loop.run(code=1)
    assert (loop.boxes(), loop.commits(), loop.worked()) == ("   ", [], ["one"])
    assert loop.repo.pending(loop.log()[0]["session"]) == ["one.txt"]
    hook.unlink()
    loop.repo.ralph("run", "--resume")
    assert (loop.boxes(), loop.worked()) == ("xxx", ["one", "two", "three"])


def test_commit_that_fails_for_want_of_an_identity_leaves_the_box_open(loop: Loop) -> None:
    three(loop)
    none = {"GIT_AUTHOR_NAME": "", "GIT_COMMITTER_NAME": "", "GIT_COMMITTER_EMAIL": "", "EMAIL": ""}
    said = loop.run(code=128, env=none)
    assert (loop.boxes(), loop.commits()) == ("   ", [])
    assert "failed" in said.said


def test_commit_that_is_refused_leaves_the_box_open(loop: Loop) -> None:
    three(loop)
    loop.script({"one": [["write", "one.txt", "1\n"], ["sh", "git rev-parse HEAD > .git/MERGE_HEAD"]]})
    said = loop.run(code=4)
    assert "a merge is in progress" in said.said
    assert (loop.boxes(), loop.commits()) == ("   ", [])
    (loop.repo.root / ".git/MERGE_HEAD").unlink()
    loop.repo.ralph("run", "--resume", "--max-tasks", "1")
    assert (loop.boxes(), loop.commits()) == ("x  ", [{"one.txt": "A"}])


def test_deletions_and_renames_are_committed(loop: Loop) -> None:
    loop.plan("one")
    loop.script({"one": [["delete", "a"], ["rename", "b", "moved"]]})
    loop.run()
    assert loop.commits() == [{"a": "D", "b": "D", "moved": "A"}]


def test_plan_edited_meanwhile_skips_and_doubles_nothing(loop: Loop) -> None:
    """Inserted and reordered tasks are each done once: a task is its text, not its place."""
    loop.plan("one", "two", "three")
    text = "- [ ] new\n- [ ] three\n- [ ] one\n- [ ] two, reworded\n"
    names = ["one", "two", "three", "new", "two, reworded"]
    script: dict[str, list[Do]] = {name: [["write", f"{name}.txt", "1\n"]] for name in names}
    script["one"].append(["raw", "plan.md", text])
    loop.script(script)
    loop.run()
    assert loop.worked() == ["one", "new", "three", "two, reworded"]
    assert loop.boxes() == "xxxx"
    assert loop.subjects()[1:] == ["Task 1/4: new", "Task 2/4: three", "Task 4/4: two, reworded"]


def test_the_task_at_work_is_reworded(loop: Loop) -> None:
    loop.plan("one", "two", "three")
    text = "- [x] one\n- [ ] two, better said\n- [ ] three\n"
    loop.script({"two": [["write", "two.txt", "2\n"], ["raw", "plan.md", text]]})
    said = loop.run()
    assert loop.worked() == ["one", "two", "three"]
    assert "ticked as 'two, better said'" in said.said
    assert loop.boxes() == "xxx"


def test_the_task_at_work_is_taken_out(loop: Loop) -> None:
    loop.plan("one", "two", "three")
    text = "- [ ] three\n- [ ] four\n"
    loop.script({"one": [["write", "one.txt", "1\n"], ["raw", "plan.md", text]]})
    said = loop.run()
    assert "no longer in the plan; nothing was ticked" in said.said
    assert (loop.worked(), loop.boxes()) == (["one", "three", "four"], "xx")


def test_equal_texts_are_told_apart(loop: Loop) -> None:
    loop.plan("again", "other", "again")
    loop.run()
    assert (loop.worked(), loop.boxes()) == (["again", "other", "again"], "xxx")


PLAN = (
    b"\xef\xbb\xbf# T\xc3\xaftle\r\n* [ ] star\r\n  - [ ] nested \xff\r\n1. [ ] numbered\r\n- [X] done\r\n"
    b"- [ ]\r\n```\r\n- [ ] code\r\n~~~\r\n```\r\n-  [ ] wide\r\n- [o] odd\r\n- [ ] no newline"
)


def test_syntax_of_plans(loop: Loop) -> None:
    """Bullets, indentation, line ends and fences; a tick changes one character."""
    loop.repo.write("plan.md", PLAN)
    loop.run()
    assert loop.worked() == ["star", "nested \ufffd", "numbered", "wide", "no newline"]
    assert loop.subjects() == []
    expected = PLAN
    for text in (b"star", b"nested", b"numbered", b"wide", b"no newline"):
        expected = expected.replace(b"[ ] " + text, b"[x] " + text)
    assert loop.repo.read("plan.md") == expected


def test_plan_with_nothing_to_do_and_unreadable_plan(loop: Loop) -> None:
    loop.repo.write("plan.md", "# no task here\n")
    assert "no open task" in loop.run().text
    loop.repo.write("plan.md", "- [x] one\n")
    assert "no open task" in loop.run().text
    assert "none.md': No such file" in loop.run("none.md", code=128).said
    loop.run("d", code=128)
    loop.repo.ralph("run", *loop.agent, code=129)
    loop.repo.ralph("run", "plan.md", code=129)
    assert loop.worked() == []


def test_the_tick_is_not_in_the_commit(loop: Loop) -> None:
    """Unless the session itself edited the plan."""
    loop.plan("one", "two")
    loop.repo.commit_all("plan")
    loop.base = loop.repo.head()
    both = "# Plan\n\n- [x] one\n- [ ] two\n- [x] found on the way\n"
    loop.script({"one": [["write", "one.txt", "1\n"]], "two": [["write", "plan.md", both]]})
    loop.run()
    assert loop.commits() == [{"one.txt": "A"}, {"plan.md": "M"}]
    assert b"found on the way" in loop.repo.blob("plan.md")
    assert b"- [ ] two" in loop.repo.blob("plan.md")
    assert loop.boxes() == "xxx"


def begin(loop: Loop, *words: str) -> "subprocess.Popen[bytes]":
    """The loop as a process of its own."""
    command = [*runner.COMMAND, "run", *(words or ("plan.md",)), *loop.agent]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=loop.repo.root, env=loop.repo.env, stdout=pipe, stderr=pipe)


def wait_until(child: "subprocess.Popen[bytes]", come: Callable[[], bool]) -> None:
    """Wait for something that a running loop brings about."""
    while not come():
        assert child.poll() is None, child.communicate()
        time.sleep(0.05)


def written(path: Path) -> Callable[[], bool]:
    """Whether a file is there with its text."""
    return lambda: path.exists() and path.read_text() != ""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_stops_the_agent_and_keeps_the_session(loop: Loop, how: signal.Signals) -> None:
    """Exit 130, the box open, and the hint resumes it."""
    script = three(loop)
    pid = loop.aside / "pid"
    script["two"].append(["once", str(loop.aside / "m"), ["sh", f"echo $PPID > {pid}"], ["sleep", 300]])
    loop.script(script)
    child = begin(loop)
    wait_until(child, written(pid))
    child.send_signal(how)
    out, err = child.communicate(timeout=runner.PATIENCE)
    assert child.returncode == 130, err
    assert out == b""
    assert b"--resume  # goes on" in err
    assert not Path(f"/proc/{pid.read_text().strip()}").exists()
    assert loop.boxes() == "x  "
    session = loop.log()[1]["session"]
    assert loop.repo.pending(session) == ["two.txt"]
    assert (
        "hint: git ralph run plan.md --resume"
        in loop.repo.ralph("run", "plan.md", "--max-tasks", "1", *loop.agent).said
    )
    loop.repo.ralph("run", "list")


@pytest.mark.parametrize("words", ["two", "two and the rest of it"])
def test_a_task_that_was_mended_after_a_failure_is_taken_as_it_stands_now(loop: Loop, words: str) -> None:
    """The agent got the old details again and again, so that ``--resume`` could never succeed."""
    script = three(loop)
    loop.plan("one", "two\n      please fail", "three")
    done: list[Do] = [["write", "two.txt", "2\n"]]
    loop.script(script | {"two": [["exit", 3]], "two and the rest of it": done})
    loop.run(code=1)
    plan = loop.repo.read("plan.md") or b""
    mended = plan.replace(b"please fail", b"please work").replace(b"] two\n", f"] {words}\n".encode())
    loop.repo.write("plan.md", mended)
    if words == "two":
        loop.script(script | {"two": done})
    loop.repo.ralph("run", "plan.md", "--resume")
    assert loop.boxes() == "xxx"
    assert "please work" in loop.log()[2]["prompt"]
    assert loop.worked()[2] == words


def test_resume_after_an_interrupt(loop: Loop) -> None:
    script = three(loop)
    marker = loop.aside / "m"
    script["two"].append(["once", str(marker), ["sleep", 300]])
    loop.script(script)
    child = begin(loop)
    wait_until(child, marker.exists)
    child.send_signal(signal.SIGINT)
    assert child.wait(runner.PATIENCE) == 130
    child.communicate()
    loop.repo.ralph("run", "plan.md", "--resume")
    assert loop.boxes() == "xxx"
    assert loop.worked() == ["one", "two", "two", "three"]
    assert loop.log()[1]["session"] == loop.log()[2]["session"]
    assert len(loop.commits()) == 3


def test_second_loop_on_the_same_plan_is_refused(loop: Loop) -> None:
    """With the first one's process id; on another plan it runs."""
    loop.plan("wait")
    loop.plan("other", name="other.md")
    loop.script({"wait": [["sleep", 300]], "other": [["write", "o.txt", "o\n"]]})
    child = begin(loop)
    wait_until(child, lambda: bool(loop.log()))
    said = loop.run("--json", code=4)
    told = f"another git ralph run works on 'plan.md' (process {child.pid})"
    assert told in said.said
    assert "--resume" not in said.said  # it would be refused
    assert said.json() == {"run": None, "outcome": "refused", "tasks": [], "notes": [told]}
    found = loop.repo.ralph("run", "--resume", "--json", code=4).json()
    assert found["outcome"] == "refused"
    assert found["notes"] == [
        f"run '{loop.last_run()['run']}' is at work in process {child.pid} and cannot be resumed"
    ]
    loop.run("other.md")
    assert loop.boxes("other.md") == "x"
    live = loop.repo.ralph("run", "list", "--json").json()[0]
    assert live["state"] == "live"
    loop.repo.ralph("run", "end", "--run", live["id"], code=4)
    child.send_signal(signal.SIGINT)
    assert child.wait(runner.PATIENCE) == 130
    child.communicate()


def test_max_tasks_ends_the_loop(loop: Loop) -> None:
    three(loop)
    loop.run("--max-tasks", "1")
    assert (loop.boxes(), loop.worked()) == ("x  ", ["one"])
    loop.run("--max-tasks", "1")
    assert (loop.boxes(), loop.worked()) == ("xx ", ["one", "two"])


def test_dry_run_changes_nothing(loop: Loop) -> None:
    three(loop)
    loop.repo.write("plan.md", "- [x] one\n- [ ] two (bead bd-7)\n- [ ] three\n")
    before = sorted(loop.repo.root.rglob("*"))
    said = loop.run("--dry-run", "--verify", "make test").text
    assert "Task 1/3" not in said
    for text in (
        "Task 2/3: two",
        "RALPH_TASK_NUM=2",
        "RALPH_BEAD=bd-7",
        "RALPH_PLAN=plan.md",
        "$ make test",
        loop.agent[-1],
    ):
        assert text in said
    assert sorted(loop.repo.root.rglob("*")) == before
    assert not loop.repo.state.exists()
    assert loop.worked() == []


def test_repeated_until_the_promise(loop: Loop) -> None:
    """The agent is called again until it says so."""
    loop.plan("one")
    marks = [str(loop.aside / f"m{n}") for n in range(2)]
    first: Do = [
        "once",
        marks[0],
        ["say", "promise: <promise>all  DONE?</promise>"],
        ["write", "one.txt", "1\n"],
        ["exit", 0],
    ]
    second: Do = ["once", marks[1], ["say", "not yet all done"], ["exit", 0]]
    loop.script({"one": [first, second, ["say", "well\n<promise> all\ndone </promise>"]]})
    loop.run("--promise", "all done")
    assert loop.worked() == ["one"] * 3
    assert "iteration 3" in loop.log()[2]["prompt"]
    assert len({row["session"] for row in loop.log()}) == 1
    assert (loop.boxes(), loop.commits()) == ("x", [{"one.txt": "A"}])


def test_limit_of_iterations_fails_the_task(loop: Loop) -> None:
    loop.plan("one")
    loop.script({"one": [["write", "one.txt", "1\n"]]})
    said = loop.run("--promise", "done", "--max-iterations", "2", code=1)
    assert "not finished within 2 iterations" in said.said
    assert (loop.boxes(), loop.commits(), len(loop.worked())) == (" ", [], 2)
    assert loop.repo.pending(loop.log()[0]["session"]) == ["one.txt"]
    loop.script({"one": [["say", "<promise>done</promise>"]]})
    loop.repo.ralph("run", "--resume")
    assert (loop.boxes(), loop.commits()) == ("x", [{"one.txt": "A"}])


def test_an_event_ends_the_task(loop: Loop) -> None:
    loop.plan("one")
    loop.script({"one": [["once", str(loop.aside / "m"), ["exit", 0]], ["emit", "task.done"]]})
    loop.run("--promise", "never said")
    assert len(loop.worked()) == 2


def test_the_prompt_never_shows_the_promise_in_the_form_that_counts(loop: Loop) -> None:
    loop.plan("one")
    words = ["--promise", "all done", "--max-iterations", "1", "--", "/bin/sh", "-c", "cat"]
    loop.repo.ralph("run", "plan.md", *words, code=1)
    said = loop.repo.ralph("run", "plan.md", "--resume", "--", "/bin/echo", "{prompt}", code=1)
    assert "not finished" in said.said


def test_prompt_is_one_task(loop: Loop) -> None:
    loop.script({"fix it": [["write", "f.txt", "1\n"]]})
    loop.repo.ralph("run", "-p", "fix it\nwith care", *loop.agent)
    assert loop.subjects() == ["Task 1/1: fix it"]
    assert "with care" in loop.log()[0]["prompt"]


def test_the_plan_in_use(loop: Loop) -> None:
    three(loop)
    loop.repo.ralph("plan", "use", "plan.md")
    loop.plan("of another", name="other.md")
    script: dict[str, list[Do]] = {"one": [["sh", f"{runner.COMMAND[0]} -P -m gitralph plan use other.md"]]}
    loop.script(script)
    loop.repo.ralph("run", *loop.agent)
    assert (loop.boxes(), loop.boxes("other.md")) == ("xxx", " ")
    loop.repo.ralph("run", *loop.agent)
    assert loop.boxes("other.md") == "x"


def test_summary_is_kept(loop: Loop) -> None:
    loop.plan("a | b <script>`x`", "fails")
    loop.script({"a | b <script>`x`": [["write", "x.txt", "1\n"]], "fails": [["exit", 1]]})
    loop.run(code=1)
    text = (loop.repo.state / f"runs/{loop.last_run()['run']}.md").read_text()
    assert "| 1/2 a \\| b &lt;script>\\`x\\` | committed |" in text
    assert "| 2/2 fails | failed |" in text
    assert "--resume" in text
    rows = loop.repo.ralph("run", "list").text
    assert rows.split() == ["*", loop.last_run()["run"], "failed", "1/2", "tasks", "plan.md"]


def test_children_see_no_foreign_ids(loop: Loop) -> None:
    loop.plan("one")
    out = loop.aside / "env.json"
    code = f"import json, os; json.dump(dict(os.environ), open({str(out)!r}, 'w'))"
    foreign = {"CLAUDE_CODE_SESSION_ID": "x", "GIT_DIR": str(loop.repo.root / ".git"), "RALPH_BEAD": "b-1"}
    loop.repo.ralph("run", "plan.md", "--", runner.COMMAND[0], "-c", code, env=foreign)
    found = json.loads(out.read_text())
    assert not set(foreign) & set(found)
    assert (found["RALPH_ROOT"], found["RALPH_TASK_NUM"]) == (str(loop.repo.root), "1")
    assert found["RALPH_EVENTS_FILE"] == str(loop.repo.state / f"events-{loop.last_run()['run']}.jsonl")


def test_progress_on_a_terminal(loop: Loop) -> None:
    import pty

    loop.plan("one \x1b[31m")
    loop.script({"one \x1b[31m": [["write", "one.txt", "1\n"], ["emit", "half.way"], ["sleep", 1.5]]})
    main, side = pty.openpty()
    command = [*runner.COMMAND, "run", "plan.md", *loop.agent]
    env = {**loop.repo.env, "TERM": "xterm"}
    child = subprocess.Popen(command, cwd=loop.repo.root, env=env, stdout=subprocess.PIPE, stderr=side)
    os.close(side)
    said = b""
    while True:
        try:
            chunk = os.read(main, 4096)
        except OSError:
            break
        if not chunk:
            break
        said += chunk
    os.close(main)
    out = child.communicate()[0]
    assert child.returncode == 0
    assert b"agent 1" in said
    assert b"1 file: one.txt" in said
    assert b"[half.way]" in said
    assert b"\x1b[1A\x1b[J" in said
    assert b"\x1b[31m" not in said + out
    assert said.rstrip().endswith(b"s)")


def test_an_operation_in_progress_is_refused_before_any_work(loop: Loop) -> None:
    three(loop)
    (loop.repo.root / ".git/MERGE_HEAD").write_text(loop.base + "\n")
    loop.run(code=4)
    assert loop.worked() == []


def test_a_forged_record_names_no_worktree_of_its_own(loop: Loop) -> None:
    three(loop)
    script: dict[str, list[Do]] = {"one": [["exit", 1]]}
    loop.script(script)
    loop.run(code=1)
    run = loop.last_run()
    path = loop.repo.state / f"runs/{run['run']}.json"
    run["tasks"][0].update(step="merge", root="/", tree="--upload-pack=x")
    path.write_text(json.dumps(run))
    loop.script({})
    loop.repo.ralph("run", "--resume")
    assert loop.boxes() == "xxx"
    for text in ("", "[]", "{}", "{" * 9999):
        path.write_text(text)
        loop.repo.ralph("run", "plan.md", "--resume", code=128)
        loop.repo.ralph("run", "list")


def test_agents_that_are_not_there(loop: Loop) -> None:
    loop.plan("one")
    said = loop.repo.ralph(
        "run", "plan.md", "--agent", "claude-code", code=128, env={"PATH": "/usr/bin:/bin"}
    )
    assert "'claude' is not a program on PATH" in said.said
    loop.repo.ralph("run", "plan.md", "--agent", "hal", code=129)
    loop.repo.ralph("run", "plan.md", "--agent", "pi", "--", "x", code=129)
    loop.repo.git("config", "ralph.pi.arguments", "--x 'a b")
    loop.repo.ralph("run", "plan.md", "--agent", "pi", code=128)
    loop.repo.git("config", "ralph.pi.arguments", "--x 'a b'")
    loop.repo.git("config", "ralph.pi.command", "/bin/echo")
    said = loop.repo.ralph("run", "plan.md", "--agent", "pi", "--dry-run")
    assert "$ /bin/echo -p --x 'a b' '{prompt}'" in said.text


def by_shell(loop: Loop, *words: str, command: str, code: int) -> runner.Done:
    """The loop with a shell command for an agent."""
    return loop.repo.ralph("run", *words, "--", "sh", "-c", command, code=code)


def test_checks_run_where_the_agent_committed_code_itself(loop: Loop) -> None:
    """Documentation alone is pending then, but HEAD gained code that nobody checked."""
    loop.plan("one")
    loop.repo.commit_all("the plan")
    agent = (
        "echo bad >new.py && git add new.py && git commit -qm self && echo d >d.md && git ralph track d.md"
    )
    by_shell(loop, "plan.md", "--verify", "false", command=agent, code=1)
    assert loop.boxes() == " "


def test_a_plan_that_another_loop_ticked_is_nobodys_edit(loop: Loop) -> None:
    loop.plan("other", name="other.md")
    loop.plan("one")
    loop.repo.commit_all("the plans")
    by_shell(loop, "plan.md", command="git ralph run other.md -- true", code=0)
    assert (loop.boxes(), loop.boxes("other.md")) == ("x", "x")


def test_a_file_that_was_dirty_before_and_changed_is_no_no_op(loop: Loop) -> None:
    loop.plan("one")
    loop.repo.commit_all("the plan")
    loop.repo.write("u", "the user's\n")
    said = by_shell(loop, "plan.md", command="echo agent >>u", code=1)
    assert "no edit was recorded, but 'u' changed" in said.said
    assert loop.boxes() == " "
