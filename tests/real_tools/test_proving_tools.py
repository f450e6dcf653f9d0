"""Proofs with what projects really have: files kept by git-lfs, Jest from npm."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.repo import Repo
from tests.support.size import FULL

# npm finds its registry and its cache through the environment of whoever runs the tests
OUTER = dict(os.environ)
JEST = "jest@29.7.0"


@pytest.mark.skipif(shutil.which("git-lfs") is None, reason="git-lfs is not installed")
def test_files_of_git_lfs_are_there_as_a_checkout_would_have_them(empty_repo: Repo) -> None:
    """Their contents, not their pointers; the commit holds the pointer."""
    repo = empty_repo
    repo.git("lfs", "install", "--local")
    repo.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    repo.write("a.bin", "the first\n")
    repo.commit_all("base")
    repo.ralph("prove", "HEAD", "--", "grep", "-q", "the first", "a.bin")
    repo.edit("S1", "a.bin", "the second\n")
    repo.commit("S1", "--prove", 'test "$(cat a.bin)" = "the second" && git diff --quiet')
    assert repo.blob("a.bin").startswith(b"version https://git-lfs.github.com/spec/v1\n")
    assert repo.git("status", "--porcelain") == ""


@pytest.mark.tools
@pytest.mark.skipif(not FULL, reason="tools from npm: only with RALPH_FULL=1")
def test_jest_finds_its_tests_where_no_git_folder_is_above(empty_repo: Repo, tmp_path: Path) -> None:
    """In the state folder it finds none, and what fails says what to type; the commit's own tree decides."""
    npm = shutil.which("npm", path=OUTER.get("PATH"))
    if npm is None:
        pytest.skip(f"NOT TESTED WITH {JEST}: there is no npm")
    there = tmp_path / "npm"
    there.mkdir()
    done = subprocess.run(
        [npm, "install", "--no-save", "--no-audit", "--no-fund", JEST],
        cwd=there,
        env=OUTER,
        check=False,
        capture_output=True,
        timeout=240,
    )
    if done.returncode:
        pytest.skip(f"NOT TESTED WITH {JEST}: npm cannot have it")
    repo = empty_repo
    repo.write(".gitignore", "node_modules\n")
    repo.write("package.json", json.dumps({"name": "x", "private": True}))
    repo.write("sum.test.js", "test('adds', () => expect(require('./sum')(1, 2)).toBe(3))\n")
    repo.write("sum.js", "module.exports = (a, b) => a + b\n")
    repo.commit_all("base")
    jest = f"ln -sfn {there}/node_modules node_modules && {there}/node_modules/.bin/jest"
    assert "git config ralph.proofFolder" in repo.ralph("prove", "HEAD", "--", "sh", "-c", jest, code=1).said
    repo.git("config", "ralph.proofFolder", str(tmp_path / "proofs"))
    repo.ralph("prove", "HEAD", "--", "sh", "-c", jest)
    repo.edit("S1", "sum.js", "module.exports = () => 4\n")
    assert "Expected: 3" in repo.ralph("commit", "--session", "S1", "--prove", jest, code=1).said
