"""Runs and sessions: started, resumed, continued, tidied away."""

import copy
import functools
import json
import os
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.test_events import emit, file_of, lines, start, topics
from tests.support import runner
from tests.support.looping import Loop
from tests.support.repo import Repo
from tests.support.size import FULL
from tests.support.texts import changed


def runs_of(repo: Repo) -> dict[str, dict[str, object]]:
    rows = repo.ralph("run", "list", "--json").json()
    return {row["id"]: row for row in rows}


def current(repo: Repo, folder: str = "") -> str:
    return (repo.state / folder / "current-events").read_text()


def test_runs_of_the_same_second_are_apart(repo: Repo) -> None:
    """Many at once from three worktrees: as many ids and files, each gets its own events."""
    places, count = [repo, repo.worktree("w1"), repo.worktree("w2")], 20 if FULL else 8
    start(repo)
    with ThreadPoolExecutor(5) as pool:
        found = list(
            pool.map(lambda n: places[n % 3].ralph("run", "start", process=True).text.strip(), range(count))
        )
    assert len(set(found)) == count
    assert all(file_of(repo, run).exists() for run in found)
    for run in found:
        emit(repo, run, "--run", run)
    assert all(topics(repo, "--run", run) == [run] for run in found)


def test_a_second_is_shared_by_number(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.strftime", lambda *_: "20260101-000000")
    found = [start(repo) for _ in range(12)]
    assert found[:3] == ["20260101-000000", "20260101-000000-2", "20260101-000000-3"]
    assert list(runs_of(repo)) == found


def test_resume_reuses_run_file_and_marker(repo: Repo) -> None:
    """The same id, file and marker, and one event more."""
    run = start(repo)
    emit(repo, "a")
    marker = current(repo)
    assert repo.ralph("run", "resume").text == run + "\n"
    assert current(repo) == marker
    assert topics(repo) == ["a", "run.resumed"]
    assert list(runs_of(repo)) == [run]


def test_nothing_to_resume_is_said(repo: Repo) -> None:
    said = repo.ralph("run", "resume", code=128)
    assert "hint: git ralph run start" in said.said
    told = repo.ralph("run", "resume", "--json", code=128).json()
    assert told == {"run": None, "new": [], "more": 0, "tasks": [], "notes": ["no run is current here"]}
    repo.ralph("run", "--resume", code=128)
    assert not repo.state.exists()


def test_resume_of_a_deleted_file_is_an_error(repo: Repo) -> None:
    run = start(repo)
    file_of(repo, run).unlink()
    said = repo.ralph("run", "resume", code=128)
    assert f"events-{run}.jsonl" in said.said
    assert current(repo) == f"events-{run}.jsonl\n"
    assert not file_of(repo, run).exists()


def test_resume_hands_on_only_what_is_new(repo: Repo) -> None:
    """Of the events since the start only those after the end of the run."""
    start(repo)
    emit(repo, "old")
    emit(repo, "loop.terminate")
    emit(repo, "parked", "hello")
    said = repo.ralph("run", "resume", "--json").json()
    assert [row["topic"] for row in said["new"]] == ["parked"]
    assert repo.ralph("run", "resume", "--json").json()["new"] == []
    repo.ralph("run", "end")
    emit(repo, "later")
    said2 = repo.ralph("run", "resume")
    assert "later" in said2.said
    assert "parked" not in said2.said


def test_resume_after_a_crash_without_an_end(repo: Repo) -> None:
    start(repo)
    emit(repo, "a")
    assert [row["topic"] for row in repo.ralph("run", "resume", "--json").json()["new"]] == ["a"]
    emit(repo, "b")
    assert [row["topic"] for row in repo.ralph("run", "resume", "--json").json()["new"]] == ["b"]


def test_resume_keeps_the_links_of_the_run(repo: Repo) -> None:
    repo.write("plan.md", "- [ ] one\n")
    repo.ralph("run", "plan.md", "--", "/bin/false", code=1)
    (first,) = runs_of(repo)
    before = runs_of(repo)[first]
    second = start(repo)
    assert current(repo) == f"events-{second}.jsonl\n"
    assert repo.ralph("run", "resume", "--run", first).text == first + "\n"
    after = runs_of(repo)[first]
    assert (after["plan"], after["sessions"], after["tasks"]) == (
        "plan.md",
        before["sessions"],
        {"done": 0, "total": 1},
    )
    assert after["current"] is True
    assert current(repo) == f"events-{first}.jsonl\n"
    repo.ralph("run", "resume", "--run", "20000101-000000", code=128)
    repo.ralph("run", "resume", "--run", "../x", code=129)


def test_current_run_is_per_worktree(repo: Repo) -> None:
    """Each worktree's events go to its own run; both are listed from either."""
    linked = repo.worktree("w")
    ours, theirs = start(repo), start(linked)
    emit(repo, "ours")
    emit(linked, "theirs")
    assert (topics(repo), topics(linked)) == (["ours"], ["theirs"])
    assert set(runs_of(repo)) == set(runs_of(linked)) == {ours, theirs}
    assert [run for run, row in runs_of(linked).items() if row["current"]] == [theirs]


def test_no_command_makes_symlinks(repo: Repo) -> None:
    linked = repo.worktree("w")
    repo.write("plan.md", "- [ ] one\n")
    for place in (repo, linked):
        start(place)
        emit(place, "a")
        place.ralph("run", "resume")
        place.ralph("session", "start", "--id", f"s{place.root.name}")
        place.ralph("events", "--cursor", "c")
    repo.ralph("plan", "use", "plan.md")
    repo.ralph("run", "--", "/bin/true")
    repo.ralph("run", "end")
    for top in (repo.root, linked.root):
        for folder, folders, names in os.walk(top):
            assert not [n for n in folders + names if os.path.islink(os.path.join(folder, n))]


def test_session_start_gives_the_contract(repo: Repo, environ: dict[str, str], tmp_path: Path) -> None:
    odd = Repo.init(tmp_path / "a 'b\" $(c)\nd", environ)
    odd.write("x", "x\n")
    odd.commit_all("base")
    run = start(odd)
    said = odd.ralph("session", "start", "--plan", "my p.md", "--task", "3", "--bead", "bd-1", "--env", "sh")
    script = (
        said.text + '\nprintf \'%s\\0\' "$RALPH_ROOT" "$RALPH_MANIFEST" "$RALPH_EVENTS_FILE" "$RALPH_PLAN"'
    )
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=True).stdout
    root, manifest, events, plan = done.decode().split("\0")[:-1]
    assert (root, plan) == (str(odd.root), "my p.md")
    assert Path(manifest).parent == odd.state
    assert events == str(file_of(odd, run))
    found = odd.ralph("session", "start", "--plan", "p", "--task", "3", "--env", "json").json()
    assert {
        "RALPH_TRACKING",
        "RALPH_ROOT",
        "RALPH_SESSION",
        "RALPH_MANIFEST",
        "RALPH_PLAN",
        "RALPH_TASK_NUM",
    } <= set(found)
    assert (found["RALPH_TRACKING"], found["RALPH_TASK_NUM"]) == ("1", "3")
    assert shlex.split(said.text)[1].startswith("RALPH_TRACKING=")


def _begin(repo: Repo, *more: str, plan: str = "p", task: str = "3") -> str:
    return repo.ralph("session", "start", "--plan", plan, "--task", task, *more).text.strip()


def test_continue_finds_the_session_of_the_task(repo: Repo) -> None:
    """Without the option a new session starts and the old one keeps what is pending."""
    first = _begin(repo)
    repo.edit(first, "a", changed())
    assert _begin(repo, "--continue") == first
    second = _begin(repo)
    assert second != first
    assert repo.pending(first) == ["a"]
    assert repo.pending(second) == []


def test_two_plans_at_once_commit_their_own(repo: Repo) -> None:
    one = _begin(repo, plan="a.md", task="1")
    repo.edit(one, "a", changed())
    two = _begin(repo, plan="b.md", task="1")
    repo.edit(two, "b", changed())
    repo.commit(two)
    assert repo.changes() == {"b": "M"}
    repo.ralph("session", "end", two)
    repo.commit(one)
    assert repo.changes() == {"a": "M"}
    assert "Ralph-Plan: a.md" in repo.trailers()


def test_two_sessions_of_one_task_commit_their_own(repo: Repo) -> None:
    one, two = _begin(repo), _begin(repo)
    repo.edit(one, "a", changed())
    repo.edit(two, "b", changed())
    assert (repo.pending(one), repo.pending(two)) == (["a"], ["b"])
    repo.commit(one)
    assert repo.changes() == {"a": "M"}
    repo.commit(two)
    assert repo.changes() == {"b": "M"}


def test_a_session_whose_process_is_gone_is_stale_and_usable(repo: Repo) -> None:
    """Listed with its pending count; end, continue and commit all work."""
    repo.start("s1")
    record = repo.state / "s1.json"
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    fields = json.loads(record.read_text())
    fields["process"] = {"pid": gone.pid, "start": "1", "boot": "x"}
    record.write_text(json.dumps(fields))
    repo.edit("s1", "a", changed())
    (row,) = repo.ralph("session", "list", "--json").json()
    assert (row["state"], row["pending"]) == ("stale", 1)
    repo.ralph("session", "end", "s1")
    repo.ralph("session", "start", "--id", "s1", "--continue")
    assert repo.pending("s1") == ["a"]
    assert repo.commit("s1").paths == {"a": "M"}


def test_old_runs_go_and_the_rest_stays(repo: Repo) -> None:
    """As many as configured and the live one stay; pending records and plans do too."""
    live = start(repo)
    emit(repo, "live")
    repo.edit("s1", "a", changed())
    repo.write("plan.md", "- [ ] one\n")
    repo.ralph("plan", "use", "plan.md")
    repo.git("config", "ralph.gcRuns", "5")
    over = []
    for _ in range(30):
        over.append(start(repo))
        emit(repo, "x" * 100)
        repo.ralph("run", "end")
    before = {path: path.read_bytes() for path in repo.state.rglob("*") if path.is_file()}
    said = repo.ralph("gc", "--dry-run").text
    assert {path: path.read_bytes() for path in repo.state.rglob("*") if path.is_file()} == before
    assert all(f"events-{run}.jsonl" in said for run in over[:25])
    freed = sum(
        len(before[p]) for run in over[:25] for p in (file_of(repo, run), repo.state / f"runs/{run}.json")
    )
    assert f"; {freed} bytes" in said
    assert f"; {freed} bytes" in repo.ralph("gc").text
    assert set(runs_of(repo)) == {live, *over[25:]}
    assert topics(repo, "--run", live) == ["live"]
    assert repo.pending("s1") == ["a"]
    assert repo.ralph("plan", "show", "--json").json()["plan"] == "plan.md"
    assert repo.ralph("gc").text == "removed nothing; 0 bytes\n"


def test_a_run_that_left_something_pending_stays(repo: Repo) -> None:
    repo.write("plan.md", "- [ ] one\n")
    repo.git("config", "ralph.gcRuns", "0")
    edit = f"echo 1 > x.py; {runner.COMMAND[0]} -P -m gitralph track x.py; exit 1"
    repo.ralph("run", "plan.md", "--verify", "false", "--", "/bin/sh", "-c", edit, code=1)
    repo.ralph("gc")
    (run,) = runs_of(repo)
    session = runs_of(repo)[run]["sessions"][0]  # type: ignore[index]
    repo.ralph("commit", "--session", session, "-m", "x")
    repo.ralph("gc")
    assert runs_of(repo) == {}


def test_run_end_says_so_once(repo: Repo) -> None:
    run = start(repo)
    repo.ralph("run", "end")
    repo.ralph("run", "end")
    assert [row["topic"] for row in lines(file_of(repo, run))] == ["loop.terminate"]
    assert runs_of(repo)[run]["state"] == "ended"


def test_plan_marker_is_not_believed(repo: Repo, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("- [ ] one\n")
    told = repo.ralph("plan", "show", "--json", code=128).json()
    assert told == {"plan": None, "tasks": [], "notes": ["no plan is in use"]}
    repo.ralph("plan", "use", str(outside), code=129)
    repo.write("sub dir/plan.md", "- [x] one\n- [ ] two\n")
    repo.ralph("plan", "use", "plan.md", cwd="sub dir")
    assert repo.ralph("plan", "show", cwd="d").text.startswith("sub dir/plan.md: 1 of 2 done\n")
    for text in ("/etc/passwd\n", "../x\n", "", "a\nb\n", '"bad\n'):
        (repo.state / "current-plan").write_text(text)
        assert "warning: 'current-plan'" in repo.ralph("plan", "show", code=128).said
        repo.ralph("run", "--", "/bin/true", code=129)


JUNK = (5, ["x"], "\ud800")


@pytest.mark.parametrize("junk", JUNK)
def test_no_field_of_a_damaged_record_breaks_a_command(repo: Repo, tmp_path: Path, junk: object) -> None:
    """The record is a file that anybody may write; ``Repo.run`` fails for an internal error."""
    loop = Loop.make(repo, tmp_path / "aside")
    loop.plan("one", "two")
    repo.commit_all("plan")
    loop.script({"one": [["write", "x", "x\n"]]})
    loop.run("--max-tasks", "1")
    (path,) = (repo.state / "runs").glob("*.json")
    good = json.loads(path.read_text())
    assert good["tasks"]
    assert repo.ralph("status").text.startswith("git ralph run\n")
    places: list[list[Any]] = [[], ["tasks", 0], ["options"]]
    tried = count(JUNK.index(junk))
    for where in places:
        for key in functools.reduce(lambda found, name: found[name], where, good):
            damaged = copy.deepcopy(good)
            functools.reduce(lambda found, name: found[name], where, damaged)[key] = junk
            path.write_text(json.dumps(damaged))
            for words in (["status"], ["run", "list"], ["run", "--resume", "--", "true"]):
                # each command meets each field, with one junk or another; with RALPH_FULL=1 with all
                if FULL or next(tried) % len(JUNK) == 0:
                    repo.run(*words)
