"""The two bits of each line, and whose it is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitralph.lines import attempt, choose
from gitralph.lines.order import chain
from gitralph.lines.pieces import Pieces, pieces
from gitralph.lines.terms import UNRECORDED, Step
from gitralph.lines.weave import Weave
from tests.lines.texts import text

BASE = [f"base line {n}" for n in range(5)]


def look(head: list[str], file: list[str], *edits: tuple[str, list[str], list[str]]) -> Pieces:
    steps = [Step(str(n), who, text(*old), text(*new)) for n, (who, old, new) in enumerate(edits)]
    return pieces(text(*head), text(*file), chain(steps, steps[0].before))


def whose(known: Pieces) -> dict[str, tuple[str, str | None]]:
    """Each line that HEAD and the file do not share: what became of it, and by whom."""
    lines = [line for line in known.differing() if line > 1]
    return {
        known.weave.content(x).decode(): ("added" if known.is_added(x) else "removed", known.owner(x))
        for x in lines
    }


def test_a_line_is_whose_who_brought_or_took_it_last() -> None:
    one = [*BASE[:2], "new of s1", *BASE[3:]]
    both = [*one[:4], "new of s2"]
    assert whose(look(BASE, both, ("s1", BASE, one), ("s2", one, both))) == {
        "base line 2": ("removed", "s1"),
        "new of s1": ("added", "s1"),
        "base line 4": ("removed", "s2"),
        "new of s2": ("added", "s2"),
    }


def test_what_nobody_recorded_is_nobodys() -> None:
    one = [*BASE, "new of s1"]
    assert whose(look(BASE, ["by hand", *one], ("s1", BASE, one))) == {
        "by hand": ("added", None),
        "new of s1": ("added", "s1"),
    }


def test_a_stash_and_its_pop_leave_each_line_its_owner() -> None:
    one = ["new of s1", *BASE]
    both = [*one, "new of s2"]
    away = [*BASE, "later of s2"]
    back = ["new of s1", *BASE, "new of s2", "later of s2"]
    known = look(BASE, back, ("s1", BASE, one), ("s2", one, both), ("s2", BASE, away))
    assert whose(known)["new of s1"] == ("added", "s1")
    assert whose(known)["new of s2"] == ("added", "s2")


def test_what_a_copy_over_the_file_takes_away_is_nobodys_although_a_record_took_it_before() -> None:
    """s1 undid its line, a checkout brought it back, and the text of another file came over all of it."""
    one = [*BASE[:2], "new of s1", *BASE[2:]]
    both = [*one, "new of s2"]
    known = look(one, ["copied", "from elsewhere"], ("s1", BASE, one), ("s1", one, BASE), ("s2", one, both))
    assert whose(known)["new of s1"] == ("removed", None)
    known = look(one, [*BASE, "new of s2"], ("s1", BASE, one), ("s1", one, BASE), ("s2", one, both))
    assert whose(known)["new of s1"] == ("removed", "s1")


def test_a_line_of_head_alone_is_nobodys_to_remove() -> None:
    one = [*BASE, "new of s1"]
    known = look(["pulled", *BASE], one, ("s1", BASE, one))
    assert whose(known)["pulled"] == ("removed", None)


def test_what_both_have_is_no_piece() -> None:
    one = [*BASE, "new of s1"]
    assert whose(look(one, one, ("s1", BASE, one))) == {}


WORDS = st.sampled_from(["alpha", "beta", "gamma", "delta", "}", ""])
TEXTS = st.lists(WORDS, max_size=7)
OWNERS = st.sampled_from(["s1", "s2", "s3"])


@st.composite
def histories(draw: st.DrawFn) -> tuple[bytes, list[Step], bytes]:
    """A start, edits of three sessions, with changes of nobody between and after them."""
    start = now = text(*draw(TEXTS))
    steps = list[Step]()
    for number, who in enumerate(draw(st.lists(OWNERS, min_size=1, max_size=4))):
        before = text(*draw(TEXTS)) if draw(st.integers(0, 4)) == 0 else now
        now = text(*draw(TEXTS))
        steps.append(Step(str(number), who, before, now))
    return start, chain(steps, start), text(*draw(TEXTS)) if draw(st.booleans()) else now


def test_a_line_that_one_gap_takes_away_and_brings_back_stays() -> None:
    """Equal lines shift: three hunks of the gap, and one brings back what the other takes."""
    step = Step("0", "s1", b"alpha\n", text("alpha", "beta", "beta", *["alpha"] * 4))
    known = pieces(b"", text("beta", *["alpha"] * 6), chain([step], b""))
    assert all_pieces(known) == known.weave.shown


def all_pieces(known: Pieces) -> list[int]:
    choice = attempt.Attempt(known, {"s1"})
    choice.wanted = set(range(len(known.weave.units)))
    return [x for x in known.weave.order() if choice.shows(x)]


@given(histories())
@settings(max_examples=300, deadline=None)
def test_all_pieces_give_the_file(case: tuple[bytes, list[Step], bytes]) -> None:
    head, steps, disk = case
    known = pieces(head, disk, steps)
    assert all_pieces(known) == known.weave.shown


@given(histories())
@settings(max_examples=300, deadline=None)
def test_nobodys_pieces_give_head(case: tuple[bytes, list[Step], bytes]) -> None:
    head, steps, disk = case
    answer = choose.separate(head, steps, disk, owners={"s4"})
    assert not answer.refused
    assert answer.text == head


@given(histories())
@settings(max_examples=300, deadline=None)
def test_every_line_of_an_answer_is_of_head_the_file_or_the_records(
    case: tuple[bytes, list[Step], bytes],
) -> None:
    head, steps, disk = case
    answer = choose.separate(head, steps, disk, owners={"s1"}, include_entangled=True)
    known = {
        line for step in steps for each in (step.before, step.after) for line in (each or b"").split(b"\n")
    }
    known |= {*head.split(b"\n"), *disk.split(b"\n")}
    assert set((answer.text or b"").split(b"\n")) <= known
    assert set(answer.includes) <= {"s2", "s3", UNRECORDED}


def test_a_walk_between_two_lines_in_the_wrong_order_ends() -> None:
    """It took all memory: where HEAD's order puts lines otherwise, callers may ask so."""
    weave = Weave(b"first\nsecond\nthird\n")
    first, second, third = weave.order()
    assert list(weave.between(first, third)) == [second]
    assert list(weave.between(second, first)) == [third]


@pytest.mark.parametrize("by_hand", [[], ["by hand"]])
@pytest.mark.parametrize("back", [BASE[2:3], BASE[2:4]])
def test_of_a_removal_of_which_a_person_puts_a_half_back_the_rest_is_still_its_sessions(
    by_hand: list[str], back: list[str]
) -> None:
    """Nobody checked the file out, also where he writes a line elsewhere."""
    known = look(BASE, [*by_hand, BASE[0], *back], ("s1", BASE, BASE[:1]))
    gone = [line for line in BASE[1:] if line not in back]
    added: dict[str, tuple[str, str | None]] = dict.fromkeys(by_hand, ("added", None))
    assert whose(known) == added | dict.fromkeys(gone, ("removed", "s1"))


def test_a_checkout_and_a_person_s_line_in_it_bring_back_the_very_lines() -> None:
    """What another session takes away then is its own, and none of nobody's."""
    mixed = ["by hand", *BASE[1:]]
    known = look(BASE, ["by hand", *BASE[3:]], ("s1", BASE, BASE[4:]), ("s2", mixed, ["by hand", *BASE[3:]]))
    assert whose(known) == {
        BASE[0]: ("removed", None),
        "by hand": ("added", None),
        BASE[1]: ("removed", "s2"),
        BASE[2]: ("removed", "s2"),
    }


def test_what_stands_all_the_while_is_not_written_anew_by_who_brings_the_lines_beside_it_back() -> None:
    """The file has the first line of the block and below it what the block had replaced."""
    mine = [BASE[0], "first of s1", "second of s1", BASE[4]]
    known = look(BASE, ["by hand", BASE[0], "first of s1", *BASE[1:]], ("s1", BASE, mine))
    assert whose(known)["first of s1"] == ("added", "s1")


def test_the_pieces_of_one_gap_have_names_of_their_own() -> None:
    """Also where the gap is read as two, a way back and a change."""
    known = look(BASE, ["by hand", *BASE[1:]], ("s1", BASE, BASE[4:]))
    names = [unit.key for unit in known.weave.units if unit.owner is None and unit.key]
    assert len(names) > 1
    assert names == [f"g:end.{n}" for n in range(len(names))]
