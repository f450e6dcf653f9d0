"""What a call changed: the disk is the record, the payload is believed only for what it says itself."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitralph.base.gitdir import Place
from gitralph.base.layout import MAIN, Layout
from gitralph.hook import record
from gitralph.hook.event import Event
from gitralph.hook.journal import NONE, PAYLOAD, WINDOW, Record, text_id
from gitralph.hook.locate import Target
from gitralph.hook.reconcile import UNKNOWN, Text, UnknownText, in_style_of, normal, same, texts_of

MARK = b"\xef\xbb\xbf"


def chooser(last: bytes | None):  # type: ignore[no-untyped-def]
    """As the hook picks: the form whose id the journal ends with."""
    return lambda forms: next((f for f in forms if last is not None and text_id(f) == text_id(last)), None)


def verdict(
    disk: bytes | None,
    seen: Text = UNKNOWN,
    before: Text = UNKNOWN,
    after: Text = UNKNOWN,
    *,
    alone: bool = True,
    last: bytes | None = None,
) -> tuple[Text, Text, str]:
    """The verdict as a tuple."""
    found = texts_of(disk, seen, before, after, alone, chooser(last))
    return found.before, found.after, found.exact


def test_payload_with_both_texts() -> None:
    assert verdict(b"new\n", before=b"old\n", after=b"new\n") == (b"old\n", b"new\n", PAYLOAD)
    assert verdict(b"new\n", before=None, after=b"new\n") == (None, b"new\n", PAYLOAD)
    assert verdict(None, before=b"old\n", after=None) == (b"old\n", None, PAYLOAD)


def test_normalised_payload_gives_way_to_the_bytes_on_disk() -> None:
    disk, seen = MARK + b"new\r\nx\r\n", MARK + b"old\r\nx\r\n"
    assert verdict(disk, seen, b"old\nx\n", b"new\nx\n") == (seen, disk, PAYLOAD)
    # without a pre event the text before gets the style of the text after
    assert verdict(disk, before=b"old\nx\n", after=b"new\nx\n") == (seen, disk, PAYLOAD)


def test_the_form_that_chains_is_chosen() -> None:
    crlf = b"old\r\nx\r\n"
    assert verdict(b"new\nx\n", before=b"old\nx\n", after=b"new\nx\n", last=crlf)[0] == crlf
    assert verdict(b"new\nx\n", before=b"old\nx\n", after=b"new\nx\n", last=b"old\nx\n")[0] == b"old\nx\n"


def test_a_payload_that_is_byte_for_byte_keeps_its_text_before() -> None:
    # here the call itself brought the mark or the line ends in
    assert verdict(MARK + b"new\n", before=b"old\n", after=MARK + b"new\n")[0] == b"old\n"
    assert verdict(b"new\r\n", before=b"old\n", after=b"new\r\n")[0] == b"old\n"


def test_payload_contradicts_the_disk() -> None:
    """Somebody else wrote in between: only what the payload says is this call's."""
    assert verdict(b"foreign\n", before=b"old\n", after=b"new\n") == (b"old\n", b"new\n", PAYLOAD)
    assert verdict(b"foreign\n", b"old\r\n", b"old\n", b"new\n") == (b"old\r\n", b"new\r\n", PAYLOAD)
    assert verdict(None, before=b"old\n", after=b"new\n") == (b"old\n", b"new\n", PAYLOAD)


def test_window() -> None:
    assert verdict(b"new\n", seen=b"old\n") == (b"old\n", b"new\n", WINDOW)
    assert verdict(b"new\n", seen=None) == (None, b"new\n", WINDOW)
    assert verdict(b"new\n", seen=b"old\n", alone=False) == (UNKNOWN, b"new\n", NONE)


def test_nothing_known() -> None:
    assert verdict(b"new\n") == (UNKNOWN, b"new\n", NONE)
    assert verdict(b"new\n", after=b"new\n") == (UNKNOWN, b"new\n", NONE)
    assert verdict(b"x\n", after=b"new\n") == (UNKNOWN, b"new\n", NONE)


def test_stale_write_is_told_by_its_own_before() -> None:
    """The payload's before is not what the pre event saw: it was written from an older read."""
    assert verdict(b"mine\n", b"theirs\n", b"old\n", b"mine\n") == (b"old\n", b"mine\n", PAYLOAD)
    assert verdict(b"mine\n", b"theirs\n", None, b"mine\n") == (None, b"mine\n", PAYLOAD)


def test_a_text_the_client_could_not_decode_is_no_record() -> None:
    lost, disk, seen = "new\n\ufffd\n".encode(), b"new\n\xff\n", b"old\n\xff\n"
    before = "old\n\ufffd\n".encode()
    assert verdict(disk, seen, before, lost) == (seen, disk, PAYLOAD)
    assert verdict(disk, before=before, after=lost) == (UNKNOWN, disk, NONE)
    assert verdict(b"other\n", before=before, after=lost) == (UNKNOWN, b"other\n", NONE)
    # a file may hold that very character
    assert verdict(lost, before=before, after=lost) == (before, lost, PAYLOAD)


@pytest.mark.parametrize(
    ("text", "model", "wanted"),
    [
        (b"a\nb\n", b"x\r\n", b"a\r\nb\r\n"),
        (b"a\nb\n", b"x\r\ny\n", b"a\nb\n"),
        (b"a\r\n", b"x\r\n", b"a\r\n"),
        (b"a\n", MARK + b"x\n", MARK + b"a\n"),
        (MARK + b"a\n", MARK + b"x\n", MARK + b"a\n"),
        (b"a\n", b"", b"a\n"),
    ],
)
def test_in_style_of(text: bytes, model: bytes, wanted: bytes) -> None:
    assert in_style_of(text, model) == wanted


@given(st.text(max_size=30).filter(lambda text: "\r" not in text and "\ufeff" not in text))
def test_styles_are_the_same_text(text: str) -> None:
    raw = text.encode("utf-8", "surrogatepass")
    assert same(raw, raw.replace(b"\n", b"\r\n"))
    assert same(raw, MARK + raw)


@given(st.binary(max_size=30), st.binary(max_size=30))
def test_same_is_an_equivalence_of_normal_forms(a: bytes, b: bytes) -> None:
    assert same(a, a)
    assert same(a, b) == same(b, a) == (normal(a) == normal(b))


@pytest.mark.parametrize("other", [b"", None, UNKNOWN])
def test_an_unknown_text_equals_nothing(other: Text) -> None:
    assert not same(UNKNOWN, other)
    assert not same(other, UNKNOWN)


def test_an_absent_file_is_not_an_empty_one() -> None:
    assert same(None, None)
    assert not same(None, b"")


TOLD = st.none() | st.binary(max_size=12) | st.just(UNKNOWN)


@given(st.none() | st.binary(max_size=12), TOLD, TOLD, TOLD, st.booleans())
def test_what_is_exact_is_known(
    disk: bytes | None, seen: Text, before: Text, after: Text, alone: bool
) -> None:
    found = texts_of(disk, seen, before, after, alone, chooser(None))
    if found.exact != NONE:
        assert not isinstance(found.before, UnknownText)
        assert not isinstance(found.after, UnknownText)
    if found.exact == WINDOW:
        assert (found.before, found.after) == (seen, disk)
    if same(after, disk):
        assert found.after == disk


def test_an_open_call_on_a_long_path_is_known(tmp_path: Path) -> None:
    """Each byte of a path that is not ASCII takes up to six characters in the line that names it."""
    folder = tmp_path / "/".join(["é" * 120] * 12)
    lay, file = Layout(str(tmp_path), MAIN), f"{folder}/f"
    path = os.fsencode(file[len(str(tmp_path)) + 1 :])
    target = Target(Place(str(tmp_path), str(tmp_path), str(tmp_path)), path, file)
    known = Record("S1", "edit", None, None, NONE)
    assert not record.is_echo(lay, "S1", known, {}, target)
    record.remember(lay, "S1", Event("pre", "S1", tool="Edit", call="c1"), target)
    assert record.is_echo(lay, "S1", known, {}, target)
    (kept,) = [f"{at}/{name}" for at, _, names in os.walk(lay.calls) for name in names]
    assert record.path_of_call(kept) == record.path_text(path)
