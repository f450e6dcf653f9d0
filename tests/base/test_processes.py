"""Programs are started in one place, with one list of git's variables that they do not inherit."""

import ast
import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitralph.base import process, programs, runner
from tests.support import source
from tests.support.looping import Loop
from tests.support.repo import Repo

OWNER = "gitralph.base.programs"
SEES = 'env | grep "^GIT_" | sort >"$0"'


@pytest.fixture
def loop(repo: Repo, tmp_path: Path) -> Loop:
    return Loop.make(repo, tmp_path / "aside")


def _called(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of what is called; a type in an annotation is none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            yield node.lineno, f"subprocess.{name}" if name in ("Popen", "Popen[bytes]") else name


def test_only_the_runner_starts_programs() -> None:
    """Whoever wants a program asks for it in one place."""
    started = ("subprocess.Popen", "subprocess.run", "subprocess.call", "subprocess.check_", "subprocess.get")
    wrong = [
        f"{module.name}:{line}"
        for module in source.modules()
        for line, name in _called(module.tree)
        if name.startswith((*started, "os.posix_spawn", "os.system", "os.exec", "os.popen", "os.fork"))
    ]
    assert {name.split(":")[0] for name in wrong} == {"gitralph.base.runner", OWNER}
    # under another name they would not be seen
    assert [
        f"{module.name}:{node.lineno}"
        for module in source.modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom)
        and node.module == "subprocess"
        and not {one.name for one in node.names} <= {"Popen", "CompletedProcess"}
    ] == []


def test_only_the_runner_spells_what_is_not_inherited() -> None:
    """A list of git's variables is spelled once: where it is, the index of another repository is named."""
    wrong = []
    for module in source.modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Tuple | ast.List | ast.Set):
                texts = {n.value for n in node.elts if isinstance(n, ast.Constant)}
                if "GIT_DIR" in texts and "GIT_WORK_TREE" in texts:
                    wrong.append(module.name)
    assert set(wrong) == {OWNER}


def test_the_list_is_gits_own_without_the_users_configuration() -> None:
    """What git says is of one repository; what `git -c` set is the user's wish and goes on."""
    said = subprocess.run(
        ["git", "rev-parse", "--local-env-vars"], capture_output=True, text=True, check=True
    )
    local = set(said.stdout.split())
    wishes = {name for name in local if name.startswith("GIT_CONFIG")}
    given = dict.fromkeys(local, "x") | {"HOME": "/h"}
    assert set(programs.inherited(given)) == wishes | {"HOME"}
    kept = set(programs.inherited(given, naming=True))
    assert {"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR"} <= kept
    assert not {"GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX"} & kept


def _of_a_git_hook(repo: Repo) -> dict[str, str]:
    """The environment in which git runs a hook, where somebody may start us."""
    real = str(repo.root / ".git")
    return {
        "GIT_DIR": real,
        "GIT_WORK_TREE": str(repo.root),
        "GIT_INDEX_FILE": real + "/next-index",
        "GIT_PREFIX": "",
        "GIT_OBJECT_DIRECTORY": real + "/objects",
        "GIT_QUARANTINE_PATH": real + "/objects",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
    }


def _seen(path: Path, repo: Repo) -> set[str]:
    """Which of git's variables a program saw, but for those that every test has."""
    names = {line.partition("=")[0] for line in path.read_text().splitlines()}
    return names - set(repo.env) - {"GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"}


def _fake_bd(repo: Repo, folder: Path, out: Path) -> None:
    folder.mkdir()
    (folder / "bd").write_text(f'#!/bin/sh\nenv | grep ^GIT_ >>{out}\necho \'{{"id":"bd-1","title":"T"}}\'\n')
    (folder / "bd").chmod(0o755)
    repo.env["PATH"] = f"{folder}:{repo.env['PATH']}"


def test_the_loops_agent_check_and_tracker_see_no_repository_of_the_callers(
    loop: Loop, tmp_path: Path
) -> None:
    """They work in a checkout of their own choice, with its own index."""
    agent, check, bd = (tmp_path / name for name in ("agent", "check", "bd"))
    _fake_bd(loop.repo, tmp_path / "bin", bd)
    loop.plan("one (bead bd-1)")
    command = ["--", "/bin/sh", "-c", SEES, str(agent)]
    loop.repo.ralph(
        "run", "plan.md", "--verify", f"sh -c '{SEES}' {check}", *command, env=_of_a_git_hook(loop.repo)
    )
    assert [_seen(path, loop.repo) for path in (check, bd)] == [set()] * 2
    # the run's own guard over the agent's plain commits
    assert _seen(agent, loop.repo) == {"GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0"}
    assert "GIT_CONFIG_KEY_0=core.hooksPath\n" in agent.read_text()


def test_what_runs_in_a_new_worktree_sees_no_repository_of_the_callers(repo: Repo, tmp_path: Path) -> None:
    """The command after creation, the tracker at a launch and a gate's check."""
    made, gate, bd = (tmp_path / name for name in ("made", "gate", "bd"))
    _fake_bd(repo, tmp_path / "bin", bd)
    repo.git("config", "ralph.beads.enabled", "true")
    repo.git("config", "ralph.worktree.postCreate", f"sh -c '{SEES}' {made}")
    repo.git("config", "ralph.loop.verify", f"sh -c '{SEES}' {gate}")
    event = {"session_id": "S1", "cwd": str(repo.root)}
    given = {"worktree_policy": "required", "bead_id": "bd-1", "prompt": "p"}
    launch = {**event, "hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": given}
    stop = {**event, "hook_event_name": "Stop", "last_assistant_message": "<promise>BEAD COMPLETE</promise>"}
    for payload in (launch, stop):
        repo.ralph("hook", "claude-code", stdin=json.dumps(payload).encode(), env=_of_a_git_hook(repo))
    assert [_seen(path, repo) for path in (made, gate, bd)] == [set()] * 3


def test_an_agent_in_a_worktree_of_its_own_commits_nothing_into_the_callers_index(loop: Loop) -> None:
    """`git add` of an agent writes the index of its checkout, whatever index a git hook named."""
    loop.plan("one")
    before = (loop.repo.root / ".git/index").read_bytes()
    env = {"GIT_INDEX_FILE": str(loop.repo.root / ".git/index")}
    loop.script({"one": [["write", "one.txt", "1\n"], ["sh", "git add one.txt"]]})
    loop.run("--worktree", env=env)
    assert loop.commits()[0] == {"one.txt": "A"}
    after = loop.repo.git("diff", "--cached", "--name-only")
    assert after == "", before


def test_a_program_that_takes_too_long_goes_with_all_it_started() -> None:
    """A child that keeps the pipe open does not outlive the limit."""
    with pytest.raises(runner.LateError) as late:
        runner.run(["/bin/sh", "-c", "sleep 600 & echo $!; sleep 600"], env=dict(os.environ), seconds=2)
    while process.identity(int(late.value.out)) is not None:  # it is dying: a test that hangs here is red
        time.sleep(0.01)


def test_a_hook_starts_git_without_subprocess_and_in_time() -> None:
    """Exit code and output, None when the time is over."""
    env = dict(os.environ)
    assert programs.quick(["/bin/sh", "-c", "echo x; exit 3"], env, time.monotonic() + 10) == (3, b"x\n")
    assert programs.quick(["/bin/sleep", "60"], env, time.monotonic() + 0.1) is None


def test_a_program_is_found_by_absolute_entries_of_path_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of the working tree is never started for a program's name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").write_text("#!/bin/sh\n")
    (tmp_path / "bin/git").chmod(0o755)
    assert programs.find("git", {"PATH": "bin::."}) is None
    assert programs.find("git", {"PATH": f"bin:{tmp_path}/bin"}) == f"{tmp_path}/bin/git"
