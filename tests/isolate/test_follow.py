"""What somebody without a session did to a session's pending lines goes along with them."""

from gitralph.isolate import Step, separate


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
