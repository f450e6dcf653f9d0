"""What was typed into the editor is never lost; ``commit.cleanup`` tidies a message as git does."""

import os
import re
import shlex
from pathlib import Path

import pytest

from tests.support.repo import Repo
from tests.support.runner import COMMAND
from tests.support.texts import TEN

MINE = TEN.replace("line 9\n", "line nine\n")
SESSION = "Ralph-Session: S1\nRalph-Agent: generic"


def _hook(repo: Repo, name: str, script: str) -> None:
    path = repo.root / ".git/hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def _editor(tmp_path: Path, script: str) -> dict[str, str | None]:
    path = tmp_path / "editor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return {"GIT_EDITOR": str(path)}


TYPE = "printf 'Say why\\n\\nA long reason\\n# a comment\\n' > \"$1\""


@pytest.mark.parametrize(("hook", "code"), [("commit-msg", 1), ("a lost race", 75)])
def test_what_was_typed_survives_a_refusal_and_the_message_names_the_file(
    repo: Repo, tmp_path: Path, hook: str, code: int
) -> None:
    """Text typed into the editor is kept in the git dir; the hint works as it is typed."""
    repo.edit("S1", "a", MINE)
    if hook == "commit-msg":
        _hook(repo, "commit-msg", "exit 1")
    else:  # one hook rewrites a file, and each time it did the session has claimed one more path
        _hook(repo, "pre-commit", "echo more >> a")
        tool = " ".join(shlex.quote(word) for word in COMMAND)
        script = f"cd '{repo.root}'; unset GIT_INDEX_FILE; n=n$(date +%N); echo 1 > $n"
        _hook(repo, "commit-msg", f"{script}; {tool} track --session S1 $n")
    env = _editor(tmp_path, f"echo open >> '{tmp_path}/count'; {TYPE}")
    done = repo.ralph("commit", "--session", "S1", "-e", env=env, code=code)
    assert (repo.root / ".git/RALPH_EDITMSG").read_text() == "Say why\n\nA long reason\n"
    assert (tmp_path / "count").read_text() == "open\n"
    command = re.search(r"git ralph (commit --session generic-1 -F .*)", done.said)
    assert command is not None, done.said
    for name in os.listdir(repo.root / ".git/hooks"):
        (repo.root / ".git/hooks" / name).unlink()
    repo.ralph(*shlex.split(command[1]))
    assert repo.git("log", "-1", "--format=%B").rstrip("\n") == f"Say why\n\nA long reason\n\n{SESSION}"


def test_nothing_is_kept_of_a_text_that_was_committed_or_never_typed(repo: Repo, tmp_path: Path) -> None:
    kept = repo.root / ".git/RALPH_EDITMSG"
    repo.edit("S1", "a", MINE)
    _hook(repo, "commit-msg", "exit 1")
    done = repo.ralph("commit", "--session", "S1", "-m", "x", code=1)
    assert "RALPH_EDITMSG" not in done.said
    repo.ralph("commit", "--session", "S1", "-e", env=_editor(tmp_path, "exit 1"), code=1)
    repo.ralph("commit", "--session", "S1", "-e", env=_editor(tmp_path, ': > "$1"'), code=1)
    assert not kept.exists()
    _hook(repo, "commit-msg", "exit 0")
    repo.ralph("commit", "--session", "S1", "-e", env=_editor(tmp_path, TYPE))
    assert not kept.exists()


def test_prepare_commit_msg_runs_before_the_editor(repo: Repo, tmp_path: Path) -> None:
    """As git does it: the hook fills in what the editor shows."""
    _hook(
        repo, "prepare-commit-msg", f"echo \"source: $2\" > '{tmp_path}/source'; sed -i '1s/^/T-1: /' \"$1\""
    )
    repo.edit("S1", "a", MINE)
    env = _editor(tmp_path, f"cp \"$1\" '{tmp_path}/shown'")
    repo.ralph("commit", "--session", "S1", "-e", env=env)
    assert (tmp_path / "shown").read_text().startswith("T-1: Update a\n")
    assert (tmp_path / "source").read_text() == "source: \n"
    assert repo.git("log", "-1", "--format=%s") == "T-1: Update a"


CUT = "# ------------------------ >8 ------------------------"
MESSAGE = f"\n\nsubject  \n\n\n\nbody\n# comment\n; other\n{CUT}\nrest\n"
MODES = ["default", "strip", "whitespace", "verbatim", "scissors"]


def _by_git(repo: Repo, env: dict[str, str | None], *args: str) -> str:
    """The message that plain git makes of the same, which is undone again."""
    repo.git("commit", "--allow-empty", "-q", *args, env=env)
    said = repo.git_bytes("log", "-1", "--format=%B").decode()
    repo.git("reset", "-q", "--soft", "HEAD^")
    return said


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("comment", ["#", ";", "auto"])
@pytest.mark.parametrize("how", ["-m", "-F", "editor"])
def test_a_message_is_tidied_as_git_tidies_it(
    repo: Repo, tmp_path: Path, mode: str, comment: str, how: str
) -> None:
    """``commit.cleanup`` in all its values, with our trailers below."""
    repo.git("config", "commit.cleanup", mode)
    repo.git("config", "core.commentChar", comment)
    (tmp_path / "message").write_text(MESSAGE)
    args = {"-m": ["-m", MESSAGE], "-F": ["-F", str(tmp_path / "message")], "editor": ["-e", "-m", "x"]}[how]
    env = _editor(tmp_path, f"cp '{tmp_path}/message' \"$1\"")
    expected = _by_git(repo, env, *args)
    repo.edit("S1", "a", MINE)
    repo.ralph("commit", "--session", "S1", *args, env=env)
    said = repo.git_bytes("log", "-1", "--format=%B").decode()
    assert said.rstrip("\n").endswith(SESSION)
    assert said.replace(SESSION, "").rstrip("\n") == expected.rstrip("\n")


def test_a_value_git_does_not_know_is_refused(repo: Repo) -> None:
    repo.git("config", "commit.cleanup", "polish")
    repo.edit("S1", "a", MINE)
    done = repo.ralph("commit", "--session", "S1", "-m", "x", code=128)
    assert "for 'commit.cleanup': use default, strip, whitespace, verbatim, scissors" in done.said


@pytest.mark.parametrize("mode", MODES)
def test_what_the_editor_shows_below_the_message_is_never_committed(
    repo: Repo, tmp_path: Path, mode: str
) -> None:
    """Saved without a change, the message is the one that was given."""
    repo.git("config", "commit.cleanup", mode)
    repo.edit("S1", "a", MINE)
    repo.ralph("commit", "--session", "S1", "-m", "x", "-e", env=_editor(tmp_path, "true"))
    assert repo.git("log", "-1", "--format=%B").rstrip("\n") == f"x\n\n{SESSION}"
