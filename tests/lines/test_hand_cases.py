"""The twenty hand cases of the design document, each named after its entry."""

from __future__ import annotations

from itertools import permutations

import pytest

from gitralph.lines.choose import separate
from gitralph.lines.terms import Step
from tests.lines.world import World, line, numbered

TEN = numbered(10)


def test_neighbouring_lines() -> None:
    world = World(TEN)
    world.swap("b", line(6), b"six by b\n")
    world.swap("a", line(5), b"five by a\n")
    assert world.commit("a").text == TEN.replace(line(5), b"five by a\n")
    assert world.commit("b").text == world.disk


@pytest.mark.parametrize("order", list(permutations("ab")))
def test_both_append_at_the_end(order: tuple[str, ...]) -> None:
    world = World(TEN)
    world.edit("a", TEN + b"entry of a\n")
    world.edit("b", TEN + b"entry of a\nentry of b\n")
    first = world.commit(order[0]).text
    assert first == TEN + b"entry of %s\n" % order[0].encode()
    assert world.commit(order[1]).text == world.disk


def test_append_without_a_final_newline() -> None:
    world = World(b"one\ntwo")
    world.edit("a", b"one\ntwo\nby a")
    world.edit("b", b"one\ntwo\nby a\nby b")
    assert world.commit("b").text == b"one\ntwo\nby b"
    assert world.commit("a").text == world.disk


def test_a_b_a_on_one_line() -> None:
    world = World(TEN)
    world.swap("a", line(5), b"first\n")
    world.swap("b", b"first\n", b"second\n")
    world.swap("a", b"second\n", b"first\n")
    assert world.commit("a").text == TEN.replace(line(5), b"first\n")
    assert world.ask("b").text == world.head


def test_b_reverts_a() -> None:
    world = World(TEN)
    world.swap("a", line(5), b"by a\n")
    world.edit("b", TEN)
    assert world.ask("a").text == TEN
    assert world.ask("b").text == TEN


def test_a_reverts_b() -> None:
    world = World(TEN)
    world.swap("b", line(5), b"by b\n")
    world.edit("a", TEN)
    world.swap("a", line(8), b"by a\n")
    assert world.commit("a").text == TEN.replace(line(8), b"by a\n")


def test_a_reverts_b_after_the_commit() -> None:
    world = World(TEN)
    world.swap("b", line(5), b"by b\n")
    world.commit("b")
    world.edit("a", TEN)
    assert world.commit("a").text == TEN


def test_a_edits_inside_bs_new_function() -> None:
    world = World(TEN)
    world.swap("b", line(5), line(5) + b"def f():\n    one\n    two\n")
    world.swap("a", b"    one\n", b"    one changed\n")
    world.refuse("a")
    world.commit("b")
    assert world.commit("a").text == world.disk


def test_b_edits_inside_as() -> None:
    world = World(TEN)
    block = b"def f():\n    one\n    two\n"
    world.swap("a", line(5), line(5) + block)
    world.swap("b", b"    one\n", b"    one changed\n")
    assert world.commit("a").text == TEN.replace(line(5), line(5) + block)


def test_full_rewrite_with_one_line_changed() -> None:
    world = World(TEN)
    world.swap("b", line(2), b"by b\n")
    world.edit("a", bytes(bytearray((world.disk or b"").replace(line(9), b"by a\n"))))
    assert world.commit("a").text == TEN.replace(line(9), b"by a\n")


def test_crlf_file() -> None:
    crlf = TEN.replace(b"\n", b"\r\n")
    world = World(crlf)
    world.swap("a", line(5)[:-1], b"by a")
    world.swap("b", line(6)[:-1], b"by b")
    assert world.commit("a").text == crlf.replace(line(5)[:-1], b"by a")


def test_crlf_file_without_a_newline_at_its_end() -> None:
    """The editor ends the last line when a line is added behind it; that is no change of that line."""
    start = b"1\r\n2\r\n3"
    world = World(start)
    world.edit("a", b"1\r\n2\r\n3 by a")
    world.edit("b", b"1\r\n2\r\n3 by a\r\n4 by b")
    assert world.commit("b").text == b"1\r\n2\r\n3\r\n4 by b"
    assert world.commit("a").text == world.disk
    world.edit("a", b"1\r\n2\r\n3 by a\r\n")
    assert world.commit("a").text == world.disk


def test_mixed_line_ends() -> None:
    mixed = TEN.replace(line(5), line(5)[:-1] + b"\r\n").replace(line(7), line(7)[:-1] + b"\r\n")
    world = World(mixed)
    world.swap("a", line(5)[:-1] + b"\r", b"by a\r")
    world.swap("b", line(8), line(8) + b"by b\r\n")
    assert world.commit("b").text == mixed.replace(line(8), line(8) + b"by b\r\n")
    assert world.commit("a").text == world.disk


def test_checkout_drops_as_edit() -> None:
    world = World(TEN)
    world.swap("a", line(5), b"by a\n")
    world.user(TEN)
    assert world.ask("a").text == TEN
    world.swap("a", line(8), b"eight by a\n")
    assert world.commit("a").text == TEN.replace(line(8), b"eight by a\n")


def test_stash_and_pop() -> None:
    world = World(TEN)
    world.swap("a", line(5), b"by a\n")
    world.swap("b", line(8), b"by b\n")
    both = world.disk
    world.user(TEN)
    assert world.ask("a").text == TEN
    world.user(both)
    assert world.commit("a").text == TEN.replace(line(5), b"by a\n")
    assert world.commit("b").text == both


def test_new_file_by_a_extended_by_b() -> None:
    world = World(None)
    world.edit("a", b"one by a\ntwo by a\n")
    world.edit("b", b"one by a\ntwo by a\nthree by b\n")
    assert world.refuse("b").left[0].sessions == ("a",)
    assert world.commit("a").text == b"one by a\ntwo by a\n"
    assert world.commit("b").text == world.disk


def test_delete_by_b_while_a_has_edits_pending() -> None:
    world = World(TEN)
    world.swap("a", line(5), b"by a\n")
    world.edit("b", None)
    world.refuse("b", reason="contested")
    assert world.commit("a").text == TEN.replace(line(5), b"by a\n")
    assert world.commit("b").text is None


def test_delete_alone() -> None:
    world = World(TEN)
    world.edit("b", None)
    assert world.commit("b").text is None


def test_rename_while_another_edits() -> None:
    old, new = World(TEN), World(None)
    old.swap("a", line(5), b"by a\n")
    new.edit("b", old.disk)
    old.edit("b", None)
    old.refuse("b", reason="contested")


def test_mode_beside_content() -> None:
    """A change of mode is a step whose texts are equal: it has no unit."""
    world = World(TEN)
    world.swap("a", line(5), b"by a\n")
    world.edit("b", world.disk)
    assert world.ask("b").taken == ()
    assert world.commit("a").text == world.disk


def test_human_before_after_and_between() -> None:
    world = World(numbered(30))
    world.swap(None, line(3), b"before\n")
    world.swap("a", line(10), b"by a\n")
    world.swap(None, line(17), b"between\n")
    world.swap("a", line(24), b"again by a\n")
    world.swap(None, line(28), b"after\n")
    mine = numbered(30).replace(line(10), b"by a\n").replace(line(24), b"again by a\n")
    assert world.commit("a").text == mine


def test_two_moves_of_one_block() -> None:
    world = World(numbered(60))
    block = line(10) + line(11) + line(12)
    world.edit("a", numbered(60).replace(block, b"").replace(line(40), line(40) + block))
    world.edit("b", numbered(60).replace(block, b"").replace(line(55), line(55) + block))
    answer = world.ask("b")
    assert answer.refused
    world.commit("a")
    assert world.commit("b").text == world.disk


def test_same_text_added_by_both() -> None:
    world = World(numbered(20))
    world.swap("a", line(5), line(5) + b"import os\n")
    world.swap("b", line(15), line(15) + b"import os\n")
    assert world.commit("b").text == numbered(20).replace(line(15), line(15) + b"import os\n")
    assert world.commit("a").text == world.disk


def test_created_and_deleted_before_the_commit() -> None:
    world = World(None)
    world.edit("a", b"text\n")
    world.edit("a", None)
    answer = world.commit("a")
    assert (answer.text, answer.taken) == (None, ())


def test_no_steps_at_all() -> None:
    assert separate(b"x\n", [], b"y\n", owners=("a",)).text == b"x\n"
    step = Step("k0", "a", None, b"x\n")
    assert separate(None, [step], b"x\n", owners=("a",)).text == b"x\n"
