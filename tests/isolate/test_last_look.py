"""The last look at an answer: what HEAD, file and recorded edits say when lines are counted."""

from __future__ import annotations

from itertools import pairwise

import pytest
from gitralph.lines.last_look import Look, speaks_against
from gitralph.lines.line_history import Exchange, LineHistory
from gitralph.lines.separation import separate

from gitralph.lines.linediff import line_hunks
from gitralph.lines.terms import Step


def text(lines: str) -> bytes | None:
    """One letter a line; "-" is no file."""
    return None if lines == "-" else b"".join(b"line %s\n" % letter.encode() for letter in lines)


def look(
    head: str,
    answer: str,
    file: str,
    *steps: tuple[str | None, str, str],
    put_back: bool = True,
    is_whole: bool = True,
    include: bool = False,
) -> str | None:
    """Ask for S1; the letter of the line that speaks against the answer."""
    made = [Step(str(n), owner, text(old), text(new)) for n, (owner, old, new) in enumerate(steps)]
    names = {"S1", "S2"} if include else {"S1"}
    found = speaks_against(
        Look(text(head), text(answer), text(file), made, {"S1"}, names, lambda key: put_back, is_whole)
    )
    return None if found is None else found.decode().removeprefix("line ")


MINE = ("S1", "ab", "aXb")
TAKES = ("S1", "abc", "ac")


@pytest.mark.parametrize("put_back", [True, False])
def test_no_line_stands_twice_that_nobody_doubled(put_back: bool) -> None:
    assert look("ab", "aXXb", "aXb", MINE, put_back=put_back) == "X"
    assert look("ab", "aXXb", "aXXb", ("S1", "ab", "aXXb"), put_back=put_back) is None


def test_a_line_far_from_what_differs_counts_as_well() -> None:
    around = "cdefghijklmno"
    assert look(around + "X" + "ab", around + "X" + "aXb", around + "X" + "ab", MINE) == "X"


def test_a_line_that_comes_stands_in_the_file_or_under_anothers_pending_edit() -> None:
    assert look("ab", "aXb", "ab", MINE) == "X"
    assert look("ab", "aXb", "ab", MINE, put_back=False) is None
    assert look("ab", "aXb", "aYb", MINE, ("S2", "aXb", "aYb")) is None
    # S2's text went too, and nobody recorded it
    assert look("ab", "aXb", "ab", MINE, ("S2", "aXb", "aYb")) == "X"
    # S2 rewrote its own text: it still covers
    assert look("ab", "aXb", "aZb", MINE, ("S2", "aXb", "aYb"), ("S2", "aYb", "aZb")) is None
    assert look("ab", "aXb", "ab", MINE, ("S2", "aXb", "aYb"), include=True) == "X"
    # S2 only took lines away: that is pending while HEAD has one of them
    assert look("ab", "aXb", "ab", MINE, ("S2", "aXb", "ab")) is None
    assert look("abc", "aXbc", "ac", ("S1", "abc", "aXbc"), ("S2", "aXbc", "ac")) is None
    assert look("ac", "aXc", "ac", ("S1", "abc", "aXbc"), ("S2", "aXbc", "ac")) == "X"


def test_a_person_may_have_corrected_the_line_that_covers() -> None:
    """S2's line still covers where a person changed a word of it; another text may be what git put there."""
    base, mine, over = b"a\nb\n", b"a\nmy own words\nb\n", b"a\nmy new words\nb\n"
    steps = [Step("0", "S1", base, mine), Step("1", "S2", mine, over)]
    for there, wrong in ((b"my new word", None), (b"other text here", b"my own words")):
        file = over.replace(b"my new words", there)
        asked = Look(base, mine, file, steps, {"S1"}, {"S1"}, lambda _: True)
        assert speaks_against(asked) == wrong


def test_what_the_owner_took_away_and_git_put_back_covers_nothing() -> None:
    """S1 had removed S2's line, and a revert brought it back on disk: that is no pending edit of S2's."""
    mine, over = ("S1", "ab", "aXb"), ("S2", "aXb", "aYb")
    assert look("ab", "aXb", "aYb", mine, over, ("S1", "aYb", "ab"), (None, "ab", "aYb")) == "X"
    # a stash and its pop; or who wrote it put it back
    assert look("ab", "aXb", "aYb", mine, over, (None, "aYb", "ab"), (None, "ab", "aYb")) is None
    assert look("ab", "aXb", "aYb", mine, over, ("S1", "aYb", "ab"), ("S2", "ab", "aYb")) is None


def test_a_line_that_goes_does_not_stand_in_the_file_unless_another_put_it_there() -> None:
    assert look("abc", "ac", "abc", TAKES) == "b"
    assert look("abc", "ac", "abc", TAKES, ("S2", "ac", "abc")) is None
    assert look("abc", "ac", "abc", TAKES, (None, "ac", "abc")) == "b"
    # that another wrote the line before it was taken away says nothing
    assert look("abc", "ac", "abc", ("S2", "ac", "abc"), TAKES, (None, "ac", "abc")) == "b"
    assert look("abc", "ac", "abc", TAKES, put_back=False) is None


def test_what_the_owner_did_last_is_not_left_out_unsaid() -> None:
    assert look("ab", "ab", "aXb", MINE) == "X"
    assert look("abc", "abc", "ac", TAKES) == "b"
    assert look("ab", "ab", "aXb", MINE, is_whole=False) is None
    assert look("ab", "ab", "aXb", MINE, put_back=False) is None
    # seen away since, and back by nobody's hand, as with a popped stash
    assert look("ab", "ab", "aXb", MINE, (None, "aXb", "ab"), (None, "ab", "aXb")) == "X"
    assert look("ab", "ab", "aXb", MINE, (None, "aXb", "ab"), (None, "ab", "aXb"), put_back=False) is None
    # another made it anew: it is that session's
    assert look("ab", "ab", "aXb", MINE, ("S2", "aXb", "ab"), ("S2", "ab", "aXb")) is None


def test_no_old_line_stays_beside_a_file_made_anew() -> None:
    """`cp other f`: nobody recorded the removal; a stash took the new text away and brought it back."""
    steps: list[tuple[str | None, str, str]] = [
        (None, "abc", "-"),
        ("S1", "-", "xy"),
        (None, "xy", "abc"),
        ("S2", "abc", "abcd"),
    ]
    assert look("abcd", "abcdxy", "xy", *steps) == "a"
    assert look("abcd", "abcdxy", "xy", *steps, put_back=False) is None
    assert look("abcd", "xy", "xy", *steps) is None
    assert look("abcd", "abcd", "abcd", *steps) is None  # its text did not come back
    assert look("abc", "abcxy", "abcxy", *steps[:2]) is None  # the old lines are in the file


def test_with_others_edits_asked_for_only_the_owners_are_missed() -> None:
    assert look("ab", "ab", "aXb", ("S2", "ab", "aXb"), include=True) is None


def test_what_an_owner_did_last_is_missed_whatever_git_did_before_it() -> None:
    """The first edit is older than what git did, the second is not; with neither the weave knows best."""
    made = [Step("0", "S1", text("ab"), text("aXb")), Step("1", "S1", text("aXb"), text("aXYb"))]

    def asked(unsure: str) -> bytes | None:
        names = {"S1"}
        return speaks_against(
            Look(text("ab"), text("aXb"), text("aXYb"), made, names, names, lambda key: key in unsure)
        )

    assert asked("0") == asked("01") == b"line Y"
    assert asked("") is None


def test_what_nobody_recorded_at_the_end_counts_as_seen() -> None:
    """The line went from the file, and only its place in HEAD tells that it ever was the owner's to take."""
    assert look("abc", "abc", "ac", ("S1", "abc", "ac"), (None, "ac", "abc")) is None


def test_a_removal_whose_own_text_is_gone_is_anothers() -> None:
    assert look("abc", "abc", "aZc", ("S1", "abc", "aXc"), ("S2", "aXc", "aZc")) is None
    assert look("abc", "abc", "aXc", ("S1", "abc", "aXc")) == "b"


def test_a_line_that_repeats_or_says_nothing_tells_nothing() -> None:
    assert look("aXbX", "aXbX", "aXbXX", ("S1", "aXbX", "aXbXX")) is None
    assert look("a", "a", "aXX", ("S1", "a", "aXX")) is None
    made = [Step("0", "S1", b"a\n", b"a\n}\n")]
    assert speaks_against(Look(b"a\n", b"a\n", b"a\n}\n", made, {"S1"}, {"S1"}, lambda key: True)) is None


def written(lines: list[str]) -> bytes:
    """The text of some lines."""
    return "".join(f"{line}\n" for line in lines).encode()


def told(
    head: list[str],
    answer: list[str],
    file: list[str],
    *steps: tuple[str | None, list[str], list[str]],
    put_back: bool = True,
    is_whole: bool = True,
) -> str | None:
    """As `look`, with lines that are written out."""
    one, other, third = map(written, (head, answer, file))
    made = [Step(str(n), who, written(old), written(new)) for n, (who, old, new) in enumerate(steps)]
    found = speaks_against(Look(one, other, third, made, {"S1"}, {"S1"}, lambda key: put_back, is_whole))
    return None if found is None else found.decode()


def test_a_line_does_not_stay_beside_what_replaced_it() -> None:
    """A stash popped over another HEAD: the new line came beside the old one."""
    old, new = ["one 1", "two 2"], ["one 1", "two 3"]
    mine = ("S1", old, new)
    for is_whole in (True, False):
        assert told(old, ["one 1", "two 2", "two 3"], new, mine, is_whole=is_whole) == "two 2"
    assert told(old, new, new, mine) is None
    # what came with it in one hunk says nothing where another line is more like it
    wide = ("S1", old, ["one 1", "two 3", "far"])
    assert told(old, ["one 1", "two 2", "far"], ["one 1", "two 4", "far"], wide) is None


def test_a_line_does_not_come_beside_what_had_replaced_it() -> None:
    """HEAD holds what another made of it; a revert brought the first form back into the file alone."""
    first = ("S1", ["a"], ["a", "x = one 1"])
    other = ("S2", ["a", "x = one 1"], ["a", "x = two 1"])
    head, file = ["a", "x = two 1"], ["a", "x = one 1"]
    assert told(head, ["a", "x = two 1", "x = one 1"], file, first, other) == "x = two 1"
    # also where nobody recorded it, and whatever git did
    assert told(head, ["a", "x = two 1", "x = one 1"], file, first, put_back=False) == "x = two 1"
    # a line of another kind at the same place may stay
    assert told(["a", "y"], ["a", "y", "x = one 1"], file, first, put_back=False) is None
    # what a record knows is judged by the records
    gone = ("S2", ["a", "x = two 1"], ["a"])
    later = ("S1", ["a"], ["a", "x = one 1"])
    assert told(head, ["a", "x = two 1", "x = one 1"], file, gone, later, put_back=False) is None


def test_a_line_does_not_bring_words_of_another_that_head_lacks() -> None:
    """HEAD lost another's line by a reset: a rewrite of it has nothing to stand on."""
    theirs = ("S2", ["a"], ["a", "name = theirs"])
    mine = ("S1", ["a", "name = theirs"], ["a", "name = theirs + mine"])
    over = ("S2", ["a", "name = theirs + mine"], ["a", "name = other"])
    assert told(["a"], ["a", "name = theirs + mine"], mine[2], theirs, mine) == "name = theirs + mine"
    assert told(["a"], ["a", "name = theirs + mine"], over[2], theirs, mine, over) == "name = theirs + mine"
    assert told(["a", "name = theirs"], mine[2], mine[2], theirs, mine) is None
    # every word of it is the owner's
    fresh = ("S1", ["a", "name = theirs"], ["a", "mine = 2"])
    assert told(["a"], ["a", "mine = 2"], fresh[2], theirs, fresh) is None


def test_a_removal_that_was_taken_back_covers_nothing() -> None:
    """git put back what another session had taken out, and not the owner's line among it."""
    mine = ("S1", ["a", "b"], ["a", "mine", "b"])
    theirs = ("S2", ["a", "mine", "b"], ["a"])
    assert told(["a", "b"], ["a", "mine", "b"], ["a"], mine, theirs) is None
    assert told(["a", "b"], ["a", "mine", "b"], ["a", "b"], mine, theirs) == "mine"


def test_a_removal_of_the_owner_s_own_pending_lines_is_pending() -> None:
    """HEAD never had any of them, so that it lacks them tells nothing."""
    assert look("ab", "aXYb", "ab", ("S1", "ab", "aXYb"), ("S2", "aXYb", "ab")) is None
    assert look("ab", "aXYb", "ab", ("S1", "ab", "aXYb"), ("S2", "aXYb", "ab"), (None, "ab", "ab")) is None


def test_no_line_stays_beside_what_was_made_of_it_at_second_hand() -> None:
    """S2 rewrote a line, S1 that: who brings S1's must take the line away."""
    steps = [("S2", "aqb", "aYb"), ("S1", "aYb", "aZb")]
    assert look("aqb", "aqZb", "aZb", *steps) == "q"
    assert look("aqb", "aZb", "aZb", *steps) is None
    assert look("aqb", "aqZb", "aZb", *steps, put_back=False) is None


def test_what_a_moved_file_brought_along_needs_not_stand_in_it() -> None:
    """HEAD had the line where the file came from, and somebody changed it here since."""
    moved = Step("0", "S1", None, text("abc"), moved=text("abc"))
    for owner, expected in (("S1", None), ("S2", b"line b")):
        step = Step("0", owner, None, text("abc"), moved=text("abc"))
        there = Look(None, text("abc"), text("aXc"), [step], {"S1"}, {"S1", "S2"}, lambda _: True)
        assert speaks_against(there) == expected
    fresh = Step("0", "S1", None, text("abc"))
    there = Look(None, text("abc"), text("aXc"), [fresh], {"S1"}, {"S1"}, lambda _: True)
    assert (moved.moved, speaks_against(there)) == (text("abc"), b"line b")


def test_what_was_committed_and_came_back_by_hand_is_nobody_s() -> None:
    """As where git put HEAD's text there in between, or a commit took the edit."""
    back = [("S1", "ab", "aXb"), (None, "aXb", "ab"), (None, "ab", "aXb")]
    steps = [Step(str(n), owner, text(old), text(new)) for n, (owner, old, new) in enumerate(back)]
    ask = Look(text("ab"), text("ab"), text("aXb"), steps, {"S1"}, {"S1"}, lambda _: True)
    assert speaks_against(ask) == b"line X"
    for undone, wrong in ((False, None), (True, b"line X")):  # HEAD may have that commit no more
        done = Look(
            text("ab"),
            text("ab"),
            text("aXb"),
            steps,
            {"S1"},
            {"S1"},
            lambda _: True,
            True,
            {"0"},
            undone="0".__eq__ if undone else lambda _: False,
        )
        assert speaks_against(done) == wrong


def test_a_file_that_goes_must_not_stand_there_nor_have_a_line_that_nobody_knows() -> None:
    gone = ("S1", "abc", "-")
    assert look("abc", "-", "-", gone) is None
    assert look("abcX", "-", "-", gone) == "X"
    assert look("abc", "-", "abc", gone) == "a"
    assert look("abc", "-", "bc", gone) == "b"


def test_a_removal_that_a_commit_took_covers_nothing_any_more() -> None:
    """What another session removed and committed stays removed; what it had replaced goes with it."""
    first = b"one\n\n}\ntwo lines\nthree\n"
    edited = first.replace(b"two lines\n", b"two by one\n")
    removed = b"one\nthree\n"
    steps = [Step("0", "S1", first, edited), Step("1", "S2", edited, removed)]
    head = first.replace(b"\n}\n", b"")
    answer = separate(head, steps, removed, committed={"1.0"}, owners={"S1"}, unsure=lambda _: True)
    assert (answer.text, answer.taken) == (removed, ("0.0",))


def test_a_line_made_of_one_that_a_reset_took_from_head_stays_out() -> None:
    """A merge brought it, the session changed it, a reset took the merge: what is left of it is nobody's."""
    merged = b"one\ntheir first\ntheir line\n"
    edited = merged.replace(b"their line", b"their word")
    both = edited + b"of two\n"
    head = b"one\nof two\nlast words\nof old\n"
    steps = [Step("0", "S1", merged, edited), Step("1", "S2", edited, both)]
    answer = separate(head, steps, both, committed={"0.0", "1.0"}, owners={"S1"}, unsure=lambda _: True)
    assert answer.refused


def test_a_line_that_a_rewrite_in_head_stands_for_is_not_covered() -> None:
    """What came in its place is committed: the line it replaced is over."""
    base, one, two = (b"first\n%s\nlast\n" % word for word in (b"old words", b"of one", b"of two"))
    steps = [Step("0", "S1", base, one), Step("1", "S2", one, two)]
    own = Look(two, two.replace(b"of two\n", b"of one\nof two\n"), two, steps, {"S1"}, {"S1"}, lambda _: True)
    assert speaks_against(own) == b"of one"


def test_a_removal_whose_place_head_has_lost_covers_nothing() -> None:
    """The line's place was committed by hand without it: the other session's removal waits no longer."""
    base, one = b"first\nold words\nlast\n", b"first\nof one\nlast\n"
    removed = b"first\nlast\n"
    steps = [Step("0", "S1", base, one), Step("1", "S2", one, removed)]
    for head, wrong in ((removed, b"of one"), (base, None)):
        answer = head.replace(b"old words\n", b"").replace(b"first\n", b"first\nof one\n")
        own = Look(head, answer, removed, steps, {"S1"}, {"S1"}, lambda _: True)
        assert speaks_against(own) == wrong


def test_a_line_that_a_file_came_back_without_does_not_go() -> None:
    """A stash was popped where the file had been deleted: nobody took the line that HEAD got since."""
    head, back, edited = b"first\nof two\n", b"first\na person's\n", b"first\nof one\n"
    steps = [
        Step("0", "S2", head, None),
        Step("seen", None, None, head, put=True),
        Step("g", None, head, back),
        Step("1", "S1", back, edited),
    ]
    own = Look(head, edited, edited, steps, {"S1"}, {"S1"}, lambda _: False)
    assert speaks_against(own) == b"of two"
    steps[3:] = [Step("1", "S1", head, back), Step("2", "S1", back, edited)]  # it saw the line
    own = Look(head, edited, edited, steps, {"S1"}, {"S1"}, lambda _: False)
    assert speaks_against(own) is None


def test_a_removal_covers_nothing_where_git_took_what_was_beside_the_line() -> None:
    """Git may have taken the whole edit: whether the other session's removal waits nobody can tell."""
    base, one, both = b"first\nold words\n", b"first\nof one\none more\n", b"first\nof one\n"
    steps = [Step("0", "S1", base, one), Step("1", "S2", one, both)]
    cases = ((both, "01", None), (b"first\n", "0", None), (b"first\n", "01", b"one more"))
    for file, put_back, wrong in cases:
        end = [Step("git", None, both, file)] if file != both else []
        answer = one if file == both else b"first\none more\n"
        own = Look(base, answer, file, steps + end, {"S1"}, {"S1"}, put_back.__contains__)
        assert speaks_against(own) == wrong


def test_each_line_of_a_block_rewritten_over_and_over_is_looked_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All lines of a rewritten block stand for each other: asked one for another, eight rewrites of six took
    seven seconds, and each more three times as long."""
    asked: list[bytes] = []

    def counted(made: LineHistory, step: Step, line: bytes) -> Exchange:
        asked.append(line)
        return exchanged(made, step, line)

    exchanged = LineHistory.exchanged
    monkeypatch.setattr(LineHistory, "exchanged", counted)
    versions = ["".join(chr(0x4E00 + 6 * n + k) for k in range(6)) for n in range(8)]
    edits = [("S2", f"a{old}b", f"a{new}b") for old, new in pairwise(versions)]
    first = versions[0]
    assert look("ab", f"a{first}b", "ab", ("S1", "ab", f"a{first}b"), *edits) == first[0]
    assert len(asked) < 400


def test_each_step_is_compared_once_however_many_lines_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand lines, rewritten five times by their session, took seven seconds."""
    compared: list[int] = []

    def counted(old: list[bytes], new: list[bytes]) -> list[tuple[int, int, int, int]]:
        compared.append(len(old))
        return line_hunks(old, new)

    monkeypatch.setattr("gitralph.lines.line_history.line_hunks", counted)
    versions = ["".join(chr(0x4E00 + 60 * n + k) for k in range(60)) for n in range(5)]
    edits = [("S1", f"a{old}b", f"a{new}b") for old, new in pairwise(versions)]
    base, last = f"a{versions[0]}b", f"a{versions[-1]}b"
    assert look(base, last, last, *edits) is None
    assert len(compared) <= len(edits) + 1


def test_a_committed_removal_covers_nothing_though_head_has_its_line_again() -> None:
    """HEAD has its line again, but the removal was committed: it does not wait."""
    steps = [Step("0", "S1", text("abc"), text("aXbc")), Step("1", "S2", text("aXbc"), text("ac"))]
    for done, wrong in ((set[str](), None), ({"1"}, b"line X")):
        asked = Look(text("abc"), text("aXbc"), text("ac"), steps, {"S1"}, {"S1"}, lambda _: True, done=done)
        assert speaks_against(asked) == wrong


@pytest.mark.parametrize(
    ("back", "wrong"),
    [
        ("abcd", None),  # nothing came back
        ("abBcd", b"line X"),  # what X stood for
        ("abCcd", b"line X"),  # what went with it
        ("abEcd", None),
    ],
)
def test_a_removal_after_which_git_put_other_text_there_waits_no_more(back: str, wrong: bytes | None) -> None:
    """S1's X came for B, S2 took X and C away; all of it is rewritten since."""
    edits = [("S1", "abBCcd", "abXCcd"), ("S2", "abXCcd", "abcd"), (None, "abcd", back), ("S2", back, "azcd")]
    steps = [Step(str(at), owner, text(old), text(new)) for at, (owner, old, new) in enumerate(edits)]
    asked = Look(text("abBCcd"), text("abXCcd"), text("azcd"), steps, {"S1"}, {"S1"}, lambda _: True)
    assert speaks_against(asked) == wrong
    assert speaks_against(asked._replace(unsure=lambda key: key == "0")) is None


@pytest.mark.parametrize(
    ("past", "steps", "wrong"),
    [
        (None, [("S1", "a", "aX"), ("S2", "aX", "aY"), ("S2", "aY", "aZ")], None),
        # HEAD held the line itself, or neither
        ("aX", [("S1", "a", "aX"), ("S2", "aX", "aY"), ("S2", "aY", "aZ")], None),
        ("a", [("S1", "a", "aX"), ("S2", "aX", "aY"), ("S2", "aY", "aZ")], None),
        # what stood for it, or nothing any more
        ("aY", [("S1", "a", "aX"), ("S2", "aX", "aY"), ("S2", "aY", "aZ")], "X"),
        ("Ya", [("S1", "a", "aX"), ("S2", "aX", "aY"), ("S2", "aY", "aZ")], "X"),
        ("ab", [("S1", "ab", "aXb"), (None, "aXb", "ab"), ("S2", "ab", "aYb")], "X"),
        # the owner's own removal is his
        ("a", [("S1", "a", "aX"), ("S1", "aX", "a"), ("S2", "a", "aZ")], None),
    ],
)
def test_what_head_had_passed_over_stays_so_when_it_drops_the_file(
    past: str | None, steps: list[tuple[str | None, str, str]], wrong: str | None
) -> None:
    """`git rm --cached` and a commit: the file lies there still, and a commit brings it anew."""
    made = [Step(str(n), owner, text(old), text(new)) for n, (owner, old, new) in enumerate(steps)]
    answer, file = text("aXb" if "b" in steps[0][1] else "aX"), made[-1].after
    asked = Look(
        None, answer, file, made, {"S1"}, {"S1"}, lambda _: False, past=None if past is None else text(past)
    )
    found = speaks_against(asked)
    assert found == (None if wrong is None else b"line " + wrong.encode())


def test_a_line_that_another_session_rewrote_and_a_person_that_one_is_left_out() -> None:
    """The file has none of it, so that no commit needs it; what else the edit brought goes on its way."""
    head, rest = b"one\ntwo\n", b"first\nthe second\n"
    mine = rest + b"line of S1\n" + head
    theirs, there = (mine.replace(b"line of S1", other) for other in (b"S2 wrote this", b"a person's"))
    steps = [Step("0", "S1", head, mine), Step("1", "S2", mine, theirs)]
    answer = separate(head, steps, there, committed=(), owners={"S1"}, follow=True, unsure=lambda _: True)
    assert answer.text == rest + head
    assert not answer.refused
    # nothing but that line: nothing is left to commit
    lone = [steps[0]._replace(before=rest + head), steps[1]]
    answer = separate(
        rest + head, lone, there, committed=(), owners={"S1"}, follow=True, unsure=lambda _: True
    )
    assert (answer.text, answer.taken, answer.refused) == (rest + head, (), False)
    assert answer.void == ("0.0",)


def test_a_removal_is_not_left_out_with_the_line_that_came_for_it() -> None:
    """It took more away than it brought: what it took stays away."""
    head = b"one\nold 1\nold 2\nold 3\ntwo\n"
    mine, theirs, there = (b"one\n" + other + b"\ntwo\n" for other in (b"of S1", b"by S2", b"a person's"))
    steps = [Step("0", "S1", head, mine), Step("1", "S2", mine, theirs)]
    answer = separate(head, steps, there, committed=(), owners={"S1"}, follow=True, unsure=lambda _: True)
    assert answer.refused


def test_a_line_does_not_come_beside_what_a_person_made_of_anothers_form_of_it() -> None:
    """HEAD has what the person made of it first; in the file he changed it again."""
    mine, theirs = ["a", "k one two", "b"], ["a", "k 3 two", "b"]
    first, second = ("S1", ["a", "b"], mine), ("S2", mine, theirs)
    for his, wanted in (("k 3 his", "k 3 his"), ("x y his", None)):
        head, answer, file = ["a", his, "b"], ["a", "k one two", his, "b"], ["a", "k 3 other", "b"]
        assert told(head, answer, file, first, second, put_back=False) == wanted
