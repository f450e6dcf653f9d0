"""The three counts of a finished answer, and its blocks; each fails with its count taken out."""

from gitralph.lines.net import caught
from gitralph.lines.terms import Step
from tests.lines.texts import text

HEAD = text("one line", "two lines", "three lines")
MINE = text("one line", "mine is here", "two lines", "three lines")
BOTH = text("one line", "mine is here", "two lines", "yours is there", "three lines")
STEPS = [Step("0", "s1", HEAD, MINE), Step("1", "s2", MINE, BOTH)]


def test_an_answer_with_the_sessions_own_line_passes() -> None:
    assert caught(HEAD, MINE, BOTH, STEPS, {"s1"}) is None


def test_brought_a_line_of_another() -> None:
    assert caught(HEAD, BOTH, BOTH, STEPS, {"s1"}) == b"yours is there"


def test_brought_a_line_that_nobody_wrote() -> None:
    made = text("one line", "made up by a tool", "two lines", "three lines")
    assert caught(HEAD, made, BOTH, STEPS, {"s1"}) == b"made up by a tool"


def test_brought_a_line_that_a_person_took_away() -> None:
    disk = text("one line", "two lines", "yours is there", "three lines")
    assert caught(HEAD, MINE, disk, STEPS, {"s1"}) == b"mine is here"


def test_a_line_that_a_person_corrected_comes_where_corrections_stay_out() -> None:
    disk = text("one line", "mine is here now", "two lines", "yours is there", "three lines")
    assert caught(HEAD, MINE, disk, STEPS, {"s1"}) == b"mine is here"
    assert caught(HEAD, MINE, disk, STEPS, {"s1"}, strict=True) is None


def test_brought_a_line_that_another_recorded_taking_passes() -> None:
    disk = text("one line", "two lines", "yours is there", "three lines")
    assert caught(HEAD, MINE, disk, [*STEPS, Step("2", "s2", BOTH, disk)], {"s1"}) is None


def test_taken_a_line_that_it_did_not_take() -> None:
    less = text("one line", "mine is here", "three lines")
    assert caught(HEAD, less, BOTH, STEPS, {"s1"}) == b"two lines"


def test_taken_a_line_under_what_is_superseded_passes() -> None:
    """Where the session replaced what a superseded session had put there, by a plain diff."""
    theirs, disk = (text("one line", line, "three lines") for line in ("yours stood there", "mine is here"))
    steps = [Step("0", "s2", HEAD, theirs), Step("1", "s1", theirs, disk)]
    assert caught(HEAD, disk, disk, steps, {"s1"}) == b"two lines"
    assert caught(HEAD, disk, disk, steps, {"s1"}, (), {b"two lines": {"s2"}}) is None
    assert caught(HEAD, disk, disk, steps, {"s1"}, (), {b"two lines": {"s3"}}) == b"two lines"
    less = text("one line", "three lines")
    steps = [Step("0", "s2", HEAD, less), Step("1", "s1", less, disk)]
    assert caught(HEAD, disk, disk, steps, {"s1"}, (), {b"two lines": {"s2"}}) == b"two lines"


def test_a_line_of_the_record_does_not_come_where_head_has_what_was_put_in_its_place() -> None:
    theirs = text("one line", "yours is there", "two lines", "three lines")
    steps = [Step("0", "s1", HEAD, MINE), Step("1", "s2", MINE, theirs)]
    assert caught(HEAD, MINE, theirs, steps, {"s1"}) is None
    both = text("one line", "yours is there", "mine is here", "two lines", "three lines")
    assert caught(theirs, both, theirs, steps, {"s1"}) == b"mine is here"


def test_number_a_line_twice() -> None:
    twice = text("one line", "mine is here", "two lines", "mine is here", "three lines")
    assert caught(HEAD, twice, BOTH, STEPS, {"s1"}) == b"mine is here"


def test_many_lines_are_counted_as_few_are() -> None:
    """Either way of counting them says the same."""
    own = [f"line {n} of many" for n in range(20)]
    disk = text("one line", *own, "two lines", "three lines")
    steps = [Step("0", "s1", HEAD, disk)]
    assert caught(HEAD, disk, disk, steps, {"s1"}) is None
    doubled = text("one line", *own, "two lines", "three lines", own[3])
    assert caught(HEAD, doubled, disk, steps, {"s1"}) == own[3].encode()


def test_of_an_included_session_an_earlier_piece_may_go_without_a_later_one() -> None:
    """With `--include-entangled`: the line stands under that session's own recorded edit."""
    changed = text("one line", "mine is here", "two lines", "yours is there", "and changed", "three lines")
    before = text("one line", "mine is here", "two lines", "yours is there", "and more", "three lines")
    steps = [*STEPS[:1], Step("1", "s2", MINE, before), Step("2", "s2", before, changed)]
    assert caught(HEAD, before, changed, steps, {"s1"}, ("s2",)) is None
    assert caught(HEAD, before, changed, steps, {"s1", "s2"}) == b"and more"


def test_a_word_of_a_language_in_two_lines_makes_no_version_of_one() -> None:
    """Of two words one that tells is half a line; "true" tells nothing."""
    for word, found in (("true", None), ("port_80", b"compress port_80")):
        head = text(f"debug {word}", "two lines")
        disk = text("debug false", "two lines", f"compress {word}")
        made = text(f"debug {word}", "two lines", f"compress {word}")
        steps = [Step("0", "s1", text("debug false", "two lines"), disk)]
        assert caught(head, made, disk, steps, {"s1"}) == found
