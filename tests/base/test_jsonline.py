"""What is read and written as JSON: what the standard library takes, but for what RFC 8259 does not allow."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitralph.base import jsonline

SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=20)
VALUES = st.recursive(
    SCALARS | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
WRITABLE = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_reads_what_json_writes(value: object, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert jsonline.loads(text) == value
    assert jsonline.loads("\ufeff \n" + text + "\r\n\t") == value


@given(WRITABLE)
def test_json_reads_what_it_writes(value: object) -> None:
    text = jsonline.dumps(value)
    assert json.loads(text) == value == jsonline.loads(text)
    assert text.isascii()
    assert "\n" not in text


@given(st.binary(max_size=40))
def test_any_bytes_survive_as_surrogates(data: bytes) -> None:
    text = jsonline.dumps(data.decode("utf-8", "surrogateescape"))
    back = jsonline.loads(text)
    assert isinstance(back, str)
    assert back.encode("utf-8", "surrogateescape") == data


BAD = [
    "",
    " ",
    "nul",
    "NaN",
    "Infinity",
    "-Infinity",
    "[NaN]",
    '{"a":NaN}',
    '{"a":1',
    "[1,]",
    '{"a":1,}',
    "{'a':1}",
    "01",
    "+1",
    "1.",
    ".5",
    "0x1",
    '"a',
    '"\n"',
    '"\\x"',
    '"\\u12"',
    "1 2",
    "{} {}",
    "[1] x",
    '{"a" 1}',
    "{1:2}",
    "\x00",
    "tru",
    "[",
    "{",
    '"\t"',
    "\ufeff\ufeff1",
    "\xa01",
    "1" * 5000,
    "-" + "1" * 5000,
    "[" * 100_000,
    '{"a":' * 100_000,
    "[" * 100_000 + "]" * 100_000,
]


@pytest.mark.parametrize("text", BAD, ids=lambda text: ascii(text[:12]))
def test_refuses(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        jsonline.loads(text)


@given(st.text(max_size=60))
def test_raises_nothing_but_value_error(text: str) -> None:
    try:
        ours = jsonline.loads(text)
    except ValueError:
        return
    assert ours == json.loads(text.removeprefix("\ufeff"))


def test_huge_floats_are_numbers() -> None:
    assert jsonline.loads("1e999") == math.inf == json.loads("1e999")
    assert jsonline.loads("1" * 400) == int("1" * 400)


def test_the_last_of_duplicate_keys_counts() -> None:
    assert jsonline.loads('{"a":1,"a":2}') == {"a": 2}


def test_lone_surrogates_pass() -> None:
    assert jsonline.loads('"\\ud800"') == "\ud800"


def test_dumps_refuses_what_is_no_json() -> None:
    with pytest.raises(TypeError):
        jsonline.dumps(b"bytes")
    with pytest.raises(ValueError, match="JSON"):
        jsonline.dumps(math.nan)


# --- a payload that was cut off ---

PAYLOAD = {
    "session_id": "S1",
    "cwd": "/repo",
    "tool_input": {"file_path": "/repo/a", "deep": {"er": [1, "two"]}, "content": "x" * 50},
    "tool_response": {"content": "y" * 50},
}


def _agrees(part: object, whole: object) -> bool:
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and _agrees(value, whole[key]) for key, value in part.items())
    return part == whole


def test_prefix_at_every_character() -> None:
    text = json.dumps(PAYLOAD)
    seen: set[str] = set()
    for cut in range(1, len(text) + 1):
        found = jsonline.loads_prefix(text[:cut])
        assert _agrees(found, PAYLOAD), text[:cut]
        seen |= set(found)
    assert seen == set(PAYLOAD)
    cut = text.index('"content"') + 20
    assert jsonline.loads_prefix(text[:cut]) == {
        "session_id": "S1",
        "cwd": "/repo",
        "tool_input": {"file_path": "/repo/a", "deep": {"er": [1, "two"]}},
    }


@given(st.dictionaries(st.text(max_size=6), VALUES, max_size=5), st.data())
def test_prefix_never_makes_things_up(value: dict[str, object], data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = data.draw(st.integers(1, len(text)))
    found = jsonline.loads_prefix(text[:cut])
    # a number may be cut in two and still read as one, so only whole members are compared
    for key, part in found.items():
        assert key in value
        if not isinstance(value[key], (int, float)):
            assert type(part) is type(value[key])


def test_prefix_that_is_cut_in_a_key_keeps_what_came_before() -> None:
    assert jsonline.loads_prefix('{"a": 1, "b": {"c": 2, "d') == {"a": 1, "b": {"c": 2}}


@pytest.mark.parametrize("text", ["", "[", '"x"', "x{", "\ufeff["])
def test_prefix_of_no_object(text: str) -> None:
    with pytest.raises(ValueError, match="object"):
        jsonline.loads_prefix(text)


def test_prefix_of_deep_nesting_ends() -> None:
    assert isinstance(jsonline.loads_prefix('{"a":' * 50_000), dict)
    assert isinstance(jsonline.loads_prefix('{"a":' + "[" * 50_000), dict)
