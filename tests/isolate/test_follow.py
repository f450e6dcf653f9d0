"""What somebody without a session did to a session's pending lines goes along with them."""

from gitralph.lines import separate  # FIXME
from gitralph.lines.terms import Step


def test_a_correction_of_a_line_that_its_session_rewrote_and_put_back_is_followed() -> None:
    """The rewrite is reverted, the line is not: a formatter that indents it corrects the session's line."""
    texts = [b"one\ntwo\nthree\n", b"one\ntwo by S1\nthree\n", b"one\nother words\n{\n}\nthree\n"]
    steps = [Step(str(n), "S1", texts[a], texts[b]) for n, (a, b) in enumerate([(0, 1), (1, 2), (2, 1)])]
    formatted = texts[1].replace(b"two by", b"  two by")
    answer = separate(texts[0], steps, formatted, committed=(), owners={"S1"}, follow=True)
    assert answer.text == formatted
    assert "followed" in [note.kind for note in answer.notes]


def test_a_change_of_a_rewrite_that_is_gone_is_not_followed() -> None:
    """Where a person took the whole edit back, what else he wrote there is his."""
    texts = [b"one\ntwo\nthree\n", b"one\ntwo\nnew line\nthree\n"]
    changed = b"one\ntwo\na person's\nthree\n"
    steps = [Step("0", "S1", texts[0], texts[1]), Step("1", "S1", texts[1], texts[0])]
    answer = separate(texts[0], steps, changed, committed=(), owners={"S1"}, follow=True)
    assert answer.text == texts[0]


def test_what_a_person_writes_around_the_last_brace_of_a_block_is_within_it_or_not() -> None:
    """The brace stays the session's: what came before it goes along, what came behind it does not."""
    head = b"one\n}\ntwo\n"
    edited = head + b"three\n}\n"
    there = head + b"three\na person's first\n}\na person's second\n"
    steps = [Step("0", "S1", head, edited)]
    answer = separate(head, steps, there, committed=(), owners={"S1"}, follow=True)
    assert answer.text == head + b"three\na person's first\n}\n"


def test_what_git_put_back_of_a_replacement_leaves_the_rest_of_it() -> None:
    """One line of two came back, and nothing else was written: the other one's removal is the session's."""
    head = b"}\nold words\n}\nother words\nlast\n"
    edited = b"}\nnew text\n}\nlast\n"
    there = b"}\nold words\n}\nlast\n"
    steps = [Step("0", "S1", head, edited)]
    answer = separate(head, steps, there, committed=(), owners={"S1"}, follow=True, unsure=lambda _: True)
    assert answer.text == there


def test_text_in_the_place_of_a_brace_is_no_correction_of_it() -> None:
    """Somebody may have removed the brace, and written later."""
    head = b"one\ntwo\n"
    steps = [Step("0", "S1", head, head + b"return\n{\n")]
    for there, goes in ((b"a person's words\n", False), (b"return what a person wants\n", True)):
        answer = separate(head, steps, head + there, committed=(), owners={"S1"}, follow=True)
        assert (b"person" in (answer.text or b"")) is goes


def test_lines_that_git_may_have_put_away_are_no_correction() -> None:
    """A stash that keeps the index leaves what was staged, and brings the rest back when it is popped."""
    head = b"one\ntwo\n"
    first, rest = b"new line 1\nnew line 2\n", b"new line 3\nnew line 4\n"
    steps = [Step("0", "S1", head, b"one\n" + first + rest + b"two\n")]
    for is_unsure in (True, False):
        answer = separate(
            head,
            steps,
            b"one\n" + first + b"two\n",
            committed=(),
            owners={"S1"},
            follow=True,
            unsure={"0": is_unsure}.__getitem__,
        )
        assert answer.text == b"one\n" + first + b"two\n"
        assert ("followed" in [note.kind for note in answer.notes]) is not is_unsure


def test_a_formatters_change_of_anothers_line_does_not_go_with_the_line_before_it() -> None:
    """HEAD had all of it, and was reset: the other's rewrite is pending, with what was made of it."""
    head = b"one\ntwo\n"
    mine = b"one\nthree words here\ntwo\n"
    theirs, formatted = (mine.replace(b"three words", each) for each in (b"their words", b"  their words"))
    steps = [
        Step("0", "S1", head, mine),
        Step("1", "S2", mine, theirs),
        Step("g", None, theirs, formatted),
        Step("2", "S1", formatted, b"zero\n" + formatted, seen=True, clean=True),
    ]
    answer = separate(head, steps, b"zero\n" + formatted, committed=(), owners={"S1"}, follow=True)
    assert b"their" not in (answer.text or b"")


def test_what_git_may_have_put_in_the_place_of_a_line_is_no_correction() -> None:
    """A merge replaced one line of two, and a reset left its text in the file; with a word kept it is one."""
    head = b"one\ntwo\n"
    steps = [Step("0", "S1", head, b"one\nmine first\nmine second\ntwo\n")]
    for came, is_unsure, goes in (
        (b"of the merge", True, False),
        (b"of the merge", False, True),
        (b"mine corrected", True, True),
    ):
        there = b"one\nmine first\n" + came + b"\ntwo\n"
        answer = separate(
            head,
            steps,
            there,
            committed=(),
            owners={"S1"},
            follow=True,
            unsure={"0": is_unsure}.__getitem__,
        )
        assert answer.text == (there if goes else b"one\nmine first\ntwo\n")


def test_text_below_a_kept_brace_is_no_correction_of_the_line_above_it() -> None:
    head = b"{\none\n}\ntwo\n"
    steps = [Step("0", "S1", head, head + b"mine alone\n{\n")]
    for there, goes in ((b"{\na person's\n}\n", False), (b"a person's\n{\n", True)):
        answer = separate(head, steps, head + there, committed=(), owners={"S1"}, follow=True)
        assert (b"person" in (answer.text or b"")) is goes


def test_where_a_checkout_may_have_left_no_mark_other_text_is_no_correction() -> None:
    """The path is staged, and `git checkout -- f` may have come before that."""
    head = b"one\ntwo\n"
    steps = [Step("0", "S1", head, head + b"mine alone\n")]
    for came, is_doubtful, goes in (
        (b"a person's\n", True, False),
        (b"a person's\n", False, True),
        (b"mine, corrected\n", True, True),
    ):
        answer = separate(
            head,
            steps,
            head + came,
            committed=(),
            owners={"S1"},
            follow=True,
            doubtful={"0": is_doubtful}.__getitem__,
        )
        assert answer.text == (head + came if goes else head)
