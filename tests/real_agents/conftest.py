"""A stage for real clients: a repository with files for everybody, and an empty HOME."""

import os
from pathlib import Path

import pytest

from tests.real_agents.clients import Stage, need
from tests.support.repo import Repo

HERE = Path(__file__).parent
# One file is enough to see that each client still speaks as it is heard; the rest takes minutes.
ALWAYS = "test_every_agent.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("RALPH_FULL") == "1":
        return
    for item in items:
        if item.path.parent == HERE and item.path.name != ALWAYS:
            item.add_marker(pytest.mark.skip(reason="the other scenes of real agents: make real-agents"))


FILES = {
    "c/edit.txt": "one\ntwo\nthree\n",
    "c/over.txt": "old text\n",
    "c/crlf.txt": "one\r\ntwo\r\nthree\r\n",
    "c/gone.txt": "to be deleted by a shell\n",
    "p/edit.txt": "one\ntwo\nthree\n",
    "p/over.txt": "old text\n",
    "p/crlf.txt": "one\r\ntwo\r\nthree\r\n",
    "p/gone.txt": "to be deleted by a shell\n",
    "u.txt": "the user's\n",
}

WORK = {
    "w/edit.txt": "one\ntwo\nthree\n",
    "w/move.txt": "stay\nhere\n",
    "w/gone.txt": "to be deleted\n",
    "shared.txt": "".join(f"line {number}\n" for number in range(1, 61)),
    "u.txt": "the user's\n",
}


@pytest.fixture
def stage(tmp_path: Path, empty_repo: Repo) -> Stage:
    """A committed repository with an identity of its own, and a HOME without any settings."""
    need("claude-code", "pi")
    return _stage(tmp_path, empty_repo, FILES)


@pytest.fixture
def workshop(tmp_path: Path, empty_repo: Repo) -> Stage:
    """The same with one folder for whichever agents the test needs."""
    return _stage(tmp_path, empty_repo, WORK)


def _stage(tmp_path: Path, empty_repo: Repo, files: dict[str, str]) -> Stage:
    for path, text in files.items():
        empty_repo.write(path, text)
    empty_repo.git("config", "user.name", "U Ser")
    empty_repo.git("config", "user.email", "u@example.com")
    empty_repo.commit_all("base")
    home, scratch = tmp_path / "agents-home", tmp_path / "scratch"
    home.mkdir()
    scratch.mkdir()
    return Stage(empty_repo.root, home, scratch)
