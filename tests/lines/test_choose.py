"""Each rule by itself, in hand cases; each of these fails with the rule taken out."""

import pytest

from gitralph.base.kinds import Kind
from gitralph.lines import attempt
from gitralph.lines.terms import LEFT_OUT, UNRECORDED, Step
from tests.lines.texts import File, text

ONE, TWO, THREE = "the first line", "the second line", "the third line"
MINE, YOURS = "what one session says", "another writes something else"


def three() -> File:
    return File(text(ONE, TWO, THREE))


def test_each_session_commits_the_lines_it_changed() -> None:
    file = three()
    file.edit("s1", MINE, TWO, THREE)
    file.edit("s2", MINE, TWO, YOURS)
    assert file.takes("s1") == [MINE, TWO, THREE]
    assert file.takes("s2") == [ONE, TWO, YOURS]
    assert file.takes("s1", "s2") == [MINE, TWO, YOURS]
    assert file.takes("s3") == [ONE, TWO, THREE]


def test_together_a_replacement_goes_whole() -> None:
    """Rule 1: no removal without what came in its place."""
    file = three()
    file.edit("s1", ONE, MINE, "and a second line of it", THREE)
    assert file.takes("s1") == [ONE, MINE, "and a second line of it", THREE]


def test_built_on_a_line_that_head_lacks_waits() -> None:
    """Rule 2: a replacement of another's line, until HEAD has that."""
    file = three()
    file.edit("s1", ONE, MINE, TWO, THREE)
    file.edit("s2", ONE, f"{MINE}, and more", TWO, THREE)
    assert file.refuses("s2") == {"entangled"}
    assert file.takes("s2", include_entangled=True) == [ONE, f"{MINE}, and more", TWO, THREE]
    file.holds(ONE, MINE, TWO, THREE)
    assert file.takes("s2") == [ONE, f"{MINE}, and more", TWO, THREE]


def test_built_on_a_block_that_a_stash_took_off_and_brought_again_waits() -> None:
    """Rules 2 and 4: HEAD lacked the whole block then, which tells nothing of one line."""
    file = three()
    file.edit("s1", ONE, "def made():", "    return one", TWO, THREE)
    file.edit("s2", ONE, "def made():", "    return one + two", TWO, THREE)
    file.person(ONE, TWO, THREE)
    file.edit("s3", ONE, TWO, THREE, YOURS)
    file.holds(ONE, TWO, THREE, YOURS)
    file.person(ONE, "def made():", "    return one + two", TWO, THREE, YOURS)
    file.edit("s3", ONE, "def made():", "    return one + two", TWO, THREE, YOURS, "its end")
    assert file.refuses("s2") == {"entangled"}
    assert file.takes("s1") == [ONE, "def made():", "    return one", TWO, THREE, YOURS]


def test_inside_a_block_that_head_lacks_waits() -> None:
    """Rule 2: a line between two of another's."""
    file = three()
    file.edit("s1", ONE, "def made():", "    return made", TWO, THREE)
    file.edit("s2", ONE, "def made():", MINE, "    return made", TWO, THREE)
    assert file.refuses("s2") == {"entangled"}
    assert file.takes("s1") == [ONE, "def made():", "    return made", TWO, THREE]


def test_superseded_of_whom_no_word_is_left_does_not_hold_up() -> None:
    """Rule 3: the removal under another's line goes with the later piece."""
    file = three()
    file.edit("s1", ONE, "alpha beta", THREE)
    file.edit("s2", ONE, "gamma delta", THREE)
    assert file.takes("s2") == [ONE, "gamma delta", THREE]


def test_written_over_the_first_writer_does_not_wait() -> None:
    """Rule 4: a line that another replaced since is taken from the record."""
    file = three()
    file.edit("s1", ONE, MINE, TWO, THREE)
    file.edit("s2", ONE, f"{MINE}, and more", TWO, THREE)
    assert file.takes("s1") == [ONE, MINE, TWO, THREE]


def test_written_over_ends_where_head_and_the_file_agree() -> None:
    """Rule 4 knows no line that is gone from HEAD's text. After a reset the whole block waits as before."""
    file = three()
    file.edit("s1", ONE, MINE, "another line of the block", TWO, THREE)
    file.edit("s2", ONE, "another line of the block", TWO, THREE, YOURS)
    assert MINE in file.takes("s1")
    file.holds(ONE, "another line of the block", TWO, THREE, YOURS)
    assert MINE not in file.takes("s1")
    file.holds(ONE, TWO, THREE)
    assert MINE in file.takes("s1")


def test_a_line_stays_gone_whose_replacement_was_replaced_in_head() -> None:
    """Rule 4: 6120014 of the random days."""
    file = three()
    file.edit("s1", ONE, MINE, "another line of the block", TWO, THREE)
    file.edit("s2", ONE, "shorter", "    return", "another line of the block", TWO, THREE)
    assert MINE in file.takes("s1")
    file.edit("s3", ONE, YOURS, "    return", "another line of the block", TWO, THREE)
    file.holds(ONE, YOURS, TWO, THREE)
    assert MINE not in file.takes("s1")


def test_what_a_person_took_away_is_gone() -> None:
    """Rule 4 is about recorded edits."""
    file = three()
    file.edit("s1", ONE, MINE, TWO, THREE)
    file.person(ONE, TWO, THREE)
    assert file.takes("s1") == [ONE, TWO, THREE]


def test_a_line_that_a_person_took_out_of_a_block_is_gone() -> None:
    file = three()
    file.edit("s1", ONE, MINE, "another line of the block", TWO, THREE)
    file.person(ONE, "another line of the block", TWO, THREE)
    assert file.takes("s1") == [ONE, "another line of the block", TWO, THREE]


def test_a_line_that_head_got_inside_a_rewritten_range_waits_for_a_person() -> None:
    """Rule 2: never cut around what no step knows."""
    file = three()
    file.edit("s1", MINE, THREE)
    file.holds(ONE, "pulled from elsewhere", TWO, THREE)
    assert file.refuses("s1") == {"stale"}


def test_a_wrong_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rule 7: the net is asked."""
    file = three()
    file.edit("s1", MINE, TWO, THREE)
    file.edit("s2", MINE, TWO, YOURS)
    monkeypatch.setattr(attempt.Attempt, "takes", lambda *_: True)
    assert file.refuses("s1") == {"stale"}


def test_a_correction_follows_that_keeps_half_of_the_words() -> None:
    """Rule 5."""
    file = three()
    file.edit("s1", ONE, "a small mistaek here", TWO, THREE)
    file.person(ONE, "a small mistake here", TWO, THREE)
    assert file.takes("s1") == [ONE, "a small mistake here", TWO, THREE]
    assert file.takes("s1", leave=True) == [ONE, "a small mistaek here", TWO, THREE]


def test_a_correction_of_what_a_person_put_back_for_a_line_of_head_stays_out() -> None:
    """Rule 5: HEAD would have both forms, 10000150 of the random days."""
    file = three()
    file.edit("s1", ONE, "a small mistaek here", THREE)
    file.edit("s1", ONE, "a small mistake here", THREE)
    file.holds(ONE, "a small mistake here", THREE)
    file.person(ONE, "a small mistaek here", THREE)
    file.edit("s2", ONE, "a small mistaek here", THREE, YOURS)
    file.person(ONE, "a small mistaek there", THREE, YOURS)
    assert file.takes("s1") == [ONE, "a small mistake here", THREE]


def test_a_rewrite_that_keeps_no_word_is_left_to_its_writer() -> None:
    """Rule 5: and it is said."""
    file = three()
    file.edit("s1", ONE, "a small mistaek here", TWO, THREE)
    file.person(ONE, "nothing of that", TWO, THREE)
    answer = file.ask("s1")
    assert answer.text == file.head
    assert [note.why.kind in LEFT_OUT for note in answer.notes] == [True]


def test_a_removal_whose_replacement_others_changed_and_took_stays_and_is_said() -> None:
    """Rule 8: 10000234 of the random days."""
    file = three()
    file.edit("s1", "what the first", TWO)
    file.person("what the last", TWO)
    file.edit("s2", TWO, YOURS)
    answer = file.ask("s1")
    assert {note.why.kind for note in answer.notes} >= {Kind.REMOVAL_STAYS}


def test_a_write_from_an_old_read_waits_for_whom_it_lost() -> None:
    """Rule 6: until the other has been there again."""
    file = three()
    old = file.disk
    file.edit("s1", ONE, MINE, TWO, THREE)
    file.edit("s2", ONE, TWO, YOURS, before=old)
    assert file.refuses("s2") == {"stale"}
    assert [one.sessions for one in file.ask("s2").left] == [("s1",)]
    file.edit("s1", "seen it", TWO, YOURS)
    assert file.takes("s2") == [ONE, TWO, YOURS]


def test_a_line_of_head_that_an_old_copy_lacks_stays_there() -> None:
    """Rule 6: nothing is lost then, so nobody waits."""
    file = three()
    file.edit("s1", ONE, MINE, TWO, THREE)
    file.holds(ONE, MINE, TWO, THREE)
    file.edit("s2", ONE, TWO, YOURS, before=file.first)
    assert file.takes("s2") == [ONE, MINE, TWO, YOURS]


def test_a_copy_without_the_writers_own_line_is_no_old_one() -> None:
    """Rule 6: the file was put back between two edits of the same session."""
    file = three()
    file.edit("s1", ONE, MINE, TWO, THREE)
    file.edit("s2", YOURS, ONE, MINE, TWO, THREE)
    file.edit("s2", ONE, TWO, THREE, YOURS, before=file.first)
    assert file.takes("s2") == [ONE, TWO, THREE, YOURS]


def test_a_line_of_head_that_no_record_knows_stays() -> None:
    file = three()
    file.edit("s1", ONE, TWO, MINE)
    file.holds(ONE, "pulled from elsewhere", TWO, THREE)
    assert file.takes("s1") == [ONE, "pulled from elsewhere", TWO, MINE]


def test_the_example_of_the_theory() -> None:
    """As `gitralph.lines` tells it."""
    file = File(text("host", "port 80", "path"))
    file.edit("s1", "host", "port 8080 open", "path")
    file.edit("s2", "host", "port 8080 open", "path", "user root")
    file.person("host", "port 8080 opened", "path", "user root")
    answer = file.ask("s1")
    assert answer.text == text("host", "port 8080 opened", "path")
    assert answer.includes == ("unrecorded",)
    assert file.takes("s2") == ["host", "port 80", "path", "user root"]
    file.holds("host", "port 80", "path", "user root")
    assert file.takes("s1") == ["host", "port 8080 opened", "path", "user root"]


def test_the_example_had_the_other_session_written_it() -> None:
    file = File(text("host", "port 80", "path"))
    file.edit("s1", "host", "port 8080 open", "path")
    file.edit("s2", "host", "port 8080 opened", "path")
    assert file.refuses("s2") == {"entangled"}
    assert file.takes("s1") == ["host", "port 8080 open", "path"]


def test_a_line_brought_back_and_then_written_over_goes_from_the_record() -> None:
    """Rule 4 asks who brought a line there last: 1000021 and 1000051 of the simulator's hot spot."""
    file = three()
    file.edit("s2", ONE, YOURS, "and a second line of it", THREE)
    file.holds(ONE, YOURS, "and a second line of it", THREE)
    file.edit("s1", ONE, TWO, THREE)
    file.edit("s3", ONE, f"{TWO}, and more", THREE)
    assert file.takes("s1") == [ONE, TWO, THREE]


def test_what_a_session_did_again_is_its_own() -> None:
    """A person's change that another session had taken back: 1000025 of the simulator."""
    file = three()
    file.edit("s2", ONE, TWO, THREE, YOURS)
    file.person(ONE, "by hand", THREE, YOURS)
    file.edit("s2", ONE, TWO, THREE, YOURS, before=text(ONE, "by hand", THREE, YOURS))
    file.edit("s1", ONE, "by hand", THREE, YOURS)
    file.edit("s1", MINE, ONE, "by hand", THREE, YOURS)
    answer = file.ask("s1")
    assert answer.text == text(MINE, ONE, "by hand", THREE)
    assert not answer.notes


def test_who_puts_anothers_removal_back_and_does_it_again_is_told_whose_it_is() -> None:
    file = three()
    file.edit("s2", ONE, YOURS, THREE)
    file.edit("s1", ONE, TWO, THREE)
    file.edit("s1", ONE, YOURS, THREE)
    answer = file.ask("s1")
    assert answer.text == file.head
    assert [(note.why.kind, note.why.sessions) for note in answer.notes] == [(Kind.REMOVED_BEFORE, ("s2",))]


def test_what_another_changed_since_is_not_taken_away_as_a_record_had_done() -> None:
    """Git brings a removal back, somebody changes a line of it and takes the rest away: 6200008."""
    file = File(text(ONE, "def gone():", "    value = 1", "end of gone", THREE))
    file.edit("s1", ONE, THREE)
    file.edit("s2", ONE, "def gone():", "    value = 2", "end of gone", THREE, YOURS, before=file.first)
    file.person(ONE, THREE, YOURS)
    assert file.takes("s1") == [ONE, "def gone():", "    value = 1", "end of gone", THREE]


def test_lines_that_head_has_before_those_they_replaced_are_found() -> None:
    """`git add -p` took a replacement and left what it replaced, behind it: 6210013 of the code days."""
    file = three()
    file.edit("s1", ONE, MINE, THREE)
    file.holds(ONE, MINE, TWO, THREE)
    assert file.takes("s1") == [ONE, MINE, THREE]


def test_a_removal_that_head_keeps_in_another_place_is_said() -> None:
    """Rule 8: a person staged another's line before it, by hand: 10017610 of the random days."""
    file = three()
    file.edit("s2", ONE, TWO, YOURS, THREE)
    file.edit("s1", ONE, MINE, YOURS, THREE)
    file.holds(ONE, MINE, YOURS, TWO, THREE)
    answer = file.ask("s1")
    assert answer.text == file.head
    assert [note.why.kind for note in answer.notes] == [Kind.REMOVAL_STAYS]


def test_a_line_that_another_changed_and_put_back_is_its_writers() -> None:
    """Rule 7: the net counts nothing as brought by who only takes his own change back."""
    file = three()
    file.edit("s1", ONE, MINE, THREE)
    file.edit("s2", ONE, f"{MINE}, and more", THREE)
    file.edit("s2", ONE, MINE, THREE)
    assert file.takes("s1") == [ONE, MINE, THREE]
    assert file.takes("s2") == [ONE, TWO, THREE]


def test_a_person_commits_what_he_wrote_instead_of_a_sessions_line() -> None:
    """Rule 3: no word of it is left, and the removal under it goes with what the person wrote."""
    file = three()
    file.edit("s1", ONE, MINE, THREE)
    file.person(ONE, YOURS, THREE)
    assert file.takes(UNRECORDED) == [ONE, YOURS, THREE]
    assert file.takes("s1") == [ONE, TWO, THREE]


def test_a_person_commits_what_he_wrote_instead_of_a_line_whose_block_head_has_without_it() -> None:
    """Rule 2: nobody will bring that line any more."""
    file = three()
    file.edit("s1", ONE, MINE, "and a second line of it", TWO, THREE)
    file.person(ONE, MINE, YOURS, TWO, THREE)
    assert file.takes("s1") == [ONE, MINE, TWO, THREE]
    file.holds(ONE, MINE, TWO, THREE)
    assert file.takes(UNRECORDED) == [ONE, MINE, YOURS, TWO, THREE]


def test_a_line_does_not_come_from_the_record_after_the_file_went_back_to_before_it() -> None:
    """Rule 4: with the line, what another session had done to it was undone."""
    file = File(text(ONE, THREE))
    file.edit("s1", ONE, TWO, THREE)
    file.holds(ONE, TWO, THREE)
    file.edit("s1", ONE, MINE, THREE)
    file.edit("s2", THREE)
    assert file.takes("s1") == [ONE, MINE, THREE]
    file.person(ONE, THREE)
    assert file.takes("s1") == [ONE, TWO, THREE]


def test_what_another_put_back_leaves_nothing_to_commit() -> None:
    """Rule 4: an edit that only took a piece back is no edit that goes on top of it later."""
    file = three()
    file.edit("s1", MINE, TWO, THREE)
    file.edit("s2", MINE, TWO, YOURS)
    file.edit("s2", ONE, TWO, YOURS)
    assert file.takes("s1") == [ONE, TWO, THREE]
    assert file.takes("s2") == [ONE, TWO, YOURS]


def test_a_piece_that_two_others_wrote_over_is_not_replaced_whole_by_one() -> None:
    """Rule 4: one of them kept words, so the piece is under an edit that still needs it."""
    file = three()
    file.edit("s1", ONE, MINE, "and a second line of it", TWO, THREE)
    file.edit("s2", ONE, YOURS, "and a second line of it", TWO, THREE)
    file.edit("s3", ONE, YOURS, "and a second line of it, longer", TWO, THREE)
    assert file.takes("s1") == [ONE, MINE, "and a second line of it", TWO, THREE]


def test_a_removal_does_not_outlive_a_brace_that_nobody_replaced() -> None:
    """Rule 1: what the session put in the place of a line is gone, so HEAD keeps the line."""
    file = three()
    file.edit("s1", ONE, "}", THREE)
    file.person(ONE, "words of a person", THREE)
    assert file.takes("s1") == [ONE, TWO, THREE]


def test_a_removal_that_head_has_too_goes_on_top_of_nothing_later() -> None:
    """Rule 4: HEAD has lost a line that the same edit took, so the rest of it is no edit that waits."""
    file = three()
    file.edit("s1", ONE, TWO, MINE, "and what stays of it", THREE)
    file.edit("s2", ONE, "and what stays of it", THREE)
    file.holds(ONE, THREE, "words of a person")
    file.person(ONE, "and what stays of it", THREE, "other words of his")
    assert file.takes("s1") == [ONE, "and what stays of it", THREE, "words of a person"]


def test_a_line_of_before_does_not_come_beside_what_head_has_in_its_place() -> None:
    """Rule 2: a commit took the line on, with a correction that no record tells, and a person put it back."""
    file = three()
    file.edit("s1", ONE, MINE, TWO, THREE)
    file.holds(ONE, MINE, TWO, THREE)
    file.edit("s2", ONE, f"{MINE} now", TWO, THREE)
    file.holds(ONE, "corrected by a person", TWO, THREE)
    file.person(ONE, MINE, TWO, THREE)
    assert file.refuses("s1") == {"stale"}


def test_what_every_function_says_makes_no_correction_of_another_function() -> None:
    """Rule 5: HEAD has these words, too, so they do not prove that the person saw the session's function."""
    file = File(text("def first():", "    return 1", "", THREE))
    file.edit("s1", "def first():", "    return 1", "", "def added():", "    return 2", "", THREE)
    file.person("def first():", "    return 1", "", "def written():", "    return 3", "", THREE)
    assert file.takes("s1") == ["def first():", "    return 1", "", THREE]


def test_a_number_of_one_digit_makes_no_correction_of_another_function() -> None:
    """Rule 5: such a word is in most texts, so it proves as little as one that HEAD has."""
    file = File(text("def old():", "    return x"))
    file.edit("s1", "def old():", "    return x", "def made():", "    return 1")
    file.person("def old():", "    return x", "def by_hand():", "    print(1)")
    assert file.takes("s1") == ["def old():", "    return x"]


def test_a_correction_inside_a_block_follows_whatever_it_says() -> None:
    """Rule 5: the lines around it show that the person saw the block. At its rim the words have to."""
    file = three()
    file.edit("s1", ONE, "def made():", "    pass", "made()", TWO, THREE)
    file.person(ONE, "def made():", "    return one", "made()", TWO, THREE)
    answer = file.ask("s1")
    assert answer.text == text(ONE, "def made():", "    return one", "made()", TWO, THREE)
    assert answer.includes == (UNRECORDED,)
    file.person(ONE, "def made():", "    pass", "else", TWO, THREE)
    assert file.takes("s1") == [ONE, "def made():", "    pass", TWO, THREE]


def test_what_stands_before_a_blank_line_of_a_block_is_not_inside_it() -> None:
    """Rule 5: which of several blank lines is the session's nobody knows, so none goes."""
    file = three()
    file.edit("s1", ONE, MINE, "", TWO, THREE)
    file.edit("s2", ONE, MINE, "", YOURS, "", TWO, THREE)
    file.person(ONE, MINE, "by hand", "", f"corrected {YOURS}", "", TWO, THREE)
    assert file.takes("s1") == [ONE, MINE, TWO, THREE]


def test_a_brace_that_head_and_the_file_kept_of_a_block_is_in_head() -> None:
    """Another session's commit took all the block's other lines away, and its brace is no new line."""
    file = three()
    file.edit("s1", "made() {", "  its text", "}", ONE, TWO, THREE)
    file.holds("made() {", "  its text", "}", ONE, TWO, THREE)
    file.edit("s2", "}", ONE, TWO, THREE)
    file.edit("s2", YOURS, "}", ONE, TWO, THREE)
    file.holds("pulled", YOURS, "}", ONE, TWO, THREE)
    file.person("pulled", YOURS, "by hand", "}", ONE, TWO, THREE)
    assert file.takes("s1") == ["pulled", YOURS, "}", ONE, TWO, THREE]


def test_an_edit_of_which_a_brace_is_left_shows_no_more() -> None:
    """Rule 4: a person took out what replaced the line, so it does not come from the record."""
    file = three()
    file.edit("s1", ONE, MINE, THREE)
    file.edit("s2", ONE, YOURS, "{", THREE)
    file.person(ONE, "{", THREE)
    assert file.takes("s1") == [ONE, TWO, THREE]


def test_what_a_given_up_piece_removed_goes_with_the_later_piece_in_its_place() -> None:
    """Rule 3 holds of the session's own piece, too: HEAD had the first and the last version."""
    file = three()
    file.edit("s1", ONE, MINE, THREE)
    file.person(ONE, "by hand", THREE)
    file.edit("s1", ONE, "by hand, and corrected", THREE)
    assert file.takes("s1", include_entangled=True) == [ONE, "by hand, and corrected", THREE]


def test_who_took_one_line_of_a_rewrite_away_did_not_take_what_stood_there_before() -> None:
    """Rule 3: another session took the other lines, and its edit is not in the commit."""
    file = File(text(ONE, TWO, THREE, "the fourth line"))
    file.edit("s1", "alpha one", "beta two", "gamma three", "delta four")
    file.edit("s2", "alpha one", "gamma three", "delta four")
    file.edit("s3", YOURS, "more of it")
    assert file.takes("s2") == [ONE, TWO, THREE, "the fourth line"]


def test_who_took_what_says_something_did_not_take_what_stood_under_a_bare_word() -> None:
    """Rule 3: a third session took that word away, and its edit is not in the commit."""
    file = File(text("alpha old", "beta old", "the end"))
    file.edit("s1", "gamma new", "    return", "the end")
    file.edit("s2", "    return", "the end")
    file.edit("s3", "the end")
    assert file.takes("s2") == ["alpha old", "beta old", "the end"]
    assert file.takes("s2", "s3") == ["the end"]


def test_a_rewrite_that_several_took_apart_is_superseded_by_none_of_them() -> None:
    """Rule 3: who wrote instead of one of its lines waits, as he would where the others still stood."""
    file = File(text(ONE, TWO, THREE, "the fourth line"))
    file.edit("s1", "alpha one", "beta two", "gamma three", "delta four")
    file.edit("s2", "alpha one", "some words", "gamma three", "delta four")
    file.edit("s3", YOURS, "some words", "more of it")
    assert file.refuses("s2") == {"entangled"}
    assert file.takes("s2", "s3") == [YOURS, "some words", "more of it"]


@pytest.mark.parametrize(
    ("edited", "by_hand"),
    [
        ([ONE, "alpha beta gamma", THREE], [ONE, "alpha by hand", THREE]),  # one word of three is left
        ([ONE, f"    {TWO}", THREE], [ONE, "    the one by hand", THREE]),  # it had brought no word
        (["alpha beta gamma", THREE], ["alpha by hand", THREE]),  # it had removed more than it brought
        ([ONE, TWO, THREE, "alpha beta gamma"], [ONE, TWO, THREE, "alpha by hand"]),
    ],
)
def test_what_a_session_gives_up_is_in_nobodys_way(edited: list[str], by_hand: list[str]) -> None:
    """Rule 3: the session has nothing left to commit, so who wrote in the place must be able to."""
    file = three()
    file.edit("s1", *edited)
    file.person(*by_hand)
    assert file.takes("s1") == [ONE, TWO, THREE]
    assert file.takes(UNRECORDED) == by_hand


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("alpha beta by hand", "alpha beta by hand, and again"),  # each keeps the words
        ("other words by hand", "not a word of it"),  # between two lines of the session
    ],
)
def test_what_a_person_corrected_may_be_corrected_again(first: str, then: str) -> None:
    """Rule 5: another's edit between the two shows what the person had first, and changes nothing."""
    file = three()
    edited = [ONE, "made() {", "alpha beta", "  made it", "}", THREE]
    by_hand = [first if x == "alpha beta" else x for x in edited]
    again = [then if x == first else x for x in by_hand]
    file.edit("s1", *edited)
    file.person(*by_hand)
    file.edit("s2", *by_hand, YOURS)
    file.person(*again, YOURS)
    assert file.takes("s1") == again
    assert file.takes("s2") == [ONE, TWO, THREE, YOURS]


def test_who_corrects_a_line_that_was_only_indented_is_followed() -> None:
    """Rule 5: it had brought no word of its own, so all of its words count."""
    file = three()
    by_hand = [f"    {ONE}, by hand", f"    {TWO}", THREE]
    file.edit("s1", f"    {ONE}", f"    {TWO}", THREE)
    file.person(*by_hand)
    assert file.takes("s1") == by_hand


def test_what_a_session_wrote_in_two_edits_counts_as_written_in_one() -> None:
    """Rule 5: nothing of the second edit is left, and most of what both brought."""
    file = three()
    file.edit("s1", ONE, "alpha beta", THREE)
    file.edit("s1", ONE, "alpha beta gamma", THREE)
    file.person(ONE, "alpha beta by hand", THREE)
    assert file.takes("s1") == [ONE, "alpha beta by hand", THREE]


def test_an_edit_under_one_that_is_given_up_is_given_up_too() -> None:
    """Rule 3: the person kept less than half of what three edits brought, and a word of the first."""
    file = three()
    for line in ("alpha beta", "alpha beta gamma", "alpha beta gamma delta"):
        file.edit("s1", ONE, line, THREE)
    file.person(ONE, "alpha by hand", THREE)
    assert file.takes("s1") == [ONE, TWO, THREE]
    assert file.takes(UNRECORDED) == [ONE, "alpha by hand", THREE]


def test_words_of_a_line_that_nobody_commits_any_more_are_free() -> None:
    """Rule 7: the session left the person's line to him; the words that he kept are not the session's."""
    file = three()
    file.edit("s1", "alpha beta gamma", "two of it", THREE)
    file.person("alpha by hand", "two of it", THREE)
    file.holds(*file.takes("s1"))
    assert file.takes(UNRECORDED) == ["alpha by hand", "two of it", THREE]


def test_a_correction_in_a_line_that_went_under_anothers_is_named() -> None:
    """Rules 3 and 5: of the other's line nothing is left, and the person's word is still there."""
    file = three()
    file.edit("s1", ONE, "port eighty", TWO, THREE)
    file.person(ONE, "port secure", TWO, THREE)
    file.edit("s2", ONE, "gate secure", TWO, THREE)
    file.edit("s1", ONE, "door secure", TWO, THREE)
    answer = file.ask("s1")
    assert answer.text == text(ONE, "door secure", TWO, THREE)
    assert answer.includes == (UNRECORDED,)


def test_a_paragraph_inside_a_block_is_its_writers() -> None:
    """Rule 5: between two functions of a session a person wrote one of his own, and corrected the first."""
    file = three()
    made, more = ["made() {", "  its text", "}", ""], ["more() {", "  other text", "}"]
    file.edit("s1", ONE, *made, *more, TWO, THREE)
    by_hand = ["made() {", "  by hand", "}", "", "hand() {", "  new words", "}", ""]
    file.person(ONE, *by_hand, *more, TWO, THREE)
    assert file.refuses("s1") == {"stale"}


def test_a_corrected_line_that_a_stash_brings_back_takes_what_it_had_taken() -> None:
    """HEAD had the line of before and the corrected one: the pop's removal is that of the first edit."""
    file = three()
    own, by_hand = f"{TWO}, own", f"{TWO}, own and by hand"
    file.edit("s1", ONE, own, THREE)
    file.person(ONE, by_hand, THREE)
    file.edit("s2", ONE, by_hand, THREE, YOURS)
    file.person(ONE, TWO, THREE)
    file.edit("s1", MINE, ONE, TWO, THREE)
    file.holds(MINE, ONE, TWO, THREE)
    file.person(MINE, ONE, by_hand, THREE, YOURS)
    assert file.takes("s1") == [MINE, ONE, by_hand, THREE]


def test_what_a_person_mends_in_a_checkout_is_the_persons_commit() -> None:
    """He checks the file out and rewrites one line of those that the session had replaced, seen as one."""
    lines = [f"line {n} of it" for n in range(9)]
    file = File(text(*lines))
    file.edit("s1", *lines[:3], "what one session writes", *lines[6:])
    by_hand = [*lines[:4], "entirely different words", *lines[5:]]
    file.person(*by_hand)
    assert file.takes("s1") == lines
    assert file.takes(UNRECORDED) == by_hand


def test_a_line_that_comes_back_elsewhere_leaves_a_correction_one() -> None:
    """Another session's removal is undone by hand, and the session's line mended, before anybody looks."""
    lines = [f"line {n} of it" for n in range(6)]
    file = File(text(*lines))
    file.edit("s1", *lines[1:])
    file.edit("s2", *lines[1:5], "what one session writes")
    file.person(*lines[:5], "what one session wrote")
    assert file.takes("s2") == [*lines[:5], "what one session wrote"]


def test_a_file_that_comes_back_with_another_first_line_takes_no_line_from_head() -> None:
    """One session had replaced a line before the other deleted the file: who mends it took that line."""
    lines = [f"line {n} of it" for n in range(4)]
    file = File(text(*lines))
    file.edit("s2", lines[0], "what one session writes", *lines[2:])
    file.steps.append(Step("1", "s1", file.disk, None, seen=True))
    file.person("what a person writes", *lines[1:])
    assert file.takes("s1") == lines


def test_two_lines_that_took_the_place_of_one_never_stand_in_head_both() -> None:
    """A revert put the line back, the session rewrote it, and a reset leads to before the revert."""
    file = File(text(ONE, TWO, THREE))
    file.edit("s2", ONE, YOURS, THREE)
    file.holds(ONE, YOURS, THREE)
    file.person(ONE, TWO, THREE)
    file.edit("s1", ONE, MINE, THREE)
    answer = file.ask("s1")
    assert answer.refused
    assert {one.why.kind for one in answer.left} == {Kind.OTHER_VERSION}


def test_the_note_of_a_line_that_a_checkout_took_names_what_stands_there_again() -> None:
    lines = [f"line {n} of it" for n in range(9)]
    file = File(text(*lines))
    file.edit("s1", *lines[:3], "what one session writes", *lines[6:])
    file.person(*lines[:4], "entirely different words", *lines[5:])
    (lost,) = [note for note in file.ask("s1").notes if note.why.kind is Kind.LEFT_TO_NOBODY]
    assert lost.lines == (4, 6)


def test_a_line_waits_beside_the_one_that_replaced_what_it_was_made_of_at_second_hand() -> None:
    """Put away and brought back over another's committed line, and edited again."""
    file = File(text(ONE, "two words here", THREE))
    file.edit("a", ONE, "two words of a", THREE)
    file.person(ONE, "two words here", THREE)
    file.edit("b", ONE, "other words here", THREE)
    file.holds(ONE, "other words here", THREE)
    file.person(ONE, "two words of a", THREE)
    file.edit("a", ONE, "two more of a", THREE)
    assert file.refuses("a") == {"entangled"}


def test_a_recorded_removal_goes_although_the_file_has_an_equal_line_in_another_place() -> None:
    """Another session wrote the line in two new functions, and took one back."""
    old, tail = ("def old(a):", "    result = a + 1", "    return result"), ("def tail(z):", "    print(z)")
    new, more = (
        ("def new(b):", "    value = b * 2", "    return result"),
        ("def more(c):", "    return result"),
    )
    file = File(text(*old, *tail))
    file.edit("s2", *old, *tail, *new, *more)
    file.edit("s2", *old, *tail, *new)
    file.edit("s1", *tail, *new)
    assert file.takes("s1") == [*tail]


def test_a_line_that_a_person_writes_in_a_new_function_is_no_return_of_the_sessions_copy() -> None:
    """The session had added a copy, taken it back and removed the function with the first one."""
    old, tail = ("def old(a):", "    result = a + 1", "    return result"), ("def tail(z):", "    print(z)")
    file = File(text(*old, *tail))
    file.edit("s1", *old, *tail, "    return result")
    file.edit("s1", *old, *tail)
    file.edit("s1", *tail)
    file.person(*tail, "def new(b):", "    value = b * 2", "    return result")
    assert file.takes("s1") == [*tail]
