"""HEAD moved by plain git: what it holds is settled, what it lacks stays its owner's, line by line.

``f`` holds "line 1" to "line 10" and is committed. Sessions edit it through their hooks, the user does
not; he uses plain git.
"""

import pytest

from tests.support import payloads
from tests.support.repo import Repo
from tests.support.texts import TEN


@pytest.fixture
def day(empty_repo: Repo) -> Repo:
    """A repository whose only file is ``f``."""
    empty_repo.write("f", TEN)
    empty_repo.commit_all("base")
    return empty_repo


def text(repo: Repo, path: str = "f") -> str:
    found = repo.read(path)
    assert found is not None
    return found.decode()


def swap(repo: Repo, session: str | None, old: str, new: str, path: str = "f") -> None:
    """Replace a piece of the file that occurs once; None is the user, whom no hook sees."""
    before = text(repo, path)
    assert before.count(old) == 1, (old, before)
    after = before.replace(old, new)
    if session is None:
        repo.write(path, after)
    else:
        repo.edit(session, path, after)


def head(repo: Repo, path: str = "f") -> str:
    return repo.blob(path).decode()


def ten(**lines: str) -> str:
    """The ten lines, some of them replaced: ``ten(l3="x")``."""
    out = TEN
    for name, new in lines.items():
        out = out.replace(f"line {name[1:]}\n", new + "\n" if new else "")
    return out


def nothing_pending(repo: Repo, *sessions: str) -> None:
    for name in sessions:
        assert repo.commit(name).status == "nothing", name


def test_text_that_head_passed_over_is_not_revived(day: Repo) -> None:
    """S3 wrote A, S4 made it Z, the user made it H and committed: A is dead."""
    swap(day, "S3", "line 4\n", "A\nline 4\n")
    swap(day, "S4", "A\n", "Z\n")
    swap(day, None, "Z\n", "H\n")
    day.git("commit", "-qam", "user")
    swap(day, "S3", "line 1\n", "one\n")
    day.commit("S3")
    assert head(day) == ten(l1="one", l4="H\nline 4")
    nothing_pending(day, "S3", "S4")


def test_committed_text_that_head_passed_over_is_not_revived(day: Repo) -> None:
    """The same where S3 had committed its A before."""
    swap(day, "S3", "line 4\n", "A\nline 4\n")
    day.commit("S3")
    swap(day, "S4", "A\n", "Z\n")
    swap(day, None, "Z\n", "H\n")
    day.git("commit", "-qam", "user")
    swap(day, "S3", "line 1\n", "one\n")
    day.commit("S3")
    assert head(day) == ten(l1="one", l4="H\nline 4")
    nothing_pending(day, "S3", "S4")


def test_a_popped_stash_brings_each_session_its_own_lines(day: Repo) -> None:
    """Edits that were away when their sessions committed come back to them, each to its own."""
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, "S2", "line 8\n", "eight\n")
    day.git("stash", "-q")
    nothing_pending(day, "S1", "S2")
    day.git("stash", "pop", "-q")
    day.commit("S1")
    assert head(day) == ten(l3="three")
    day.commit("S2")
    assert head(day) == ten(l3="three", l8="eight")


def test_a_removal_that_a_stash_and_its_pop_carried_survives_a_reset(day: Repo) -> None:
    """Taken back and made again by nobody: it is its session's when its commit leaves HEAD."""
    swap(day, "S1", "line 5\n", "")
    day.git("stash", "-q")
    swap(day, "S1", "line 1\n", "one\n")
    day.commit("S1")
    day.git("stash", "pop", "-q")
    day.commit("S1")
    day.git("commit", "-q", "--allow-empty", "-m", "user")
    day.git("reset", "-q", "HEAD~2")
    swap(day, "S1", "line 9\n", "nine\n")
    day.commit("S1")
    assert head(day) == ten(l1="one", l5="", l9="nine")


def test_a_line_that_came_back_with_a_stash_is_not_held_back_by_its_removal(day: Repo) -> None:
    """Another session's record came in between, and a reset threw that edit away."""
    swap(day, "S1", "line 5\n", "line 5\nadded here\n")
    day.git("stash", "-q")
    swap(day, "S2", "line 5\n", "line 5\nanother thing\n")
    day.git("reset", "-q", "--hard")
    day.git("stash", "pop", "-q")
    day.commit("S1")
    assert head(day) == ten(l5="line 5\nadded here")


def test_a_popped_removal_with_a_persons_line_beside_it_is_nobodys(day: Repo) -> None:
    """Both came in one gap, and in one place: nothing of it is committed, and that is said."""
    swap(day, "S1", "line 5\nline 6\n", "")
    day.git("stash", "-q")
    swap(day, "S2", "line 1\n", "one\n")
    day.commit("S2")
    day.git("stash", "pop", "-q")
    swap(day, None, "line 4\n", "line 4 as the user has it\n")
    done = day.commit("S1")
    assert head(day) == ten(l1="one")
    assert any("what this session removed there stays" in note for note in done.document["notes"])


def test_another_sessions_reset_commit_is_not_taken(day: Repo) -> None:
    """S2's commit was reset: its line is S2's again, not S1's."""
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, "S2", "line 8\n", "eight\n")
    day.commit("S2")
    day.git("reset", "-q", "HEAD~1")
    day.commit("S1")
    assert head(day) == ten(l3="three")
    day.commit("S2")
    assert head(day) == ten(l3="three", l8="eight")


def test_a_soft_reset_keeps_what_is_staged(day: Repo) -> None:
    """After ``reset --soft`` the other's line is staged; a commit leaves it staged."""
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, "S2", "line 8\n", "eight\n")
    day.commit("S2")
    day.git("reset", "-q", "--soft", "HEAD~1")
    day.commit("S1")
    assert head(day) == ten(l3="three")
    assert "+eight" in day.staged()
    assert "three" not in day.staged().replace(" three", "")


def test_a_restored_file_is_not_deleted(day: Repo) -> None:
    """S1's deletion was taken back by the user; S2's later line is no reason to delete it again."""
    day.delete("S1", "f")
    day.git("checkout", "-q", "--", "f")
    nothing_pending(day, "S1")
    swap(day, "S2", "line 8\n", "eight\n")
    nothing_pending(day, "S1")
    day.commit("S2")
    assert head(day) == ten(l8="eight")


def crlf(value: str) -> str:
    return value.replace("\n", "\r\n")


@pytest.mark.parametrize("way", ["attributes", "autocrlf"])
def test_committed_lines_are_not_committed_again_in_a_converted_file(day: Repo, way: str) -> None:
    """CRLF on disk, LF in HEAD: both are compared in one form."""
    if way == "attributes":
        day.write(".gitattributes", "* text=auto\n")
    else:
        day.git("config", "core.autocrlf", "input")
    day.write("f", crlf(TEN))
    day.git("add", "--renormalize", ".")
    day.git("add", "-A")
    day.git("commit", "-q", "--allow-empty", "-m", "attributes")
    day.edit("S1", "f", crlf(ten(l3="three")))
    day.edit("S2", "f", crlf(ten(l3="three", l8="eight")))
    day.commit("S2")
    assert head(day) == ten(l8="eight")
    day.write("f", crlf(ten(l3="three", l8="eight", l10="user")))
    nothing_pending(day, "S2")
    day.commit("S1")
    assert head(day) == ten(l3="three", l8="eight")


def test_a_new_converted_file_can_be_shared(day: Repo) -> None:
    """A new CRLF file, committed and then edited by two sessions, commits each line alone."""
    day.write(".gitattributes", "* text=auto\n")
    day.commit_all("attributes")
    day.edit("S1", "n", crlf(TEN))
    day.commit("S1")
    assert head(day, "n") == TEN
    day.edit("S1", "n", crlf(ten(l3="three")))
    day.edit("S2", "n", crlf(ten(l3="three", l8="eight")))
    day.commit("S1")
    assert head(day, "n") == ten(l3="three")
    day.commit("S2")
    assert head(day, "n") == ten(l3="three", l8="eight")


def test_a_discarded_edit_is_not_committed_after_another_edit(day: Repo) -> None:
    """S1's line was thrown away by ``git checkout``; S2 then rewrote the old line."""
    swap(day, "S1", "line 5\n", "five S1\n")
    day.git("checkout", "-q", "--", "f")
    swap(day, "S2", "line 5\n", "five S2\n")
    nothing_pending(day, "S1")
    day.commit("S2")
    assert head(day) == ten(l5="five S2")


def test_a_discarded_edit_beside_repeated_lines_stays_discarded(day: Repo) -> None:
    """Edits on both sides of a repeated line, discarded, then others' edits there."""
    day.write("f", "a\n}\nb\n}\nc\n")
    day.commit_all("braces")
    day.edit("S1", "f", "a1\n}\nb1\n}\nc\n")
    day.git("stash", "-q")
    day.edit("S2", "f", "a\n}\nb2\n}\nc\n")
    nothing_pending(day, "S1")
    day.commit("S2")
    assert head(day) == "a\n}\nb2\n}\nc\n"


def test_a_discarded_deletion_of_a_file_another_deletes_later(day: Repo) -> None:
    """S1's edit was discarded; S2 deletes the file: nothing of S1's is left, S2's deletion stands."""
    swap(day, "S1", "line 5\n", "five\n")
    day.git("checkout", "-q", "--", "f")
    day.delete("S2", "f")
    nothing_pending(day, "S1")
    day.commit("S2")
    assert day.changes() == {"f": "D"}


def test_an_undo_behind_heads_back_is_no_edit(day: Repo) -> None:
    """S1 edits, the user commits everything, then puts the old text back: nobody's change."""
    swap(day, "S1", "line 5\n", "five\n")
    day.git("commit", "-qam", "user")
    swap(day, None, "five\n", "line 5\n")
    swap(day, "S2", "line 8\n", "eight\n")
    nothing_pending(day, "S1")
    day.commit("S2")
    assert head(day) == ten(l5="five", l8="eight")


def test_a_stashed_line_comes_back_after_another_commit_of_its_session(day: Repo) -> None:
    """S1 edits line 3; stash; S1 commits line 8; pop: line 3 is S1's still."""
    swap(day, "S1", "line 3\n", "three\n")
    day.git("stash", "-q")
    swap(day, "S1", "line 8\n", "eight\n")
    day.commit("S1")
    assert head(day) == ten(l8="eight")
    day.git("stash", "pop", "-q")
    day.commit("S1")
    assert head(day) == ten(l3="three", l8="eight")


def test_a_stashed_line_comes_back_over_a_pulled_head(day: Repo) -> None:
    """Stash, a commit of the user's, pop: the line is S1's still."""
    swap(day, "S1", "line 3\n", "three\n")
    day.git("stash", "-q")
    nothing_pending(day, "S1")
    swap(day, None, "line 10\n", "ten\n")
    day.git("commit", "-qam", "user")
    day.git("stash", "pop", "-q")
    day.commit("S1")
    assert head(day) == ten(l3="three", l10="ten")


def test_what_a_reset_takes_out_of_head_is_pending_again(day: Repo) -> None:
    """The user commits S1's line and takes that commit back: it is S1's to commit."""
    swap(day, "S1", "line 3\n", "three\n")
    day.git("commit", "-qam", "user")
    nothing_pending(day, "S1")
    day.git("reset", "-q", "HEAD~1")
    day.commit("S1")
    assert head(day) == ten(l3="three")


def test_a_commit_of_everything_settles_what_it_holds(day: Repo) -> None:
    """S2 appends four lines, S1 removes two of them, the user commits all; S2's next edit goes through."""
    day.edit("S2", "f", TEN + "a\nb\nc\nd\n")
    day.edit("S1", "f", TEN + "a\nd\n")
    day.git("commit", "-qam", "user")
    swap(day, "S2", "line 2\n", "two\n")
    day.commit("S2")
    assert head(day) == ten(l2="two") + "a\nd\n"
    nothing_pending(day, "S1", "S2")


def test_a_block_committed_in_part_leaves_its_rest_pending(day: Repo) -> None:
    """The user commits two lines of S2's four with ``add -p``; the other two are S2's still."""
    day.edit("S2", "f", TEN + "a\nb\nc\nd\n")
    oid = day.git("hash-object", "-w", "--stdin", stdin=(TEN + "a\nb\n").encode())
    day.git("update-index", "--cacheinfo", f"100644,{oid},f")
    day.git("commit", "-qm", "user")
    swap(day, "S1", "line 2\n", "two\n")
    day.commit("S1")
    assert head(day) == ten(l2="two") + "a\nb\n"
    day.commit("S2")
    assert head(day) == ten(l2="two") + "a\nb\nc\nd\n"


def test_a_pre_event_that_saw_the_restored_file_is_no_old_read(day: Repo) -> None:
    """S1 and S2 edit, the user restores the file, S1 edits again: S1's new line commits."""
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, "S2", "line 8\n", "eight\n")
    day.git("checkout", "-q", "--", "f")
    path = str(day.file("f"))
    after = ten(l4="four")
    event = payloads.claude_write("S1", str(day.root), path, TEN, after)
    day.hook("claude-code", payloads.claude_pre(event))
    day.write("f", after)
    day.hook("claude-code", event)
    day.commit("S1")
    assert head(day) == ten(l4="four")


def test_what_a_commit_took_of_a_gap_lets_the_next_session_go_on(day: Repo) -> None:
    """After ``--include-entangled`` took part of the user's change the next session is not stale."""
    swap(day, None, "line 5\n", "user five\nuser six\n")
    swap(day, "S1", "user five\n", "five S1\n")
    day.commit("S1", "--include-entangled")
    swap(day, None, "line 9\n", "user nine\n")
    swap(day, "S2", "line 2\n", "two\n")
    day.commit("S2")
    assert head(day).startswith("line 1\ntwo\n")


def test_an_undone_commits_path_that_was_left_is_asked_again(day: Repo) -> None:
    """S1's commit of f and g is reset; f is left for what is staged there, g committed; then f can go."""
    day.write("g", TEN)
    day.commit_all("g")
    swap(day, "S1", "line 3\n", "S1 in f\n")
    swap(day, "S1", "line 3\n", "S1 in g\n", "g")
    day.commit("S1")
    day.git("reset", "HEAD~1")
    blob = day.git("hash-object", "-w", "--stdin", stdin=ten(l3="the user's").encode()).strip()
    day.git("update-index", "--cacheinfo", f"100644,{blob},f")
    answer = day.commit("S1", "--skip-entangled")
    assert (answer.paths, answer.left) == ({"g": "M"}, {"f": "entangled"})
    day.git("reset", "-q")
    assert day.commit("S1").paths == {"f": "M"}
    assert head(day) == ten(l3="S1 in f")


def test_a_persons_line_beside_a_stashed_one_stays_his_own(day: Repo) -> None:
    """Both lines go with the stash and come back with its pop, as one change that no hook saw."""
    swap(day, "S1", "line 5\n", "line 5\nS1 wrote\n")
    swap(day, "S2", "line 1\n", "line 1\nS2 wrote\n")
    swap(day, None, "S1 wrote\n", "S1 wrote\nthe user wrote\n")
    day.git("stash")
    nothing_pending(day, "S2")
    day.git("stash", "pop")
    day.commit("S1")
    assert head(day) == TEN.replace("line 5\n", "line 5\nS1 wrote\n")


def test_what_a_checkout_of_a_staged_part_took_away_is_not_committed(day: Repo) -> None:
    """The user staged one of S1's lines, without its removal, and took the file from the index."""
    swap(day, "S1", "line 6\n", "")
    swap(day, "S1", "line 5\n", "line 5\nS1 one\nS1 two\nS1 three\n")
    part = TEN.replace("line 5\n", "line 5\nS1 one\n")
    blob = day.git("hash-object", "-w", "--stdin", stdin=part.encode()).strip()
    day.git("update-index", "--cacheinfo", f"100644,{blob},f")
    day.git("checkout", "--", "f")
    assert text(day) == part
    day.commit("S1")
    assert head(day) == part


@pytest.mark.parametrize("seen", [False, True])
def test_who_rewrites_the_line_that_a_reset_put_back_corrects_nobody(day: Repo, seen: bool) -> None:
    """The user's line shares words with S1's because both were made of HEAD's; S2's edit tells of it."""
    swap(day, "S1", "line 4\n", "line four\n")
    day.git("reset", "--hard")
    swap(day, None, "line 4\n", "line IV\n")
    if seen:
        swap(day, "S2", "line 9\n", "line nine\n")
    assert day.commit("S1").status == "nothing"
    assert head(day) == TEN
    assert text(day) == (ten(l4="line IV", l9="line nine") if seen else ten(l4="line IV"))


def test_a_stash_elsewhere_leaves_no_doubt_about_a_file_that_records_alone_changed(day: Repo) -> None:
    """S2 took S1's lines out again and has not committed that: S1's are S1's to commit."""
    day.write("g", "one\n")
    day.commit_all("g")
    swap(day, "S1", "line 4\n", "line four\nmore of it\n")
    swap(day, "S2", "line four\nmore of it\n", "")
    day.write("g", "two\n")
    day.git("stash", "push", "-q", "--", "g")
    assert day.commit("S1").paths == {"f": "M"}
    assert head(day) == ten(l4="line four\nmore of it")


def test_another_sessions_line_is_not_in_a_file_that_head_lacks(day: Repo) -> None:
    """S1's new file and S2's line in it were committed; then HEAD went back to before the file."""
    day.edit("S1", "n", "one\ntwo\n")
    day.git("add", "n")
    day.git("commit", "-qm", "n")
    day.edit("S2", "n", "one\nS2\ntwo\n")
    day.commit("S2")
    day.git("reset", "-q", "--mixed", "HEAD~2")
    assert day.commit("S1").paths == {"n": "A"}
    assert head(day, "n") == "one\ntwo\n"
    assert day.commit("S2").paths == {"n": "M"}
    assert head(day, "n") == "one\nS2\ntwo\n"


def test_a_session_that_writes_what_a_revert_took_is_its_maker(day: Repo) -> None:
    """Another had written and committed the very same; only its commit tells that HEAD had it."""
    swap(day, "S1", "line 3\n", "three, as asked\n")
    day.commit("S1")
    day.git("revert", "--no-edit", "HEAD")
    swap(day, "S2", "line 3\n", "three, as asked\n")
    assert day.commit("S1").status == "nothing"
    assert day.commit("S2").paths == {"f": "M"}
    assert "session 'generic-2'" in day.ralph("why", "f:3").text


@pytest.mark.parametrize("way", ["undo", "edit", "checkout", "stash", "reset"])
def test_a_task_that_was_taken_back_is_his_who_does_it_again(day: Repo, way: str) -> None:
    """Both the line that went and the one that came: the first session has nothing, and nobody waits."""
    swap(day, "S1", "line 5\n", "line five\n")
    if way == "undo":
        day.ralph("undo", "--session", "S1")
    elif way == "edit":
        swap(day, "S1", "line five\n", "line 5\n")
    elif way == "checkout":
        day.git("checkout", "--", "f")
    elif way == "stash":
        day.git("stash")
        day.git("stash", "drop")
    else:
        day.git("commit", "-qam", "x")
        day.git("reset", "-q", "--hard", "HEAD~1")
    swap(day, "S2", "line 5\n", "line five\n")
    nothing_pending(day, "S1")
    assert "nothing to commit" in day.ralph("commit", "--mine", "-m", "x").text
    assert day.commit("S2").paths == {"f": "M"}
    assert head(day) == ten(l5="line five")


def test_who_does_a_part_of_it_again_waits_for_nobody(day: Repo) -> None:
    """The other session's block shared a line with it."""
    swap(day, "S1", "line 5\nline 6\n", "return five(alpha)\nraise what, now\n")
    day.ralph("undo", "--session", "S1")
    swap(day, "S2", "line 5\nline 6\n", "return five(alpha)\nprint what there is\n")
    nothing_pending(day, "S1")
    day.commit("S2")
    assert head(day) == text(day)


def test_a_file_that_was_removed_is_his_who_makes_it_again(day: Repo) -> None:
    """It was committed empty, and the first session had the lines."""
    day.edit("S1", "n", "alpha one\nbeta two\n")
    day.remove("n")
    day.edit("S2", "n", "alpha one\nbeta two\n")
    nothing_pending(day, "S1")
    day.commit("S2")
    assert head(day, "n") == "alpha one\nbeta two\n"


def test_who_takes_his_own_change_of_anothers_line_back_has_no_part_in_it(day: Repo) -> None:
    swap(day, "S1", "line 5\n", "five of S1\n")
    swap(day, "S2", "five of S1\n", "five of S2\n")
    swap(day, "S2", "five of S2\n", "five of S1\n")
    nothing_pending(day, "S2")
    day.commit("S1")
    assert head(day) == ten(l5="five of S1")


@pytest.mark.parametrize("committed", ["beside it", "over it"])
def test_who_takes_his_change_of_a_persons_line_back_has_not_written_it(day: Repo, committed: str) -> None:
    """Between the two records git brought lines right above the person's, in the same gap."""
    swap(day, "S1", "line 3\n", "three\n")
    day.commit("S1")
    day.write("f", (day.read("f") or b"") + b"pulled one\npulled two\n")
    if committed == "beside it":
        day.commit_all("pulled")
    day.write("f", (day.read("f") or b"") + b"of a person\n")
    swap(day, "S1", "of a person\n", "of S1\n")
    if committed == "over it":
        day.commit_all("a person takes S1's")
    swap(day, "S1", "of S1\n", "of a person\n")
    found = day.commit("S1")
    # who goes back behind what HEAD has is the maker of that
    assert found.paths == ({} if committed == "beside it" else {"f": "M"})
    assert (b"of a person" in day.blob("f")) == (committed == "over it")


def test_what_a_session_undid_is_not_its_removal_of_a_persons_line(day: Repo) -> None:
    """The person wrote the same line afterwards, committed it, and changes it now."""
    swap(day, "S1", "line 5\n", "five\n")
    day.ralph("undo", "--session", "S1")
    swap(day, None, "line 5\n", "five\n")
    day.git("commit", "-qam", "the person's")
    swap(day, None, "five\n", "FIVE\n")
    nothing_pending(day, "S1")
    assert head(day) == ten(l5="five")


def test_who_does_again_what_was_reverted_and_more_is_its_maker(day: Repo) -> None:
    """One edit with both; it looked like a write that kept what another had written in between."""
    swap(day, "S1", "line 3\n", "three, as asked\n")
    day.git("commit", "-qam", "all")
    day.git("revert", "--no-edit", "HEAD")
    day.edit("S2", "f", ten(l3="three, as asked", l9="nine of S2"))
    day.git("stash")
    day.git("stash", "pop")
    nothing_pending(day, "S1")
    day.commit("S2")
    assert head(day) == ten(l3="three, as asked", l9="nine of S2")


@pytest.mark.parametrize("before", ["nothing", "checkout", "stash"])
def test_who_does_it_again_with_more_in_the_same_edit_is_its_maker(day: Repo, before: str) -> None:
    """A pre event found the file without the line, after all records: so it is no write from an old read."""
    swap(day, "S1", "line 3\n", "three, as asked\n")
    if before == "nothing":
        day.write("f", TEN)
    else:
        day.git(*{"checkout": ("checkout", "--", "f"), "stash": ("stash",)}[before])
    after = ten(l3="three, as asked", l9="nine of S2")
    event = payloads.claude_write("S2", str(day.root), str(day.file("f")), TEN, after)
    day.hook("claude-code", payloads.claude_pre(event))
    day.write("f", after)
    day.hook("claude-code", event)
    nothing_pending(day, "S1")
    day.commit("S2")
    assert head(day) == after


def test_calls_that_run_at_once_keep_each_others_lines(day: Repo) -> None:
    """S2's pre event came before S1's edit was told: its own text before is old, and S1's line is S1's."""
    after = ten(l3="three, as asked", l9="nine of S2")
    event = payloads.claude_write("S2", str(day.root), str(day.file("f")), TEN, after)
    day.hook("claude-code", payloads.claude_pre(event))
    swap(day, "S1", "line 3\n", "three, as asked\n")
    day.write("f", after)
    day.hook("claude-code", event)
    day.commit("S2")
    assert head(day) == ten(l9="nine of S2")
    day.commit("S1")
    assert head(day) == after


@pytest.mark.parametrize("way", ["undo", "edit"])
@pytest.mark.parametrize("reset", ["--soft", "--mixed"])
def test_who_put_back_what_head_has_is_not_its_maker_after_a_reset(day: Repo, way: str, reset: str) -> None:
    swap(day, None, "line 3\n", "three of the person\n")
    day.git("commit", "-qam", "the person's")
    swap(day, "S2", "three of the person\n", "three of S2\n")
    if way == "undo":
        day.ralph("undo", "--session", "S2")
    else:
        swap(day, "S2", "three of S2\n", "three of the person\n")
    day.git("reset", "-q", reset, "HEAD~")
    nothing_pending(day, "S2")
    day.ralph("commit", "--mine", "-m", "again")
    assert head(day) == ten(l3="three of the person")


def test_a_commit_that_was_taken_back_is_made_again_whole_after_anothers_undo(day: Repo) -> None:
    """S2 changed a line of it meanwhile and put it back."""
    day.edit("S1", "n", "alpha one\nbeta two\ngamma three\n")
    day.commit("S1")
    swap(day, "S2", "beta two\n", "beta of S2\n", "n")
    day.ralph("undo", "--session", "S2")
    day.ralph("uncommit", "--session", "S1")
    nothing_pending(day, "S2")
    day.commit("S1")
    assert head(day, "n") == "alpha one\nbeta two\ngamma three\n"
    nothing_pending(day, "S2")


def test_what_comes_from_another_branch_is_not_its_who_once_put_it_back_there(day: Repo) -> None:
    """HEAD here never had the person's line, and the file was as in this HEAD while S2 had taken it out."""
    day.git("switch", "-qc", "feat")
    swap(day, None, "line 3\n", "line 3\nadded by the person\n")
    day.git("commit", "-qam", "the person's")
    swap(day, "S2", "added by the person\n", "")
    day.ralph("undo", "--session", "S2")
    day.git("switch", "-q", "main")
    day.git("merge", "-q", "--squash", "feat")
    nothing_pending(day, "S2")
    day.ralph("commit", "--mine", "-m", "squashed")
    assert head(day) == text(day)


@pytest.mark.parametrize("other", [False, True])
def test_a_persons_uncommitted_line_that_a_session_put_back_stays_his(day: Repo, other: bool) -> None:
    """While it was away the file was as in HEAD: what S2 did since is not all that differs."""
    if other:
        swap(day, "S1", "line 9\n", "nine of S1\n")
    swap(day, None, "line 3\n", "line 3\nadded by the person\n")
    swap(day, "S2", "added by the person\n", "")
    swap(day, "S2", "line 3\n", "line 3\nadded by the person\n")
    if other:
        day.commit("S1")
    nothing_pending(day, "S2")
    day.ralph("commit", "--mine", "-m", "mine")
    assert head(day) == text(day)


def test_who_takes_back_a_persons_correction_has_not_written_the_line(day: Repo) -> None:
    swap(day, "S1", "line 5\n", "line 5\nalpha of S1\n")
    swap(day, None, "alpha of S1\n", "alpha of the person\n")
    swap(day, "S2", "alpha of the person\n", "alpha of S1\n")
    nothing_pending(day, "S2")
    day.commit("S1")
    assert head(day) == text(day)


def test_a_function_that_is_written_again_behind_another_holds_nobody_up(empty_repo: Repo) -> None:
    """Its first lines are gone for good, though HEAD is once more a text that the file had with them."""
    repo, body = empty_repo, "() {\n  if (x) {\n    go();\n  }\n}\n"
    repo.write("f", "function a" + body)
    repo.commit_all("base")
    repo.edit("S1", "f", text(repo) + "\nfunction one" + body)
    repo.commit("S1")
    repo.git("revert", "--no-edit", "HEAD")
    repo.edit("S2", "f", text(repo) + "\nfunction two" + body)
    repo.edit("S1", "f", text(repo) + "\nfunction one" + body)
    repo.commit("S1")
    assert head(repo) == "function a" + body + "\nfunction one" + body
    repo.commit("S2")
    assert head(repo) == text(repo)


@pytest.mark.parametrize("line", ["three of S1\n", "line 3\nadded by S1\n"])
def test_a_file_that_was_removed_and_brought_back_is_nobodys_pending_work(day: Repo, line: str) -> None:
    """What S1 had in it is in a commit before HEAD: the person puts the whole file back."""
    swap(day, "S1", "line 3\n", line)
    day.commit("S1")
    before = head(day)
    day.git("rm", "-q", "f")
    day.git("commit", "-qm", "gone")
    day.git("checkout", "-q", "HEAD~", "--", "f")
    nothing_pending(day, "S1")
    day.ralph("commit", "--mine", "-m", "back")
    assert head(day) == before


def test_a_rename_that_is_made_again_after_a_revert_is_a_rename(day: Repo) -> None:
    """S1 changed a line under the new name; it was taken out of HEAD when a person moved the file again."""
    day.git("mv", "f", "k")
    day.git("commit", "-qm", "moved")
    swap(day, "S1", "line 3\n", "three of S1\n", "k")
    day.commit("S1")
    before = head(day, "k")
    day.git("revert", "--no-edit", "HEAD~")
    day.git("mv", "f", "k")
    nothing_pending(day, "S1")
    day.ralph("commit", "--mine", "-m", "moved again")
    assert (head(day, "k"), day.changes()) == (before, {"f": "D", "k": "A"})


@pytest.mark.parametrize("first", ["line 3", "another line"])
def test_commits_of_a_person_and_of_a_session_that_were_taken_apart_are_made_again(
    day: Repo, first: str
) -> None:
    """HEAD is behind the first text that any record knows."""
    swap(day, None, "line 3\n", "three of the person\n" if first == "line 3" else "line 3\nthe person's\n")
    day.git("commit", "-qam", "the person's")
    old = "three of the person" if first == "line 3" else "the person's"
    swap(day, "S1", old, "three of S1")
    day.commit("S1")
    before = head(day)
    day.git("reset", "-q", "HEAD~2")
    day.ralph("commit", "--mine", "-m", "mine")
    day.commit("S1")
    assert head(day) == before


def test_a_person_who_words_a_reverted_line_otherwise_commits_it(day: Repo) -> None:
    """It keeps half of the words of what S1 had written there, and S1 has given that up."""
    swap(day, "S1", "line 3\n", "line 3\nalpha one\nbeta two\ngamma three\n")
    day.commit("S1")
    day.git("revert", "--no-edit", "HEAD")
    swap(day, None, "line 3\n", "line 3\nalpha one\nbeta 2\n")
    day.commit("S1")
    assert head(day) == ten(l3="line 3\nalpha one")
    day.ralph("commit", "--mine", "-m", "mine")
    assert head(day) == text(day)


def test_a_sessions_line_that_git_carried_to_a_new_name_is_no_persons(day: Repo) -> None:
    """S1 has changed it there since, so only its record has the text that a person would commit."""
    swap(day, "S1", "line 3\n", "three of S1\n")
    day.git("stash", "-q")
    day.git("mv", "f", "k")
    day.git("commit", "-qam", "upstream")
    day.git("stash", "pop", "-q")
    day.git("reset", "-q")
    swap(day, "S1", "three of S1\n", "three of S1, more\n", "k")
    assert "it has lines of 'f'" in day.ralph("commit", "--mine", "-m", "mine", code=4).said
    assert head(day, "k") == TEN


@pytest.mark.parametrize("who", ["S1", None])
def test_who_puts_a_removed_line_back_and_takes_it_again_has_not_removed_it(
    day: Repo, who: str | None
) -> None:
    swap(day, who, "line 3\n", "")
    swap(day, "S1", "line 9\n", "nine of S1\n")
    swap(day, "S2", "line 2\n", "line 2\nline 3\n")
    swap(day, "S2", "line 2\nline 3\n", "line 2\n")
    nothing_pending(day, "S2")
    day.commit("S1")
    assert head(day) == (text(day) if who else ten(l9="nine of S1"))
    day.ralph("commit", "--mine", "-m", "mine")
    assert head(day) == text(day)


def test_a_person_who_takes_a_committed_line_back_does_not_repeat_the_sessions_old_undo(day: Repo) -> None:
    """S1 had taken the line back once and written it again since."""
    swap(day, "S1", "line 3\n", "three of S1\n")
    day.git("commit", "-qam", "all")
    swap(day, "S1", "three of S1\n", "line 3\n")
    day.git("commit", "-qam", "all")
    swap(day, "S1", "line 3\n", "three of S1\n")
    day.commit("S1")
    swap(day, "S1", "line 9\n", "")
    swap(day, None, "three of S1\n", "line 3\n")
    day.commit("S1")
    assert head(day) == ten(l3="three of S1", l9="")
    day.ralph("commit", "--mine", "-m", "mine")
    assert head(day) == text(day)


@pytest.mark.parametrize("how", ["by hand", "checkout"])
def test_who_goes_back_to_the_version_before_the_last_commits_that(day: Repo, how: str) -> None:
    """S1 had committed it, S2 replaced and committed: each waited for the other, as for another version."""
    swap(day, "S1", "line 3\n", "return three(alpha)\n")
    day.commit("S1")
    swap(day, "S2", "return three(alpha)\n", "raise what, now\n")
    day.commit("S2")
    if how == "by hand":
        swap(day, None, "raise what, now\n", "return three(alpha)\n")
    else:
        day.git("checkout", "-q", "HEAD~", "--", "f")
        day.git("reset", "-q")
    nothing_pending(day, "S1", "S2")
    day.ralph("commit", "--mine", "-m", "mine")
    assert head(day) == text(day)


def test_who_goes_back_to_a_version_that_was_never_committed_commits_that(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "return three(alpha)\n")
    swap(day, "S1", "return three(alpha)\n", "raise what, now\n")
    day.commit("S1")
    swap(day, None, "raise what, now\n", "return three(alpha)\n")
    nothing_pending(day, "S1")
    day.ralph("commit", "--mine", "-m", "mine")
    assert head(day) == text(day)


def test_a_line_that_a_late_payload_lacks_stays_whose_it_was(day: Repo) -> None:
    """Two real agents in one file: S2's tool tells a text without S1's line, which stands in the file."""
    swap(day, "S1", "line 7\n", "seven of S1\n")
    then, told = ten(l7="seven of S1"), ten(l3="three of S2")
    day.write("f", ten(l3="three of S2", l7="seven of S1"))
    day.hook("generic", payloads.edit("S2", str(day.root), "f", then, told))
    swap(day, "S1", "line 9\n", "nine of S1\n")
    swap(day, "S2", "line 1\n", "one of S2\n")
    day.commit("S1")
    assert head(day) == ten(l7="seven of S1", l9="nine of S1")
    day.commit("S2")
    assert head(day) == text(day)


@pytest.mark.parametrize("way", ["revert --no-edit HEAD", "reset -q --hard HEAD~1"])
def test_who_did_it_again_and_takes_it_back_takes_back_his_own(day: Repo, way: str) -> None:
    """The line of before was a gap's, which nobody would commit first."""
    three = TEN.replace("line 3\n", "three of S1\n")
    day.edit("S1", "f", three)
    day.commit("S1")
    day.git(*way.split())
    day.edit("S1", "f", three)
    day.commit("S1")
    day.edit("S1", "f", TEN)
    assert day.commit("S1").paths == {"f": "M"}
    assert day.blob("f") == TEN.encode()
