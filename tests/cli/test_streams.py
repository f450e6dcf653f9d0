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


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("blame", "nowhere"), 128),
        (("log", "--session", "nobody-knows"), 128),
        (("status", "--session", "nobody-knows"), 128),
        (("report", "--run", "nowhere"), 128),
        (("session", "show", "nobody-knows"), 128),
        (("prove", "nowhere", "--", "true"), 128),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_program_that_asked_for_a_document_reads_why_it_failed(
    words: tuple[str, ...], code: int, repo: Repo
) -> None:
    at = words.index("--") if "--" in words else len(words)
    done = repo.ralph(*words[:at], "--json", *words[at:], code=code)
    told = done.json()
    assert told.keys() == {"status", "notes"}
    assert told["status"] == "refused"
    assert f": {told['notes'][0]}" in done.said
    assert repo.ralph(*words, code=code).out == b""


@pytest.mark.parametrize("words", [("why", "a:99"), ("log", "--since", "rubbish"), ("log", "--rubbish")])
def test_a_command_line_that_cannot_be_read_has_no_form_to_answer_in(
    words: tuple[str, ...], repo: Repo
) -> None:
    assert repo.ralph(*words, "--json", code=129).out == b""


def test_a_refusal_that_has_a_document_of_its_own_prints_only_that(repo: Repo) -> None:
    done = repo.ralph("commit", "--json", "--session", "nobody-knows", "-m", "x", code=128)
    assert done.json().keys() > {"status", "notes", "left"}
