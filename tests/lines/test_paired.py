"""The parts of a hunk in which the same words stand."""

from hypothesis import given
from hypothesis import strategies as st

from gitralph.lines.linediff import paired, parted
from gitralph.lines.text import all_words

LINES = st.lists(st.sampled_from([b"a", b"b", b"a b", b"", b"}", b"(c", b"b, a"]), max_size=6)


def test_a_line_that_is_wrapped_and_the_one_below_it() -> None:
    old = [b"total = sum(one, two)", b"return total"]
    new = [b"total = sum(", b"    one, two", b")", b"", b"return (total)"]
    assert paired(old, new) == [(0, 1, 0, 4), (1, 2, 4, 5)]
    assert paired(new, old) == [(0, 4, 0, 1), (4, 5, 1, 2)]


def test_two_lines_that_became_one_stay_together() -> None:
    assert paired([b"one", b"two", b"three"], [b"one two", b"three"]) == [(0, 2, 0, 1), (2, 3, 1, 2)]


def test_other_words_do_not_pair() -> None:
    assert paired([b"one", b"two"], [b"one", b"too", b"two"]) == [(0, 2, 0, 3)]


@given(LINES, LINES)
def test_the_parts_are_the_whole_and_say_the_same(old: list[bytes], new: list[bytes]) -> None:
    parts = paired(old, new)
    assert [at for a, b, _, _ in parts for at in range(a, b)] == list(range(len(old)))
    assert [at for _, _, c, d in parts for at in range(c, d)] == list(range(len(new)))
    if len(old) != len(new) and all_words(old) == all_words(new):
        assert all(all_words(old[a:b]) == all_words(new[c:d]) for a, b, c, d in parts)


def test_the_lines_on_one_side_part_where_each_is_a_version_of_what_was() -> None:
    old, new = [b"sum(one, two)", b"other words"], [b"sum(one, three)", b"not alike", b"at all"]
    assert parted(old, new, 1, is_above=True) == [(0, 1, 0, 1), (1, 2, 1, 3)]
    assert parted(old[::-1], new[::-1], 1, is_above=False) == [(0, 1, 0, 2), (1, 2, 2, 3)]
    assert parted(old[::-1], new, 1, is_above=False) == [(0, 2, 0, 3)]
    assert parted([b"one", b"two", b"three"], [b"three"], 1, is_above=False) == [(0, 3, 0, 1)]
