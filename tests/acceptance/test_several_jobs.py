"""The loop with several tasks at once, in one directory and in worktrees; killed and resumed."""

import json
import random
import signal
import subprocess
from pathlib import Path

import pytest

from gitralph.tasks import tracker
from tests.acceptance.test_loop import begin, wait_until, written
from tests.support import runner
from tests.support.looping import Loop
from tests.support.repo import Repo
from tests.support.shells import Shell
from tests.support.size import FULL
from tests.support.stub_agent import Do
from tests.support.texts import TEN


@pytest.fixture
def loop(repo: Repo, tmp_path: Path) -> Loop:
    return Loop.make(repo, tmp_path / "aside")


def gate(loop: Loop, name: str, other: str) -> list[Do]:
    """Says that a task is here, then waits for the other."""
    mine, theirs = loop.aside / name, loop.aside / other
    wait = f"touch {mine}; for i in $(seq 600); do test -e {theirs} && exit 0; sleep 0.05; done; exit 1"
    return [["sh", wait]]


@pytest.mark.parametrize("where", ["together", "worktrees"])
def test_two_tasks_at_once_commit_their_own(loop: Loop, where: str) -> None:
    """Together in one directory or in worktrees: each commit holds its own, and no tick is lost."""
    loop.plan("one", "two", "three")
    loop.script(
        {
            "one": [
                *gate(loop, "1", "2"),
                ["write", "one.txt", "1\n"],
                ["replace", "a", "line 2\n", "two: one\n"],
            ],
            "two": [
                *gate(loop, "2", "1"),
                ["write", "two.txt", "2\n"],
                ["replace", "a", "line 8\n", "eight: two\n"],
            ],
            "three": [["write", "three.txt", "3\n"]],
        }
    )
    inherited = {"GIT_DIR": str(loop.repo.root / ".git"), "GIT_WORK_TREE": str(loop.repo.root)}
    loop.run("--jobs", "2", *(["--worktree"] if where == "worktrees" else []), env=inherited)
    assert loop.boxes() == "xxx"
    assert sorted(s for s in loop.subjects() if s.startswith("Task")) == [
        "Task 1/3: one",
        "Task 2/3: two",
        "Task 3/3: three",
    ]
    for row in loop.last_run()["tasks"]:
        expected = {f"{row['text']}.txt": "A", **({"a": "M"} if row["text"] != "three" else {})}
        assert loop.repo.changes(row["commit"]) == expected
        numbers = loop.repo.git("diff", "--numstat", f"{row['commit']}^", row["commit"], "--", "a")
        assert numbers in ("", "1\t1\ta")
    assert loop.repo.blob("a") == loop.repo.read("a")
    assert b"two: one\n" in loop.repo.blob("a")
    assert b"eight: two\n" in loop.repo.blob("a")
    assert loop.repo.git("status", "--porcelain") == "?? plan.md"


def test_loop_in_a_beads_worktree(loop: Loop) -> None:
    loop.plan("one (bead bd-7)")
    loop.script({"one (bead bd-7)": [["write", "one.txt", "1\n"]]})
    said = loop.run("--worktree")
    assert "warning: the tracker 'bd' is not on PATH" in said.said
    tree = loop.repo.root / ".worktrees/ralph-bd-7"
    assert (tree / "one.txt").read_text() == "1\n"
    assert not (tree / ".git/ralph-sessions").exists()
    assert loop.repo.git("branch", "--list", "ralph/bd-7") != ""
    assert loop.commits() == [{"one.txt": "A"}]
    assert loop.repo.read("one.txt") == b"1\n"
    assert "Ralph-Bead: bd-7" in loop.repo.trailers().splitlines()
    assert loop.repo.git("status", "--porcelain") == "?? plan.md"


def test_a_merge_that_conflicts_is_refused_and_kept(loop: Loop) -> None:
    loop.plan("one", "two")
    loop.script(
        {
            name: [*gate(loop, name, other), ["replace", "a", "line 5\n", f"{name}\n"]]
            for name, other in (("one", "two"), ("two", "one"))
        }
    )
    said = loop.run("--jobs", "2", "--worktree", code=4)
    assert "conflicts with 'main' in 'a'" in said.said
    # its commit waits for the merge, and no diff shows that
    assert "ralph diff" not in said.said
    assert loop.boxes() == "x "
    assert loop.repo.git("status", "--porcelain") == "?? plan.md"
    assert loop.repo.blob("a") == (loop.repo.read("a") or b"")
    two = loop.last_run()["tasks"][1]
    loop.repo.git("merge", "-q", "-X", "theirs", "--no-edit", two["tree"])
    loop.repo.ralph("run", "--resume")
    assert loop.boxes() == "xx"


def test_a_refused_merge_leaves_every_tick_in_the_plan(loop: Loop) -> None:
    """Also one that a person made: the plan was back at HEAD's text, and nobody was told."""
    loop.plan("done by hand", "one")
    loop.repo.commit_all("plan")
    loop.repo.write("plan.md", (loop.repo.read("plan.md") or b"").replace(b"[ ]", b"[x]", 1))
    loop.repo.write("a", "half done\n")
    loop.script({"one": [["replace", "a", "line 5\n", "of one\n"]]})
    said = loop.run("--worktree", code=4)
    assert "which has its own changes of 'a'" in said.said
    assert loop.boxes() == "x "


def test_a_tick_while_a_shell_command_runs_is_not_the_commands(loop: Loop) -> None:
    """It was in the next commit of that session, which never saw the plan."""
    loop.plan("one")
    loop.repo.commit_all("plan")
    loop.repo.edit("S1", "b", TEN.replace("line 2", "two of S1"))
    command = Shell(loop.repo, "S1", "make test").begin()
    loop.script({"one": [["replace", "a", "line 5\n", "of one\n"]]})
    loop.run()
    command.end()
    assert loop.boxes() == "x"
    assert "tasks it ticked" in loop.repo.ralph("status").text
    assert loop.repo.commit("S1", "--with-shell").paths == {"b": "M"}
    assert loop.repo.git("status", "--porcelain") == " M plan.md"


def test_an_entangled_task_waits_for_the_other(loop: Loop) -> None:
    """``two`` builds on a line of ``one``, which commits only later."""
    loop.plan("one", "two")
    later = f"for i in $(seq 600); do test -e {loop.aside}/parked && exit 0; sleep 0.05; done; exit 1"
    loop.script(
        {
            "one": [["replace", "a", "line 5\n", "of one\n"], *gate(loop, "1", "2"), ["sh", later]],
            "two": [*gate(loop, "2", "1"), ["replace", "a", "of one\n", "of one, then two\n"]],
        }
    )
    child = begin(loop, "plan.md", "--jobs", "2")
    assert child.stderr is not None
    said = b""
    for line in child.stderr:
        said += line
        if b"waits for" in line:
            (loop.aside / "parked").touch()
    child.communicate()
    assert child.returncode == 0, said
    assert loop.subjects() == ["Task 1/2: one", "Task 2/2: two"]
    assert loop.boxes() == "xx"
    assert loop.repo.blob("a", "HEAD^").count(b"of one\n") == 1
    assert loop.repo.blob("a").count(b"of one, then two\n") == 1


def test_what_stays_entangled_stays_open(loop: Loop) -> None:
    loop.plan("one", "two")
    loop.script(
        {"one": [["replace", "a", "of s1\n", "of s1 and one\n"]], "two": [["write", "two.txt", "2\n"]]}
    )
    loop.repo.edit("s1", "a", (loop.repo.read("a") or b"").decode().replace("line 5\n", "of s1\n"))
    said = loop.run(code=4)
    assert "entangled" in said.said
    assert "--include-entangled" in said.said
    assert loop.boxes()[0] == " "
    loop.repo.ralph("run", "--resume", "--include-entangled")
    assert loop.boxes() == "xx"
    bodies = loop.repo.git("log", "--format=%B", f"{loop.base}..")
    assert "Ralph-Includes: s1" in bodies


def test_a_failing_task_lets_the_others_finish(loop: Loop) -> None:
    loop.plan("one", "two", "three")
    loop.script(
        {
            "one": [*gate(loop, "1", "2"), ["exit", 1]],
            "two": [*gate(loop, "2", "1"), ["sleep", 0.5], ["write", "two.txt", "2\n"]],
        }
    )
    loop.run("--jobs", "2", code=1)
    assert (loop.boxes(), loop.commits()) == (" x ", [{"two.txt": "A"}])


# --- killed at any moment ---

TASKS, MOST_KILLS = (20, 10) if FULL else (10, 5)
SHARED = ("s1.txt", "s2.txt", "s3.txt")


def many(loop: Loop, pause: float = 0) -> None:
    """Many tasks, each with a file of its own and a line in each shared file, apart from others'."""
    names = [f"task {n}" for n in range(1, TASKS + 1)]
    text = "".join(f"keep\nslot of {name}\nkeep\n" for name in names)
    for shared in SHARED:
        loop.repo.write(shared, text)
    loop.plan(*names)
    loop.base = loop.repo.commit_all("slots")
    script: dict[str, list[Do]] = {}
    for n, name in enumerate(names):
        edits: list[Do] = [["replace", shared, f"slot of {name}\n", f"done by {name}\n"] for shared in SHARED]
        script[name] = [["write", f"own/{n}.txt", f"{name}\n"], *edits[:1], ["sleep", pause], *edits[1:]]
    loop.script(script)


def check_many(loop: Loop) -> None:
    """As many commits, each only its own; every tick true; nothing left over."""
    names = [f"task {n}" for n in range(1, TASKS + 1)]
    assert loop.boxes() == "x" * TASKS
    oids = loop.repo.git("rev-list", f"{loop.base}..").split()
    assert len(oids) == TASKS
    seen = set()
    for oid in oids:
        subject = loop.repo.git("log", "-1", "--format=%s", oid)
        name = subject.partition(": ")[2]
        seen.add(name)
        own = f"own/{names.index(name)}.txt"
        assert loop.repo.changes(oid) == {own: "A", **dict.fromkeys(SHARED, "M")}
        for shared in SHARED:
            rows = loop.repo.git("diff", "-U0", f"{oid}^", oid, "--", shared).splitlines()
            assert [row for row in rows if row[:1] in "+-"][2:] == [f"-slot of {name}", f"+done by {name}"]
    assert seen == set(names)
    assert loop.repo.git("status", "--porcelain") == " M plan.md"
    assert loop.repo.git("fsck", "--strict", "--no-dangling", "--no-progress") == ""
    assert all(row["pending"] == 0 for row in loop.repo.ralph("session", "list", "--json").json())
    assert {row["outcome"] for row in loop.last_run()["tasks"]} == {"committed"}


def _words(loop: Loop) -> list[str]:
    """A kill may have come before there was a run to resume."""
    begun = list(loop.repo.state.glob("runs/*.json"))
    return ["plan.md", *(["--resume"] if begun else []), "--jobs", "4"]


def killed_at_random(loop: Loop, *more: str) -> None:
    """The loop, killed a few times at random moments and resumed, then left to finish."""
    seed = random.randrange(1 << 30)
    chance = random.Random(seed)
    kills = 0
    while kills < MOST_KILLS:
        child = begin(loop, *_words(loop), *more)
        try:
            child.communicate(timeout=chance.uniform(0.3, 1.5))
            break
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            child.communicate()
            kills += 1
    _, err = begin(loop, *_words(loop)).communicate(timeout=runner.PATIENCE)
    print(f"seed {seed}, {kills} kills\n{err.decode()}")
    assert kills > MOST_KILLS // 3, "the tasks are too quick for this machine"


@pytest.mark.slow
def test_many_tasks_four_at_a_time_killed_and_resumed(loop: Loop) -> None:
    many(loop, pause=0.7)
    killed_at_random(loop)
    check_many(loop)


@pytest.mark.slow
def test_many_tasks_in_worktrees_killed_and_resumed(loop: Loop) -> None:
    many(loop, pause=0.7)
    killed_at_random(loop, "--worktree")
    assert loop.boxes() == "x" * TASKS
    subjects = [subject for subject in loop.subjects() if subject.startswith("Task")]
    assert len(set(subjects)) == len(subjects) == TASKS
    for shared in SHARED:
        assert loop.repo.blob(shared).count(b"done by") == TASKS
    assert loop.repo.git("status", "--porcelain") == " M plan.md"
    assert loop.repo.git("fsck", "--strict", "--no-dangling", "--no-progress") == ""


def test_a_plan_of_many_tasks_runs_through(loop: Loop) -> None:
    """Four at a time in one directory: as many commits, each only its own."""
    many(loop)
    loop.run("--jobs", "4")
    check_many(loop)


STEPS = ["agent", "verify", "commit", "tick"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_at_each_step(loop: Loop, step: str, after: bool) -> None:
    """The loop dies right after a step is on record, or right after it was taken."""
    loop.plan("one", "two")
    loop.script({name: [["write", f"{name}.txt", "1\n"]] for name in ("one", "two")})
    module, name = {
        "agent": ("work", "run_agent"),
        "verify": ("work", "verify"),
        "commit": ("task_landing", "commit_request"),
        "tick": ("task_landing", "tick_in"),
    }[step]
    code = (
        "import importlib, os, signal, sys\n"
        f"module = importlib.import_module('gitralph.tasks.loop.{module}')\n"
        f"real = module.{name}\n"
        "def killed(*given, **more):\n"
        f"    {'real(*given, **more)' if after else 'pass'}\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        f"module.{name} = killed\n"
        "from gitralph.__main__ import main\n"
        "sys.exit(main())\n"
    )
    words = [runner.COMMAND[0], "-P", "-c", code, "run", "plan.md", "--verify", "true", *loop.agent]
    done = subprocess.run(words, cwd=loop.repo.root, env=loop.repo.env, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert loop.repo.ralph("run", "list", "--json").json()[0]["state"] == "interrupted"
    loop.repo.ralph("run", "--resume")
    assert loop.subjects() == ["Task 1/2: one", "Task 2/2: two"]
    assert loop.commits() == [{"one.txt": "A"}, {"two.txt": "A"}]
    assert loop.boxes() == "xx"
    assert loop.worked() == ["one", "two"], "what was done is not done again"
    assert {row["outcome"] for row in loop.last_run()["tasks"]} == {"committed"}


def test_an_agent_left_by_a_killed_loop_is_stopped(loop: Loop) -> None:
    loop.plan("one")
    pid = loop.aside / "pid"
    loop.script({"one": [["once", str(loop.aside / "m"), ["sh", f"echo $PPID > {pid}"], ["sleep", 300]]]})
    child = begin(loop)
    wait_until(child, written(pid))
    child.send_signal(signal.SIGKILL)
    child.communicate()
    left = Path(f"/proc/{pid.read_text().strip()}")
    assert left.exists()
    said = loop.repo.ralph("run", "--resume")
    assert "stopped the agent that the interrupted run had left" in said.said
    assert not left.exists() or "Z" in (left / "stat").read_text().rpartition(")")[2].split()[0]
    assert loop.boxes() == "x"


# --- a tracker of work items ---

ITEM = {"id": "bd-7", "title": "The title", "acceptance_criteria": "It works", "description": "More"}
SHAPES = {
    "object": f"echo '{json.dumps(ITEM)}'",
    "array": f"echo '{json.dumps([ITEM])}'",
    "envelope": f"echo '{json.dumps({'ok': True, 'data': {'issues': [ITEM]}})}'",
    "error": "echo 'no such issue' >&2; exit 1",
    "no JSON": "echo 'The title: open'",
    "hanging": "sleep 60; touch slept",
}


def fake_bd(loop: Loop, show: str) -> None:
    folder = loop.aside / "bin"
    folder.mkdir()
    program = folder / "bd"
    program.write_text(
        f'#!/bin/sh\necho "$(git rev-list --count HEAD) $*" >> {loop.aside}/bd.log\n'
        "mkdir -p .beads; echo x >> .beads/issues.jsonl\n"
        f'case "$1" in show) {show};; esac\n'
    )
    program.chmod(0o755)
    loop.repo.env["PATH"] = f"{folder}:{loop.repo.env['PATH']}"


@pytest.mark.parametrize("shape", SHAPES)
def test_work_item_is_claimed_named_and_closed(loop: Loop, shape: str) -> None:
    """Title and criteria reach prompt and message; it is closed only after the commit."""
    loop.repo.git("config", "ralph.beads.timeout", "1")
    loop.repo.write(".beads/issues.jsonl", "{}\n")
    loop.base = loop.repo.commit_all("tracker")
    task = "one (bead bd-7)"
    loop.plan(task)
    loop.script({task: [["write", "one.txt", "1\n"], ["write", ".beads/issues.jsonl", "swept in\n"]]})
    fake_bd(loop, SHAPES[shape])
    said = loop.run()
    assert not loop.repo.file("slept").exists(), "a tracker that hangs was waited for"
    assert loop.commits() == [{"one.txt": "A"}]
    body = loop.repo.git("log", "-1", "--format=%B")
    known = shape in ("object", "array", "envelope")
    assert ("The title\n\nIt works\n" in body) is known
    assert ("It works" in loop.log()[0]["prompt"]) is known
    assert ("warning: 'bd show" in said.said) is not known
    calls = (loop.aside / "bd.log").read_text().splitlines()
    commits = loop.repo.count()
    assert f"{commits - 1} update bd-7 --claim" in calls
    assert [row for row in calls if " close bd-7" in row] == [calls[-1]]
    assert calls[-1].startswith(f"{commits} close bd-7")


def test_absent_tracker_only_warns(loop: Loop) -> None:
    loop.plan("one (bead bd-7)")
    said = loop.run()
    assert "warning: the tracker 'bd' is not on PATH" in said.said
    assert loop.boxes() == "x"


def test_work_item_is_not_closed_without_a_commit(loop: Loop) -> None:
    loop.plan("one (bead bd-7)")
    loop.script({"one (bead bd-7)": [["exit", 1]]})
    fake_bd(loop, SHAPES["object"])
    loop.run(code=1)
    assert "close" not in (loop.aside / "bd.log").read_text()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one (bead bd-7)", "bd-7"),
        ("one (bead: bd-a3f8.1) more", "bd-a3f8.1"),
        ("bead: x-1", "x-1"),
        ("bead:gt-wisp-hfb", "gt-wisp-hfb"),
        ("count the beads", None),
        ("(bead ../x)", None),
        ("(bead -x)", None),
        ("bead:", None),
        ("(bead a..b)", None),
        ("(bead bd-1; rm)", None),
    ],
)
def test_how_a_task_names_its_work_item(text: str, expected: str | None) -> None:
    assert tracker.mentioned(text) == expected
