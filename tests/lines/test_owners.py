"""Whose each line of the file is, which records wait for a commit, and what may come back."""

from __future__ import annotations

from gitralph.lines import owners
from gitralph.lines.order import chain
from gitralph.lines.pieces import Pieces, pieces
from gitralph.lines.terms import Step
from tests.lines.texts import text

BASE = [f"base line {n}" for n in range(5)]
ONE = [*BASE[:2], "new of one", *BASE[3:]]
BOTH = [*ONE[:4], "new of two"]


def look(
    head: list[str],
    file: list[str],
    *edits: tuple[str, list[str], list[str]],
    heads: tuple[list[str], ...] = (),
) -> Pieces:
    steps = [Step(str(n), who, text(*old), text(*new)) for n, (who, old, new) in enumerate(edits)]
    texts = [text(*one) for one in heads]
    return pieces(text(*head), text(*file), chain(steps, steps[0].before), heads=lambda: texts)


def test_each_line_names_its_record_and_whether_head_has_it() -> None:
    known = look(ONE, BOTH, ("s1", BASE, ONE), ("s2", ONE, BOTH))
    assert [(row.owner, row.key, row.in_head) for row in owners.by_line(known)] == [
        (None, None, True),
        (None, None, True),
        ("s1", "0", True),
        (None, None, True),
        ("s2", "1", False),
    ]


def test_what_nobody_recorded_is_nobody_s() -> None:
    known = look(BASE, [*BOTH, "of a person"], ("s1", BASE, ONE), ("s2", ONE, BOTH))
    assert owners.by_line(known)[-1].owner is None


def test_a_record_waits_until_head_has_it() -> None:
    edits = ("s1", BASE, ONE), ("s2", ONE, BOTH)
    assert owners.pending(look(BASE, BOTH, *edits)) == {"0", "1"}
    assert owners.pending(look(ONE, BOTH, *edits)) == {"1"}
    assert owners.pending(look(BOTH, BOTH, *edits)) == set()
    assert owners.pending(look(BASE, BASE, *edits)) == set()  # stashed away


def test_a_record_waits_though_only_its_removal_shows() -> None:
    assert owners.pending(look(BASE, BASE[1:], ("s1", BASE, BASE[1:]))) == {"0"}


def test_a_record_waits_under_another_s_edit() -> None:
    """Nothing of it stands in the file, and a commit of its session takes it all the same."""
    added = [*BASE, "some words of one that stand here"]
    over = [*BASE, "some words of two that stand here"]
    edits = ("s1", BASE, added), ("s2", added, over)
    assert owners.pending(look(BASE, over, *edits)) == {"0", "1"}
    assert owners.pending(look(added, over, *edits)) == {"1"}


def test_what_a_stash_took_may_come_back() -> None:
    edits = (("s1", BASE, ONE),)
    assert owners.may_return(look(BASE, BASE, *edits))
    assert not owners.may_return(look(ONE, ONE, *edits))


def test_a_removal_that_a_stash_took_may_come_back() -> None:
    assert owners.may_return(look(BASE, BASE, ("s1", BASE, BASE[1:])))


def test_what_came_back_and_was_committed_is_done_with() -> None:
    known = look(BOTH, BOTH, ("s1", BASE, ONE), ("s2", BASE, [*BASE[:4], "new of two"]), ("s2", BOTH, BOTH))
    assert not owners.may_return(known)


def test_what_head_had_and_a_person_replaced_is_done_with() -> None:
    mended = [*BASE[:2], "of a person", *BASE[3:]]
    assert not owners.may_return(look(mended, mended, ("s1", BASE, ONE), heads=(BASE, ONE)))
    assert owners.may_return(look(mended, mended, ("s1", BASE, ONE), heads=(BASE,)))
