"""Looking for one topic finds what reading every line finds."""

import json
import tempfile
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from gitralph.ask.event_reader import Wanted
from gitralph.records import events
from gitralph.records.events import Bad, Emitted, Passed

TOPICS = st.sampled_from(
    ["a", "task.done", "task.*", "*", "ü", 'q"', "a/b", "x[ab]*", "t?sk*", "a\\b", "*done"]
)
SAID = st.sampled_from(["a", "task.done", "task.new", "ü", 'q"', "a/b", "xa", "x", "a\\b", "never"])


@st.composite
def _line(draw: st.DrawFn) -> bytes:
    told = {"topic": draw(SAID), "payload": draw(st.sampled_from(["", "a", "ü", "task.done", {"a": [1]}]))}
    text = json.dumps(told, ensure_ascii=draw(st.booleans()))
    if draw(st.booleans()):
        text = text.replace("a", "\\u0061").replace("/", "\\/")
    return text.encode()


BROKEN = st.sampled_from([b"", b"junk", b'{"topic":', b'{"no":1}', b'{"topic":"a"}\r', b" ", b"\0\0", b"[1]"])
FILES = st.lists(st.one_of(_line(), _line(), BROKEN), max_size=12).map(b"\n".join)


@settings(max_examples=300)
@given(FILES, TOPICS, st.sampled_from([1, 7, 64, 1 << 20]), st.booleans())
def test_every_event_of_the_topic_is_found_and_what_is_no_line_is_told(
    data: bytes, topic: str, block: int, torn: bool
) -> None:
    wanted = Wanted(topic)
    with tempfile.TemporaryFile() as file:
        file.write(data if torn else data + b"\n")
        file.flush()
        fd = file.fileno()
        with patch.object(events, "FORWARD", block):
            every = list(events.scan(fd))
            sieved = list(events.sieve(fd, 0, wanted.needle))
        back = list(events.sieve_back(fd, wanted.needle))
    hits = [row for row in every if isinstance(row, Emitted) and wanted.matches(row)]
    for found in (sieved, back[::-1]):
        assert [row for row in found if isinstance(row, Emitted) and wanted.matches(row)] == hits
        # only a line in braces may be passed over
        bad = [row for row in every if isinstance(row, Bad)]
        odd = [row for row in bad if not (row.raw[:1] == b"{" and row.raw[-1:] == b"}")]
        assert [row for row in odd if row not in found] == []
        assert [row for row in found if isinstance(row, Bad) and row not in every] == []
    if every:
        assert sieved[-1].end == every[-1].end
    assert not any(isinstance(row, Passed) for row in sieved) or wanted.needle is not None


def test_strict_reads_every_line() -> None:
    assert Wanted("a").needle == b"a"
    assert Wanted("a", strict=True).needle is None
    assert Wanted(None).needle is None
    assert Wanted("a.b*longer/é").needle == b"longer"
