"""``git ralph restore``: recorded edits that the working tree lost come back into the file as it stands.

``f`` holds "line 1" to "line 10" and is committed.
"""

import shlex
from typing import Any

import pytest

from tests.acceptance.test_head_moved import day, head, nothing_pending, swap, ten, text
from tests.acceptance.test_undo import assert_clean, changed, undo
from tests.support import shells
from tests.support.repo import Repo

__all__ = ["day"]


def restore(repo: Repo, session: str | None, *args: str, code: int = 0, **how: Any) -> dict[str, Any]:
    """``restore --json``; what is staged, refs and HEAD stay."""
    chosen = ["--session", session] if session else []
    before = repo.staged(), repo.head(), repo.git("for-each-ref")
    found: dict[str, Any] = repo.ralph("restore", *chosen, "--json", *args, code=code, **how).json()
    assert (repo.staged(), repo.head(), repo.git("for-each-ref")) == before
    assert set(found) == {"status", "session", "name", "paths", "left", "notes"}
    assert_clean(repo)
    return found


def both(repo: Repo) -> None:
    """Two sessions edit ``f``, one of them makes a file as well."""
    swap(repo, "S1", "line 3\n", "three\nthree b\n")
    swap(repo, "S2", "line 7\n", "seven\n")
    repo.edit("S1", "new", "new\n")


@pytest.mark.parametrize(
    "words", [("checkout", "--", "."), ("reset", "-q", "--hard"), ("stash", "-q"), ("restore", ".")]
)
def test_what_git_threw_away_comes_back(day: Repo, words: tuple[str, ...]) -> None:
    """Each session its own; the file goes on as it stands now."""
    both(day)
    day.git(*words)
    if words[0] == "stash":
        day.git("stash", "drop", "-q")
    assert text(day) == ten()
    swap(day, "S2", "line 5\n", "five\n")
    found = restore(day, "S1")
    assert (found["status"], changed(found)["f"]) == ("restored", "M")
    assert text(day) == ten(l3="three\nthree b", l5="five")
    restore(day, "S2")
    assert text(day) == ten(l3="three\nthree b", l5="five", l7="seven")
    assert restore(day, "S1")["status"] == "nothing"
    day.commit("S1")
    assert head(day) == ten(l3="three\nthree b")
    day.commit("S2")
    assert head(day) == text(day)


def test_a_file_that_was_cleaned_away_comes_back(day: Repo) -> None:
    day.edit("S1", "d/new", "new\nfile\n", mode=0o755)
    day.git("clean", "-fdxq")
    assert not day.file("d").exists()
    assert changed(restore(day, "S1")) == {"d/new": "A"}
    assert day.read("d/new") == b"new\nfile\n"
    assert day.file("d/new").stat().st_mode & 0o111
    day.commit("S1")
    nothing_pending(day, "S1")


def test_a_deletion_that_was_put_back_is_done_again(day: Repo) -> None:
    day.delete("S1", "f")
    day.git("checkout", "--", "f")
    assert changed(restore(day, "S1")) == {"f": "D"}
    assert day.read("f") is None


def test_a_stale_write_loses_nothing_for_good(day: Repo) -> None:
    """S2 wrote from what it had read before S1's edit."""
    swap(day, "S1", "line 3\n", "three\n")
    day.edit("S2", "f", ten(l7="seven"), before=ten())
    assert text(day) == ten(l7="seven")
    restore(day, "S1")
    assert text(day) == ten(l3="three", l7="seven")
    day.commit("S1")
    assert head(day) == ten(l3="three")


@pytest.mark.parametrize("who", ["S2", None])
def test_what_was_written_there_since_is_a_conflict(day: Repo, who: str | None) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, "S1", "line 9\n", "nine\n")
    day.git("checkout", "--", "f")
    swap(day, who, "line 3\n", "drei\n")
    found = restore(day, "S1", code=4)
    (left,) = found["left"]
    assert (left["path"], left["reason"], left["sessions"]) == ("f", "entangled", [who or "unrecorded"])
    assert left["lines"] == [3, 3]
    assert text(day) == ten(l3="drei")


def test_what_another_session_took_back_on_purpose_is_its_edit_and_not_lost(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, "S2", "three\n", "line 3\n")
    swap(day, "S1", "line 8\n", "eight\n")
    day.git("checkout", "--", "f")
    restore(day, "S1")
    assert text(day) == ten(l8="eight")


def test_after_undos_it_brings_all_of_them_back(day: Repo) -> None:
    """The latest undo first, with others' edits between."""
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, "S1", "line 8\n", "eight\n")
    undo(day, "S1", "--last", "1")
    undo(day, "S1", "--last", "1")
    swap(day, "S2", "line 5\n", "five\n")
    assert restore(day, "S1")["status"] == "restored"
    assert text(day) == ten(l3="three", l5="five", l8="eight")
    assert restore(day, None)["status"] == "nothing"
    day.commit("S1")
    assert head(day) == ten(l3="three", l8="eight")


def test_lost_and_undone_edits_of_one_file_come_back_together(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, "S1", "line 8\n", "eight\n")
    undo(day, "S1", "--last", "1")
    day.git("checkout", "--", "f")
    restore(day, "S1")
    assert text(day) == ten(l3="three", l8="eight")
    day.commit("S1")
    assert head(day) == text(day)
    nothing_pending(day, "S1")


def test_a_checkout_that_meets_the_text_of_an_undo_loses_nothing(day: Repo) -> None:
    """The undo was redone, and by another's commit the file is in HEAD as it was in between."""
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, "S2", "line 8\n", "eight\n")
    day.ralph("commit", "--session", "S2", "-m", "eight")
    undo(day, "S1")
    day.ralph("undo", "--redo", "--session", "S1")
    day.git("checkout", "--", "f")
    restore(day, "S1")
    assert text(day) == ten(l3="three", l8="eight")


def test_what_was_committed_is_not_lost(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    day.commit("S1")
    swap(day, None, "three\n", "line 3\n")
    assert restore(day, "S1")["status"] == "nothing"
    assert text(day) == ten()


def test_a_dry_run_prints_the_patch(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    day.git("checkout", "--", "f")
    patch = day.ralph("restore", "--session", "S1", "--dry-run").out
    assert b"+three" in patch
    assert text(day) == ten()
    assert restore(day, "S1", "--dry-run")["status"] == "dry-run"


def test_without_a_session_it_is_the_only_one_that_lost_something(day: Repo) -> None:
    both(day)
    day.git("checkout", "--", "f")
    restore(day, None, code=4)
    restore(day, "S2")
    assert restore(day, None)["session"] == "S1"
    assert text(day) == ten(l3="three\nthree b", l7="seven")


def test_a_line_that_its_own_session_removed_stays_away(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\nextra\n")
    swap(day, "S1", "extra\n", "")
    day.git("checkout", "--", "f")
    restore(day, "S1")
    assert text(day) == ten(l3="three")


@pytest.mark.parametrize(
    "command",
    ["git checkout -- .", "git reset -q --hard", "git stash -q", "git clean -fdq; git checkout ."],
)
def test_status_and_the_log_say_who_lost_lines_to_whose_command(day: Repo, command: str) -> None:
    """And the hint brings them back."""
    day.git("config", "ralph.discard", "off")
    both(day)
    shells.run(day, "S2", command, "toolu_9")
    found = day.ralph("status", "--json").json()["lost"]
    mine = [one for one in found if one["session"] == "S1"]
    assert {one["path"] for one in mine} >= {"f"}
    assert {(one["to"]["session"], one["to"]["call"]) for one in mine} == {("S2", "toolu_9")}
    assert not [one for one in found if one["session"] == "S2"]
    log = (day.state / "hooks.log").read_text()
    one, two = day.called("S1"), day.called("S2")
    assert f"session '{one}' lost uncommitted edits in 'f' to shell call 'toolu_9' (Bash) of '{two}'" in log
    said = day.ralph("status").said
    assert f"session '{one}' lost edits in 'f' to shell call 'toolu_9' (Bash) of '{two}'" in said
    (hint,) = [row.split("hint: ")[1].split("  #")[0] for row in said.split("\n") if "restore" in row]
    day.ralph(*hint.split(" ")[2:])
    assert text(day) == ten(l3="three\nthree b")
    assert "lost" not in day.ralph("status", "--json").json()


def test_a_command_that_commits_or_edits_takes_nothing_from_anybody(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    shells.run(day, "S2", "sed -i s/8/eight/ f")
    shells.run(day, "S2", "git commit -qam all")
    assert "lost" not in day.ralph("status", "--json").json()
    assert not (day.state / "hooks.log").exists()


def test_what_an_undone_edit_was_built_on_must_be_there(day: Repo) -> None:
    """The session that must bring its line back first is named; then it goes."""
    swap(day, "S1", "line 3\n", "three\n")
    swap(day, "S2", "three\n", "three, better\n")
    undo(day, "S2")
    day.git("checkout", "--", "f")
    found = restore(day, "S2", code=4)
    assert found["left"][0]["sessions"] == ["S1"]
    assert "first" in found["left"][0]["detail"]
    restore(day, "S1")
    restore(day, "S2")
    assert text(day) == ten(l3="three, better")


@pytest.mark.parametrize("more", [False, True])
def test_what_was_built_on_a_persons_line_that_is_gone_is_never_passed_over(day: Repo, more: bool) -> None:
    """A restore of another session in between, or one more lost edit, does not hide it."""
    day.git("config", "ralph.unrecorded", "leave")
    swap(day, "S2", "line 2\n", "B2\n")
    swap(day, None, "line 6\n", "H6\n")
    swap(day, "S1", "H6\n", "A6\n")
    if more:
        swap(day, "S1", "line 9\n", "A9\n")
    day.git("checkout", "f")
    assert restore(day, "S1", code=4)["left"][0]["sessions"] == ["unrecorded"]
    restore(day, "S2")
    assert restore(day, "S1", code=4)["left"][0]["sessions"] == ["unrecorded"]
    assert text(day) == ten(l2="B2")
    swap(day, None, "line 6\n", "H6\n")
    restore(day, "S1")
    assert text(day) == ten(l2="B2", l6="A6", l9="A9" if more else "line 9")


@pytest.mark.parametrize("gone", ["rm", "mv"])
@pytest.mark.parametrize("maker", ["S1", "S2"])
def test_a_file_that_was_made_anew_comes_back_as_it_was(day: Repo, gone: str, maker: str) -> None:
    """A checkout brought the old file back over it."""
    shells.run(day, "S1", "rm f" if gone == "rm" else "mv f m")
    day.edit(maker, "f", "one\ntwo\n")
    day.git("checkout", "--", "f")
    for who in dict.fromkeys([maker, "S1"]):
        restore(day, who)
    assert text(day) == "one\ntwo\n"


def test_the_second_try_comes_back_and_the_first_stays_undone(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "first try\n")
    undo(day, "S1")
    swap(day, "S1", "line 3\n", "second try\n")
    day.git("checkout", "--", "f")
    found = restore(day, "S1")
    assert (found["status"], text(day)) == ("restored", ten(l3="second try"))
    assert (found["left"][0]["sessions"], found["left"][0]["lines"]) == (["S1"], [3, 3])
    day.commit("S1")
    assert head(day) == text(day)


@pytest.mark.parametrize("committed", [False, True])
def test_an_edit_after_an_undone_move(day: Repo, committed: bool) -> None:
    """The move was taken back by the session; what a checkout threw away later is another thing."""
    shells.run(day, "S1", "mv f m")
    undo(day, "S1")
    if committed:
        swap(day, "S2", "line 3\n", "three\n")
        day.commit("S2")
    swap(day, "S1", "line 8\n", "eight\n")
    there = text(day)
    day.git("checkout", "--", "f")
    restore(day, "S1")
    assert (text(day), day.read("m")) == (there, None)


def test_a_committed_correction_stays_where_a_later_line_comes_back(day: Repo) -> None:
    swap(day, "S1", "line 2\n", "two of S1\n")
    day.write("f", ten(l2="two of S1, mended"))
    day.commit("S1")
    swap(day, "S1", "line 10\n", "ten\n")
    there = text(day)
    day.git("checkout", "--", "f")
    restore(day, "S1")
    assert text(day) == there


def test_an_undone_line_in_a_block_that_was_lost(day: Repo) -> None:
    """It comes back after the block, as an undone line in a block that stands."""
    swap(day, "S1", "line 2\n", "two\nx\n")
    swap(day, "S1", "two\n", "two\ny\n")
    undo(day, "S1", "--last", "1")
    day.git("checkout", "--", "f")
    restore(day, "S1")
    assert text(day) == ten(l2="two\ny\nx")


def test_who_made_the_file_comes_first(day: Repo) -> None:
    day.edit("S1", "n", "one\n")
    day.edit("S2", "n", "one\ntwo\n")
    day.remove("n")
    refused = day.run("restore", "--session", "S2")
    assert refused.code == 4
    assert "git ralph restore --session generic-1" in refused.said
    restore(day, "S1")
    restore(day, "S2")
    assert day.read("n") == b"one\ntwo\n"


def test_a_file_of_head_that_somebody_deleted_comes_first(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three\n")
    day.remove("f")
    refused = day.run("restore", "--session", "S1")
    assert refused.code == 4
    assert "git checkout -- f" in refused.said
    day.git("checkout", "--", "f")
    restore(day, "S1")
    assert text(day) == ten(l3="three")


def test_no_checkout_is_named_for_a_file_that_git_never_had(day: Repo) -> None:
    day.write("n", "one of a person\n")
    day.edit("S2", "n", "one of a person\ntwo\n")
    day.remove("n")
    refused = day.run("restore", "--session", "S2")
    assert refused.code == 4
    assert "git checkout" not in refused.said


@pytest.mark.parametrize(
    "command", ["git checkout -q -- f; sed -i 's/line 9$/nine/' f", "sed 's/line 9$/nine/' .git/old > f"]
)
def test_what_a_command_put_back_as_in_head_beside_its_own_edit_comes_back(day: Repo, command: str) -> None:
    """A checkout, or an old copy, in the same call as an edit: nothing told of it, and no command had it."""
    day.git("config", "ralph.discard", "off")
    day.write(".git/old", ten())
    swap(day, "S1", "line 3\n", "three\n")
    shells.run(day, "S2", command)
    assert text(day) == ten(l9="nine")
    assert restore(day, "S1")["status"] == "restored"
    assert text(day) == ten(l3="three", l9="nine")
    assert day.commit("S1").paths == day.commit("S2").paths == {"f": "M"}


@pytest.mark.parametrize("before", ["undo", "loss"])
def test_a_block_that_begins_without_words_comes_back_again(day: Repo, before: str) -> None:
    """What a redo or a restore had brought back counted twice."""
    swap(day, "S1", "line 9\n", "line 9\n\nA paragraph of S1\n")
    if before == "undo":
        undo(day, "S1")
        day.ralph("undo", "--redo", "--session", "S1")
    else:
        day.git("checkout", "-q", "--", "f")
        restore(day, "S1")
    day.git("checkout", "-q", "--", "f")
    restore(day, "S1")
    assert text(day) == ten(l9="line 9\n\nA paragraph of S1")


@pytest.mark.parametrize("number", [5, 6])
def test_a_block_comes_back_beside_a_line_that_somebody_changed_since(day: Repo, number: int) -> None:
    """Read as one change the line stands in the block's place; but git had put HEAD's text there first."""
    swap(day, "S1", "line 5\n", "line 5\nA1\nA2\n")
    day.git("checkout", "-q", "--", "f")
    swap(day, None, f"line {number}\n", f"line {number} of a person\n")
    restore(day, "S1")
    more = {f"l{number}": f"line {number} of a person", "l5": "line 5\nA1\nA2"}
    assert text(day) == ten(**{**more, "l5": "line 5 of a person\nA1\nA2"} if number == 5 else more)
    assert day.commit("S1").paths == {"f": "M"}
    assert head(day) == ten(l5="line 5\nA1\nA2")


def test_a_new_file_that_anothers_command_took_away_comes_back(day: Repo) -> None:
    day.edit("S1", "d/n", "one\ntwo\n")
    day.edit("S1", "new", "one\n")
    shell = shells.Shell(day, "S2").begin()
    day.file("d/n").unlink()
    day.file("new").unlink()
    shell.end()
    assert day.ralph("status").said.count("lost edits in") == 2
    assert changed(restore(day, "S1")) == {"d/n": "A", "new": "A"}
    assert day.commit("S1").paths == {"d/n": "A", "new": "A"}


def test_status_tells_of_a_loss_beside_a_persons_line(day: Repo) -> None:
    """The file held no text that a record had left."""
    swap(day, "S1", "line 2\n", "two of S1\n")
    swap(day, None, "line 9\n", "nine of a person\n")
    shell = shells.Shell(day, "S2").begin()
    day.git("checkout", "-q", ".")
    shell.end()
    assert "lost edits in 'f'" in day.ralph("status").said
    restore(day, "S1")
    assert text(day) == ten(l2="two of S1")
    assert "lost edits" not in day.ralph("status").said


def test_what_has_no_lines_comes_back_whole(day: Repo) -> None:
    """`undo` and its redo had the texts all the time."""
    day.git("config", "filter.u.clean", "tr a-y b-z")
    day.git("config", "filter.u.smudge", "tr b-z a-y")
    day.write(".gitattributes", "*.enc filter=u\n")
    day.write("x.enc", "aaa\n")
    day.write("bin", b"x\0y\n")
    day.commit_all("more")
    day.edit("S1", "x.enc", "aaa ccc\n")
    day.edit("S1", "bin", b"x\0A\n")
    day.edit("S1", "bin", b"x\0AA\n")
    for _ in range(2):
        day.git("checkout", "-q", "--", ".")
        assert changed(restore(day, "S1")) == {"x.enc": "M", "bin": "M"}
        assert (day.read("x.enc"), day.read("bin")) == (b"aaa ccc\n", b"x\0AA\n")
    assert restore(day, "S1")["status"] == "nothing"
    undo(day, "S1")
    assert changed(restore(day, "S1")) == {"x.enc": "M", "bin": "M"}
    assert day.commit("S1").paths == {"x.enc": "M", "bin": "M"}
    assert restore(day, "S1")["status"] == "nothing"


def test_what_another_wrote_since_stays_whole(day: Repo) -> None:
    day.write("bin", b"x\0y\n")
    day.commit_all("more")
    day.edit("S1", "bin", b"x\0A\n")
    day.git("checkout", "-q", "--", ".")
    day.edit("S2", "bin", b"x\0B\n")
    day.git("checkout", "-q", "--", ".")
    assert restore(day, "S1")["status"] == "nothing"
    assert changed(restore(day, "S2")) == {"bin": "M"}


def test_a_refused_restore_names_the_files_that_can_come_back(day: Repo) -> None:
    swap(day, "S1", "line 3\n", "three of S1\n")
    day.edit("S1", "n", "x\n")
    day.git("checkout", "-q", "f")
    day.write("n", "y of a person\n")
    said = day.ralph("restore", "--session", "S1", code=4).said
    (hint,) = (row for row in said.splitlines() if row.endswith("brings the rest back"))
    day.ralph(*shlex.split(hint.removeprefix("hint: git ralph "), comments=True))
    assert text(day) == ten(l3="three of S1")
    assert day.read("n") == b"y of a person\n"


def test_what_is_committed_is_not_lost(day: Repo) -> None:
    """Also where a revert took it out of HEAD, or another branch has it; a reset to before it loses it."""
    swap(day, "S1", "line 3\n", "three\n")
    day.commit("S1")
    made = day.head()
    day.git("revert", "--no-edit", "HEAD")
    assert restore(day, "S1")["status"] == "nothing"
    day.git("checkout", "-q", "-b", "older", f"{made}~")
    assert restore(day, "S1")["status"] == "nothing"
    day.git("checkout", "-q", "main")
    day.git("branch", "-D", "older")
    day.git("reset", "-q", "--hard", f"{made}~")
    assert restore(day, "S1")["status"] == "restored"
    assert text(day) == ten(l3="three")


LOADS = "def load(path):\n    if path is None:\n        return None\n    return open(path)\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("web:\n  restart: always\n\ndb:\n", "web:\n  restart: always\n\ndb:\n  restart: always\n"),
        (LOADS, LOADS + "\ndef save(path):\n    return None\n"),
        ("one\nload(path, mode)\nsave(path, mode)\n", "one\nsave(path, mode)\nload(path, mode)\n"),
    ],
)
def test_a_line_that_head_has_elsewhere_is_lost_as_any_other(day: Repo, old: str, new: str) -> None:
    day.write("g", old)
    day.commit_all("g")
    day.edit("S1", "g", new)
    day.git("checkout", "-q", "g")
    assert changed(restore(day, "S1")) == {"g": "M"}
    assert day.read("g") == new.encode()


def test_of_a_place_that_was_lost_twice_the_last_comes_back(day: Repo) -> None:
    for to in ("five\n", "five again\n"):
        swap(day, "S1", "line 5\n", to)
        day.git("checkout", "-q", "f")
    restore(day, "S1")
    assert text(day) == ten(l5="five again")
    assert restore(day, "S1")["status"] == "nothing"
