"""One reader of JSON lines: a line is good, blank or damaged to every file that is made of such lines."""

import json
import os
from pathlib import Path

import pytest

from gitralph.base import gitdir, jsonline, layout
from gitralph.base.layout import Layout
from gitralph.hook import journal
from gitralph.hook import windows as shell
from gitralph.records import commit_log, events
from tests.support import source
from tests.support.repo import Repo

GOOD, BLANK, DAMAGED = "good", "blank", "damaged"
LINES = [
    (b"{%s}", GOOD),
    (b" {%s} \r", GOOD),
    (b"", BLANK),
    (b" \t\r", BLANK),
    (b"\0\0\0", BLANK),
    (b"{%s", DAMAGED),
    (b'{%s,"n":NaN}', DAMAGED),
    (b'{%s,"n":-Infinity}', DAMAGED),
    (b'{%s,"n":1%s}' % (b"%s", b"0" * 500), DAMAGED),
    (b"[{%s}]", DAMAGED),
    (b'"text"', DAMAGED),
    (b"{%s}{%s}", DAMAGED),
    (b'{%s,"s":"\xff"}', DAMAGED),
    (b'{%s,"deep":' + b"[" * 100_000 + b"}", DAMAGED),
    (b"utf-16", DAMAGED),
]


@pytest.fixture
def lay(repo: Repo) -> Layout:
    repo.start("S1")
    place = gitdir.discover(os.path.realpath(repo.root))
    assert place is not None
    return layout.for_place(place)


def _line(form: bytes, fields: dict[str, object]) -> bytes:
    inner = json.dumps(fields)[1:-1].encode()
    if form == b"utf-16":
        return json.dumps(fields).encode("utf-16-le")
    return form.replace(b"%s", inner)


def _in_journal(form: bytes) -> str:
    line = _line(form, {"session": "S1", "upto": 5, "commit": None})
    found = journal.parse(line + b"\n")
    return GOOD if found.log else DAMAGED if found.damaged else BLANK


def _in_commits(lay: Layout, form: bytes) -> str:
    Path(lay.commits("S1")).write_bytes(_line(form, {"session": "S1", "commit": "x"}) + b"\n")
    found = commit_log.read(lay, "S1")
    return GOOD if found.commits else DAMAGED if found.damaged else BLANK


def _in_shells(lay: Layout, form: bytes) -> bool:
    fields: dict[str, object] = {
        "open": "1",
        "session": "S1",
        "call": "c",
        "tool": "Bash",
        "ts": "2026-01-01T00:00:00Z",
    }
    Path(lay.shells).write_bytes(_line(form, fields) + b"\n")
    return bool(shell.read(lay))


def _in_events(lay: Layout, form: bytes) -> str:
    path = Path(lay.events("events.jsonl"))
    path.write_bytes(_line(form, {"topic": "t"}) + b"\n")
    fd = os.open(path, os.O_RDONLY)
    try:
        (row,) = events.scan(fd)
    finally:
        os.close(fd)
    if isinstance(row, events.Bad):
        return BLANK if row.reason == "blank line" else DAMAGED
    return GOOD


@pytest.mark.parametrize(("form", "what"), LINES, ids=range(len(LINES)))
def test_every_file_judges_a_line_alike(lay: Layout, form: bytes, what: str) -> None:
    """Journal, commits, events and shell commands; damage costs only its own line."""
    assert _in_journal(form) == what
    assert _in_commits(lay, form) == what
    assert _in_events(lay, form) == what
    assert _in_shells(lay, form) is (what == GOOD)


def test_a_last_line_without_its_newline_is_not_there_yet(lay: Layout) -> None:
    """Neither read nor damage."""
    whole = _line(b"{%s}", {"session": "S1", "upto": 5, "commit": "x"})
    assert list(jsonline.lines(whole)) == []
    assert [(at, end) for at, end, _ in jsonline.lines(b"\n" + whole + b"\n{")] == [(1, len(whole) + 2)]
    Path(lay.commits("S1")).write_bytes(whole)
    assert (commit_log.read(lay, "S1").commits, commit_log.read(lay, "S1").damaged) == ([], 0)


def test_what_is_written_is_one_line_and_is_read() -> None:
    """ASCII, one newline at its end, lone surrogates kept."""
    fields: dict[str, object] = {"a": "\ud800\n", "b": [1, None, {"c": True}]}
    line = jsonline.line(fields)
    assert line.count(b"\n") == 1
    assert line.isascii()
    assert jsonline.object_in(line) == fields


def test_lines_of_ours_are_read_by_the_one_reader() -> None:
    """``json`` itself is for documents: records, settings, answers; a file of lines has one reader."""
    reads_lines = {
        "gitralph.hook.journal",
        "gitralph.tasks.promise",
        "gitralph.records.commit_log",
        "gitralph.hook.windows",
        "gitralph.records.sweep",
        "gitralph.records.events",
        "gitralph.ask.report.gather",
        "gitralph.sessions.transcript",
        "gitralph.tasks.tracker",
        "gitralph.setup.doctor.trust",
    }
    wrong = {m.name for m in source.modules() for one in m.imports() if one.module == "json"} & reads_lines
    assert wrong == set()
