"""Units taken out of a file and brought back: hand cases, and random schedules judged word by word."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from gitralph.isolate import Reading, Reversal, Step, bring_back, chain, take_back, undo_undo
from gitralph.isolate.balance import Texts, unbalanced
from gitralph.isolate.build import fold
from gitralph.isolate.reversal import shown_without
from gitralph.isolate.weave import Weave
from tests.isolate import takebacks
from tests.isolate.world import World, line, numbered

FULL = os.environ.get("RALPH_FULL") not in (None, "", "0")


def reading(world: World) -> list[Reading]:
    return [Reading(tuple(chain(world.steps, world.start)), (frozenset(world.committed), frozenset()))]


def take(world: World, who: str, *keys: str, skip: bool = False) -> Reversal:
    """Take back and record it, unless it is refused."""
    found = take_back(world.head, world.disk, reading(world), {who}, set(keys) or None, skip)
    assert found is not None
    record(world, who, found, undoes=found.units)
    return found


def put(world: World, who: str, key: str) -> Reversal:
    """Bring an undo back."""
    found = undo_undo(chain(world.steps, world.start), world.disk, {key})
    assert found is not None
    record(world, who, found, undoes=found.units)
    return found


def record(
    world: World, who: str, found: Reversal, undoes: tuple[str, ...] = (), restores: tuple[str, ...] = ()
) -> None:
    if found.units and not found.refused:
        key = f"k{len(world.steps)}"
        step = Step(key, who, world.disk, found.text, seen=True, undoes=undoes, restores=restores)
        world.steps.append(step)
        world.disk = found.text


def test_what_stays_and_what_comes_back_is_told_by_line() -> None:
    world = World(numbered(4))
    world.swap("A", line(2), b"two\nmore\n")
    found = take(world, "A")
    assert found.lines == (0, line(2)[:-1], 3, 4)
    assert found.complete
    assert world.disk == numbered(4)


def test_an_edit_and_its_undo_leave_nothing_to_commit_and_nothing_to_undo() -> None:
    world = World(numbered(6))
    world.swap("A", line(2), b"two\n")
    world.swap("B", line(5), b"five\n")
    take(world, "A")
    assert world.ask("A").text == world.head
    assert take(world, "A").units == ()
    assert world.commit("B").text == world.disk


def test_after_a_redo_an_edit_is_what_it_was() -> None:
    world = World(numbered(6))
    world.swap("A", line(2), b"two\nmore\n")
    alone = world.ask("A")
    take(world, "A")
    world.swap("B", line(5), b"five\n")
    put(world, "A", "k1")
    again = world.ask("A")
    assert (again.text, again.taken, again.notes) == (alone.text, alone.taken, alone.notes)


def test_one_edit_of_several_goes_and_comes_back() -> None:
    world = World(numbered(6))
    world.swap("A", line(2), b"two\n")
    world.swap("A", line(5), b"five\n")
    both = world.disk
    assert take(world, "A", "k0").units == ("k0.0",)
    assert world.commit("A").text == numbered(6).replace(line(5), b"five\n")
    put(world, "A", "k2")
    assert world.disk == both
    assert world.commit("A").text == both


def test_an_earlier_edit_that_a_later_one_builds_on_stays() -> None:
    world = World(numbered(6))
    world.swap("A", line(2), b"two\n")
    world.swap("A", b"two\n", b"two, better\n")
    found = take(world, "A", "k0")
    assert found.refused
    assert found.left[0].sessions == ("A",)
    assert take(world, "A").text == numbered(6)


def test_a_deletion_by_somebody_else_is_not_taken_back_with_the_line_before_it() -> None:
    world = World(numbered(6))
    world.swap("A", line(3), b"line 3 is better\n")
    world.swap("B", b"line 3 is better\n", b"")
    assert take(world, "A").refused


def test_a_line_that_somebody_took_out_of_a_block_does_not_hold_the_block() -> None:
    world = World(numbered(6))
    world.swap("A", line(3), b"a\nb\nc\n")
    world.swap(None, b"b\n", b"")
    assert take(world, "A").text == numbered(6)


def test_what_a_checkout_threw_away_comes_back_beside_what_was_written_since() -> None:
    world = World(numbered(9))
    world.swap("A", line(2), b"two\nmore\n")
    world.swap("B", line(8), b"eight\n")
    world.user(world.head)
    world.swap("B", line(5), b"five\n")
    found = bring_back(world.head, world.disk, reading(world), {"A"})
    assert found is not None
    record(world, "A", found, restores=found.units)
    assert world.disk == numbered(9).replace(line(2), b"two\nmore\n").replace(line(5), b"five\n")
    assert world.commit("A").text == numbered(9).replace(line(2), b"two\nmore\n")
    assert world.commit("B").text == world.disk


def test_what_was_written_in_the_place_of_a_lost_line_is_a_conflict() -> None:
    world = World(numbered(6))
    world.swap("A", line(3), b"three\n")
    world.user(world.head)
    world.swap("B", line(3), b"drei\n")
    found = bring_back(world.head, world.disk, reading(world), {"A"})
    assert found is not None
    assert found.refused
    assert found.left[0].sessions == ("B",)


def test_what_is_lost_does_not_come_back_beside_what_the_same_session_wrote_there_since() -> None:
    """It stands in the place of a line that the lost edit had replaced: two versions of one line."""
    world = World(numbered(9))
    world.swap("A", line(3) + line(4) + line(5), b"three and four\nand more\n")
    world.user(world.head)
    world.swap("A", line(5), b"five anew\n")
    found = bring_back(world.head, world.disk, reading(world), {"A"})
    assert found is not None
    assert found.refused
    assert found.left[0].sessions == ("A",)


def test_of_two_edits_on_one_line_that_were_thrown_away_the_earlier_comes_back_first() -> None:
    """Each had been in the other's way: neither session got back what a checkout took."""
    world = World(numbered(9))
    world.swap("A", line(3), b"three of A\nand more of A\n")
    world.swap("B", b"and more of A\n", b"and more of B\n")
    both = world.disk
    world.user(world.head)
    world.swap("C", line(8), b"eight of C\n")
    for who in ("A", "B"):
        found = bring_back(world.head, world.disk, reading(world), {who})
        assert found is not None
        assert not found.refused, found.left
        record(world, who, found, restores=found.units)
        if who == "A":
            assert b"and more of A\n" in (world.disk or b"")
    assert world.disk == (both or b"").replace(line(8), b"eight of C\n")
    assert world.commit("C").text == numbered(9).replace(line(8), b"eight of C\n")


def test_what_stood_in_a_block_that_is_lost_waits_for_the_block() -> None:
    world = World(numbered(6))
    world.swap("A", line(3), b"three of A\nmore of A\n")
    world.swap("B", b"three of A\n", b"three of A\nof B within\n")
    world.user(world.head)
    found = bring_back(world.head, world.disk, reading(world), {"B"})
    assert found is not None
    assert found.refused
    assert found.left[0].sessions == ("A",)
    assert "bring back first" in found.left[0].detail


def test_a_removal_thrown_away_as_well_is_in_nobodys_way() -> None:
    world = World(numbered(9))
    world.swap("A", line(3), b"three of A\nand more of A\n")
    world.swap("B", b"and more of A\n" + line(4) + line(5), b"")
    world.user(world.head)
    world.swap("C", line(8), b"eight of C\n")
    found = bring_back(world.head, world.disk, reading(world), {"A"})
    assert found is not None
    assert not found.refused, found.left
    assert b"and more of A\n" + line(4) in (found.text or b"")


def test_a_word_that_stands_in_many_places_is_no_line_that_moved() -> None:
    """A person removed a `return`, a session writes one of its own elsewhere: nobody moved it."""
    start = numbered(8).replace(line(2), b"    return\n")
    world = World(start)
    world.swap(None, b"    return\n", b"")
    world.swap("A", line(6), line(6) + b"def of_a():\n    return\n")
    found = take(world, "A")
    assert not found.refused, found.left
    assert world.disk == start.replace(b"    return\n", b"")


def test_a_line_that_moved_is_not_lost() -> None:
    """The same with a line that nobody writes twice: a person cut it, the session put it elsewhere."""
    world = World(numbered(8))
    world.swap(None, line(2), b"")
    world.swap("A", line(6), line(6) + line(2))
    assert take(world, "A").refused


def balanced(world: World, tamper: Callable[[Weave, bytearray], None], texts: Texts | None = None) -> bool:
    """Tell whether an undo of all of A's passes the last check once its answer was tampered with."""
    steps = chain(world.steps, world.start)
    weave = fold(steps, world.disk)
    units = {at for at, unit in enumerate(weave.units) if unit.owner == "A"}
    answer = shown_without(weave, units)
    tamper(weave, answer)
    known = {s.key: (s.before, s.after) for s in steps} if texts is None else texts
    return not list(unbalanced(weave, units, answer, known, comes=False))


def three_lines() -> World:
    world = World(numbered(9))
    world.swap("A", line(2), b"two of A\n")
    world.swap("B", line(5), b"five of B\n")
    world.swap("A", line(8), b"")
    return world


def test_an_answer_that_takes_brings_or_leaves_one_line_too_many_is_stopped() -> None:
    """Whatever the weave thinks whose it is: the words of the edits do not add up."""
    assert balanced(three_lines(), lambda weave, shown: None)
    for content in [row for row in (three_lines().disk or b"").split(b"\n") if row] + [
        line(8)[:-1],
        line(5)[:-1],
    ]:

        def flip(weave: Weave, shown: bytearray, content: bytes = content) -> None:
            (atom,) = (at for at in weave.order() if weave.content(at) == content)
            shown[atom] = not shown[atom]

        assert not balanced(three_lines(), flip), content


def test_an_answer_in_an_order_that_no_text_of_the_edits_had_is_stopped() -> None:
    """A block goes back to where it was; a person's line has its place between the blocks as they are now."""
    world = World(numbered(6))
    blocks = line(2) + line(3), line(4) + line(5)
    world.swap("A", blocks[0] + blocks[1], blocks[1] + blocks[0])
    assert balanced(world, lambda weave, shown: None)
    assert not balanced(world, lambda weave, shown: None, texts={})
    world.swap(None, line(5) + line(2), line(5) + b"written between\n" + line(2))
    assert not balanced(world, lambda weave, shown: None)


def test_a_word_that_was_taken_here_and_written_there_is_no_line_that_moved() -> None:
    """Two edits of one session, each at its own line: the word `two` alone changes sides."""
    world = World(numbered(12).replace(line(2), b"two and more\n"))
    start = world.disk
    world.swap("A", b"two and more\n", b"nothing\n")
    world.swap("B", line(6), b"six of B\n")
    world.swap("A", line(9), b"less of two\n")
    found = take(world, "A")
    assert not found.refused, found.left
    assert world.disk == (start or b"").replace(line(6), b"six of B\n")
    put(world, "A", "k3")
    assert b"nothing\n" in (world.disk or b"")


def test_random_schedules_change_no_foreign_word_and_lose_none() -> None:
    """Edits, commits, undo, redo, restore and checkouts by three sessions and a person, in one file."""
    counts = takebacks.play(takebacks.STILL, 120, 1_000_000)
    assert counts.wrong == []
    assert all(counts.done.get(what) for what in ("undo", "redo", "restore", "undo refused", "redo refused"))


@pytest.mark.parametrize("seed", [1_003_947])
def test_a_schedule_that_was_wrong_once_is_right(seed: int) -> None:
    """1,003,947: a removal of two owners' lines was thrown away, and only one of them came back."""
    assert takebacks.play(takebacks.STILL, 1, seed).wrong == []


@pytest.mark.skipif(not FULL, reason="ten thousand schedules: RALPH_FULL=1")
def test_ten_thousand_random_schedules() -> None:
    counts = takebacks.play(takebacks.STILL, 10_000, 1_000_000)
    assert counts.wrong == []


def test_moves_and_reverts_are_refused_rather_than_wrong() -> None:
    """A block that moved past its neighbour may look the other way round: then words do not add up."""
    counts = takebacks.play(takebacks.CELL, 2_000 if FULL else 60, 1_000_000)
    assert counts.wrong == []
