"""Pending work of the time when marks of commits counted is committed by content.

``fixtures/two-sessions.tar.xz`` was made by ``fixtures/make_two_sessions.py``, which says what happened.
"""

import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support import archives
from tests.support.repo import Repo
from tests.support.texts import TEN

ALICE, BOB = "0b7cf1de-claude-alice", "codex-bob-7f21"
ARCHIVE = "two-sessions.tar.xz"


@pytest.fixture
def old(tmp_path: Path, environ: Mapping[str, str]) -> Repo:
    """The repository as it was left."""
    return Repo(archives.unpacked(ARCHIVE, tmp_path), dict(environ))


def _text(*changes: tuple[str, str]) -> str:
    text = TEN
    for before, after in changes:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text


TWO = ("line 2\n", "two by Alice\n")
FIVE = ("line 5\n", "five by Alice\n")
MORE = ("two by Alice\n", "two by Alice\nand more by Bob\n")
NINE = ("line 9\n", "nine by Bob\n")
SCRIPT = ("line 1\n", "one by Bob's script\n")
PERSON = ("line 7\n", "seven by a person\n")


def test_the_archive_holds_what_that_version_wrote(old: Repo) -> None:
    (journal,) = (old.state / "edits").glob("shared.txt-*")
    assert '"units":["0.0"]' in journal.read_text()
    assert (old.state / f"{ALICE}.commits").exists()
    assert not (old.state / f"{BOB}.commits").exists()
    assert old.blob("shared.txt").decode() == _text(TWO)
    assert (old.read("shared.txt") or b"").decode() == _text(TWO, FIVE, MORE, NINE, PERSON)
    with tarfile.open(archives.FIXTURES / ARCHIVE) as tar:
        assert {(one.uid, one.gid, one.uname, one.gname) for one in tar.getmembers()} == {(0, 0, "", "")}


def test_each_commit_takes_exactly_its_session_s_pending_lines(old: Repo) -> None:
    assert old.commit(ALICE).paths == {"shared.txt": "M"}
    assert old.blob("shared.txt").decode() == _text(TWO, FIVE)
    found = old.commit(BOB)
    assert found.paths == {"shared.txt": "M", "claimed.txt": "M"}
    assert found.how["claimed.txt"] == "whole-file"
    assert old.blob("shared.txt").decode() == _text(TWO, FIVE, MORE, NINE)
    assert old.blob("claimed.txt").decode() == _text(SCRIPT)
    for session in (ALICE, BOB):
        assert old.commit(session).status == "nothing"


def test_and_in_the_other_order(old: Repo) -> None:
    assert old.commit(BOB).paths == {"shared.txt": "M", "claimed.txt": "M"}
    assert old.blob("shared.txt").decode() == _text(TWO, MORE, NINE)
    assert old.commit(ALICE).paths == {"shared.txt": "M"}
    assert old.blob("shared.txt").decode() == _text(TWO, FIVE, MORE, NINE)


def test_whoever_asks_hears_the_same_owners(old: Repo) -> None:
    rows = old.ralph("blame", "--json", "shared.txt").json()
    whose = [row["session"] for row in (rows["lines"] if isinstance(rows, dict) else rows)]
    assert whose == [None, ALICE, BOB, None, None, ALICE, None, None, None, BOB, None]
    assert old.pending(ALICE) == ["shared.txt"]
    assert old.pending(BOB) == ["claimed.txt", "shared.txt"]
    assert old.owners() == {"claimed.txt": "other", "shared.txt": "contested"}


def test_gc_keeps_what_waits(old: Repo) -> None:
    old.git("config", "gc.reflogExpire", "never")
    assert "edits/" not in old.ralph("gc", "--dry-run").text
    old.commit(ALICE)
    old.commit(BOB)
    assert "edits/claimed.txt" in old.ralph("gc", "--dry-run").text
