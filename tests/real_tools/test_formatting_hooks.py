"""Two sessions in one file behind black, the pre-commit framework, husky with lint-staged and prettier."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.support.guarded import commit_as
from tests.support.repo import Repo
from tests.support.size import FULL

# npm and pip find their registries and caches through the environment of whoever runs the tests
OUTER = dict(os.environ)
full = pytest.mark.skipif(not FULL, reason="tools from npm and pip: only with RALPH_FULL=1")

CODE = '''"""A module."""


def first():
    return 1


def last():
    return 9
'''
MINE = "def first():\n    return {'a':1,'b':2}\n"
MINE_DONE = 'def first():\n    return {"a": 1, "b": 2}\n'
THEIRS = "def last():\n    return [9,\n8]\n"
THEIRS_DONE = "def last():\n    return [9, 8]\n"
FIRST, LAST = "def first():\n    return 1\n", "def last():\n    return 9\n"


def _read(repo: Repo, path: str) -> str:
    return (repo.read(path) or b"").decode()


def _edit(repo: Repo, session: str, path: str, old: str, new: str) -> None:
    text = _read(repo, path)
    assert old in text
    repo.edit(session, path, text.replace(old, new))


def _commit(repo: Repo, session: str) -> int:
    """Commit, doing what a refusal says; how many tries it took."""
    for tries in (1, 2, 3):
        done = repo.run("commit", "--session", session, "-m", "x", process=True)
        if done.code == 0:
            return tries
        assert done.code == 1, done.said
        command = re.search(r"git -C \S+ apply \S+", done.said)
        if command is not None:
            subprocess.run(shlex.split(command[0]), check=True, env=repo.env)
    raise AssertionError(done.said)


def _executable(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def python_repo(empty_repo: Repo) -> Repo:
    """A formatted module that two sessions are going to edit."""
    empty_repo.write("m.py", CODE)
    empty_repo.write(".gitignore", ".venv/\nnode_modules/\n")
    empty_repo.commit_all("base")
    return empty_repo


def _both_commit_formatted(repo: Repo) -> None:
    """S1 and S2 write unformatted code into one file; each commit has its own lines, formatted."""
    _edit(repo, "S1", "m.py", FIRST, MINE)
    _edit(repo, "S2", "m.py", LAST, THEIRS)
    _commit(repo, "S1")
    assert repo.blob("m.py").decode() == CODE.replace(FIRST, MINE_DONE)
    _commit(repo, "S2")
    assert repo.blob("m.py").decode() == CODE.replace(FIRST, MINE_DONE).replace(LAST, THEIRS_DONE)
    assert repo.changes() == {"m.py": "M"}
    assert repo.pending("S1") == repo.pending("S2") == []


@pytest.mark.parametrize("fails", [True, False], ids=["fails", "adds"])
def test_black_as_a_hook_formats_what_two_sessions_wrote_in_one_file(python_repo: Repo, fails: bool) -> None:
    """black by its own name, once reporting that it changed files and once adding them."""
    black = f"'{sys.executable}' -m black -q"
    names = "$(git diff --cached --name-only --diff-filter=ACM)"
    after = f"git diff --quiet -- {names} || exit 1" if fails else f"git add -- {names}"
    _executable(python_repo.root / ".git/hooks/pre-commit", f"#!/bin/sh\n{black} {names}\n{after}\n")
    _both_commit_formatted(python_repo)


def test_black_in_place_fails_once_and_then_passes(python_repo: Repo) -> None:
    """It reformats and fails; the next commit holds the formatted text."""
    black = f"'{sys.executable}' -m black -q"
    _executable(
        python_repo.root / ".git/hooks/pre-commit", f"#!/bin/sh\n{black} m.py\ngit diff --quiet -- m.py\n"
    )
    _edit(python_repo, "S1", "m.py", FIRST, MINE)
    assert _commit(python_repo, "S1") == 2
    assert python_repo.blob("m.py").decode() == CODE.replace(FIRST, MINE_DONE) == _read(python_repo, "m.py")
    assert python_repo.git("status", "--porcelain") == ""


CONFIG = """\
repos:
- repo: local
  hooks:
  - {id: black, name: black, entry: .venv/bin/black, language: system, types: [python]}
"""


@full
@pytest.mark.tools
@pytest.mark.parametrize("together", [True, False], ids=["two sessions", "alone"])
def test_the_pre_commit_framework_with_black_in_an_ignored_environment(
    python_repo: Repo, together: bool
) -> None:
    """The framework's fixers fail whenever they changed a file; the tool lies in ``.venv``."""
    place = python_repo.root / ".venv"
    venv.create(place, with_pip=True)
    subprocess.run([place / "bin/pip", "install", "-q", "black", "pre-commit"], check=True, env=OUTER)
    python_repo.write(".pre-commit-config.yaml", CONFIG)
    python_repo.commit_all("hooks")
    subprocess.run(
        [place / "bin/pre-commit", "install"], check=True, env=python_repo.env, cwd=python_repo.root
    )
    if together:
        _both_commit_formatted(python_repo)
        return
    _edit(python_repo, "S1", "m.py", FIRST, MINE)
    assert _commit(python_repo, "S1") == 2
    assert python_repo.blob("m.py").decode() == CODE.replace(FIRST, MINE_DONE) == _read(python_repo, "m.py")


PACKAGE = {
    "name": "x",
    "private": True,
    "devDependencies": {"husky": "^9", "lint-staged": "*", "prettier": "^3"},
    "lint-staged": {"*.js": "prettier --write"},
}


def _husky_project(repo: Repo) -> tuple[str, str]:
    """A project that formats with husky, lint-staged and prettier: npm, and the text of ``m.js``."""
    npm = shutil.which("npm", path=OUTER.get("PATH"))
    if npm is None:
        pytest.skip("NOT TESTED WITH THE REAL husky: there is no npm")
    base = "function first() {\n  return 1;\n}\n\nfunction last() {\n  return 9;\n}\n"
    repo.write("package.json", json.dumps(PACKAGE))
    repo.write(".gitignore", "node_modules\n")
    repo.write(".husky/pre-commit", "npx lint-staged\n")
    repo.write("m.js", base)
    return npm, base


@full
@pytest.mark.tools
def test_husky_with_lint_staged_and_prettier(empty_repo: Repo) -> None:
    """Its hooks lie in an ignored folder and its tools in ``node_modules``; it adds what it formats."""
    npm, base = _husky_project(empty_repo)
    subprocess.run([npm, "install", "--silent"], check=True, env=OUTER, cwd=empty_repo.root)
    subprocess.run(["npx", "husky"], check=True, env=empty_repo.env, cwd=empty_repo.root)
    empty_repo.git("add", "-A")
    empty_repo.git("commit", "-q", "--no-verify", "-m", "base")
    assert empty_repo.git("config", "core.hooksPath") == ".husky/_"
    empty_repo.write("notes", "a human's\n")
    _edit(empty_repo, "S1", "m.js", "  return 1;\n", "  return {'a':1}\n")
    _edit(empty_repo, "S2", "m.js", "  return 9;\n", "  return [9,8]\n")
    assert _commit(empty_repo, "S1") == 1
    done = base.replace("  return 1;\n", "  return { a: 1 };\n")
    assert empty_repo.blob("m.js").decode() == done
    assert _commit(empty_repo, "S2") == 1
    assert empty_repo.blob("m.js").decode() == done.replace("  return 9;\n", "  return [9, 8];\n")
    assert empty_repo.git("stash", "list") == ""
    assert (empty_repo.root / "node_modules/prettier/package.json").exists()


def _plain(repo: Repo, session: str) -> str:
    """``git add -A && git commit`` of a session's agent; what was said."""
    repo.git("add", "-A")
    return commit_as(repo, session).said


@full
@pytest.mark.tools
@pytest.mark.parametrize("guard", ["before", "after"])
def test_the_pre_commit_framework_beside_the_guard(python_repo: Repo, guard: str) -> None:
    """Whichever came first: both run, and without the guard every byte is as the framework left it."""
    place = python_repo.root / ".venv"
    venv.create(place, with_pip=True)
    subprocess.run([place / "bin/pip", "install", "-q", "black", "pre-commit"], check=True, env=OUTER)
    python_repo.write(".pre-commit-config.yaml", CONFIG)
    python_repo.commit_all("hooks")
    for step in ("guard", "framework") if guard == "before" else ("framework", "guard"):
        if step == "guard":
            python_repo.ralph("install", "--guard=narrow")
        else:
            subprocess.run(
                [place / "bin/pre-commit", "install"], check=True, env=python_repo.env, cwd=python_repo.root
            )
    _edit(python_repo, "S1", "m.py", FIRST, MINE_DONE)
    _edit(python_repo, "S2", "m.py", LAST, THEIRS_DONE)
    for session, wanted in (("S1", CODE.replace(FIRST, MINE_DONE)), ("S2", _read(python_repo, "m.py"))):
        said = _plain(python_repo, session)
        assert re.search(r"black\.+Passed", said), said
        assert python_repo.blob("m.py").decode() == wanted
        assert f"Ralph-Session: {session}" in python_repo.trailers()
    assert python_repo.pending("S1") == python_repo.pending("S2") == []
    python_repo.ralph("uninstall", "--guard")
    folder = python_repo.common / "hooks"
    ours = [p.name for p in folder.iterdir() if b"gitralph" in p.read_bytes()]
    assert ours == []
    left = (folder / "pre-commit").read_bytes()
    subprocess.run(
        [place / "bin/pre-commit", "install", "-f"], check=True, env=python_repo.env, cwd=python_repo.root
    )
    assert (folder / "pre-commit").read_bytes() == left


@full
@pytest.mark.tools
@pytest.mark.parametrize("guard", ["before", "after"])
def test_husky_with_lint_staged_beside_the_guard(empty_repo: Repo, guard: str) -> None:
    """husky, when it comes later, sets ``core.hooksPath``: doctor says so, and installing again mends it."""
    npm, base = _husky_project(empty_repo)
    if guard == "before":
        empty_repo.ralph("install", "--guard=narrow")
    subprocess.run([npm, "install", "--silent"], check=True, env=OUTER, cwd=empty_repo.root)
    subprocess.run(["npx", "husky"], check=True, env=empty_repo.env, cwd=empty_repo.root)
    empty_repo.git("add", "-A")
    empty_repo.git("commit", "-q", "--no-verify", "-m", "base")
    folder = empty_repo.root / ".husky/_"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    if guard == "before":
        checks = empty_repo.run("doctor", "--json").json()["checks"]
        row = next(one for one in checks if one["check"] == "guard")
        assert (row["ok"], row["fix"]) == (False, "git ralph install --guard")
    empty_repo.ralph("install", "--guard=narrow")
    _edit(empty_repo, "S1", "m.js", "  return 1;\n", "  return {'a':1}\n")
    _edit(empty_repo, "S2", "m.js", "  return 9;\n", "  return 10;\n")
    _plain(empty_repo, "S1")
    done = base.replace("  return 1;\n", "  return { a: 1 };\n")
    assert empty_repo.blob("m.js").decode() == done
    _plain(empty_repo, "S2")
    assert empty_repo.blob("m.js").decode() == done.replace("  return 9;\n", "  return 10;\n")
    assert empty_repo.git("stash", "list") == ""
    assert empty_repo.pending("S1") == empty_repo.pending("S2") == []
    empty_repo.ralph("uninstall", "--guard")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
