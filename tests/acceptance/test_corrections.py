"""Corrections that nobody recorded: a formatter or a person changes a session's own pending lines."""

import pytest

from tests.acceptance.test_head_moved import head, nothing_pending, swap, ten, text
from tests.support import shells
from tests.support.repo import Repo
from tests.support.texts import TEN


@pytest.fixture
def day(empty_repo: Repo) -> Repo:
    """A repository whose only file is ``f``."""
    empty_repo.write("f", TEN)
    empty_repo.commit_all("base")
    return empty_repo


def included(repo: Repo) -> bool:
    return "Ralph-Includes: unrecorded" in repo.trailers()


def test_a_corrected_line_is_committed_as_it_stands(day: Repo) -> None:
    """The line as it stands, a note naming it, and the trailer."""
    swap(day, "S1", "line 3\n", "x = 'three'\n")
    swap(day, None, "x = 'three'\n", 'x = "three"\n')
    answer = day.commit("S1")
    assert head(day) == ten(l3='x = "three"')
    assert included(day)
    assert "'f' line 3" in answer.notes
    nothing_pending(day, "S1")


def test_a_correction_that_was_staged_is_committed_as_it_stands(day: Repo) -> None:
    """``git add`` found it on disk; nothing was put there, so the session's line is not taken for gone."""
    swap(day, "S1", "line 3\n", "x = 'three'\n")
    swap(day, None, "x = 'three'\n", 'x = "three"\n')
    day.git("add", "-A")
    day.commit("S1")
    assert head(day) == ten(l3='x = "three"')
    assert included(day)
    nothing_pending(day, "S1")


@pytest.mark.parametrize("git", ["status", "add other"])
@pytest.mark.parametrize(
    ("was", "mine", "then"),
    [
        ("return total", "return sum(total, start)", "return sum(start, total)"),
        ("timeout = 30", "timeout_s = 60", "timeout_s = 60.0"),
        ("x = f(y)", "x = g(z)", "x = g(z, y)"),
    ],
)
def test_a_correction_is_one_also_where_git_wrote_its_index(
    empty_repo: Repo, git: str, was: str, mine: str, then: str
) -> None:
    """A shell prompt runs ``git status``, and somebody stages other files: that puts no file back."""
    repo = empty_repo
    repo.write("f", ten(l3=was))
    repo.write("other", "")
    repo.git("add", "f")
    repo.git("commit", "-q", "-m", "base")
    swap(repo, "S1", was, mine)
    swap(repo, None, mine, then)
    repo.git(*git.split())
    repo.commit("S1")
    assert head(repo) == ten(l3=then)


def test_what_a_person_wrote_and_staged_where_a_checkout_took_a_line_is_his(day: Repo) -> None:
    """`git add -p` writes an index entry without the times that would tell of the checkout."""
    swap(day, "S1", "line 5\n", "line 5\nfresh by S1\n")
    day.git("checkout", "--", "f")
    day.tick()
    his = TEN.replace("line 5\n", "line 5\na person wrote here\n")
    day.write("f", his)
    oid = day.git("hash-object", "-w", "f").strip()
    day.git("update-index", "--cacheinfo", f"100644,{oid},f")
    day.commit("S1")
    assert head(day) == TEN
    assert day.git_bytes("show", ":f").decode() == his


def test_a_removal_beside_a_persons_change_goes_alone_also_after_git_status(empty_repo: Repo) -> None:
    """The last look asks more where git put files back, and `git status` puts none back."""
    repo, text = empty_repo, "def g(line):\n    set(line)\n    return x\n\ndef h(q):\n    return x\n"
    repo.write("f", text)
    repo.commit_all("base")
    swap(repo, "S1", "    set(line)\n    return x\n", "    set(line)\n")
    swap(repo, None, "    set(line)\n", "    put(total)\n")
    repo.git("status")
    repo.commit("S1")
    assert head(repo) == text.replace("    set(line)\n    return x\n", "    set(line)\n")


def test_a_removed_line_of_a_pending_block_goes_with_it(day: Repo) -> None:
    day.edit("S1", "f", TEN + "a\nb\nc\n")
    swap(day, None, "b\n", "")
    day.commit("S1")
    assert head(day) == TEN + "a\nc\n"
    nothing_pending(day, "S1")


def test_a_removal_of_a_whole_edit_and_half_of_another_goes_with_them(day: Repo) -> None:
    """What is left of a block is committed as it stands, not as it was recorded."""
    day.edit("S1", "f", TEN + "a\nb\n")
    day.edit("S1", "f", TEN + "a\nb\nc\n")
    swap(day, None, "b\nc\n", "")
    day.commit("S1")
    assert head(day) == TEN + "a\n"
    assert not included(day)  # the commit has no line that anybody else wrote
    nothing_pending(day, "S1")


def test_a_new_file_that_somebody_emptied_is_committed_empty(day: Repo) -> None:
    day.edit("S1", "new", "a\nb\n")
    day.edit("S1", "new", "a\nb\nc\n")
    day.write("new", "")
    day.commit("S1")
    assert day.blob("new") == b""
    nothing_pending(day, "S1")


def test_a_removal_of_a_whole_edit_alone_is_no_correction(day: Repo) -> None:
    """It is taken back; the one that stands is committed without a word about somebody else."""
    day.edit("S1", "f", TEN + "a\nb\n")
    day.edit("S1", "f", TEN + "a\nb\nc\n")
    swap(day, None, "c\n", "")
    day.commit("S1")
    assert head(day) == TEN + "a\nb\n"
    assert not included(day)
    nothing_pending(day, "S1")


def test_a_line_inside_a_pending_block_goes_with_it(day: Repo) -> None:
    day.edit("S1", "f", TEN + "x = 1\ny = 2\n")
    swap(day, None, "x = 1\ny = 2\n", "x = 1\nwithin\ny = 2\n")
    day.commit("S1")
    assert head(day) == TEN + "x = 1\nwithin\ny = 2\n"
    assert included(day)


def test_a_line_between_two_that_say_nothing_stays_nobodys(day: Repo) -> None:
    """A brace and a lone `return` stand everywhere, so it may belong to anything."""
    day.edit("S1", "f", TEN + "x = 1\n}\n    return\n")
    swap(day, None, "}\n", "}\nwithin\n")
    day.commit("S1")
    assert head(day) == TEN + "x = 1\n}\n    return\n"
    assert text(day) == TEN + "x = 1\n}\nwithin\n    return\n"


def test_blank_lines_at_the_rim_of_a_followed_block_follow(day: Repo) -> None:
    """A formatter sets a new function apart with blank lines."""
    day.edit("S1", "f", TEN.replace("line 6\n", "def f():\n  return 'a'\nline 6\n"))
    day.write("f", TEN.replace("line 6\n", '\n\ndef f():\n    return "a"\n\n\nline 6\n'))
    day.commit("S1")
    assert head(day) == text(day)
    nothing_pending(day, "S1")


def test_leave_commits_the_recorded_text_and_says_so(day: Repo) -> None:
    """``ralph.unrecorded=leave``: the recorded text, and a note that it differs from the file."""
    day.git("config", "ralph.unrecorded", "leave")
    swap(day, "S1", "line 3\n", "x = 'three'\n")
    swap(day, None, "x = 'three'\n", 'x = "three"\n')
    answer = day.commit("S1")
    assert head(day) == ten(l3="x = 'three'")
    assert not included(day)
    assert "'f' line 3: was changed since" in answer.notes


@pytest.mark.parametrize(
    ("new", "told", "place"),
    [
        ("def three():\n    by hand\n    return 3\n", "'f' line 4: was put among", "f:4"),
        ("def three():\n    return 33 + 3\n", "'f' line 4: was changed since", "f:4"),
        ("def three(x):\n    by hand\n    return 3\n", "'f' lines 3-4: was changed since", "f:3-4"),
    ],
    ids=["put inside", "changed", "both"],
)
def test_what_is_left_is_named_with_the_command_that_takes_it(
    day: Repo, new: str, told: str, place: str
) -> None:
    """A person is told; an agent knows not whose it is, and is told the line alone."""
    day.git("config", "ralph.unrecorded", "leave")
    swap(day, "S1", "line 3\n", "def three():\n    return 3\n")
    swap(day, None, "def three():\n    return 3\n", new)
    command = f"git ralph assign --to {day.called('S1')} -- {place}"
    agent = day.ralph("commit", "--session", "S1", "-m", "x", "--dry-run", env={"GEMINI_CLI": "1"})
    assert told in agent.said
    assert "assign" not in agent.said
    answer = day.commit("S1")
    assert told in answer.notes
    assert head(day) == ten(l3="def three():\n    return 3")
    assert command in answer.said
    day.ralph(*command.split()[2:])
    day.commit("S1")
    assert head(day) == text(day)
    assert "assign" not in day.commit("S1").said


def test_a_bad_setting_is_said(day: Repo) -> None:
    day.git("config", "ralph.unrecorded", "sometimes")
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, None, "three\n", "THREE\n")
    done = day.ralph("commit", "--session", "S1", "-m", "x", code=128)
    assert "ralph.unrecorded" in done.said


@pytest.mark.parametrize(
    ("new", "wanted"),
    [
        ("line 2 by hand\nthree\n", "line 2\nthree\n"),
        ("line 2\nthree\nby hand\nline 4\n", None),
    ],
    ids=["a line of HEAD", "a line beside the block"],
)
def test_never_a_line_of_head_nor_one_beside_the_block(day: Repo, new: str, wanted: str | None) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, None, "line 2\nthree\n" if wanted else "line 2\nthree\nline 4\n", new)
    day.commit("S1")
    assert head(day) == ten(l3="three")
    assert not included(day)


@pytest.mark.parametrize("how", ["edit", "undo", "again", "part", "onto"])
def test_never_a_line_that_its_session_took_out_of_head_and_put_back(day: Repo, how: str) -> None:
    """It is HEAD's as before, whoever brought it back: a person's line there is no correction."""
    there = TEN
    if how == "onto":  # a file moved onto one with the same text
        day.write("same", TEN)
        day.commit_all("same")
        day.rename("S1", "same", "f")
    elif how == "part":
        there = ten(l5="")
        day.edit("S1", "f", ten(l3="", l4="", l5=""))
        day.edit("S1", "f", there)
    elif how == "again":
        day.delete("S1", "f")
        day.edit("S1", "f", TEN)
    else:
        day.edit("S1", "f", ten(l3="three", l4="four"))
        if how == "undo":
            day.ralph("undo", "--session", "S1", "f")
        else:
            day.edit("S1", "f", TEN)
    day.write("f", there.replace("line 3\n", "line 3\nby a person\n"))
    answer = day.run("commit", "--session", "S1", "-m", "x", "--json")
    assert answer.code in (0, 4)
    assert head(day) == there
    assert "by a person" in text(day)


def test_a_gap_over_own_and_head_lines_is_split_where_lines_pair(day: Repo) -> None:
    """Both lines were changed, one to one: S1's goes along, HEAD's stays nobody's."""
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, None, "three\nline 4\n", "three!\nFOUR\n")
    day.commit("S1")
    assert head(day) == ten(l3="three!")


def test_a_gap_over_own_and_head_lines_that_do_not_pair_is_left(day: Repo) -> None:
    """The recorded text is committed, or nothing where no word of it is left, with a note."""
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, None, "three\nline 4\n", "THREE FOUR\n")
    answer = day.commit("S1")
    assert head(day) == TEN
    assert "is left to" in answer.notes


def test_each_session_keeps_its_own_correction(day: Repo) -> None:
    """A formatter runs over the lines of two sessions: each commit is as on disk, nothing is left."""
    swap(day, "S1", "line 3\n", "a = 'three'\n")
    swap(day, "S2", "line 4\n", "b = 'four'\n")
    day.write("f", text(day).replace("'", '"'))
    day.commit("S1")
    assert head(day) == ten(l3='a = "three"')
    day.commit("S2")
    assert head(day) == text(day)
    assert day.git("status", "--short") == ""
    nothing_pending(day, "S1", "S2")


def test_a_correction_between_two_edits_of_a_line(day: Repo) -> None:
    """Format on save between two edits: the second edit builds on the first as it was corrected."""
    swap(day, "S1", "line 3\n", "a = 'three'\n")
    swap(day, None, "a = 'three'\n", 'a = "three"\n')
    swap(day, "S1", 'a = "three"\n', 'a = "three and more"\n')
    day.commit("S1")
    assert head(day) == ten(l3='a = "three and more"')
    nothing_pending(day, "S1")


def test_what_another_sessions_shell_command_could_explain_does_not_follow(day: Repo) -> None:
    """S2's shell ran meanwhile: the change of S1's line may be its."""
    swap(day, "S1", "line 3\n", "x = three\n")
    shells.run(day, "S2", "sed -i s/three/THREE/ f")
    day.commit("S1")
    assert head(day) == ten(l3="x = three")
    assert not included(day)


def test_a_followed_gap_leaves_names_for_the_next_session(day: Repo) -> None:
    """S2's edit after S1's corrected commit goes through, whatever the user changes meanwhile."""
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, None, "three\n", "three!\n")
    swap(day, None, "line 9\n", "user nine\n")
    day.commit("S1")
    assert head(day) == ten(l3="three!")
    swap(day, None, "user nine\n", "user nine again\n")
    swap(day, "S2", "three!\n", "three by S2\n")
    day.commit("S2")
    assert head(day) == ten(l3="three by S2")


def test_a_shell_command_that_came_before_the_edit_explains_nothing(day: Repo) -> None:
    """S2's shell changed the file once; what happened to S1's line since is not its doing."""
    shells.run(day, "S2", "sed -i 's/line 9/nine/' f")
    day.git("commit", "-qam", "nine")
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, None, "three\n", "three!\n")
    day.commit("S1")
    assert head(day) == ten(l3="three!", l9="nine")


def moved(day: Repo, *, first: str = "") -> str:
    """S1 moves ``f`` to ``g``; what ``g`` holds then."""
    if first:
        swap(day, "S1", "line 3\n", first)
    day.rename("S1", "f", "g")
    return text(day, "g")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("line 3\n", "by a person\n"),
        ("line 3\n", "line 3\nby a person\n"),
        ("line 3\n", ""),
        ("line 3\n", "\nline 3\n"),
    ],
)
def test_what_a_person_changes_in_a_moved_file_is_no_correction(day: Repo, old: str, new: str) -> None:
    """The lines came from HEAD with the move; only the move is the session's."""
    there = moved(day)
    day.write("g", there.replace(old, new))
    assert day.commit("S1").paths == {"f": "D", "g": "A"}
    assert day.blob("g") == TEN.encode()
    assert not included(day)
    assert text(day, "g") == there.replace(old, new)
    nothing_pending(day, "S1")


def test_a_session_s_own_line_is_corrected_also_in_a_file_that_it_moved(day: Repo) -> None:
    there = moved(day, first="x = 'three'\n")
    day.write("g", there.replace("'three'", '"three"'))
    day.commit("S1")
    assert day.blob("g") == ten(l3='x = "three"').encode()
    assert included(day)
    nothing_pending(day, "S1")


def test_an_edit_that_was_taken_back_alone_is_pending_again_when_it_comes_back(day: Repo) -> None:
    """Its removal was no correction of another edit, so no commit has consumed it."""
    day.edit("S1", "f", TEN + "a\n")
    day.edit("S1", "f", TEN + "a\nc\n")
    swap(day, None, "c\n", "")
    day.commit("S1")
    swap(day, None, "a\n", "a\nc\n")
    day.commit("S1")
    assert head(day) == TEN + "a\nc\n"


def test_a_correction_that_was_committed_is_followed_again_after_a_reset(day: Repo) -> None:
    """It went along with the commit that HEAD lost, so it is not what moved HEAD."""
    day.edit("S2", "f", TEN + "two of S2\n")
    day.git("commit", "-qam", "all")
    swap(day, "S1", "two of S2\n", "two by S1\n")
    swap(day, None, "two by S1\n", "two by nobody\n")
    day.commit("S1")
    day.git("reset", "-q", "--soft", "HEAD~1")
    assert day.commit("S1").paths == {"f": "M"}
    assert head(day) == TEN + "two by nobody\n"


@pytest.mark.parametrize("how", ["unseen", "seen", "reset"])
def test_what_stands_where_a_correction_was_stashed_is_no_correction(day: Repo, how: str) -> None:
    """HEAD's line came back with the stash, and a person rewrote that."""
    swap(day, "S1", "line 3\n", "three of S1\n")
    swap(day, None, "three of S1\n", "three of S1, mended\n")
    if how != "unseen":
        swap(day, "S2", "line 9\n", "nine\n")
        day.commit("S2")
    day.git("stash")
    swap(day, None, "line 3\n", "line 3 anew\n")
    if how == "reset":
        day.git("commit", "-qam", "anew")
        day.git("reset", "-q", "--soft", "HEAD~1")
    answer = day.run("commit", "--session", "S1", "-m", "x", "--json")
    assert answer.code in (0, 4)
    assert head(day) == (TEN if how == "unseen" else ten(l9="nine"))


@pytest.mark.parametrize("how", ["by hand", "picked"])
def test_a_line_that_had_a_commit_of_its_own_is_no_correction_after_a_reset(day: Repo, how: str) -> None:
    """HEAD had the session's block before the line came into it: whoever reset both, the line is his."""
    swap(day, "S1", "line 3\n", "three\nand a half\n")
    day.git("commit", "-qam", "both of them")
    other = text(day).replace("and a half\n", "by a person\nand a half\n")
    day.write("f", other)
    day.git("commit", "-qam", "his")
    if how == "picked":
        day.git("branch", "his")
        day.git("reset", "-q", "--hard", "HEAD~1")
        day.git("cherry-pick", "his")
    day.git("reset", "-q", "HEAD~2")
    assert text(day) == other
    day.commit("S1")
    assert head(day) == ten(l3="three\nand a half")
    assert not included(day)
    assert text(day) == other


def test_a_line_that_was_committed_with_the_block_is_a_correction_after_a_reset(day: Repo) -> None:
    """One commit had both: nothing tells that they were two pieces of work."""
    swap(day, "S1", "line 3\n", "three\nand a half\n")
    other = text(day).replace("and a half\n", "by a person\nand a half\n")
    day.write("f", other)
    day.git("commit", "-qam", "both of them")
    day.write("f", other.replace("line 9\n", "nine\n"))
    day.git("commit", "-qam", "elsewhere")
    day.git("reset", "-q", "HEAD~2")
    day.commit("S1")
    assert head(day) == other
    assert included(day)


@pytest.mark.parametrize("how", ["format", "amend", "no reset"])
def test_what_is_no_commit_of_its_own_or_keeps_the_words_is_followed(day: Repo, how: str) -> None:
    """Who squashes what he wrote and what a formatter made of it wants both, and so after an amend."""
    if how == "no reset":
        for more in ("three of them\n", "three of them\nby a person\n"):
            day.write("f", TEN + more)
            day.git("commit", "-qam", "elsewhere")
    swap(day, "S1", "line 3\n", "three of them\nx = 'half'\nand more\n")
    if how == "no reset":
        swap(day, None, "three of them\nx = 'half'\n", "three of them\nby a person\nx = 'half'\n")
        there = text(day)
    else:
        day.git("commit", "-qam", "S1's")
        new = 'x = "half"\n' if how == "format" else "x = 'half'\nby a person\n"
        swap(day, None, "x = 'half'\n", new)
        there = text(day)
        day.git("commit", "-qa", *(["--amend", "--no-edit"] if how == "amend" else ["-m", "format"]))
        day.git("reset", "-q", "HEAD~2" if how == "format" else "HEAD~1")
    day.commit("S1")
    assert text(day) == there
    assert head(day) == there
    assert included(day)


def test_who_wrote_a_line_that_a_stash_brought_back_is_named_where_it_goes_along(day: Repo) -> None:
    """S1's first line lay in the stash, beside a line of S2's that S2 has changed since."""
    swap(day, "S2", "line 9\n", "line 9\nred brick\n")
    day.commit("S2")
    swap(day, "S1", "line 3\n", "line 3\nof S1\n")
    stashed = text(day)
    day.git("stash")
    swap(day, "S1", "line 3\n", "line 3\nagain of S1\n")
    swap(day, "S2", "red brick\n", "blue glass\n")
    day.commit("S1")
    day.commit("S2")
    day.delete("S1", "f")
    day.write("f", stashed)  # as a person settles the conflict of a `stash pop`
    assert text(day) == stashed
    day.commit("S1", "--include-entangled")
    assert head(day) == stashed
    assert "Ralph-Includes: S2" in day.trailers()


@pytest.mark.parametrize("form", ["a second line that is of S2", "  a second line that is of S1"])
def test_who_takes_his_correction_back_after_the_commit_has_that_himself(repo: Repo, form: str) -> None:
    """HEAD got the line twice, once in each form."""
    repo.write("a", TEN + "a line that is\n" * 2)  # no word of it is new
    repo.commit_all("more")
    mine = (TEN + "a line that is\n" * 2).replace("line 2\n", "line 2\na second line that is of S1\n")
    repo.edit("S1", "a", mine)
    repo.write("a", mine.replace("a second line that is of S1", form))
    repo.commit("S1")
    assert form.encode() in (repo.blob("a") or b"")
    repo.write("a", mine)
    repo.edit("S1", "a", mine.replace("line 9", "nine of S1"))
    assert set(repo.commit("S1", code=4).left.values()) == {"stale"}
    repo.git("commit", "-qam", "back")
    assert "nothing to commit" in repo.ralph("commit", "--session", "S1", "-m", "x").text


def test_a_refusal_names_the_line_of_the_other_piece_where_its_own_lines_are_gone(day: Repo) -> None:
    """It named the first line of the file."""
    swap(day, "S2", "line 5\n", "line 5\nx of S2\ny of S2\n")
    swap(day, "S1", "x of S2\n", "x of S1\n")
    swap(day, "S3", "line 5\nx of S1\n", "five of S3\nx of S3 instead of S1\n")
    answer = day.commit("S1", code=4)
    assert answer.left == {"f": "entangled"}
    assert "'f' line 7" in answer.said
