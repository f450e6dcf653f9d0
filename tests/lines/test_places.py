"""Where one text can be read in several ways, a removal takes the lines of as few owners as it can."""

import pytest

from gitralph.lines.choose import separate
from gitralph.lines.terms import Step

HEAD = b"one\n}\ntwo\n}\nfive\nsix\n"
BEFORE = b"}\nthree\nfour\n"
BEHIND = b"three\nfour\n}\n"


@pytest.mark.parametrize("who", [None, "S2"])
@pytest.mark.parametrize("block", [BEFORE, BEHIND])
@pytest.mark.parametrize("other", [b"one\n", b"six\n"])
def test_a_block_taken_out_beside_another_change_is_taken_out_whole(
    other: bytes, block: bytes, who: str | None
) -> None:
    """The brace that went is the block's, not HEAD's: nothing is left of an edit to commit."""
    place = b"two\n" if block == BEFORE else b"two\n}\n"
    edited = HEAD.replace(place, place + block)
    changed = HEAD.replace(other, b"another\n")
    steps = [
        Step("0", "S1", HEAD, edited),
        Step("1", who, edited, changed),
        Step("2", "S1", changed, changed + b"last\n"),
    ]
    answer = separate(HEAD, steps, changed + b"last\n", owners={"S1"})
    assert answer.text == HEAD + b"last\n"


@pytest.mark.parametrize("other", [b"one\n", b"six\n"])
def test_the_same_in_front_of_another_sessions_block(other: bytes) -> None:
    """The other session's brace stays, and is committed with its block."""
    theirs = HEAD.replace(b"five\n", b"}\nseven\nfive\n")
    edited = theirs.replace(b"}\nseven\n", b"}\neight\n}\nseven\n")
    changed = theirs.replace(other, b"another\n")
    steps = [
        Step("0", "S2", HEAD, theirs),
        Step("1", "S1", theirs, edited),
        Step("2", None, edited, changed),
        Step("3", "S1", changed, changed + b"last\n"),
    ]
    answers = [separate(HEAD, steps, changed + b"last\n", owners={who}) for who in ("S1", "S2")]
    assert [one.text for one in answers] == [HEAD + b"last\n", theirs]
