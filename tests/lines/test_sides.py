"""A text with git's conflict marks, read as the side that HEAD has."""

import pytest

from gitralph.lines.conflict import heads_side

OURS = b"above\nhead's one\nbelow\n"
CONFLICT = b"above\n<<<<<<< Updated upstream\nhead's one\n=======\nmy own\n>>>>>>> Stashed changes\nbelow\n"
THREE_WAY = CONFLICT.replace(b"=======\n", b"||||||| base\nit was\n=======\n")
OWN = {b"my own"}


@pytest.mark.parametrize("text", [CONFLICT, THREE_WAY], ids=["merge", "diff3"])
def test_it_is_the_first_side(text: bytes) -> None:
    assert heads_side(text, set(), OWN) == OURS
    assert heads_side(text.replace(b"\n", b"\r\n"), set(), {b"my own\r"}) == OURS.replace(b"\n", b"\r\n")
    assert heads_side(text + text, set(), OWN) == OURS + OURS


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"above\nbelow\n",
        CONFLICT.replace(b"my own", b"another's own"),
        CONFLICT.replace(b"=======\n", b""),
        CONFLICT.replace(b">>>>>>> Stashed changes\n", b""),
        CONFLICT.replace(b"my own", b"<<<<<<< my own"),
        CONFLICT.replace(b"above", b">>>>>>> above"),
    ],
)
def test_what_is_no_whole_conflict_of_ones_own_stays(text: bytes) -> None:
    assert heads_side(text, set(), OWN) == text


def test_marks_that_head_has_are_no_marks() -> None:
    assert heads_side(CONFLICT, set(CONFLICT.split(b"\n")), OWN) == CONFLICT


def test_no_file_is_no_file() -> None:
    assert heads_side(None, set(), set()) is None
