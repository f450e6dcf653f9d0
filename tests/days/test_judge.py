"""The judge finds what is wrong: four broken tools, each within a handful of days."""

from __future__ import annotations

import pytest

from tests.days.broken import Spoil, broken, forgetful, ghostly, greedy
from tests.days.code import CodeDay
from tests.days.judge import Case
from tests.days.play import play
from tests.days.steps import draw, with_own_commits
from tests.days.truth import GIT, HUMAN, Truth

TOOLS = ((greedy, "FOREIGN"), (forgetful, "FORGOTTEN"), (ghostly, "REVIVED"), (None, "STAGED"))


@pytest.mark.parametrize(("spoil", "kind"), TOOLS)
def test_a_broken_tool_is_found_within_a_handful_of_days(spoil: Spoil | None, kind: str) -> None:
    with broken(spoil):
        days = ({fault.kind for _, _, fault in play(draw(seed, 60)).faults} for seed in range(1, 6))
        assert any(kind in found for found in days)


def test_a_tool_that_takes_sessions_lines_for_a_persons_is_found() -> None:
    found = set[str]()
    with broken(greedy):
        for day in (with_own_commits(draw(seed, 60)) for seed in range(1, 13)):
            own = {step.number for step in day.steps if step.verb == "ralph-mine"}
            found |= {fault.kind for _, number, fault in play(day).faults if number in own}
    assert "FOREIGN" in found


@pytest.mark.parametrize(("spoil", "kind"), TOOLS)
def test_a_broken_tool_is_found_in_days_over_code(spoil: Spoil | None, kind: str) -> None:
    """A change that cuts a function is wrong in that way first."""
    with broken(spoil):
        days = ({name for _, name, _ in CodeDay(seed).play().faults} for seed in range(1, 13))
        assert any({kind, "CUT"} & found for found in days)


@pytest.mark.parametrize(("undone", "who"), [(False, "s1"), (True, "s2")])
def test_who_moves_a_file_brings_the_lines_that_git_brought_back(undone: bool, who: str) -> None:
    """A removal that stands stays its session's under the new name; one that git undid is over."""
    full, less = ("x_0_0", "x_0_4", "x_0_8"), ("x_0_0", "x_0_8")
    truth = Truth()
    truth.observe(0, "base", {}, {"f": full})
    truth.observe(1, "s1", {"f": full}, {"f": less})
    if undone:
        truth.observe(2, GIT, {"f": less}, {"f": full})
    text = full if undone else less
    truth.observe(3, "s2", {"f": text}, {"g": text})
    found = truth.edit("g", "x_0_4")
    assert (found.actor, found.put) == (who, undone)


@pytest.mark.parametrize(("first", "names"), [("s2", {"s1", "s2"}), ("s1", {"s1"}), ("h", {"s1"})])
def test_a_correction_is_of_the_line_of_who_wrote_it_first_or_put_it_back(
    first: str, names: set[str]
) -> None:
    """Session s1 replaces a line and undoes that; a person indents the line then."""
    truth = Truth()
    texts = [("x_0_0",), ("x_0_0", "x_1_0"), ("x_0_0", "x_2_0"), ("x_0_0", "x_1_0"), ("x_0_0", "  x_1_0")]
    for step, (actor, old, new) in enumerate(
        zip((first, "s1", "s1", "h"), texts, texts[1:], strict=False), 1
    ):
        truth.observe(step, actor, {"f": old}, {"f": new})
    assert truth.corrects["f", "  x_1_0"] == names


def test_who_moves_a_file_back_brings_the_lines_that_head_had_there() -> None:
    """Session s1 moves it, a person commits the deletion of the old name, s2 moves it back."""
    truth, text = Truth(), ("x_0_0", "x_0_4")
    truth.observe(0, "base", {}, {"f": text})
    truth.compare(0, {"f": text}, {"f": text})
    truth.observe(1, "s1", {"f": text}, {"g": text})
    truth.compare(1, {"f": text}, {"g": text})
    truth.compare(2, {}, {"g": text})
    truth.observe(3, "s2", {"g": text}, {"f": text})
    assert truth.moved_from("f") == ("s2", "g", frozenset(text))
    truth.observe(4, "s3", {"f": text}, {"h": text})
    assert truth.moved_from("h") == ("s3", "f", frozenset())


def test_a_correction_that_lies_in_a_stash_is_one_under_the_new_name() -> None:
    """A person adds a line among s1's, git takes all of them away, s1 moves the file, git brings it back."""
    truth, base = Truth(), ("x_0_0", "x_0_4")
    written = ("x_0_0", "x_1_0", "x_1_4", "x_0_4")
    among = ("x_0_0", "x_1_0", "h_2_0", "x_1_4", "x_0_4")
    truth.observe(0, "base", {}, {"f": base})
    for step, (actor, old, new) in enumerate(
        [("s1", base, written), ("h", written, among), ("git", among, base)], 1
    ):
        truth.observe(step, actor, {"f": old}, {"f": new})
    truth.observe(4, "s1", {"f": base}, {"g": base})
    assert truth.corrects["g", "h_2_0"] == {"s1"}


@pytest.mark.parametrize("who", ["s1", "s2"])
def test_who_moves_a_file_on_brings_the_lines_that_head_had_where_he_took_it(who: str) -> None:
    truth, text = Truth(), ("x_0_0", "x_0_4")
    truth.observe(0, "base", {}, {"f": text})
    truth.observe(1, "s1", {"f": text}, {"g": text})
    truth.compare(1, {"f": text}, {"g": text})
    truth.observe(2, who, {"g": text}, {"h": text})
    assert truth.moved_from("h") == (who, "g", frozenset(text if who == "s1" else ()))


def test_a_correction_that_another_session_put_back_is_still_one() -> None:
    """A person indents s1's line, s2 rewrites it and undoes that, the person indents it again."""
    truth = Truth()
    texts = [(), ("x_1_0",), ("  x_1_0",), ("  x_2_0",), ("  x_1_0",), ("    x_1_0",)]
    for step, (actor, old, new) in enumerate(
        zip(("s1", "h", "s2", "s2", "h"), texts, texts[1:], strict=False), 1
    ):
        truth.observe(step, actor, {"f": old}, {"f": new})
    assert truth.corrects["f", "    x_1_0"] == {"s1", "s2"}


@pytest.mark.parametrize(("who", "wrong"), [("s1", False), ("s3", True)])
def test_a_file_comes_back_with_what_a_session_had_put_in_a_line_s_place(who: str, wrong: bool) -> None:
    """Session s1 replaces a line, git lays that aside, s2 deletes the file, and git brings back s1's text."""
    truth = Truth()
    old, new = {"f": ("x_0_0",)}, {"f": ("x_1_0",)}
    for step, (actor, before, after) in enumerate(
        [("base", {}, old), ("s1", old, new), (GIT, new, old), ("s2", old, {}), (GIT, {}, new)]
    ):
        truth.observe(step, actor, before, after)
    found = Case(truth, who, "f", old["f"], (), new["f"]).judge()
    assert [fault.kind for fault in found] == ["FOREIGN"] * wrong


@pytest.mark.parametrize(("merged", "forgotten"), [(True, False), (False, True)])
def test_what_git_put_in_the_place_of_a_line_is_no_session_s_removal(merged: bool, forgotten: bool) -> None:
    """Session s1 deletes a file, and a merge brings it back with a line of its own; or s1 takes the line."""
    truth = Truth()
    text, there = ("x_0_0", "x_0_4"), ("b_2_0", "x_0_4") if merged else ("x_0_4",)
    truth.observe(0, "base", {}, {"f": text})
    truth.observe(1, "s1", {"f": text}, {} if merged else {"f": there})
    if merged:
        truth.observe(2, GIT, {}, {"f": there})
    found = Case(truth, "s1", "f", text, text, there, said=False).judge()
    assert [fault.kind for fault in found] == ["FORGOTTEN"] * forgotten


def test_a_deletion_that_head_had_is_over_though_git_deletes_the_file_again() -> None:
    text = {"f": ("x_0_0",)}
    truth = Truth()
    truth.observe(0, "base", {}, text)
    truth.observe(1, "s1", text, {})
    truth.compare(2, {}, {})
    truth.observe(3, GIT, {}, text)
    truth.compare(4, text, text)
    truth.observe(5, GIT, text, {})
    truth.compare(5, text, {})
    assert truth.is_agreed("f", 1)


@pytest.mark.parametrize("moved", [False, True])
def test_git_puts_a_line_of_head_s_in_the_place_of_what_a_person_had_taken_away(moved: bool) -> None:
    """A person deletes a line, git lays that aside and brings another in its place, s1 replaces that."""
    truth, base = Truth(), ("x_0_0", "x_0_4", "x_0_8")
    texts = [base, ("x_0_0", "x_0_8"), ("x_0_0", "b_2_0", "x_0_8"), ("x_0_0", "s_3_0", "x_0_8")]
    truth.observe(0, "base", {}, {"f": base})
    truth.observe(1, "h", {"f": texts[0]}, {"f": texts[1]})
    heads = ({"f": base}, {"f": texts[2] if moved else base})
    truth.observe(2, GIT, {"f": texts[1]}, {"f": texts[2]}, lambda: heads)
    truth.observe(3, "s1", {"f": texts[2]}, {"f": texts[3]})
    found = Case(truth, "s1", "f", base, texts[3], texts[3]).judge()
    assert [fault.kind for fault in found] == ["FOREIGN"] * (not moved)


def test_git_brings_a_file_back_with_the_move_that_had_brought_it() -> None:
    """Another file was moved over it meanwhile; the first move still brings HEAD's lines."""
    text, other = ("x_1_0",), ("y_1_0",)
    truth, then = Truth(), {"f": text, "g": other}
    truth.compare(0, then, then)
    truth.observe(1, "s1", then, {"h": text, "g": other})
    truth.compare(1, then, {"h": text, "g": other})
    truth.observe(2, "s2", {"h": text, "g": other}, {"h": other})
    truth.compare(2, then, {"h": other})
    assert truth.moved_from("h")[0] == "s2"
    truth.observe(3, "git", {"h": other}, {"h": text, "g": other})
    truth.compare(3, then, {"h": text, "g": other})
    assert truth.moved_from("h") == ("s1", "f", frozenset(text))


def test_what_a_stash_brings_back_replaced_the_line_although_the_file_went_meanwhile() -> None:
    """Session s1 replaces a line, a person stashes that, s2 removes the file, the person pops the stash."""
    truth, base, mine = Truth(), ("x_0_0",), ("x_1_0",)
    truth.observe(0, "base", {}, {"f": base})
    truth.compare(0, {"f": base}, {"f": base})
    for step, (actor, old, new) in enumerate(
        [("s1", base, mine), ("git", mine, base), ("s2", base, None), ("git", None, mine)], 1
    ):
        before, after = ({} if text is None else {"f": text} for text in (old, new))
        truth.observe(step, actor, before, after)
        assert truth.brought_again("f", base[0]) == (set(mine) if step == 4 else set())


def test_what_a_stash_brought_back_is_still_back_after_a_reset() -> None:
    """The file was as in HEAD while a stash held it; then it was popped, and a later commit was reset."""
    head, wrote, less = ("x_0_0",), ("x_0_0", "s1_1_0", "s1_1_4"), ("x_0_0", "s1_1_0")
    truth = Truth()
    truth.observe(0, "base", {}, {"f": head})
    truth.compare(0, {"f": head}, {"f": head}, "A")
    truth.observe(1, "s1", {"f": head}, {"f": wrote})
    truth.compare(1, {"f": head}, {"f": wrote}, "A")
    truth.observe(2, "s2", {"f": wrote}, {"f": less})
    truth.compare(2, {"f": head}, {"f": less}, "A")
    truth.observe(3, GIT, {"f": less}, {"f": head})
    truth.compare(3, {"f": head}, {"f": head}, "A")
    assert truth.is_agreed("f", 2)
    truth.compare(4, {"f": head, "g": head}, {"f": head, "g": head}, "B")
    truth.observe(5, GIT, {"f": head, "g": head}, {"f": less, "g": head})
    truth.compare(5, {"f": head, "g": head}, {"f": less, "g": head}, "B")
    truth.compare(6, {"f": head}, {"f": less, "g": head}, "A", ["A"])
    assert not truth.is_agreed("f", 2)


def test_what_a_person_had_put_in_a_line_s_place_goes_along_with_git_mv() -> None:
    """A session replaces it under the new name, and HEAD still has the line there."""
    truth, base, person, mine = Truth(), ("x_0_0", "x_0_4"), ("x_0_0", "h_1_0"), ("x_0_0", "s1_3_0")
    truth.observe(0, "base", {}, {"f": base})
    truth.observe(1, "h", {"f": base}, {"f": person})
    truth.observe(2, GIT, {"f": person}, {"g": person})
    truth.observe(3, "s1", {"g": person}, {"g": mine})
    assert truth.came_instead("g", "x_0_4") == {"h_1_0", "s1_3_0"}


def test_a_person_who_takes_a_line_out_does_not_do_again_what_deleted_the_file() -> None:
    """A session deletes the file, git brings it back, and a session edits it before the person does."""
    truth, base, mine, less = Truth(), ("x_0_0", "x_0_4"), ("x_0_0", "x_0_4", "s1_3_0"), ("x_0_0", "s1_3_0")
    truth.observe(0, "base", {}, {"f": base})
    truth.observe(1, "s1", {"f": base}, {})
    truth.observe(2, GIT, {}, {"f": base})
    truth.observe(3, "s1", {"f": base}, {"f": mine})
    truth.observe(4, HUMAN, {"f": mine}, {"f": less})
    assert truth.edit("f", "x_0_4").actor == HUMAN
    truth.observe(5, HUMAN, {"f": less}, {})
    assert truth.edit("f", "x_0_0").actor == "s1"
