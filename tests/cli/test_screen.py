"""``top``: a live screen that leaves no trace on the terminal, whatever ends it."""

import os
import re
import signal
import time
from collections.abc import Iterator

import pytest

from tests.support.repo import Repo
from tests.support.terminal import PATIENCE, Session
from tests.support.texts import TEN, changed

pytestmark = pytest.mark.wired

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def at_work(repo: Repo) -> Repo:
    repo.edit("S1", "a", changed(2, "two"))
    repo.edit("S2", "b", changed())
    return repo


@pytest.fixture
def top(at_work: Repo) -> Iterator[Session]:
    session = Session(at_work, "top")
    session.until("generic-2")
    yield session
    session.close()


def _rows(text: str) -> list[str]:
    """The screen that was drawn last."""
    return _CONTROL.sub("", text.rpartition("\x1b[H")[2]).split("\r\n")


def _drawn(top: Session, wanted: str) -> list[str]:
    """Wait for a whole screen that shows something."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        top.read(0.2)
        found = _rows(top.said.rpartition("\x1b[J")[0])
        if any(wanted in row for row in found):
            return found
    raise AssertionError(f"{wanted!r} was never drawn: {_rows(top.said)}")


def test_it_shows_who_is_at_work_what_is_uncommitted_and_what_landed(top: Session, at_work: Repo) -> None:
    rows = _drawn(top, "b")
    assert rows[0].startswith("git ralph top: repo on main")
    assert any(row.startswith("generic-1  ") and row.endswith("  a") for row in rows)
    assert any("M   +1 -1  b" in row for row in rows)
    at_work.edit("S1", "c", "new\n")
    _drawn(top, "A   +1     c")


def test_a_contested_spot_is_shown_with_whom_it_is_contested(top: Session, at_work: Repo) -> None:
    text = (at_work.read("a") or b"").decode()
    first = text.splitlines()[0]
    at_work.edit("S1", "a", text.replace(first, "first of S1", 1))
    at_work.edit("S2", "a", (at_work.read("a") or b"").decode().replace("first of S1", "then of S2", 1))
    rows = _drawn(top, "entangled with generic-1")
    assert any(row.rstrip().endswith("a  entangled with generic-1") for row in rows)


def test_a_commit_is_shown_with_its_session_as_it_lands(top: Session, at_work: Repo) -> None:
    at_work.ralph("commit", "--session", "S2", "-m", "made by two")
    rows = [row for row in _drawn(top, "made by two") if "made by two" in row]
    assert rows[0].split()[:2] == [at_work.head()[:7], "generic-2"]


def test_q_leaves_it_and_the_terminal_is_as_before(top: Session) -> None:
    top.type("q")
    assert top.end() == 0
    assert top.is_restored()


@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1],
)
def test_any_signal_restores_the_screen_and_tells_how_it_ended(top: Session, number: signal.Signals) -> None:
    top.signal(number)
    assert top.end() == (130 if number == signal.SIGINT else -number)
    assert top.is_restored()


def test_ctrl_z_gives_the_screen_back_until_it_goes_on(top: Session) -> None:
    top.signal(signal.SIGTSTP)
    _, status = os.waitpid(top.child.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    top.read()
    assert top.is_restored()
    since = len(top.said)
    top.signal(signal.SIGCONT)
    assert "\x1b[?1049h" in top.until("generic-2", since)
    top.type("q")
    assert top.end() == 0
    assert top.is_restored()


def test_at_40_columns_names_of_files_are_kept_and_the_rest_is_short(repo: Repo) -> None:
    repo.edit("S1", "new/folder/of/some/depth/file.txt", "one\n")
    narrow = Session(repo, "top", width=40)
    try:
        rows = _drawn(narrow, "depth/file.txt")
        assert rows[0].startswith("repo on main ")
        assert all(len(row) <= 40 for row in rows)
        (work,) = [row for row in rows if "1 pending" in row]
        assert work.startswith("generic-1  1 pending  ")
        assert work.endswith("/file.txt")
    finally:
        narrow.close()


@pytest.mark.parametrize(("width", "height"), [(40, 12), (120, 40), (20, 5)])
def test_it_follows_the_size_of_the_screen(top: Session, width: int, height: int) -> None:
    top.resize(width, height)
    top.signal(signal.SIGWINCH)
    since = len(top.said)
    top.until("\x1b[J", since)
    rows = _rows(top.until("\x1b[J", len(top.said)).rpartition("\x1b[J")[0])
    assert len(rows) <= height
    assert max(map(len, rows)) <= width


def test_it_goes_on_where_looking_fails(top: Session, at_work: Repo) -> None:
    at_work.write(".git/HEAD", "nonsense\n")
    _drawn(top, "cannot look")
    at_work.write(".git/HEAD", "ref: refs/heads/main\n")
    _drawn(top, "q quits")
    top.type("q")
    assert top.end() == 0


def test_it_ends_when_its_terminal_goes(at_work: Repo) -> None:
    session = Session(at_work, "status", "--watch")
    session.until("generic-2")
    os.close(session.outer)
    session.child.send_signal(signal.SIGWINCH)
    os.close(session.inner)
    assert session.child.wait(PATIENCE) == 0


def test_it_writes_nothing(top: Session, at_work: Repo) -> None:
    before = at_work.git("status", "--porcelain"), at_work.read("a")
    _drawn(top, "generic-1")
    top.type("q")
    assert top.end() == 0
    assert (at_work.git("status", "--porcelain"), at_work.read("a")) == before
    assert at_work.read("a") != TEN.encode()
