"""One file with several owners, at the level of texts."""

from __future__ import annotations

from itertools import permutations

import pytest

from gitralph.base.kinds import Kind, Why
from gitralph.lines.choose import separate
from gitralph.lines.terms import UNRECORDED, Step
from tests.lines.world import World, line, numbered

TEN = numbered(10)


def kinds(notes: object) -> set[str]:
    return {note.why.kind for note in notes}  # type: ignore[attr-defined]


def test_dirt_older_than_the_session_stays_out() -> None:
    world = World(numbered(20))
    world.user(world.disk.replace(line(3), b"dirty three\n"))  # type: ignore[union-attr]
    world.start = world.disk
    world.swap("s1", line(15), b"fifteen by s1\n")
    assert world.commit("s1").text == numbered(20).replace(line(15), b"fifteen by s1\n")


def test_an_edit_of_older_dirt_is_refused() -> None:
    world = World(TEN)
    world.user(TEN.replace(line(3), b"dirty three\n"))
    world.swap("s1", b"dirty three", b"dirty three by s1")
    assert world.refuse("s1").left[0].sessions == (UNRECORDED,)


def test_children_are_committed_with_their_session() -> None:
    world = World(TEN)
    world.swap("s1", line(2), b"two by s1\n")
    world.swap("child", b"two by s1\n", b"two by s1 and child\n")
    world.refuse("child")
    assert world.commit("s1", "child").text == world.disk


def test_user_first() -> None:
    world = World(numbered(100))
    world.swap(None, line(3), b"three by the user\n")
    world.swap("s1", line(90), b"ninety by s1\n")
    assert world.commit("s1").text == numbered(100).replace(line(90), b"ninety by s1\n")


def test_user_afterwards() -> None:
    world = World(numbered(100))
    world.swap("s1", line(90), b"ninety by s1\n")
    world.swap(None, line(3), b"three by the user\n")
    assert world.commit("s1").text == numbered(100).replace(line(90), b"ninety by s1\n")


def test_two_sessions_separate_hunks() -> None:
    world = World(TEN)
    world.edit("s1", b"* entry of s1\n" + TEN)
    world.edit("s2", b"* entry of s1\n" + TEN + b"* entry of s2\n")
    assert world.commit("s1").text == b"* entry of s1\n" + TEN
    assert world.commit("s2").text == world.disk


def overlap() -> World:
    world = World(TEN)
    world.swap("s1", line(4), b"alpha beta gamma delta\n")
    world.swap("s2", b"beta gamma", b"beta zeta")
    return world


def test_overlap_is_refused_whole() -> None:
    left = overlap().refuse("s2").left[0]
    assert left.sessions == ("s1",)
    assert left.lines == (4, 4)
    assert left.why == Why(Kind.REPLACES, ("s1",))


def test_the_other_side() -> None:
    world = overlap()
    assert world.commit("s1").text == TEN.replace(line(4), b"alpha beta gamma delta\n")
    assert world.commit("s2").text == world.disk


def test_skip_entangled() -> None:
    world = overlap()
    world.swap("s2", line(9), b"nine by s2\n")
    answer = world.commit("s2", skip=True)
    assert answer.text == TEN.replace(line(9), b"nine by s2\n")
    assert answer.taken == ("k2.0",)
    assert [left.units for left in answer.left] == [("k1.0",)]


def test_include_entangled() -> None:
    world = overlap()
    world.swap("s1", line(9), b"nine by s1\n")
    answer = world.commit("s2", include=True)
    assert answer.includes == ("s1",)
    assert answer.text == TEN.replace(line(4), b"alpha beta zeta delta\n")
    assert set(answer.taken) == {"k0.0", "k1.0"}
    assert world.commit("s1").text == world.disk


def test_include_a_gap() -> None:
    world = World(TEN)
    world.swap(None, line(4), b"alpha beta gamma delta\n")
    world.swap("s2", b"beta gamma", b"beta zeta")
    world.swap(None, line(9), b"nine by the user\n")
    answer = world.commit("s2", include=True)
    assert answer.includes == (UNRECORDED,)
    assert answer.text == TEN.replace(line(4), b"alpha beta zeta delta\n")


def test_who_wrote_words_that_are_included_is_named() -> None:
    """A rebase put another line there, a stash the session's one back: nobody else will commit its words."""
    world = World(TEN)
    world.swap("s1", line(10), line(10) + b"light grey\n")
    world.head = TEN + b"from upstream\n"
    world.user(world.head)
    world.swap("s3", line(2), b"two by s3\n")
    world.head = world.disk
    world.user(TEN + b"light grey\n")
    world.swap("s2", b"light grey\n", b"light blue\n")
    answer = world.commit("s2", include=True)
    assert answer.includes == ("s1", UNRECORDED)
    assert b"light blue\n" in (answer.text or b"")


def test_adjacent_lines() -> None:
    world = World(numbered(20))
    world.swap("s1", line(10), b"ten by s1\n")
    world.swap("s2", line(11), b"eleven by s2\n")
    assert world.commit("s1").text == numbered(20).replace(line(10), b"ten by s1\n")


@pytest.mark.parametrize("last", [b"the end\n", b"the end"])
def test_both_append(last: bytes) -> None:
    world = World(b"a start\n" + last)
    whole = b"a start\nthe end\n"
    world.edit("s2", whole + b"from s2\n")
    world.edit("s1", whole + b"from s2\nfrom s1\n")
    assert world.commit("s1").text == whole + b"from s1\n"
    assert world.commit("s2").text == world.disk


def test_three_layers() -> None:
    world = World(TEN)
    world.swap("s1", line(5), b"one version\n")
    world.swap("s2", b"one version\n", b"another text\n")
    world.swap("s1", b"another text\n", b"last wording\n")
    answer = world.commit("s1")
    assert answer.text == TEN.replace(line(5), b"last wording\n")
    assert kinds(answer.notes) == {Kind.NOTHING_LEFT}
    assert answer.notes[0].why.sessions == ("s2",)
    assert world.ask("s2").taken == ()
    assert world.ask("s2").text == world.head


def test_an_absorbed_version_stays_its_owners() -> None:
    """S1 replaced S2's version, committed, and brings S2's words back: they are not S1's."""
    world = World(TEN)
    world.swap("s2", line(5), b"wording of another\n")
    world.swap("s1", b"wording of another\n", b"mine only\n")
    world.commit("s1")
    world.swap("s1", b"mine only\n", b"wording of another\n")
    assert world.refuse("s1").left[0].sessions == ("s2",)
    answer = world.commit("s1", include=True)
    assert answer.includes == ("s2",)
    assert answer.text == world.disk


def test_undone_by_another() -> None:
    world = World(TEN)
    world.swap("s1", line(5), line(5) + b"block x\nmore of x\n")
    world.swap("s2", b"block x\nmore of x\n", b"")
    answer = world.commit("s1")
    assert answer.text == TEN


def test_undone_in_part() -> None:
    world = World(TEN)
    world.swap("s1", line(5), line(5) + b"block x\nmore of x\n")
    world.swap("s2", b"block x\n", b"")
    assert world.commit("s1").text == TEN.replace(line(5), line(5) + b"block x\nmore of x\n")
    assert world.commit("s2").text == world.disk


def test_whole_file_write_with_one_line_changed() -> None:
    world = World(numbered(40))
    world.swap("s2", line(30), b"thirty by s2\n")
    rewritten = b"".join((world.disk or b"").splitlines(keepends=True))
    world.edit("s1", rewritten.replace(line(7), b"seven by s1\n"))
    assert world.commit("s1").text == numbered(40).replace(line(7), b"seven by s1\n")


def stale_write() -> World:
    world = World(TEN)
    world.swap("s1", line(5), line(5) + b"lines of s1\n")
    world.edit("s2", TEN.replace(line(9), b"nine by s2\n"), before=TEN)
    return world


def test_write_from_a_stale_read() -> None:
    world = stale_write()
    left = world.refuse("s2", reason="stale").left[0]
    assert left.sessions == ("s1",)
    assert world.ask("s2", skip=True).refused
    assert world.ask("s2", include=True).refused


def test_an_old_read_that_loses_nothing() -> None:
    world = World(TEN)
    world.swap("s1", line(5), line(5) + b"lines of s1\n")
    after = (world.disk or b"").replace(line(9), b"nine by s2\n")
    world.edit("s2", after, before=TEN)
    assert world.commit("s2").text == TEN.replace(line(9), b"nine by s2\n")
    assert world.commit("s1").text == world.disk


def test_inside_anothers_new_block() -> None:
    world = World(TEN)
    block = b"def new():\n    first\n    second\n"
    world.swap("s1", line(5), line(5) + block)
    world.swap("s2", b"    second\n", b"    between\n    second\n")
    assert world.refuse("s2").left[0].sessions == ("s1",)
    assert world.commit("s1").text == TEN.replace(line(5), line(5) + block)
    assert world.commit("s2").text == world.disk


def test_formatter_after_the_hook() -> None:
    world = World(TEN)
    world.swap("s1", line(5), b"x=call( 1,2 )\n")
    world.swap(None, b"x=call( 1,2 )", b"x = call(1, 2)")
    assert world.commit("s1").text == TEN.replace(line(5), b"x=call( 1,2 )\n")


def test_line_endings_converted_by_another() -> None:
    world = World(TEN)
    world.edit("s2", TEN.replace(b"\n", b"\r\n"))
    world.swap("s1", line(5).replace(b"\n", b"\r\n"), b"five by s1\r\n")
    world.refuse("s1")


def test_restored_then_rewritten_by_the_user() -> None:
    world = World(TEN)
    world.swap("s1", line(5), b"five by s1\n")
    world.user(TEN)
    world.swap(None, line(5), b"written by hand\n")
    answer = world.commit("s1")
    assert answer.text == TEN
    assert kinds(answer.notes) == {Kind.LEFT_TO_NOBODY, Kind.REMOVAL_STAYS}


@pytest.mark.parametrize("order", list(permutations(["s1", "s2", "s3"])))
def test_any_order_one_end(order: tuple[str, ...]) -> None:
    world = World(numbered(30))
    for at, who in ((5, "s1"), (15, "s2"), (25, "s3"), (16, "s1")):
        world.swap(who, line(at), b"%d by %s\nand more\n" % (at, who.encode()))
    for who in order:
        world.commit(who)
    assert world.head == world.disk


@pytest.mark.parametrize("first", [True, False])
def test_head_changed_the_file_meanwhile(first: bool) -> None:
    world = World(numbered(100))
    if first:
        world.swap("s1", line(90), b"ninety by s1\n")
    world.swap(None, line(3), b"three by the user\n")
    if not first:
        world.swap("s1", line(90), b"ninety by s1\n")
    world.head = numbered(100).replace(line(3), b"three by the user\n")
    answer = world.commit("s1")
    assert answer.text == world.disk


def test_part_of_what_the_user_changed_is_committed() -> None:
    world = World(numbered(100))
    world.swap(None, line(3) + line(4), b"three by the user\nfour by the user\n")
    world.swap("s1", line(90), b"ninety by s1\n")
    world.head = numbered(100).replace(line(3), b"three by the user\n")
    assert world.commit("s1").text == world.head.replace(line(90), b"ninety by s1\n")


def test_head_changed_what_the_session_edits() -> None:
    world = World(TEN)
    world.swap("s1", line(5), b"five by s1\n")
    world.head = TEN.replace(line(5), b"five in head\n")
    assert world.ask("s1").refused


def test_shell_change_beside_and_across() -> None:
    world = World(TEN)
    world.swap("s1", line(5), b"five by s1\n")
    world.swap(None, line(8), b"eight by a shell\n")
    assert world.commit("s1").text == TEN.replace(line(5), b"five by s1\n")
    world.swap("s1", b"eight by a shell", b"eight by a shell and s1")
    assert world.refuse("s1").left[0].sessions == (UNRECORDED,)


def test_edited_then_restored() -> None:
    world = World(TEN)
    world.swap("s1", line(5), b"five by s1\n")
    world.swap("s1", b"five by s1\n", line(5))
    answer = world.commit("s1")
    assert answer.text == TEN
    assert answer.taken == ()


def test_user_rewinds_head_softly() -> None:
    world = World(TEN)
    world.swap("s1", line(5), b"five by s1\n")
    world.commit("s1")
    world.swap("s1", line(9), b"nine by s1\n")
    world.head = TEN
    answer = world.ask("s1")
    assert answer.text == world.disk


def test_user_rewinds_head_hard() -> None:
    world = World(TEN)
    world.swap("s1", line(5), b"five by s1\n")
    world.commit("s1")
    world.head = TEN
    world.user(TEN)
    answer = world.ask("s1")
    assert answer.text == TEN
    assert answer.taken == ()


def test_amended_with_more() -> None:
    world = World(TEN)
    world.swap("s1", line(5), b"five by s1\n")
    world.commit("s1")
    world.swap(None, line(2), b"two by the user\n")
    world.head = world.disk
    assert world.ask("s1").taken == ()


def test_stash_and_pop() -> None:
    world = World(TEN)
    world.swap("s1", line(5), b"five by s1\n\nmore by s1\n")
    edited = world.disk
    world.user(TEN)
    assert world.ask("s1").text == TEN
    world.edit("s2", TEN.replace(line(9), b"nine by s2\n"))
    world.swap("s2", b"nine by s2\n", line(9))
    world.user(edited)
    assert world.commit("s1").text == edited


def test_branch_switched() -> None:
    world = World(numbered(40))
    world.swap("s1", line(30), b"thirty by s1\n")
    world.swap(None, line(3), b"three on the branch\n")
    world.head = numbered(40).replace(line(3), b"three on the branch\n")
    assert world.commit("s1").text == world.disk


def test_branch_that_does_not_fit() -> None:
    world = World(TEN)
    world.swap("s1", line(5), b"five by s1\n")
    world.commit("s1")
    world.swap("s1", b"five by s1\n", b"five again by s1\n")
    world.head = TEN.replace(line(5), b"five on another branch\n")
    assert world.ask("s1").refused


def test_a_removal_beside_a_replacement_is_not_superseded_with_it() -> None:
    """S2 replaced a line of S3's and took one of HEAD: who removes what S2 wrote did not take that one."""
    head = b"one\n\n    return\nold words\n    return\n"
    first = head.replace(b"old", b"three\n{\nof three\n\nmore\nold")
    second = first.replace(b"of three\n", b"of two\n    return\nof two more\n{\n")
    second = second.replace(b"\nmore\nold words\n    return\n", b"\n")
    third = head.replace(b"old words\n    return\n", b"three\n")
    steps = [Step("0", "s3", head, first), Step("1", "s2", first, second), Step("2", "s1", second, third)]
    assert separate(head, steps, third, owners={"s1"}).text == head


def test_what_a_stash_brought_back_to_the_file_is_not_absorbed() -> None:
    """S1 rewrote S2's line, and somebody put that back: S1's commit must not take it along as gone."""
    old, mine, theirs = line(3), b"three by s1\n", b"words of s2\n"
    first, second = TEN.replace(old, theirs), TEN.replace(old, mine)
    made = [Step("0", "s2", TEN, first), Step("1", "s1", first, second)]
    gone = separate(TEN, made, second, owners={"s1"})
    assert gone.text == second
    assert kinds(gone.notes) == {Kind.NOTHING_LEFT}
    back = second.replace(mine, theirs + mine)
    found = separate(TEN, made, back, owners={"s1"})
    assert found.text == TEN.replace(old, old + mine)
    assert separate(found.text, made, back, owners={"s2"}).text == back


def test_a_line_that_is_as_it_was_before_two_rewrites_is_reverted() -> None:
    """A person's rewrite and the session's of that went together, whatever else changed at that time."""
    old, his, mine = line(3), b"his words of three\n", b"my words of three\n"
    made = [
        Step("g", None, TEN, TEN.replace(old, his)),
        Step("0", "s1", TEN.replace(old, his), TEN.replace(old, mine)),
    ]
    found = separate(TEN, made, b"another line\n" + TEN, owners={"s1"})
    assert (found.text, found.taken) == (TEN, ())


def test_a_removal_is_the_persons_who_put_a_part_of_what_it_took_back() -> None:
    """One of two lines came back in the place of the session's: who did that left the other one out."""
    both, mine = line(3) + line(4), b"mine first\nmine second\n"
    made = [Step("0", "s1", TEN, TEN.replace(both, mine))]
    found = separate(TEN, made, TEN.replace(line(4), b""), owners={"s1"})
    assert found.text == TEN
    assert kinds(found.notes) == {Kind.LEFT_TO_NOBODY, Kind.REMOVAL_STAYS}


def test_equal_lines_that_another_session_changed_as_well_go_from_the_record() -> None:
    """Everything is recorded, so nobody took them away but that session: the first goes, then the other."""
    world = World(b"def view(req):\n    load(req)\n\ndef edit(req):\n    load(req)\n")
    world.edit("s1", (world.disk or b"").replace(b"(req)\n", b"(req, lock=True)\n"))
    world.edit("s2", (world.disk or b"").replace(b"load", b"get"))
    first = (world.head or b"").replace(b"(req)\n", b"(req, lock=True)\n")
    assert world.commit("s1").text == first
    assert world.commit("s2").text == world.disk


def test_a_change_of_nobodys_elsewhere_does_not_hold_up_equal_lines() -> None:
    """It took none of the session's lines away; where it did, it may have been git, and that waits."""
    world = World(b"one\n\ndef view(req):\n    load(req)\n\ndef edit(req):\n    load(req)\n")
    world.user((world.disk or b"").replace(b"one\n", b"one by hand\n"))
    world.edit("s1", (world.disk or b"").replace(b"(req)\n", b"(req, lock=True)\n"))
    world.edit("s2", (world.disk or b"").replace(b"load", b"get"))
    first = (world.head or b"").replace(b"(req)\n", b"(req, lock=True)\n")
    assert world.commit("s1").text == first
    assert world.commit("s2").text == first.replace(b"load", b"get")
