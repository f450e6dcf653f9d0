"""On a read-only file system what reads works and says so, a commit says why not, a hook exits 0."""

import os
import subprocess
from collections.abc import Sequence

import pytest

from tests.support import payloads
from tests.support.repo import Repo
from tests.support.runner import COMMAND, Done
from tests.support.size import FULL
from tests.support.texts import changed

_MOUNT = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd "$0" && exec "$@"'


def _unshare() -> list[str] | None:
    """How a process gets mounts of its own here, None where it may not."""
    for words in (["unshare", "-m"], ["unshare", "-rm"]):
        try:
            tried = subprocess.run(
                [*words, "sh", "-c", "mount --bind /tmp /tmp"], capture_output=True, check=False
            )
        except FileNotFoundError:
            return None
        if tried.returncode == 0:
            return words
    return None


UNSHARE = _unshare()
mounted = pytest.mark.skipif(UNSHARE is None, reason="no mount of our own is allowed: NOT TRIED READ-ONLY")


def _run(repo: Repo, args: Sequence[str], stdin: bytes = b"") -> Done:
    """Run ``git ralph <args>`` with the repository on a read-only file system."""
    assert UNSHARE is not None
    done = subprocess.run(
        [*UNSHARE, "sh", "-c", _MOUNT, str(repo.root), *COMMAND, *args],
        env=repo.env,
        input=stdin,
        capture_output=True,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


READING = (
    ("status",),
    ("status", "--json"),
    ("diff",),
    ("diff", "--session", "S1"),
    ("why", "a"),
    ("why", "a:3"),
    ("ls-files", "--session", "S1"),
    ("session", "list"),
    ("session", "show", "S1"),
    ("commit", "--session", "S1", "--dry-run"),
)


@mounted
@pytest.mark.parametrize(
    ("args", "loose"),
    [
        pytest.param(args, loose, id=f"{' '.join(args)}-{'readable by all' if loose else 'private'}")
        for number, args in enumerate(READING)
        for loose in (False, True)
        if FULL or loose == number % 2  # each command meets one of them, with RALPH_FULL=1 both
    ],
)
def test_a_command_that_reads_works_and_warns(repo: Repo, args: Sequence[str], loose: bool) -> None:
    """Its answer is that of a file system that can be written."""
    repo.edit("S1", "a", changed())
    repo.edit("S2", "a", changed(9, "S2", changed()))
    wanted = repo.ralph(*args)
    if loose:  # as a copy made under another umask has it
        for folder, _, names in os.walk(repo.state):
            for name in names:
                os.chmod(f"{folder}/{name}", 0o644)
    done = _run(repo, args)
    assert (done.code, done.out) == (0, wanted.out), done.said
    assert "cannot be written: no edit is recorded here" in done.said


@mounted
@pytest.mark.parametrize("args", [("status",), ("diff",), ("why", "a")], ids=" ".join)
def test_a_command_that_reads_works_where_nothing_was_ever_recorded(repo: Repo, args: Sequence[str]) -> None:
    """There is no state folder, and none can be made."""
    assert _run(repo, args).code == 0


@mounted
def test_a_commit_says_plainly_why_not(repo: Repo) -> None:
    """128, the folder and the reason."""
    repo.edit("S1", "a", changed())
    done = _run(repo, ("commit", "--session", "S1", "-m", "x"))
    assert done.code == 128
    assert done.said.startswith("fatal: cannot commit: ")
    assert "ralph-sessions' cannot be written: Read-only file system" in done.said


@mounted
def test_a_hook_exits_0_and_says_once_that_it_recorded_nothing(repo: Repo) -> None:
    """It never stands in an agent's way, and is never silent about a loss."""
    repo.edit("S1", "a", changed())
    event = payloads.encode(payloads.edit("S1", str(repo.root), "a", changed(), changed(9, "nine")))
    done = _run(repo, ("hook", "generic"), event)
    assert (done.code, done.out) == (0, b"")
    assert done.said.count("not recorded") == 1


def test_a_diff_needs_no_state_folder_that_can_be_written(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same where the folder alone is closed: somebody else's repository, say."""
    repo.edit("S1", "a", changed())
    wanted = repo.ralph("diff", "--session", "S1").out
    real = os.makedirs

    def makedirs(name: str | bytes, mode: int = 0o777, exist_ok: bool = False) -> None:
        if os.fsdecode(name).startswith(f"{repo.state}/tmp/"):
            raise PermissionError(13, "Permission denied", name)
        real(name, mode, exist_ok)

    monkeypatch.setattr(os, "makedirs", makedirs)
    assert repo.ralph("diff", "--session", "S1").out == wanted
    done = repo.ralph("commit", "--session", "S1", "-m", "x", code=128)
    assert "cannot be written: Permission denied" in done.said
