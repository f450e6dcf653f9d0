"""What is read back of shell commands: order, overlap, who may have made a change; hostile lines."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitralph.base import files
from gitralph.base.layout import MAIN, Layout
from gitralph.hook import journal, shell_losses, shellcalls, shellsteps, shellwatch
from gitralph.hook import windows as shell
from gitralph.hook.journal import Record
from gitralph.hook.shellcalls import Picture
from gitralph.hook.shellsteps import Made
from gitralph.hook.windows import ChangedPath, Window

A, B = ("a" * 40, "100644"), ("b" * 40, "100644")


@pytest.fixture
def lay(tmp_path: Path) -> Layout:
    return Layout(str(tmp_path), MAIN)


def _write(lay: Layout, *rows: object) -> None:
    Path(lay.shells).write_text("".join(json.dumps(row) + "\n" for row in rows))


def _open(name: str, session: str) -> dict[str, object]:
    return {
        "v": 1,
        "open": name,
        "session": session,
        "tool": "Bash",
        "call": name,
        "ts": "2026-01-01T00:00:00Z",
    }


def test_order_is_the_order_of_lines(lay: Layout) -> None:
    rows = [["p", "=", list(A), None], ["q", list(A), [None, None], "c" * 40]]
    _write(
        lay,
        _open("1", "S1"),
        _open("2", "S2"),
        {"close": "1", "rows": rows},
        {"close": "1", "rows": []},
        _open("3", "S1"),
        {"close": "2", "rows": None, "late": True},
        {"close": "nobody", "rows": []},
    )
    first, second, third = shell.read(lay)
    assert first.rows == {b"p": ChangedPath(None, A, None), b"q": ChangedPath(A, (None, None), "c" * 40)}
    assert (second.rows, second.late) == (None, True)
    assert third.closed is None
    assert first.overlaps(second)
    assert second.overlaps(third)
    assert not first.overlaps(third)
    assert not third.overlaps(first)


def test_who_may_have_made_a_change() -> None:
    change = ChangedPath(None, A, None)
    assert Window("S", 0, closed=1, rows={b"p": change}).may_have_made(b"p", A)
    assert not Window("S", 0, closed=1, rows={}).may_have_made(b"p", A)
    assert Window("S", 0, closed=1).may_have_made(b"p", A)  # blind
    assert Window("S", 0).may_have_made(b"p", A)  # running, and nobody knows since when
    assert Window("S", 0, picture={}).may_have_made(b"p", A)
    assert not Window("S", 0, picture={b"p": A}).may_have_made(b"p", A)


def test_a_command_that_left_a_file_as_head_had_it_made_no_change_of_it(lay: Layout) -> None:
    """Where it committed what it had changed, the row has that text."""
    _write(
        lay,
        _open("1", "S2"),
        {"close": "1", "rows": [["p", list(A), "=", A[0]], ["q", list(A), list(B), B[0]]]},
    )
    now = ("c" * 40, "100644")
    assert shell.left_by_others(lay, b"p", now, {"S1"}, set(), ()) == set()
    assert shell.left_by_others(lay, b"q", now, {"S1"}, set(), ()) == {(A[0], B[0])}
    assert shell.left_by_others(lay, b"q", now, {"S1"}, {B[0]}, ()) == set()


def _row(base: str | None, form: tuple[str, str | None]) -> list[str | None]:
    return [base, *form, base, "100644"]


def test_differences_between_two_pictures() -> None:
    before = Picture(
        "h",
        {
            "same": _row("x", A),
            "undone": _row("x", A),
            "moved": _row("x", A),
            "committed": _row("x", A),
            "changed and committed": _row("x", A),
            "big": _row("x", ("?", None)),
        },
    )
    rows = {
        "same": _row("x", A),
        "new": _row(None, B),
        "moved": _row("x", B),
        "stayed": _row("e" * 40, A),
        "big": _row("x", ("?", None)),
    }
    # HEAD came to hold one, and went away under another, which stands as HEAD had it
    moved = {
        "moved": ("d" * 40, "e" * 40),
        "committed": ("d" * 40, A[0]),
        "changed and committed": ("d" * 40, "e" * 40),
        "stayed": (A[0], "e" * 40),
    }
    found = {row[0]: row[1:] for row in shellwatch.differences(before, Picture("h", rows), moved)}
    assert found == {
        "undone": [list(A), "=", "x"],
        "changed and committed": [list(A), ["e" * 40, A[1]], "e" * 40],
        "moved": [list(A), list(B), "x"],  # it was changed before: its texts tell what git did
        "new": ["=", list(B), None],
        "big": [["?", None], ["?", None], "x"],  # too large to tell: never offered, may contest
    }
    assert not ChangedPath(("?", None), ("?", None), "x").is_known


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)
lines = st.dictionaries(
    st.sampled_from(["open", "close", "session", "rows", "call", "tool", "ts", "late", "agent_id"]), values
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=st.lists(lines | values, max_size=6), torn=st.binary(max_size=20))
def test_hostile_lines(lay: Layout, rows: list[object], torn: bytes) -> None:
    _write(lay, _open("1", "S1"), *rows, {"close": "1", "rows": [["p", "=", list(A), None]]})
    with open(lay.shells, "ab") as file:
        file.write(torn)
    first = shell.read(lay)[0]
    assert first.session == "S1"
    for window in shell.read(lay):
        window.row(b"p", A)
        window.overlaps(first)


@pytest.mark.parametrize(
    ("said", "rows"),
    [
        (b"? new\0", {"new": [None, "?", None, None, None]}),
        (b"? folder/\0", {}),
        (
            b"1 .M N... 100644 100644 100644 " + b"a" * 40 + b" " + b"b" * 40 + b" odd name\0",
            {"odd name": ["a" * 40, "?", None, "b" * 40, "100644"]},
        ),
        (
            b"1 A. N... 000000 100644 100644 " + b"0" * 40 + b" " + b"b" * 40 + b" n\0",
            {"n": [None, "?", None, "b" * 40, None]},
        ),
        (
            b"1 D. N... 100644 000000 000000 " + b"a" * 40 + b" " + b"0" * 40 + b" n\0? n\0",
            {"n": ["a" * 40, "?", None, None, "100644"]},
        ),
        (b"u UU N... 1 1 1 1 " + b"a " * 3 + b"both\0", {"both": [None, "?", None, "u", None]}),
    ],
)
def test_what_git_says(said: bytes, rows: dict[str, list[str | None]]) -> None:
    picture = shellwatch.parse_status(b"# branch.oid " + b"c" * 40 + b"\0# branch.head main\0" + said)
    assert (picture.head, picture.rows) == ("c" * 40, rows)
    assert shellwatch.parse_status(b"# branch.oid (initial)\0").head is None


def test_who_lost_something_last_is_named_of_a_long_journal_too(
    lay: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the end of a long journal is read: there stand those whose edits were thrown away."""
    ids, texts = [], [f"{number}\n".encode() for number in range(12)]
    for number, text in enumerate(texts):
        ids.append(journal.text_id(text))
        who, was = ("S1" if number < 10 else "S2"), texts[number - 1] if number else b""
        before = ids[number - 1] if number else None
        hunks = [journal.hunk_between(was, text)]
        record = Record(who, "edit", before, ids[number], "payload", hunks=hunks)
        files.make_folder(lay.edits)
        fd = files.open_locked(lay.journal(b"f"))
        journal.append(lay, fd, b"f", record, None)
        os.close(fd)
    rows: list[list[object]] = [["f", [ids[-1], "100644"], "="]]
    assert shell_losses.losers(lay, "S3", rows, "=") == {"f": ["S1", "S2"]}
    monkeypatch.setattr(shell_losses, "LIMIT", 800)
    assert shell_losses.losers(lay, "S3", rows, "=") == {"f": ["S2"]}
    size = os.path.getsize(lay.journal(b"f"))
    taken = {"upto": size, "session": "S2", "before": None, "after": ids[-1], "exact": "payload"}
    files.append_record(lay.journal(b"f"), json.dumps(taken).encode() + b"\n")
    assert shell_losses.losers(lay, "S3", rows, "=") == {}


def test_a_command_is_named_as_its_records_name_it(lay: Layout) -> None:
    """A record holds the beginning of a long name only."""
    row = ["p", list(A), list(B), A[0]]
    _write(lay, {**_open("1", "S2"), "call": "c" * 300}, {"close": "1", "rows": [row]})
    (window,) = shell.read(lay)
    assert window.name == ("S2", "c" * 200)
    assert shell.left_by_others(lay, b"p", ("d" * 40, "100644"), {"S1"}, set(), {window.name}) == set()


def test_files_that_moved_with_a_change_are_each_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not once for each pair: 100 files of 300 lines took 6 s, and the agent waits."""
    made = []
    for number in range(40):
        text = b"".join(b"line %d of file %d\n" % (line, number) for line in range(10))
        gone, came = ChangedPath(None, (None, None), A[0]), ChangedPath((None, None), B, None)
        made.append(Made(b"old/%d" % number, gone, (text, None), True))
        made.append(Made(b"new/%d" % number, came, (None, text + b"more\n"), False))
    asked, touched = list[bytes | None](), shellsteps.touched

    def counted(before: bytes | None, after: bytes | None) -> set[bytes]:
        asked.append(after)
        return touched(before, after)

    monkeypatch.setattr(shellsteps, "touched", counted)
    ops = [one.op for one in shellsteps.pair_moves(made)]
    assert ops == ["rename-from", "rename-to", None] * 40
    assert len(asked) <= 4 * 40


def test_what_is_kept_of_a_call_that_ended_does_not_come_back(tmp_path: Path) -> None:
    """A commit changes it while a hook may remove it; a new file would be a call without an end."""
    name = str(tmp_path / "shell-x")
    shellcalls.change(name, {"id": "1"})
    assert not os.path.lexists(name)
    shellcalls.keep(name, {"id": "1", "more": ["longer than what follows"]}, None)
    shellcalls.change(name, {"id": "2"})
    assert json.loads(Path(name).read_text()) == {"id": "2"}


@pytest.mark.parametrize("since", [None, [], [1], ["1", "2"], [1, "2"], {"1": 2}, [1, 2, 3]])
def test_a_damaged_time_tells_neither_older_nor_younger(tmp_path: Path, since: object) -> None:
    name = tmp_path / "file"
    name.write_text("")
    assert not shellcalls.is_older(str(name), since)
    assert not shellcalls.is_younger(str(name), since)
    assert shellcalls.is_younger(str(name), shellcalls.begun(str(name)))
