"""What somebody without a session did to a session's pending lines goes along with them."""

import pytest

from gitralph.base.kinds import Kind
from gitralph.lines.choose import separate
from gitralph.lines.formatting import told_apart
from gitralph.lines.terms import LEFT_OUT, UNRECORDED, Step


def test_a_correction_of_a_line_that_its_session_rewrote_and_put_back_is_followed() -> None:
    """The rewrite is reverted, the line is not: a formatter that indents it corrects the session's line."""
    texts = [b"one\ntwo\nthree\n", b"one\ntwo by S1\nthree\n", b"one\nother words\n{\n}\nthree\n"]
    steps = [Step(str(n), "S1", texts[a], texts[b]) for n, (a, b) in enumerate([(0, 1), (1, 2), (2, 1)])]
    formatted = texts[1].replace(b"two by", b"  two by")
    answer = separate(texts[0], steps, formatted, owners={"S1"})
    assert answer.text == formatted
    assert Kind.CORRECTED in [note.why.kind for note in answer.notes]


def test_a_change_of_a_rewrite_that_is_gone_is_not_followed() -> None:
    """Where a person took the whole edit back, what else he wrote there is his."""
    texts = [b"one\ntwo\nthree\n", b"one\ntwo\nnew line\nthree\n"]
    changed = b"one\ntwo\na person's\nthree\n"
    steps = [Step("0", "S1", texts[0], texts[1]), Step("1", "S1", texts[1], texts[0])]
    answer = separate(texts[0], steps, changed, owners={"S1"})
    assert answer.text == texts[0]


def test_what_a_person_writes_around_the_last_brace_of_a_block_is_within_it_or_not() -> None:
    """The brace stays the session's: what came before it goes along, what came behind it does not."""
    head = b"one\n}\ntwo\n"
    edited = head + b"three = 3\n}\n"
    there = head + b"three = 3\na person's first\n}\na person's second\n"
    steps = [Step("0", "S1", head, edited)]
    answer = separate(head, steps, there, owners={"S1"})
    assert answer.text == head + b"three = 3\na person's first\n}\n"


def test_a_replacement_that_is_gone_takes_its_removal_along() -> None:
    """One line of two came back, nothing of what was written is left: the rest is who did that."""
    head = b"}\nold words\n}\nother words\nlast\n"
    edited = b"}\nnew text\n}\nlast\n"
    there = b"}\nold words\n}\nlast\n"
    answer = separate(head, [Step("0", "S1", head, edited)], there, owners={"S1"})
    assert answer.text == head
    assert any(note.why.kind in LEFT_OUT for note in answer.notes)


def test_text_in_the_place_of_a_brace_is_no_correction_of_it() -> None:
    """Somebody may have removed the brace, and written later."""
    head = b"one\ntwo\n"
    steps = [Step("0", "S1", head, head + b"return\n{\n")]
    for there, goes in ((b"a person's words\n", False), (b"return what a person wants\n", True)):
        answer = separate(head, steps, head + there, owners={"S1"})
        assert (b"person" in (answer.text or b"")) is goes


def test_lines_that_somebody_took_out_of_a_block_are_gone() -> None:
    """A person, or a stash that keeps the index; they come back with its pop."""
    head = b"one\ntwo\n"
    first, rest = b"new line 1\nnew line 2\n", b"new line 3\nnew line 4\n"
    whole = b"one\n" + first + rest + b"two\n"
    steps = [Step("0", "S1", head, whole)]
    answer = separate(head, steps, b"one\n" + first + b"two\n", owners={"S1"})
    assert answer.text == b"one\n" + first + b"two\n"
    assert [note.why.kind in LEFT_OUT for note in answer.notes] == [True]
    assert separate(answer.text, steps, whole, owners={"S1"}).text == whole


def test_a_formatters_change_of_anothers_line_does_not_go_with_the_line_before_it() -> None:
    """HEAD had all of it, and was reset: the other's rewrite is pending, with what was made of it."""
    head = b"one\ntwo\n"
    mine = b"one\nthree words here\ntwo\n"
    theirs, formatted = (mine.replace(b"three words", each) for each in (b"their words", b"  their words"))
    steps = [
        Step("0", "S1", head, mine),
        Step("1", "S2", mine, theirs),
        Step("g", None, theirs, formatted),
        Step("2", "S1", formatted, b"zero\n" + formatted, seen=True),
    ]
    answer = separate(head, steps, b"zero\n" + formatted, owners={"S1"})
    assert b"their" not in (answer.text or b"")


@pytest.mark.parametrize(("came", "goes"), [(b"of a merge", False), (b"mine corrected", True)])
def test_other_text_in_the_place_of_a_line_is_no_correction(came: bytes, goes: bool) -> None:
    """Git may have put it there; with a word kept, whoever wrote it saw the line."""
    head = b"one\ntwo\n"
    there = b"one\nmine first\n" + came + b"\ntwo\n"
    steps = [Step("0", "S1", head, b"one\nmine first\nmine second\ntwo\n")]
    answer = separate(head, steps, there, owners={"S1"})
    assert answer.text == (there if goes else b"one\nmine first\ntwo\n")


@pytest.mark.parametrize(("came", "goes"), [(b"a person's\n", False), (b"mine, corrected\n", True)])
def test_other_text_in_the_place_of_the_last_line_is_no_correction(came: bytes, goes: bool) -> None:
    head = b"one\ntwo\n"
    answer = separate(head, [Step("0", "S1", head, head + b"mine alone\n")], head + came, owners={"S1"})
    assert answer.text == (head + came if goes else head)


def test_text_below_a_kept_brace_is_no_correction_of_the_line_above_it() -> None:
    head = b"{\none\n}\ntwo\n"
    steps = [Step("0", "S1", head, head + b"mine alone\n{\n")]
    for there, goes in ((b"{\na person's\n}\n", False), (b"mine, a person's\n{\n", True)):
        answer = separate(head, steps, head + there, owners={"S1"})
        assert (b"person" in (answer.text or b"")) is goes


def test_a_line_that_another_session_rewrote_and_a_person_that_one_is_left_out() -> None:
    """The file has none of it, so that no commit needs it; what else the edit brought goes on its way."""
    head, rest = b"one\ntwo\n", b"first\nthe second\n"
    mine = rest + b"line of S1\n" + head
    theirs, there = (mine.replace(b"line of S1", other) for other in (b"S2 wrote this", b"a person's"))
    steps = [Step("0", "S1", head, mine), Step("1", "S2", mine, theirs)]
    answer = separate(head, steps, there, owners={"S1"})
    assert (answer.text, answer.refused) == (rest + head, False)
    # nothing but that line: nothing is left to commit
    lone = [steps[0]._replace(before=rest + head), steps[1]]
    answer = separate(rest + head, lone, there, owners={"S1"})
    assert (answer.text, answer.taken, answer.refused) == (rest + head, (), False)


def test_a_removal_goes_with_the_line_that_came_for_it() -> None:
    """Another session rewrote that, and a person that one: what went with the first is the person's too."""
    head = b"one\nold 1\nold 2\nold 3\ntwo\n"
    mine, theirs, there = (b"one\n" + other + b"\ntwo\n" for other in (b"of S1", b"by S2", b"a person's"))
    steps = [Step("0", "S1", head, mine), Step("1", "S2", mine, theirs)]
    assert separate(head, steps, there, owners={"S1"}).text == head


def test_a_change_of_a_line_that_came_with_a_moved_file_is_no_correction() -> None:
    """Who moves a file over another has seen both, and wrote none of its lines: they go as they came."""
    there, came = b"one\ntwo\n", b"three words here\nfour\n"
    for now in (b"three words now", b"other text", b"a\nb"):
        changed = came.replace(b"three words here", now)
        answer = separate(
            there, [Step("0", "S1", there, came, came=frozenset(came.split(b"\n")))], changed, owners={"S1"}
        )
        assert (answer.text, answer.includes) == (came, ())


def test_lines_of_a_moved_file_do_not_come_where_a_person_put_the_old_ones_back() -> None:
    there, came, back = b"line 1\nline 2\n", b"three words here\nfour\n", b"line 1\nline two\n"
    answer = separate(
        there, [Step("0", "S1", there, came, came=frozenset(came.split(b"\n")))], back, owners={"S1"}
    )
    assert answer.text == there


CALL = b"    totals = sum_of(items, rates)\n"
LONGER = b"    totals = sum_of(items, rates, currency=wanted, discount=given)\n"
WRAPPED = b"    totals = sum_of(\n        items, rates, currency=wanted, discount=given\n    )\n"


def test_a_formatter_that_wraps_a_line_and_changes_the_one_below_is_followed_for_the_line_alone() -> None:
    """The words say which line became which: the session takes its line, the person the one below."""
    head = b"def total():\n" + CALL + b"    return round( totals )\n"
    disk = b"def total():\n" + WRAPPED + b"\n    return round(totals)\n"
    steps = [Step("0", "S1", head, head.replace(CALL, LONGER))]
    answer = separate(head, steps, disk, owners={"S1"})
    assert answer.text == b"def total():\n" + WRAPPED + b"\n    return round( totals )\n"
    assert [note.why.kind for note in answer.notes] == [Kind.CORRECTED]
    assert separate(answer.text, steps, disk, owners={UNRECORDED}).text == disk


def test_a_session_s_formatter_over_anothers_line_takes_its_own_alone() -> None:
    """S2's line is wrapped by a command of S1's, which also changed the line below: each takes its own."""
    head = b"def total():\n" + CALL + b"    return round( totals )\n"
    before = head.replace(CALL, LONGER)
    disk = b"def total():\n" + WRAPPED + b"    return round(totals)\n"
    steps = [Step("0", "S2", head, before), Step("1", "S1", before, disk, by_shell=True)]
    steps = told_apart(steps, lambda _: set(head.splitlines()))
    assert separate(head, steps, disk, owners={"S2"}).text == disk.replace(
        b"round(totals)", b"round( totals )"
    )
    assert separate(head, steps, disk, owners={"S1"}).text == head.replace(
        b"round( totals )", b"round(totals)"
    )


FIXED = LONGER.replace(b"given", b"granted")


@pytest.mark.parametrize(
    ("old", "new", "rest"),
    [
        (b"%s    print(totals)\n", b"%s    log(totals)\n    show(totals)\n", b"    print(totals)\n"),
        (
            b"    rates = known(request)\n%s",
            b"    who = request\n    rates = look(who)\n%s",
            b"    rates = known",
        ),
    ],
    ids=["below", "above"],
)
def test_who_corrects_a_line_and_changes_the_head_s_beside_it_corrects_the_line(
    old: bytes, new: bytes, rest: bytes
) -> None:
    """In one stroke, and with more lines than before: what keeps half of its words is the session's."""
    head, edited, disk = (
        b"def total():\n" + x + b"    return 1\n" for x in (old % CALL, old % LONGER, new % FIXED)
    )
    answer = separate(head, [Step("0", "S1", head, edited)], disk, owners={"S1"})
    assert answer.text == head.replace(CALL, FIXED)
    assert rest in answer.text
    assert separate(answer.text, [Step("0", "S1", head, edited)], disk, owners={UNRECORDED}).text == disk
