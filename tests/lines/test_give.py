"""Lines that nobody recorded and a person gives to a session: these, and no others."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitralph.hook.journal import full_lines
from gitralph.lines import choose, give
from gitralph.lines.give import Unrecorded
from gitralph.lines.order import chain
from gitralph.lines.pieces import Pieces, pieces
from gitralph.lines.terms import Separation, Step, Take
from tests.support.size import FULL


class Place:
    """One path: HEAD, the records, and the file as it stands."""

    def __init__(self, head: bytes | None, steps: list[Step], disk: bytes | None) -> None:
        self.head = head
        self.steps = steps
        self.disk = disk

    def chained(self) -> list[Step]:
        return chain(self.steps, self.head) or [Step("head", None, self.head, self.head)]

    def pieces(self) -> Pieces:
        return pieces(self.head, self.disk, self.chained())

    def changes(self, owner: str) -> list[Unrecorded]:
        return give.unrecorded(self.pieces(), {owner}, self.chained())

    def can_give(self, owner: str, chosen: list[Unrecorded]) -> bool:
        after = self.given(owner, chosen)
        return give.is_exact(self.pieces(), after.pieces(), {owner}, chosen, self.chained())

    def takes(self, chosen: list[Unrecorded]) -> tuple[Take, ...]:
        before, places = give.without(self.disk, self.head, chosen)
        old, new = full_lines(before or b""), full_lines(self.disk or b"")
        if before is None:
            places = [(0, 0, len(new))] if new else []
        found = give.takes(old, new, places)
        assert found is not None
        return found

    def given(self, owner: str, chosen: list[Unrecorded]) -> Place:
        """The same after an assignment, its record read as from a journal."""
        found = self.takes(chosen)
        step = Step(f"k{len(self.steps)}", owner, self.disk, self.disk, seen=True, takes=found)
        return Place(self.head, [*self.steps, step], self.disk)

    def commit(self, owner: str, follow: bool = False) -> Separation:
        return choose.separate(self.head, self.chained(), self.disk, owners={owner}, leave=not follow)

    def disk_lines(self) -> list[bytes]:
        return (self.disk or b"").splitlines()

    def owners(self) -> list[str | None]:
        """Whose each line of the file is that HEAD has not."""
        known = self.pieces()
        return [known.owner(line) if known.is_added(line) else None for line in known.weave.shown]


def text(*lines: str) -> bytes:
    return "".join(line + "\n" for line in lines).encode()


BASE = text(*(f"line {n}" for n in range(1, 9)))


def of(place: Place, owner: str, *lines: int) -> list[Unrecorded]:
    return [one for one in place.changes(owner) if one.line in lines]


def test_one_of_two_replaced_lines_goes_with_the_line_it_replaced() -> None:
    disk = BASE.replace(b"line 4\nline 5\n", b"four\nfive\n")
    for line, wanted in ((4, BASE.replace(b"line 4", b"four")), (5, BASE.replace(b"line 5", b"five"))):
        place = Place(BASE, [], disk)
        assert place.given("S", of(place, "S", line)).commit("S").text == wanted


def test_the_middle_of_an_inserted_block_stands_alone() -> None:
    disk = BASE.replace(b"line 5\n", b"one\ntwo\nthree\nline 5\n")
    place = Place(BASE, [], disk)
    found = place.given("S", of(place, "S", 6)).commit("S", follow=True)
    assert found.text == BASE.replace(b"line 5\n", b"two\nline 5\n")


def test_what_is_left_inside_a_given_block_does_not_follow() -> None:
    disk = BASE.replace(b"line 5\n", b"one\ntwo\nthree\nline 5\n")
    place = Place(BASE, [], disk)
    found = place.given("S", of(place, "S", 5, 7)).commit("S", follow=True)
    assert found.text == BASE.replace(b"line 5\n", b"one\nthree\nline 5\n")


def test_a_removal_belongs_to_the_line_after_it() -> None:
    place = Place(BASE, [], BASE.replace(b"line 4\n", b""))
    (change,) = place.changes("S")
    assert (change.line, change.removed, change.added) == (4, (b"line 4",), False)
    assert place.given("S", [change]).commit("S").text == place.disk


def test_a_line_older_than_another_session_s_edit_can_be_given() -> None:
    human = BASE.replace(b"line 7", b"seven")
    disk = human.replace(b"line 2", b"two")
    place = Place(BASE, [Step("k0", "S1", human, disk)], disk)
    given = place.given("S2", of(place, "S2", 7))
    assert given.commit("S2").text == human
    assert given.commit("S1").text == BASE.replace(b"line 2", b"two")


def test_lines_of_a_new_file_bring_the_file_along() -> None:
    place = Place(None, [], BASE)
    given = place.given("S", of(place, "S", 3, 4))
    assert given.commit("S").text == b"line 3\nline 4\n"
    other = given.given("S2", of(given, "S2", 6))
    assert other.commit("S").text == b"line 3\nline 4\n"
    assert [one.sessions for one in other.commit("S2").left] == [("S",)]  # until then there is no file
    assert Place(b"line 3\nline 4\n", other.steps, BASE).commit("S2").text == b"line 3\nline 4\nline 6\n"


def test_a_correction_of_another_session_s_line_names_it() -> None:
    recorded = BASE.replace(b"line 3", b"x = 3")
    disk = recorded.replace(b"x = 3", b"x=3")
    place = Place(BASE, [Step("k0", "S1", BASE, recorded)], disk)
    assert [one.sessions for one in place.changes("S2")] == [("S1",)]
    assert [one.sessions for one in place.changes("S1")] == [()]
    assert place.given("S1", place.changes("S1")).commit("S1").text == disk


def test_a_late_hook_takes_back_what_was_given_of_its_own() -> None:
    """A record that says who wrote the line wins over the person who did not know."""
    disk = BASE.replace(b"line 3", b"three")
    place = Place(BASE, [], disk)
    given = place.given("S2", place.changes("S2"))
    late = Place(BASE, [*given.steps, Step("k9", "S1", BASE, disk)], disk)
    assert late.commit("S2").text == BASE
    assert late.commit("S1").text == disk


def test_what_is_left_of_a_divided_gap_follows_nobody() -> None:
    """The user removed a line of HEAD and one of S1's at once; S2 gets the first.

    So S1 gives its line up, with the removal of the one that it replaced.
    """
    recorded = BASE.replace(b"line 4\n", b"four\n")
    disk = recorded.replace(b"line 3\nfour\n", b"")
    place = Place(BASE, [Step("k0", "S1", BASE, recorded)], disk)
    (change,) = (one for one in place.changes("S2") if one.removed == (b"line 3",))
    assert place.can_give("S2", [change])
    given = place.given("S2", [change])
    assert given.commit("S1", follow=True).text == BASE
    assert given.commit("S1").text == BASE
    assert given.commit("S2").text == BASE.replace(b"line 3\n", b"")


def test_a_text_that_comes_back_brings_the_given_line_back_as_given() -> None:
    disk = BASE.replace(b"line 3", b"three")
    place = Place(BASE, [], disk)
    given = place.given("S2", place.changes("S2"))
    more = disk + b"more\n"
    steps = [*given.steps, Step("k8", "S1", disk, more), Step("k9", "S1", more, disk)]
    later = Place(BASE, steps, disk)
    assert later.owners()[2] == "S2"
    assert later.commit("S2").text == disk


def test_an_undo_to_an_older_text_leaves_the_given_line_given() -> None:
    human = BASE.replace(b"line 3", b"three")
    one, two = human + b"one\n", human + b"one\ntwo\n"
    place = Place(BASE, [Step("k0", "S1", human, one), Step("k1", "S1", one, two)], two)
    given = place.given("S2", of(place, "S2", 3))
    later = Place(BASE, [*given.steps, Step("k8", "S1", two, one)], one)
    assert later.owners()[2] == "S2"
    assert later.commit("S2").text == human


def test_a_given_text_that_was_there_before_is_no_old_read() -> None:
    """Lines in another order are not S2's doing only because the user put them back before he gave some."""
    first, swapped = b"c\na\nb\n", b"c\nb\na\n"
    texts = [first, swapped, first, swapped]
    steps = [Step(f"k{n}", "S1", a, b) for n, (a, b) in enumerate(pairwise(texts))]
    place = Place(b"c\n", steps, first)
    given = place.given("S2", [Unrecorded(2, added=True)])
    assert given.chained()[-1].before == first


WORDS = [f"{letter}{n}" for letter in "abc" for n in range(3)] + ["}", ""]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=9).map(lambda lines: text(*lines))
OWNERS = st.sampled_from(["S1", "S2", None])
HISTORY = st.tuples(TEXTS, st.lists(st.tuples(OWNERS, TEXTS), max_size=4))


def place_of(history: tuple[bytes, list[tuple[str | None, bytes]]], new: bool) -> Place:
    start, later = history
    disk: bytes | None = None if new else start
    head = disk
    steps: list[Step] = []
    for owner, after in later:
        if owner is not None:
            steps.append(Step(f"k{len(steps)}", owner, disk, after))
        disk = after
    return Place(head, steps, disk)


@pytest.mark.slow
@given(HISTORY, st.booleans(), st.data())
@settings(max_examples=1500 if FULL else 300, deadline=None)
def test_exactly_the_chosen_lines_change_hands(
    history: tuple[bytes, list[tuple[str | None, bytes]]], new: bool, data: st.DataObject
) -> None:
    """Line by line: the chosen ones are the session's, every other line keeps its owner."""
    place = place_of((history[0], [*history[1], (None, data.draw(TEXTS))]), new)
    free = [one for one in place.changes("S3") if not one.sessions]
    if not free:
        return
    chosen = data.draw(st.lists(st.sampled_from(free), min_size=1, unique=True))
    chosen.sort(key=lambda one: one.line)
    if not place.can_give("S3", chosen):
        return
    before, given = place.owners(), place.given("S3", chosen)
    lines = {one.line for one in chosen if one.added}
    texts = give.without(place.disk, place.head, chosen)[0], place.disk
    wanted = ["S3" if n in lines else owner for n, owner in enumerate(before, 1)]
    assert given.owners() == wanted or texts[0] == texts[1]
    head = Counter((place.head or b"").splitlines())  # which stays where a commit is refused
    for other in ("S1", "S2"):
        old, now = (Counter((each.commit(other).text or b"").splitlines()) for each in (place, given))
        own = {row for owner, after in history[1] if owner == other for row in after.splitlines()}
        assert not (now - old - head).keys() & {place.disk_lines()[n - 1] for n in lines} - own
    # one of them may stand among another session's lines now, and say so
    left = [(one.line, one.added, one.removed) for one in given.changes("S3")]
    kept = [(one.line, one.added, one.removed) for one in free if one not in chosen]
    assert texts[0] == texts[1] or [one for one in left if one in kept] == kept


@given(TEXTS, TEXTS, st.booleans(), st.data())
@settings(max_examples=1500 if FULL else 300, deadline=None)
def test_a_commit_holds_exactly_the_chosen_lines(
    head: bytes, disk: bytes, new: bool, data: st.DataObject
) -> None:
    """Where nobody else has anything: HEAD with the chosen changes, and nothing else."""
    place = Place(None if new else head, [], disk)
    changes = place.changes("S")
    if not changes:
        return
    chosen = data.draw(st.lists(st.sampled_from(changes), min_size=1, unique=True))
    chosen.sort(key=lambda one: one.line)
    found = place.given("S", chosen).commit("S", follow=True)
    if found.refused:  # twins, half of a move, or a line that says nothing
        lines = Counter(disk.splitlines()) + Counter(head.splitlines())
        assert max(lines.values()) > 1 or any(len(line) < 2 for line in lines)
        return
    rest = [one for one in changes if one not in chosen]
    wanted = give.without(disk, place.head, rest)[0]
    if place.head is None and not full_lines(wanted or b""):
        wanted = found.text
    assert found.text == wanted
