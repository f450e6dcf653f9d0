"""The journal keeps any bytes exactly, survives any cut and any damage, and never raises on reading."""

import json
import os
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitralph.base import files, jsonline
from gitralph.base.layout import Layout
from gitralph.hook import journal
from gitralph.hook.journal import Record, TextHunk
from tests.support import source

PACKAGE = source.ROOT / "gitralph"

TEXTS = st.binary(max_size=60) | st.lists(
    st.sampled_from(
        [b"a\n", b"b\n", b"\r\n", b"c\r\n", b"\n", b"\x00\n", b"\xff", b"d", b"\x0c\n", b"\x85\n"]
    ),
    max_size=12,
).map(b"".join)
SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def lay(tmp_path: Path) -> Layout:
    """A layout of its own, its folders made."""
    layout = Layout(str(tmp_path / "state"), "main")
    for folder in (layout.top, layout.edits, f"{layout.top}/objects"):
        files.make_folder(folder)
    return layout


def step(before: bytes | None, after: bytes | None, session: str = "S1", **known: str | None) -> Record:
    """The record of an edit from ``before`` to ``after``."""
    ids = [None if text is None else journal.text_id(text) for text in (before, after)]
    hunks = [] if before == after else [journal.hunk_between(before or b"", after or b"")]
    op = "delete" if after is None else "create" if before is None else "edit"
    return Record(session, op, ids[0], ids[1], journal.PAYLOAD, hunks=hunks, **known)  # type: ignore[arg-type]


def add(lay: Layout, path: bytes, record: Record, before: bytes | None) -> None:
    """Append as the hook does."""
    fd = files.open_locked(lay.journal(path))
    try:
        journal.append(lay, fd, path, record, before)
    finally:
        os.close(fd)


def read(lay: Layout, path: bytes) -> bytes:
    """The journal's bytes."""
    return Path(lay.journal(path)).read_bytes()


# --- texts and hunks ---


@given(TEXTS)
def test_lines_are_the_text(text: bytes) -> None:
    lines = journal.full_lines(text)
    assert b"".join(lines) == text
    assert all(line.endswith(b"\n") for line in lines[:-1])
    assert all(line.count(b"\n") <= 1 and line for line in lines)


@given(TEXTS, TEXTS)
def test_a_hunk_reproduces_the_text_after(before: bytes, after: bytes) -> None:
    hunk = journal.hunk_between(before, after)
    assert journal.apply_hunks(before, [hunk]) == after
    lines = journal.full_lines(before)
    # nothing that both have at its edges
    if hunk.removed and hunk.lines:
        assert lines[hunk.start] != hunk.lines[0]
        assert lines[hunk.start + hunk.removed - 1] != hunk.lines[-1]


@pytest.mark.parametrize(
    "hunk",
    [TextHunk(3, 0, []), TextHunk(0, 3, []), TextHunk(-1, 1, []), TextHunk(1, -1, []), TextHunk(2, 1, [])],
)
def test_a_hunk_outside_the_text_is_refused(hunk: TextHunk) -> None:
    with pytest.raises(ValueError, match="outside"):
        journal.apply_hunks(b"one\ntwo\n", [hunk])


# --- one record ---

WORDS = st.text(max_size=12) | st.none()


@given(TEXTS, TEXTS, st.binary(min_size=1, max_size=20), WORDS, WORDS, WORDS)
def test_a_record_round_trips(
    before: bytes, after: bytes, path: bytes, agent: str | None, tool: str | None, call: str | None
) -> None:
    record = step(
        before, after, agent_id=agent, tool=tool, call=call, ts="2026-01-01T00:00:00Z", head="0" * 40
    )
    record.mode = ("100644", None)
    line = journal.encode(record, path)
    assert line.endswith(b"}\n")
    assert line.count(b"\n") == 1
    assert line.isascii()
    fields = jsonline.loads(line.decode())
    assert fields == json.loads(line)
    assert isinstance(fields, dict)
    assert fields["path"].encode("utf-8", "surrogateescape") == path
    back = journal.decode(fields)
    for name in (
        "session",
        "op",
        "before",
        "after",
        "exact",
        "agent_id",
        "tool",
        "call",
        "mode",
        "head",
        "ts",
    ):
        assert getattr(back, name) == getattr(record, name), name
    assert back.is_exact
    assert journal.apply_hunks(before, back.hunks or []) == after


@pytest.mark.parametrize(
    ("name", "path"), [(None, None), ("d/\u00e9\udcff", b"d/\xc3\xa9\xff"), ("d/\ud800", None)]
)
def test_the_other_end_of_a_rename_is_a_path_or_none(name: str | None, path: bytes | None) -> None:
    """JSON has strings that no path encodes to; somebody may have written one there."""
    assert step(b"a\n", None, other=name).other_path == path


def test_an_unknown_before_is_not_an_absent_file() -> None:
    record = Record("S1", "edit", None, journal.text_id(b"x"), journal.NONE, unknown_before=True)
    fields = json.loads(journal.encode(record, b"a"))
    assert fields["before"] == "?"
    back = journal.decode(fields)
    assert (back.unknown_before, back.before, back.is_exact) == (True, None, False)


# --- a whole journal ---


@SHARED
@given(texts=st.lists(TEXTS | st.none(), min_size=2, max_size=7), gaps=st.sets(st.integers(0, 6)))
def test_replay_reproduces_every_text(
    tmp_path_factory: pytest.TempPathFactory, texts: list[bytes | None], gaps: set[int]
) -> None:
    lay = Layout(str(tmp_path_factory.mktemp("state")), "main")
    files.make_folder(lay.edits)
    told: list[tuple[bytes | None, bytes | None]] = []
    for number, (before, after) in enumerate(pairwise(texts)):
        if number in gaps:
            before = b"somebody else was here\n" + bytes([number])
        add(lay, b"p", step(before, after, f"S{number % 3}"), before)
        told.append((before, after))
    parsed = journal.parse(read(lay, b"p"))
    assert parsed.damaged == []
    assert [(before, after) for _, before, after in journal.replay(parsed, lay)] == told
    assert parsed.damaged == []


def test_a_full_text_is_kept_only_where_the_chain_breaks(lay: Layout) -> None:
    for before, after in (
        (b"1\n", b"2\n"),
        (b"2\n", b"3\n"),
        (b"gap\n", b"4\n"),
        (b"4\n", None),
        (None, b"5\n"),
    ):
        add(lay, b"p", step(before, after), before)
    kept = [name for _, _, names in os.walk(lay.top + "/objects") for name in names]
    assert sorted(kept) == sorted(journal.text_id(text)[2:] for text in (b"1\n", b"gap\n"))


def test_a_forged_hunk_is_damage_and_costs_its_step_only(lay: Layout) -> None:
    add(lay, b"p", step(b"1\n", b"2\n"), b"1\n")
    forged = step(b"2\n", b"3\n")
    forged.hunks = [TextHunk(0, 1, [b"other\n"])]
    add(lay, b"p", forged, b"2\n")
    parsed = journal.parse(read(lay, b"p"))
    told = journal.replay(parsed, lay)
    assert [after for _, _, after in told] == [b"2\n", None]
    assert parsed.damaged == [parsed.records[1].offset]


def test_a_text_that_is_not_what_its_name_says_is_not_believed(lay: Layout) -> None:
    oid = journal.text_id(b"good\n")
    journal.store_text(lay, b"good\n", oid)
    assert journal.load_text(lay, oid) == b"good\n"
    other = journal.text_id(b"other\n")
    journal.store_text(lay, b"other\n", other)
    os.replace(lay.text(other), lay.text(oid))
    assert journal.load_text(lay, oid) is None
    Path(lay.text(oid)).write_bytes(b"not zlib")
    assert journal.load_text(lay, oid) is None


def test_the_tail_is_not_fooled_by_an_edited_text(lay: Layout) -> None:
    trap = b'"session":"S9","before":"' + b"0" * 40 + b'","after":"' + b"1" * 40 + b'","exact":"payload"}\n'
    for after in (trap, trap * 40, b"x" * 5000):
        record = step(None, after, call='"session":"S9"')
        add(lay, b"p", record, None)
        with open(lay.journal(b"p"), "rb") as file:
            keys = journal.tail(file.fileno())
        assert (keys["session"], keys["after"], keys["call"]) == ("S1", record.after, record.call)
        assert journal.known_after(keys) == record.after


# --- torn tails and damage ---


def _journal_of(lay: Layout, count: int) -> list[bytes]:
    """Lines of a journal of that many records."""
    for number in range(count):
        before, after = (b"%d\n" % n for n in (number, number + 1))
        add(lay, b"p", step(before, after, f"S{number}"), before)
    return read(lay, b"p").splitlines(keepends=True)


@pytest.mark.parametrize("filler", [b"", b"\0", b"\0" * 700], ids=["cut", "nul", "many-nuls"])
def test_torn_tail_at_every_byte(lay: Layout, filler: bytes) -> None:
    lines = _journal_of(lay, 3)
    whole = b"".join(lines)
    name = Path(lay.journal(b"p"))
    for cut in range(len(lines[2]) + 1):
        torn = whole[: len(lines[0]) + len(lines[1]) + cut] + filler
        parsed = journal.parse(torn)
        kept = 3 if cut == len(lines[2]) else 2
        assert len(parsed.records) == kept
        assert parsed.size == sum(map(len, lines[:kept]))
        # the next writer starts on a fresh line, and what it wrote is read
        name.write_bytes(torn)
        add(lay, b"p", step(b"x\n", b"y\n", "later"), b"x\n")
        again = journal.parse(name.read_bytes())
        assert [r.session for r in again.records][-1] == "later"
        assert [r.session for r in again.records][:kept] == ["S0", "S1", "S2"][:kept]
        assert journal.replay(again, lay)[-1][2] == b"y\n"


def test_damage_in_the_middle_costs_only_its_line(lay: Layout) -> None:
    lines = _journal_of(lay, 5)
    for bad in (
        b"{}\n",
        b"\xff\xfe\n",
        b"nonsense\n",
        b'{"session":1}\n',
        lines[2][:-20] + b"\n",
        b"[]\n",
        b'{"a":\n',
    ):
        parsed = journal.parse(b"".join([*lines[:2], bad, *lines[3:]]))
        assert [record.session for record in parsed.records] == ["S0", "S1", "S3", "S4"]
        assert parsed.damaged == [len(lines[0]) + len(lines[1])]


@SHARED
@given(flips=st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 255)), min_size=1, max_size=4))
def test_flipped_bytes_cost_only_their_lines(
    tmp_path_factory: pytest.TempPathFactory, flips: list[tuple[int, int]]
) -> None:
    lay = Layout(str(tmp_path_factory.mktemp("state")), "main")
    files.make_folder(lay.edits)
    lines = _journal_of(lay, 6)
    data = bytearray(b"".join(lines))
    hit = set()
    starts = [sum(map(len, lines[:n])) for n in range(7)]
    for at, value in flips:
        at %= len(data)
        data[at] = value
        number = max(n for n in range(6) if starts[n] <= at)
        hit |= {number, number + 1} if at == starts[number + 1] - 1 else {number}
    parsed = journal.parse(bytes(data))
    sessions = [record.session for record in parsed.records]
    assert {f"S{n}" for n in range(6) if n not in hit} <= set(sessions)
    journal.replay(parsed, lay)


FORGED = [
    b"{",
    b'{"upto":1}',
    b'{"upto":"x","session":[]}',
    b"null",
    b"[" * 2000,
    b"\0" * 9,
    b'{"session":"S","op":"edit","exact":"payload","before":null,"after":null,"hunks":[[0,0,["\\ud800"]]]}',
    b'{"session":"S","op":"edit","exact":"x","before":[],"after":{},"hunks":{}}',
    b'{"session":"S","op":"edit","exact":"payload","before":null,"after":null,"hunks":[[1e9,0,[]],[true,0,[]]]}',
    b'{"session":"S","op":"edit","exact":"payload","before":null,"after":null,"hunks":[[0,99999999999,[7]]]}',
]
LINES = st.binary(max_size=80) | st.sampled_from(FORGED)


@SHARED
@given(lines=st.lists(LINES, max_size=8), ends=st.booleans())
def test_the_parser_never_raises(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], ends: bool
) -> None:
    data = b"\n".join(lines) + (b"\n" if ends else b"")
    parsed = journal.parse(data)
    assert parsed.size <= len(data)
    journal.replay(parsed, Layout("/nonexistent", "main"))


def test_mutated_journals_never_raise(lay: Layout) -> None:
    """A cheap large fuzz: cuts, repeats and swaps of a real journal."""
    import random

    good = b"".join(_journal_of(lay, 4))
    dice = random.Random(7)
    for _ in range(3000):
        a, b, c = sorted(dice.randrange(len(good)) for _ in range(3))
        data = (
            good[:a]
            + good[b:c] * dice.randint(0, 3)
            + bytes([dice.randrange(256)])
            + good[dice.choice([a, b, c]) :]
        )
        journal.replay(journal.parse(data), lay)


def test_who_asks_about_the_past_asks_one_reader() -> None:
    """The folder of journals is listed by the reader of all of them, and by who clears it away."""
    lists = re.compile(r"\w\.edits\}/|(?:listdir|names)\(\w+\.edits")
    found = {
        str(path.relative_to(source.ROOT)) for path in PACKAGE.rglob("*.py") if lists.search(path.read_text())
    }
    assert found == {"gitralph/records/over_time.py", "gitralph/records/sweep.py"}
