"""The support library itself: the seal holds, and each closing check notices what it is there for."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import payloads
from tests.support.checks import closing_checks
from tests.support.repo import Repo
from tests.support.sealed import HomeGuard
from tests.support.texts import changed


def test_the_environment_is_sealed() -> None:
    assert not [name for name in os.environ if name.startswith(("RALPH_", "CLAUDE", "CODEX", "PI_", "QWEN"))]
    assert os.environ["GIT_EDITOR"] == "false"
    assert Path.home() == Path(os.environ["HOME"])
    assert os.umask(0o022) == 0o022


def test_what_a_test_starts_can_be_interrupted() -> None:
    """Also where the suite itself runs in the background and was handed SIGINT ignored."""
    child = subprocess.Popen(["sleep", "300"])
    child.send_signal(signal.SIGINT)
    assert child.wait() == -signal.SIGINT


def test_reaching_the_real_home_fails(home_guard: HomeGuard, tmp_path: Path) -> None:
    if home_guard.home == "/":
        pytest.skip("the home is the root folder")
    with pytest.raises(AssertionError, match="real home"):
        open(os.path.join(home_guard.home, ".gitconfig-of-a-person"))  # noqa: SIM115
    with pytest.raises(AssertionError, match="real home"):
        os.listdir(home_guard.home)
    os.listdir(tmp_path)


@pytest.mark.parametrize("process", [True, False])
def test_both_ways_to_run_agree(repo: Repo, process: bool) -> None:
    done = repo.run("no-such-command", process=process)
    assert (done.code, done.out) == (129, b"")
    assert done.said.startswith("error: 'no-such-command' is not a git ralph command")
    assert repo.run("session", "list", "--json", process=process).json() == []
    repo.write("a", changed())
    repo.hook("generic", payloads.edit("S1", str(repo.root), "a", None, changed()), process=process)
    assert repo.run("ls-files", "-z", process=process).out == b"a\0"


def _stages(repo: Repo) -> None:
    repo.write("b", "other\n")
    repo.git("add", "b")


def _unstages(repo: Repo) -> None:
    repo.git("reset", "-q", "u")


def _leaves_a_phantom(repo: Repo) -> None:
    index = repo.git("rev-parse", "--git-path", "index")
    kept = repo.file(index).read_bytes()
    repo.git("commit", "-q", "-m", "x", "--only", "a")
    repo.file(index).write_bytes(kept)


def _writes(repo: Repo) -> None:
    repo.write("u", "something else\n")


def _touches(repo: Repo) -> None:
    os.utime(repo.file("b"), (1, 1))


def _changes_a_mode(repo: Repo) -> None:
    repo.file("b").chmod(0o600)


def _adds_a_file(repo: Repo) -> None:
    repo.write("stray", "")


def _journal(repo: Repo) -> Path:
    return next(repo.state.glob("edits/*.jsonl"))


def _drops_a_record(repo: Repo) -> None:
    _journal(repo).write_bytes(b"")


def _drops_a_manifest(repo: Repo) -> None:
    (repo.state / "S1.files").unlink()


def _consumes(repo: Repo, fields: bytes) -> None:
    with _journal(repo).open("ab") as file:
        file.write(b'{"session":"S1","upto":9999,"left":[],' + fields + b"}\n")


def _consumes_silently(repo: Repo) -> None:
    _consumes(repo, b'"commit":null,"note":null')


def _consumes_by_another_commit(repo: Repo) -> None:
    _consumes(
        repo, b'"commit":"' + repo.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "no").encode() + b'"'
    )


def _breaks_an_object(repo: Repo) -> None:
    blob = repo.git("rev-parse", "HEAD:b")
    (repo.common / "objects" / blob[:2] / blob[2:]).unlink()


def _moves_without_a_reflog(repo: Repo) -> None:
    made = repo.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "no reflog")
    (repo.common / "refs/heads/main").write_text(made + "\n")


def _leaves_a_lock(repo: Repo) -> None:
    (repo.common / "refs/heads/main.lock").touch()


def _leaves_an_intent(repo: Repo) -> None:
    (repo.state / "intents").mkdir(exist_ok=True)
    (repo.state / "intents" / "x.json").touch()


VIOLATIONS = [
    _stages,
    _unstages,
    _leaves_a_phantom,
    _writes,
    _touches,
    _changes_a_mode,
    _adds_a_file,
    _drops_a_record,
    _drops_a_manifest,
    _consumes_silently,
    _consumes_by_another_commit,
    _breaks_an_object,
    _moves_without_a_reflog,
    _leaves_a_lock,
    _leaves_an_intent,
]


@pytest.mark.parametrize("violation", VIOLATIONS)
def test_the_closing_checks_notice(repo: Repo, violation: Callable[[Repo], None]) -> None:
    repo.edit("S1", "a", changed())
    repo.write("u", "staged by the user\n")
    repo.git("add", "u")
    with pytest.raises(AssertionError), closing_checks(repo):
        violation(repo)


def _commits(repo: Repo) -> None:
    repo.git("commit", "-q", "-m", "x", "--allow-empty")


def _records(repo: Repo) -> None:
    repo.hook("generic", payloads.edit("S2", str(repo.root), "b", None, "x"))


@pytest.mark.parametrize("violation", [*VIOLATIONS, _commits, _records])
def test_refused_means_nothing_moved(repo: Repo, violation: Callable[[Repo], None]) -> None:
    repo.edit("S1", "a", changed())
    repo.write("u", "staged by the user\n")
    repo.git("add", "u")
    with pytest.raises(AssertionError), closing_checks(repo, moves=False):
        violation(repo)


def test_the_closing_checks_let_a_good_commit_pass(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    repo.write("u", "staged by the user\n")
    repo.git("add", "u")
    with closing_checks(repo):
        repo.ralph("commit", "--session", "S1", "-m", "x")
    with closing_checks(repo, moves=False):
        repo.ralph("status")
