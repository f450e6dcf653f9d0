"""HEAD at any text, such as a squash of a part of the edits: each still commits what is its own."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gitralph.lines.choose import separate
from gitralph.lines.order import chain
from gitralph.lines.terms import LEFT_OUT, Separation, Step
from gitralph.lines.text import split_lines
from tests.lines.texts import text

BASE = [f"base {n}" for n in range(8)]


def told(head: list[str], file: list[str], *edits: tuple[str | None, list[str], list[str]]) -> Separation:
    """What s1 may commit: `edits` are owner, text before and text after."""
    steps = [Step(str(n), owner, text(*old), text(*new)) for n, (owner, old, new) in enumerate(edits)]
    return separate(text(*head), chain(steps, text(*BASE)), text(*file), owners={"s1"})


def put(at: int, *lines: str, gone: int = 0, of: list[str] = BASE) -> list[str]:
    return [*of[:at], *lines, *of[at + gone :]]


def test_an_edit_goes_onto_a_head_that_no_step_knows() -> None:
    """HEAD was squashed to a text between two edits of another."""
    head = put(6, "s2 later", gone=1)
    one = put(2, "s1 word", gone=1)
    both = put(6, "s2 first", gone=1, of=one)
    found = told(head, put(6, "s2 later", gone=1, of=one), ("s1", BASE, one), ("s2", one, both))
    assert found.text == text(*put(2, "s1 word", gone=1, of=head))


def test_both_sides_of_a_conflict_are_left_alone() -> None:
    """HEAD has another line where the owner wrote his."""
    one = put(2, "s1 word", gone=1)
    assert told(put(2, "other word", gone=1), one, ("s1", BASE, one)).refused


def test_a_line_comes_back_without_the_uncommitted_ones_that_went_with_it() -> None:
    """It is HEAD's line again: who removed it then does not commit what a person did with it later."""
    others = put(3, "s2 one", "s2 two")
    less = put(2, gone=1)
    back = put(3, "by hand")
    both = [*back, "s3 word"]
    found = told(
        [*BASE, "s3 word"],
        put(2, "mine", gone=1, of=both),
        ("s2", BASE, others),
        ("s1", others, less),
        (None, less, back),
        ("s3", back, both),
    )
    assert found.text == text(*BASE, "s3 word")


def test_nothing_left_of_the_owners_is_an_answer() -> None:
    """A stash took his line away: HEAD's text, and nothing taken."""
    one = put(2, "s1 word", gone=1)
    found = told(
        BASE, put(5, "s2 word"), ("s1", BASE, one), (None, one, BASE), ("s2", BASE, put(5, "s2 word"))
    )
    assert found.text == text(*BASE)


def test_a_line_that_two_wrote_is_whose_it_was_last() -> None:
    """s2 had written the same line, and taken it back; who only undoes what he did himself writes nothing."""
    one, other = put(2, "one word"), put(2, "other word")
    assert told(BASE, one, ("s2", BASE, one), ("s2", one, BASE), ("s1", BASE, one)).text == text(*one)
    undone = ("s2", BASE, one), ("s1", one, other), ("s1", other, one)
    assert told(BASE, one, *undone).text == text(*BASE)


def test_a_line_that_one_wrote_twice_goes_twice() -> None:
    one = put(2, "s1 word", of=put(6, "s1 word"))
    assert told(BASE, one, ("s1", BASE, one)).text == text(*one)


def test_a_line_that_moved_is_no_line_that_came() -> None:
    """s2 moved a block, s1 wrote beside it: counts do not see the move."""
    moved = [*BASE[4:6], *BASE[:4], *BASE[6:]]
    one = put(1, "s1 word", of=moved)
    assert told(BASE, one, ("s2", BASE, moved), ("s1", moved, one)).refused


def test_a_removal_of_what_a_person_made_of_heads_line_leaves_that_to_the_person() -> None:
    """The owner removed the indented line, and HEAD has its old form still: the person took that one."""
    indented = put(3, "  base 3", gone=1)
    found = told(BASE, put(3, gone=1), (None, BASE, indented), ("s1", indented, put(3, gone=1)))
    assert found.text == text(*BASE)


def test_a_write_from_an_old_read_is_left_refused() -> None:
    """To commit the rest would bless what it threw away."""
    one, other = put(2, "s2 word"), put(6, "s1 word")
    steps = [
        Step("0", "s2", text(*BASE), text(*one)),
        Step("1", "s1", text(*BASE), text(*other), over=("0",)),
    ]
    assert separate(text(*BASE), steps, text(*other), owners={"s1"}).refused
    fresh = Step("1", "s1", text(*BASE), text(*other))
    found = separate(text(*BASE), [steps[0], fresh], text(*other), owners={"s1"})
    assert found.text == text(*other)


def test_a_line_that_another_replaced_goes_where_that_one_stands() -> None:
    """s2's pending line stands in the place of s1's: s1's is committed, and s2's can follow."""
    one, two = put(2, "s1 word", gone=1), put(2, "s2 word", gone=1)
    found = told(BASE, two, ("s1", BASE, one), ("s2", one, two))
    assert found.text == text(*one)


def test_a_line_that_another_replaced_and_head_passed_over_stays_away() -> None:
    """HEAD has s2's line already."""
    one, two = put(2, "s1 word", gone=1), put(2, "s2 word", gone=1)
    found = told(two, two, ("s1", BASE, one), ("s2", one, two))
    assert found.text == text(*two)


def test_what_nobody_took_out_of_a_block_follows() -> None:
    """A person removed one line of s1's block, and a brace."""
    block = put(3, "s1 first", "}", "s1 second")
    left = put(3, "s1 first")
    found = told(BASE, left, ("s1", BASE, block), (None, block, left))
    assert found.text == text(*left)


def test_what_nobody_rewrote_is_gone() -> None:
    """Somebody wrote another line in the place of s1's."""
    one, other = put(3, "s1 first"), put(3, "other text")
    found = told(BASE, other, ("s1", BASE, one), (None, one, other))
    assert found.text == text(*BASE)
    assert [note.why.kind in LEFT_OUT for note in found.notes] == [True]


WORDS = st.integers(0, 99)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["s1", "s2", None]), WORDS, st.integers(0, 2), st.integers(0, 2)),
        max_size=8,
    ),
    st.lists(st.booleans(), max_size=30),
    st.lists(st.integers(0, 8), max_size=3),
)
def test_only_own_lines_come_and_go(
    edits: list[tuple[str | None, int, int, int]], kept: list[bool], back: list[int]
) -> None:
    """Whatever HEAD holds of all texts, an answer brings and takes only what s1 wrote and took."""
    now, steps, texts = list(BASE), [], [list(BASE)]
    took, wrote = set[str](), set[str]()
    under = dict[str, set[str]]()  # what stood where a line was written: it may go with who superseded that
    for number, (owner, place, gone, new) in enumerate(edits):
        at = place % (len(now) + 1)
        fresh = [f"{owner or 'h'} {number} {n}" for n in range(new)]
        after = [*now[:at], *fresh, *now[at + gone :]]
        below = {line for one in now[at : at + gone] for line in (one, *under.get(one, ()))}
        under |= dict.fromkeys(fresh, below)
        if number in back:
            after, fresh, owner = texts[place % len(texts)], [], None
        if owner == "s1":
            took.update(below)
            wrote.update(fresh)
        if after != now:
            steps.append(Step(str(number), owner, text(*now), text(*after)))
            texts.append(after)
        now = after
    lines = list(dict.fromkeys(line for one in texts for line in one))
    head = [line for line, keep in zip(lines, [*kept, *[True] * len(lines)], strict=False) if keep]
    found = separate(text(*head), chain(steps, text(*BASE)), text(*now), owners={"s1"})
    if not found.refused:
        made = [line.decode() for line in split_lines(found.text)]
        assert set(made) - set(head) <= wrote
        assert set(head) - set(made) <= took
