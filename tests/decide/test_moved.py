"""Files that moved, became folders, were deleted: whose text goes along, and what goes together."""

import itertools
import shlex
from collections.abc import Callable

import pytest

from gitralph.base.layout import Layout
from gitralph.decide import by_pieces
from gitralph.hook.journal import Journal, replay
from tests.support import shells
from tests.support.repo import Repo
from tests.support.texts import TEN, changed


def _in_head(repo: Repo, text: str) -> list[str]:
    """The paths whose committed text has these words."""
    names = repo.git("ls-tree", "-r", "--name-only", "HEAD").split("\n")
    return [name for name in names if text.encode() in repo.blob(name)]


# --- moved by a tool ---


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("how", ["delete", "rename"])
def test_what_held_nothing_of_others_when_it_went_is_not_contested(repo: Repo, how: str, own: bool) -> None:
    """A checkout had taken the other's edit away before; a record of it alone is in nobody's way."""
    repo.edit("S2", "a", changed(3, "S2's"))
    repo.git("checkout", "-q", "a")
    if own:
        repo.edit("S1", "a", changed(7, "S1's"))
    if how == "delete":
        repo.delete("S1", "a")
        assert repo.commit("S1").paths == {"a": "D"} == repo.changes()
    else:
        repo.rename("S1", "a", "z")
        assert repo.commit("S1").paths == {"a": "D", "z": "A"} == repo.changes()
        assert repo.blob("z").decode() == (changed(7, "S1's") if own else TEN)


def test_a_shared_file_is_moved_without_the_others_line(repo: Repo) -> None:
    """The other's line is not committed under the new name, and the old name does not stay beside it."""
    repo.edit("S2", "a", changed(3, "S2's"))
    repo.rename("S1", "a", "z")
    repo.edit("S1", "b", changed())
    answer = repo.commit("S1", "--skip-entangled")
    assert answer.paths == {"a": "D", "b": "M", "z": "A"} == repo.changes()
    assert _in_head(repo, "S2's") == []
    assert repo.commit("S2").paths == {"z": "M"}


def test_lines_that_went_along_are_said_where_the_old_name_is_used_again(repo: Repo) -> None:
    """A checkout brings the old file back, and somebody edits it: the lines are in the moved one still."""
    repo.edit("S1", "a", changed(3, "S1's"))
    repo.rename("S2", "a", "z")
    repo.git("checkout", "-q", "a")
    repo.edit("S3", "a", changed(9, "S3's"))
    assert "z" in repo.pending("S1")
    assert "'z'" in repo.run("commit", "--session", "S1", "-m", "x").said


@pytest.mark.parametrize("old", ["in HEAD", "never committed", "committed and gone"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_lines_that_went_along_to_a_name_that_was_in_use_are_said(repo: Repo, old: str, ends: str) -> None:
    """The mover's commit goes first; where HEAD has the lines at the new name nothing is left to say."""
    if old == "in HEAD":
        repo.edit("S3", "b", changed(5, "S3's"))
        repo.git("rm", "-qf", "b")
    else:
        repo.edit("S3", "new", "one\n")
        if old == "committed and gone":
            repo.commit("S3")
            repo.git("rm", "-q", "new")
            repo.git("commit", "-qm", "gone")
        else:
            repo.file("new").unlink()
    name = "b" if old == "in HEAD" else "new"
    repo.write("a", TEN.replace("\n", ends))
    repo.commit_all("ends") if ends != "\n" else None
    repo.edit("S1", "a", changed(3, "S1's").replace("\n", ends))
    repo.rename("S2", "a", name)
    said = repo.run("commit", "--session", "S1", "-m", "x").said
    assert f"'{name}' was moved there by" in said
    repo.git("add", "-A")
    repo.git("commit", "-qm", "all of it")
    assert f"'{name}'" not in repo.run("commit", "--session", "S1", "-m", "x").said


def test_a_file_moved_onto_another_does_not_stand_behind_it_where_it_is_included(repo: Repo) -> None:
    """The move took the old text away, though no hook saw it: a commit had both, one behind the other."""
    repo.write("x", "one\ntwo\nthree\n")
    repo.commit_all("x")
    repo.rename("S2", "x", "a")
    repo.edit("S1", "a", "one\ntwo by S1\nthree\n")
    assert repo.commit("S1", code=4).left == {"a": "entangled"}
    repo.commit("S1", "--include-entangled")
    assert repo.blob("a") == b"one\ntwo by S1\nthree\n"


def test_a_file_moved_onto_another_and_deleted_is_deleted(repo: Repo) -> None:
    """The text it replaced went with the move: that nobody recorded, but it does not come back."""
    repo.write("x", "one\ntwo\nthree\n")
    repo.commit_all("x")
    repo.rename("S2", "x", "a")
    repo.delete("S2", "a")
    answer = repo.commit("S2")
    assert repo.changes() == {"a": "D", "x": "D"}
    assert answer.notes == ""


def test_a_file_moved_onto_one_that_lacked_a_line_of_head_does_not_take_it_out(repo: Repo) -> None:
    """A conflict was resolved for the session's edit; whoever moved a file there never saw HEAD's line."""
    repo.edit("S1", "a", changed(3, "S1's"))
    blob = repo.git("hash-object", "-w", "--stdin", stdin=changed(5, "pulled").encode())
    repo.git("update-index", "--cacheinfo", f"100644,{blob},a")
    repo.git("commit", "-qm", "as a pull would")
    repo.rename("S1", "d/a", "a")
    assert repo.commit("S1", code=4).left["a"] == "contested"
    assert repo.blob("a") == changed(5, "pulled").encode()


def test_a_rename_goes_without_what_another_session_edited_at_its_new_place(repo: Repo) -> None:
    """The lines of the move and those of the edit are told apart."""
    repo.rename("S1", "a", "z")
    repo.edit("S2", "z", changed())
    repo.edit("S1", "b", changed())
    answer = repo.commit("S1", "--skip-entangled")
    # nothing stands in its way: the edit of the other is left out
    assert answer.paths == {"a": "D", "b": "M", "z": "A"}
    assert repo.blob("z") == TEN.encode()


def test_a_file_of_a_human_that_a_session_moves_is_refused(repo: Repo) -> None:
    """It is in no commit, and no session wrote a line of it."""
    repo.write("note", "the human's\n")
    repo.rename("S1", "note", "z")
    repo.edit("S1", "b", changed())
    answer = repo.commit("S1", code=4)
    assert answer.left["z"] == "contested"
    assert "moved here from 'note'" in answer.said
    answer = repo.commit("S1", "--skip-entangled")
    assert answer.paths == {"b": "M"}
    assert answer.left["z"] == "contested"
    assert repo.commit("S1", "--whole-file", "--", "z").paths == {"z": "A"}


def test_a_file_with_a_humans_lines_that_a_session_moves_is_refused(repo: Repo) -> None:
    """Its committed lines may go, the human's may not, and a rename takes them all."""
    repo.write("a", changed(2, "the human's"))
    repo.rename("S1", "a", "z")
    assert {"a", "z"} & set(repo.commit("S1", code=4).left)
    repo.commit("S1", "--skip-entangled")
    assert _in_head(repo, "the human's") == []
    assert repo.blob("a") == TEN.encode()


def test_a_file_with_committed_and_own_lines_moves_whole(repo: Repo) -> None:
    """Lines of the session, of a commit of another's, and of a plain commit of a human's are all known."""
    repo.edit("S2", "a", changed(2, "S2"))
    repo.commit("S2")
    repo.write("a", changed(5, "human", changed(2, "S2")))
    repo.commit_all("human")
    repo.edit("S1", "a", changed(9, "S1", changed(5, "human", changed(2, "S2"))))
    repo.rename("S1", "a", "z")
    answer = repo.commit("S1")
    assert answer.paths == {"a": "D", "z": "A"} == repo.changes()


def test_a_file_with_a_humans_lines_after_an_edit_of_the_session_is_refused(repo: Repo) -> None:
    """The step back from what was moved ends in a gap."""
    repo.edit("S1", "a", changed())
    repo.write("a", changed(9, "the human's", changed()))
    repo.rename("S1", "a", "z")
    repo.commit("S1", code=4)
    repo.commit("S1", "--skip-entangled")
    assert _in_head(repo, "the human's") == []


def test_a_file_with_lines_that_another_session_committed_since_moves_whole(repo: Repo) -> None:
    """The other's lines came later than this session's, and are in HEAD by now."""
    repo.edit("S1", "a", changed())
    repo.edit("S2", "a", changed(9, "S2", changed()))
    repo.commit("S2")
    repo.rename("S1", "a", "z")
    answer = repo.commit("S1")
    assert answer.paths == {"a": "D", "z": "A"} == repo.changes()


@pytest.mark.parametrize("way", [["a", "y", "z"], ["a", "z", "a", "z"], ["a", "z", "y", "z"]])
def test_a_file_moved_more_than_once_goes_as_one_move(repo: Repo, way: list[str]) -> None:
    """Each step back leads to a text that HEAD has."""
    for old, new in itertools.pairwise(way):
        repo.rename("S1", old, new)
    repo.edit("S1", "z", changed())
    assert repo.commit("S1").paths == {"a": "D", "z": "A"}


def test_a_new_file_of_the_session_moves_freely(repo: Repo) -> None:
    """It never was in HEAD, and every line of it is its own."""
    repo.edit("S1", "n", "one\n")
    repo.edit("S1", "n", "one\ntwo\n")
    repo.rename("S1", "n", "z")
    assert repo.commit("S1").paths == {"z": "A"}


def test_a_humans_line_moved_twice_is_still_the_humans(repo: Repo) -> None:
    """The way back crosses the first move."""
    repo.write("note", "the human's\n")
    repo.rename("S1", "note", "y")
    repo.rename("S1", "y", "z")
    assert repo.commit("S1", code=4).left["z"] == "contested"


def test_a_new_file_that_two_sessions_move(repo: Repo) -> None:
    """What the first mover took along was the first mover's, so the second was refused for its own line."""
    repo.edit("S1", "n", TEN)
    repo.edit("S2", "n", changed(2, "two of S2"))
    repo.rename("S1", "n", "y")
    repo.rename("S2", "y", "z")
    assert repo.commit("S2", code=4).left == {"z": "entangled"}
    assert repo.commit("S1").paths == {"z": "A"}
    assert repo.blob("z") == TEN.encode()
    assert repo.commit("S2").paths == {"z": "M"}
    assert repo.blob("z") == changed(2, "two of S2").encode()


def test_a_file_that_goes_back_and_forth_is_read_once_by_each_of_its_moves(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each way back was read anew: seven times to and fro took 27 s."""
    repo.edit("S1", "z", TEN)
    text = TEN
    for at in range(5):
        for who, old, new in (("S1", "z", "y"), ("S2", "y", "z")):
            text += f"{who} {at}\n"
            repo.edit(who, old, text)
            repo.rename(who, old, new)
    asked = list[int]()

    def counted(known: Journal, layout: Layout) -> object:
        asked.append(known.size)
        return replay(known, layout)

    monkeypatch.setattr(by_pieces, "replay", counted)
    repo.run("commit", "--session", "S2", "-m", "x")
    assert len(asked) <= 20


def test_who_moves_a_file_on_takes_its_first_removal_along_and_says_so(repo: Repo) -> None:
    """HEAD had the file twice, until the first mover committed; and never a rename."""
    repo.edit("S3", "a", changed(2, "two of S3"))
    repo.commit("S3")
    repo.rename("S1", "a", "y")
    repo.rename("S2", "y", "z")
    assert repo.commit("S2").paths == {"a": "D", "z": "A"}
    assert repo.blob("z") == changed(2, "two of S3").encode()
    assert "Ralph-Includes: S1" in repo.git("log", "-1", "--format=%B")
    assert repo.commit("S1").status == "nothing"


def _moved_on(repo: Repo) -> None:
    repo.rename("S1", "a", "y")
    repo.rename("S2", "y", "z")


def test_no_trailer_names_the_first_mover_where_the_move_stays_out(repo: Repo) -> None:
    _moved_on(repo)
    repo.edit("S2", "b", TEN + "more\n")
    repo.write("z", changed(5, "staged"))
    repo.git("add", "z")
    repo.write("z", TEN)
    assert repo.commit("S2", "--skip-entangled").paths == {"b": "M"}
    assert "Ralph-Includes" not in repo.git("log", "-1", "--format=%B")


def test_who_used_the_first_name_again_has_that_end_for_himself(repo: Repo) -> None:
    """And where the user names the new path, only that goes, as of one's own move."""
    _moved_on(repo)
    assert repo.commit("S2", "--dry-run", "--", "z").paths == {"z": "A"}
    repo.edit("S3", "a", "brand\nnew\n")
    repo.rename("S3", "a", "x")
    assert repo.commit("S2").paths == {"z": "A"}
    assert "Ralph-Includes" not in repo.git("log", "-1", "--format=%B")


def test_a_name_that_a_sparse_checkout_leaves_out_stays(repo: Repo) -> None:
    _moved_on(repo)
    repo.git("update-index", "--skip-worktree", "a")
    assert repo.commit("S2").paths == {"z": "A"}


@pytest.mark.parametrize("over", [False, True])
def test_who_moved_a_file_first_waits_for_who_moved_it_on(repo: Repo, over: bool) -> None:
    """Else HEAD would lack the file meanwhile, also where it was moved over another one."""
    if over:
        repo.write("z", "another text\n")
        repo.commit_all("z")
    repo.rename("S1", "a", "y")
    repo.rename("S2", "y", "z")
    assert repo.commit("S1", code=4).left["y"] == "entangled"
    repo.commit("S2")
    repo.commit("S1")
    assert repo.blob("z") == TEN.encode()
    assert repo.git("status", "--porcelain") == ""


def test_both_ends_by_name_one_after_the_other(repo: Repo) -> None:
    """A path can be committed alone when it is named; the other end follows later."""
    repo.rename("S1", "a", "z")
    assert repo.commit("S1", "--", "a").paths == {"a": "D"}
    assert repo.commit("S1", "--", "z").paths == {"z": "A"}


def test_a_move_in_a_file_with_dos_line_ends(repo: Repo) -> None:
    """HEAD's text and the file's differ in their line ends only."""
    repo.git("config", "core.autocrlf", "true")
    repo.write("a", TEN.replace("\n", "\r\n"))
    repo.rename("S1", "a", "z")
    assert repo.commit("S1").paths == {"a": "D", "z": "A"}


def test_skipping_a_moved_file_for_what_is_staged_keeps_its_old_name(repo: Repo) -> None:
    """The new name conflicts with what the user staged there: the deletion waits with it."""
    repo.edit("S1", "a", changed(9, "nine"))
    repo.rename("S1", "a", "z")
    repo.edit("S1", "b", changed())
    repo.write("z", "the user's own z\n")
    repo.git("add", "z")
    repo.write("z", changed(9, "nine"))
    answer = repo.commit("S1", "--skip-entangled")
    assert answer.paths == {"b": "M"} == repo.changes()
    assert repo.blob("a") == TEN.encode()


# --- moved by a shell command ---


def test_a_file_of_a_human_moved_by_a_shell_command_is_not_taken(repo: Repo) -> None:
    """The command explains the move, not the text."""
    repo.write("note", "the human's\n")
    shells.run(repo, "S1", "mv note z")
    answer = repo.commit("S1", "--with-shell")
    assert (answer.status, answer.left) == ("nothing", {})


@pytest.mark.parametrize("also", ["", "; sed -i 's/^line 9$/nine/' z"])
def test_a_file_with_another_sessions_lines_moved_by_a_shell_command(repo: Repo, also: str) -> None:
    """The move is the session's, and what it changed; the other's lines go along, and stay the other's."""
    repo.edit("S2", "a", changed(3, "S2's"))
    shells.run(repo, "S1", f"mv a z{also}")
    answer = repo.commit("S1")
    assert answer.paths == {"a": "D", "z": "A"} == repo.changes()
    assert _in_head(repo, "S2's") == []
    assert repo.blob("z") == (changed(9, "nine") if also else TEN).encode()
    assert repo.commit("S2").paths == {"z": "M"}
    assert repo.read("z") == repo.blob("z")


def test_a_file_of_a_human_moved_and_changed_by_a_shell_command_is_not_taken(repo: Repo) -> None:
    """It can no longer be told from its text."""
    repo.write("note", "the human's\n")
    shells.run(repo, "S1", "mv note z; echo more >> z")
    assert repo.commit("S1", "--with-shell").status == "nothing"
    assert _in_head(repo, "the human's") == []


def test_a_file_of_the_sessions_own_is_moved_by_its_shell(repo: Repo) -> None:
    """Recorded edits, then a move by the shell: all of it is this session's."""
    repo.edit("S1", "n", "one\n")
    shells.run(repo, "S1", "mv n z; sed -i s/one/two/ z")
    assert repo.commit("S1", "--with-shell").paths == {"z": "A"}


# --- moved or deleted, and back again ---


def _went_and_came_back(repo: Repo, how: str) -> None:
    """S1 moves or deletes `a`, and it is back as it was."""
    name = "k" if "to k" in how else "m"
    if "deleted" in how:
        repo.delete("S1", "a")
    elif "shell" in how:
        shells.run(repo, "S1", f"mv a {name}")
    else:
        repo.rename("S1", "a", name)
    if "undone" in how:
        repo.ralph("undo", "--session", "S1")
    elif "shell" in how:
        shells.run(repo, "S1", f"mv {name} a")
    else:
        repo.rename("S1", name, "a")


_WAYS = ["to k, undone", "to m, undone", "deleted, undone", "to k and back", "to m and back"]
_WAYS += ["to k by shell, undone", "to k by shell and back", "to m by shell and back"]


@pytest.mark.parametrize("by", ["tool", "shell"])
@pytest.mark.parametrize("how", _WAYS)
def test_a_file_that_came_back_moves_whole_with_another_session(repo: Repo, how: str, by: str) -> None:
    """The first move stood in the way of the second, or HEAD got an empty file."""
    _went_and_came_back(repo, how)
    if by == "tool":
        repo.rename("S2", "a", "k")
    else:
        shells.run(repo, "S2", "mv a k")
    assert repo.commit("S1").status == "nothing"
    assert repo.commit("S2").paths == {"a": "D", "k": "A"} == repo.changes()
    assert repo.blob("k") == TEN.encode()
    assert repo.commit("S1").status == "nothing"


def test_a_file_that_came_back_is_edited_where_it_is_moved_next(repo: Repo) -> None:
    """The undone move was said to have made the file at its new name."""
    _went_and_came_back(repo, "to m, undone")
    repo.rename("S2", "a", "k")
    repo.edit("S2", "k", changed(7, "seven"))
    assert repo.commit("S2").paths == {"a": "D", "k": "A"}
    assert repo.blob("k") == changed(7, "seven").encode()


@pytest.mark.parametrize("how", ["to k, undone", "to k by shell, undone", "to k by shell and back"])
@pytest.mark.parametrize("when", ["before", "between"])
def test_a_second_move_to_a_name_keeps_what_another_committed(repo: Repo, how: str, when: str) -> None:
    """The move brought the line back that HEAD had before, or was refused for it."""
    if when == "before":
        repo.edit("S2", "a", changed(4, "S2 four"))
    _went_and_came_back(repo, how)
    if when == "between":
        repo.edit("S2", "a", changed(4, "S2 four"))
    shells.run(repo, "S1", "mv a k")
    repo.commit("S2", "--", "a")
    assert repo.commit("S1").paths == {"a": "D", "k": "A"} == repo.changes()
    assert repo.blob("k") == changed(4, "S2 four").encode()


@pytest.mark.parametrize("how", ["to k, undone", "to k and back", "to k by shell and back"])
def test_a_second_move_to_a_name_goes_without_what_another_has_not_committed(repo: Repo, how: str) -> None:
    """The other edited the file after it had come back."""
    _went_and_came_back(repo, how)
    repo.edit("S2", "a", changed(4, "S2 four"))
    repo.rename("S1", "a", "k")
    assert repo.commit("S1").paths == {"a": "D", "k": "A"}
    assert repo.blob("k") == TEN.encode()
    assert repo.commit("S2").paths == {"k": "M"}
    assert repo.blob("k") == changed(4, "S2 four").encode()


def test_a_deletion_is_not_of_whoever_made_the_file_anew_and_undid_that(repo: Repo) -> None:
    """The undo left no file, as the other session had: `status` gave it that deletion."""
    repo.delete("S1", "a")
    repo.edit("S2", "a", "S2 one\n")
    repo.ralph("undo", "--session", "S2")
    assert (repo.pending("S2"), repo.pending("S1")) == ([], ["a"])
    assert repo.commit("S2", "--include-entangled").status == "nothing"
    assert repo.commit("S1").paths == {"a": "D"} == repo.changes()


def test_a_deletion_is_not_of_whoever_had_undone_his_own(repo: Repo) -> None:
    """The first deletion was refused for the second, and included it."""
    repo.delete("S2", "a")
    repo.ralph("undo", "--session", "S2")
    repo.delete("S1", "a")
    assert (repo.pending("S2"), repo.pending("S1")) == ([], ["a"])
    assert repo.commit("S2", "--include-entangled").status == "nothing"
    assert repo.commit("S1").paths == {"a": "D"} == repo.changes()


def test_a_file_that_two_sessions_move_to_and_fro_keeps_the_lines_of_each(repo: Repo) -> None:
    """A file that moved on is not gone, though its name is used again."""
    repo.edit("S1", "z", "one\n")
    repo.rename("S1", "z", "y")
    repo.edit("S2", "y", "one\ntwo\n")
    repo.rename("S2", "y", "z")
    repo.edit("S2", "z", "one\ntwo\nthree\n")
    repo.commit("S2", "--skip-entangled")
    repo.commit("S1")
    repo.commit("S2")
    assert repo.blob("z") == b"one\ntwo\nthree\n"


# --- folders and files in each other's place ---


def test_a_file_that_became_a_folder_goes_with_what_was_tracked_in_it(repo: Repo) -> None:
    """Nobody else has anything there, and the two cannot stand beside each other."""
    repo.remove("a")
    repo.write("a/inner", "text\n")
    repo.ralph("track", "--session", "S1", "a/inner")
    answer = repo.commit("S1")
    assert answer.paths == {"a": "D", "a/inner": "A"} == repo.changes()
    assert repo.git("status", "--porcelain") == ""


def test_an_edit_below_what_was_a_file_says_how_it_is_taken(repo: Repo) -> None:
    """Nobody recorded the removal: the hint takes it along, and says so by listing it."""
    repo.remove("a")
    repo.edit("S1", "a/inner", "text\n")
    assert repo.commit("S1", code=4).left == {"a/inner": "contested"}
    answer = repo.commit("S1", "--whole-file", "--", "a/inner")
    assert answer.paths == {"a": "D", "a/inner": "A"} == repo.changes()


def test_a_file_that_became_a_folder_stays_where_another_session_edited_it(repo: Repo) -> None:
    """The other's pending lines would go unseen."""
    repo.edit("S2", "a", changed())
    repo.remove("a")
    repo.write("a/inner", "text\n")
    repo.ralph("track", "--session", "S1", "a/inner")
    answer = repo.commit("S1", code=4)
    assert answer.left == {"a/inner": "contested"}
    assert answer.document["left"][0]["sessions"] == ["S2"]
    answer = repo.commit("S1", "--whole-file", "--", "a/inner")
    assert answer.paths == {"a": "D", "a/inner": "A"}
    assert "Ralph-Includes: S2" in repo.trailers()
    assert repo.pending("S2") == []


# --- deletions ---


def test_a_delete_after_the_human_stashed_the_file_is_committed(repo: Repo) -> None:
    """The session's own edit was stashed away before; the removal is its last word."""
    repo.edit("S1", "a", changed())
    repo.git("stash", "-q")
    repo.remove("a")
    repo.hook("generic", {"session": "S1", "cwd": str(repo.root), "event": "delete", "path": "a"})
    assert repo.commit("S1").paths == {"a": "D"} == repo.changes()


def test_a_delete_with_its_text_after_the_human_stashed_the_file_is_committed(repo: Repo) -> None:
    """The same where the event knew what it deleted."""
    repo.edit("S1", "a", changed())
    repo.git("stash", "-q")
    repo.delete("S1", "a")
    assert repo.commit("S1").paths == {"a": "D"} == repo.changes()


def test_a_delete_of_a_file_with_a_humans_stashed_lines_is_committed(repo: Repo) -> None:
    """What he stashed is safe in his stash."""
    repo.edit("S1", "a", changed())
    repo.write("a", changed(9, "the human's", changed()))
    repo.git("stash", "-q")
    repo.delete("S1", "a")
    assert repo.commit("S1").paths == {"a": "D"} == repo.changes()


def test_a_removal_in_a_file_that_a_human_deleted_is_said(repo: Repo) -> None:
    """HEAD has the line, the file is gone with it: the session's removal is not forgotten without a word."""
    repo.edit("S1", "a", TEN.replace("line 3\n", ""))
    repo.edit("S1", "b", changed())
    repo.file("a").unlink()
    answer = repo.commit("S1")
    assert (answer.paths, answer.left) == ({"b": "M"}, {"a": "gone"})


def test_a_deletion_counts_of_a_file_that_head_got_meanwhile(repo: Repo) -> None:
    """S1 made it, committed it and deleted it; S2 makes another file there."""
    repo.edit("S1", "n", "one\ntwo\n")
    repo.commit("S1")
    repo.delete("S1", "n")
    repo.edit("S2", "n", "other\n")
    for who, letter in (("S1", "D"), ("S2", "A")):
        assert repo.commit(who).paths == {"n": letter} == repo.changes()
    assert repo.blob("n") == b"other\n"


@pytest.mark.parametrize("names", [["z"], ["y", "z"]])
def test_a_file_whose_maker_committed_it_is_the_movers_where_head_lost_it(
    repo: Repo, names: list[str]
) -> None:
    """A person commits the old name's deletion alone: the maker's commit put an empty file at the new."""
    repo.edit("S3", "new", "one of three\ntwo of three\n")
    repo.commit("S3")
    for old, name, mover in zip(["new", *names], names, ["S2", "S1"], strict=False):
        repo.rename(mover, old, name)
    repo.git("commit", "-qam", "all that git tracks")
    answer = repo.ralph("commit", "--session", "S3", "-m", "x")
    assert "nothing to commit" in answer.text
    assert "'z' was moved there by" in answer.said
    assert "uncommitted here is of session 'generic-1'" not in answer.said
    assert "z" not in repo.git("ls-tree", "--name-only", "HEAD").split()
    if names == ["z"]:
        repo.commit("S2")
        assert repo.blob("z") == repo.read("z")


@pytest.mark.parametrize("names", [["b"], ["y", "b"], ["b", "y"]])
def test_a_line_that_went_along_through_several_names_is_said(repo: Repo, names: list[str]) -> None:
    """Another file stood under one of the names; the last mover's commit goes first."""
    repo.edit("S3", "b", changed(2, "S3's line in b"))
    repo.edit("S1", "a", changed(4, "S1's line in a"))
    for old, name, mover in zip(["a", *names], names, ["S2", "S3"], strict=False):
        shells.run(repo, mover, f"mv {old} {name}")
    said = repo.ralph("commit", "--session", "S1", "-m", "x").said
    assert f"'{names[-1]}' was moved there by" in said


OTHER = "".join(f"another file's line {n}\n" for n in range(10))
NEW = "".join(f"new line {n} of S1\n" for n in range(6))


@pytest.mark.parametrize("committed", [False, True])
def test_a_file_that_moved_on_leaves_the_text_that_it_was_moved_over(repo: Repo, committed: bool) -> None:
    """No commit puts the text of the file that is gone under the new name."""
    repo.write("y", OTHER)
    repo.commit_all("y")
    repo.edit("S1", "new", NEW)
    if committed:
        repo.commit("S1")
    repo.rename("S3", "new", "y")
    repo.rename("S2", "y", "z")
    for session in ("S2", "S1", "S3", "S2"):
        repo.run("commit", "--session", session, "-m", "x")
        assert not _in_head(repo, "another file's") or repo.blob("y") == OTHER.encode()
    assert repo.blob("z") == NEW.encode()


def test_a_file_of_head_that_was_moved_over_another_and_on_is_itself(repo: Repo) -> None:
    repo.write("y", OTHER)
    repo.commit_all("y")
    repo.edit("S1", "a", changed(2, "two of S1"))
    repo.rename("S2", "a", "y")
    repo.rename("S3", "y", "z")
    repo.commit("S3")
    assert repo.blob("z") == TEN.encode()
    for session in ("S2", "S1"):
        repo.commit(session)
    assert repo.blob("z") == changed(2, "two of S1").encode()
    assert not _in_head(repo, "another file's")


def test_who_moved_lines_of_others_does_not_commit_them_where_another_moved_them_on(repo: Repo) -> None:
    repo.write("y", OTHER)
    repo.commit_all("y")
    repo.edit("S1", "new", NEW)
    shells.run(repo, "S3", "mv new y")
    shells.run(repo, "S2", "mv y z")
    repo.commit("S2")
    assert repo.commit("S3", code=4).left["z"] == "contested"
    assert not _in_head(repo, "of S1")


def test_no_file_with_others_lines_is_committed_empty(repo: Repo) -> None:
    """A new file is moved over a file of HEAD."""
    repo.edit("S1", "new", NEW)
    repo.rename("S2", "new", "b")
    answer = repo.ralph("commit", "--session", "S2", "-m", "x", code=4)
    assert "with lines of session 'generic-1'" in answer.said
    hint = next(row for row in answer.said.split("\n") if "--whole-file" in row)
    repo.ralph(*shlex.split(hint.partition("  #")[0])[3:])
    assert repo.blob("b") == NEW.encode()


def test_a_new_file_that_others_move_there_and_back_is_its_makers(repo: Repo) -> None:
    repo.edit("S1", "new", NEW)
    repo.rename("S2", "new", "z")
    repo.rename("S3", "z", "new")
    assert [repo.commit(name).status for name in ("S2", "S3")] == ["nothing", "nothing"]
    assert repo.commit("S1").paths == {"new": "A"} == repo.changes()
    assert repo.blob("new") == NEW.encode()


_BACK: dict[str, Callable[[Repo, str, str, str], object]] = {
    "tool": lambda repo, old, new, who: repo.rename(who, old, new),
    "shell": lambda repo, old, new, who: shells.run(repo, who, f"mv {old} {new}"),
    "git": lambda repo, old, new, who: shells.run(repo, who, f"git mv {old} {new}"),
}


@pytest.mark.parametrize("movers", [("S1", "S1"), ("S1", "S3")])
@pytest.mark.parametrize("by", list(_BACK))
def test_who_moves_a_file_away_and_back_has_no_part_in_what_was_edited_there(
    repo: Repo, by: str, movers: tuple[str, str]
) -> None:
    """Neither could commit, and an undo of the moves took a person's and a session's line off the disk."""
    repo.edit("S4", "a", changed(2, "two of S4"))
    _BACK[by](repo, "a", "k", movers[0])
    repo.edit("S2", "k", changed(2, "two of S4").replace("line 5\n", "five of S2\n"))
    mine = changed(2, "two of S4").replace("line 5\n", "five of S2\n").replace("line 9\n", "nine of mine\n")
    repo.write("k", mine)
    _BACK[by](repo, "k", "a", movers[1])
    assert (repo.pending("S2"), repo.pending("S1"), repo.pending("S4")) == (["a"], [], ["a"])
    repo.run("undo", "--session", "S1")
    assert repo.read("a") == mine.encode()
    assert repo.commit("S1").status == "nothing"
    assert repo.commit("S2").paths == {"a": "M"} == repo.changes()
    assert repo.blob("a") == changed(5, "five of S2").encode()
    repo.ralph("commit", "--mine", "-m", "mine")
    assert repo.commit("S4").paths == {"a": "M"}
    assert repo.blob("a") == mine.encode()
    for name in ("S1", "S2", "S3", "S4"):
        repo.run("undo", "--session", name)
        assert repo.read("a") == mine.encode()


def test_who_moved_a_binary_file_away_and_back_stands_in_nobodys_way(repo: Repo) -> None:
    """It has no lines, so who edited it commits it whole, and only where he is alone."""
    repo.write("bin", b"x\0y\n")
    repo.commit_all("bin")
    repo.rename("S1", "bin", "k")
    repo.edit("S2", "k", b"x\0of S2\n")
    repo.rename("S1", "k", "bin")
    assert repo.commit("S1").status == "nothing"
    assert repo.commit("S2").paths == {"bin": "M"} == repo.changes()


def test_a_file_that_went_away_twice_keeps_each_edit_once(repo: Repo) -> None:
    for number, who in ((3, "S2"), (6, "S4")):
        repo.rename("S1", "a", "k")
        now = (repo.read("k") or b"").decode()
        repo.edit(who, "k", now.replace(f"line {number}\n", f"{number} of {who}\n"))
        repo.rename("S1", "k", "a")
    repo.commit("S4")
    assert repo.blob("a") == changed(6, "6 of S4").encode()
    repo.commit("S2")
    assert repo.blob("a") == repo.read("a")


def test_a_file_whose_move_was_committed_before_it_came_back_is_moved(repo: Repo) -> None:
    repo.rename("S1", "a", "k")
    repo.commit("S1")
    repo.edit("S2", "k", changed(5, "five of S2"))
    repo.rename("S1", "k", "a")
    assert repo.commit("S1", code=4).left["k"] == "contested"
    assert not _in_head(repo, "five of S2")


def test_who_empties_a_file_that_was_moved_once_commits_it_empty(repo: Repo) -> None:
    repo.rename("S1", "a", "z")
    repo.commit("S1")
    repo.edit("S1", "z", "")
    repo.edit("S2", "z", "one line of S2\n")
    repo.commit("S1")
    assert repo.blob("z") == b""


def test_a_person_commits_no_empty_file_where_a_session_moved_one(repo: Repo) -> None:
    repo.write("y", OTHER)
    repo.commit_all("y")
    shells.run(repo, "S2", "mv a y")
    repo.git("rm", "-q", "--cached", "a", "y")
    repo.git("commit", "-qm", "gone")
    assert "nothing to commit" in repo.ralph("commit", "--mine", "-m", "x", "--", "y").text
    assert "y" not in repo.git("ls-tree", "--name-only", "HEAD").split()


@pytest.mark.parametrize("names", [["z"], ["y", "z"]])
def test_a_committed_line_below_a_pending_one_keeps_its_place_under_the_new_name(
    repo: Repo, names: list[str]
) -> None:
    """HEAD had the lines the other way round, and nobody could commit what was left."""
    repo.edit("S3", "a", TEN + "three of S3\n")
    repo.edit("S1", "a", TEN + "three of S3\none of S1\n")
    repo.commit("S1")
    for old, name in zip(["a", *names], names, strict=False):
        repo.rename("S3", old, name)
    repo.commit("S3")
    assert repo.blob("z") == repo.read("z")
    assert "nothing uncommitted" in repo.ralph("status").text


def test_a_move_that_somebody_took_back_is_not_committed_with_another_sessions_move(repo: Repo) -> None:
    """Both sessions moved the file to the same name; in between nobody recorded that it went back."""
    repo.rename("S1", "a", "z")
    repo.file("z").rename(repo.file("a"))
    repo.rename("S2", "a", "z")
    assert "nothing to commit" in repo.ralph("commit", "--session", "S1", "-m", "x").text
    assert repo.commit("S2").paths == {"a": "D", "z": "A"} == repo.changes()


@pytest.mark.parametrize("new", ["b", "z"])
def test_a_move_that_was_taken_back_deletes_nothing_where_somebody_deletes_the_old_name(
    repo: Repo, new: str
) -> None:
    """What took it back brought both names back. Who deletes one of them since made that deletion."""
    repo.write("b", "another text\n")
    before = repo.commit_all("b")
    repo.rename("S1", "a", new)
    repo.git("stash", "-qu")
    unnamed = shells.Shell(repo, "S2", "").begin()
    (repo.root / "a").unlink()
    unnamed.end()
    assert repo.commit("S1").left["a"] == "gone"
    assert repo.head() == before
    repo.git("checkout", "-q", "a")
    repo.git("stash", "pop", "-q")
    assert repo.commit("S1").paths == {"a": "D", new: "M" if new == "b" else "A"}


def test_who_includes_anothers_move_gets_no_third_ones_lines_also_where_the_file_moved_on(repo: Repo) -> None:
    """The move had come over a file of HEAD's, and S4 moved that on and committed it as HEAD had it."""
    repo.write("b", "one\ntwo\n")
    repo.commit_all("another b")
    repo.edit("S3", "a", changed(3, "S3's"))
    shells.run(repo, "S2", "mv a b")
    repo.edit("S1", "b", changed(7, "S1's", changed(3, "S3's")))
    repo.rename("S4", "b", "n")
    repo.commit("S4")
    answer = repo.commit("S1", "--include-entangled", code=4)
    assert answer.left == {"n": "contested"}
    assert _in_head(repo, "S3's") == []
