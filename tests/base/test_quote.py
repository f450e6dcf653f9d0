"""Path quoting is git's own, goes both ways, and nothing printable turns a terminal around."""

import os
import subprocess
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitralph.base import quote

PATHS = st.binary(min_size=1, max_size=60).filter(lambda path: b"\0" not in path)


@given(PATHS, st.booleans())
@example(b'"', True)
@example(b"\\", False)
@example(b"\xff\n", False)
def test_round_trip(path: bytes, high: bool) -> None:
    quoted = quote.c_quote(path, high)
    assert quote.c_unquote(quoted) == path
    assert not set(quoted) & {*range(32), 127}
    assert _is_text(quoted), "bytes that are no text are quoted whatever the setting"
    if high:
        assert max(quoted) < 128


@given(PATHS)
def test_line_form_is_one_line(path: bytes) -> None:
    line = quote.line_form(path)
    assert b"\n" not in line
    assert quote.c_unquote(line) == path


@given(st.binary(max_size=60))
def test_unquote_raises_nothing_but_value_error(line: bytes) -> None:
    try:
        quote.c_unquote(line)
    except ValueError:
        assert line[:1] == b'"'


@pytest.mark.parametrize(
    "line", [b'"', b'"a', b'"a"b"', b'"\\', b'"\\"', b'"\\x"', b'"\\1"', b'"\\999"', b'"\\400"', b'"\\12"']
)
def test_unquote_refuses_what_git_would_not_write(line: bytes) -> None:
    with pytest.raises(ValueError, match="quoted path"):
        quote.c_unquote(line)


def _names() -> list[bytes]:
    names = [b"x" + bytes([byte]) + b"y" for byte in range(1, 256) if byte != ord("/")]
    return [
        *names,
        "caf\u00e9".encode(),
        "\U0001f600".encode(),
        b"plain",
        b'a"b\\c\td',
        b"\xc3",
        b"\xc3\xa9\xff",
    ]


@pytest.mark.parametrize("high", [True, False])
def test_as_git_quotes(tmp_path: Path, high: bool) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    names = _names()
    empty = b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    rows = b"".join(b"100644 %s 0\t%s\0" % (empty, name) for name in names)
    subprocess.run(["git", "update-index", "-z", "--index-info"], cwd=tmp_path, input=rows, check=True)
    said = subprocess.run(
        ["git", "-c", f"core.quotePath={str(high).lower()}", "ls-files"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    ).stdout
    by_git = said.split(b"\n")[:-1]
    ours = [quote.c_quote(name, high) for name in sorted(names)]
    # git leaves bytes that are not UTF-8 raw without core.quotePath; a line of ours is always text
    differ = [(a, b) for a, b in zip(by_git, ours, strict=True) if a != b]
    assert all(not high and not _is_text(git) for git, _ in differ), differ
    assert [quote.c_unquote(row) for row in ours] == sorted(names)


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


# format characters that are seen: signs in front of numbers, and of Syriac and Kaithi
VISIBLE = frozenset(map(chr, (*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD)))
VISIBLE |= frozenset(map(chr, range(0x13430, 0x13440)))  # and those that arrange hieroglyphs
HIDDEN = "\u00ad\u034f\u115f\u180e\u200b\u200c\u200d\u2060\u2063\u3164\ufe0f\ufeff\uffa0\U000e0041"


@pytest.mark.parametrize("char", HIDDEN)
def test_what_takes_no_room_is_shown_as_an_escape(char: str) -> None:
    """Two names that differ must not look alike."""
    assert quote.printable(f"a{char}b") == f"a{char.encode('unicode_escape').decode()}b"
    assert quote.shown(f"a{char}b".encode()).isascii()


@given(st.text(max_size=60))
@example("\x1b[2J")
@example("\u202egnp.exe")
@example("\u2066\u2069\u061c\ud800\x85")
def test_printable_has_no_control(text: str) -> None:
    shown = quote.printable(text)
    bad = [c for c in shown if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]
    bad += [c for c in shown if unicodedata.category(c) == "Cf" and c not in VISIBLE]
    bad += [
        c for c in shown if unicodedata.bidirectional(c) in ("RLE", "LRE", "RLO", "LRO", "PDF", "RLI", "LRI")
    ]
    assert bad == []
    shown.encode("utf-8")


def test_printable_leaves_text_alone() -> None:
    assert quote.printable("caf\u00e9 \U0001f600 'x'") == "caf\u00e9 \U0001f600 'x'"


@given(PATHS)
def test_shown_is_always_printable(path: bytes) -> None:
    shown = quote.shown(path)
    assert shown == quote.printable(shown)
    shown.encode("utf-8")
    assert os.linesep not in shown
