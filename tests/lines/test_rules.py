"""One test per rule that the hand cases do not reach: moves, placement, order, partial fits."""

from __future__ import annotations

import pytest

from gitralph.base.kinds import Kind
from gitralph.lines.choose import separate
from gitralph.lines.linediff import hunks
from gitralph.lines.order import chain
from gitralph.lines.terms import GAP, LEFT_OUT, UNRECORDED, Step
from tests.lines.world import World, line, numbered

TEN = numbered(10)
SIXTY = numbered(60)


def test_pasting_anothers_removed_text_elsewhere_is_refused() -> None:
    """Whose it is now cannot be told: the other wrote it, and HEAD never had it."""
    world = World(SIXTY)
    world.swap("b", line(10), line(10) + b"wording of b\n")
    world.swap("a", b"wording of b\n", b"")
    world.swap("a", line(50), line(50) + b"wording of b\n")
    world.refuse("a", reason="stale")


def test_half_replaced_is_not_superseded() -> None:
    world = World(TEN)
    world.swap("b", line(5), b"first of b\nsecond of b\n")
    world.swap("a", b"second of b\n", b"mine alone\n")
    assert world.refuse("a").left[0].sessions == ("b",)


@pytest.mark.parametrize("first", ["a", "b"])
def test_a_line_beside_an_ambiguous_move_stands_where_both_readings_have_it(first: str) -> None:
    """Nobody can tell which of two neighbouring blocks moved; either order of commits ends at the file."""
    world = World(TEN)
    world.edit("b", TEN.replace(line(4) + line(5) + line(6), line(6) + line(4) + line(5)))
    world.swap("a", line(6) + line(4), line(6) + b"by a\n" + line(4))
    world.commit(first)
    world.commit("a", "b")
    assert world.head == world.disk


def test_a_line_before_a_move_stays_where_it_was() -> None:
    world = World(TEN)
    world.swap("a", line(5), line(5) + b"by a\n")
    world.edit("b", (world.disk or b"").replace(line(4), b"").replace(line(7), line(7) + line(4)))
    assert world.commit("a").text == TEN.replace(line(5), line(5) + b"by a\n")
    assert world.commit("b").text == world.disk


def test_moving_a_pending_block_leaves_it_its_owners() -> None:
    world = World(SIXTY)
    world.swap("a", line(10), line(10) + b"block of a\nmore of a\n")
    block = b"block of a\nmore of a\n"
    world.edit("b", (world.disk or b"").replace(block, b"").replace(line(50), line(50) + block))
    world.refuse("b")
    assert world.commit("a").text == SIXTY.replace(line(10), line(10) + block)
    assert world.commit("b").text == world.disk


def test_a_block_moved_away_back_and_away_again_is_its_owners_first() -> None:
    world = World(SIXTY)
    block = b"block of a\nmore of a\n"
    world.swap("a", line(10), line(10) + block)
    here = world.disk
    there = SIXTY.replace(line(50), line(50) + block)
    for text in (there, here, there):
        world.edit("b", text)
    assert world.ask("b").refused
    assert world.commit("a").text == here
    assert world.commit("b").text == there


def test_a_move_taken_back_leaves_nothing() -> None:
    world = World(SIXTY)
    world.edit("a", SIXTY.replace(line(10), b"").replace(line(50), line(50) + line(10)))
    world.user(SIXTY)
    assert world.commit("a").text == SIXTY


def test_removing_what_another_restored_goes_on_top_of_that() -> None:
    """C put an older line in the place of HEAD's, and A removed it: C's goes from the record, then A's."""
    world = World(TEN)
    world.swap("b", line(5), b"line 5 tweaked text5\n")
    world.commit("b")
    world.swap("c", b"line 5 tweaked text5\n", line(5))
    world.swap("a", line(5), b"")
    assert world.ask("a").text == world.head
    assert world.commit("c").text == TEN
    assert world.commit("a").text == TEN.replace(line(5), b"") == world.disk


def test_rewritten_whole_by_another_is_gone() -> None:
    """Not a word of it is left: the other does not wait for it, so nothing is left to commit."""
    world = World(TEN)
    world.swap("a", line(5), line(5) + b"added by a\n")
    world.swap("b", b"added by a\n", b"something else\n")
    answer = world.commit("a")
    assert answer.text == TEN
    assert [note.why.kind in LEFT_OUT for note in answer.notes] == [True]
    assert world.commit("b").text == world.disk


def test_rewritten_in_part_by_another_is_committed_from_the_record() -> None:
    world = World(TEN)
    world.swap("a", line(5), line(5) + b"added by a\n")
    world.swap("b", b"added by a\n", b"added by b\n")
    world.refuse("b")
    assert world.commit("a").text == TEN.replace(line(5), line(5) + b"added by a\n")
    assert world.commit("b").text == world.disk


@pytest.mark.parametrize("piece", [b"\n", b"}\n"])
def test_a_stashed_brace_comes_back_to_its_owner(piece: bytes) -> None:
    world = World(TEN)
    world.swap("a", line(5), line(5) + piece)
    edited = world.disk
    world.user(TEN)
    world.swap("b", line(9), b"nine by b\n")
    world.user((edited or b"").replace(line(9), b"nine by b\n"))
    assert world.commit("a").text == edited


def test_part_of_a_gap_in_head() -> None:
    world = World(SIXTY)
    world.swap(None, line(3) + line(4), b"three by the user\nfour by the user\n")
    world.swap("s1", line(50), b"fifty by s1\n")
    world.head = SIXTY.replace(line(3), b"three by the user\n")
    answer = world.ask("s1")
    assert not answer.refused
    assert answer.text == world.head.replace(line(50), b"fifty by s1\n")


def test_part_of_an_added_gap_in_head_is_built_on() -> None:
    world = World(SIXTY)
    world.swap(None, line(3), line(3) + b"one by the user\ntwo by the user\n")
    world.swap("s1", b"one by the user\n", b"one by the user and s1\n")
    world.head = SIXTY.replace(line(3), line(3) + b"one by the user\n")
    assert world.commit("s1").text == SIXTY.replace(line(3), line(3) + b"one by the user and s1\n")


def test_late_hooks_are_put_in_order() -> None:
    texts = [TEN.replace(line(5), b"version %d\n" % n) for n in range(4)]
    one, two, three = (Step(f"k{n}", f"s{n}", texts[n], texts[n + 1]) for n in range(3))
    assert chain([two, three, one], texts[0]) == [one, two, three]
    assert chain([one, three, two], texts[0]) == [one, two, three]


def test_an_undo_is_no_late_hook() -> None:
    """The user adds a line; one session removes it and later restores it."""
    with_line = TEN + b"by the user\n"
    first = Step("k0", "a", with_line, with_line + b"more\n")
    undo = Step("k1", "a", with_line + b"more\n", TEN)
    redo = Step("k2", "b", TEN, with_line)
    assert [step.key for step in chain([first, undo, redo], TEN)] == ["g:k0", "k0", "k1", "k2"]


def test_an_unknown_state_is_a_gap() -> None:
    step = Step("k0", "a", b"seen\n", b"made\n")
    gap, same = chain([step], b"start\n")
    assert (gap.key, gap.owner, gap.before, gap.after) == ("g:k0", None, b"start\n", b"seen\n")
    assert same == step


def test_a_line_above_a_replacement_stays_above_what_was_replaced() -> None:
    world = World(TEN)
    world.swap("b", line(5), b"five by b\n")
    world.swap("a", b"five by b\n", b"above by a\nfive by b\n")
    assert world.commit("a").text == TEN.replace(line(5), b"above by a\n" + line(5))


def test_a_line_below_a_replacement_stays_below_what_was_replaced() -> None:
    world = World(TEN)
    world.swap("b", line(5), b"five by b\n")
    world.swap("a", b"five by b\n", b"five by b\nbelow by a\n")
    assert world.commit("a").text == TEN.replace(line(5), line(5) + b"below by a\n")


def test_a_replacement_stays_behind_what_it_replaced() -> None:
    """Two owners replace neighbours; either commit keeps the order of both."""
    world = World(TEN)
    world.swap("a", line(5) + line(6), b"new five\nnew six\n")
    world.swap("b", line(7), b"new seven\n")
    world.swap("b", line(4), b"new four\n")
    assert world.commit("b").text == TEN.replace(line(7), b"new seven\n").replace(line(4), b"new four\n")
    assert world.commit("a").text == world.disk


def test_an_insertion_slides_out_of_anothers_block() -> None:
    """Both blocks end in a brace: the diff may not cut b's block to find a's."""
    world = World(TEN)
    world.swap("b", line(5), line(5) + b"def b():\n}\n")
    world.swap("a", b"def b():\n}\n", b"def a():\n}\ndef b():\n}\n")
    assert world.commit("a").text == TEN.replace(line(5), line(5) + b"def a():\n}\n")


def test_an_insertion_above_the_end_of_a_block_slides_up() -> None:
    world = World(b"start\n}\nend\n")
    world.edit("b", b"start\n}\nof b\nalso of b\n}\nend\n")
    world.edit("a", b"start\n}\nof a\n}\nof b\nalso of b\n}\nend\n")
    assert world.commit("a").text == b"start\n}\nof a\n}\nend\n"


def test_long_runs_part_places_where_no_line_is_single() -> None:
    """In a file of repeating lines one step in two places was one hunk with all that stood between them."""
    old = [n * n % 11 % 6 for n in range(300)]
    new = [*old[:50], 7, 7, *old[52:250], 8, 8, *old[252:]]
    assert hunks(old, new, lambda _line: False) == [(50, 52, 50, 52), (250, 252, 250, 252)]
    assert hunks([0] * 300, [0, 1, 1] * 100, lambda _line: False) == [(1, 300, 1, 300)]


def test_skipping_drops_what_builds_on_the_skipped() -> None:
    world = World(SIXTY)
    world.swap("b", line(10), b"alpha beta gamma\n")
    world.swap("a", b"beta", b"delta")
    world.swap("a", b"alpha delta gamma\n", b"alpha delta epsilon\n")
    world.swap("a", line(50), b"fifty by a\n")
    answer = world.commit("a", skip=True)
    assert answer.text == SIXTY.replace(line(50), b"fifty by a\n")
    assert answer.taken == ("k3.0",)


@pytest.mark.parametrize("seen", [True, False])
def test_a_removal_is_not_kept_by_a_write_that_found_the_line(seen: bool) -> None:
    """A stash put it back, and the next session rewrote the place: that removal is its own."""
    whole, without, rewritten = b"one\ntwo\nthree\n", b"one\nthree\n", b"one\nsecond line\nthree\n"
    first = Step("0", "S1", whole, without, seen=True)
    steps = chain([first, Step("1", "S2", whole, rewritten, seen=seen)], whole)
    assert [step.before for step in steps] == [whole, without, whole]
    # where a line that came is kept, its writer knew of the other edit
    added = whole + b"new line\n"
    later = Step("1", "S2", whole, b"zero\n" + added, seen=True)
    assert chain([Step("0", "S1", whole, added, seen=True), later], whole)[-1].before == added


@pytest.mark.parametrize("who", ["b", None])
def test_what_stands_inside_a_block_that_was_taken_back_goes_alone(who: str | None) -> None:
    """It waited for lines that are nowhere any more."""
    world = World(TEN)
    world.swap("a", line(5), line(5) + b"one of a\ntwo of a\n")
    world.swap(who, b"one of a\n", b"one of a\nother words\n")
    world.swap("a", b"one of a\nother words\ntwo of a\n", b"other words\n")
    assert world.ask("a").text == TEN
    assert world.commit(who or UNRECORDED).text == TEN.replace(line(5), line(5) + b"other words\n")


def test_an_older_version_is_not_committed_where_the_sessions_own_command_may_have_replaced_it() -> None:
    """Two windows overlapped, so nobody knows who changed the line: perhaps it took its own word back."""
    first, perhaps, then = b"one\nlight grey\n", b"one\ndark grey\n", b"one\ndark blue\n"
    steps = [
        Step("0", "S1", b"one\n", first, by_shell=True),
        Step("g:1", None, first, perhaps, offered=True),
        Step("1", "S2", perhaps, then),
    ]
    answer = separate(b"one\n", steps, then, owners={"S1"})
    assert answer.text == b"one\n"
    assert [note.why.kind for note in answer.notes] == [Kind.LEFT_TO_NOBODY]
    # what a person changed is no word of the session's taken back
    person = [steps[0], steps[1]._replace(offered=False), steps[2]]
    assert separate(b"one\n", person, then, owners={"S1"}).text != b"one\n"


def test_a_file_that_a_command_may_have_removed_is_not_gone_as_it_was_before() -> None:
    """Two sessions took it apart, a stash brought it back, and another session's command removed it."""
    base, shorter = b"one\ntwo\nthree\n", b"one\ntwo\n"
    steps = [
        Step("0", "S1", base, shorter),
        Step("1", "S2", shorter, None),
        Step("g:0", None, None, base),
        Step("g:1", None, base, None, offered=True),
    ]
    assert separate(base, steps, None, owners={"S1"}).text == base
    # where nobody's command was seen, a stash was popped, and all of it is as it was
    popped = [*steps[:3], steps[3]._replace(offered=False)]
    assert separate(base, popped, None, owners={"S1", "S2"}).text is None


def test_a_line_that_a_command_may_have_removed_is_not_removed_again_by_who_had_done_so_before() -> None:
    """A stash had brought it back, and a third session's line tells that no pop of it took it away."""
    base, more = b"one\ntwo\nthree\n", b"zero\none\ntwo\nthree\n"
    steps = [
        Step("0", "S1", base, b"one\nthree\n"),
        Step("g:0", None, b"one\nthree\n", base),
        Step("1", "S2", base, more),
        Step("g:1", None, more, b"zero\none\nthree\n", offered=True),
    ]
    answer = separate(base, steps, b"zero\none\nthree\n", owners={"S1"})
    assert answer.text == base
    assert [note.why.kind for note in answer.notes] == [Kind.REMOVAL_STAYS]
    # what nobody's command was seen to do may be the stash that is popped on top of the line
    popped = [*steps[:3], steps[3]._replace(offered=False)]
    assert separate(base, popped, b"zero\none\nthree\n", owners={"S1"}).text == b"one\nthree\n"


def test_a_line_that_is_committed_where_it_was_is_not_called_left_where_it_was_moved_to() -> None:
    """A person's editor sorted the session's new lines among others."""
    steps = [Step("0", "S1", b"sys\nos\njson\n", b"sys\nos\njson\nzlib\nbase64\n")]
    found = separate(b"sys\nos\njson\n", steps, b"base64\njson\nos\nsys\nzlib\n", owners={"S1"})
    assert b"base64" in (found.text or b"")
    assert [note.why.kind for note in found.notes] == [Kind.CHANGED_SINCE]


HERE, THERE = b"one\nA new line here\ntwo\n", b"one\nA new line there\ntwo\n"


@pytest.mark.parametrize("seen", [False, True])
@pytest.mark.parametrize("more", [b"", b"A third line\n"])
def test_a_line_is_not_committed_beside_its_mended_form(seen: bool, more: bytes) -> None:
    """A commit took the mend along, and it was taken back, whether a step was recorded in between or none."""
    steps = [Step("0", "S1", b"one\ntwo\n", HERE)]
    steps += [Step("g:0", None, HERE, THERE), Step("g:1", None, THERE, HERE)] if seen else []
    steps += [Step("1", "S1", HERE, HERE + more)] if more else []
    assert separate(THERE, steps, HERE + more, owners={"S1"}).refused


@pytest.mark.parametrize(
    ("mine", "theirs"), [(b"import os", b"import sys"), (b"replicas: 2", b"replicas: 3")]
)
def test_a_line_that_only_resembles_what_head_alone_has_is_committed(mine: bytes, theirs: bytes) -> None:
    """A person wrote his own beside it, committed that, and deleted it again."""
    steps = [Step("0", "S1", b"one\ntwo\n", b"one\n" + mine + b"\ntwo\n")]
    found = separate(b"one\n" + theirs + b"\ntwo\n", steps, b"one\n" + mine + b"\ntwo\n", owners={"S1"})
    assert mine in (found.text or b"")


def test_what_head_had_between_two_edits_alone_counts_as_its() -> None:
    """Both committed, a person corrected the second and reverts it: the first does not come beside it."""
    base, first = b"one\ntwo\n", b"red green blue\n"
    then, now = b"red black blue\n", b"red black white\n"
    steps = [
        Step("0", "S2", base, base + first, head="x", seen=True, alone=True),
        Step("1", "S1", base + first, base + then, head="x", seen=True, alone=True),
    ]
    old = set(base.splitlines())
    answer = separate(
        base + now,
        steps,
        base + first,
        owners={"S2"},
        held=lambda key: old | {first.strip()} if key == GAP else old,
        heads=lambda: {base},
        has=lambda _: old,
    )
    assert [one.reason for one in answer.left] == ["stale"]
    assert answer.refused


def test_a_line_of_head_s_that_another_took_out_in_a_commit_does_not_come_back() -> None:
    """A person reverts that commit on disk, less this line: HEAD has another part of the edit that took it.

    Somebody's line that waits beside it keeps HEAD from being a text that the file had.
    """
    base = b"one\ntwo\nthree\n"
    first = b"one\nred brick\ngrey stone\ntwo\nthree\n"
    waits, took, then = (
        b"uno\nred brick\ngrey stone\ntwo\nthree\n",
        b"uno\ngrey stone\ntwo\nthe fourth house\n",
        b"uno\nblue glass\ntwo\nthe fourth house\n",
    )
    steps = [
        Step("0", "S1", base, first, head="x", seen=True, alone=True),
        Step("1", "S3", first, waits, head="y", seen=True, alone=True),
        Step("2", "S2", waits, took, head="y", seen=True, alone=True),
        Step("3", "S2", took, then, head="y", seen=True, alone=True),
    ]
    then, now = then.replace(b"uno", b"one"), b"uno\ngrey stone\ntwo\nthree\n"
    lines = {key: set((base if key == "0" else first).splitlines()) for key in "0123"}
    answer = separate(
        then,
        steps,
        now,
        owners={"S1"},
        held=lambda key: lines.get(key, {*lines["3"], *then.splitlines()}),
        heads=lambda: {base, first},
        has=lambda key: lines[key],
    )
    assert answer.text == then
    assert not answer.refused


def test_a_popped_line_that_a_person_changed_replaces_what_it_had_replaced() -> None:
    """Equal lines below it fit one place further up as well; whose words it has is named."""
    ends = "    return\n    return\n"
    texts = [
        f"one\n{line}\n{rest}two\n".encode()
        for line, rest in (
            ("red brick wall", ""),
            ("red stone wall", ""),
            ("red stone wall", ends),
            ("red brick wall", ends),
            ("red brick wall", ends + "\n"),
            ("red stone house", ends),
            ("red stone house\nmine", ends),
        )
    ]
    steps = [
        Step("0", "S2", texts[0], texts[1], seen=True, alone=True),
        Step("1", "S3", texts[1], texts[2], seen=True, alone=True),
        Step("2", "S3", texts[3], texts[4], seen=True, alone=True),
        Step("3", "S5", texts[5], texts[6], seen=True, alone=True),
    ]
    answer = separate(texts[0], chain(steps, texts[0]), texts[6], owners={"S5"}, include_entangled=True)
    assert b"red brick wall" not in (answer.text or b"")
    assert {"S2", "S3", "unrecorded"} == set(answer.includes)


def test_a_line_that_another_session_brought_back_is_told() -> None:
    """HEAD lost it with the file, and S2's move brought the file again: it is S2's to commit."""
    line = b"one\nof S1\ntwo\n"
    steps = [Step("0", "S1", b"one\ntwo\n", line), Step("1", "S3", line, None), Step("2", "S2", None, line)]
    answer = separate(None, steps, line, owners={"S1"}, heads=lambda: {line})
    assert answer.text is None
    assert [(note.why.kind, note.why.sessions) for note in answer.notes] == [(Kind.BROUGHT_BACK, ("S2",))]


@pytest.mark.parametrize("committed", [False, True])
def test_a_line_that_a_session_took_out_itself_is_not_brought_back_by_another_s_equal_one(
    committed: bool,
) -> None:
    texts = [b"one\ntwo\n", b"one\nload the rest\ntwo\n", b"one\ntwo\n"]
    texts += [b"one\nload the rest\ntwo\n"] if committed else [b"one\ntwo\nload the rest\n"]
    who = ("S1", "S1", "S2")
    steps = [Step(str(n), who[n], texts[n], texts[n + 1]) for n in range(3)]
    heads = set(texts[:2]) if committed else {texts[0]}
    answer = separate(texts[0], chain(steps, texts[0]), texts[3], owners={"S1"}, heads=lambda: heads)
    assert answer.notes == ()


def test_a_line_that_the_session_brought_back_itself_names_nobody_else() -> None:
    """S2 wrote it and took it out; S1 wrote it there and a line on S3's beside it."""
    texts = [b"one\n", b"one\nred brick\n", b"one\n", b"one\nblue glass\nand more\n"]
    texts += [b"one\nred brick\nblue glass\nand less\n"]
    who = ("S2", "S2", "S3", "S1")
    steps = [Step(str(n), who[n], texts[n], texts[n + 1]) for n in range(4)]
    answer = separate(texts[0], chain(steps, texts[0]), texts[4], owners={"S1"}, include_entangled=True)
    assert answer.text == texts[4]
    assert answer.includes == ("S3",)
