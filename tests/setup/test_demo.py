"""The demo ends 0, shows three owners of one file, and touches nothing outside its own folder."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitralph.setup.demo import check, play, script
from gitralph.setup.demo.play import Playground
from gitralph.setup.demo.script import CLAUDE, EDITS, HUMAN, PI, SHARED, StoryEdit
from tests.support import runner
from tests.support.runner import Done

pytestmark = pytest.mark.wired


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def shown(watched: Path) -> Done:
    """One run of the demo as a process, in a folder where everything it leaves can be seen."""
    for name in ("home", "tmp", "cwd", "bin"):
        (watched / name).mkdir()
    (watched / "bin/git-ralph").symlink_to("/bin/true")  # it is installed: looked for, never started
    env = {
        "PATH": f"{watched / 'bin'}:{os.environ['PATH']}",
        "HOME": str(watched / "home"),
        "TMPDIR": str(watched / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "GIT_DIR": "/nowhere",
        "RALPH_SESSION": "not-mine",
    }
    return runner.as_process(["demo"], cwd=str(watched / "cwd"), env=env)


def test_the_demo_ends_well(shown: Done) -> None:
    assert shown.code == 0, shown.text + shown.said
    assert "WRONG" not in shown.text
    assert "Self-check" in shown.text


def test_it_shows_three_owners_of_one_file(shown: Done) -> None:
    for who in (CLAUDE, PI, HUMAN):
        assert re.search(rf"^  \+ {who} +- ", shown.text, re.M), who
        assert re.search(rf"^{who} commits [0-9a-f]{{7}}$", shown.text, re.M), who


def test_it_touches_nothing_outside_its_own_folder(shown: Done, watched: Path) -> None:
    assert shown.code == 0
    assert [str(path.relative_to(watched)) for path in sorted(watched.rglob("*"))] == [
        "bin",
        "bin/git-ralph",
        "cwd",
        "home",
        "tmp",
    ]


def test_no_raw_escape_when_it_is_no_terminal(shown: Done) -> None:
    assert b"\x1b" not in shown.out + shown.err


def test_it_ends_with_what_to_type_next(shown: Done) -> None:
    assert shown.err == b"hint: git ralph install  # hooks up your own agents\n"


def test_keep_keeps_the_repository_and_says_where(tmp_path: Path, environ: dict[str, str]) -> None:
    environ["TMPDIR"] = str(tmp_path)
    done = runner.as_process(["demo", "--keep"], cwd=str(tmp_path), env=environ)
    root = Path(done.text.strip().splitlines()[-1].strip())
    assert root.parent.parent == tmp_path
    said = subprocess.run(["git", "log", "--format=%s"], cwd=root, capture_output=True, text=True, check=True)
    subjects = {*script.SUBJECTS.values(), script.STAGED_SUBJECT, "Start"}
    assert set(said.stdout.splitlines()) == subjects


@pytest.fixture
def stage(environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Playground]:
    """The demo's repository, ready for the play."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = Playground(environ)
    yield made
    made.remove()


def _faults(monkeypatch: pytest.MonkeyPatch, stage: Playground, commit: list[str]) -> list[str]:
    """The verdict when ``commit`` is what runs in place of each 'git ralph commit'."""
    real = Playground.ralph

    def ralph(self: Playground, *args: str) -> "subprocess.CompletedProcess[bytes]":
        if args[0] != "commit":
            return real(self, *args)
        return subprocess.run(commit, cwd=self.root, env=self.env, capture_output=True, check=False)

    monkeypatch.setattr(Playground, "ralph", ralph)
    scenes = []
    try:
        scenes += list(play.acts(stage))
    except Exception as error:  # a play that cannot go on is a fault, too
        return [str(error)]
    return scenes[-1].faults


@pytest.mark.parametrize(
    "commit",
    [
        ["git", "commit", "-q", "-a", "-m", "everything"],
        ["git", "commit", "-q", "-m", "what is staged"],
        ["git", "commit", "-q", "--allow-empty", "--only", "-m", "nothing"],
        ["git", "commit", "-q", "-m", "one file", "--", SHARED],
        ["sh", "-c", "git reset -q && git commit -q --allow-empty -m unstaged"],
        ["sh", "-c", "echo more >> notes.txt; git commit -q --allow-empty --only -m touched"],
    ],
    ids=lambda words: str(words[-1]),
)
def test_the_self_check_finds_what_a_wrong_commit_does(
    commit: list[str], stage: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _faults(monkeypatch, stage, commit) != []


def test_a_missing_or_foreign_line_is_named(stage: Playground) -> None:
    play.set_up(stage)
    stage.write(StoryEdit("notes.txt", "nothing yet\n", "call the printer\nsomething else\n"))
    stage.git.run("commit", "-q", "-a", "-m", "x")
    oid = stage.git.line("rev-parse", "HEAD")
    assert check.compare(stage.git, HUMAN, oid, EDITS[HUMAN]) == [
        f"{oid[:7]} of {HUMAN} lacks '+ - licence: MIT, see LICENSE' in '{SHARED}'",
        f"{oid[:7]} of {HUMAN} lacks '- - licence: MIT' in '{SHARED}'",
        f"{oid[:7]} of {HUMAN} holds '+ something else' in 'notes.txt'",
    ]


def test_an_unseparated_shared_file_is_a_fault(stage: Playground) -> None:
    play.set_up(stage)
    own = {who: [e for e in edits if e.path != SHARED] for who, edits in EDITS.items()}
    faults = check.nothing_lost(stage.git, own)
    assert f"the lines of {CLAUDE} in '{SHARED}' were not committed apart" in faults
