"""A person is told when his plain commit takes lines of sessions, and how to commit only his own."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support import shells
from tests.support.guarded import Ended, commit_as, git_as, narrowing, ten
from tests.support.home import with_tool_on_path
from tests.support.repo import Repo

MODES = ("warn", "refuse", "narrow")


@pytest.fixture(params=MODES)
def day(request: pytest.FixtureRequest, empty_repo: Repo) -> Repo:
    """S1 has two lines in ``f``, one of them blank, and one in ``g``; S2 one in ``f``; P two."""
    return _day(empty_repo, request.param)


def _day(repo: Repo, mode: str = "warn") -> Repo:
    narrowing(repo)
    repo.git("config", "ralph.guard", mode)
    for name in ("S1", "S2"):
        repo.start(name)
    repo.edit("S1", "f", ten(l2="one\n"))
    repo.edit("S1", "g", ten(l3="one"))
    repo.edit("S2", "f", ten(l2="one\n", l8="two"))
    repo.write("f", ten(l2="one\n", l5="mine", l8="two"))
    repo.write("h", ten(l1="mine"))
    return repo


def warnings(done: Ended) -> list[str]:
    return [row for row in done.said.splitlines() if row.startswith("warning:")]


def type_hint(repo: Repo, done: Ended, below: str = ".") -> None:
    """Type the one hint as a person would."""
    (row,) = (row for row in done.said.splitlines() if row.startswith("hint:") and "--mine" in row)
    line = row.removeprefix("hint: ").partition("  #")[0].replace("--mine", "--mine -m mine")
    env = repo._environment({"PATH": with_tool_on_path(repo.env)["PATH"]})
    ended = subprocess.run(
        ["sh", "-c", line], cwd=repo.root / below, env=env, capture_output=True, check=False
    )
    assert ended.returncode == 0, ended.stderr.decode()


def test_one_warning_with_sessions_files_and_counts_and_the_commit_is_gits(day: Repo) -> None:
    done = commit_as(day, None, "-a")
    (row,) = warnings(done)
    assert re.search(r"'session-1': 2 lines in 'f', 1 line in 'g'; 'session-2': 1 line in 'f'$", row), row
    assert day.changes() == {"f": "M", "g": "M", "h": "M"}
    assert day.blob("f") == day.read("f")
    assert day.trailers() == ""


def test_the_hint_gives_a_commit_of_ones_own(day: Repo) -> None:
    done = commit_as(day, None, "-a")
    type_hint(day, done)
    assert day.changes() == {"f": "M", "h": "M"}
    assert day.blob("f").decode() == ten(l5="mine")
    assert day.git("diff", "--cached") == ""  # of the sessions' lines nothing waits for the next commit
    assert day.commit("S1", checked=False).paths == {"f": "M", "g": "M"}


def test_it_is_silenced_or_stops(day: Repo) -> None:
    day.git("config", "ralph.guardPerson", "refuse")
    head = day.head()
    done = commit_as(day, None, "-a", code=1)
    assert "'session-1': 2 lines in 'f'" in done.said
    assert "git commit --no-verify" in done.said
    assert day.head() == head
    type_hint(day, done)
    assert day.blob("f").decode() == ten(l5="mine")
    day.git("config", "ralph.guardPerson", "off")
    assert commit_as(day, None, "-a").said == ""


def test_a_slip_is_said_and_is_the_strictest(day: Repo) -> None:
    day.git("config", "ralph.guardPerson", "of")
    head = day.head()
    done = commit_as(day, None, "-a", code=1)
    assert done.said.count("bad value 'of' for 'ralph.guardPerson', taken for 'refuse'") == 1
    assert day.head() == head


def test_what_takes_none_of_theirs_is_not_spoken_of(day: Repo) -> None:
    assert commit_as(day, None, "--", "h").said == ""
    day.git("config", "ralph.guard", "off")
    assert commit_as(day, None, "-a").said == ""


def traced(repo: Repo, tmp_path: Path, *args: str) -> int:
    """How often a person's commit starts the tool."""
    folder, log = tmp_path / "shim", tmp_path / "calls"
    folder.mkdir(exist_ok=True)
    log.write_text("")
    path = with_tool_on_path(repo.env)["PATH"]
    tool = folder / "git-ralph"
    tool.write_text(f'#!/bin/sh\necho "$@" >>{log}\nPATH={path} exec git-ralph "$@"\n')
    tool.chmod(0o755)
    env = repo._environment({"PATH": f"{folder}{os.pathsep}{path}"})
    subprocess.run(
        ["git", "commit", "-q", "--allow-empty", "-m", "y", *args], cwd=repo.root, env=env, check=True
    )
    return len(log.read_text().splitlines())


@pytest.mark.parametrize("how", ["nothing recorded", "our commit", "narrowed", "swept before"])
def test_no_python_where_nothing_is_pending(how: str, empty_repo: Repo, tmp_path: Path) -> None:
    repo = narrowing(empty_repo)
    repo.start("S1")
    if how != "nothing recorded":
        repo.edit("S1", "f", ten(l2="one"))
        assert (repo.state / "S1.pending").exists()
    if how == "our commit":
        repo.commit("S1")
    elif how == "narrowed":
        commit_as(repo, "S1", "-a")
    elif how == "swept before":
        commit_as(repo, None, "-a")  # which is told
        commit_as(repo, None, "--allow-empty")  # and this one finds that nothing is left
    assert traced(repo, tmp_path) == 0
    repo.edit("S1", "g", ten(l2="again"))
    assert traced(repo, tmp_path) == 1


def _by_script(repo: Repo, session: str, path: str) -> None:
    """A script of an agent without hooks tells of a path by itself."""
    with open(repo.state / f"{session}.files", "a") as file:
        file.write(path + "\n")


def test_a_path_that_a_script_wrote_into_a_manifest_is_told_of(empty_repo: Repo, tmp_path: Path) -> None:
    """No hook says there that something is pending; once it is settled, no Python is started for it."""
    repo = narrowing(empty_repo)
    repo.start("S1")
    assert traced(repo, tmp_path) == 0
    repo.write("f", ten(l2="one"))
    _by_script(repo, "S1", "f")
    done = commit_as(repo, None, "-a")
    assert "'session-1': 1 line in 'f'" in done.said
    assert traced(repo, tmp_path) == 1  # finds that nothing is left
    assert traced(repo, tmp_path) == 0
    repo.write("g", ten(l2="one"))
    _by_script(repo, "S1", "g")
    assert traced(repo, tmp_path) == 1
    assert (repo.state / "S1.pending").exists()
    repo.commit("S1")
    assert traced(repo, tmp_path) == 0


def test_what_a_script_wrote_while_another_session_commits_is_told_of(
    empty_repo: Repo, tmp_path: Path
) -> None:
    repo = narrowing(empty_repo)
    for name in ("S1", "S2"):
        repo.start(name)
    repo.edit("S2", "g", ten(l2="two"))
    repo.write("f", ten(l2="one"))
    _by_script(repo, "S1", "f")
    repo.commit("S2")
    assert (repo.state / "S1.pending").exists()
    assert "'session-1'" in commit_as(repo, None, "-a").said


def test_what_a_shell_command_changed_is_told_of(empty_repo: Repo) -> None:
    repo = narrowing(empty_repo)
    shells.run(repo, "S1", "sed -i 's/line 2$/one/' f")
    assert "1 line in 'f'" in commit_as(repo, None, "-a").said


def test_a_script_of_a_linked_worktree(empty_repo: Repo, tmp_path: Path) -> None:
    repo = narrowing(empty_repo)
    there = repo.worktree("there")
    there.edit("S1", "f", ten(l2="one"))
    there.commit("S1")
    assert traced(repo, tmp_path) == traced(there, tmp_path) == 0
    (manifest,) = repo.state.glob("worktrees/*/S1.files")
    there.write("g", ten(l2="one"))
    with open(manifest, "a") as file:
        file.write("g\n")
    assert "1 line in 'g'" in commit_as(there, None, "-a").said


def test_the_hint_is_typed_where_the_commit_was_asked_for(empty_repo: Repo) -> None:
    """git runs a hook at the root; paths as seen from there would end with nothing in the commit's place."""
    repo = _day(empty_repo)
    (repo.root / "d").mkdir()
    done = git_as(repo, None, "commit", "-qam", "x", below="d")
    assert "-- ../f ../g ../h" in done.said
    type_hint(repo, done, below="d")
    assert repo.blob("f").decode() == ten(l5="mine")
