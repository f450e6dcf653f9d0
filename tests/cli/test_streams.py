"""Closed, full and broken standard streams: no traceback, nothing said into a file, honest exits."""

import subprocess

import pytest

from tests.support import payloads, runner
from tests.support.repo import Repo
from tests.support.size import FULL
from tests.support.texts import TEN, changed

pytestmark = pytest.mark.wired

CLOSED = ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"]
DISK_FULL = ["2>/dev/full", ">/dev/full 2>/dev/full"]


def _run(repo: Repo, redirect: str, *args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["/bin/sh", "-c", f'"$@" {redirect}', "sh", *runner.COMMAND, *args],
        cwd=repo.root,
        env=repo.env,
        input=stdin,
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("redirect", [*CLOSED, *DISK_FULL])
def test_a_hook_exits_0(repo: Repo, redirect: str) -> None:
    repo.write("a", changed())
    event = payloads.encode(payloads.edit("S1", str(repo.root), "a", TEN, changed()))
    for data in (b"junk", event):
        done = _run(repo, redirect, "hook", "generic", stdin=data)
        assert (done.returncode, done.stdout) == (0, b"")
        assert b"Traceback" not in done.stderr
    wanted = [] if "<&-" in redirect else ["a"]
    assert repo.pending("S1") == wanted
    for path in repo.state.rglob("*") if repo.state.exists() else ():
        assert not path.is_file() or b"warning: git ralph" not in path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("redirect", [*CLOSED, *DISK_FULL])
def test_commands_end_with_their_own_exit_code(repo: Repo, redirect: str) -> None:
    repo.edit("S1", "a", changed())
    full = ">/dev/full" in redirect.split()
    commands = (
        (0, ["status"]),
        (0, ["ls-files"]),
        (129, ["status", "--session", "../x"]),
        (129, ["no-such-thing"]),
        (128, ["track", "--session", "S1", "../x"]),
        (129, ["commit", "--whole-file"]),
    )
    # every other one, other ones for the next way; with RALPH_FULL=1 all
    first, step = (0, 1) if FULL else ([*CLOSED, *DISK_FULL].index(redirect) % 2, 2)
    for code, args in commands[first::step]:
        done = _run(repo, redirect, *args)
        assert done.returncode == (128 if full and code == 0 else code), args
        assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("redirect", [*CLOSED, *DISK_FULL])
def test_a_commit_lands_whoever_listens(repo: Repo, redirect: str) -> None:
    repo.edit("S1", "a", changed())
    done = _run(repo, redirect, "commit", "--session", "S1", "-m", "x")
    assert b"Traceback" not in done.stderr
    assert repo.changes() == {"a": "M"}
    assert repo.pending("S1") == []
    assert repo.git("status", "--porcelain") == ""


def test_a_reader_that_went_away(repo: Repo) -> None:
    repo.edit("S1", "a", changed())
    done = _run(repo, "| true", "status")
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr
