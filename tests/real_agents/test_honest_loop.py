"""Real agents in the loop: what was ticked without having landed, seen with them first."""

import json
import os
import shlex
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from tests.real_agents.clients import Stage, Turn, call
from tests.real_agents.test_loop import _installed, _tools
from tests.support.repo import Repo

pytestmark = pytest.mark.agents

CLIENTS = ["claude-code", "pi", "codex"]
MAIN = ". ./lib.sh\nanswer\n"
LIB = "printf 'answer() { true; }\\n' > lib.sh"


def writes(client: str, path: str, text: str) -> Turn:
    """One file written by the client's own tool."""
    if client == "claude-code":
        return call("Write", file_path="${REPO}/" + path, content=text)
    if client == "pi":
        return call("write", path=path, content=text)
    body = "".join(f"+{line}\n" for line in text.splitlines())
    patch = f"*** Begin Patch\n*** Add File: {path}\n{body}*** End Patch\n"
    return {"calls": [{"name": "apply_patch", "raw": patch}]}


def shell(client: str, command: str) -> Turn:
    """One command in the client's own shell."""
    if client == "claude-code":
        return call("Bash", command=command)
    if client == "pi":
        return call("bash", command=command)
    return call("exec_command", cmd=command)


def conversation(task: str, *turns: Turn, last: str = "All done.") -> dict[str, Any]:
    return {
        "name": task,
        "match": {"user": f"of the plan 'plan.md': {task}"},
        "turns": [*turns, {"text": last}],
    }


ALLOWED = {
    "claude-code": "--permission-mode bypassPermissions",
    "pi": "--provider stub --model {model}",
    "codex": "--sandbox danger-full-access",
}


def work(
    stage: Stage,
    repo: Repo,
    client: str,
    conversations: list[dict[str, Any]],
    *words: str,
    arguments: str | None = None,
) -> "subprocess.CompletedProcess[bytes]":
    """``git ralph run plan.md`` with a real client on a scripted model."""
    tools = _tools()
    recipe = tools.CLIENTS[client]
    binary, node = _installed(client)
    stage.ralph("install", "--agent", client, "--user")
    names = {"HOME": str(stage.home), "REPO": str(repo.root)}
    with tools.StubModel({"conversations": conversations}, names) as stub:
        run = tools.Run(stub.url, stage.home, repo.root, "", recipe.model, [])
        for name, settings in recipe.files(run).items():
            tools.merge_file(stage.home / name, settings)
        repo.git("config", f"ralph.{client}.command", binary)
        given = ALLOWED[client].format(model=recipe.model) if arguments is None else arguments
        if client == "codex":  # its settings are words of the command, between "exec" and the prompt
            given = shlex.join([*given.split(), *recipe.argv(run)[1:-1]])
        repo.git("config", f"ralph.{client}.arguments", given)
        path = ":".join([*([node] if node else []), stage.environ["PATH"], os.defpath])
        env = {**stage.environ, **recipe.env(run), "PATH": path, "TERM": "dumb", "IS_SANDBOX": "1"}
        program = str(Path(sysconfig.get_path("scripts")) / "git-ralph")
        command = [program, "run", "plan.md", "--agent", client, *words]
        return subprocess.run(command, cwd=repo.root, env=env, capture_output=True, timeout=60, check=False)


def boxes(repo: Repo) -> str:
    return "".join(row[3] for row in (repo.read("plan.md") or b"").decode().splitlines())


def last_tasks(repo: Repo) -> list[dict[str, Any]]:
    # two runs of one second: `-1` comes after the first, but before its `.json`
    files = sorted((repo.state / "runs").glob("*.json"), key=lambda file: file.stem)
    tasks: list[dict[str, Any]] = json.loads(files[-1].read_text())["tasks"]
    return tasks


@pytest.mark.parametrize("client", CLIENTS)
def test_what_the_shell_made_lands_with_the_task_and_a_clone_passes(
    stage: Stage, empty_repo: Repo, client: str, tmp_path: Path
) -> None:
    """Its tool writes one file, its shell another that the first needs."""
    repo = empty_repo
    repo.write("plan.md", "- [ ] write main\n")
    told = conversation("write main", writes(client, "main.sh", MAIN), shell(client, LIB))
    done = work(stage, repo, client, [told], "--verify", "sh main.sh")
    assert done.returncode == 0, done.stderr
    assert repo.changes() == {"main.sh": "A", "lib.sh": "A"}
    subprocess.run(["git", "clone", "-q", str(repo.root), str(tmp_path / "clone")], check=True, env=repo.env)
    subprocess.run(["sh", "main.sh"], cwd=tmp_path / "clone", check=True)


@pytest.mark.parametrize("client", CLIENTS)
def test_two_agents_at_once_with_shell_edits_tick_only_what_landed(
    stage: Stage, empty_repo: Repo, client: str
) -> None:
    repo = empty_repo
    repo.write("plan.md", "- [ ] change one\n- [ ] change two\n")
    meet = "touch {0}.here; for n in 1 2 3 4 5 6 7 8 9; do test -e {1}.here || sleep 0.5; done; "
    told = [
        conversation("change one", shell(client, meet.format("a", "b") + "sed -i s/two/deux/ c/edit.txt")),
        conversation("change two", shell(client, meet.format("b", "a") + "sed -i s/two/deux/ p/edit.txt")),
    ]
    repo.write(".gitignore", "*.here\n")
    repo.commit_all("ignore")
    base = repo.head()
    work(stage, repo, client, told, "--jobs", "2", "--keep-going")
    landed = repo.git("log", "--format=%s", f"{base}..").splitlines()
    assert boxes(repo).count("x") == len(landed)
    dirty = {row[3:] for row in repo.git("status", "--porcelain").splitlines()} & {"c/edit.txt", "p/edit.txt"}
    assert len(dirty) + len(landed) == 2


def test_a_tool_that_was_refused_leaves_the_box_open(stage: Stage, empty_repo: Repo) -> None:
    """Claude Code tells which in its result; in its default mode it may not run commands."""
    repo = empty_repo
    repo.write("plan.md", "- [ ] tidy up\n- [ ] ask\n")
    told = [
        conversation("tidy up", shell("claude-code", "make everything"), last="I was not allowed to."),
        conversation("ask", last="Which of the two files do you mean?"),
    ]
    done = work(stage, repo, "claude-code", told, "--keep-going", arguments="")
    assert done.returncode == 1, done.stderr
    assert b"the agent was refused: Bash" in done.stderr
    assert [task["outcome"] for task in last_tasks(repo)] == ["blocked", "no-op"]
    assert "its last words: Which of the two files do you mean?" in done.stderr.decode()
    assert boxes(repo) == " x"


@pytest.mark.parametrize("client", ["pi", "codex"])
def test_a_question_instead_of_work_is_told_and_with_require_change_left_open(
    stage: Stage, empty_repo: Repo, client: str
) -> None:
    """These two do not say in their result what was refused: their last words are all there is."""
    repo = empty_repo
    repo.write("plan.md", "- [ ] ask\n")
    asks = "Which of the two files do you mean?"
    done = work(stage, repo, client, [conversation("ask", last=asks)], "--require-change", "--keep-going")
    assert done.returncode == 1, done.stderr
    assert asks in done.stderr.decode()
    assert boxes(repo) == " "
    done = work(stage, repo, client, [conversation("ask", last=asks)])
    assert done.returncode == 0, done.stderr
    assert f"its last words: {asks}" in done.stderr.decode()
    assert ([task["outcome"] for task in last_tasks(repo)], boxes(repo)) == (["no-op"], "x")


@pytest.mark.parametrize("client", CLIENTS)
def test_an_agent_that_commits_by_itself_takes_no_line_of_the_other(
    stage: Stage, empty_repo: Repo, client: str
) -> None:
    repo = empty_repo
    repo.write("plan.md", "- [ ] commit it\n- [ ] only write\n")
    wait = "for n in 1 2 3 4 5 6 7 8 9; do test -e {} || sleep 0.5; done; "
    told = [
        conversation(
            "commit it",
            shell(client, wait.format("other.txt")),
            writes(client, "mine.txt", "mine\n"),
            shell(client, "git add -A && git commit -qm 'by hand'; touch c/done.txt"),
        ),
        conversation(
            "only write",
            writes(client, "other.txt", "half\n"),
            shell(client, wait.format("c/done.txt")),
        ),
    ]
    repo.write(".gitignore", "done.txt\nplan.md\n")
    repo.commit_all("ignore")
    base = repo.head()
    done = work(stage, repo, client, told, "--jobs", "2")
    assert done.returncode == 0, done.stderr
    found = {
        repo.git("log", "-1", "--format=%s", oid): repo.changes(oid)
        for oid in repo.git("rev-list", f"{base}..").split()
    }
    assert sorted(map(str, found.values())) == ["{'mine.txt': 'A'}", "{'other.txt': 'A'}"]
    assert "by hand" in found  # also codex's, whose shell is a login shell and sets PATH anew
    assert boxes(repo) == "xx"
