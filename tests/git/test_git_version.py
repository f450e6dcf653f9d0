"""A git that is too old is refused by name, and no process is spent on asking which one it is."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.repo import Repo

REAL = shutil.which("git") or "git"
# As git 2.22 to 2.37 tell of themselves, and as those before: to whoever asks.
TRACED = """if [ -n "$GIT_TRACE2_EVENT" ]; then echo '{"event":"version","evt":"3","exe":"2.37.9"}' >&2; fi
unset GIT_TRACE2_EVENT
"""
ASKED = 'unset GIT_TRACE2_EVENT\n[ "$1" != version ] || { echo git version 2.21.4; exit; }\n'


@pytest.fixture
def instead(repo: Repo, tmp_path: Path) -> Callable[[str], Path]:
    """Puts a script in front of git that writes down its words first; the folder where it does."""

    def put(script: str) -> Path:
        folder = tmp_path / "front"
        folder.mkdir()
        program = folder / "git"
        program.write_text(f'#!/bin/sh\necho "$*" >>{folder}/words\n{script}exec {REAL} "$@"\n')
        program.chmod(0o755)
        repo.env["PATH"] = f"{folder}:{os.environ['PATH']}"
        return folder

    return put


@pytest.mark.parametrize(("script", "version"), [(TRACED, "2.37.9"), (ASKED, "2.21.4")])
def test_an_old_git_is_refused_by_its_version(
    repo: Repo, instead: Callable[[str], Path], script: str, version: str
) -> None:
    instead(script)
    done = repo.run("status")
    assert done.code == 128
    assert f"git is too old (git version {version}); git ralph needs 2.38 or newer" in done.said


def test_the_version_costs_no_process(repo: Repo, instead: Callable[[str], Path]) -> None:
    folder = instead("")
    repo.ralph("status")
    assert "version" not in (folder / "words").read_text().split()


def test_what_git_complains_of_is_told_without_its_trace(
    repo: Repo, instead: Callable[[str], Path], tmp_path: Path
) -> None:
    instead("")
    away = Repo(tmp_path / "away", repo.env)
    away.root.mkdir()
    done = away.run("status")
    assert done.code == 128
    assert done.said.startswith("fatal: not a git repository")
    assert '"event"' not in done.said
