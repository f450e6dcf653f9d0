"""Pieces taken out of a file and brought back: hand cases, random histories, random schedules."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitralph.base.kinds import Kind, Why
from gitralph.lines import reverse
from gitralph.lines.order import chain
from gitralph.lines.pieces import Pieces, pieces
from gitralph.lines.terms import Reversal, Step
from tests.lines import takebacks
from tests.lines.test_pieces import histories
from tests.lines.texts import File, text
from tests.support.size import FULL


def numbered(count: int) -> list[str]:
    return [f"line {n}" for n in range(1, count + 1)]


@dataclass
class Shared(File):
    """A file of which sessions take pieces back as well."""

    def steps_now(self) -> list[Step]:
        return chain(self.steps, self.first)

    def known(self) -> Pieces:
        heads = [*self.heads]
        return pieces(self.head, self.disk, self.steps_now(), heads=lambda: heads)

    def swap(self, who: str | None, old: str, new: str) -> None:
        """Somebody replaces a piece of the file, each time it stands there."""
        after = (self.disk or b"").replace(old.encode(), new.encode())
        assert after != self.disk
        if who is None:
            self.disk = after
        else:
            self.steps.append(Step(str(len(self.steps)), who, self.disk, after))
            self.disk = after

    def delete(self, who: str) -> None:
        self.steps.append(Step(str(len(self.steps)), who, self.disk, None))
        self.disk = None

    def record(self, who: str, found: Reversal, is_return: bool = False) -> Reversal:
        if found.units and not found.refused:
            step = Step(str(len(self.steps)), who, self.disk, found.text, seen=True)
            names = found.units
            self.steps.append(step._replace(restores=names) if is_return else step._replace(undoes=names))
            self.disk = found.text
        return found

    def undo(self, who: str, *keys: str, skip: bool = False) -> Reversal:
        found = reverse.undone(self.known(), self.steps_now(), {who}, set(keys) or None, skip)
        return self.record(who, found)

    def redo(self, who: str, key: str) -> Reversal:
        return self.record(who, reverse.redone(self.known(), self.steps_now(), {who}, {key}))

    def restore(self, who: str) -> Reversal:
        return self.record(who, reverse.restored(self.known(), self.steps_now(), {who}), is_return=True)

    def commit(self, *who: str) -> None:
        self.holds(*self.takes(*who))

    def rows(self) -> list[str]:
        return (self.disk or b"").decode().splitlines()


def of(count: int) -> Shared:
    return Shared(text(*numbered(count)))


def less(count: int, **new: str) -> list[str]:
    """The numbered lines with others in their place: ``l3="a\\nb"``; none for an empty one."""
    rows = [new.get(f"l{n}", row) for n, row in enumerate(numbered(count), 1)]
    return [one for row in rows if row for one in row.split("\n")]


def test_what_stays_and_what_comes_back_is_told_by_line() -> None:
    file = of(4)
    file.swap("A", "line 2\n", "two\nmore\n")
    found = file.undo("A")
    assert found.lines == (0, b"line 2", 3, 4)
    assert found.complete
    assert file.disk == file.head


def test_an_edit_and_its_undo_leave_nothing_to_commit_and_nothing_to_undo() -> None:
    file = of(6)
    file.swap("A", "line 2\n", "two\n")
    file.swap("B", "line 5\n", "five\n")
    file.undo("A")
    assert file.ask("A").text == file.head
    assert file.undo("A").units == ()
    file.commit("B")
    assert file.head == file.disk


def test_after_a_redo_an_edit_is_what_it_was() -> None:
    file = of(6)
    file.swap("A", "line 2\n", "two\nmore\n")
    alone = file.ask("A")
    file.undo("A")
    file.swap("B", "line 5\n", "five\n")
    file.redo("A", "1")
    again = file.ask("A")
    assert (again.text, again.taken, again.notes) == (alone.text, alone.taken, alone.notes)


def test_one_edit_of_several_goes_and_comes_back() -> None:
    file = of(6)
    file.swap("A", "line 2\n", "two\n")
    file.swap("A", "line 5\n", "five\n")
    both = file.disk
    assert file.undo("A", "0").units == ("0.0",)
    assert file.takes("A") == less(6, l5="five")
    file.redo("A", "2")
    assert file.disk == both
    file.commit("A")
    assert file.head == both


def test_an_earlier_edit_that_a_later_one_builds_on_stays() -> None:
    file = of(6)
    file.swap("A", "line 2\n", "two\n")
    file.swap("A", "two\n", "two, better\n")
    found = file.undo("A", "0")
    assert found.refused
    assert found.left[0].sessions == ("A",)
    assert file.undo("A").text == file.head


def test_what_another_removed_comes_back_with_its_owner() -> None:
    file = of(6)
    file.swap("B", "line 3\n", "three\ndrei\n")
    file.swap("A", "drei\n", "")
    file.undo("A")
    assert file.rows() == less(6, l3="three\ndrei")
    assert file.takes("A") == numbered(6)
    assert file.takes("B") == file.rows()


@pytest.mark.parametrize("who", ["B", None])
def test_a_line_that_was_written_over_its_own_refuses_it(who: str | None) -> None:
    file = of(6)
    file.swap("A", "line 3\n", "three\nthree b\nthree c\n")
    file.swap("A", "line 6\n", "six\n")
    file.swap(who, "three b\n", "three b, better\n")
    before = file.disk
    found = file.undo("A")
    assert (found.refused, found.text) == (True, before)
    assert [(one.sessions, one.other_lines) for one in found.left] == [((who or "unrecorded",), (4, 4))]
    assert file.undo("A", skip=True).units == ("1.0",)
    assert file.disk == before.replace(b"six\n", b"line 6\n") if before else False


def test_what_replaced_a_line_that_it_had_only_added_refuses_it() -> None:
    """Nothing of the first one differs from HEAD by its own doing, and yet the other is built on it."""
    file = of(6)
    file.swap("A", "line 3\n", "line 3\nof A\n")
    file.swap("B", "of A\n", "of A and B\n")
    assert file.undo("A").left[0].sessions == ("B",)
    assert file.undo("B").text == text(*less(6, l3="line 3\nof A"))
    assert file.undo("A").text == file.head


def test_a_deletion_by_somebody_else_is_not_taken_back_with_the_line_before_it() -> None:
    file = of(6)
    file.swap("A", "line 3\n", "line 3 is better\n")
    file.swap("B", "line 3 is better\n", "")
    assert file.undo("A").left[0].why == Why(Kind.BUILT_ON, ("B",))


def test_a_line_that_somebody_took_out_of_a_block_does_not_hold_the_block() -> None:
    file = of(6)
    file.swap("A", "line 3\n", "a\nb\nc\n")
    file.swap(None, "b\n", "")
    assert file.undo("A").text == file.head


def test_a_line_that_somebody_wrote_into_a_block_holds_it() -> None:
    file = of(6)
    file.swap("A", "line 3\n", "line 3\ndef of_a():\n    return 1\n")
    file.swap("B", "def of_a():\n", "def of_a():\n    b = 2\n")
    file.swap("C", "    b = 2\n", "    b = 2\n    c = 3\n")
    assert file.undo("A").left[0].sessions == ("B", "C")
    file.undo("C")
    file.undo("B")
    assert file.undo("A").text == file.head


def test_a_line_before_or_behind_a_block_does_not_hold_it() -> None:
    file = of(6)
    file.swap("A", "line 3\n", "line 3\ndef of_a():\n    return 1\n")
    file.swap("B", "def of_a():\n", "# of B\ndef of_a():\n")
    file.swap("B", "    return 1\n", "    return 1\n# of B below\n")
    file.undo("A")
    assert file.rows() == less(6, l3="line 3\n# of B\n# of B below")


def test_the_end_of_a_file_goes_back_as_well() -> None:
    file = Shared(b"one\ntwo")
    file.swap("A", "two", "two\nthree\n")
    assert file.undo("A").text == b"one\ntwo"
    file.redo("A", "1")
    assert file.disk == b"one\ntwo\nthree\n"


def test_a_deletion_goes_back_with_the_uncommitted_lines_of_others() -> None:
    file = of(9)
    file.swap("B", "line 5\n", "b\n")
    file.delete("A")
    file.undo("A")
    assert file.rows() == less(9, l5="b")
    assert file.ask("A").text == file.head
    assert not file.ask("A").refused
    assert file.takes("B") == less(9, l5="b")
    assert file.redo("A", "2").text is None


def test_a_file_that_was_made_anew_over_a_deletion_is_another_file() -> None:
    file = of(4)
    file.delete("A")
    file.edit("B", "all", "of B")
    assert file.undo("A").left[0].sessions == ("B",)
    assert file.undo("B").text is None
    assert file.undo("A").text == file.head


def test_a_file_that_another_wrote_into_stays() -> None:
    file = Shared(b"")
    file.head = None  # type: ignore[assignment]
    file.disk = file.first = None  # type: ignore[assignment]
    file.edit("A", "a", "b")
    file.edit("B", "a", "b", "c")
    assert file.undo("A").left[0].sessions == ("B",)
    file.undo("B")
    assert file.undo("A").text is None


def test_what_a_commit_took_is_not_undone() -> None:
    """Another session's line that it had replaced does not come back beside what HEAD has for it."""
    file = of(9)
    file.swap("B", "line 3\n", "three of B\n")
    file.swap("A", "three of B\n", "drei von A\n")
    file.swap("A", "line 8\n", "eight\n")
    file.holds(*less(9, l3="drei von A"))
    file.undo("A")
    assert file.rows() == less(9, l3="drei von A")


def test_a_line_that_a_person_typed_below_stays() -> None:
    file = of(6)
    file.swap("A", "line 3\n", "three\n")
    file.swap(None, "line 5\n", "line 5\nby hand\n")
    file.undo("A")
    assert file.rows() == less(6, l5="line 5\nby hand")


def test_after_a_stash_and_its_pop_an_undo_takes_its_own() -> None:
    file = of(9)
    file.swap("A", "line 3\n", "three\n")
    file.swap("B", "line 7\n", "seven\n")
    both = file.disk
    file.disk = file.head
    file.swap("B", "line 5\n", "five\n")
    file.disk = (both or b"").replace(b"line 5\n", b"five\n")
    file.undo("A")
    assert file.rows() == less(9, l5="five", l7="seven")


def test_a_redo_is_refused_where_somebody_wrote_since() -> None:
    file = of(6)
    file.swap("A", "line 3\n", "three\n")
    file.undo("A")
    file.swap("B", "line 3\n", "drei\n")
    assert file.redo("A", "1").left[0].sessions == ("B",)
    file.undo("B")
    file.redo("A", "1")
    assert file.rows() == less(6, l3="three")


def test_a_redo_of_what_came_back_already_is_nothing() -> None:
    file = of(6)
    file.swap("A", "line 3\n", "three\n")
    file.undo("A")
    file.swap(None, "line 3\n", "three\n")
    assert file.redo("A", "1").units == ()


def test_what_a_checkout_threw_away_comes_back_beside_what_was_written_since() -> None:
    file = of(9)
    file.swap("A", "line 2\n", "two\nmore\n")
    file.swap("B", "line 8\n", "eight\n")
    file.disk = file.head
    file.swap("B", "line 5\n", "five\n")
    file.restore("A")
    assert file.rows() == less(9, l2="two\nmore", l5="five")
    assert file.restore("A").units == ()
    assert file.takes("A") == less(9, l2="two\nmore")
    file.restore("B")
    assert file.rows() == less(9, l2="two\nmore", l5="five", l8="eight")


@pytest.mark.parametrize("who", ["B", "A", None])
def test_what_was_written_in_the_place_of_a_lost_line_is_a_conflict(who: str | None) -> None:
    file = of(6)
    file.swap("A", "line 3\n", "three\n")
    file.disk = file.head
    file.swap(who, "line 3\n", "drei\n")
    before = file.disk
    found = file.restore("A")
    assert file.disk == before
    if who == "A":  # a newer version of its own is no loss
        assert (found.refused, found.units) == (False, ())
    else:
        assert (found.refused, found.left[0].sessions) == (True, (who or "unrecorded",))
        assert found.left[0].other_lines == (3, 3)


def test_a_correction_is_no_loss() -> None:
    file = of(6)
    file.swap("A", "line 3\n", "three words here\n")
    file.swap(None, "three words here\n", "three better words here\n")
    found = file.restore("A")
    assert (found.refused, found.units) == (False, ())


def test_what_is_lost_does_not_come_back_beside_what_the_same_session_wrote_there_since() -> None:
    """It stands in the place of a line that the lost edit had replaced: two versions of one line."""
    file = of(9)
    file.swap("A", "line 3\nline 4\nline 5\n", "three and four\nand more\n")
    file.disk = file.head
    file.swap("A", "line 5\n", "five anew\n")
    found = file.restore("A")
    assert (found.refused, found.left[0].sessions) == (True, ("A",))


def test_a_lost_line_that_was_built_on_a_persons_is_refused_each_time() -> None:
    file = of(9)
    file.swap("B", "line 2\n", "B2\n")
    file.swap(None, "line 6\n", "H6\n")
    file.swap("A", "H6\n", "A6\n")
    file.swap("A", "line 9\n", "A9\n")
    file.disk = file.head
    for _ in range(2):
        found = file.restore("A")
        assert (found.refused, found.left[0].sessions) == (True, ("unrecorded",))
        file.restore("B")
    assert file.rows() == less(9, l2="B2")


def test_of_two_edits_on_one_line_that_were_thrown_away_the_earlier_comes_back_first() -> None:
    """Each had been in the other's way: neither session got back what a checkout took."""
    file = of(9)
    file.swap("A", "line 3\n", "three of A\nand more of A\n")
    file.swap("B", "and more of A\n", "and more of B\n")
    both = file.disk
    file.disk = file.head
    file.swap("C", "line 8\n", "eight of C\n")
    for who in ("A", "B"):
        assert not file.restore(who).refused
        if who == "A":
            assert "and more of A" in file.rows()
    assert file.disk == (both or b"").replace(b"line 8\n", b"eight of C\n")
    assert file.takes("C") == less(9, l8="eight of C")


def test_the_later_of_two_waits_for_the_earlier() -> None:
    file = of(9)
    file.swap("A", "line 3\n", "three of A\n")
    file.swap("B", "three of A\n", "three of A and B\n")
    file.disk = file.head
    found = file.restore("B")
    assert (found.refused, found.left[0].sessions) == (True, ("A",))
    assert found.left[0].why.kind is Kind.NEEDS_FIRST
    file.restore("A")
    file.restore("B")
    assert file.rows() == less(9, l3="three of A and B")


def test_what_stood_in_a_block_that_is_lost_waits_for_the_block() -> None:
    file = of(6)
    file.swap("A", "line 3\n", "three of A\nmore of A\n")
    file.swap("B", "three of A\n", "three of A\nof B within\n")
    file.disk = file.head
    found = file.restore("B")
    assert (found.refused, found.left[0].sessions) == (True, ("A",))
    assert found.left[0].why.kind is Kind.NEEDS_FIRST


def test_a_removal_thrown_away_as_well_is_in_nobodys_way() -> None:
    file = of(9)
    file.swap("A", "line 3\n", "three of A\nand more of A\n")
    file.swap("B", "and more of A\nline 4\nline 5\n", "")
    file.disk = file.head
    file.swap("C", "line 8\n", "eight of C\n")
    file.restore("A")
    assert file.rows() == less(9, l3="three of A\nand more of A", l8="eight of C")


def test_what_another_session_took_back_on_purpose_is_not_lost() -> None:
    file = of(9)
    file.swap("A", "line 3\n", "three\n")
    file.swap("B", "three\n", "line 3\n")
    file.swap("A", "line 8\n", "eight\n")
    file.disk = file.head
    file.restore("A")
    assert file.rows() == less(9, l8="eight")


def test_a_line_that_its_own_session_removed_stays_away() -> None:
    file = of(6)
    file.swap("A", "line 3\n", "three\nextra\n")
    file.swap("A", "extra\n", "")
    file.disk = file.head
    file.restore("A")
    assert file.rows() == less(6, l3="three")


def test_a_deletion_that_was_put_back_is_done_again_unless_somebody_wrote_into_it() -> None:
    file = of(6)
    file.delete("A")
    file.disk = file.head
    file.swap("B", "line 2\n", "two\n")
    assert file.restore("A").left[0].sessions == ("B",)
    file.undo("B")
    assert file.restore("A").text is None


def test_a_line_that_is_written_in_many_places_is_no_line_that_moved() -> None:
    """A person removed a `return`, a session writes one of its own elsewhere: nobody moved it."""
    file = Shared(text(*less(8, l2="    return")))
    file.swap(None, "    return\n", "")
    file.swap("A", "line 6\n", "line 6\ndef of_a():\n    return\n")
    file.undo("A")
    assert file.rows() == less(8, l2="")


def test_a_line_that_moved_is_not_lost() -> None:
    """The same with a line that nobody writes twice: a person cut it, the session put it elsewhere."""
    file = of(8)
    file.swap(None, "line 2\n", "")
    file.swap("A", "line 6\n", "line 6\nline 2\n")
    assert file.undo("A").refused


def test_a_word_that_was_taken_here_and_written_there_is_no_line_that_moved() -> None:
    file = Shared(text(*less(12, l2="two and more")))
    file.swap("A", "two and more\n", "nothing\n")
    file.swap("B", "line 6\n", "six of B\n")
    file.swap("A", "line 9\n", "less of two\n")
    file.undo("A")
    assert file.rows() == less(12, l2="two and more", l6="six of B")
    file.redo("A", "3")
    assert file.rows() == less(12, l2="nothing", l6="six of B", l9="less of two")


def test_what_it_brought_back_for_a_person_and_then_took_stands_as_in_head() -> None:
    file = of(6)
    file.swap(None, "line 2\n", "")
    file.swap("A", "line 1\n", "line 1\nline 2\n")
    file.swap("A", "line 2\n", "two\n")
    file.undo("A")
    assert file.disk == file.head
    assert file.ask("A").text == file.head


def test_words_of_a_line_that_a_person_took_out_do_not_come_back_with_the_rest() -> None:
    file = Shared(text("first", "one two three_of", "more words_of here", "last"))
    file.swap("A", "one two three_of\nmore words_of here\n", "one_a two three_of\nother text\n")
    file.swap(None, "one_a two three_of\n", "")
    found = file.undo("A")
    assert (found.refused, found.left[0].sessions) == (True, ("unrecorded",))


def test_a_line_that_another_session_wrote_again_stays() -> None:
    """It is the same text, so it keeps the name of who wrote it first; and yet it is the other's as well."""
    file = of(4)
    file.swap("A", "line 2\n", "line 2\nnote of_both\n")
    file.swap(None, "note of_both\n", "")
    file.swap(None, "line 4\n", "line 4\nby hand\n")
    file.swap("B", "line 2\n", "line 2\nnote of_both\n")
    before = file.disk
    found = file.undo("A")
    assert file.disk == before
    assert found.refused or not found.units


def test_a_line_that_another_session_wrote_as_well_elsewhere_holds_nobody() -> None:
    """Each function has its own `return 1`."""
    file = of(6)
    file.swap("A", "line 2\n", "line 2\ndef of_a():\n    return 1\n")
    file.swap("B", "line 5\n", "line 5\ndef of_b():\n    return 1\n")
    file.undo("A")
    assert file.rows() == less(6, l5="line 5\ndef of_b():\n    return 1")


def test_after_an_undo_a_person_may_have_the_same_line() -> None:
    file = of(6)
    file.swap(None, "line 5\n", "line 5\nnote of_both\n")
    file.swap("A", "line 2\n", "line 2\nnote of_both\n")
    file.undo("A")
    assert file.rows() == less(6, l5="line 5\nnote of_both")
    answer = file.ask("A")
    assert (answer.refused, answer.text) == (False, file.head)


def test_a_blank_beside_an_undone_line_stays_the_persons() -> None:
    file = of(4)
    file.swap("A", "line 2\n", "line 2\nof A\n")
    file.swap(None, "of A\n", "\nof A\n")
    file.undo("A")
    assert file.disk == text(*less(4, l2="line 2\n"))
    assert file.ask("A").text == file.head


Case = tuple[bytes, list[Step], bytes]


def turn(head: bytes, disk: bytes, steps: list[Step], who: str) -> Reversal:
    return reverse.undone(pieces(head, disk, steps), steps, {who})


@given(histories(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_an_undo_takes_out_and_brings_back_nothing_of_others(
    case: tuple[bytes, list[Step], bytes], skip: bool
) -> None:
    """By lines and their number alone: what s1 never brought never goes, what it never took never comes."""
    head, steps, disk = case
    back = reverse.undone(pieces(head, disk, steps), steps, {"s1"}, skip=skip)
    went, came = choose_difference(disk, back.text)
    brought, took = set[bytes](), set[bytes]()
    for step in steps:
        if step.owner == "s1":
            old, new = choose_difference(step.before, step.after)
            moved = set((step.before or b"").split(b"\n")) & set((step.after or b"").split(b"\n"))
            took |= old | moved
            brought |= new | moved
    assert went <= brought
    assert came <= took
    if back.refused:
        assert back.text == disk


def choose_difference(old: bytes | None, new: bytes | None) -> tuple[set[bytes], set[bytes]]:
    from gitralph.lines.text import difference

    went, came = difference(old, new)
    return set(went), set(came)


@given(histories())
@settings(max_examples=100, deadline=None)
def test_an_undo_of_a_session_without_a_record_changes_nothing(
    case: Case,
) -> None:
    head, steps, disk = case
    assert turn(head, disk, steps, "s4") == Reversal(disk)


@given(histories())
@settings(max_examples=100, deadline=None)
def test_what_a_checkout_took_comes_back_to_the_byte_or_is_refused(
    case: Case,
) -> None:
    """Everybody's edits, each session's own in turn; a refusal leaves the file as it is."""
    head, steps, _ = case
    disk = head
    for number, who in enumerate(("s1", "s2", "s3")):
        known = pieces(head, disk, steps)
        back = reverse.restored(known, steps, {who})
        if back.refused:
            assert back.text == disk
            return
        if back.units:
            steps = [*steps, Step(f"back{number}", who, disk, back.text, restores=back.units)]
            disk = back.text or b""
            assert reverse.restored(pieces(head, disk, steps), steps, {who}).units == ()


def test_random_schedules_change_no_foreign_word_and_lose_none() -> None:
    """Edits, commits, undo, redo, restore and checkouts by three sessions and a person, in one file."""
    counts = takebacks.play(takebacks.STILL, 40, 1_000_000)
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
    counts = takebacks.play(takebacks.CELL, 2_000 if FULL else 20, 1_000_000)
    assert counts.wrong == []
