"""The real Claude Code and pi work through a plan, unattended, driven by ``git ralph run --agent``.

The clients talk to the scripted model; the driver's own recipe says how each finds it.
"""

import importlib.util
import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from tests.real_agents.clients import CACHE, DRIVER, OUTER, TOOLS, Stage, Turn, call
from tests.support.repo import Repo

pytestmark = pytest.mark.agents


def _tools() -> Any:
    """The driver as a module, for its recipes and its model."""
    sys.path.insert(0, str(TOOLS))
    try:
        spec = importlib.util.spec_from_file_location("real_client", DRIVER)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["real_client"] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(TOOLS))


def _conversation(name: str, *turns: Turn) -> dict[str, Any]:
    # as the prompt says it: Claude Code also tells the model the subjects of recent commits
    return {
        "name": name,
        "match": {"user": f"of the plan 'plan.md': {name}"},
        "turns": [*turns, {"text": "All done."}],
    }


_INSTALL = """
import json, pathlib, sys
import real_client as tools
recipe, cache = tools.CLIENTS[sys.argv[1]], pathlib.Path(sys.argv[2])
modules = tools.install(cache / sys.argv[1], recipe.package, recipe.version)
node = tools.node_dir(cache, recipe.node)
print(json.dumps([str(modules / recipe.binary), str(node) if node else None]))
"""


def _installed(client: str) -> tuple[str, str | None]:
    """The client's program and the folder of its node, installed where they are missing."""
    words = [sys.executable, "-c", _INSTALL, client, str(CACHE)]
    env = {**OUTER, "PYTHONPATH": str(TOOLS)}
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        pytest.skip(f"NOT TESTED WITH THE REAL {client}: {''.join(done.stderr.strip().splitlines()[-1:])}")
    binary, node = json.loads(done.stdout)
    return binary, node


SCRIPTS = {
    "claude-code": [
        _conversation("write the first", call("Write", file_path="${REPO}/first.py", content="1\n")),
        _conversation(
            "change the second",
            call("Read", file_path="${REPO}/c/edit.txt"),
            call("Edit", file_path="${REPO}/c/edit.txt", old_string="two", new_string="deux"),
        ),
        _conversation("nothing to do"),
    ],
    "pi": [
        _conversation("write the first", call("write", path="first.py", content="1\n")),
        _conversation(
            "change the second",
            call("edit", path="c/edit.txt", edits=[{"oldText": "two", "newText": "deux"}]),
        ),
        _conversation("nothing to do"),
    ],
}


@pytest.mark.parametrize("client", ["claude-code", "pi"])
def test_a_plan_of_three_unattended(stage: Stage, empty_repo: Repo, client: str) -> None:
    repo = empty_repo
    tools = _tools()
    recipe = tools.CLIENTS[client]
    binary, node = _installed(client)
    stage.ralph("install", "--agent", client, "--user")
    repo.write("plan.md", "- [ ] write the first\n- [ ] change the second\n- [ ] nothing to do\n")
    base = repo.head()
    names = {"HOME": str(stage.home), "REPO": str(repo.root)}
    with tools.StubModel({"conversations": SCRIPTS[client]}, names) as stub:
        run = tools.Run(stub.url, stage.home, repo.root, "", recipe.model, [])
        for name, settings in recipe.files(run).items():
            tools.merge_file(stage.home / name, settings)
        repo.git("config", f"ralph.{client}.command", binary)
        if client == "pi":
            repo.git("config", "ralph.pi.arguments", f"--provider stub --model {recipe.model}")
        path = ":".join([*([node] if node else []), stage.environ["PATH"], os.defpath])
        env = {**stage.environ, **recipe.env(run), "PATH": path, "TERM": "dumb"}
        words = [str(Path(sysconfig.get_path("scripts")) / "git-ralph"), "run", "plan.md", "--agent", client]
        done = subprocess.run(words, cwd=repo.root, env=env, capture_output=True, timeout=300, check=False)
        report = stub.report()
    assert done.returncode == 0, (done.stdout, done.stderr, report)
    assert repo.git("log", "--reverse", "--format=%s", f"{base}..").splitlines() == [
        "Task 1/3: write the first",
        "Task 2/3: change the second",
    ]
    assert repo.changes("HEAD^") == {"first.py": "A"}
    assert repo.changes() == {"c/edit.txt": "M"}
    assert f"Ralph-Agent: {client}" in repo.trailers().splitlines()
    assert (repo.read("plan.md") or b"").count(b"- [x]") == 3
    rows = json.loads(stage.ralph("session", "list", "--json"))
    assert [row["pending"] for row in rows] == [0] * 3
