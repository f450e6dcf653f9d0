"""A folder that the first version wrote is read by this one, with the answers that version gave.

``fixtures/first-version.tar.xz`` is a whole repository in the middle of a day's work, made by
``fixtures/make_first_version.py``: what happened in it is written there.
"""

import os
import re
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support import archives
from tests.support.repo import Repo

ARCHIVE = archives.FIXTURES / "first-version.tar.xz"
ALICE, BOB, KILLED = "0b7cf1de-claude-alice", "codex-bob-7f21", "killed"


@pytest.fixture
def old(tmp_path: Path, environ: Mapping[str, str]) -> Repo:
    """The main worktree of the first version's repository."""
    return Repo(archives.unpacked(ARCHIVE.name, tmp_path), dict(environ))


def _lines(text: bytes | None, *changes: tuple[str, str]) -> bytes:
    assert text is not None
    for before, after in changes:
        assert text.count(before.encode()) == 1, before
        text = text.replace(before.encode(), after.encode())
    return text


def test_the_archive_is_as_the_first_version_left_it(old: Repo) -> None:
    """Every kind of record that version knew is in it; without one, the tests below would prove less."""
    assert (old.state / "format").read_text() == "1\n"
    journals = "".join(path.read_text() for path in sorted((old.state / "edits").iterdir()))
    for member in (
        '"op":"create"',
        '"op":"delete"',
        '"op":"rename-to"',
        '"op":"gap"',
        '"op":"assign"',
        '"exact":"payload"',
        '"exact":"none"',
        '"commit":null',
        '"left":["0.1"]',
    ):
        assert member in journals, member
    assert '"model"' not in journals
    names = {path.name for path in old.state.iterdir()}
    assert {"calls", "objects", "runs", "beads", "shells.jsonl", "worktrees", f"{BOB}.files"} <= names
    assert len(list((old.state / "intents").iterdir())) == 1


def test_nothing_of_the_machine_is_in_the_archive(old: Repo) -> None:
    with tarfile.open(ARCHIVE) as tar:
        members = [(one, tar.extractfile(one)) for one in tar.getmembers() if one.isreg()]
        texts = {one.name: file.read() for one, file in members if file is not None}
        owners = {(one.uid, one.gid, one.uname, one.gname) for one in tar.getmembers()}
    assert owners == {(0, 0, "", "")}
    absolute = re.compile(rb"[\"' ]/(?:tmp|root|usr|opt|var|work|Users)/|\bgitdir: /")
    assert [name for name, data in texts.items() if absolute.search(data)] == []
    assert any(b"@ROOT@" in data for data in texts.values())


def test_status_names_the_owners(old: Repo) -> None:
    """Main's uncommitted paths; the linked worktrees have their own."""
    assert old.owners() == {
        "a b/ü.txt": "other",
        "claimed.txt": "other",
        "crlf.txt": "other",
        "fixed.txt": "other",
        "gone.txt": "other",
        "listed.txt": "other",
        "mixed.txt": "other",
        "new/name.txt": "other",
        "old-name.txt": "other",
        "own.txt": "other",
        "sub.txt": "other",
        "shared.py": "contested",
        "both.txt": "nobody",
        "data.bin": "nobody",
        "generated.txt": "nobody",
        "plan.md": "nobody",
        "staged.txt": "nobody",
    }
    assert old.owners(ALICE)["own.txt"] == "mine"


def test_session_list_counts_what_is_pending(old: Repo) -> None:
    rows = old.ralph("session", "list", "--json").json()
    assert {row["id"]: row["pending"] for row in rows if row["plan"] is None} == {
        ALICE: 4,
        BOB: 9,
        "alice-sub": 1,
        "worker-1": 0,
        "worker-2": 0,
        KILLED: 0,
    }
    assert {row["task"]: row["state"] for row in rows if row["plan"]} == {
        "1": "ended",
        "2": "ended",
        "3": "stale",
    }


def test_ls_files_lists_each_session_s_paths(old: Repo) -> None:
    assert {who: old.pending(who) for who in (ALICE, BOB, "alice-sub", KILLED)} == {
        ALICE: ["a b/ü.txt", "own.txt", "shared.py", "sub.txt"],
        BOB: [
            "claimed.txt",
            "crlf.txt",
            "fixed.txt",
            "gone.txt",
            "listed.txt",
            "mixed.txt",
            "new/name.txt",
            "old-name.txt",
            "shared.py",
        ],
        "alice-sub": ["sub.txt"],
        KILLED: [],
    }


def test_why_knows_commit_session_and_call_of_every_record(old: Repo) -> None:
    """A shared file, one whose other unit is left, a corrected line, lines given by hand."""

    def found(path: str) -> list[tuple[str, str, str | None]]:
        rows = old.ralph("why", "--json", path).json()["findings"]
        return [(row["session"], row["state"], row["call"]) for row in rows]

    assert found("shared.py") == [
        (ALICE, "committed", "toolu_01"),
        (BOB, "pending", "call_01"),
        (ALICE, "pending", "toolu_06"),
        (BOB, "pending", "call_02"),
    ]
    assert found("shared.py:2") == [(ALICE, "committed", "toolu_01")]
    assert found("mixed.txt") == [(BOB, "pending", "call_05"), (ALICE, "committed", "toolu_11")]
    assert found("corrected.txt") == [(ALICE, "committed", "toolu_10")]
    assert found("fixed.txt:9") == [(BOB, "pending", None)]


def test_commit_takes_a_session_s_lines_and_its_subagent_s(old: Repo) -> None:
    """In the file that Bob and a person changed too, Alice's line alone; her shell left none on record."""
    wanted = _lines(old.blob("shared.py"), ("return 3\n", "return 33\n"))
    found = old.commit(ALICE)
    assert found.paths == {"a b/ü.txt": "M", "own.txt": "M", "shared.py": "M", "sub.txt": "A"}
    assert found.left == {}
    assert old.blob("shared.py") == wanted
    for path in ("a b/ü.txt", "own.txt", "sub.txt"):
        assert old.blob(path) == old.read(path)
    assert old.pending(ALICE) == []


def test_commit_takes_every_kind_of_change(old: Repo) -> None:
    """Given by hand, deleted, renamed, left by an earlier commit, CRLF, known by the path alone."""
    wanted = _lines(old.blob("shared.py"), ("return 6\n", "return 66\n"), ("return 8\n", "return 88\n"))
    found = old.commit(BOB)
    assert found.paths == {
        "claimed.txt": "A",
        "crlf.txt": "M",
        "fixed.txt": "M",
        "gone.txt": "D",
        "listed.txt": "A",
        "mixed.txt": "M",
        "new/name.txt": "A",
        "old-name.txt": "D",
        "shared.py": "M",
    }
    assert {path for path, how in found.how.items() if how == "whole-file"} == {"claimed.txt", "listed.txt"}
    assert old.blob("shared.py") == wanted
    for path in ("claimed.txt", "crlf.txt", "fixed.txt", "listed.txt", "mixed.txt", "new/name.txt"):
        assert old.blob(path) == old.read(path)
    assert old.pending(BOB) == []


def test_both_commits_leave_what_nobody_recorded(old: Repo) -> None:
    for session in (BOB, ALICE):
        old.commit(session)
    assert _lines(old.blob("shared.py"), ("return 5\n", "return 55\n")) == old.read("shared.py")
    assert set(old.owners()) == {
        "both.txt",
        "data.bin",
        "generated.txt",
        "plan.md",
        "shared.py",
        "staged.txt",
    }


def test_a_linked_worktree_s_records_are_committed_there(old: Repo) -> None:
    linked = Repo(old.root / ".worktrees/ralph-bd-1", dict(old.env))
    assert linked.commit("worker-1").paths == {"own.txt": "M"}
    assert linked.blob("own.txt") == linked.read("own.txt")
    assert b"line of bd-1\n" in linked.blob("own.txt")


def test_a_commit_that_was_cut_short_is_finished(old: Repo) -> None:
    """Its process died when branch and index had moved: the records are consumed, the intent goes."""
    assert old.git("log", "-1", "--format=%s") == "Cut short"
    assert '"commit"' not in next((old.state / "edits").glob("dying.txt-*")).read_text()
    old.commit(KILLED, checked=False)
    assert old.git("diff", "--cached", "--name-only").splitlines() == ["staged.txt"]
    assert list((old.state / "intents").iterdir()) == []
    assert old.count() == 7
    assert old.git("status", "--porcelain", "dying.txt") == ""
    (found,) = old.ralph("why", "--json", "dying.txt").json()["findings"]
    assert (found["session"], found["state"], found["commit"]) == (KILLED, "committed", old.head())


def test_events_are_those_of_the_last_run(old: Repo) -> None:
    rows = old.ralph("events", "--json").json()
    assert [row["topic"] for row in rows] == [
        "loop.started",
        "task.started",
        "task.committed",
        "task.started",
        "task.committed",
        "task.started",
        "task.failed",
        "loop.terminate",
        "day.half",
    ]
    assert rows[-1]["payload"] == "noon"


def test_run_list_has_the_run_and_its_tasks(old: Repo) -> None:
    (run,) = old.ralph("run", "list", "--json").json()
    assert (run["plan"], run["state"], run["outcome"], run["tasks"]) == (
        "plan.md",
        "ended",
        "failed",
        {"done": 2, "total": 3},
    )


def test_worktree_list_has_both_work_items(old: Repo) -> None:
    rows = old.ralph("worktree", "list", "--json").json()
    assert [(row["bead"], row["owner"], row["branch"]) for row in rows] == [
        ("bd-1", "worker-1", "ralph/bd-1"),
        ("bd-2", "worker-2", "ralph/bd-2"),
    ]
    assert [(row["ahead"], row["dirty"]["modified"]) for row in rows] == [(0, 1), (1, 0)]
    assert [row["path"] for row in rows] == [
        f"{old.root}/.worktrees/ralph-{bead}" for bead in ("bd-1", "bd-2")
    ]


def test_gc_takes_no_journal_whose_sessions_are_remembered(old: Repo) -> None:
    """That version did not note how a commit took a path, so its records alone tell whose the lines are."""
    old.git("config", "gc.reflogExpire", "never")
    # its age is that of the archive
    (call,) = (old.state / "calls" / ALICE).iterdir()
    os.utime(call)
    assert "edits/" not in old.ralph("gc", "--dry-run").text
